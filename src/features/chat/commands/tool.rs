//! The team's commands as a tool of every persona, so that a wish in any words and any language can be carried out. A command runs with the rights of
//! the person who asks, and its reply is shown below the answer, whatever the persona says about it.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::features::chat::commands::said::{carry_out, run_for};
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{AuthorKind, InboundMessage};
use kernel::chat::outbound::{OutboundFile, OutboundKind, OutboundMessage};
use kernel::commands::{ArgumentKind, CommandSpec, Effect, Late, Registry, Typed};
use kernel::config::find_nearest;
use kernel::db::StoreError;
use kernel::ids::OutboxId;
use kernel::memory::MemorySource;
use kernel::tools::approval::{Risk, fingerprint};
use kernel::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

pub(crate) const NAME: &str = "team_command";

/// The argument of commands that ask first where they throw work away.
const SURE: &str = "sure";

/// A longer reply is shown below an answer without its last lines.
const TOLD: usize = 400;

pub(crate) struct TeamCommand {
    pub(crate) store: Store,
    /// Weak, because the registry holds the conversation, which holds the tools.
    pub(crate) registry: Late<Weak<Registry>>,
}

#[derive(Deserialize)]
struct Wanted {
    command: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Wanted {
    fn read(arguments: &Value) -> Result<Self, ToolError> {
        let wanted: Self = parse_arguments(arguments)?;
        Ok(Self { command: wanted.command.trim().trim_start_matches('/').to_owned(), ..wanted })
    }

    /// As a surface passes it to the registry. Empty values count as not given.
    fn given(&self) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Array(values) => Some(values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
            other => Some(other.to_string()),
        };
        self.arguments.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
    }
}

impl TeamCommand {
    fn registry(&self) -> Option<Arc<Registry>> {
        self.registry.get().ok()?.upgrade()
    }

    /// The effect of a call. One that is not complete only gets an explanation.
    fn effect(&self, arguments: &Value) -> Effect {
        let wanted = Wanted::read(arguments).ok().zip(self.registry());
        let effect = wanted.and_then(|(wanted, registry)| {
            let (spec, given) = (find_offered(&registry, &wanted.command)?, wanted.given());
            registry.check_arguments(spec, &given).ok()?;
            Some(spec.effect_with(given.iter().map(|(name, _)| name.as_str())))
        });
        effect.unwrap_or(Effect::Looks)
    }

    /// Whether an argument names an item, a mission or the like.
    fn is_reference(&self, wanted: &Wanted, argument: &str) -> bool {
        let Some(registry) = self.registry() else { return false };
        let argument = find_offered(&registry, &wanted.command).and_then(|spec| spec.find_argument(argument));
        argument.is_some_and(|argument| matches!(argument.kind, ArgumentKind::Reference(_)))
    }

    /// The message of the person whom the run answers.
    async fn find_said(&self, context: &ToolContext<'_>) -> Result<InboundMessage, ToolError> {
        let nobody = || ToolError::Refused("commands are only carried out for a person who asks in the chat".into());
        let MemorySource::Message(message) = context.get_source()? else { return Err(nobody()) };
        let said = self.store.find_message(message).await.map_err(|error| unavailable(&error))?.map(|row| row.message);
        let is_asker = |said: &InboundMessage| context.asked_by.is_some_and(|asked| asked.person.id.as_ref() == Some(&said.author.id));
        said.filter(|said| said.author.kind == AuthorKind::Person && is_asker(said)).ok_or_else(nobody)
    }

    /// Posts the files of a reply. The same call of the same message posts them once.
    async fn post_files(
        &self,
        said: &InboundMessage,
        call: &Value,
        files: Vec<OutboundFile>,
        context: &ToolContext<'_>,
    ) -> Result<(), ToolError> {
        let message = OutboundMessage {
            id: OutboxId::new(format!("command-{}-{}", said.id, fingerprint(NAME, call))),
            files,
            ..OutboundMessage::new(context.persona, &said.channel.id, OutboundKind::Notice, String::new())
        };
        self.store.enqueue_once(&message, context.now).await.map_err(|error| unavailable(&error))?;
        Ok(())
    }
}

#[async_trait]
impl Tool for TeamCommand {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> String {
        let list = self.registry().map_or_else(String::new, |registry| list_offered(&registry));
        format!(
            "Does what the team can do for the person who asks: {list}. Whenever the person wants one of these, in whatever words, call it instead of \
             saying that you cannot. Give `arguments` by name, in the person's own words where they are texts; without what a command needs, the call \
             says what it takes and does nothing."
        )
    }

    fn needs_message(&self) -> bool {
        true
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "Such as \"mission change\"."},
                "arguments": {"type": "object", "description": "Such as {\"text\": \"Bob does the invoices\"}."},
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, arguments: &Value, _: &ToolContext<'_>) -> Risk {
        if self.effect(arguments) == Effect::Looks { Risk::Read } else { Risk::Write }
    }

    fn is_for_all(&self) -> bool {
        true
    }

    /// The person names what is to be done or to what, and says every value in their own words, of which at least one is a text of some length. What the
    /// message replies to counts as named.
    fn is_asked_for(&self, arguments: &Value, context: &ToolContext<'_>) -> bool {
        let (Some(asked), Ok(wanted)) = (context.asked_by, Wanted::read(arguments)) else { return false };
        let given = wanted.given();
        let is_said =
            |(name, text): &(String, String)| if self.is_reference(&wanted, name) { asked.points_to(text) } else { asked.says(text) };
        (wanted.command.split([' ', '-']).any(|word| asked.says(word)) || given.iter().any(|(name, _)| self.is_reference(&wanted, name)))
            && given.iter().any(|(_, text)| text.split_whitespace().count() > 2)
            && given.iter().all(is_said)
    }

    fn discards(&self, arguments: &Value) -> bool {
        self.effect(arguments) == Effect::Discards
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Doing what you asked for".into())
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Confirmed { words, .. } = trace else { return None };
        Some(words.clone())
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        let Ok(wanted) = Wanted::read(arguments) else { return "May I do this?".into() };
        let path = Medium::Chat.line(&wanted.command);
        let purpose = self.registry().and_then(|registry| find_offered(&registry, &wanted.command).map(|spec| spec.description));
        let lines = wanted.given().into_iter().map(|(name, text)| format!("\n{}: {}", Medium::Chat.line(&name), Medium::Chat.line(&text)));
        format!("May I do this for you? **{path}**: {}{}", purpose.unwrap_or_default(), lines.collect::<String>())
    }

    fn outline(&self, arguments: &Value) -> String {
        let wanted = Wanted::read(arguments).ok().zip(self.registry());
        let used = wanted.and_then(|(wanted, registry)| {
            let spec = find_offered(&registry, &wanted.command)?;
            Some(format!("The command `{}`: {}\n{}", spec.name, spec.description, usage(&wanted.command, spec)))
        });
        let form = json!({"command": "…", "arguments": {"name": "value"}});
        format!("{}\nIts arguments: {form}", used.unwrap_or_else(|| self.description()))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let wanted = Wanted::read(arguments)?;
        let registry =
            self.registry().ok_or_else(|| ToolError::Failed("the team is just starting; ask for it again in a moment".into()))?;
        let Some(spec) = find_offered(&registry, &wanted.command) else {
            return Err(ToolError::Refused(unknown(&registry, &wanted.command)));
        };
        let said = self.find_said(context).await?;
        let mut given = wanted.given();
        if let Err(misfit) = registry.check_arguments(spec, &given) {
            return Err(ToolError::Refused(format!("nothing was done: {misfit}. {}", usage(&wanted.command, spec))));
        }
        let effect = spec.effect_with(given.iter().map(|(name, _)| name.as_str()));
        let path = wanted.command;
        // The person has just allowed exactly this.
        let is_sure = effect == Effect::Discards && spec.find_argument(SURE).is_some();
        given.extend(is_sure.then(|| (SURE.to_owned(), "yes".to_owned())));
        let typed = Typed { path: path.clone(), given };
        let reply = if effect == Effect::Looks {
            carry_out(&registry, said.clone(), typed).await
        } else {
            // That something was changed is no secret.
            run_for(&registry, said.clone(), typed).await
        };
        if reply.error {
            return Err(ToolError::Refused(format!("it was not carried out. {}", reply.text)));
        }
        let mut text = reply.text;
        if !reply.files.is_empty() && self.post_files(&said, arguments, reply.files, context).await.is_err() {
            // The command itself was carried out.
            text.push_str("\nIts files could not be posted.");
        }
        let trace = (effect != Effect::Looks).then(|| Trace::Confirmed { id: path, words: in_short(&text) });
        // A reply quotes items, plans and reports, which may quote anything.
        Ok(ToolOutput { text, outside: true, trace })
    }
}

/// The first lines of a reply as one line, with their marks.
fn in_short(reply: &str) -> String {
    let mut short = String::new();
    for line in reply.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if short.len() + line.len() > TOLD && !short.is_empty() {
            return short + " …";
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(line);
    }
    short
}

/// A command that a persona may carry out for a person.
fn find_offered<'a>(registry: &'a Registry, path: &str) -> Option<&'a CommandSpec> {
    let is_for_people = |name: &str| registry.commands().iter().any(|group| group.name == name && group.people_only);
    let group = path.split(' ').next().unwrap_or_default();
    registry.find(path).filter(|spec| spec.surface.is_in_chat() && !spec.people_only && !is_for_people(group))
}

/// "backlog list, show, add; standup start, skip".
fn list_offered(registry: &Registry) -> String {
    let mut groups = Vec::new();
    for group in registry.commands().iter().filter(|group| !group.people_only && group.surface.is_in_chat()) {
        let is_offered = |inner: &&CommandSpec| inner.surface.is_in_chat() && !inner.people_only;
        let names: Vec<&str> = group.subcommands.iter().filter(is_offered).map(|inner| inner.name).collect();
        match (group.subcommands.is_empty(), names.is_empty()) {
            (true, _) => groups.push(group.name.to_owned()),
            (false, true) => {}
            (false, false) => groups.push(format!("{} {}", group.name, names.join(", "))),
        }
    }
    groups.join("; ")
}

fn unknown(registry: &Registry, path: &str) -> String {
    let paths: Vec<String> = registry
        .commands()
        .iter()
        .flat_map(|group| match group.subcommands.as_slice() {
            [] => vec![group.name.to_owned()],
            inner => inner.iter().map(|inner| format!("{} {}", group.name, inner.name)).collect(),
        })
        .filter(|path| find_offered(registry, path).is_some())
        .collect();
    let near = find_nearest(path, paths.iter().map(String::as_str)).map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    format!("there is no command {path:?} that you can give.{near} There are: {}", list_offered(registry))
}

/// What a command takes, for the model.
fn usage(path: &str, spec: &CommandSpec) -> String {
    let arguments = spec.arguments.iter().filter(|argument| argument.surface.is_in_chat()).map(|argument| {
        let needed = if argument.required { ", needed" } else { "" };
        let choices = match argument.kind {
            ArgumentKind::Choice(choices) => {
                format!(" One of: {}.", choices.iter().map(|choice| choice.value).collect::<Vec<_>>().join(", "))
            }
            ArgumentKind::Duration => " Such as 30m, 2h or 1d.".to_owned(),
            ArgumentKind::Date => " Such as 2026-03-31, today or yesterday.".to_owned(),
            _ => String::new(),
        };
        format!("- {}{needed}: {}{choices}", argument.name, argument.description)
    });
    let arguments: Vec<String> = arguments.collect();
    if arguments.is_empty() {
        return format!("`{path}` takes no arguments.");
    }
    format!("`{path}` takes:\n{}", arguments.join("\n"))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a command could not be carried out for a person");
    ToolError::Failed("the database is not available right now".into())
}

#[cfg(test)]
mod tests {
    use kernel::commands::{Services, permit_all};

    use super::*;

    fn registry() -> Registry {
        crate::features::registry("discord", &Services::new("not here"), permit_all())
    }

    #[test]
    fn the_list_names_what_the_team_can_do_in_the_chat() {
        insta::assert_snapshot!(list_offered(&registry()));
    }

    #[test]
    fn a_command_is_explained_with_its_arguments_and_choices() {
        let registry = registry();
        let explain = |path: &str| usage(path, find_offered(&registry, path).expect("offered"));
        insta::assert_snapshot!(format!("{}\n\n{}\n\n{}", explain("remind snooze"), explain("standup status"), explain("board create")));
    }

    #[test]
    fn only_what_throws_work_away_discards_and_only_what_shows_looks() {
        let registry = registry();
        let effect = |path: &str, given: &[&str]| find_offered(&registry, path).expect(path).effect_with(given.iter().copied());
        for path in ["backlog cancel", "mission cancel", "mission leave-out", "board cancel", "standup cancel", "schedule remove"] {
            assert_eq!(effect(path, &[]), Effect::Discards, "{path}");
        }
        for path in ["mission start", "standup start", "mission change", "backlog edit", "backlog answer", "team pause", "remind zone"] {
            assert_eq!(effect(path, &[]), Effect::Changes, "{path}");
        }
        for path in ["backlog list", "status", "mission status", "costs", "remind list"] {
            assert_eq!(effect(path, &[]), Effect::Looks, "{path}");
        }
        assert_eq!(effect("costs", &["raise"]), Effect::Changes);
        for path in ["remind new", "halt", "ask", "help", "memory teach", "backlog add", "no such"] {
            assert!(find_offered(&registry, path).is_none(), "{path}");
        }
    }
}
