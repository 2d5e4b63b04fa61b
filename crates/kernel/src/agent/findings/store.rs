use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::agent::findings::{Finding, Told};
use crate::agent::offline::only_greets;
use crate::chat::message::{Channel, InboundMessage, Place, Speaker};
use crate::chat::text::is_subtext;
use crate::db::{Database, Document, Result, sql};
use crate::ids::{ChannelId, PersonaSlug};
use crate::memory::{Memory, MemorySource, Scope};

/// A shorter answer says nothing without its conversation.
const SHORTEST: usize = 25;

/// A shorter one below which it is said what was done ("Added … to the backlog") acknowledges that and says nothing else.
const SHORTEST_OF_ACT: usize = 160;

/// Maximum number of items that are read.
const ITEMS: u32 = 30;

/// In the decision on a message that a feature has taken, such as a report or an answer to an item.
const TAKEN: &str = "\"reason\":\"taken\"";

/// The fields of an outbound message that a finding needs.
#[derive(Deserialize)]
struct Said {
    persona: PersonaSlug,
    text: String,
}

#[derive(Deserialize)]
struct Heard {
    text: String,
}

#[derive(sqlx::FromRow)]
struct AnswerColumns {
    channel: String,
    #[sqlx(try_from = "String")]
    message: Document<Said>,
    at: DateTime<Utc>,
    #[sqlx(try_from = "String")]
    place: Document<Place>,
    private: Option<bool>,
    #[sqlx(try_from = "String")]
    asked: Document<Heard>,
    #[sqlx(try_from = "String")]
    asker: Document<Speaker>,
    /// How many messages were answered together.
    messages: i64,
}

impl Database {
    /// What was found out since a time and may be told in `scope`, the newest first.
    pub async fn list_findings(&self, scope: &Scope, since: DateTime<Utc>) -> Result<Vec<Finding>> {
        let answers: Vec<AnswerColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT said.channel, said.message, said.created_at AS at, channels.place, channels.private, inbox.message AS asked,
                 inbox.speaker AS asker, (SELECT COUNT(*) FROM inbox other WHERE other.burst = inbox.id) AS messages
             FROM outbox said JOIN turns ON turns.id = said.turn JOIN inbox ON inbox.id = turns.message
                 JOIN channels ON channels.id = said.channel
             WHERE said.kind = 'answer' AND said.state <> 'failed' AND said.deleted_at IS NULL AND inbox.speaker IS NOT NULL
                 AND said.created_at >= $1
             ORDER BY said.created_at DESC LIMIT 100",
            since
        )?;
        let mut findings: Vec<Finding> = answers.into_iter().filter_map(|row| row.read(scope)).collect();
        for lesson in self.list_outcomes(scope, since, ITEMS).await? {
            findings.extend(outcome(lesson));
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.at));
        Ok(findings)
    }
}

impl Database {
    /// What people told in channels since a time without an answer of the team, for everybody to hear, the newest first. Questions are left out.
    pub async fn list_told(&self, since: DateTime<Utc>, limit: usize) -> Result<Vec<Told>> {
        let rows: Vec<(String, String, Option<String>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT inbox.message, inbox.speaker, inbox.decision FROM inbox JOIN channels ON channels.id = inbox.channel
             WHERE inbox.speaker IS NOT NULL AND inbox.deleted_at IS NULL AND inbox.claimed_at >= $1 AND channels.private = FALSE
                 AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.message IN (inbox.id, inbox.burst))
             ORDER BY inbox.claimed_at DESC LIMIT 100",
            since
        )?;
        let mut told = Vec::new();
        for (message, speaker, decision) in rows {
            // One that cannot be read is named where it is answered.
            let (Ok(message), Ok(speaker)) = (Document::<InboundMessage>::read(message), Document::<Speaker>::read(speaker)) else {
                continue;
            };
            let (Place::Server, Speaker::Person { name, .. }) = (&message.channel.place, speaker) else { continue };
            let text = message.text.trim();
            let is_taken = decision.is_some_and(|decision| decision.contains(TAKEN));
            if !is_taken
                && !message.channel.shared
                && text.chars().count() >= SHORTEST
                && !text.ends_with(['?', '？', '؟'])
                && told.len() < limit
            {
                told.push(Told { by: name, channel: message.channel.name, at: message.sent_at, text: text.to_owned() });
            }
        }
        Ok(told)
    }
}

impl AnswerColumns {
    fn read(self, scope: &Scope) -> Option<Finding> {
        let private = self.private.unwrap_or(true);
        let id = ChannelId::new(self.channel);
        let channel = Channel { id: id.clone(), name: String::new(), place: self.place.0, private, shared: false };
        let is_of_person = matches!(self.asker.0, Speaker::Person { .. });
        let (notes, lines): (Vec<&str>, Vec<&str>) = self.message.0.text.lines().partition(|line| is_subtext(line));
        let text = lines.join(" ").trim().to_owned();
        let shortest = if notes.is_empty() { SHORTEST } else { SHORTEST_OF_ACT };
        let greets = self.messages <= 1 && only_greets(&self.asked.0.text, &self.message.0.persona);
        let tells = is_of_person && !greets && text.chars().count() >= shortest && scope.hears(Scope::of(&channel).place());
        tells.then_some(Finding {
            by: self.message.0.persona,
            at: self.at,
            channel: Some(id),
            question: self.asked.0.text,
            text,
            outside: true,
        })
    }
}

fn outcome(lesson: Memory) -> Option<Finding> {
    let outside = lesson.may_quote_outside();
    let by = lesson.persona.filter(|_| matches!(lesson.source, MemorySource::WorkItem(_)))?;
    Some(Finding { by, at: lesson.created_at, channel: None, question: String::new(), text: lesson.text, outside })
}
