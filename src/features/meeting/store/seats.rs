use chrono::{DateTime, Utc};

use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use crate::features::meeting::signal;
use crate::features::meeting::store::events::record_turn_end;
use crate::features::meeting::store::meetings::{cause, hold_running};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Who, Word, count, document, plain, sql};
use kernel::ids::{ChannelId, MeetingId, UserId};

#[derive(sqlx::FromRow)]
pub(super) struct SeatColumns {
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
    pub(super) fn read(self) -> Result<Seat> {
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

    /// Skips the next open seat of a participant. False if there is none, or the meeting is not running.
    pub async fn skip_seat(&self, meeting: &MeetingId, who: &Participant, reason: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let skipped = skip_seat(&mut transaction, meeting, who, reason, at).await?;
        if skipped {
            transaction.commit().await?;
        }
        Ok(skipped)
    }

    /// The seat of a person whose report a meeting in this channel waits for, or may still be added to because no later turn has begun.
    pub async fn find_asked_person(&self, channel: &ChannelId, person: &UserId) -> Result<Option<Seat>> {
        let row: Option<SeatColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT seats.* FROM meetings JOIN seats ON seats.meeting = meetings.id
             WHERE meetings.channel = $1 AND meetings.ended_at IS NULL AND meetings.state = 'running'
               AND seats.who = $2 AND seats.state IN ('speaking', 'spoke', 'quiet') AND NOT EXISTS (
                   SELECT 1 FROM seats later
                   WHERE later.meeting = seats.meeting AND later.started_at IS NOT NULL
                     AND (later.round > seats.round OR later.round = seats.round AND later.position > seats.position))
             LIMIT 1",
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
pub(crate) fn key_of(who: &Participant) -> String {
    match who {
        Participant::Persona(slug) => format!("persona:{slug}"),
        Participant::Person { id, .. } => Who::key_of(id),
        Participant::Guest { id, .. } => format!("guest:{}", plain(id)),
    }
}

/// The name of participants without a persona file.
pub(crate) fn name_of(who: &Participant) -> Option<String> {
    match who {
        Participant::Persona(_) => None,
        Participant::Person { name, .. } | Participant::Guest { name, .. } => Some(plain(name).into_owned()),
    }
}

pub(crate) fn read_participant(key: String, name: Option<String>) -> Participant {
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

/// Like [`Store::skip_seat`], inside a transaction.
pub(super) async fn skip_seat(
    transaction: &mut Transaction,
    meeting: &MeetingId,
    who: &Participant,
    reason: &str,
    at: DateTime<Utc>,
) -> Result<bool> {
    let Some(held) = hold_running(transaction, meeting, at).await? else { return Ok(false) };
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
    if skipped > 0 {
        record_turn_end(transaction, &held, (None, who), (SeatState::Skipped, Some(reason)), at).await?;
    }
    Ok(skipped > 0)
}

/// Skips a person in the running meetings in which their turn has not begun.
pub(crate) async fn skip_waiting(transaction: &mut Transaction, person: &UserId, reason: &str, at: DateTime<Utc>) -> Result<()> {
    let rows: Vec<SeatColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT seats.* FROM meetings JOIN seats ON seats.meeting = meetings.id
         WHERE meetings.ended_at IS NULL AND seats.who = $1 AND seats.state = 'waiting' ORDER BY seats.meeting, seats.round",
        Who::key_of(person)
    )?;
    for row in rows {
        let seat = row.read()?;
        skip_seat(transaction, &seat.meeting, &seat.who, reason, at).await?;
    }
    Ok(())
}

/// Ends the turn of a seat inside a transaction: the transaction of the engine or of a person's report. False if it is over, was restarted, or the
/// meeting is not running.
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

/// Adds what is in `seat` to the report that its person has given. False if there is none, a later turn has begun, or the meeting is not running.
pub(super) async fn add_to_report(transaction: &mut Transaction, seat: &Seat, at: DateTime<Utc>) -> Result<bool> {
    if hold_running(transaction, &seat.meeting, at).await?.is_none() {
        return Ok(false);
    }
    let row: Option<SeatColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT * FROM seats WHERE meeting = $1 AND (round > $2 OR round = $2 AND position >= $3)
           AND started_at IS NOT NULL ORDER BY round DESC, position DESC LIMIT 1",
        seat.meeting.as_str(),
        i64::from(seat.round),
        i64::from(seat.position)
    )?;
    let last = row.map(SeatColumns::read).transpose()?;
    let last = last.filter(|last| (last.round, last.position) == (seat.round, seat.position) && last.state.is_over());
    let (Some(said), Some(more)) = (last.and_then(|last| last.contribution), &seat.contribution) else { return Ok(false) };
    let text = signal::cut_at_sentence(&format!("{}\n{}", said.text, more.text), Contribution::LONGEST_OF_PERSON);
    let state = if signal::is_quiet(&text) { SeatState::Quiet } else { SeatState::Spoke };
    let whole = Contribution { text, ..said };
    sql!(
        transaction.on(),
        execute,
        "UPDATE seats SET state = $4, contribution = $5, words = $6, ended_at = $7 WHERE meeting = $1 AND round = $2 AND position = $3",
        seat.meeting.as_str(),
        i64::from(seat.round),
        i64::from(seat.position),
        state.as_str(),
        document(&whole),
        words(Some(&whole)),
        at
    )?;
    Ok(true)
}
