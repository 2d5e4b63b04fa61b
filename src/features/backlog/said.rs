//! What people wrote when they asked for an item: their message, and the words before it.

use chrono::TimeDelta;

use crate::store::Store;
use kernel::agent::with_names;
use kernel::chat::message::{InboundMessage, Place, Speaker, Spoken};
use kernel::chat::text::without_subtext;
use kernel::db::StoreError;
use kernel::persona::roster::Roster;
use kernel::text::without_invisible;

/// Maximum number of earlier lines of a thread.
const LINES: u32 = 30;

/// An answer of the team within this time before a message is what "with that test" speaks of.
const TALK: TimeDelta = TimeDelta::minutes(10);

/// The words before a message that belong to it: those of its thread, the message that it replies to, or else the last answer of the team. Empty if
/// there are none.
pub(super) async fn read_background(store: &Store, roster: &Roster, message: &InboundMessage) -> Result<String, StoreError> {
    let mut earlier: Vec<Spoken> = Vec::new();
    if let Place::Thread { parent, starter: Some(starter), .. } = &message.channel.place {
        earlier.extend(store.find_spoken(parent, starter).await?);
    }
    if matches!(message.channel.place, Place::Thread { .. }) {
        let lines = store.list_spoken(&message.channel.id, LINES).await?;
        earlier.extend(lines.into_iter().filter(|line| line.at < message.sent_at && line.message.as_ref() != Some(&message.id)));
    }
    if let Some(reply) = &message.reply_to
        && earlier.iter().all(|line| line.message.as_ref() != Some(&reply.message))
    {
        earlier.extend(store.find_spoken(&message.channel.id, &reply.message).await?);
    }
    if earlier.is_empty() && message.reply_to.is_none() {
        let lines = store.list_spoken(&message.channel.id, LINES).await?;
        earlier.extend(find_last_answer(lines, message));
    }
    let lines: Vec<String> = earlier.iter().map(|spoken| line(spoken, roster)).collect();
    Ok(if lines.is_empty() { String::new() } else { with_names(store, roster, &format!("Said before it:\n{}", lines.join("\n"))).await? })
}

/// The answer of the team that the author heard last, if nobody else has written since it was asked for.
fn find_last_answer(lines: Vec<Spoken>, message: &InboundMessage) -> Option<Spoken> {
    let before = |line: &Spoken| line.at < message.sent_at && !line.in_meeting;
    let lines: Vec<Spoken> = lines.into_iter().filter(before).collect();
    let place = lines.iter().rposition(|line| matches!(line.speaker, Speaker::Persona(_)))?;
    let asked = lines[..place].iter().rfind(|line| !matches!(line.speaker, Speaker::Persona(_)))?;
    let is_own = |line: &Spoken| matches!(&line.speaker, Speaker::Person { id, .. } if *id == message.author.id);
    let answer = &lines[place];
    let is_fresh = message.sent_at - answer.at <= TALK;
    (is_fresh && is_own(asked) && lines[place..].iter().skip(1).all(is_own)).then(|| answer.clone())
}

/// Indented, so that only the names stand at the beginning of a line.
fn line(spoken: &Spoken, roster: &Roster) -> String {
    let by = match &spoken.speaker {
        Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name,
        Speaker::Persona(slug) => roster.name_of(slug),
    };
    format!("{}: {}", without_invisible(by).replace('\n', " "), without_subtext(&spoken.text).trim().replace('\n', "\n    "))
}
