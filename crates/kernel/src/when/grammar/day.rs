//! Days: `tomorrow`, `next Friday`, `Friday next week`, `18 December`, `on 18.12.`, `2026-12-18`, `the 18th`.

use chrono::Weekday;

use super::Parser;
use crate::when::lexicon::{Part, Sense};
use crate::when::phrase::{Day, Every, Phrase, Week};

/// A day, or several of one week.
pub(super) enum Days {
    One(Day),
    /// `Tuesday and Thursday`, `Mondays`: on each of them.
    Each(Vec<Weekday>),
}

impl Parser<'_> {
    /// Reads a day, and what it says of a repetition: `weekly` `on Monday`.
    pub(super) fn add_day(&mut self, phrase: &mut Phrase) -> Option<()> {
        match (self.day()?, &phrase.every) {
            (Days::Each(days), None) => phrase.every = Some(Every::Weekdays { days, weeks: 1 }),
            (Days::One(day), None) => phrase.day = Some(day),
            (days, Some(every)) => phrase.every = Some(super::every::narrow(every, days)?),
        }
        Some(())
    }

    pub(super) fn day(&mut self) -> Option<Days> {
        if let Some(days) = self.attempt(Self::several_weekdays) {
            return Some(Days::Each(days));
        }
        let read = self
            .attempt(Self::relative)
            .or_else(|| self.attempt(Self::weekday_and_date))
            .or_else(|| self.attempt(|parser| parser.date(None)))
            .or_else(|| self.attempt(Self::weekday))?;
        Some(Days::One(read))
    }

    fn relative(&mut self) -> Option<Day> {
        let today = self.sense(|sense| match sense {
            Sense::Day(days) => Some(days),
            _ => None,
        });
        if let Some(days) = today {
            return Some(Day::Away(days));
        }
        // "this evening": the part of the day is read after it.
        let is_part = |sense| matches!(sense, Sense::Part(Part::Morning | Part::Afternoon | Part::Evening));
        (self.is(Sense::This) && self.sees(is_part)).then_some(Day::Away(0))
    }

    pub(super) fn weekday_name(&mut self) -> Option<Weekday> {
        let day = self.sense(|sense| match sense {
            Sense::Weekday(day) => Some(day),
            _ => None,
        })?;
        // "Fri." in a sentence
        self.attempt(|parser| (parser.mark('.') && parser.peek().is_some()).then_some(()));
        Some(day)
    }

    /// `Tuesday and Thursday`, `Mon, Wed & Fri`, `Monday to Friday`, `Mondays`, `montags`.
    fn several_weekdays(&mut self) -> Option<Vec<Weekday>> {
        self.is(Sense::On);
        self.is(Sense::From);
        match self.attempt(Self::weekdays) {
            Some(days) => (days.len() > 1).then_some(days),
            None => self.plurals(),
        }
    }

    fn plurals(&mut self) -> Option<Vec<Weekday>> {
        let plural = |sense| match sense {
            Sense::Weekdays(day) => Some(day),
            _ => None,
        };
        let mut days = vec![self.sense(plural)?];
        while let Some(day) = self.attempt(|parser| {
            parser.joins_days().then_some(())?;
            parser.sense(plural)
        }) {
            days.push(day);
        }
        Some(days)
    }

    /// One or more weekdays.
    pub(super) fn weekdays(&mut self) -> Option<Vec<Weekday>> {
        let first = self.weekday_name()?;
        let range = self.attempt(|parser| {
            parser.is(Sense::Through).then_some(())?;
            parser.is(Sense::The);
            parser.weekday_name()
        });
        if let Some(last) = range {
            let length = (last.num_days_from_monday() + 7 - first.num_days_from_monday()) % 7;
            return Some(std::iter::successors(Some(first), |day| Some(day.succ())).take(length as usize + 1).collect());
        }
        let mut days = vec![first];
        while let Some(day) = self.attempt(|parser| {
            parser.joins_days().then_some(())?;
            parser.is(Sense::On);
            parser.is(Sense::Every);
            parser.weekday_name()
        }) {
            days.push(day);
        }
        Some(days)
    }

    fn joins_days(&mut self) -> bool {
        let comma = self.mark(',');
        let slash = self.mark('/');
        self.is(Sense::And) || comma || slash
    }

    fn weekday(&mut self) -> Option<Day> {
        // "on sat" is no verb.
        let introduced = self.is(Sense::At) || self.is(Sense::On);
        if self.is(Sense::NextWeek) {
            self.is(Sense::On);
            return Some(Day::Weekday(self.weekday_name()?, Week::Next));
        }
        self.is(Sense::The);
        let which = |sense| match sense {
            Sense::Next => Some(Week::Next),
            Sense::This => Some(Week::This),
            Sense::Coming => Some(Week::Coming),
            _ => None,
        };
        let before = self.sense(which);
        let weak = self.weak;
        let day = self.weekday_name()?;
        let after = self.attempt(|parser| {
            if parser.is(Sense::NextWeek) {
                return Some(Week::Next);
            }
            // "lundi prochain"
            parser.sense(which).filter(|week| before.is_none() && *week != Week::This && parser.ends_or_goes_on())
        });
        if introduced || before.is_some() {
            self.weak = weak;
        }
        Some(Day::Weekday(day, after.or(before).unwrap_or(Week::Coming)))
    }

    /// Whether no other day follows: "Friday next Monday" is no time.
    fn ends_or_goes_on(&self) -> bool {
        !self.sees(|sense| matches!(sense, Sense::Weekday(_) | Sense::Unit(_) | Sense::Month(_)))
    }

    fn weekday_and_date(&mut self) -> Option<Day> {
        self.is(Sense::On);
        self.is(Sense::The);
        let weekday = self.weekday_name()?;
        self.comma();
        self.date(Some(weekday))
    }

    pub(super) fn date(&mut self, weekday: Option<Weekday>) -> Option<Day> {
        let on = self.is(Sense::On);
        self.is(Sense::The);
        self.attempt(|parser| parser.date_in_digits(weekday, on))
            .or_else(|| self.attempt(|parser| parser.month_then_day(weekday)))
            .or_else(|| self.attempt(|parser| parser.day_then_month(weekday)))
            .or_else(|| self.attempt(|parser| parser.day_of_month(on, weekday)))
    }

    pub(super) fn date_in_digits(&mut self, weekday: Option<Weekday>, on: bool) -> Option<Day> {
        let token = self.peek()?;
        let text = token.text.as_str();
        let separator = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '.' | '/' | '-'))?;
        let parts: Vec<&str> = text.trim_end_matches('.').split(separator).collect();
        let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
        self.at += 1;
        let (year, first, second) = match (numbers?.as_slice(), parts[0].len()) {
            (&[year, month, day], 4) => return Self::valid(weekday, Some(year), month, day),
            (&[first, second, year], 1..=2) if parts[2].len() == 4 => (Some(year), first, second),
            (&[first, second, year], 1..=2) if parts[2].len() == 2 => (Some(2000 + year), first, second),
            (&[first, second], 1..=2) if separator != '-' => (None, first, second),
            _ => return None,
        };
        if separator == '.' {
            // A time of day where no day is said before: "18.12" may be both.
            let is_date = on || weekday.is_some() || year.is_some() || text.ends_with('.') || first > 23;
            let day = Self::valid(weekday, year, second, first)?;
            return Some(if is_date { day } else { Day::MaybeClock { day: first, month: second } });
        }
        if self.day_first() || first > 12 || first == second {
            return Self::valid(weekday, year, second, first);
        }
        if second > 12 {
            return Self::valid(weekday, year, first, second);
        }
        let year = year.map(i32::try_from).transpose().ok()?;
        (first > 0 && second > 0).then_some(Day::Either { first, second, year })
    }

    fn month(&mut self) -> Option<u32> {
        let month = self.sense(|sense| match sense {
            Sense::Month(month) => Some(month),
            _ => None,
        })?;
        self.attempt(|parser| (parser.mark('.') && parser.peek().is_some()).then_some(()));
        Some(month)
    }

    /// `18 December 2026`, `18. Dezember`, `18th of December`, `el 18 de diciembre`.
    fn day_then_month(&mut self, weekday: Option<Weekday>) -> Option<Day> {
        let day = self.attempt(Self::ordinal).or_else(|| self.integer())?;
        self.is(Sense::Of);
        let month = self.month()?;
        self.is(Sense::Of);
        let year = self.year();
        Self::valid(weekday, year, month, day)
    }

    /// `December 18th, 2026`.
    fn month_then_day(&mut self, weekday: Option<Weekday>) -> Option<Day> {
        let month = self.month()?;
        self.is(Sense::The);
        let day = self.attempt(Self::ordinal).or_else(|| self.integer())?;
        let year = self.year();
        Self::valid(weekday, year, month, day)
    }

    fn year(&mut self) -> Option<u32> {
        self.attempt(|parser| {
            parser.comma();
            let token = parser.peek()?;
            (token.text.len() == 4).then_some(())?;
            parser.integer().filter(|year| (1970..=9999).contains(year))
        })
    }

    /// `on the 18th`, `am 18.`.
    fn day_of_month(&mut self, on: bool, weekday: Option<Weekday>) -> Option<Day> {
        let day = if on { self.attempt(Self::ordinal).or_else(|| self.day_first().then(|| self.integer())?) } else { self.ordinal() }?;
        let is_number = self.at > 0 && self.words.tokens[..self.at].iter().rev().take(2).any(|token| token.integer() == Some(day));
        (is_number && (1..=31).contains(&day)).then_some(Day::OfMonth(day, weekday))
    }

    fn valid(weekday: Option<Weekday>, year: Option<u32>, month: u32, day: u32) -> Option<Day> {
        let year = year.map(i32::try_from).transpose().ok()?;
        // 2024 has a 29 February.
        chrono::NaiveDate::from_ymd_opt(year.unwrap_or(2024), month, day)?;
        Some(Day::Date { weekday, year, month, day })
    }
}
