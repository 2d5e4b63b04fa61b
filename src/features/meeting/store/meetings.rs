use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::features::meeting::model::{CalledBy, Meeting, MeetingKind, MeetingState, Paused, Seat};
use crate::features::meeting::store::events::{event, record_call, record_end, record_step};
use crate::features::meeting::store::seats::insert_seats;
use crate::store::Store;
use kernel::chat::message::Channel;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::events::record;
use kernel::ids::{ChannelId, MeetingId, MessageId};
use kernel::money::Money;

/// The result of calling a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart where it was made")]
pub enum Called {
    /// It was stored and will be opened.
    Opened,
    /// Nothing was stored: the channel has an open meeting, or this one was called before.
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
    /// Calls a meeting, unless the channel has an open one.
    pub async fn call_meeting(&self, meeting: &Meeting) -> Result<Called> {
        let mut transaction = self.db().begin().await?;
        let called = insert_meeting(&mut transaction, meeting).await?;
        transaction.commit().await?;
        Ok(called)
    }

    /// All open meetings, oldest first.
    pub async fn list_open_meetings(&self) -> Result<Vec<OpenMeeting>> {
        let rows: Vec<MeetingColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM meetings WHERE ended_at IS NULL ORDER BY called_at, id")?;
        rows.into_iter()
            .map(|mut row| {
                let material = row.material.take().map(Document::read).transpose()?;
                Ok(OpenMeeting { meeting: row.into(), material })
            })
            .collect()
    }

    /// The open meeting of a channel.
    pub async fn find_open_meeting(&self, channel: &ChannelId) -> Result<Option<Meeting>> {
        let row: Option<MeetingColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM meetings WHERE channel = $1 AND ended_at IS NULL", channel.as_str())?;
        Ok(row.map(Meeting::from))
    }

    /// A meeting in any state.
    pub async fn find_meeting(&self, meeting: &MeetingId) -> Result<Option<Meeting>> {
        let row: Option<MeetingColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM meetings WHERE id = $1", meeting.as_str())?;
        Ok(row.map(Meeting::from))
    }

    /// The last `limit` meetings, newest first.
    pub async fn list_meetings(&self, limit: u32) -> Result<Vec<Meeting>> {
        let rows: Vec<MeetingColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM meetings ORDER BY called_at DESC, id DESC LIMIT $1", i64::from(limit))?;
        Ok(rows.into_iter().map(Meeting::from).collect())
    }

    /// Opens a called meeting with its seats. False if it was opened before.
    pub async fn open_meeting(&self, meeting: &MeetingId, seats: &[Seat], outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let opened: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET state = 'running', updated_at = $2 WHERE id = $1 AND state = 'called' RETURNING *",
            meeting.as_str(),
            at
        )?;
        let Some(opened) = opened.map(Meeting::from) else { return Ok(false) };
        insert_seats(&mut transaction, meeting, seats).await?;
        record_step(&mut transaction, &opened, "opened", at).await?;
        insert_outbound(&mut transaction, outbox, cause(&opened), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores the shared material. False if it exists, or the meeting is not open.
    pub async fn record_material(
        &self,
        meeting: &MeetingId,
        material: &serde_json::Value,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let held: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET material = $2, updated_at = $3
             WHERE id = $1 AND material IS NULL AND state IN ('running', 'closing') RETURNING *",
            meeting.as_str(),
            document(material),
            at
        )?;
        let Some(held) = held.map(Meeting::from) else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, cause(&held), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Asks a meeting to end. False if it was asked before, or nobody speaks any more.
    pub async fn ask_wrap(&self, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let asked = ask_wrap(&mut transaction, meeting, at).await?;
        transaction.commit().await?;
        Ok(asked)
    }

    /// Ends a running meeting whose budget is used up, with a message. False if it is already ending.
    pub async fn end_budget(&self, meeting: &MeetingId, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        if !ask_wrap(&mut transaction, meeting, at).await? {
            return Ok(false);
        }
        insert_outbound(&mut transaction, outbox, None, at).await?;
        transaction.commit().await?;
        Ok(true)
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

    /// Starts the closing of a running meeting, or restarts it after a crash. No more turns start. None if the meeting is not open or over.
    pub async fn begin_closing(&self, meeting: &MeetingId, at: DateTime<Utc>) -> Result<Option<Meeting>> {
        let mut transaction = self.db().begin().await?;
        let row: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET state = 'closing', closings = closings + 1, updated_at = $2
             WHERE id = $1 AND state IN ('running', 'closing') RETURNING *",
            meeting.as_str(),
            at
        )?;
        let Some(closing) = row.map(Meeting::from) else { return Ok(None) };
        record_step(&mut transaction, &closing, "closing", at).await?;
        transaction.commit().await?;
        Ok(Some(closing))
    }

    /// Undoes the start of a closing after a halt or shutdown, so that it does not count.
    pub async fn release_closing(&self, meeting: &Meeting) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE meetings SET closings = closings - 1 WHERE id = $1 AND closings = $2 AND state = 'closing'",
            meeting.id.as_str(),
            i64::from(meeting.closings)
        )?;
        Ok(())
    }

    /// Ends a meeting whose only result is its messages. False if it is over, or somebody else has restarted the closing.
    pub async fn close_meeting(&self, meeting: &Meeting, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let closed = close_meeting(&mut transaction, meeting, at).await?;
        if closed {
            insert_outbound(&mut transaction, outbox, cause(meeting), at).await?;
            transaction.commit().await?;
        }
        Ok(closed)
    }

    /// Ends a meeting as `Cancelled` or `Failed`. False if it is over, or `state` is neither.
    pub async fn end_meeting(
        &self,
        meeting: &MeetingId,
        state: MeetingState,
        reason: &str,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool> {
        if !matches!(state, MeetingState::Cancelled | MeetingState::Failed) {
            return Ok(false);
        }
        let mut transaction = self.db().begin().await?;
        let ended: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET state = $2, reason = $3, updated_at = $4, ended_at = $4 WHERE id = $1 AND ended_at IS NULL RETURNING *",
            meeting.as_str(),
            state.as_str(),
            plain(reason),
            at
        )?;
        let Some(ended) = ended.map(Meeting::from) else { return Ok(false) };
        record_end(&mut transaction, &ended, reason, at).await?;
        insert_outbound(&mut transaction, outbox, cause(&ended), at).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// As [`Store::close_meeting`], inside a transaction.
pub(crate) async fn close_meeting(transaction: &mut Transaction, meeting: &Meeting, at: DateTime<Utc>) -> Result<bool> {
    let closed = sql!(
        transaction.on(),
        execute,
        "UPDATE meetings SET state = 'done', updated_at = $3, ended_at = $3 WHERE id = $1 AND state = 'closing' AND closings = $2",
        meeting.id.as_str(),
        i64::from(meeting.closings),
        at
    )?;
    if closed > 0 {
        record_step(transaction, meeting, "closed", at).await?;
    }
    Ok(closed > 0)
}

/// As [`Store::ask_wrap`], inside a transaction.
pub(super) async fn ask_wrap(transaction: &mut Transaction, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
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

/// Calls a meeting inside a transaction, such as a chat decision or a schedule firing.
pub(super) async fn insert_meeting(transaction: &mut Transaction, meeting: &Meeting) -> Result<Called> {
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
            return Ok(Called::Opened);
        }
        let other: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "SELECT * FROM meetings WHERE id = $1 OR (channel = $2 AND ended_at IS NULL) ORDER BY called_at LIMIT 1",
            meeting.id.as_str(),
            meeting.channel.id.as_str()
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

/// The message that called it, for traces of the meeting's messages.
pub(crate) fn cause(meeting: &Meeting) -> Option<&MessageId> {
    match &meeting.called_by {
        CalledBy::Person { message, .. } => message.as_ref(),
        CalledBy::Schedule { .. } | CalledBy::CommandLine => None,
    }
}
