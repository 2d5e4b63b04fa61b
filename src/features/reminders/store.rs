//! Reminders in the database. A reminder and the job that tells it are stored together, so that there is never one without the other.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;

use crate::features::reminders::jobs::Round;
use crate::features::reminders::model::{Person, Reminder, ReminderState};
use crate::store::Store;
use kernel::actor::Actor;
use kernel::db::{Applied, Document, Effect, Readable, Result, StoreError, Transaction, Word, document, plain, sql};
use kernel::events::{Event, Topic, record};
use kernel::ids::{ChannelId, ReminderId, UserId};
use kernel::jobs;
use kernel::people::Erasure;
use kernel::when::{DateOrder, Pattern, Repetition};
use serde::Deserialize;

/// The events of reminders. They do not contain the reminders' texts.
pub(super) const REMINDERS: Topic = Topic::new("reminder");

/// How long a reminder is kept after it was told, done or cancelled. Its buttons work until then.
const KEPT: TimeDelta = TimeDelta::days(90);

#[derive(sqlx::FromRow)]
struct ReminderColumns {
    id: String,
    channel: String,
    private: bool,
    persona: String,
    what: String,
    whom: String,
    asked_by: Option<String>,
    due: DateTime<Utc>,
    repeat: Option<String>,
    zone: String,
    state: String,
    round: i64,
}

impl ReminderColumns {
    fn read(self) -> Result<Reminder> {
        let zone: Tz = self.zone.parse().map_err(|_| StoreError::Corrupt(format!("there is no time zone {}", self.zone)))?;
        Ok(Reminder {
            id: self.id.into(),
            channel: self.channel.into(),
            private: self.private,
            persona: self.persona.into(),
            what: self.what,
            whom: Document::<Person>::read(self.whom)?,
            by: self.asked_by.map(Document::<Person>::read).transpose()?,
            due: self.due,
            repeat: self.repeat.map(read_repetition).transpose()?,
            zone,
            state: Word::<ReminderState>::read(self.state)?,
            round: self.round,
        })
    }
}

/// A repetition as it is stored. Rows of earlier versions have a cron expression instead: `0 8 * * 1,4`.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredRepetition {
    Repetition(Repetition),
    Cron { cron: String, zone: String },
}

fn read_repetition(text: String) -> Result<Repetition> {
    match Document::<StoredRepetition>::read(text)? {
        StoredRepetition::Repetition(repetition) => Ok(repetition),
        StoredRepetition::Cron { cron, zone } => {
            read_cron(&cron, &zone).ok_or_else(|| StoreError::Corrupt(format!("no reminder is repeated like \"{cron}\" in {zone}")))
        }
    }
}

/// Earlier versions knew one time of day, on all days or on some days of the week.
fn read_cron(cron: &str, zone: &str) -> Option<Repetition> {
    let [minute, hour, "*", "*", days] = cron.split(' ').collect::<Vec<_>>()[..] else { return None };
    let days = read_days(days)?;
    let pattern = if days.len() == 7 { Pattern::Days(1) } else { Pattern::Weeks { every: 1, days } };
    let time = NaiveTime::from_hms_opt(hour.parse().ok()?, minute.parse().ok()?, 0)?;
    Some(Repetition { pattern, time, zone: zone.parse().ok()?, first: NaiveDate::default(), until: None })
}

/// The days of a cron expression: `*`, `1-5,6`. Sunday is 0 or 7.
fn read_days(days: &str) -> Option<Vec<Weekday>> {
    let number = |text: &str| text.parse::<u8>().ok().filter(|day| *day <= 7);
    let mut read = Vec::new();
    for part in days.split(',') {
        let numbers = match part.split_once('-') {
            Some((first, last)) => number(first)?..=number(last)?,
            None if part == "*" => 0..=6,
            None => number(part)?..=number(part)?,
        };
        if numbers.is_empty() {
            return None;
        }
        for day in numbers {
            read.push(Weekday::try_from((day + 6) % 7).ok()?);
        }
    }
    read.sort_unstable_by_key(Weekday::num_days_from_monday);
    read.dedup();
    Some(read)
}

impl Store {
    /// Deletes a person's reminders, and those of conversations with that person alone. Their jobs then find nothing to tell.
    pub(super) async fn forget_reminders_of(&self, erasure: &Erasure) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let rows: Vec<(String, String, String)> =
            sql!(transaction.on(), fetch_all, "SELECT id, channel, whom FROM reminders /* reads all: a person is forgotten */")?;
        for (id, channel, whom) in rows {
            let is_private = erasure.private.iter().any(|private| *private == ChannelId::new(channel.as_str()));
            if is_private || Document::<Person>::read(whom)?.id == erasure.person {
                sql!(transaction.on(), execute, "DELETE FROM reminders WHERE id = $1", id)?;
            }
        }
        sql!(transaction.on(), execute, "DELETE FROM reminder_zones WHERE person = $1", erasure.person.as_str())?;
        sql!(transaction.on(), execute, "DELETE FROM reminder_dates WHERE person = $1", erasure.person.as_str())?;
        transaction.commit().await
    }

    /// False if there is a reminder with this id already.
    pub async fn add_reminder(&self, reminder: &Reminder, now: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let added = insert_reminder(&mut transaction, reminder, None, now).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Stores a reminder and how a person writes dates. False, and stores neither, if there is a reminder with this id already.
    pub(super) async fn add_reminder_and_order(
        &self,
        reminder: &Reminder,
        (person, order): (&UserId, DateOrder),
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let added = insert_reminder(&mut transaction, reminder, None, now).await?;
        if added {
            set_date_order(&mut transaction, person, order).await?;
        }
        transaction.commit().await?;
        Ok(added)
    }

    /// Stores a copy of a repeated reminder that tells one round again. False if that round already has a copy.
    pub async fn add_reminder_again(&self, reminder: &Reminder, again_of: &str, now: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let added = insert_reminder(&mut transaction, reminder, Some(again_of), now).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Stores a changed reminder. False, without any write, if somebody else changed it after `from` was read.
    pub async fn change_reminder(&self, from: &Reminder, to: &Reminder, now: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let changed = change_reminder(&mut transaction, from, to, now).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    pub async fn find_reminder(&self, id: &ReminderId) -> Result<Option<Reminder>> {
        let row: Option<ReminderColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM reminders WHERE id = $1", id.as_str())?;
        row.map(ReminderColumns::read).transpose()
    }

    /// The reminders that are not over, of a channel, of a thread and its channel, or of all, the next one first.
    pub async fn list_open_reminders(&self, here: &[ChannelId]) -> Result<Vec<Reminder>> {
        let first = here.first().map_or("", ChannelId::as_str);
        let rows: Vec<Readable<ReminderColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM reminders WHERE state IN ('waiting', 'told') AND ($1 = '' OR channel IN ($1, $2)) ORDER BY due, id",
            first,
            here.get(1).map_or(first, ChannelId::as_str)
        )?;
        Ok(self.db().read_each("reminders", rows, ReminderColumns::read))
    }
}

/// Adds a reminder in the transaction that decides on the message that asks for it.
#[derive(Debug)]
pub(super) struct AddReminder(pub Reminder);

#[async_trait]
impl Effect for AddReminder {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        insert_reminder(transaction, &self.0, None, at).await?;
        Ok(Applied::Done)
    }
}

/// The round of a reminder that is still to be told.
pub(super) async fn find_waiting(transaction: &mut Transaction, round: &Round) -> Result<Option<Reminder>> {
    let row: Option<ReminderColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT * FROM reminders WHERE id = $1 AND round = $2 AND state = 'waiting'",
        round.reminder.as_str(),
        round.round
    )?;
    row.map(ReminderColumns::read).transpose()
}

impl Store {
    /// The zone that a person has chosen.
    pub(super) async fn find_zone(&self, person: &UserId) -> Result<Option<Tz>> {
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT zone FROM reminder_zones WHERE person = $1", person.as_str())?;
        // A stored zone that is no longer known counts as none.
        Ok(row.and_then(|(zone,)| zone.parse().ok()))
    }

    /// How the person writes dates in digits, if they were asked.
    pub(super) async fn find_date_order(&self, person: &UserId) -> Result<Option<DateOrder>> {
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT date_order FROM reminder_dates WHERE person = $1", person.as_str())?;
        row.map(|(order,)| Word::read(order)).transpose()
    }

    pub(super) async fn set_zone(&self, person: &UserId, zone: Option<Tz>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        match zone {
            Some(zone) => sql!(
                transaction.on(),
                execute,
                "INSERT INTO reminder_zones (person, zone) VALUES ($1, $2) ON CONFLICT (person) DO UPDATE SET zone = excluded.zone",
                person.as_str(),
                zone.name()
            )?,
            None => sql!(transaction.on(), execute, "DELETE FROM reminder_zones WHERE person = $1", person.as_str())?,
        };
        transaction.commit().await
    }
}

async fn set_date_order(transaction: &mut Transaction, person: &UserId, order: DateOrder) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO reminder_dates (person, date_order) VALUES ($1, $2) ON CONFLICT (person) DO UPDATE SET date_order = excluded.date_order",
        person.as_str(),
        order.as_str()
    )?;
    Ok(())
}

/// False if there is a reminder with this id already, or one that tells the same round again.
async fn insert_reminder(transaction: &mut Transaction, reminder: &Reminder, again_of: Option<&str>, now: DateTime<Utc>) -> Result<bool> {
    sql!(transaction.on(), execute, "DELETE FROM reminders WHERE settled_at < $1", now - KEPT)?;
    let inserted = sql!(
        transaction.on(),
        execute,
        "INSERT INTO reminders (id, channel, private, persona, what, whom, asked_by, due, repeat, zone, state, round, again_of, asked_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING",
        reminder.id.as_str(),
        reminder.channel.as_str(),
        reminder.private,
        reminder.persona.as_str(),
        plain(&reminder.what),
        document(&reminder.whom),
        reminder.by.as_ref().map(document),
        reminder.due,
        reminder.repeat.as_ref().map(document),
        reminder.zone.name(),
        reminder.state.as_str(),
        reminder.round,
        again_of,
        now
    )?;
    if inserted > 0 {
        jobs::enqueue(transaction, &Round::of(reminder).job(reminder.due), now).await?;
        let made = event(reminder, "made", now);
        let made = match &reminder.by {
            Some(Person { id, name }) => made.by(&Actor::Person { id: id.clone(), name: name.clone() }),
            None => made,
        };
        record(transaction, &made).await?;
    }
    Ok(inserted > 0)
}

/// Changes the row only if it is still in the state `from`, so that only one of two concurrent changes succeeds. Enqueues the job of a new round.
pub(super) async fn change_reminder(transaction: &mut Transaction, from: &Reminder, to: &Reminder, now: DateTime<Utc>) -> Result<bool> {
    let settled_at = (to.state != ReminderState::Waiting).then_some(now);
    let changed = sql!(
        transaction.on(),
        execute,
        "UPDATE reminders SET state = $4, round = $5, due = $6, settled_at = $7 WHERE id = $1 AND state = $2 AND round = $3",
        from.id.as_str(),
        from.state.as_str(),
        from.round,
        to.state.as_str(),
        to.round,
        to.due,
        settled_at
    )?;
    if changed > 0 && to.round != from.round {
        jobs::enqueue(transaction, &Round::of(to).job(to.due), now).await?;
    }
    if changed > 0 {
        record(transaction, &event(to, describe_change(from, to), now)).await?;
    }
    Ok(changed > 0)
}

/// The kind of a change's event. If the reminder is waiting again, a repeated one was told, and any other one was snoozed.
fn describe_change(from: &Reminder, to: &Reminder) -> &'static str {
    match (from.state, to.state) {
        (ReminderState::Waiting, ReminderState::Waiting) if to.repeat.is_some() => ReminderState::Told.as_str(),
        (_, ReminderState::Waiting) => "snoozed",
        (_, state) => state.as_str(),
    }
}

fn event(reminder: &Reminder, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(REMINDERS, reminder.id.as_str(), kind, at).seen_in(&reminder.channel).with("due", reminder.due.to_rfc3339())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_of_earlier_versions_are_read() {
        for (cron, words) in [
            ("0 8 * * 1", "every Monday at 08:00"),
            ("30 8 * * 1,4", "every Monday and Thursday at 08:30"),
            ("0 9 * * *", "every day at 09:00"),
            ("0 17 * * 1-5", "every weekday at 17:00"),
            ("0 10 * * 6,0", "every Saturday and Sunday at 10:00"),
            ("0 10 * * 7,6", "every Saturday and Sunday at 10:00"),
            ("0 9 * * 1-5,6", "every Monday, Tuesday, Wednesday, Thursday, Friday and Saturday at 09:00"),
            ("0 9 * * 5,1-5", "every weekday at 09:00"),
            ("0 9 * * *,1", "every day at 09:00"),
            ("0 9 * * 0-6", "every day at 09:00"),
            ("0 9 * * 1-7", "every day at 09:00"),
        ] {
            let stored = format!(r#"{{"cron":"{cron}","zone":"Europe/Berlin"}}"#);
            let read = read_repetition(stored).expect("a repetition");
            assert_eq!((read.describe().as_str(), read.zone), (words, Tz::Europe__Berlin));
        }
        for cron in ["*/5 * * * *", "0 9 * * 8", "0 9 * * 255", "0 9 * * 5-1", "0 9 * * 1,", "0 9 1 * *", "0 25 * * 1"] {
            assert!(read_repetition(format!(r#"{{"cron":"{cron}","zone":"UTC"}}"#)).is_err(), "{cron}");
        }
    }
}
