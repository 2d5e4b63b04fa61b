//! `/backlog`, `teamroom backlog` and the buttons of items.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::learning::amendment;
use crate::features::backlog::model::{ExecutionKind, ItemChanges, ItemDraft, Urgency, Wait, WorkItem, short_id};
use crate::features::backlog::render::{
    Detail, ItemDetails, ListView, attach, list_files, name_of_owner, render_item, render_list, takes_answer,
};
use crate::features::backlog::service::changing::named;
use crate::features::backlog::service::{AskedIn, Asker, Backlog, BacklogError, Cancelling, ListQuery, describe_pause};
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
use kernel::commands::{
    ArgumentSpec, Arguments, Choice, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, Topic,
    refuse,
};
use kernel::db::StoreError;
use kernel::memory::Scope;
use kernel::time::show_time;

/// The most rows in a message and in a terminal.
const LISTED: u32 = 15;
const LISTED_IN_TERMINAL: u32 = 50;

const STATUSES: &[Choice] = &[
    Choice::new("open", "open"),
    Choice::new("new", "new"),
    Choice::new("ready", "ready"),
    Choice::new("blocked", "blocked"),
    Choice::new("in-progress", "in progress"),
    Choice::new("in-review", "in review"),
    Choice::new("waiting", "waiting"),
    Choice::new("done", "done"),
    Choice::new("failed", "failed"),
    Choice::new("cancelled", "cancelled"),
    Choice::new("all", "all"),
];

const URGENCIES: &[Choice] =
    &[Choice::new("now", "now"), Choice::new("today", "today"), Choice::new("this-week", "this week"), Choice::new("backlog", "some time")];

/// Without `watch`, whose terms do not fit into an argument.
const KINDS: &[Choice] = &[
    Choice::new("remind", "remind the owner"),
    Choice::new("research", "research"),
    Choice::new("write", "write a document"),
    Choice::new("build", "build files"),
    Choice::new("ask", "ask"),
];

/// At the command line `--anyway` is enough.
const ANYWAY: &[Choice] = &[Choice::new("yes", "yes")];
const SURE: &[Choice] = &[Choice::new("yes", "yes")];

fn item() -> ArgumentSpec {
    ArgumentSpec::reference("id", "item", "Which item: the last six characters of its id").required()
}

fn what() -> ArgumentSpec {
    ArgumentSpec::text("what", 160, "What is to be done, in one sentence")
}

fn how() -> ArgumentSpec {
    ArgumentSpec::text("how", 2000, "How to do it")
}

fn why() -> ArgumentSpec {
    ArgumentSpec::text("why", 2000, "Why it is worth doing")
}

fn owner() -> ArgumentSpec {
    ArgumentSpec::reference("owner", "owner", "Owner: a persona, a person by name or mention, or me")
}

fn urgency(about: &'static str) -> ArgumentSpec {
    ArgumentSpec::choice("urgency", URGENCIES, about)
}

fn due(about: &'static str) -> ArgumentSpec {
    ArgumentSpec::text("due", 60, about)
}

fn criterion(about: &'static str) -> ArgumentSpec {
    ArgumentSpec::text("criterion", 2000, about).many()
}

fn criteria() -> ArgumentSpec {
    ArgumentSpec::text("criteria", 2000, "Conditions for being done, with a semicolon between them")
}

pub fn register(registry: &mut Registry, services: &Services) {
    let backlog = services.late::<Backlog>();
    registry
        .group(CommandSpec::new("backlog", "Work items of the team.").listed_under(Topic::Work), &backlog)
        .command(
            CommandSpec::new("list", "List work items, most urgent first.")
                .example("--status open --owner vince")
                .argument(ArgumentSpec::choice("status", STATUSES, "Filter by status; open by default"))
                .argument(ArgumentSpec::reference("owner", "owner", "Filter by owner: a persona or a person"))
                .argument(
                    ArgumentSpec::integer("limit", (1, 100_000), "Number of items to show; 50 by default").only_in(Surface::CommandLine),
                ),
            |backlog, call| Box::pin(list(backlog, call)),
        )
        .command(
            CommandSpec::new("show", "Show an item with its status, evidence and history.").example("a1b2c3").argument(item()),
            |backlog, call| Box::pin(show(backlog, call)),
        )
        .command(
            CommandSpec::new("files", "Post the files that an item made.").example("a1b2c3").public().argument(item()),
            |backlog, call| Box::pin(files(backlog, call)),
        )
        .command(
            CommandSpec::new("add", "Add an item to the backlog.")
                .example("\"Check the login page\" --owner vince --due friday")
                .people_only()
                .public()
                .offered_as("Add to the backlog", "what")
                .argument(what().required())
                .argument(owner())
                .argument(due("When it is due: friday, tomorrow at 15:00, 2026-12-01"))
                .argument(urgency("How soon; backlog by default"))
                .argument(how())
                .argument(why())
                .argument(ArgumentSpec::choice("kind", KINDS, "Type of work; the team decides by default"))
                .argument(ArgumentSpec::text("repo", 60, "The repository to work in, on a branch of its own"))
                .argument(criterion("A condition for being done; may be repeated"))
                .argument(criteria())
                .argument(ArgumentSpec::text("needs", 40, "An item that must be done first; may be repeated").many().completed_by("item"))
                .argument(ArgumentSpec::reference("parent", "item", "The parent item"))
                .argument(
                    ArgumentSpec::choice("anyway", ANYWAY, "Add it although it looks like an open item").only_in(Surface::CommandLine),
                ),
            |backlog, call| Box::pin(add(backlog, call)),
        )
        .command(
            CommandSpec::new("answer", "Answer an item that waits for your word, which completes it.")
                .example("a1b2c3 \"The contract is signed.\"")
                .changes()
                .argument(item())
                .argument(ArgumentSpec::text("text", 2000, "Your answer, or what you did").required()),
            |backlog, call| Box::pin(answer(backlog, call)),
        )
        .command(CommandSpec::new("run", "Do an item next.").example("a1b2c3").public().argument(item()), |backlog, call| {
            Box::pin(run(backlog, call))
        })
        .command(
            CommandSpec::new("retry", "Do an item again that failed, was cancelled, waits or is done but not right.")
                .example("a1b2c3 --why \"the second chapter is missing\"")
                .public()
                .argument(item())
                .argument(ArgumentSpec::text("why", 1000, "What is wrong with the result; its author is told")),
            |backlog, call| Box::pin(retry(backlog, call)),
        )
        .command(
            CommandSpec::new("cancel", "Cancel an item. Items that depend on it fail.")
                .example("a1b2c3")
                .discards()
                .public()
                .argument(item())
                .argument(sure()),
            |backlog, call| Box::pin(cancel(backlog, call)),
        )
        .command(
            CommandSpec::new("restore", "Take back that an item was cancelled, within an hour.")
                .example("a1b2c3")
                .public()
                .argument(item()),
            |backlog, call| Box::pin(restore(backlog, call)),
        )
        .command(
            CommandSpec::new("edit", "Edit an item. Work in progress goes on with the change.")
                .example("a1b2c3 --owner ann --urgency today")
                .public()
                .argument(item())
                .argument(what())
                .argument(how())
                .argument(why())
                .argument(owner())
                .argument(due("When it is due, such as friday; none takes the date away"))
                .argument(urgency("How soon"))
                .argument(ArgumentSpec::choice("kind", KINDS, "Type of work"))
                .argument(criterion("A condition for being done, replacing all earlier ones; may be repeated"))
                .argument(criteria()),
            |backlog, call| Box::pin(edit(backlog, call)),
        );
    amendment::commands::register(registry, services);
    registry.button(WorkButton::PREFIX, &backlog, |backlog, call| Box::pin(press(backlog, call)));
    registry.completion("item", &backlog, |backlog, typed| Box::pin(complete(backlog.list_choices(typed))));
    registry.completion("owner", &backlog, |backlog, typed| Box::pin(complete(backlog.list_owners(typed))));
}

async fn list(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let shown = if call.caller.is_command_line() { LISTED_IN_TERMINAL } else { LISTED };
    let limit = call.arguments.find_u32("limit").unwrap_or(shown);
    let query = ListQuery { status: call.arguments.find_text("status"), owner: call.arguments.find_text("owner"), limit };
    let listed = backlog.list(&query, &Asker::of(call)).await.map_err(explain)?;
    let view = ListView { is_whole: call.caller.is_command_line(), ..listed.view() };
    let mut text = render_list(&view, backlog.roster());
    if let Some(url) = backlog.kanban() {
        let _ = write!(text, "\n\nKanban page: {url}");
    }
    let data = listed.items.iter().map(|item| describe_listed(item, &view));
    Ok(CommandReply::private(text).with_data(data.collect()))
}

/// An item as JSON, in the style of missions and boards: with its short id, the reason of its end, and its cost in dollars.
pub(super) fn describe(item: &WorkItem) -> Value {
    let mut data = json!(item);
    data["short"] = item.short_id().into();
    data["reason"] = item.outcome.as_deref().filter(|_| item.status.is_over()).into();
    data["cost"] = item.cost.dollars().into();
    data
}

fn describe_listed(item: &WorkItem, view: &ListView<'_>) -> Value {
    let mut data = describe(item);
    data["owner_paused"] = view.is_held_up(item).into();
    data["takes_answer"] = takes_answer(item).into();
    data
}

async fn show(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let details = backlog.get_details(call.arguments.get_text("id")?, &Asker::of(call)).await.map_err(explain)?;
    let detail = if call.caller.is_command_line() { Detail::Whole } else { Detail::Brief };
    let mut text = render_item(&details, backlog.roster(), detail);
    if let Some(url) = backlog.kanban().filter(|_| !call.caller.is_command_line()) {
        let _ = write!(text, "\n\nOn the kanban page: {url}/items/{}", details.item.id);
    }
    Ok(CommandReply::private(text).with_data(describe_sheet(&details)))
}

async fn files(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (item, files) = backlog.get_files(call.arguments.get_text("id")?, &Asker::of(call)).await.map_err(explain)?;
    let facts: Vec<_> = files.iter().map(|file| file.facts.clone()).collect();
    let data = json!({ "item": item.id, "files": facts });
    if call.caller.is_command_line() {
        let how = format!("Save them with `teamroom backlog files {} --out DIR`.", item.short_id());
        return Ok(CommandReply::private(format!("{}\n{how}", list_files(&facts).join("\n"))).with_data(data));
    }
    let mut posted = Vec::new();
    let rest = attach(&mut posted, &item, &files);
    Ok(CommandReply::public(format!("Files of {}{rest}", line(&item))).with_files(posted).with_data(data))
}

async fn add(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    // In a direct conversation not every persona can post.
    let channel = call.channel.as_ref().filter(|channel| channel.place != Place::Direct).map(|channel| channel.id.clone());
    let place = AskedIn { channel, private_to: call.channel.as_ref().and_then(|channel| Scope::of(channel).place().cloned()) };
    let item = backlog.add(&draft_of(&call.arguments)?, &Asker::of(call), place).await.map_err(explain)?;
    if let Some(Wait::Duplicate { of, what }) = &item.wait {
        let like = Medium::Chat.line(&format!("\"{what}\" (#{})", short_id(of)));
        let text = format!("Not added yet: this looks like {like}. Use the buttons below to add it anyway.");
        return Ok(CommandReply::private(text).with_data(json!({ "item": describe(&item) })));
    }
    let owner = Medium::Chat.line_within(name_of_owner(&item.owner, backlog.roster()), 40);
    let due = item.due.map_or(String::new(), |due| format!(", due {}", show_time(due, backlog.zone())));
    let pause = describe_pause(backlog.store(), &item.owner, backlog.roster()).await?;
    let pause = pause.map_or(String::new(), |pause| format!(". {pause}"));
    let text = format!("{} added for {owner}{due}: {}{pause}", call.caller.subject(), line(&item));
    Ok(CommandReply::public(text).with_data(json!({ "item": describe(&item) })))
}

async fn answer(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (id, text) = (call.arguments.get_text("id")?, call.arguments.get_text("text")?);
    backlog.answer_in_words(id, text, &Asker::of(call)).await.map_err(explain)
}

async fn run(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let item = backlog.run(call.arguments.get_text("id")?, &Asker::of(call)).await.map_err(explain)?;
    let waits = item.wait.as_ref().map_or(String::new(), |wait| format!(" It waits {}.", wait.describe()));
    let text = format!("{} moved this to the top: {}.{waits}", call.caller.subject(), line(&item));
    Ok(CommandReply::public(text).with_data(json!({ "item": describe(&item) })))
}

async fn retry(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let item = backlog.retry(call.arguments.get_text("id")?, call.arguments.find_text("why"), &Asker::of(call)).await.map_err(explain)?;
    let text = format!("{} restarted {}", call.caller.subject(), line(&item));
    Ok(CommandReply::public(text).with_data(json!({ "item": describe(&item) })))
}

async fn cancel(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    let done = backlog.cancel(call.arguments.get_text("id")?, is_sure(&call.arguments), &asker).await.map_err(explain)?;
    let reply = tell_cancelled(&call.caller.subject(), &done, &asker);
    Ok(match done {
        Cancelling::Ended(ended) => reply.with_data(json!({ "item": describe(&ended.item), "failed": ended.failed })),
        Cancelling::Asked(item) => reply.with_data(json!({ "item": describe(&item), "asked": true })),
    })
}

async fn restore(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let back = backlog.restore(call.arguments.get_text("id")?, &Asker::of(call)).await.map_err(explain)?;
    let text = tell_restored(&call.caller.subject(), &back);
    Ok(CommandReply::public(text).with_data(json!({ "items": back.iter().map(describe).collect::<Vec<_>>() })))
}

async fn edit(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let text = |name: &str| call.arguments.find_text(name).map(str::to_owned);
    let criteria = Some(list_criteria(&call.arguments)).filter(|criteria| !criteria.is_empty());
    let urgency = parse_choice(&call.arguments, "urgency")?;
    let kind = parse_choice(&call.arguments, "kind")?;
    let changes = ItemChanges {
        what: text("what"),
        how: text("how"),
        why: text("why"),
        owner: text("owner"),
        urgency,
        due: text("due"),
        criteria,
        kind,
    };
    let item = backlog.edit(call.arguments.get_text("id")?, &changes, &Asker::of(call)).await.map_err(explain)?;
    let text = format!("{} changed an item: {}", call.caller.subject(), line(&item));
    Ok(CommandReply::public(text).with_data(json!({ "item": describe(&item) })))
}

async fn press(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    match WorkButton::parse(&call.name) {
        Some(button) => backlog.press(&button, &Asker::of(call)).await.map_err(explain),
        None => Ok(refuse("this button no longer works")?),
    }
}

async fn complete(found: impl Future<Output = Result<Vec<Suggestion>, StoreError>>) -> Vec<Suggestion> {
    found.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot suggest items or owners");
        Vec::new()
    })
}

fn draft_of(arguments: &Arguments) -> anyhow::Result<ItemDraft> {
    let text = |name: &str| arguments.find_text(name).map(str::to_owned);
    Ok(ItemDraft {
        what: arguments.get_text("what")?.to_owned(),
        how: text("how").unwrap_or_default(),
        why: text("why").unwrap_or_default(),
        owner: text("owner"),
        urgency: parse_choice::<Urgency>(arguments, "urgency")?,
        due: text("due"),
        criteria: list_criteria(arguments),
        needs: arguments.list_texts("needs"),
        parent: text("parent"),
        kind: parse_choice::<ExecutionKind>(arguments, "kind")?,
        repository: text("repo"),
        anyway: arguments.find_text("anyway").is_some(),
        ..ItemDraft::default()
    })
}

/// An argument for who has been asked already, or cannot be asked with buttons.
pub(crate) fn sure() -> ArgumentSpec {
    ArgumentSpec::choice("sure", SURE, "Do it although there is work in it").only_in(Surface::CommandLine)
}

pub(crate) fn is_sure(arguments: &Arguments) -> bool {
    arguments.find_text("sure").is_some()
}

/// The criteria: repeated arguments at the command line, one text separated by semicolons in a chat, where an argument cannot be repeated.
fn list_criteria(arguments: &Arguments) -> Vec<String> {
    let together = arguments.find_text("criteria").unwrap_or_default().split(';').map(str::trim).filter(|text| !text.is_empty());
    arguments.list_texts("criterion").into_iter().chain(together.map(str::to_owned)).collect()
}

/// Parses a choice into a type with the same names.
pub(super) fn parse_choice<T: serde::de::DeserializeOwned>(arguments: &Arguments, name: &str) -> anyhow::Result<Option<T>> {
    let value = arguments.find_text(name).map(|value| Value::from(value.replace('-', "_")));
    Ok(value.map(serde_json::from_value).transpose()?)
}

/// Mistakes of the caller become a reply without Markdown. Database errors stay errors.
pub(super) fn explain(error: BacklogError) -> anyhow::Error {
    match error {
        BacklogError::Refused(why) => Refused::new(Medium::Chat.line(&why)).into(),
        BacklogError::Store(error) => error.into(),
    }
}

/// Where the cancellation is announced, only the caller needs the reply.
pub(super) fn tell_cancelled(by: &str, done: &Cancelling, asker: &Asker) -> CommandReply {
    let ended = match done {
        Cancelling::Ended(ended) => ended,
        Cancelling::Asked(item) if *asker == Asker::CommandLine => {
            let text = format!(
                "There is work in {}, so nothing is cancelled yet. `--sure` does it; it can be taken back for an hour.",
                line(item)
            );
            return CommandReply::refused(text);
        }
        Cancelling::Asked(item) if asker.person().is_some() => {
            return CommandReply::private(format!("There is work in {}, so please confirm with the button.", line(item)));
        }
        Cancelling::Asked(item) => {
            let text = format!("There is work in {}, so nothing is cancelled yet. It can be taken back for an hour.", line(item));
            return CommandReply::private(text);
        }
    };
    let with = match ended.failed.len() {
        0 => String::new(),
        1 => " One item that depends on it failed too.".to_owned(),
        failed => format!(" {failed} items that depend on it failed too."),
    };
    let how = format!("`/backlog restore id:{}` takes that back for an hour.", ended.item.short_id());
    CommandReply::private(format!("{by} cancelled {}.{with} {how}", line(&ended.item)))
}

pub(super) fn tell_restored(by: &str, back: &[WorkItem]) -> String {
    let [item, others @ ..] = back else { return "Nothing had to be taken back.".to_owned() };
    let with = match others.len() {
        0 => String::new(),
        1 => " One item that depends on it goes on, too.".to_owned(),
        many => format!(" {many} items that depend on it go on, too."),
    };
    format!("{by} took back that {} was cancelled. It goes on where it was.{with}", line(item))
}

/// An item in Markdown.
pub(super) fn line(item: &WorkItem) -> String {
    Medium::Chat.line(&named(item))
}

fn describe_sheet(details: &ItemDetails) -> Value {
    let events: Vec<_> =
        details.events.iter().map(|event| json!({"from": event.from, "to": event.to, "note": event.note, "at": event.at})).collect();
    let entries = details.runs.iter().flat_map(|run| run.entries.iter().map(move |entry| (run.run, entry)));
    let journal: Vec<_> = entries.map(|(run, (entry, at))| json!({"run": run, "entry": entry, "at": at})).collect();
    let tools: Value =
        details.usage.calls.iter().map(|(tool, (calls, failed))| (tool.clone(), json!({"calls": calls, "failed": failed}))).collect();
    json!({
        "item": describe(&details.item), "needs": details.needs.iter().map(describe).collect::<Vec<_>>(),
        "parent": details.parent.as_ref().map(describe), "events": events, "journal": journal,
        "product": details.product, "reviews": details.reviews, "approvals": details.approvals, "files": details.artefacts,
        "seconds": details.usage.time.num_seconds(), "tools": tools,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::WorkStatus;

    #[test]
    fn every_choice_is_a_value_of_its_type() {
        for choice in URGENCIES {
            serde_json::from_value::<Urgency>(choice.value.replace('-', "_").into()).expect(choice.value);
        }
        for choice in KINDS {
            serde_json::from_value::<ExecutionKind>(choice.value.replace('-', "_").into()).expect(choice.value);
        }
        for status in WorkStatus::ALL {
            assert!(STATUSES.iter().any(|choice| choice.label == status.as_str().replace('_', " ")), "{status:?}");
        }
    }
}
