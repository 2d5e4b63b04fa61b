//! `teamroom trace`: everything that was decided and done about a message.

use chrono::{DateTime, Utc};

use crate::cli::{Globals, setting};
use crate::features::chat::store::Trace;
use crate::store::Store;
use kernel::agent::turn::Trigger;
use kernel::chat::message::Speaker;
use kernel::time::{Clock, SystemClock};

/// Longer texts are cut. The channel has the full text.
const SHOWN: usize = 160;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The id of a person's message, or of one of ours.
    message: String,
    /// Print JSON: a list of lines.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let trace = store.trace(&args.message.as_str().into()).await;
    store.close().await;
    let trace = trace?.ok_or_else(|| {
        anyhow::anyhow!(
            "nothing is known of message {} in {}; add --sandbox for the sandbox, or set DATABASE_URL to another database",
            args.message,
            store.place()
        )
    })?;
    let lines = lines(&trace);
    if args.json {
        println!("{}", serde_json::json!(lines));
    } else {
        println!("{}", lines.join("\n"));
    }
    Ok(())
}

fn lines(trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &trace.inbox {
        let message = &row.message;
        lines.push(format!(
            "{}  message {} in #{} by {}: {}",
            time(row.claimed_at),
            message.id,
            message.channel.name,
            message.author.name,
            cut(&message.text)
        ));
        if let (Some(decision), Some(at)) = (&row.decision, row.decided_at) {
            let who = if decision.responders.is_empty() { "nobody".to_owned() } else { names(&decision.responders) };
            lines.push(format!("{}  decided: {who} ({})", time(at), decision.explain()));
        }
        lines.extend(row.edited_at.map(|at| format!("{}  edited", time(at))));
        lines.extend(row.deleted_at.map(|at| format!("{}  deleted", time(at))));
    }
    for row in &trace.turns {
        let turn = &row.turn;
        let trigger = match &turn.trigger {
            Trigger::Message => "answers".to_owned(),
            Trigger::Agent { from, .. } => format!("answers {from}"),
            Trigger::Ask { .. } => "asks and relays".to_owned(),
        };
        let model = row.model.as_ref().map_or(String::new(), |model| format!(", {model}, prompt {} characters", row.prompt_chars));
        let error = row.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        lines.push(format!(
            "{}  turn {}: {} {trigger}, {} after {} attempt(s){model}{error}",
            time(turn.queued_at),
            turn.id,
            turn.persona,
            turn.state.as_str(),
            row.attempts
        ));
        lines.extend(row.reply.as_ref().map(|reply| format!("          {}", cut(reply))));
    }
    for ask in &trace.asks {
        lines.push(format!(
            "{}  ask: {} asks {}: {} ({})",
            time(ask.asked_at),
            ask.asker,
            ask.askee,
            cut(&ask.question),
            ask.state.as_str()
        ));
    }
    for call in &trace.calls {
        lines.push(format!(
            "{}  call: {}/{}, {} tokens in, {} out, {}, {} ms, {}",
            time(call.at),
            call.provider,
            call.model,
            call.usage.input,
            call.usage.output,
            call.cost,
            call.latency_ms.unwrap_or_default(),
            call.outcome.as_str()
        ));
    }
    for block in &trace.blocks {
        let from = match &block.from {
            Speaker::Persona(slug) => slug.to_string(),
            Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name.clone(),
        };
        lines.push(format!("{}  guard: {} may not answer {from} ({})", time(block.at), block.to, block.block));
    }
    for row in &trace.outbox {
        let posted = row.posted.as_ref().map_or(String::new(), |posted| format!(" as {} at {}", posted.message, time(posted.at)));
        let failure = row.failure.as_ref().map_or(String::new(), |failure| format!(" ({failure})"));
        lines.push(format!(
            "{}  {} by {}: {}{posted} after {} attempt(s){failure}: {}",
            time(row.created_at),
            row.message.kind.as_str(),
            row.message.persona,
            row.state.as_str(),
            row.attempts,
            cut(&row.message.text)
        ));
    }
    lines
}

fn names(slugs: &[kernel::ids::PersonaSlug]) -> String {
    slugs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%H:%M:%S%.3f").to_string()
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN).chain(['…']).collect() }
}
