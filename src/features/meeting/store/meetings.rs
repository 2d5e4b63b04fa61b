use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::features::meeting::model::{CalledBy, Meeting, MeetingKind, MeetingState, Paused};
use crate::features::meeting::store::events::{event, record_call, record_end, record_step};
use crate::features::meeting::store::run::enqueue_run;
use crate::store::Store;
use kernel::chat::message::Channel;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Readable, Result, Transaction, Word, document, plain, sql};
use kernel::events::record;
use kernel::ids::{ChannelId, MeetingId, MessageId};
use kernel::money::Money;

/// The result of calling a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart where it was made")]
pub enum Called {
    /// It was stored and will be opened.
    Opened,
    /// Nothing was stored: the channel has an open meeting of its kind, or this one was called before.
    AlreadyOpen(Meeting),
}

/// An open meeting.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenMeeting {
    pub meeting: Meeting,
    /// The shared material. None before it is prepared.
    pub material: Option<serde_json::Value>,
}

#[derive(sqlx::FromRow)]
pub(super) struct MeetingColumns {
    id: String,
    #[sqlx(try_from = "String")]
    kind: Word<MeetingKind>,
    #[sqlx(try_from = "String")]
    place: Document<Channel>,
    #[sqlx(try_from = "String")]
    day: Word<NaiveDate>,
    facilitator: String,
    #[sqlx(try_from = "String")]
    called_by: Document<CalledBy>,
    called_at: DateTime<Utc>,
    deadline: DateTime<Utc>,
    #[sqlx(try_from = "String")]
    state: Word<MeetingState>,
    wrap: bool,
    paused_by: Option<String>,
    paused_at: Option<DateTime<Utc>>,
    budget: Option<i64>,
    payload: Option<String>,
    #[sqlx(try_from = "i64")]
    closings: u32,
    reason: Option<String>,
    ended_at: Option<DateTime<Utc>>,
    material: Option<String>,
}

impl From<MeetingColumns> for Meeting {
    fn from(row: MeetingColumns) -> Self {
        let paused = row.paused_by.zip(row.paused_at).map(|(by, at)| Paused { by, at });
        Self {
            id: row.id.into(),
            kind: row.kind.0,
            channel: row.place.0,
            day: row.day.0,
            facilitator: row.facilitator.into(),
            called_by: row.called_by.0,
            called_at: row.called_at,
            deadline: row.deadline,
            state: row.state.0,
            wrap: row.wrap,
            paused,
            budget: row.budget.map(Money),
            // Invalid JSON counts as no payload. The agenda reports it.
            payload: row.payload.and_then(|payload| serde_json::from_str(&payload).ok()),
            closings: row.closings,
            reason: row.reason,
            ended_at: row.ended_at,
        }
    }
}

impl Store {
    /// Calls a meeting and enqueues its job, unless the channel has an open meeting of its kind.
    pub async fn call_meeting(&self, meeting: &Meeting) -> Result<Called> {
        let mut transaction = self.db().begin().await?;
        let called = insert_meeting(&mut transaction, meeting).await?;
        transaction.commit().await?;
        Ok(called)
    }

    /// All open meetings, oldest first.
    pub async fn list_open_meetings(&self) -> Result<Vec<OpenMeeting>> {
        let rows: Vec<Readable<MeetingColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM meetings WHERE ended_at IS NULL ORDER BY called_at, id")?;
        Ok(self.db().read_each("meetings", rows, |mut row: MeetingColumns| {
            let material = row.material.take().map(Document::read).transpose()?;
            Ok(OpenMeeting { meeting: row.into(), material })
        }))
    }

    /// The open meeting of a kind in a channel.
    pub async fn find_open_meeting(&self, channel: &ChannelId, kind: &MeetingKind) -> Result<Option<Meeting>> {
        let row: Option<MeetingColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM meetings WHERE channel = $1 AND kind = $2 AND ended_at IS NULL",
            channel.as_str(),
            kind.as_str()
        )?;
        Ok(row.map(Meeting::from))
    }

    /// A meeting in any state.
    pub async fn find_meeting(&self, meeting: &MeetingId) -> Result<Option<Meeting>> {
        let row: Option<MeetingColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM meetings WHERE id = $1", meeting.as_str())?;
        Ok(row.map(Meeting::from))
    }

    /// The last `limit` meetings of a kind, newest first.
    pub async fn list_meetings(&self, kind: &MeetingKind, limit: u32) -> Result<Vec<Meeting>> {
        let rows: Vec<Readable<MeetingColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM meetings WHERE kind = $1 ORDER BY called_at DESC, id DESC LIMIT $2",
            kind.as_str(),
            i64::from(limit)
        )?;
        Ok(self.db().keep_readable("meetings", rows).into_iter().map(Meeting::from).collect())
    }

    /// The last `limit` meetings of all kinds that were held, newest first. Meetings that somebody cancelled are left out.
    pub async fn list_held_meetings(&self, limit: u32) -> Result<Vec<Meeting>> {
        let rows: Vec<Readable<MeetingColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM meetings WHERE state IN ('done', 'failed') ORDER BY called_at DESC LIMIT $1",
            i64::from(limit)
        )?;
        Ok(self.db().keep_readable("meetings", rows).into_iter().map(Meeting::from).collect())
    }

    /// Asks a meeting to end. False if it was asked before, or the meeting is closing.
    pub async fn ask_wrap(&self, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let asked = ask_wrap(&mut transaction, meeting, at).await?;
        transaction.commit().await?;
        Ok(asked)
    }

    /// Pauses a meeting: turns in progress finish, and no new one starts. False if it is paused or ending.
    pub async fn pause_meeting(&self, meeting: &MeetingId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let paused: Option<(String,)> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET paused_by = $2, paused_at = $3, updated_at = $3
             WHERE id = $1 AND paused_at IS NULL AND NOT wrap AND state IN ('called', 'running') RETURNING channel",
            meeting.as_str(),
            plain(by),
            at
        )?;
        let Some((channel,)) = paused else { return Ok(false) };
        record(&mut transaction, &event(meeting, &channel.into(), "paused", at).by_name(by)).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Resumes a meeting. The pause does not count towards its deadline, and a waiting person gets the full time again. False if it is not
    /// paused.
    pub async fn resume_meeting(&self, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let held: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET updated_at = $2 WHERE id = $1 AND paused_at IS NOT NULL AND ended_at IS NULL RETURNING *",
            meeting.as_str(),
            at
        )?;
        let Some(held) = held.map(Meeting::from) else { return Ok(false) };
        let lasted = held.paused.as_ref().map_or(TimeDelta::zero(), |paused| (at - paused.at).max(TimeDelta::zero()));
        sql!(
            transaction.on(),
            execute,
            "UPDATE meetings SET paused_by = NULL, paused_at = NULL, deadline = $2 WHERE id = $1",
            meeting.as_str(),
            held.deadline + lasted
        )?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE seats SET started_at = $2 WHERE meeting = $1 AND state = 'speaking' AND who LIKE 'person:%'",
            meeting.as_str(),
            at
        )?;
        record_step(&mut transaction, &held, "resumed", at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Ends a meeting as `Cancelled` or `Failed`. Its job ends when it sees this. False if it is over, or `state` is neither.
    pub async fn end_meeting(
        &self,
        meeting: &MeetingId,
        state: MeetingState,
        reason: &str,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(ended) = end_meeting(&mut transaction, meeting, state, reason, at).await? else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, cause(&ended), at).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Like [`Store::end_meeting`], inside a transaction and without messages. None if it is over, or `state` is neither.
pub(super) async fn end_meeting(
    transaction: &mut Transaction,
    meeting: &MeetingId,
    state: MeetingState,
    reason: &str,
    at: DateTime<Utc>,
) -> Result<Option<Meeting>> {
    if !matches!(state, MeetingState::Cancelled | MeetingState::Failed) {
        return Ok(None);
    }
    let ended: Option<MeetingColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE meetings SET state = $2, reason = $3, updated_at = $4, ended_at = $4 WHERE id = $1 AND ended_at IS NULL RETURNING *",
        meeting.as_str(),
        state.as_str(),
        plain(reason),
        at
    )?;
    let Some(ended) = ended.map(Meeting::from) else { return Ok(None) };
    record_end(transaction, &ended, reason, at).await?;
    Ok(Some(ended))
}

/// Like [`Store::ask_wrap`], inside a transaction.
pub(crate) async fn ask_wrap(transaction: &mut Transaction, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
    let asked: Option<(String,)> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE meetings SET wrap = TRUE, updated_at = $2 WHERE id = $1 AND NOT wrap AND state IN ('called', 'running') RETURNING channel",
        meeting.as_str(),
        at
    )?;
    let Some((channel,)) = asked else { return Ok(false) };
    record(transaction, &event(meeting, &channel.into(), "wrap_asked", at)).await?;
    Ok(true)
}

/// Calls a meeting and enqueues its job, inside a transaction such as a chat decision or a schedule firing.
pub(crate) async fn insert_meeting(transaction: &mut Transaction, meeting: &Meeting) -> Result<Called> {
    loop {
        let inserted = sql!(
            transaction.on(),
            execute,
            "INSERT INTO meetings (id, kind, channel, place, day, facilitator, called_by, called_at, deadline, state, wrap, closings, reason,
                 updated_at, ended_at, budget, payload)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $8, $14, $15, $16) ON CONFLICT DO NOTHING",
            meeting.id.as_str(),
            meeting.kind.as_str(),
            meeting.channel.id.as_str(),
            document(&meeting.channel),
            meeting.day.to_string(),
            meeting.facilitator.as_str(),
            document(&meeting.called_by),
            meeting.called_at,
            meeting.deadline,
            meeting.state.as_str(),
            meeting.wrap,
            i64::from(meeting.closings),
            meeting.reason.as_deref().map(plain),
            meeting.ended_at,
            meeting.budget.map(|budget| budget.0),
            meeting.payload.as_ref().map(document)
        )?;
        if inserted > 0 {
            record_call(transaction, meeting).await?;
            enqueue_run(transaction, meeting).await?;
            return Ok(Called::Opened);
        }
        let other: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "SELECT * FROM meetings WHERE id = $1 OR (channel = $2 AND kind = $3 AND ended_at IS NULL) ORDER BY called_at LIMIT 1",
            meeting.id.as_str(),
            meeting.channel.id.as_str(),
            meeting.kind.as_str()
        )?;
        // If there is no other meeting, it ended between the two statements, and the channel is free.
        if let Some(other) = other {
            return Ok(Called::AlreadyOpen(other.into()));
        }
    }
}

/// Locks a running meeting until the transaction ends. None if it is not running.
pub(super) async fn hold_running(transaction: &mut Transaction, meeting: &MeetingId, at: DateTime<Utc>) -> Result<Option<Meeting>> {
    let row: Option<MeetingColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE meetings SET updated_at = $2 WHERE id = $1 AND state = 'running' RETURNING *",
        meeting.as_str(),
        at
    )?;
    Ok(row.map(Meeting::from))
}

/// The message that called the meeting, for traces of its messages.
pub fn cause(meeting: &Meeting) -> Option<&MessageId> {
    match &meeting.called_by {
        CalledBy::Person { message, .. } => message.as_ref(),
        CalledBy::Schedule { .. } | CalledBy::CommandLine => None,
    }
}
