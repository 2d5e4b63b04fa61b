//! The offline composer: what a persona answers when no model is configured (LLM-2).
//!
//! It is no model and never pretends to be one. It understands a question by rules (`intent`), reports what changed from the
//! persona's feeds (`changes`), tells costs from the ledger (`costs`), and answers other questions by quoting files and feeds with
//! citations (`sources`). What none of these holds it does not know, and says so. Each fact it tells stands in a feed item or in a
//! line of a file, and the same question over the same material gives the same answer.

mod changes;
mod costs;
mod intent;
mod sources;
mod team;
mod time_phrase;
pub mod wording;

use chrono::{DateTime, Utc};

use crate::chat::message::{Speaker, Spoken};
use crate::feeds::Feed;
use crate::memory::retrieval::{ChannelFile, Query};
use crate::persona::Persona;
use crate::persona::roster::Roster;
use intent::{Intent, Understood, understand};

/// What people are told in full once per channel a day (LLM-2).
pub const EXPLANATION: &str = "No language model is configured, so our answers are composed by rule: what our feeds and the files posted \
     here say, with its place. Set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, or `TEAMROOM_MODEL_URL` and `TEAMROOM_MODEL` in `.env` and restart to let us think.";

/// The last line of each composed answer, in Discord's small print.
pub const FOOTER: &str = "-# composed from feeds and files, no model";

/// A question to a persona, with all that it may draw on.
pub struct OfflineQuestion<'a> {
    pub persona: &'a Persona,
    pub roster: &'a Roster,
    pub text: &'a str,
    /// The files of the message itself.
    pub files: &'a [ChannelFile],
    /// Files posted in the channel before, newest first.
    pub channel_files: &'a [ChannelFile],
    /// What was said in the channel before, oldest first.
    pub transcript: &'a [Spoken],
    /// The persona's own feeds.
    pub feeds: &'a [Feed],
    pub now: DateTime<Utc>,
}

/// A composed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineAnswer {
    /// Markdown, ready to be posted, with [`FOOTER`].
    pub text: String,
    /// What it rests on: feeds and places in files. Empty where it tells nothing but who is on the team or that it does not know.
    pub sources: Vec<String>,
}

/// An answer in the making: lines, to which the footer comes at the end.
#[derive(Debug, Default)]
struct Draft {
    lines: Vec<String>,
    sources: Vec<String>,
}

impl Draft {
    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}

impl<L: Into<String>> From<L> for Draft {
    fn from(line: L) -> Self {
        Self { lines: vec![line.into()], sources: Vec::new() }
    }
}

/// Answers a question. Never fails: what cannot be read is told as such.
pub async fn compose(asked: &OfflineQuestion<'_>) -> OfflineAnswer {
    let understood = understand(asked.text, asked.persona, asked.roster, asked.now);
    let Draft { mut lines, sources } = draft(asked, &understood).await;
    lines.push(FOOTER.to_owned());
    OfflineAnswer { text: lines.join("\n"), sources }
}

async fn draft(asked: &OfflineQuestion<'_>, understood: &Understood) -> Draft {
    let about_something = !understood.topic.is_empty();
    match understood.intent {
        Intent::Greeting => team::greet(asked),
        Intent::Thanks => "You are welcome.".into(),
        Intent::Team => team::introduce(asked),
        Intent::Help => team::help(asked),
        Intent::Costs if asked.files.is_empty() && !about_something => costs::tell(asked, understood.range.as_ref()).await,
        Intent::Outline if !about_something && sources::newest_file(asked).is_some() => sources::outline(asked),
        Intent::Changes if asked.files.is_empty() && !about_something => changes::tell(asked, understood.range.as_ref()).await,
        Intent::Question if asked.text.trim().is_empty() && !asked.files.is_empty() => sources::outline(asked),
        // "What have you been up to this week?": a time and nothing else.
        Intent::Question if understood.range.is_some() && !about_something => changes::tell(asked, understood.range.as_ref()).await,
        intent => search(asked, understood, intent).await,
    }
}

/// Quotes what speaks of the topic; a question without one ("why?") takes it from what was asked before.
async fn search(asked: &OfflineQuestion<'_>, understood: &Understood, intent: Intent) -> Draft {
    let query = if understood.topic.is_empty() { asked_before(asked, understood) } else { understood.topic.clone() };
    let material = sources::gather(asked, understood.range.as_ref()).await;
    match material.quote(&query) {
        Some(draft) => draft,
        None if intent == Intent::Judgement || query.is_empty() => team::cannot_judge(asked),
        None => material.nothing_found(asked, &query),
    }
}

fn asked_before(asked: &OfflineQuestion<'_>, understood: &Understood) -> Query {
    let people = asked.transcript.iter().rev().filter(|line| matches!(line.speaker, Speaker::Person { .. }) && line.text != asked.text);
    // Only the line just before: a follow-up follows something.
    let before = people.take(1).map(|line| understand(&line.text, asked.persona, asked.roster, asked.now).topic).next();
    // A judgement has no subject of its own either, but it is no follow-up.
    match before.filter(|_| understood.intent == Intent::Question) {
        Some(topic) => Query { kind: understood.topic.kind, ..topic },
        None => understood.topic.clone(),
    }
}

#[cfg(test)]
mod tests;
