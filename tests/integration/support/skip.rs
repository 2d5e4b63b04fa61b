//! Tests that need something the machine lacks say so loudly, and fail where it is required.

/// Says that a test does not run because `what` is missing. Panics when `TEAMROOM_REQUIRE` lists `what`, or is `all`.
#[expect(clippy::disallowed_methods, reason = "no configuration of the team's, but of this test run")]
pub(crate) fn missing(what: &str, why: &str) {
    let required = std::env::var("TEAMROOM_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|one| one.trim() == what || one.trim() == "all"), "{what} is required and missing: {why}");
    println!("SKIPPED: {what} is missing: {why}");
}
