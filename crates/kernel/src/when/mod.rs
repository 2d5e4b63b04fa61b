//! Times, dates, repetitions and ranges as people write them: `tomorrow at 9`, `every other Monday`, `in anderthalb Stunden`, `last week`.
//!
//! One reader for all features, in the zone of the person or the team. Pure. A text is read whole or not at all: [`read`] takes a text that is a time
//! and nothing else, [`split`] finds the time of a sentence and says what it cannot read.
//!
//! `tokens` → `lexicon` (words by language, as data) → `grammar` (a `phrase`) → `resolve` (instants, for somebody at a time); `sentence` decides where
//! a phrase begins and ends; `range` reads stretches of the past with the same words.

mod grammar;
mod lexicon;
mod phrase;
mod range;
mod repetition;
mod resolve;
mod sentence;
#[cfg(test)]
mod tests;
mod tokens;
mod zone;

use chrono::{DateTime, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

pub use lexicon::Language;
pub(crate) use range::{TimeRange, find_range};
pub use repetition::{Pattern, Repetition};
pub use zone::find_zone;

/// Who says a time, and when.
#[derive(Debug, Clone, Copy)]
pub struct Asker {
    pub now: DateTime<Utc>,
    pub zone: Tz,
    /// The time of day where only a day is said.
    pub usual: NaiveTime,
    /// How this person writes `10/4`. None: not known, so they are asked.
    pub dates: Option<DateOrder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

impl DateOrder {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DayFirst => "day_first",
            Self::MonthFirst => "month_first",
        }
    }
}

/// A time that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub when: When,
    /// The zone that was said, if it is not the asker's.
    pub zone: Option<Tz>,
    /// The hour was between one and six without "am", "pm" or a part of the day. It was read on a clock of 24 hours.
    pub is_early: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    Once(DateTime<Utc>),
    Repeated(Box<Repetition>),
}

impl When {
    /// The first instant after `now`.
    pub fn first_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Once(at) => Some(*at).filter(|at| *at > now),
            Self::Repeated(repetition) => repetition.next_after(now),
        }
    }
}

/// Why a text is no time, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    #[error(
        "I cannot read {0:?} as a time. Try \"tomorrow at 9\", \"in 20 minutes\", \"Friday 14:30\", \"2026-12-01 09:00\" or \"every Monday at 8\"."
    )]
    Unknown(String),
    #[error("{0:?} is in the past. Name a time that is still to come, such as \"tomorrow at 9\" or \"in 20 minutes\".")]
    Past(String),
    /// A sentence contains no time.
    #[error(
        "When should that be? I found no time in your message. Try \"remind me tomorrow at 9 to pay the bill\". \"in 20 minutes\", \"on Friday at 14:30\" and \"every Monday at 8\" work too."
    )]
    Missing,
    /// A sentence speaks of a time, but not all of it was understood. A model may know better.
    #[error(
        "I'm not sure when you mean. Could you put the time first, like \"remind me tomorrow at 17:30 to …\" or \"remind me every other Monday at 9 to …\"?"
    )]
    Unread(String),
    /// A date of two numbers, each of which may be the month.
    #[error("Is {first}/{second} {} or {}? Please write the month as a word.", spell_date(*.second, *.first), spell_date(*.first, *.second))]
    AskDate { first: u32, second: u32 },
    /// It has two meanings. The question to the person.
    #[error("{0}")]
    Ask(String),
}

impl Asker {
    /// The date of today where the asker is.
    pub fn today(&self) -> NaiveDate {
        self.now.with_timezone(&self.zone).date_naive()
    }
}

/// Reads a text that is a time and nothing else.
///
/// # Errors
/// It is no time, it is over, or it has two meanings.
pub fn read(text: &str, asker: &Asker) -> Result<Reading, WhenError> {
    sentence::read_all(text, asker, false)
}

/// Like [`read`], and reads `20 minutes` like `in 20 minutes`.
///
/// # Errors
/// It is no time, it is over, or it has two meanings.
pub fn read_loosely(text: &str, asker: &Asker) -> Result<Reading, WhenError> {
    sentence::read_all(text, asker, true)
}

/// Reads a text that is one time and nothing else. `usual` is the time of day where only a day is given.
///
/// # Errors
/// It is no time, it is over, it has two meanings, or it repeats.
pub fn parse_instant(text: &str, now: DateTime<Utc>, zone: Tz, usual: NaiveTime) -> Result<DateTime<Utc>, WhenError> {
    match read(text, &Asker { now, zone, usual, dates: None })?.when {
        When::Once(at) => Ok(at),
        When::Repeated(_) => Err(WhenError::Unknown(text.trim().to_owned())),
    }
}

/// Finds the time at the beginning or the end of a sentence. Returns it with the rest of the sentence, without the word that joins both.
///
/// # Errors
/// There is no time, it was not read whole, it is over, or it has two meanings.
pub fn split<'a>(text: &'a str, language: Language, asker: &Asker) -> Result<(Reading, &'a str), WhenError> {
    sentence::split(text, language, asker)
}

/// Whether a text begins with a time or with a word of one, whatever follows.
pub fn begins_with_time(text: &str, language: Language) -> bool {
    sentence::begins_with_time(text, language)
}

/// Whether a text begins with a word that joins a time to what is to be done: `to`, `about`, `daran`.
pub fn begins_with_joint(text: &str, language: Language) -> bool {
    sentence::begins_with_joint(text, language)
}

/// `10 April`.
pub fn spell_date(month: u32, day: u32) -> String {
    format!("{day} {}", name_of_month(month))
}

fn name_of_month(month: u32) -> &'static str {
    u8::try_from(month).ok().and_then(|month| chrono::Month::try_from(month).ok()).map_or("", |month| month.name())
}

/// The instant of a local time: the first where clocks show it twice, the first after the gap where they never do.
pub fn instant(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    (0..=180).find_map(|minutes| match zone.from_local_datetime(&local.checked_add_signed(TimeDelta::minutes(minutes))?) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => None,
    })
}
