//! The messages of a channel in the last minutes.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::model::talk::{Answered, Said};
use crate::store::Store;
use kernel::agent::turn::Trigger;
use kernel::chat::message::{Author, AuthorKind, InboundMessage};
use kernel::chat::text::Mention;
use kernel::db::{Document, Readable, Result, sql};
use kernel::ids::{MessageId, UserId};
use kernel::text::fold_name;

/// The most messages that are read. Older ones do not show who talks with whom.
const MESSAGES: i64 = 40;

#[derive(sqlx::FromRow)]
struct SaidColumns {
    #[sqlx(try_from = "String")]
    message: Document<InboundMessage>,
    sent_at: DateTime<Utc>,
    decision: Option<String>,
    persona: Option<String>,
    trigger: Option<String>,
    finished_at: Option<DateTime<Utc>>,
    reply: Option<String>,
}

impl Store {
    /// The messages of people in the channel since a time, with the personas that answered them.
    pub(crate) async fn list_said_before(&self, message: &InboundMessage, since: DateTime<Utc>) -> Result<Vec<Said>> {
        let rows: Vec<Readable<SaidColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT inbox.id, inbox.message, inbox.sent_at, inbox.decision, turns.persona, turns.trigger, turns.finished_at, turns.reply
             FROM inbox LEFT JOIN turns ON turns.message = inbox.burst AND turns.state = 'answered'
             WHERE inbox.channel = $1 AND inbox.speaker IS NOT NULL AND inbox.sent_at BETWEEN $2 AND $3 AND inbox.id <> $4
             ORDER BY inbox.sent_at DESC, inbox.id DESC LIMIT $5",
            message.channel.id.as_str(),
            since,
            message.sent_at,
            message.id.as_str(),
            MESSAGES
        )?;
        let said = self.db().read_each("inbox", rows, |row: SaidColumns| row.read(&message.author));
        Ok(said.into_iter().flatten().collect())
    }

    /// The person whose message was answered by a persona's message with this id on the platform.
    pub(crate) async fn find_answered(&self, posted: &MessageId) -> Result<Option<UserId>> {
        let row: Option<(String,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT inbox.message FROM outbox JOIN turns ON turns.id = outbox.turn JOIN inbox ON inbox.id = turns.message
             WHERE outbox.platform_id = $1 LIMIT 1",
            posted.as_str()
        )?;
        row.map(|(message,)| Document::<InboundMessage>::read(message).map(|message| message.author.id)).transpose()
    }
}

impl SaidColumns {
    /// The row as the author of a later message sees it. None for messages that no person wrote.
    fn read(self, author: &Author) -> Result<Option<Said>> {
        let InboundMessage { author: Author { id, kind: AuthorKind::Person, .. }, text, reply_to, .. } = self.message.0 else {
            return Ok(None);
        };
        let names = names_person(&text, &author.name) || text.contains(&Mention(&author.id).to_string());
        let replies = reply_to.and_then(|reply| reply.author).is_some_and(|replied_to| replied_to == author.id);
        let decision: Option<Decision> = self.decision.map(Document::read).transpose()?;
        let trigger: Option<Trigger> = self.trigger.map(Document::read).transpose()?;
        // The answer of an agent to an agent is not for the person.
        let to_person = matches!(trigger, Some(Trigger::Message | Trigger::Ask { .. }));
        Ok(Some(Said {
            by: id,
            at: self.sent_at,
            among_people: decision.is_some_and(|decision| matches!(decision.reason, Reason::Silence | Reason::ForOthers)),
            names_author: names || replies,
            asks: asks(&text),
            text,
            answer: self.persona.zip(self.finished_at).filter(|_| to_person).map(|(by, at)| Answered {
                by: by.into(),
                at,
                asks: self.reply.as_deref().is_some_and(asks),
            }),
        }))
    }
}

/// Whether a line of a text ends with a question mark.
fn asks(text: &str) -> bool {
    let mark = |line: &str| line.trim_end_matches(|c: char| c.is_whitespace() || "*_~|\"'”’»)]".contains(c)).ends_with(['?', '？', '؟']);
    text.lines().any(mark)
}

/// Whether a text contains the first name of a person as a word.
fn names_person(text: &str, name: &str) -> bool {
    let name = fold_name(name);
    let first = name.split_whitespace().next().unwrap_or_default();
    !first.is_empty() && text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == first)
}
