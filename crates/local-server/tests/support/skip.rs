//! Skips tests whose requirements are missing on this machine.

/// Reports a skipped test because `what` is missing. Fails instead if `TEAMROOM_REQUIRE` lists it, or `all`.
pub(crate) fn missing(what: &str, why: &str) {
    let required = std::env::var_os("TEAMROOM_REQUIRE").unwrap_or_default();
    let required = required.to_string_lossy();
    assert!(!required.split(',').any(|name| name == what || name == "all"), "{what} is required here: {why}");
    eprintln!("SKIPPED, {what} is missing: {why}");
}
