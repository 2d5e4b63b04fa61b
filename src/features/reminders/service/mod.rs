//! The actions of people on reminders, by a sentence, a command or a button.

mod asker;
mod asking;
mod changing;
mod dates;
mod places;
mod press;

use std::sync::Arc;

use chrono::{DateTime, NaiveTime, Utc};
use chrono_tz::Tz;

use crate::features::reminders::model::Reminder;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, UserId};
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::when::{self, Reading, When, WhenError, find_zone};

pub(in crate::features::reminders) use asker::Asker;
pub(in crate::features::reminders) use asking::{Asked, reminder_id};

/// The time of day if only a day is given.
const MORNING: NaiveTime = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");

/// The dependencies of reminders.
pub struct Deps {
    pub store: Store,
    pub roster: Arc<Roster>,
    pub people: People,
    /// The team's time zone, for people who have chosen none.
    pub zone: Tz,
    /// Whether a model answers, which reads what the rules cannot.
    pub has_model: bool,
    /// The names or ids of channels in which the team posts by itself. Used for people who cannot be reached elsewhere.
    pub channels: Vec<String>,
    pub clock: SharedClock,
}

/// The team's reminders.
pub struct Reminders {
    deps: Deps,
}

/// Why an action was refused, in words for the person who asked.
#[derive(Debug, thiserror::Error)]
pub(in crate::features::reminders) enum RemindError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(in crate::features::reminders) type Result<T, E = RemindError> = std::result::Result<T, E>;

impl Reminders {
    pub fn new(deps: Deps) -> Self {
        Self { deps }
    }

    pub(in crate::features::reminders) fn now(&self) -> DateTime<Utc> {
        self.deps.clock.now()
    }

    /// The time zone of a person.
    pub(in crate::features::reminders) async fn zone_of(&self, person: Option<&UserId>) -> Result<Tz, StoreError> {
        let chosen = match person {
            Some(person) => self.store().find_zone(person).await?,
            None => None,
        };
        Ok(chosen.unwrap_or(self.deps.zone))
    }

    /// How a person means times, now.
    pub(in crate::features::reminders) async fn asker_of(&self, person: Option<&UserId>) -> Result<when::Asker, StoreError> {
        let dates = match person {
            Some(person) => self.store().find_date_order(person).await?,
            None => None,
        };
        Ok(when::Asker { now: self.now(), zone: self.zone_of(person).await?, usual: MORNING, dates })
    }

    /// Sets a person's time zone by a name such as Europe/Berlin, or resets it to the team's.
    ///
    /// # Errors
    /// No zone has this name.
    pub(in crate::features::reminders) async fn choose_zone(&self, person: &UserId, name: &str) -> Result<Tz> {
        let chosen = match name.trim() {
            name if name.eq_ignore_ascii_case("team") => None,
            name => Some(find_zone(name).ok_or_else(|| {
                refused(format!(
                    "I know no time zone \"{}\". Name one like Europe/Berlin or Asia/Tokyo.",
                    Medium::Chat.line_within(name, 60)
                ))
            })?),
        };
        self.store().set_zone(person, chosen).await?;
        Ok(chosen.unwrap_or(self.deps.zone))
    }

    pub(in crate::features::reminders) fn store(&self) -> &Store {
        &self.deps.store
    }

    pub(in crate::features::reminders) fn has_model(&self) -> bool {
        self.deps.has_model
    }

    pub(in crate::features::reminders) fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    /// The names of the personas, which may stand before a request as an address.
    pub(in crate::features::reminders) fn persona_names(&self) -> Vec<&str> {
        let personas = self.roster().personas().iter();
        personas.flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases)).map(String::as_str).collect()
    }

    /// The persona that tells the reminder, or the coordinator if that persona has left the team.
    pub(in crate::features::reminders) fn speaker_of<'a>(&'a self, reminder: &'a Reminder) -> &'a PersonaSlug {
        let roster = &self.deps.roster;
        roster.find(&reminder.persona).map_or(&roster.coordinator().slug, |persona| &persona.slug)
    }

    /// Reads a time that is an argument of a command. Accepts "20 minutes" like "in 20 minutes".
    ///
    /// # Errors
    /// The text is no time, or the time is over.
    pub(in crate::features::reminders) fn read(text: &str, asker: &when::Asker) -> Result<Reading> {
        Ok(when::read_loosely(text, asker)?)
    }

    /// Reads the time until which a reminder is snoozed.
    ///
    /// # Errors
    /// The text is no time, the time is over, or it repeats.
    pub(in crate::features::reminders) fn parse_instant(text: &str, asker: &when::Asker) -> Result<DateTime<Utc>> {
        match Self::read(text, asker)?.when {
            When::Once(at) => Ok(at),
            When::Repeated(_) => Err(refused("A reminder is snoozed to one time, such as \"tomorrow at 9\" or \"in 2 hours\".")),
        }
    }
}

impl From<WhenError> for RemindError {
    /// Escapes the text, because it quotes what somebody wrote.
    fn from(error: WhenError) -> Self {
        refused(Medium::Chat.line(&error.to_string()))
    }
}

pub(in crate::features::reminders) fn refused(why: impl Into<String>) -> RemindError {
    RemindError::Refused(why.into())
}
