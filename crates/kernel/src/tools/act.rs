/// Something that is only done by a successful call, such as adding to the backlog. An answer that says it was done without one is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Act {
    /// The name of the act in the check.
    pub name: &'static str,
    /// For the check, after "that": "something was put into the backlog, or will be".
    pub claim: &'static str,
    /// What does it: tools, and groups of commands.
    pub done_by: &'static [&'static str],
    /// The correction: "Nothing was added to the backlog."
    pub correction: &'static str,
}
