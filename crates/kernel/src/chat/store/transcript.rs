//! The transcript of a channel: messages of people and of the team.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::agent::turn::Trigger;
use crate::chat::message::{Speaker, Spoken};
use crate::chat::outbound::OutboundKind;
use crate::db::{Database, Document, Readable, Result, sql};
use crate::ids::{ChannelId, MessageId, PersonaSlug};

/// The fields of an [`InboundMessage`](crate::chat::message::InboundMessage) that a transcript needs. Parsing only these is faster: dozens
/// of lines are read before each turn.
#[derive(Deserialize)]
struct Heard {
    text: String,
}

/// The fields of an [`OutboundMessage`](crate::chat::outbound::OutboundMessage) that a transcript needs.
#[derive(Deserialize)]
struct Said {
    persona: PersonaSlug,
    text: String,
    #[serde(default, rename = "embed")]
    card: Option<SaidCard>,
}

#[derive(Deserialize)]
struct SaidCard {
    title: String,
    text: String,
}

#[derive(sqlx::FromRow)]
struct HeardColumns {
    id: String,
    #[sqlx(try_from = "String")]
    message: Document<Heard>,
    #[sqlx(try_from = "String")]
    speaker: Document<Speaker>,
    sent_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct SaidColumns {
    #[sqlx(try_from = "String")]
    message: Document<Said>,
    kind: String,
    platform_id: Option<String>,
    sent_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    trigger: Option<String>,
    /// The author of the message that started the turn.
    starter: Option<String>,
}

impl Database {
    /// The last `limit` lines of a channel, oldest first: messages that are not deleted or empty, and answers and reports of the team.
    /// Answers that are not posted yet come last, so that clocks of platform and process are never compared.
    pub async fn list_spoken(&self, channel: &ChannelId, limit: u32) -> Result<Vec<Spoken>> {
        self.list_lines(channel, limit, true).await
    }

    /// Like `list_spoken`, without the team's lines in meetings. The limit counts only lines outside of meetings.
    pub async fn list_spoken_outside_meetings(&self, channel: &ChannelId, limit: u32) -> Result<Vec<Spoken>> {
        self.list_lines(channel, limit, false).await
    }

    /// The messages of people and foreign bots in a channel since a time, oldest first, without deleted ones.
    pub async fn list_heard(&self, channel: &ChannelId, since: DateTime<Utc>) -> Result<Vec<Spoken>> {
        let heard: Vec<Readable<HeardColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, message, speaker, sent_at FROM inbox WHERE channel = $1 AND speaker IS NOT NULL AND sent_at >= $2 ORDER BY sent_at, id",
            channel.as_str(),
            since
        )?;
        Ok(self.db().keep_readable("inbox", heard).into_iter().map(HeardColumns::spoken).collect())
    }

    /// A message of a channel, by a person or the team, if it is known and not deleted. A card counts as text here.
    pub async fn find_spoken(&self, channel: &ChannelId, message: &MessageId) -> Result<Option<Spoken>> {
        let heard: Option<HeardColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT id, message, speaker, sent_at FROM inbox WHERE id = $1 AND channel = $2 AND speaker IS NOT NULL",
            message.as_str(),
            channel.as_str()
        )?;
        if let Some(heard) = heard {
            return Ok(Some(heard.spoken()));
        }
        let said: Option<SaidColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT said.message, said.kind, said.platform_id, said.sent_at, said.created_at, turns.trigger, inbox.speaker AS starter
             FROM outbox said LEFT JOIN turns ON turns.id = said.turn LEFT JOIN inbox ON inbox.id = turns.message
             WHERE said.platform_id = $1 AND said.channel = $2 AND said.deleted_at IS NULL ORDER BY said.position DESC LIMIT 1",
            message.as_str(),
            channel.as_str()
        )?;
        let Some(said) = said else { return Ok(None) };
        let card = said.message.0.card.as_ref().map(|card| [card.title.as_str(), &card.text].join("\n"));
        let mut spoken = said.spoken()?;
        if let Some(card) = card {
            let text = [spoken.text.as_str(), card.trim()].join("\n");
            text.trim().clone_into(&mut spoken.text);
        }
        Ok(Some(spoken))
    }

    async fn list_lines(&self, channel: &ChannelId, limit: u32, with_meetings: bool) -> Result<Vec<Spoken>> {
        let heard: Vec<Readable<HeardColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, message, speaker, sent_at FROM inbox WHERE channel = $1 AND speaker IS NOT NULL
             ORDER BY sent_at DESC, id DESC LIMIT $2",
            channel.as_str(),
            i64::from(limit)
        )?;
        let said: Vec<Readable<SaidColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT said.id, said.message, said.kind, said.platform_id, said.sent_at, said.created_at, turns.trigger, inbox.speaker AS starter
             FROM outbox said LEFT JOIN turns ON turns.id = said.turn LEFT JOIN inbox ON inbox.id = turns.message
             WHERE said.channel = $1 AND said.kind <> 'notice' AND said.state <> 'failed' AND said.deleted_at IS NULL
                 AND ($3 OR said.kind <> 'report')
             ORDER BY said.position DESC LIMIT $2",
            channel.as_str(),
            i64::from(limit),
            with_meetings
        )?;
        // Both lists are newest first. Reversed, a stable sort keeps each message before its answer.
        let heard = self.db().keep_readable("inbox", heard).into_iter().rev().map(|row| (row.sent_at, row.spoken()));
        let mut lines: Vec<(DateTime<Utc>, Spoken)> = heard.collect();
        let said = self.db().read_each("outbox", said, |row: SaidColumns| {
            let at = row.sent_at.unwrap_or(DateTime::<Utc>::MAX_UTC);
            Ok((at, row.spoken()?))
        });
        lines.extend(said.into_iter().rev());
        lines.sort_by_key(|(at, _)| *at);
        let surplus = lines.len().saturating_sub(limit as usize);
        Ok(lines.into_iter().skip(surplus).map(|(_, spoken)| spoken).collect())
    }
}

impl HeardColumns {
    fn spoken(self) -> Spoken {
        Spoken {
            message: Some(self.id.into()),
            speaker: self.speaker.0,
            answers: None,
            text: self.message.0.text,
            at: self.sent_at,
            in_meeting: false,
        }
    }
}

impl SaidColumns {
    fn spoken(self) -> Result<Spoken> {
        let trigger = self.trigger.map(Document::<Trigger>::read).transpose()?;
        let answers = match trigger {
            Some(Trigger::Agent { from, .. }) => Some(Speaker::Persona(from)),
            Some(Trigger::Message) => self.starter.map(Document::<Speaker>::read).transpose()?.filter(Speaker::is_agent),
            Some(Trigger::Ask { .. }) | None => None,
        };
        Ok(Spoken {
            message: self.platform_id.map(MessageId::new),
            speaker: Speaker::Persona(self.message.0.persona),
            answers,
            text: self.message.0.text,
            at: self.sent_at.unwrap_or(self.created_at),
            in_meeting: self.kind == OutboundKind::Report.as_str(),
        })
    }
}
