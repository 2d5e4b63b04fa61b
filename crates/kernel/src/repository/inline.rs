//! Rust keeps tests at the end of the file that they test. They are put back without the code above them.

/// The line that begins them.
const MARKER: &str = "#[cfg(test)]";

/// The code of `now` with the tests of `before`. None if the tests are the same, or there were none.
pub(super) fn with_tests_of(before: &str, now: &str) -> Option<String> {
    let (_, tests) = split(before)?;
    match split(now) {
        Some((_, same)) if same == tests => None,
        Some((code, _)) => Some(format!("{code}{tests}")),
        None => Some(format!("{now}\n{tests}")),
    }
}

/// The code, and the tests behind it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let is_module = |next: &&str| next.starts_with("mod ") && next.trim_end().ends_with('{');
        if line.trim_end() == MARKER && lines.peek().is_some_and(is_module) {
            return Some(text.split_at(at));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn total() -> u32 {\n    80\n}\n\n";
    const TESTS: &str = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_is_90() {}\n}\n";

    #[test]
    fn tests_at_the_end_of_a_file_are_put_back_below_the_code_as_it_is_now() {
        let before = format!("{CODE}{TESTS}");
        let mended = CODE.replace("80", "90");
        assert_eq!(with_tests_of(&before, &format!("{mended}{TESTS}")), None, "only the code was changed");
        let weakened = TESTS.replace("it_is_90", "it_is_80");
        assert_eq!(with_tests_of(&before, &format!("{CODE}{weakened}")), Some(before.clone()));
        assert_eq!(with_tests_of(&before, &mended), Some(format!("{mended}\n{TESTS}")), "deleted");
        assert_eq!(with_tests_of(CODE, &before), None, "added");
        let helper = format!("#[cfg(test)]\nuse std::fs;\n{before}");
        assert_eq!(with_tests_of(&helper, &helper), None);
    }
}
