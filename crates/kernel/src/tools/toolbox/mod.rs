//! The tools of a team: what is offered, policy checks, and execution.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use crate::catch_panic::catch_panic;
use crate::config::find_nearest;
use crate::llm::ToolSpec;
use crate::time::SharedClock;
use crate::tools::policy::{self, Doubt};
use crate::tools::{Act, Decision, Tool, ToolContext, ToolError, ToolOutput, Trace, schema};

/// All tools that persona files may list. Some need settings, so a team may not have all of them.
const BUILT_IN: [&str; 23] = [
    "ask_agent",
    "backlog_add",
    "backlog_search",
    "board_create",
    "fetch_page",
    "git_diff",
    "git_log",
    "git_show",
    "http_get",
    "item_read",
    "meeting_read",
    "memory_forget",
    "memory_save",
    "memory_search",
    "read_document",
    "read_feed",
    "reminder_set",
    "skill_read",
    "team_command",
    "web_search",
    "workspace_list",
    "workspace_read",
    "workspace_write",
];

/// The team's tools. All calls go through it.
pub struct Toolbox {
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
    acts: Vec<Act>,
    clock: SharedClock,
}

impl Toolbox {
    /// If two tools have the same name, the later one is used.
    pub fn new(tools: Vec<Arc<dyn Tool>>, clock: SharedClock) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name(), tool)).collect(), acts: Vec::new(), clock }
    }

    /// Adds the acts that an answer must not claim without having done them.
    #[must_use]
    pub fn with_acts(self, acts: Vec<Act>) -> Self {
        Self { acts, ..self }
    }

    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// See [`Tool::asked_by`].
    pub fn asked_by(&self, name: &str) -> &'static str {
        self.tools.get(name).map_or("", |tool| tool.asked_by())
    }

    /// See [`Tool::describe_doing`].
    pub fn describe_doing(&self, name: &str, arguments: &Value) -> Option<String> {
        self.tools.get(name)?.describe_doing(arguments)
    }

    /// See [`Tool::describe_done`].
    pub fn describe_done(&self, name: &str, trace: &Trace) -> Option<String> {
        self.tools.get(name)?.describe_done(trace)
    }

    /// See [`Tool::describe_wish`].
    pub fn describe_wish(&self, name: &str, arguments: &Value) -> Option<String> {
        Some(self.tools.get(name)?.describe_wish(arguments))
    }

    /// See [`Tool::outline`].
    pub fn outline(&self, name: &str, arguments: &Value) -> Option<String> {
        Some(self.tools.get(name)?.outline(arguments))
    }

    /// See [`Tool::discards`].
    pub fn discards(&self, name: &str, arguments: &Value) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.discards(arguments))
    }

    /// See [`Tool::is_repeatable`].
    pub fn is_repeatable(&self, name: &str) -> bool {
        self.tools.get(name).is_none_or(|tool| tool.is_repeatable())
    }

    /// The tools that every persona has in a conversation with a person.
    pub fn list_for_all(&self) -> impl Iterator<Item = &'static str> {
        self.tools.values().filter(|tool| tool.is_for_all()).map(|tool| tool.name())
    }

    /// Sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.keys().copied()
    }

    /// Checks that a persona lists only existing tools, including those that need other settings.
    ///
    /// # Errors
    /// The first unknown name, with a suggestion.
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

    /// The `listed` tools that the team has, for offering them to a model.
    pub fn specs(&self, listed: &[String], has_workspace: bool, has_message: bool) -> Vec<ToolSpec> {
        let is_listed = |tool: &&Arc<dyn Tool>| listed.iter().any(|name| name == tool.name());
        let works = |tool: &&Arc<dyn Tool>| (has_workspace || !tool.needs_workspace()) && (has_message || !tool.needs_message());
        let offered = self.tools.values().filter(is_listed).filter(works);
        let spec = |tool: &Arc<dyn Tool>| {
            let mut parameters = tool.parameters();
            // Arguments that a schema does not name are refused anyway.
            parameters.as_object_mut().and_then(|rules| rules.remove("additionalProperties"));
            ToolSpec { name: tool.name().into(), description: tool.description(), parameters }
        };
        offered.map(spec).collect()
    }

    pub fn needs_workspace(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.needs_workspace())
    }

    /// The policy's decision on a model's call.
    pub fn decide(&self, listed: &[String], name: &str, arguments: &Value, context: &ToolContext<'_>) -> Decision {
        if !listed.iter().any(|listed| listed == name) {
            let names = self.names().filter(|name| listed.iter().any(|listed| listed == name)).collect::<Vec<_>>().join(", ");
            return Decision::Refused { why: format!("you have no such tool; you have {names}") };
        }
        let Some(tool) = self.tools.get(name) else {
            return Decision::Refused { why: format!("{name} is not set up on this team") };
        };
        if tool.needs_workspace() && context.workspace.is_none() {
            return Decision::Refused { why: format!("{name} works on the files of a work item, and this is a conversation") };
        }
        match schema::check(&tool.parameters(), arguments) {
            Ok(()) => policy::decide(tool.name(), tool.risk(arguments, context), find_doubt(tool.as_ref(), arguments, context)),
            Err(misfit) => Decision::Refused { why: format!("{name} was not called: {misfit}") },
        }
    }

    /// Executes a call that [`Toolbox::decide`] or a person has allowed, within the tool's limits.
    ///
    /// # Errors
    /// A sentence for the model. A tool that times out or panics fails only this call.
    pub async fn perform(&self, name: &str, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let tool = self.tools.get(name).ok_or_else(|| ToolError::Refused(format!("{name} is not set up on this team")))?;
        // Checked again, because an approval may be older than the schema.
        schema::check(&tool.parameters(), arguments).map_err(|misfit| ToolError::Refused(format!("{name} was not called: {misfit}")))?;
        let limits = tool.limits();
        let called = tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::Failed(format!("{name} was called off"))),
            called = catch_panic(async { Ok(tool.call(arguments, context).await) }) => called.unwrap_or_else(|panic| {
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

fn find_doubt(tool: &dyn Tool, arguments: &Value, context: &ToolContext<'_>) -> Doubt {
    match () {
        () if tool.discards(arguments) => Doubt::Discards,
        () if context.tainted && !tool.is_asked_for(arguments, context) => Doubt::Outside,
        () => Doubt::None,
    }
}

/// At most `most` characters, with a note about the rest.
fn cut(mut text: String, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let all = text.chars().count();
    text.truncate(end);
    write!(text, "\n[cut here: the first {most} of {all} characters]").expect("a String takes everything");
    text
}

#[cfg(test)]
mod tests;
