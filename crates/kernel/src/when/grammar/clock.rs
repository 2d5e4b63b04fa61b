//! Times of day: `at 9`, `17.30`, `5.30pm`, `17h30`, `half past nine`, `um halb sechs`, `a las cinco y media`, and parts of the day.

use super::Parser;
use crate::when::Language;
use crate::when::lexicon::{Part, Sense, Unit};
use crate::when::phrase::{Clock, Half};

impl Parser<'_> {
    /// A time of day. `has_day`: a day was said before, so that `tomorrow 9` is a time.
    pub(super) fn clock(&mut self, has_day: bool) -> Option<Clock> {
        self.is(Sense::About);
        if self.is(Sense::AtOne) {
            return self.with_extra(1, true);
        }
        let at = self.is(Sense::At);
        self.is(Sense::About);
        let clock = self
            .attempt(Self::named)
            .or_else(|| self.attempt(|parser| parser.spoken(at)))
            .or_else(|| self.attempt(|parser| parser.in_digits(at, has_day)))
            .or_else(|| self.attempt(|parser| parser.in_words(at)))?;
        (clock.hour < 24 && clock.minute < 60 || clock.hour == 24 && clock.minute == 0).then_some(clock)
    }

    fn named(&mut self) -> Option<Clock> {
        self.sense(|sense| match sense {
            Sense::Noon => Some(Clock { hour: 12, minute: 0, half: Half::Said }),
            Sense::Midnight => Some(Clock { hour: 24, minute: 0, half: Half::Midnight }),
            _ => None,
        })
    }

    /// `half past five`, `quarter to six`, `ten to nine`, `fünf nach acht`, `halb sechs`.
    fn spoken(&mut self, at: bool) -> Option<Clock> {
        if at && self.is(Sense::HalfTo)
            || self.attempt(|parser| (parser.is(Sense::HalfTo) && parser.ahead().number().is_some()).then_some(())).is_some()
        {
            let hour = self.number()?;
            return self.finish(hour_before(hour), 30);
        }
        // "a las diez menos cinco": elsewhere the hour comes first.
        if !matches!(self.words.language, Language::English | Language::German) {
            return None;
        }
        self.is(Sense::A);
        let in_digits = self.peek().is_some_and(|token| token.integer().is_some());
        let portion = self.portion().filter(|portion| *portion < 100).map(|portion| portion * 60 / 100);
        let has_portion = portion.is_some();
        let minutes = portion.or_else(|| self.number()).filter(|minutes| *minutes < 60)?;
        let has_unit = self.unit_is(Unit::Minute);
        let to = self.sense(|sense| match sense {
            Sense::Past => Some(false),
            Sense::To => Some(true),
            _ => None,
        })?;
        // "at 10 to 12 people" is no time.
        if !(has_portion || has_unit || at && (!in_digits || !to)) {
            return None;
        }
        let hour = self.number()?;
        if to { self.finish(hour_before(hour), 60 - minutes) } else { self.finish(hour, minutes) }
    }

    fn in_digits(&mut self, at: bool, has_day: bool) -> Option<Clock> {
        let token = self.peek()?;
        let text = token.text.trim_end_matches('.');
        if let Some(whole) = token.integer() {
            self.at += 1;
            return match text.len() {
                4 if at => {
                    self.unit_is(Unit::Hour);
                    self.finish(whole / 100, whole % 100)
                }
                1 | 2 => self.whole_hour(whole, at, has_day),
                _ => None,
            };
        }
        let separator = text.chars().find(|c| !c.is_ascii_digit())?;
        let (hour, minute) = text.split_once(separator)?;
        let (minute, seconds) = minute.split_once(separator).map_or((minute, "00"), |(minute, seconds)| (minute, seconds));
        let is_clock = minute.len() == 2 && seconds == "00" && hour.len() <= 2 && matches!(separator, ':' | '.');
        let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
        if !is_clock {
            return None;
        }
        self.at += 1;
        let said = self.half();
        let oclock = self.oclock();
        let is_date = separator == '.' && (1..=31).contains(&hour) && (1..=12).contains(&minute);
        if !(separator == ':' || at || has_day || said.is_some() || oclock || !is_date) {
            return None;
        }
        in_half(hour, minute, said.or_else(|| self.half()))
    }

    /// `9`, `9am`, `9 o'clock`, `9 Uhr 30`, `17h30`, `a las 9 y media`. A number alone needs a reason to be a time.
    fn whole_hour(&mut self, hour: u32, at: bool, has_day: bool) -> Option<Clock> {
        if let Some(half) = self.half() {
            return in_half(hour, 0, Some(half));
        }
        let is_hours = self.attempt(|parser| {
            let marks_hour = parser.peek()?.text == "h" || at;
            (parser.unit_is(Unit::Hour) && marks_hour).then_some(())
        });
        if is_hours.is_some() || self.oclock() {
            if let Some(minute) = self.attempt(super::Parser::minutes_after) {
                return self.finish(hour, minute);
            }
            if is_hours.is_none() || at || has_day {
                return self.with_extra(hour, at);
            }
            return None;
        }
        if at {
            return self.with_extra(hour, at);
        }
        let has_reason = self.ahead().zone().is_some() || self.is_before_part_of_day() || has_day && self.ends();
        has_reason.then(|| self.finish(hour, 0))?
    }

    /// The minutes of `17h30` and `9 Uhr 30`.
    fn minutes_after(&mut self) -> Option<u32> {
        let token = self.peek()?;
        let is_minutes = token.text.len() == 2 && token.integer().is_some_and(|minute| minute < 60);
        is_minutes.then(|| self.integer())?
    }

    /// `y media`, `et quart`, `menos cuarto` after a full hour.
    fn with_extra(&mut self, hour: u32, at: bool) -> Option<Clock> {
        let extra = self.attempt(|parser| {
            let minus = parser.sense(|sense| match sense {
                Sense::And => Some(false),
                Sense::To => Some(true),
                _ => None,
            })?;
            let minutes = parser.portion().filter(|portion| *portion < 100)? * 60 / 100;
            at.then_some((minus, minutes))
        });
        match extra {
            Some((true, minutes)) => self.finish(hour_before(hour), 60 - minutes),
            Some((false, minutes)) => self.finish(hour, minutes),
            None => self.finish(hour, 0),
        }
    }

    /// `at nine`, `at nine thirty`, `neun Uhr`.
    fn in_words(&mut self, at: bool) -> Option<Clock> {
        let hour = self.number_in_words()?;
        if self.oclock() {
            let minute = self.attempt(|parser| parser.number().filter(|minute| *minute < 60));
            return self.finish(hour, minute.unwrap_or(0));
        }
        if let Some(half) = self.half() {
            return in_half(hour, 0, Some(half));
        }
        if !at {
            return None;
        }
        if self.attempt(|parser| parser.unit_is(Unit::Hour).then_some(())).is_some() {
            return self.with_extra(hour, at);
        }
        match self.attempt(|parser| parser.number_in_words().filter(|minute| (10..60).contains(minute))) {
            Some(minute) => self.finish(hour, minute),
            None => self.with_extra(hour, at),
        }
    }

    fn finish(&mut self, hour: u32, minute: u32) -> Option<Clock> {
        self.oclock();
        let half = self.half();
        in_half(hour, minute, half)
    }

    fn oclock(&mut self) -> bool {
        self.is(Sense::Oclock)
    }

    /// Hours that `am` or `pm` adds.
    fn half(&mut self) -> Option<u32> {
        self.sense(|sense| match sense {
            Sense::Am => Some(0),
            Sense::Pm => Some(12),
            _ => None,
        })
    }

    /// `in the morning`, `this evening`, `abends`. Without a word before it, only next to another part of the time.
    pub(super) fn part_of_day(&mut self, has_more: bool) -> Option<Part> {
        let introduced = self.sense(|sense| matches!(sense, Sense::In | Sense::This | Sense::At).then_some(sense));
        self.is(Sense::The);
        let part = self.sense(|sense| match sense {
            Sense::Part(part) => Some(part),
            _ => None,
        })?;
        // "abends um 8"
        (introduced.is_some() || has_more || self.sees(|sense| sense == Sense::At)).then_some(part)
    }

    fn is_before_part_of_day(&self) -> bool {
        let mut ahead = self.ahead();
        ahead.is(Sense::In);
        ahead.is(Sense::The);
        ahead.sees(|sense| matches!(sense, Sense::Part(_)))
    }
}

/// The hour of "quarter to one" is 12, as on a clock face.
fn hour_before(hour: u32) -> u32 {
    match hour {
        0 => 23,
        1 => 12,
        hour => hour - 1,
    }
}

/// An hour of twelve in the half of the day that was said.
fn in_half(hour: u32, minute: u32, half: Option<u32>) -> Option<Clock> {
    match half {
        Some(add) => (1..=12).contains(&hour).then_some(Clock { hour: hour % 12 + add, minute, half: Half::Said }),
        None => Some(Clock { hour, minute, half: Half::Unsaid }),
    }
}
