//! The actions of people on reminders, by a sentence, a command or a button.

mod asker;
mod asking;
mod changing;
mod press;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};

use crate::features::reminders::model::Reminder;
use crate::features::reminders::when::{When, WhenError, parse_when};
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, UserId};
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub(in crate::features::reminders) use asker::Asker;
pub(in crate::features::reminders) use asking::Asked;

/// The dependencies of reminders.
pub struct Deps {
    pub store: Store,
    pub roster: Arc<Roster>,
    pub people: People,
    /// The team's time zone, for people who have chosen none.
    pub zone: Tz,
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

    /// Sets a person's time zone by a name such as Europe/Berlin, or resets it to the team's.
    ///
    /// # Errors
    /// No zone has this name.
    pub(in crate::features::reminders) async fn choose_zone(&self, person: &UserId, name: &str) -> Result<Tz> {
        let chosen = match name.trim() {
            name if name.eq_ignore_ascii_case("team") => None,
            name => Some(parse_zone(name).ok_or_else(|| {
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

    pub(in crate::features::reminders) fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    /// The persona that tells the reminder, or the coordinator if that persona has left the team.
    pub(in crate::features::reminders) fn speaker_of<'a>(&'a self, reminder: &'a Reminder) -> &'a PersonaSlug {
        let roster = &self.deps.roster;
        roster.find(&reminder.persona).map_or(&roster.coordinator().slug, |persona| &persona.slug)
    }

    /// Parses a time that is an argument of a command.
    ///
    /// # Errors
    /// The text is no time, or the time is over.
    pub(in crate::features::reminders) fn parse_when(&self, text: &str, zone: Tz) -> Result<When> {
        let parse = |text: &str| parse_when(text, self.now(), zone);
        // Accepts "20 minutes" like "in 20 minutes".
        parse(text).or_else(|error| parse(&format!("in {text}")).map_err(|_| error.into()))
    }

    /// Parses the time until which a reminder is snoozed.
    ///
    /// # Errors
    /// The text is no time, the time is over, or it repeats.
    pub(in crate::features::reminders) fn parse_instant(&self, text: &str, zone: Tz) -> Result<DateTime<Utc>> {
        match self.parse_when(text, zone)? {
            When::Once(at) => Ok(at),
            When::Repeated(_) => Err(refused("A reminder is snoozed to one time, such as \"tomorrow at 9\" or \"in 2 hours\".")),
        }
    }
}

/// A time zone by its name, or by the last part of its name if only one zone has it: "berlin". Ignores capitals and accepts spaces for underscores.
fn parse_zone(name: &str) -> Option<Tz> {
    let name = name.replace(' ', "_");
    let is_city = |zone: &&Tz| zone.name().rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&name));
    let mut cities = TZ_VARIANTS.iter().filter(is_city);
    let city = cities.next().filter(|_| cities.next().is_none());
    name.parse().ok().or_else(|| TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(&name)).copied()).or(city.copied())
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
