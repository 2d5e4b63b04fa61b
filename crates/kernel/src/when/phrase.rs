//! A time as it was said, before anybody knows what day it is.

use chrono::Weekday;
use chrono_tz::Tz;

use super::lexicon::{Part, Unit};

/// What a time phrase says. Each part is said once at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    pub day: Option<Day>,
    pub clock: Option<Clock>,
    pub part: Option<Part>,
    /// The zone of the clock, where one was said.
    pub zone: Option<Tz>,
    pub span: Option<Span>,
    pub every: Option<Every>,
    pub until: Option<Until>,
    pub from: Option<Day>,
    /// It consists of a word that may mean something else: `sat`.
    pub weak: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Day {
    /// Days from today.
    Away(i64),
    Weekday(Weekday, Week),
    Date {
        weekday: Option<Weekday>,
        year: Option<i32>,
        month: u32,
        day: u32,
    },
    /// The next such day of a month: `the 18th`, `Friday the 18th`.
    OfMonth(u32, Option<Weekday>),
    /// `10/4`: two numbers, each of which may be the month.
    Either {
        first: u32,
        second: u32,
        year: Option<i32>,
    },
    /// `18.12`, which may be a day or a time of day.
    MaybeClock {
        day: u32,
        month: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Week {
    /// The next such day, today included.
    Coming,
    This,
    Next,
}

/// A time of day on a clock of 24 hours. The hour may be 24.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub hour: u32,
    pub minute: u32,
    /// How the half of the day is known.
    pub half: Half,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    /// By `am`, `pm` or `noon`.
    Said,
    /// The word `midnight`, which may begin or end a day.
    Midnight,
    /// Not said, so the hour counts from 0 to 24.
    Unsaid,
}

/// A length of time. `seconds` pass whatever clocks do; days and months are those of the calendar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub months: u32,
    pub days: u32,
    pub seconds: u32,
    /// `in` or `from now` was said.
    pub introduced: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Every {
    Units(u32, Unit),
    Weekdays {
        days: Vec<Weekday>,
        weeks: u32,
    },
    MonthDay {
        day: u32,
        months: u32,
    },
    /// The first one is 1, the last one -1.
    MonthWeekday {
        nth: i8,
        day: Weekday,
    },
    Date {
        month: u32,
        day: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Until {
    Day(Day),
    For(Span),
}
