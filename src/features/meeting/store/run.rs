//! The steps of a run, through which the engine changes a meeting. Each is stored only while the run holds the meeting's job.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::meeting::agenda::Revision;
use crate::features::meeting::model::{Meeting, MeetingState, Seat};
use crate::features::meeting::store::events::{event, record_step, record_turn_begin};
use crate::features::meeting::store::meetings::{MeetingColumns, ask_wrap, cause, end_meeting, hold_running};
use crate::features::meeting::store::seats::{SeatColumns, finish_seat, insert_seats, skip_seat};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Result, Transaction, document, sql};
use kernel::events::record;
use kernel::ids::MeetingId;
use kernel::jobs::{self, Job, JobContext, JobError, NewJob};

/// The kind of the job that runs a meeting.
pub const RUN: &str = "meeting.run";

/// The payload of [`RUN`].
#[derive(Debug, Serialize, Deserialize)]
struct MeetingOf {
    meeting: MeetingId,
}

/// Enqueues the job of a meeting. While it is open, there is no second one.
pub(super) async fn enqueue_run(transaction: &mut Transaction, meeting: &Meeting) -> Result<()> {
    let job = NewJob::new(RUN, &MeetingOf { meeting: meeting.id.clone() }).unique(format!("{RUN}:{}", meeting.id));
    jobs::enqueue(transaction, &job, meeting.called_at).await?;
    Ok(())
}

/// Ends the meeting of a job that is no longer retried, with the messages from `outbox`. Does nothing if the meeting is over.
pub async fn fail_meeting(
    transaction: &mut Transaction,
    job: &Job,
    reason: &str,
    outbox: impl FnOnce(&Meeting) -> Vec<OutboundMessage> + Send,
    at: DateTime<Utc>,
) -> Result<()> {
    let Ok(MeetingOf { meeting }) = job.read_payload() else { return Ok(()) };
    let Some(failed) = end_meeting(transaction, &meeting, MeetingState::Failed, reason, at).await? else { return Ok(()) };
    insert_outbound(transaction, &outbox(&failed), cause(&failed), at).await
}

/// A run of a meeting's job. Cheap to clone.
#[derive(Clone)]
pub struct MeetingRun {
    job: JobContext,
    meeting: MeetingId,
}

/// Each step fails with `LostLease`, and stores nothing, when the run no longer holds the job.
impl MeetingRun {
    /// # Errors
    /// The payload cannot be read.
    pub fn of(job: &JobContext) -> Result<Self, JobError> {
        let MeetingOf { meeting } = job.payload()?;
        Ok(Self { job: job.clone(), meeting })
    }

    pub fn job(&self) -> &JobContext {
        &self.job
    }

    pub fn meeting(&self) -> &MeetingId {
        &self.meeting
    }

    /// Notes that the run waits. A process that dies meanwhile is not blamed on the meeting.
    pub async fn record_wait(&self) -> Result<(), JobError> {
        Ok(self.job.begin_step().await?.commit().await?)
    }

    /// Opens a called meeting with its seats. False if it was opened before.
    pub async fn open(&self, seats: &[Seat], outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let opened: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET state = 'running', updated_at = $2 WHERE id = $1 AND state = 'called' RETURNING *",
            self.meeting.as_str(),
            at
        )?;
        let Some(opened) = opened.map(Meeting::from) else { return Ok(false) };
        insert_seats(&mut transaction, &self.meeting, seats).await?;
        record_step(&mut transaction, &opened, "opened", at).await?;
        insert_outbound(&mut transaction, outbox, cause(&opened), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores the shared material. False if it exists, or the meeting is not open.
    pub async fn record_material(
        &self,
        material: &serde_json::Value,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let held: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET material = $2, updated_at = $3
             WHERE id = $1 AND material IS NULL AND state IN ('running', 'closing') RETURNING *",
            self.meeting.as_str(),
            document(material),
            at
        )?;
        let Some(held) = held.map(Meeting::from) else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, cause(&held), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Replaces the shared material of a running meeting, and its payload if given. False if it is not running.
    pub async fn revise(&self, Revision { material, payload, outbox }: &Revision, at: DateTime<Utc>) -> Result<bool, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let Some(held) = hold_running(&mut transaction, &self.meeting, at).await? else { return Ok(false) };
        sql!(
            transaction.on(),
            execute,
            "UPDATE meetings SET material = $2, payload = COALESCE($3, payload) WHERE id = $1",
            self.meeting.as_str(),
            document(material),
            payload.as_ref().map(document)
        )?;
        insert_outbound(&mut transaction, outbox, cause(&held), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Adds a round to a running meeting and updates its payload if given. False if the round exists, the last round is not over, or the
    /// meeting is not running.
    pub async fn open_round(
        &self,
        seats: &[Seat],
        payload: Option<&serde_json::Value>,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool, JobError> {
        let Some(round) = seats.first().map(|seat| i64::from(seat.round)) else { return Ok(false) };
        let mut transaction = self.job.begin_step().await?;
        let Some(held) = hold_running(&mut transaction, &self.meeting, at).await? else { return Ok(false) };
        let (known, open): (i64, i64) = sql!(
            transaction.on(),
            fetch_one,
            "SELECT COALESCE(MAX(round) + 1, 0), COUNT(CASE WHEN state IN ('waiting', 'speaking') THEN 1 END) FROM seats WHERE meeting = $1",
            self.meeting.as_str()
        )?;
        if known != round || open > 0 {
            return Ok(false);
        }
        insert_seats(&mut transaction, &self.meeting, seats).await?;
        if let Some(payload) = payload {
            sql!(transaction.on(), execute, "UPDATE meetings SET payload = $2 WHERE id = $1", self.meeting.as_str(), document(payload))?;
        }
        record(&mut transaction, &event(&self.meeting, &held.channel.id, "round_opened", at).with("round", round)).await?;
        insert_outbound(&mut transaction, outbox, cause(&held), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Starts the turn of a seat, or restarts it after a crash. The `invitation` is posted and the time starts only the first time. None if
    /// the seat is over, or the meeting is not running or paused.
    pub async fn begin_seat(
        &self,
        (round, position): (u32, u32),
        invitation: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<Option<Seat>, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let held = hold_running(&mut transaction, &self.meeting, at).await?.filter(|held| held.paused.is_none());
        let Some(held) = held else { return Ok(None) };
        let row: Option<SeatColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE seats SET state = 'speaking', attempts = attempts + 1, started_at = COALESCE(started_at, $4)
             WHERE meeting = $1 AND round = $2 AND position = $3 AND state IN ('waiting', 'speaking') RETURNING *",
            self.meeting.as_str(),
            i64::from(round),
            i64::from(position),
            at
        )?;
        let Some(row) = row else { return Ok(None) };
        let seat = row.read()?;
        if seat.attempts == 1 {
            record_turn_begin(&mut transaction, &held, &seat, at).await?;
            insert_outbound(&mut transaction, invitation, cause(&held), at).await?;
        }
        transaction.commit().await?;
        Ok(Some(seat))
    }

    /// Ends the turn with the state and contribution in `seat`. False if it is over, was restarted, the transition is not allowed, or the meeting
    /// is not running.
    pub async fn finish_seat(&self, seat: &Seat, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool, JobError> {
        if !seat.state.is_over() {
            return Ok(false);
        }
        let mut transaction = self.job.begin_step().await?;
        let finished = finish_seat(&mut transaction, seat, outbox, at).await?;
        if finished {
            transaction.commit().await?;
        }
        Ok(finished)
    }

    /// Undoes the start of a turn after a halt or shutdown, so that it does not count as an attempt.
    pub async fn release_seat(&self, seat: &Seat) -> Result<(), JobError> {
        let mut transaction = self.job.begin().await?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE seats SET attempts = attempts - 1
             WHERE meeting = $1 AND round = $2 AND position = $3 AND attempts = $4 AND state = 'speaking'",
            self.meeting.as_str(),
            i64::from(seat.round),
            i64::from(seat.position),
            i64::from(seat.attempts)
        )?;
        Ok(transaction.commit().await?)
    }

    /// Skips all seats that are not over.
    pub async fn skip_seats(&self, seats: &[Seat], reason: &str, at: DateTime<Utc>) -> Result<(), JobError> {
        let mut transaction = self.job.begin_step().await?;
        for seat in seats.iter().filter(|seat| !seat.state.is_over()) {
            skip_seat(&mut transaction, &self.meeting, &seat.who, reason, at).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Asks a running meeting whose budget is used up to end, with a message. False if it is already ending.
    pub async fn end_budget(&self, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool, JobError> {
        let mut transaction = self.job.begin_step().await?;
        if !ask_wrap(&mut transaction, &self.meeting, at).await? {
            return Ok(false);
        }
        insert_outbound(&mut transaction, outbox, None, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Starts the closing of a running meeting, or restarts it after a crash. No more turns start. None if the meeting is not open any more.
    pub async fn begin_closing(&self, at: DateTime<Utc>) -> Result<Option<Meeting>, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let row: Option<MeetingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE meetings SET state = 'closing', closings = closings + 1, updated_at = $2
             WHERE id = $1 AND state IN ('running', 'closing') RETURNING *",
            self.meeting.as_str(),
            at
        )?;
        let Some(closing) = row.map(Meeting::from) else { return Ok(None) };
        record_step(&mut transaction, &closing, "closing", at).await?;
        transaction.commit().await?;
        Ok(Some(closing))
    }

    /// Undoes the start of a closing after a halt or shutdown, so that it does not count.
    pub async fn release_closing(&self, meeting: &Meeting) -> Result<(), JobError> {
        let mut transaction = self.job.begin().await?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE meetings SET closings = closings - 1 WHERE id = $1 AND closings = $2 AND state = 'closing'",
            self.meeting.as_str(),
            i64::from(meeting.closings)
        )?;
        Ok(transaction.commit().await?)
    }

    /// Ends a meeting whose only result is its messages, and its job. False if it is over, or the closing was restarted.
    pub async fn close(&self, meeting: &Meeting, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool, JobError> {
        let Some(mut transaction) = self.begin_close(meeting, at).await? else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, cause(meeting), at).await?;
        self.finish(transaction).await?;
        Ok(true)
    }

    /// Opens the transaction that ends a meeting with a result, for [`Self::finish`]. None if it is over, or the closing was restarted.
    pub(crate) async fn begin_close(&self, meeting: &Meeting, at: DateTime<Utc>) -> Result<Option<Transaction>, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let closed = sql!(
            transaction.on(),
            execute,
            "UPDATE meetings SET state = 'done', updated_at = $3, ended_at = $3 WHERE id = $1 AND state = 'closing' AND closings = $2",
            self.meeting.as_str(),
            i64::from(meeting.closings),
            at
        )?;
        if closed == 0 {
            return Ok(None);
        }
        record_step(&mut transaction, meeting, "closed", at).await?;
        Ok(Some(transaction))
    }

    /// Ends the meeting as `Cancelled` or `Failed`, and its job. False if it is over.
    pub async fn end(&self, state: MeetingState, reason: &str, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool, JobError> {
        let mut transaction = self.job.begin_step().await?;
        let Some(ended) = end_meeting(&mut transaction, &self.meeting, state, reason, at).await? else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, cause(&ended), at).await?;
        self.finish(transaction).await?;
        Ok(true)
    }

    /// Commits, and ends the job as done.
    pub(crate) async fn finish(&self, transaction: Transaction) -> Result<(), JobError> {
        if self.job.finish_with(transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }
}
