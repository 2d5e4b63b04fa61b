//! Tests that need something this machine may not have.

/// Tells loudly that a test was skipped because `what` is missing. Fails instead where `TEAMROOM_REQUIRE` lists it, or `all`.
pub(crate) fn missing(what: &str, why: &str) {
    let required = std::env::var_os("TEAMROOM_REQUIRE").unwrap_or_default();
    let required = required.to_string_lossy();
    assert!(!required.split(',').any(|name| name == what || name == "all"), "{what} is required here: {why}");
    eprintln!("SKIPPED for want of {what}: {why}");
}
