//! The people who are asked before standups, and their answers.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use crate::features::standup::model::checkin::{CheckIn, PersonSaid};
use crate::store::Store;
use kernel::chat::message::InboundMessage;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Applied, Document, Effect, Result, Transaction, Word, plain, sql};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};
use kernel::jobs::RetentionRule;

/// Deletes check-ins, and the list of messages that answered them, after `kept`.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("checkins", &["checkins", "checkin_replies"], kept, |database, before, limit| {
        Box::pin(async move { Store::from(database).delete_checkins_before(before, limit).await })
    })
}

/// A check-in whose standup has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCheckIn {
    pub checkin: CheckIn,
    /// Whether the person has answered already.
    pub is_answered: bool,
}

/// A message that is an answer to a check-in.
#[derive(Debug)]
pub struct AddReply {
    pub checkin: CheckIn,
    /// The first message of its burst.
    pub message: MessageId,
}

/// A message that is kept for a standup for which its author was not asked.
#[derive(Debug)]
pub struct KeepReport {
    pub checkin: CheckIn,
    /// The first message of its burst.
    pub message: MessageId,
}

#[derive(sqlx::FromRow)]
struct CheckInColumns {
    channel: String,
    #[sqlx(try_from = "String")]
    day: Word<NaiveDate>,
    person: String,
    name: String,
    persona: String,
    post: String,
    standup_at: DateTime<Utc>,
    replies: i64,
}

impl From<CheckInColumns> for OpenCheckIn {
    fn from(row: CheckInColumns) -> Self {
        let checkin = CheckIn {
            channel: row.channel.into(),
            day: row.day.0,
            person: row.person.into(),
            name: row.name,
            persona: row.persona.into(),
            post: row.post.into(),
            standup_at: row.standup_at,
        };
        Self { checkin, is_answered: row.replies > 0 }
    }
}

#[derive(sqlx::FromRow)]
struct SaidColumns {
    person: String,
    name: String,
    #[sqlx(try_from = "String")]
    message: Document<InboundMessage>,
}

#[async_trait]
impl Effect for AddReply {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        let CheckIn { channel, day, person, .. } = &self.checkin;
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO checkin_replies (channel, day, person, message, at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (channel, day, person, message) DO NOTHING",
            channel.as_str(),
            day.to_string(),
            person.as_str(),
            self.message.as_str(),
            at
        )?;
        Ok(Applied::Done)
    }
}

#[async_trait]
impl Effect for KeepReport {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        // Without a post, so that the person is still asked before that standup.
        insert_checkin(transaction, &self.checkin, "", at).await?;
        AddReply { checkin: self.checkin.clone(), message: self.message.clone() }.apply(transaction, at).await
    }
}

/// Stores that a person is asked before a standup. Nothing is changed if they were. Returns the number of rows.
async fn insert_checkin(transaction: &mut Transaction, checkin: &CheckIn, post: &str, at: DateTime<Utc>) -> Result<u64> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO checkins (channel, day, person, name, persona, post, asked_at, standup_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (channel, day, person) DO UPDATE SET
             name = excluded.name, persona = excluded.persona, post = excluded.post, asked_at = excluded.asked_at,
             standup_at = excluded.standup_at
         WHERE checkins.post = ''",
        checkin.channel.as_str(),
        checkin.day.to_string(),
        checkin.person.as_str(),
        plain(&checkin.name),
        checkin.persona.as_str(),
        post,
        at,
        checkin.standup_at
    )
}

impl Store {
    /// Deletes a person's check-ins and answers, and their ratings of insights.
    pub async fn forget_checkins_and_ratings_of(&self, person: &UserId) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        sql!(
            transaction.on(),
            execute,
            "DELETE FROM checkin_people WHERE person = $1 /* reads all: a person is forgotten */",
            person.as_str()
        )?;
        sql!(
            transaction.on(),
            execute,
            "DELETE FROM checkin_replies WHERE person = $1 /* reads all: a person is forgotten */",
            person.as_str()
        )?;
        sql!(transaction.on(), execute, "DELETE FROM checkins WHERE person = $1 /* reads all: a person is forgotten */", person.as_str())?;
        sql!(transaction.on(), execute, "DELETE FROM ratings WHERE account = $1 /* reads all: a person is forgotten */", person.as_str())?;
        transaction.commit().await
    }

    /// Turns check-ins on for a person in a channel. False if they are on already.
    pub async fn add_checkin_person(&self, channel: &ChannelId, person: &UserId, name: &str, at: DateTime<Utc>) -> Result<bool> {
        let added = sql!(
            self.db().write()?,
            execute,
            "INSERT INTO checkin_people (channel, person, name, since) VALUES ($1, $2, $3, $4) ON CONFLICT (channel, person) DO NOTHING",
            channel.as_str(),
            person.as_str(),
            plain(name),
            at
        )?;
        Ok(added > 0)
    }

    /// Turns check-ins off for a person. False if they are off already.
    pub async fn remove_checkin_person(&self, channel: &ChannelId, person: &UserId) -> Result<bool> {
        let removed = sql!(
            self.db().write()?,
            execute,
            "DELETE FROM checkin_people WHERE channel = $1 AND person = $2",
            channel.as_str(),
            person.as_str()
        )?;
        Ok(removed > 0)
    }

    /// The people of a channel who want to be asked, were not asked for this day yet and are not away at the time of the standup, with their names.
    pub async fn list_unasked_people(
        &self,
        channel: &ChannelId,
        day: NaiveDate,
        standup_at: DateTime<Utc>,
    ) -> Result<Vec<(UserId, String)>> {
        let rows: Vec<(String, String)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT person, name FROM checkin_people
             WHERE channel = $1 AND NOT EXISTS (
                 SELECT 1 FROM checkins
                 WHERE checkins.channel = checkin_people.channel AND checkins.day = $2 AND checkins.person = checkin_people.person
                     AND checkins.post <> '')
               AND NOT EXISTS (
                 SELECT 1 FROM checkin_people absent
                 WHERE absent.channel = '' AND absent.person = checkin_people.person AND absent.since > $3
                     AND (absent.starts IS NULL OR absent.starts <= $3))
             ORDER BY since, person",
            channel.as_str(),
            day.to_string(),
            standup_at
        )?;
        Ok(rows.into_iter().map(|(person, name)| (UserId::new(person), name)).collect())
    }

    /// Asks a person, once for each channel and day: the row and the question are stored together. False if they were asked before.
    pub async fn ask_checkin(&self, checkin: &CheckIn, question: &OutboundMessage, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        if insert_checkin(&mut transaction, checkin, question.id.as_str(), at).await? == 0 {
            return Ok(false);
        }
        insert_outbound(&mut transaction, std::slice::from_ref(question), None, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Whether a person was asked before this standup, or has something kept for it.
    pub async fn has_checkin(&self, checkin: &CheckIn) -> Result<bool> {
        let (found,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*) FROM checkins WHERE channel = $1 AND day = $2 AND person = $3",
            checkin.channel.as_str(),
            checkin.day.to_string(),
            checkin.person.as_str()
        )?;
        Ok(found > 0)
    }

    /// The check-ins that a person can still answer in the conversation with a persona, the latest question first. Leaves out people who have turned
    /// check-ins off, and questions that could not be delivered.
    pub async fn list_open_checkins(&self, person: &UserId, persona: &PersonaSlug, now: DateTime<Utc>) -> Result<Vec<OpenCheckIn>> {
        let rows: Vec<CheckInColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT checkins.*, (
                 SELECT COUNT(*) FROM checkin_replies replies
                 WHERE replies.channel = checkins.channel AND replies.day = checkins.day AND replies.person = checkins.person) AS replies
             FROM checkins
             JOIN checkin_people ON checkin_people.channel = checkins.channel AND checkin_people.person = checkins.person
             JOIN outbox ON outbox.id = checkins.post
             WHERE checkins.person = $1 AND checkins.standup_at > $2 AND checkins.persona = $3 AND outbox.state <> 'failed'
             ORDER BY checkins.asked_at DESC, checkins.channel",
            person.as_str(),
            now,
            persona.as_str()
        )?;
        Ok(rows.into_iter().map(OpenCheckIn::from).collect())
    }

    /// Why the last question to a person could not be sent. None if it was sent, is on its way, or there was none.
    pub async fn find_checkin_failure(&self, person: &UserId) -> Result<Option<String>> {
        let row: Option<(String, Option<String>)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT outbox.state, outbox.failure FROM checkins JOIN outbox ON outbox.id = checkins.post
             WHERE checkins.person = $1 ORDER BY checkins.standup_at DESC LIMIT 1",
            person.as_str()
        )?;
        Ok(row.filter(|(state, _)| state == "failed").map(|(_, failure)| failure.unwrap_or_default()))
    }

    /// People's answers before the standups of a day, in the order in which they were asked. With later edits, and without deleted messages.
    pub async fn list_said_before_standup(&self, channel: &ChannelId, day: NaiveDate) -> Result<Vec<PersonSaid>> {
        let rows: Vec<SaidColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT checkins.person, checkins.name, inbox.message FROM checkins
             JOIN checkin_replies replies
                 ON replies.channel = checkins.channel AND replies.day = checkins.day AND replies.person = checkins.person
             JOIN inbox ON inbox.burst = replies.message
             WHERE checkins.channel = $1 AND checkins.day = $2 AND inbox.deleted_at IS NULL
             ORDER BY checkins.asked_at, checkins.person, inbox.sent_at, inbox.id",
            channel.as_str(),
            day.to_string()
        )?;
        Ok(join(rows))
    }

    async fn delete_checkins_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        let mut transaction = self.db().begin().await?;
        let replies = sql!(
            transaction.on(),
            execute,
            "DELETE FROM checkin_replies WHERE (channel, day, person, message) IN (
                 SELECT channel, day, person, message FROM checkin_replies WHERE at < $1 ORDER BY at LIMIT $2)",
            at,
            i64::from(limit)
        )?;
        let asked = sql!(
            transaction.on(),
            execute,
            "DELETE FROM checkins WHERE (channel, day, person) IN (
                 SELECT channel, day, person FROM checkins WHERE standup_at < $1 ORDER BY standup_at LIMIT $2)",
            at,
            i64::from(limit)
        )?;
        transaction.commit().await?;
        Ok(replies.max(asked))
    }
}

/// The messages of each person as one text.
fn join(rows: Vec<SaidColumns>) -> Vec<PersonSaid> {
    let mut said: Vec<(String, PersonSaid)> = Vec::new();
    for row in rows {
        let message = row.message.0;
        let files = message.attachments.iter().map(|file| format!("(file: {})", file.name));
        let lines: Vec<String> = std::iter::once(message.text.trim().to_owned()).chain(files).filter(|line| !line.is_empty()).collect();
        match said.last_mut() {
            Some((person, said)) if *person == row.person => said.text = format!("{}\n{}", said.text, lines.join("\n")),
            _ => said.push((row.person, PersonSaid { name: row.name, text: lines.join("\n") })),
        }
    }
    said.into_iter().map(|(_, said)| said).filter(|said| !said.text.trim().is_empty()).collect()
}
