//! Repetitions: `every other Monday`, `every 3 days`, `monthly on the 15th`, `werktags`, and how long they last.

use chrono::Weekday;

use super::Parser;
use super::day::Days;
use crate::when::lexicon::{Sense, Unit};
use crate::when::phrase::{Day, Every, Phrase, Until, Week};

const WORKDAYS: [Weekday; 5] = [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
const WEEKEND: [Weekday; 2] = [Weekday::Sat, Weekday::Sun];

/// Maximum number of units between two times. What is rarer has a date.
const MOST: u32 = 366;

impl Parser<'_> {
    /// A repetition, or a part that says more of one: `weekly on Monday`.
    pub(super) fn every(&mut self, phrase: &mut Phrase) -> Option<()> {
        let Some(every) = &phrase.every else {
            let every = self.attempt(Self::new_every)?;
            // "on the 15th of each month"
            phrase.every = Some(match &phrase.day {
                Some(day) => narrow(&every, Days::One(day.clone()))?,
                None => every,
            });
            phrase.day = None;
            return Some(());
        };
        let on_days = self.attempt(|parser| {
            parser.is(Sense::On);
            parser.kind_of_day(false)
        });
        let narrowed = match on_days {
            Some(days) => narrow(every, Days::Each(days))?,
            None => match self.attempt(Self::weekday_of_month)? {
                Every::MonthWeekday { nth, day } if *every == Every::Units(1, Unit::Month) => Every::MonthWeekday { nth, day },
                _ => return None,
            },
        };
        phrase.every = Some(narrowed);
        Some(())
    }

    fn new_every(&mut self) -> Option<Every> {
        if let Some(every) = self.attempt(Self::each) {
            return Some(every);
        }
        let often = self.sense(|sense| match sense {
            Sense::Often(unit) => Some(unit),
            _ => None,
        });
        if let Some(unit) = often {
            return Some(Every::Units(1, unit));
        }
        self.is(Sense::On);
        self.is(Sense::The);
        if let Some(days) = self.kind_of_day(false) {
            return Some(Every::Weekdays { days, weeks: 1 });
        }
        // "on the 15th of every month", "the first Monday of each month"
        let of_every_month =
            |parser: &mut Self| (parser.is(Sense::Of) && parser.is(Sense::Every) && parser.unit_is(Unit::Month)).then_some(());
        if let Some(every) = self.attempt(|parser| {
            let every = parser.weekday_of_month()?;
            of_every_month(parser)?;
            Some(every)
        }) {
            return Some(every);
        }
        let day = match self.attempt(Self::ordinal) {
            Some(day) => day,
            None => (self.is(Sense::Last) && self.unit_is(Unit::Day)).then_some(31)?,
        };
        of_every_month(self)?;
        (1..=31).contains(&day).then_some(Every::MonthDay { day, months: 1 })
    }

    /// `workdays`, `weekends`. "On the weekend" alone may be the next one.
    fn kind_of_day(&mut self, after_every: bool) -> Option<Vec<Weekday>> {
        self.sense(|sense| match sense {
            Sense::Workdays => Some(WORKDAYS.to_vec()),
            Sense::Weekends => Some(WEEKEND.to_vec()),
            Sense::Workday if after_every => Some(WORKDAYS.to_vec()),
            Sense::Weekend if after_every => Some(WEEKEND.to_vec()),
            _ => None,
        })
    }

    /// What follows "every".
    fn each(&mut self) -> Option<Every> {
        self.is(Sense::On);
        self.is(Sense::Every).then_some(())?;
        if let Some(every) = self.attempt(|parser| {
            let every = parser.weekday_of_month()?;
            parser.is(Sense::Of).then_some(())?;
            parser.is(Sense::The);
            parser.is(Sense::Every);
            parser.unit_is(Unit::Month).then_some(every)
        }) {
            return Some(every);
        }
        if let Some(every) = self.attempt(Self::each_date) {
            return Some(every);
        }
        if let Some(every) = self.attempt(Self::each_unit) {
            return Some(every);
        }
        if let Some(days) = self.kind_of_day(true) {
            return Some(Every::Weekdays { days, weeks: 1 });
        }
        let weeks = self.attempt(Self::step);
        // Of "every third Friday" nobody knows whether it is in each third week or the third one of a month.
        if weeks.is_some_and(|weeks| weeks > 2) {
            return None;
        }
        let weak = self.weak;
        if let Some(days) = self.attempt(Self::weekdays).or_else(|| self.plural_weekday()) {
            self.weak = weak;
            return Some(Every::Weekdays { days, weeks: weeks.unwrap_or(1) });
        }
        let part = self.sees(|sense| matches!(sense, Sense::Part(_)));
        (part && weeks.is_none()).then_some(Every::Units(1, Unit::Day))
    }

    /// "todos los lunes"
    fn plural_weekday(&mut self) -> Option<Vec<Weekday>> {
        self.sense(|sense| match sense {
            Sense::Weekdays(day) => Some(vec![day]),
            _ => None,
        })
    }

    /// How many units or weeks lie between: `other`, `second`, `third`, `3`.
    fn step(&mut self) -> Option<u32> {
        if self.is(Sense::Other) {
            return Some(2);
        }
        self.attempt(Self::ordinal).or_else(|| self.number()).filter(|step| (1..=MOST).contains(step))
    }

    fn each_unit(&mut self) -> Option<Every> {
        let half = self.attempt(|parser| {
            parser.is(Sense::A);
            let portion = parser.portion()?;
            parser.is(Sense::A);
            parser.unit_is(Unit::Hour).then_some(portion * 60 / 100)
        });
        if let Some(minutes) = half {
            return Some(Every::Units(minutes, Unit::Minute));
        }
        let step = self.attempt(Self::step).unwrap_or(1);
        let unit = self.unit()?;
        Some(Every::Units(step, unit))
    }

    /// `every 24 December`, `every 15th of the month`, `every 15th`.
    fn each_date(&mut self) -> Option<Every> {
        match self.date(None)? {
            Day::Date { weekday: None, year: None, month, day } => Some(Every::Date { month, day }),
            Day::OfMonth(day, None) => {
                let of_month = self.attempt(|parser| {
                    parser.is(Sense::Of);
                    parser.is(Sense::The);
                    parser.unit_is(Unit::Month).then_some(())
                });
                let starts_more = self.sees(|sense| matches!(sense, Sense::Unit(_) | Sense::Weekday(_)));
                (of_month.is_some() || !starts_more).then_some(Every::MonthDay { day, months: 1 })
            }
            _ => None,
        }
    }

    /// `first Monday`, `last Friday`.
    fn weekday_of_month(&mut self) -> Option<Every> {
        self.is(Sense::On);
        self.is(Sense::The);
        let nth = if self.is(Sense::Last) { -1 } else { i8::try_from(self.ordinal()?).ok().filter(|nth| (1..=5).contains(nth))? };
        let day = self.weekday_name()?;
        Some(Every::MonthWeekday { nth, day })
    }

    /// `until Friday`, `for two weeks`.
    pub(super) fn until(&mut self) -> Option<Until> {
        if self.is(Sense::Until) {
            // "until 18.12" is no time of day.
            if let Some(date) = self.attempt(|parser| parser.date_in_digits(None, true)) {
                return Some(Until::Day(date));
            }
            return match self.day()? {
                Days::One(day) => Some(Until::Day(day)),
                Days::Each(_) => None,
            };
        }
        self.is(Sense::For).then_some(())?;
        self.is(Sense::The);
        self.is(Sense::Next);
        let span = self.length()?;
        (span.seconds == 0).then_some(Until::For(span))
    }

    /// `from Monday`, `starting tomorrow`, `ab Montag`.
    pub(super) fn from(&mut self) -> Option<Day> {
        self.is(Sense::From).then_some(())?;
        match self.day()? {
            Days::One(day) => {
                // "from Monday on"
                self.attempt(|parser| (parser.is(Sense::On) && parser.ends()).then_some(()));
                Some(day)
            }
            Days::Each(_) => None,
        }
    }
}

/// A repetition with the days that were said of it: `weekly` and `on Monday`.
pub(super) fn narrow(every: &Every, days: Days) -> Option<Every> {
    Some(match (every, days) {
        (Every::Units(weeks, Unit::Week), Days::One(Day::Weekday(day, Week::Coming))) => Every::Weekdays { days: vec![day], weeks: *weeks },
        (Every::Units(1, Unit::Fortnight), Days::One(Day::Weekday(day, Week::Coming))) => Every::Weekdays { days: vec![day], weeks: 2 },
        (Every::Units(weeks, Unit::Week), Days::Each(days)) => Every::Weekdays { days, weeks: *weeks },
        (Every::Units(1, Unit::Fortnight), Days::Each(days)) => Every::Weekdays { days, weeks: 2 },
        (Every::Units(1, Unit::Day), Days::Each(days)) => Every::Weekdays { days, weeks: 1 },
        (Every::Units(months, Unit::Month), Days::One(Day::OfMonth(day, None))) => Every::MonthDay { day, months: *months },
        (Every::Units(1, Unit::Quarter), Days::One(Day::OfMonth(day, None))) => Every::MonthDay { day, months: 3 },
        (Every::Units(1, Unit::Year), Days::One(Day::Date { weekday: None, year: None, month, day })) => Every::Date { month, day },
        _ => return None,
    })
}
