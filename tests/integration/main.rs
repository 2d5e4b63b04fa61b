#[test]
fn empty() {}
