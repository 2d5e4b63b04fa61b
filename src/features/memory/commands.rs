//! `/memory`, `teamroom memory` and the buttons about memories.

use std::fmt::Write as _;

use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::button::MemoryButton;
use super::render::{render_found, render_history, render_span, render_taught};
use super::request::clean_id;
use super::service::{Asker, Lesson, Memories, MemoryError};
use kernel::chat::medium::shorten;
use kernel::chat::message::Place;
use kernel::commands::{ArgumentSpec, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, refuse};
use kernel::memory::{Memory, MemorySource, Scope, short_id};

/// The most suggestions of a completion, and the longest.
const SUGGESTED: usize = 25;
const LABEL: usize = 60;

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let memories = services.late::<Memories>();
    let id = |description: &'static str| ArgumentSpec::text("id", 20, description).required().completed_by("memory");
    registry
        .group(CommandSpec::new("memory", "What the team remembers.").people_only(), &memories)
        .command(
            CommandSpec::new("teach", "Teach the team something.")
                .example("\"We deploy on Thursdays\"")
                .public()
                .argument(ArgumentSpec::text("text", 1000, "What to remember, such as: we deploy on Thursdays").required())
                .argument(ArgumentSpec::text("replaces", 20, "The id of the memory that is outdated by it").completed_by("memory")),
            |memories, call| Box::pin(teach(memories, call)),
        )
        .command(
            CommandSpec::new("search", "Search what the team remembers.")
                .example("deploy")
                .argument(ArgumentSpec::text("words", 200, "About what").required()),
            |memories, call| Box::pin(search(memories, call)),
        )
        .command(
            CommandSpec::new("show", "Show a memory: from whom, since when, and what it replaced.")
                .example("a1b2c3")
                .argument(id("Its id from the search")),
            |memories, call| Box::pin(show(memories, call)),
        )
        .command(
            CommandSpec::new("forget", "Forget something for good.").example("a1b2c3").public().argument(id("Its id from the search")),
            |memories, call| Box::pin(forget(memories, call)),
        );
    registry.completion("memory", &memories, |memories, typed| Box::pin(complete(memories, typed)));
    registry.button(MemoryButton::PREFIX, &memories, |memories, call| Box::pin(press(memories, call)));
}

async fn teach(memories: &Memories, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (text, replaces) = (call.arguments.get_text("text")?, call.arguments.find_text("replaces"));
    let taught = memories.teach(Lesson { text, replaces, source: MemorySource::Command }, &Asker::of(call)).await.map_err(explain)?;
    let in_conversation = call.channel.as_ref().is_some_and(|channel| channel.place == Place::Direct);
    let data = json!({ "id": short_id(taught.kept()), "known": taught.known.is_some() });
    let mut told = render_taught(&taught, in_conversation);
    if let Some(rival) = &taught.rival {
        let argument = if call.caller.is_command_line() { "--replaces " } else { "replaces: " };
        let _ = write!(told, " To replace it, give the command again with `{argument}{}`.", rival.short_id());
    }
    Ok(CommandReply::public(told).with_data(data))
}

/// What people taught the whole team.
async fn complete(memories: &Memories, typed: &str) -> Vec<Suggestion> {
    let taught = memories.store().list_taught(&Scope::TEAM, SUGGESTED).await.unwrap_or_default();
    let fits = taught.iter().filter(|memory| memory.short_id().starts_with(typed));
    fits.map(|memory| Suggestion { value: memory.short_id(), label: shorten(&memory.text, LABEL) }).collect()
}

async fn search(memories: &Memories, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let found = memories.search(call.arguments.get_text("words")?, &Asker::of(call).scope).await.map_err(explain)?;
    Ok(CommandReply::private(render_found(&found, memories.zone())).with_data(found.iter().map(describe).collect()))
}

async fn show(memories: &Memories, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    if let Some(opened) = memories.open_span(call.arguments.get_text("id")?, &asker.scope).await.map_err(explain)? {
        return Ok(CommandReply::private(render_span(&opened, memories.zone())));
    }
    let history = memories.show(call.arguments.get_text("id")?, &asker.scope).await.map_err(explain)?;
    let older: Vec<Value> = history.older.iter().map(describe).collect();
    let data = json!({ "memory": describe(&history.memory), "older": older });
    Ok(CommandReply::private(render_history(&history, memories.zone())).with_data(data))
}

async fn forget(memories: &Memories, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let id = call.arguments.get_text("id")?;
    let told = memories.forget(id, &Asker::of(call)).await.map_err(explain)?;
    Ok(CommandReply::public(told).with_data(json!({ "forgotten": clean_id(id) })))
}

async fn press(memories: &Memories, call: &CommandCall) -> anyhow::Result<CommandReply> {
    match MemoryButton::parse(&call.name) {
        Some(button) => memories.press(&button, &Asker::of(call)).await.map_err(explain),
        None => Ok(refuse("this button is not known any more")?),
    }
}

/// Mistakes of the caller become a reply. Database errors stay errors.
fn explain(error: MemoryError) -> anyhow::Error {
    match error {
        MemoryError::Refused(why) => Refused::new(why).into(),
        MemoryError::Store(error) => error.into(),
    }
}

fn describe(memory: &Memory) -> Value {
    let time = |at: chrono::DateTime<chrono::Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
    json!({
        "id": memory.short_id(), "kind": memory.kind, "text": memory.text, "taught_by": memory.taught_by.as_ref().map(|by| &by.name),
        "since": time(memory.created_at), "until": memory.ended_at.map(time), "private": memory.place.is_some(),
        "replaces": memory.replaces.as_ref().map(short_id), "forgotten_by": memory.forgotten_by,
    })
}
