//! `teamroom trace`: everything that was decided and done about a message, an item, a meeting or another subject of the log.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::adapters::slack;
use crate::cli::{Globals, completions, setting, terminal};
use crate::config::PLATFORM;
use crate::features::chat::store::{CallRow, Trace, TurnRow};
use crate::store::Store;
use kernel::agent::turn::Trigger;
use kernel::chat::message::Speaker;
use kernel::commands::refuse;
use kernel::db::StoreError;
use kernel::db::check_exists;
use kernel::events::{Audience, Recorded};
use kernel::ids::{MessageId, complete};
use kernel::print_line;
use kernel::time::{Clock, SystemClock};

/// Longer texts are cut. The channel has the full text.
const SHOWN: usize = 160;

/// The shortest end of an id that identifies an item, as in all commands.
const SHORT_ID: usize = 6;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The id of a message, of an item (its last six characters are enough), of a meeting or of a reminder, or the name of a scheduled job.
    #[arg(add = completions::completer("item"))]
    id: String,
    /// Print JSON: a list of lines, each with its time and text.
    #[arg(long)]
    json: bool,
}

/// What happened, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Line {
    at: DateTime<Utc>,
    text: String,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    check_exists(&config.database_url)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let lines = find_named(&store, args.id.trim()).await;
    store.close().await;
    let mut lines = lines?;
    if lines.is_empty() {
        refuse(format!(
            "nothing is known of {} in {}. Give the id of a message, an item, a meeting or a reminder, or the name of a scheduled job; \
             add --sandbox for the sandbox, or set DATABASE_URL to another database",
            args.id,
            store.place()
        ))?;
    }
    // Lines with the same time keep their order.
    lines.sort_by_key(|line| line.at);
    if args.json {
        print_line!("{}", serde_json::json!(lines));
        return Ok(());
    }
    let mut day = None;
    for line in lines {
        let at = line.at.with_timezone(&config.schedules.zone);
        if day.replace(at.date_naive()) != Some(at.date_naive()) {
            print_line!("{}", at.format("%a %-d %b %Y, %Z"));
        }
        print_line!("{}  {}", at.format("%H:%M:%S%.3f"), terminal::plain(&line.text));
    }
    Ok(())
}

async fn find_named(store: &Store, id: &str) -> Result<Vec<Line>, StoreError> {
    let mut lines = find(store, id).await?;
    for line in &mut lines {
        line.text = terminal::with_names(store, &line.text).await?;
    }
    Ok(lines)
}

/// The lines of the first subject with this id: a message, an item, or any other.
async fn find(store: &Store, id: &str) -> Result<Vec<Line>, StoreError> {
    for message in list_messages(id) {
        if let Some(trace) = store.trace(&message).await? {
            return Ok(lines_of_message(&trace));
        }
    }
    let short = id.trim_start_matches('#').to_lowercase();
    let items = if short.len() >= SHORT_ID { store.find_items_by_suffix(&short, 1).await? } else { Vec::new() };
    let item = items.first();
    let subject = item.map_or(id, |item| item.id.as_str());
    let mut lines: Vec<Line> =
        item.map(|item| line(item.created_at, format!("item #{}: {}", item.short_id(), cut(&item.what)))).into_iter().collect();
    lines.extend(store.list_events_of(subject, &Audience::Operators).await?.iter().map(line_of_event));
    lines.extend(store.trace_calls(subject).await?.iter().map(line_of_call));
    Ok(lines)
}

/// The messages that an id or a copied link may mean.
fn list_messages(id: &str) -> Vec<MessageId> {
    let own = link_of_slack(id).or_else(|| link_of_discord(id)).unwrap_or_else(|| id.to_owned());
    vec![MessageId::new(complete(PLATFORM, &own)), MessageId::on(slack::PLATFORM, &own)]
}

/// `https://team.slack.com/archives/C07A/p1732700000000100?thread_ts=…` is `C07A-1732700000.000100`.
fn link_of_slack(link: &str) -> Option<String> {
    let (channel, stamp) = link.split_once("/archives/")?.1.split('?').next()?.split_once("/p")?;
    let (seconds, micros) = stamp.split_at_checked(stamp.len().checked_sub(6)?)?;
    Some(format!("{channel}-{seconds}.{micros}"))
}

/// `https://discord.com/channels/1/2/3` is `3`.
fn link_of_discord(link: &str) -> Option<String> {
    Some(link.split_once("/channels/")?.1.rsplit('/').next()?.to_owned())
}

fn line(at: DateTime<Utc>, text: impl Into<String>) -> Line {
    Line { at, text: text.into() }
}

fn lines_of_message(trace: &Trace) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &trace.inbox {
        let message = &row.message;
        let text = format!("message {} in #{} by {}: {}", message.id.bare(), message.channel.name, message.author.name, cut(&message.text));
        lines.push(line(row.claimed_at, text));
        lines.extend(row.edited_at.map(|at| line(at, "edited")));
        lines.extend(row.deleted_at.map(|at| line(at, "deleted")));
    }
    lines.extend(
        trace.turns.iter().filter_map(|row| row.started_at.map(|at| line(at, format!("{} begins turn {}", row.turn.persona, row.turn.id)))),
    );
    if trace.events.is_empty() {
        lines.extend(lines_before_the_log(trace));
    } else {
        for event in &trace.events {
            let turn = event.text("turn").and_then(|id| trace.turns.iter().find(|row| row.turn.id.as_str() == id));
            match turn {
                Some(row) => lines.extend(lines_of_turn(event.at, row)),
                None => lines.push(line_of_event(event)),
            }
        }
        lines.extend(trace.turns.iter().filter(|row| row.finished_at.is_none()).flat_map(|row| lines_of_turn(row.turn.queued_at, row)));
    }
    lines.extend(trace.calls.iter().map(line_of_call));
    for row in &trace.outbox {
        let message = &row.message;
        let failure = row.failure.as_ref().map_or(String::new(), |failure| format!(" ({failure})"));
        let (kind, persona, state) = (message.kind.as_str(), &message.persona, row.state.as_str());
        lines.push(match &row.posted {
            Some(posted) => line(
                posted.at,
                format!(
                    "{kind} by {persona}: {state} as {} after {}: {}",
                    posted.message.bare(),
                    attempts(row.attempts),
                    cut(&message.text)
                ),
            ),
            None => line(
                row.created_at,
                format!("{kind} by {persona}: {state} after {}{failure}: {}", attempts(row.attempts), cut(&message.text)),
            ),
        });
    }
    lines
}

/// For messages that were handled before there was a log, or longer ago than it is kept.
fn lines_before_the_log(trace: &Trace) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &trace.inbox {
        if let (Some(decision), Some(at)) = (&row.decision, row.decided_at) {
            let who = decision.responders.iter().map(ToString::to_string).collect::<Vec<_>>();
            lines.push(line(at, describe_decision(&who.join(", "), &decision.explain())));
        }
    }
    lines.extend(trace.turns.iter().flat_map(|row| lines_of_turn(row.finished_at.unwrap_or(row.turn.queued_at), row)));
    for ask in &trace.asks {
        let text = format!("{} asks {}: {} ({})", ask.asker, ask.askee, cut(&ask.question), ask.state.as_str());
        lines.push(line(ask.asked_at, text));
    }
    for block in &trace.blocks {
        let from = match &block.from {
            Speaker::Persona(slug) => slug.as_str(),
            Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name,
        };
        lines.push(line(block.at, describe_block(block.to.as_str(), from, block.block.as_str())));
    }
    lines
}

/// How a turn stands, and its reply.
fn lines_of_turn(at: DateTime<Utc>, row: &TurnRow) -> Vec<Line> {
    let turn = &row.turn;
    let trigger = match &turn.trigger {
        Trigger::Message => "answers".to_owned(),
        Trigger::Agent { from, .. } => format!("answers {from}"),
        Trigger::Ask { .. } => "asks and relays".to_owned(),
    };
    let model = row.model.as_ref().map_or(String::new(), |model| format!(", {model}, prompt {} characters", row.prompt_chars));
    let error = row.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
    let text =
        format!("turn {}: {} {trigger}, {} after {}{model}{error}", turn.id, turn.persona, turn.state.as_str(), attempts(row.attempts));
    let reply = row.reply.as_ref().map(|reply| line(at, format!("    {}", cut(reply))));
    std::iter::once(line(at, text)).chain(reply).collect()
}

fn line_of_call(call: &CallRow) -> Line {
    let text = format!(
        "call: {}/{}, {} tokens in, {} out, {}, {} ms, {}",
        call.provider,
        call.model,
        call.usage.input,
        call.usage.output,
        call.cost,
        call.latency_ms.unwrap_or_default(),
        call.outcome.as_str()
    );
    line(call.at, text)
}

fn line_of_event(event: &Recorded) -> Line {
    let text = |key| event.text(key).unwrap_or_default();
    let told = match (event.topic.as_str(), event.kind.as_str()) {
        ("message", "decided") => describe_decision(&list(&event.payload["responders"]), text("reason")),
        ("message", "asked") => format!("{} asks {}", who(event), text("askee")),
        ("message", "ask_ended") => format!("what {} was asked: {}", text("askee"), text("state")),
        ("message", "blocked") => describe_block(text("to"), text("from"), text("why")),
        ("item", to) => {
            let from = event.text("from").map_or(String::new(), |from| format!("{} → ", plain_words(from)));
            format!("{from}{}{}{}", plain_words(to), by(event), note(event, "note"))
        }
        ("approval", state) => format!("approval of {}: {}{}", text("tool"), plain_words(state), by(event)),
        (topic, kind) => {
            let details = ["kind", "action", "job", "round", "state", "due", "instant"]
                .into_iter()
                .filter_map(|key| Some((key, event.payload.get(key)?)));
            let details: Vec<String> = details.map(|(key, value)| format!("{key} {}", list(value))).collect();
            let told = [format!("{topic} {}{}", plain_words(kind), by(event))].into_iter().chain(details).collect::<Vec<_>>().join(", ");
            format!("{told}{}{}", note(event, "reason"), note(event, "note"))
        }
    };
    line(event.at, told)
}

fn describe_decision(who: &str, why: &str) -> String {
    format!("decided: {} ({why})", if who.is_empty() { "nobody" } else { who })
}

fn describe_block(to: &str, from: &str, why: &str) -> String {
    format!("guard: {to} may not answer {from} ({why})")
}

fn attempts(count: u32) -> String {
    if count == 1 { "1 attempt".to_owned() } else { format!("{count} attempts") }
}

/// Who did it: a name, or the short name of a persona.
fn who(event: &Recorded) -> &str {
    let actor = event.actor.as_ref();
    actor.map_or("the program", |actor| {
        actor.name.as_deref().unwrap_or_else(|| actor.key.split_once(':').map_or(&*actor.key, |(_, slug)| slug))
    })
}

fn by(event: &Recorded) -> String {
    event.actor.as_ref().map_or(String::new(), |_| format!(" by {}", who(event)))
}

fn note(event: &Recorded, key: &str) -> String {
    event.text(key).map_or(String::new(), |note| format!(": {}", cut(note)))
}

fn plain_words(name: &str) -> String {
    name.replace('_', " ")
}

fn list(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(values) => Cow::Owned(values.iter().map(list).collect::<Vec<_>>().join(", ")),
        other => Cow::Owned(other.to_string()),
    }
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_named_by_its_id_or_its_link() {
        for (written, id) in [
            ("42", "discord:42"),
            ("https://discord.com/channels/1/2/42", "discord:42"),
            ("slack:C07A-1732700000.000100", "slack:C07A-1732700000.000100"),
            ("C07A-1732700000.000100", "slack:C07A-1732700000.000100"),
            ("https://x.slack.com/archives/C07A/p1732700000000100?thread_ts=1.2&cid=C07A", "slack:C07A-1732700000.000100"),
        ] {
            assert!(list_messages(written).contains(&id.into()), "{written}");
        }
        assert_eq!(list_messages("#a1b2c3").len(), 2, "whatever else it may be");
    }
}
