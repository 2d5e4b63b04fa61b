//! The long form of tests: `tests/run --long`. It also runs the tests marked with `ignore`, which the gate leaves out because of their time.

/// Whether the long form runs.
pub(crate) fn is_long() -> bool {
    std::env::var_os("TEAMROOM_TEST_LONG").is_some()
}

/// How much a test does: what the variable says, else `long` in the long form, else `short`.
pub(crate) fn amount(variable: &str, short: usize, long: usize) -> usize {
    match std::env::var_os(variable) {
        Some(asked) => {
            asked.to_str().and_then(|asked| asked.parse().ok()).unwrap_or_else(|| panic!("{variable} is no number: {}", asked.display()))
        }
        None if is_long() => long,
        None => short,
    }
}

/// What chance begins with. Always the same, but for the long form, which draws it and prints it.
pub(crate) fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(amount("TEAMROOM_TEST_SEED", 1, 1) as u64)
}
