//! Lengths of time: `90m`, `1 h 15 min`, `an hour and a half`, `2 days 3 hours`, `in anderthalb Stunden`.

use super::Parser;
use crate::when::lexicon::{Sense, Unit};
use crate::when::phrase::Span;

/// Ten years. What is further away has a date.
const MAX_DAYS: u32 = 3660;

impl Parser<'_> {
    pub(super) fn span(&mut self) -> Option<Span> {
        self.is(Sense::About);
        let before = self.is(Sense::In);
        self.is(Sense::About);
        if !before && self.is_hour_with_minutes() {
            return None;
        }
        let mut span = self.length()?;
        self.is(Sense::OrSo);
        span.introduced = before | self.is(Sense::Later);
        let is_some = span.months > 0 || span.days > 0 || span.seconds > 0;
        (is_some && span.days <= MAX_DAYS && span.months <= 120).then_some(span)
    }

    /// `17h30` is a time of day, and `1h30` a length of time.
    fn is_hour_with_minutes(&self) -> bool {
        match &self.words.tokens[self.at..] {
            [hour, h, minutes, ..] => {
                hour.integer().is_some_and(|hour| (6..=24).contains(&hour))
                    && h.glued
                    && h.text == "h"
                    && minutes.glued
                    && minutes.text.len() == 2
            }
            _ => false,
        }
    }

    /// One or more amounts in a row.
    pub(super) fn length(&mut self) -> Option<Span> {
        let mut total = Span::default();
        let mut smallest = self.attempt(|parser| parser.amount(&mut total))?;
        while let Some(unit) = self.attempt(|parser| {
            parser.comma();
            parser.is(Sense::And);
            let mut more = total;
            let unit = parser.amount(&mut more)?;
            // "in 2 days 3 hours", but not "in 3 hours 2 days".
            (seconds_of(unit) < seconds_of(smallest)).then(|| {
                total = more;
                unit
            })
        }) {
            smallest = unit;
        }
        Some(total)
    }

    /// One amount with its unit, which is added to `total`.
    fn amount(&mut self, total: &mut Span) -> Option<Unit> {
        if let Some(minutes) = self.attempt(Self::minutes_in_a_word) {
            total.seconds = total.seconds.checked_add(minutes * 60)?;
            return Some(Unit::Minute);
        }
        if let Some(minutes) = self.attempt(Self::hours_and_minutes) {
            total.seconds = total.seconds.checked_add(minutes * 60)?;
            return Some(Unit::Minute);
        }
        let hundredths = self.hundredths()?;
        self.is(Sense::Of);
        self.is(Sense::A);
        let unit = self.unit()?;
        // "an hour and a half"
        let extra = self.attempt(|parser| {
            parser.is(Sense::And).then_some(())?;
            parser.is(Sense::A);
            let portion = parser.portion()?;
            (!parser.is_before_unit()).then_some(portion)
        });
        add(total, hundredths.checked_add(extra.unwrap_or(0))?, unit)?;
        // "1h15"
        if unit == Unit::Hour && self.peek().is_some_and(|token| token.glued && token.text.len() == 2) {
            let minutes = self.attempt(|parser| parser.integer().filter(|minutes| *minutes < 60 && !parser.is_before_unit()));
            if let Some(minutes) = minutes {
                total.seconds = total.seconds.checked_add(minutes * 60)?;
                return Some(Unit::Minute);
            }
        }
        Some(unit)
    }

    /// `Viertelstunde`, `half-hour`.
    fn minutes_in_a_word(&mut self) -> Option<u32> {
        self.is(Sense::A);
        self.sense(|sense| match sense {
            Sense::Minutes(minutes) => Some(minutes),
            _ => None,
        })
    }

    /// `1:30 hours`.
    fn hours_and_minutes(&mut self) -> Option<u32> {
        let (hours, minutes) = self.peek()?.text.split_once(':')?;
        let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
        self.at += 1;
        (self.unit_is(Unit::Hour) && minutes < 60 && hours < 1000).then_some(hours * 60 + minutes)
    }

    /// A number, with its fraction: `2`, `1.5`, `1 1/2`, `half a`, `two and a half`.
    fn hundredths(&mut self) -> Option<u32> {
        self.attempt(|parser| {
            parser.is(Sense::A);
            parser.portion()
        })
        .or_else(|| self.attempt(Self::number_and_portion))
        .or_else(|| self.is(Sense::A).then_some(100))
    }

    fn number_and_portion(&mut self) -> Option<u32> {
        let whole = self.decimal().or_else(|| self.number().and_then(|number| number.checked_mul(100)))?;
        let portion = self.attempt(|parser| {
            if parser.is(Sense::And) {
                parser.is(Sense::A);
            }
            let portion = parser.portion()?;
            parser.is_before_unit().then_some(portion)
        });
        whole.checked_add(portion.unwrap_or(0))
    }

    /// `1.5`, `1,5`, `1/2`.
    fn decimal(&mut self) -> Option<u32> {
        let text = self.peek()?.text.trim_end_matches('.');
        let value = if let Some((above, below)) = text.split_once('/') {
            fraction(above, below)?
        } else {
            let (whole, part) = text.split_once(['.', ','])?;
            let part = match part.len() {
                1 => part.parse::<u32>().ok()? * 10,
                2 => part.parse::<u32>().ok()?,
                _ => return None,
            };
            whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(part)?
        };
        self.at += 1;
        Some(value)
    }

    /// A part of one, in hundredths, or more than one in one word: `half`, `1/2`, `anderthalb`.
    pub(super) fn portion(&mut self) -> Option<u32> {
        let in_digits = self.attempt(|parser| {
            let (above, below) = parser.peek()?.text.split_once('/')?;
            let value = fraction(above, below)?;
            parser.at += 1;
            Some(value)
        });
        in_digits.or_else(|| {
            self.sense(|sense| match sense {
                Sense::Portion(portion) => Some(portion),
                _ => None,
            })
        })
    }

    pub(super) fn unit(&mut self) -> Option<Unit> {
        self.sense(|sense| match sense {
            Sense::Unit(unit) => Some(unit),
            _ => None,
        })
    }

    pub(super) fn unit_is(&mut self, unit: Unit) -> bool {
        self.is(Sense::Unit(unit))
    }

    fn is_before_unit(&self) -> bool {
        self.sees(|sense| matches!(sense, Sense::Unit(_)))
    }
}

fn fraction(above: &str, below: &str) -> Option<u32> {
    match (above.parse::<u32>().ok()?, below.parse::<u32>().ok()?) {
        (above @ 1..=3, below @ (2 | 4)) if above < below => Some(above * 100 / below),
        _ => None,
    }
}

pub(super) fn seconds_of(unit: Unit) -> u32 {
    match unit {
        Unit::Second => 1,
        Unit::Minute => 60,
        Unit::Hour => 3600,
        Unit::Day => 86_400,
        Unit::Week => 7 * 86_400,
        Unit::Fortnight => 14 * 86_400,
        Unit::Month => 30 * 86_400,
        Unit::Quarter => 90 * 86_400,
        Unit::Year => 365 * 86_400,
    }
}

/// Days and longer are calendar days. Half a day is twelve hours, half a week is nothing that anybody means.
fn add(total: &mut Span, hundredths: u32, unit: Unit) -> Option<()> {
    let whole = hundredths.is_multiple_of(100).then_some(hundredths / 100);
    match unit {
        Unit::Second | Unit::Minute | Unit::Hour => {
            let seconds = u64::from(hundredths) * u64::from(seconds_of(unit)) / 100;
            total.seconds = total.seconds.checked_add(u32::try_from(seconds).ok()?)?;
        }
        Unit::Day => {
            if let Some(days) = whole {
                total.days = total.days.checked_add(days)?;
            } else {
                total.days = total.days.checked_add(hundredths / 100)?;
                total.seconds = total.seconds.checked_add(hundredths % 100 * 864)?;
            }
        }
        Unit::Week => total.days = total.days.checked_add(whole?.checked_mul(7)?)?,
        Unit::Fortnight => total.days = total.days.checked_add(whole?.checked_mul(14)?)?,
        Unit::Month => total.months = total.months.checked_add(whole?)?,
        Unit::Quarter => total.months = total.months.checked_add(whole?.checked_mul(3)?)?,
        Unit::Year => total.months = total.months.checked_add(whole?.checked_mul(12)?)?,
    }
    Some(())
}
