use chrono::{DateTime, Utc};

use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use crate::features::meeting::store::events::{event, record_turn_begin, record_turn_end};
use crate::features::meeting::store::meetings::{cause, hold_running};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Who, Word, count, document, plain, sql};
use kernel::events::record;
use kernel::ids::{ChannelId, MeetingId, UserId};

#[derive(sqlx::FromRow)]
struct SeatColumns {
    meeting: String,
    #[sqlx(try_from = "i64")]
    round: u32,
    #[sqlx(try_from = "i64")]
    position: u32,
    who: String,
    name: Option<String>,
    #[sqlx(try_from = "String")]
    state: Word<SeatState>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    contribution: Option<String>,
    reason: Option<String>,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
}

impl SeatColumns {
    fn read(self) -> Result<Seat> {
        Ok(Seat {
            meeting: self.meeting.into(),
            round: self.round,
            position: self.position,
            who: read_participant(self.who, self.name),
            state: self.state.0,
            attempts: self.attempts,
            contribution: self.contribution.map(Document::read).transpose()?,
            reason: self.reason,
            started_at: self.started_at,
            ended_at: self.ended_at,
        })
    }
}

impl Store {
    /// All seats by round and speaking order.
    pub async fn list_seats(&self, meeting: &MeetingId) -> Result<Vec<Seat>> {
        let rows: Vec<SeatColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM seats WHERE meeting = $1 ORDER BY round, position", meeting.as_str())?;
        rows.into_iter().map(SeatColumns::read).collect()
    }

    /// Adds a round to a running meeting and updates its payload if given. False if the round exists, the last round is not over, or the
    /// meeting is not running.
    pub async fn open_round(
        &self,
        meeting: &MeetingId,
        seats: &[Seat],
        payload: Option<&serde_json::Value>,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let Some(round) = seats.first().map(|seat| i64::from(seat.round)) else { return Ok(false) };
        let mut transaction = self.db().begin().await?;
        let Some(held) = hold_running(&mut transaction, meeting, at).await? else { return Ok(false) };
        let (known, open): (i64, i64) = sql!(
            transaction.on(),
            fetch_one,
            "SELECT COALESCE(MAX(round) + 1, 0), COUNT(CASE WHEN state IN ('waiting', 'speaking') THEN 1 END) FROM seats WHERE meeting = $1",
            meeting.as_str()
        )?;
        if known != round || open > 0 {
            return Ok(false);
        }
        insert_seats(&mut transaction, meeting, seats).await?;
        if let Some(payload) = payload {
            sql!(transaction.on(), execute, "UPDATE meetings SET payload = $2 WHERE id = $1", meeting.as_str(), document(payload))?;
        }
        record(&mut transaction, &event(meeting, &held.channel.id, "round_opened", at).with("round", round)).await?;
        insert_outbound(&mut transaction, outbox, cause(&held), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Starts the turn of a seat, or restarts it after a crash. The `invitation` is posted and the time starts only the first time. None if
    /// the seat is over, or the meeting is not running or paused.
    pub async fn begin_seat(
        &self,
        meeting: &MeetingId,
        round: u32,
        position: u32,
        invitation: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<Option<Seat>> {
        let mut transaction = self.db().begin().await?;
        let Some(held) = hold_running(&mut transaction, meeting, at).await?.filter(|held| held.paused.is_none()) else { return Ok(None) };
        let row: Option<SeatColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE seats SET state = 'speaking', attempts = attempts + 1, started_at = COALESCE(started_at, $4)
             WHERE meeting = $1 AND round = $2 AND position = $3 AND state IN ('waiting', 'speaking') RETURNING *",
            meeting.as_str(),
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

    /// Ends the turn with the state and contribution in `seat`. False if it is over, was restarted by somebody else, the transition is not
    /// allowed, or the meeting is not running.
    pub async fn finish_seat(&self, seat: &Seat, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        if !seat.state.is_over() {
            return Ok(false);
        }
        let mut transaction = self.db().begin().await?;
        let finished = finish_seat(&mut transaction, seat, outbox, at).await?;
        if finished {
            transaction.commit().await?;
        }
        Ok(finished)
    }

    /// Undoes the start of a turn after a halt or shutdown, so that it does not count as an attempt.
    pub async fn release_seat(&self, seat: &Seat) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE seats SET attempts = attempts - 1
             WHERE meeting = $1 AND round = $2 AND position = $3 AND attempts = $4 AND state = 'speaking'",
            seat.meeting.as_str(),
            i64::from(seat.round),
            i64::from(seat.position),
            i64::from(seat.attempts)
        )?;
        Ok(())
    }

    /// Skips the next open seat of a participant. False if there is none, or the meeting is not running.
    pub async fn skip_seat(&self, meeting: &MeetingId, who: &Participant, reason: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(held) = hold_running(&mut transaction, meeting, at).await? else { return Ok(false) };
        let skipped = sql!(
            transaction.on(),
            execute,
            "UPDATE seats SET state = 'skipped', reason = $3, ended_at = $4
             WHERE meeting = $1 AND who = $2 AND state IN ('waiting', 'speaking')
               AND round = (SELECT MIN(round) FROM seats WHERE meeting = $1 AND who = $2 AND state IN ('waiting', 'speaking'))",
            meeting.as_str(),
            key_of(who),
            plain(reason),
            at
        )?;
        if skipped == 0 {
            return Ok(false);
        }
        record_turn_end(&mut transaction, &held, (None, who), (SeatState::Skipped, Some(reason)), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The seat of a person whose report a meeting in this channel waits for.
    pub async fn find_asked_person(&self, channel: &ChannelId, person: &UserId) -> Result<Option<Seat>> {
        let row: Option<SeatColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT seats.* FROM meetings JOIN seats ON seats.meeting = meetings.id
             WHERE meetings.channel = $1 AND meetings.ended_at IS NULL AND meetings.state = 'running'
               AND seats.who = $2 AND seats.state = 'speaking' LIMIT 1",
            channel.as_str(),
            Who::key_of(person)
        )?;
        row.map(SeatColumns::read).transpose()
    }
}

pub(super) async fn insert_seats(transaction: &mut Transaction, meeting: &MeetingId, seats: &[Seat]) -> Result<()> {
    for seat in seats {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO seats (meeting, round, position, who, name, state, attempts, contribution, words, reason, started_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            meeting.as_str(),
            i64::from(seat.round),
            i64::from(seat.position),
            key_of(&seat.who),
            name_of(&seat.who),
            seat.state.as_str(),
            i64::from(seat.attempts),
            seat.contribution.as_ref().map(document),
            words(seat.contribution.as_ref()),
            seat.reason.as_deref().map(plain),
            seat.started_at,
            seat.ended_at
        )?;
    }
    Ok(())
}

/// The participant as a comparable key.
pub(super) fn key_of(who: &Participant) -> String {
    match who {
        Participant::Persona(slug) => format!("persona:{slug}"),
        Participant::Person { id, .. } => Who::key_of(id),
        Participant::Guest { id, .. } => format!("guest:{}", plain(id)),
    }
}

/// The name of participants without a persona file.
pub(super) fn name_of(who: &Participant) -> Option<String> {
    match who {
        Participant::Persona(_) => None,
        Participant::Person { name, .. } | Participant::Guest { name, .. } => Some(plain(name).into_owned()),
    }
}

fn read_participant(key: String, name: Option<String>) -> Participant {
    match key.split_once(':') {
        Some(("person", id)) => Participant::Person { id: id.into(), name: name.unwrap_or_default() },
        Some(("guest", id)) => Participant::Guest { id: id.to_owned(), name: name.unwrap_or_default() },
        Some((_, slug)) => Participant::Persona(slug.into()),
        None => Participant::Persona(key.into()),
    }
}

fn words(contribution: Option<&Contribution>) -> i64 {
    contribution.map_or(0, |contribution| count(contribution.text.split_whitespace().count() as u64))
}

/// As [`Store::finish_seat`], inside a transaction.
pub(super) async fn finish_seat(transaction: &mut Transaction, seat: &Seat, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
    let Some(meeting) = hold_running(transaction, &seat.meeting, at).await? else { return Ok(false) };
    let changed = sql!(
        transaction.on(),
        execute,
        "UPDATE seats SET state = $5, contribution = $6, words = $7, reason = $8, ended_at = $9
             WHERE meeting = $1 AND round = $2 AND position = $3 AND attempts = $4 AND state IN ('waiting', 'speaking')",
        seat.meeting.as_str(),
        i64::from(seat.round),
        i64::from(seat.position),
        i64::from(seat.attempts),
        seat.state.as_str(),
        seat.contribution.as_ref().map(document),
        words(seat.contribution.as_ref()),
        seat.reason.as_deref().map(plain),
        at
    )?;
    if changed == 0 {
        return Ok(false);
    }
    record_turn_end(transaction, &meeting, (Some(seat.round), &seat.who), (seat.state, seat.reason.as_deref()), at).await?;
    insert_outbound(transaction, outbox, cause(&meeting), at).await?;
    Ok(true)
}
