//! The tools of a team in one place: what is offered, what is decided of a call, and how a call is made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::{Decision, Tool, ToolError, ToolOutput, ToolSetting, policy, schema};
use crate::clock::SharedClock;
use crate::config::find_nearest;
use crate::containment::contain;
use crate::llm::ToolSpec;

/// All tools that personas may list. Which of them a team has rests on its settings, and a persona file is written for many teams.
const BUILT_IN: [&str; 13] = [
    "ask_agent",
    "backlog_add",
    "fetch_page",
    "git_diff",
    "git_log",
    "http_get",
    "memory_save",
    "memory_search",
    "read_feed",
    "web_search",
    "workspace_list",
    "workspace_read",
    "workspace_write",
];

/// The tools of the team. The only way to call one.
pub struct Toolbox {
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
    clock: SharedClock,
}

impl Toolbox {
    /// Of two tools of one name the later one is there.
    pub fn new(tools: Vec<Arc<dyn Tool>>, clock: SharedClock) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name(), tool)).collect(), clock }
    }

    /// The names of all tools, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.keys().copied()
    }

    /// Whether a persona's list names only tools that there are, here or in a team with other settings.
    ///
    /// # Errors
    /// The first name that no tool has, with what was probably meant.
    pub fn check_listed(&self, listed: &[String]) -> Result<(), String> {
        let known = || self.names().chain(BUILT_IN);
        let Some(unknown) = listed.iter().find(|name| known().all(|known| known != name.as_str())) else { return Ok(()) };
        let mut told = format!("there is no tool {unknown:?}");
        match find_nearest(unknown, known()) {
            Some(meant) => write!(told, "; did you mean {meant}?"),
            None => write!(told, "; there are {}", self.names().collect::<Vec<_>>().join(", ")),
        }
        .expect("a String takes everything");
        Err(told)
    }

    /// Those of the `listed` tools that are here, as a model is offered them.
    pub fn specs(&self, listed: &[String]) -> Vec<ToolSpec> {
        let offered = self.tools.values().filter(|tool| listed.iter().any(|name| name == tool.name()));
        let spec =
            |tool: &Arc<dyn Tool>| ToolSpec { name: tool.name().into(), description: tool.description(), parameters: tool.parameters() };
        offered.map(spec).collect()
    }

    /// What is to become of a call of a model. `tainted`: text from outside is in its context.
    pub fn decide(&self, listed: &[String], name: &str, arguments: &Value, setting: &ToolSetting<'_>, tainted: bool) -> Decision {
        if !listed.iter().any(|listed| listed == name) {
            let names = self.names().filter(|name| listed.iter().any(|listed| listed == name)).collect::<Vec<_>>().join(", ");
            return Decision::Refused { why: format!("you have no such tool; you have {names}") };
        }
        let Some(tool) = self.tools.get(name) else {
            return Decision::Refused { why: format!("{name} is not set up on this team") };
        };
        match schema::check(&tool.parameters(), arguments) {
            Ok(()) => policy::decide(tool.name(), tool.risk(arguments, setting), tainted),
            Err(misfit) => Decision::Refused { why: format!("{name} was not called: {misfit}") },
        }
    }

    /// Makes a call that [`Toolbox::decide`] has allowed, or a person. It takes no longer than the tool's limit, its text is no longer than
    /// the tool's limit, and it ends when it is cancelled.
    ///
    /// # Errors
    /// A sentence for the model, as tools give them; a call that is too slow and a tool that panics are failures of this call alone.
    pub async fn perform(&self, name: &str, arguments: &Value, setting: &ToolSetting<'_>) -> Result<ToolOutput, ToolError> {
        let tool = self.tools.get(name).ok_or_else(|| ToolError::Refused(format!("{name} is not set up on this team")))?;
        // The risk of a call rests on arguments that fit, and an approval may be older than the schema.
        schema::check(&tool.parameters(), arguments).map_err(|misfit| ToolError::Refused(format!("{name} was not called: {misfit}")))?;
        let limits = tool.limits();
        let called = tokio::select! {
            biased;
            () = setting.cancel.cancelled() => Err(ToolError::Failed(format!("{name} was called off"))),
            called = contain(async { Ok(tool.call(arguments, setting).await) }) => called.unwrap_or_else(|panic| {
                tracing::error!(tool = name, error = %panic, "a tool panicked");
                Err(ToolError::Failed(format!("{name} broke down; that is a fault of the program")))
            }),
            () = self.clock.sleep(limits.timeout) => {
                Err(ToolError::Failed(format!("{name} took longer than {} s", limits.timeout.as_secs())))
            }
        };
        called.map(|output| ToolOutput { text: cut(output.text, limits.chars), ..output })
    }
}

/// At most `most` characters, and a note of what is missing.
fn cut(mut text: String, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let all = text.chars().count();
    text.truncate(end);
    write!(text, "\n[cut here: the first {most} of {all} characters]").expect("a String takes everything");
    text
}

#[cfg(test)]
mod tests;
