/// Something that is only done by a successful call, such as adding to the backlog. An answer that says it was done without one is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Act {
    /// The name of the act in the check.
    pub name: &'static str,
    /// For the check, after "that": "something was put into the backlog, or will be".
    pub claim: &'static str,
    /// The tool that does it. None: only a command.
    pub tool: Option<&'static str>,
    /// The group of commands that do it. None: only the tool.
    pub command: Option<&'static str>,
    /// The correction: "Nothing was added to the backlog."
    pub correction: &'static str,
}
