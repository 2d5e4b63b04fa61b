//! Tests that need something this machine may not have.

/// Says loudly that a test did not run, or fails it where `TEAMROOM_REQUIRE` asks for it.
///
/// `what` is the name by which it is asked for; the variable holds such names with commas between, or `all`.
pub(crate) fn missing(what: &str, why: &str) {
    let required = std::env::var_os("TEAMROOM_REQUIRE").unwrap_or_default();
    let is_required = required.to_string_lossy().split(',').map(str::trim).any(|name| name == what || name == "all");
    assert!(!is_required, "{what} is required here: {why}");
    println!("SKIPPED: {what}: {why}");
}
