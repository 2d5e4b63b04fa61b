//! Who is away. A row of `checkin_people` without a channel: the person is away in all channels from `starts` until `since`. It needs no end of its own,
//! because it counts for nothing afterwards. There is one for each person, so what is told later is joined with it before.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::meeting::store::skip_waiting;
use crate::features::standup::absence::Span;
use crate::store::Store;
use kernel::db::{Applied, Effect, Result, Transaction, plain, sql};
use kernel::ids::UserId;

/// A change of a person's absence.
#[derive(Debug, Clone)]
pub enum AbsenceChange {
    /// Away until then. If it has begun, a running standup does not wait for the person either.
    Away {
        person: UserId,
        name: String,
        /// None: from now on.
        from: Option<DateTime<Utc>>,
        until: DateTime<Utc>,
        reason: String,
    },
    Back(UserId),
}

#[async_trait]
impl Effect for AbsenceChange {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        match self {
            Self::Away { person, name, from, until, reason } => {
                let from = from.filter(|from| *from > at);
                sql!(
                    transaction.on(),
                    execute,
                    "INSERT INTO checkin_people (channel, person, name, since, starts) VALUES ('', $1, $2, $3, $4)
                     ON CONFLICT (channel, person) DO UPDATE SET name = excluded.name, since = excluded.since, starts = excluded.starts",
                    person.as_str(),
                    plain(name),
                    until,
                    from
                )?;
                if from.is_none() {
                    skip_waiting(transaction, person, reason, at).await?;
                }
            }
            Self::Back(person) => {
                sql!(transaction.on(), execute, "DELETE FROM checkin_people WHERE channel = '' AND person = $1", person.as_str())?;
            }
        }
        Ok(Applied::Done)
    }
}

impl Store {
    /// Stores a change that a command makes.
    pub async fn change_absence(&self, change: &AbsenceChange, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        change.apply(&mut transaction, at).await?;
        transaction.commit().await
    }

    /// When a person who has said so is or will be away.
    pub(in crate::features::standup) async fn read_absence(&self, person: &UserId, at: DateTime<Utc>) -> Result<Option<Span>> {
        let row: Option<(Option<DateTime<Utc>>, DateTime<Utc>)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT starts, since FROM checkin_people WHERE channel = '' AND person = $1 AND since > $2",
            person.as_str(),
            at
        )?;
        Ok(row.map(|(starts, until)| Span { from: starts.filter(|from| *from > at), until }))
    }

    /// The people who are away at this time, and until when.
    pub async fn list_absent(&self, at: DateTime<Utc>) -> Result<Vec<(UserId, DateTime<Utc>)>> {
        let rows: Vec<(String, DateTime<Utc>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT person, since FROM checkin_people WHERE channel = '' AND since > $1 AND (starts IS NULL OR starts <= $1) ORDER BY person",
            at
        )?;
        Ok(rows.into_iter().map(|(person, until)| (UserId::new(person), until)).collect())
    }
}
