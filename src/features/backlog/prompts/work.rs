use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static WORK: Template = Template::new(include_str!("work.md.j2"));

/// The prompt of a work item. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub(crate) struct Work<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    /// `research`, `write`, `build`, or `change` for a change of a repository.
    pub(crate) kind: &'static str,
    /// The name of the repository. Empty without one.
    pub(crate) repository: String,
    /// The repository has a test command.
    pub(crate) tests: bool,
    /// The worktree contains the changes of needed items: `clean`, or with `conflicts` where git could not merge them. Empty: there are no such
    /// changes.
    pub(crate) joined: &'static str,
    /// What, how and why in a person's words. None if agents wrote them: then they are in a data block.
    pub(crate) request: Option<String>,
    pub(crate) criteria: Vec<String>,
    pub(crate) urgency: &'static str,
    /// When it is due, and who is named as its reviewer, if that was said.
    pub(crate) due: Option<String>,
    pub(crate) reviewer: Option<String>,
    pub(crate) owner: String,
    pub(crate) origin: String,
    /// Files of other items lie in the workspace.
    pub(crate) inputs: bool,
    /// The number of questions into which the matter was divided. They are in the material.
    pub(crate) questions: usize,
    /// An earlier attempt failed.
    pub(crate) again: bool,
    /// The limits of the run, as text.
    pub(crate) limits: String,
    /// The persona's skills that this work is about.
    pub(crate) skills: Vec<FullSkill<'a>>,
    /// The names of its others.
    pub(crate) other_skills: Vec<&'a str>,
    pub(crate) blocks: &'a [Block],
}

/// A skill with its full text, which is the operators'.
#[derive(Debug, Serialize)]
pub(crate) struct FullSkill<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

pub(crate) fn render_work(work: &Work<'_>) -> String {
    WORK.render(work)
}
