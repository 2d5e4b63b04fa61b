//! How wide the terminal is.

use std::io::IsTerminal as _;

/// The width that everybody has.
pub(super) const USUAL: usize = 80;

/// The narrowest width that is used.
const NARROWEST: usize = 40;

#[expect(clippy::disallowed_methods, reason = "the shell sets it, and it is no setting of the team")]
fn named() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// The columns of the terminal that shows the output, or else those that `COLUMNS` names, or else 80.
pub(super) fn of_terminal() -> usize {
    found().unwrap_or(USUAL)
}

/// As [`of_terminal`], but what goes into a pipe or a file is not cut.
pub(super) fn of_table() -> usize {
    found().unwrap_or(usize::MAX)
}

fn found() -> Option<usize> {
    let out = std::io::stdout();
    let shown = out.is_terminal().then(|| terminal_size::terminal_size_of(&out)).flatten().map(|(width, _)| usize::from(width.0));
    shown.filter(|width| *width > 0).or_else(named).map(|width: usize| width.max(NARROWEST))
}
