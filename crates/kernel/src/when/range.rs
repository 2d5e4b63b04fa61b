//! Stretches of the past: "this week", "last 3 days", "since Monday", "in October". Days begin at midnight in the team's zone, weeks on Monday.

use std::ops::Range;

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};

use super::Language;
use super::instant;
use super::lexicon::{Meaning, Sense, Unit, Words};
use super::tokens::{Kind, Token};
use crate::time::Today;

/// A time range and the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The words used: `this week`, `in May`.
    pub label: String,
}

/// The limit for "last N …": ten years.
const MAX_DAYS: i64 = 3660;

/// The first range among `words` (lower case), with the index and number of its words.
pub(crate) fn find_range(words: &[String], today: Today) -> Option<(TimeRange, Range<usize>)> {
    let tokens: Vec<Token> = words.iter().map(|word| Token::of_word(word)).collect();
    let readers = READ.map(|language| Reader { words: Words::new(&tokens, language), today });
    (0..words.len()).find_map(|at| {
        let (since, until, taken) = readers.iter().find_map(|reader| reader.range(at))?;
        let label = words[at..at + taken].iter().map(|word| spelled(word)).collect::<Vec<_>>().join(" ");
        Some((TimeRange { since, until: until.min(today.now), label }, at..at + taken))
    })
}

/// Days and months have a capital letter.
fn spelled(word: &str) -> String {
    let is_name = word.parse::<Weekday>().is_ok() || word.parse::<chrono::Month>().is_ok();
    let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    if is_name { first.to_uppercase() + rest } else { word.to_owned() }
}

/// Questions are not marked with their language, and a word of one is another word in the next: `hier` is yesterday in French.
const READ: [Language; 2] = [Language::English, Language::German];

/// From, to, and the number of words.
type Found = (DateTime<Utc>, DateTime<Utc>, usize);

struct Reader<'a> {
    words: Words<'a>,
    today: Today,
}

impl Reader<'_> {
    fn range(&self, at: usize) -> Option<Found> {
        let today = self.date();
        let days = |from: NaiveDate, to: NaiveDate, taken| Some((self.midnight(from)?, self.midnight(to)?, taken));
        let evening = || instant(today.pred_opt()?.and_hms_opt(18, 0, 0)?, self.today.zone);
        if let Some(taken) = self.is(at, Sense::LastNight).or_else(|| self.is(at, Sense::Overnight)) {
            return Some((evening()?, self.today.now, taken));
        }
        if let Some((away, taken)) = self.find(at, |sense| match sense {
            Sense::Day(days @ ..=0) => Some(days),
            Sense::Today(_) => Some(0),
            _ => None,
        }) {
            let from = today.checked_add_signed(TimeDelta::days(away))?;
            return days(from, from.succ_opt()?, taken);
        }
        if let Some(taken) = self.is(at, Sense::This)
            && let Some(range) = self.this(at + taken, taken)
        {
            return Some(range);
        }
        if let Some(taken) = self.is(at, Sense::Since) {
            let rest = at + taken;
            let (since, _, more) = self.range(rest).or_else(|| self.named(rest))?;
            return Some((since, self.today.now, taken + more));
        }
        for sense in [Sense::Last, Sense::Recent] {
            if let Some(taken) = self.is(at, sense)
                && let Some(range) = self.last(at + taken, taken, sense == Sense::Last)
            {
                return Some(range);
            }
        }
        let taken = [Sense::On, Sense::In, Sense::During, Sense::Last].into_iter().find_map(|sense| self.is(at, sense))?;
        let rest = at + taken;
        self.named(rest).map(|(since, until, more)| (since, until, taken + more))
    }

    /// `this week`, `this morning`.
    fn this(&self, at: usize, before: usize) -> Option<Found> {
        let today = self.date();
        if let Some((_, taken)) = self.find(at, |sense| if let Sense::Part(part) = sense { Some(part) } else { None }) {
            return Some((self.midnight(today)?, self.midnight(today.succ_opt()?)?, before + taken));
        }
        let (unit, taken) = self.unit(at)?;
        let from = self.start_of(unit)?;
        Some((self.midnight(from)?, self.today.now, before + taken))
    }

    /// `last week`, `last 3 days`, `past two weeks`. `by_calendar`: a single week is the one before this one, not seven days.
    fn last(&self, at: usize, before: usize, by_calendar: bool) -> Option<Found> {
        if let Some((unit, taken)) = self.unit(at) {
            return match unit {
                Unit::Week | Unit::Month if by_calendar => {
                    let until = self.start_of(unit)?;
                    let since = if unit == Unit::Week {
                        until.checked_sub_days(Days::new(7))?
                    } else {
                        until.checked_sub_months(Months::new(1))?
                    };
                    Some((self.midnight(since)?, self.midnight(until)?, before + taken))
                }
                Unit::Hour | Unit::Day | Unit::Week | Unit::Month => Some((self.count_back(1, unit)?, self.today.now, before + taken)),
                _ => None,
            };
        }
        let (count, taken) = match self.words.tokens.get(at)?.kind {
            Kind::Numeral => (self.words.tokens.get(at)?.text.parse().ok()?, 1),
            _ => self.find(at, |sense| match sense {
                Sense::Number(count) | Sense::Few(count) => Some(i64::from(count)),
                Sense::A => Some(1),
                _ => None,
            })?,
        };
        let (unit, more) = self.unit(at + taken)?;
        Some((self.count_back(count, unit)?, self.today.now, before + taken + more))
    }

    fn start_of(&self, unit: Unit) -> Option<NaiveDate> {
        let today = self.date();
        match unit {
            Unit::Week => Some(today.week(Weekday::Mon).first_day()),
            Unit::Month => today.with_day(1),
            Unit::Year => today.with_ordinal(1),
            _ => None,
        }
    }

    /// The instant "3 days" before now.
    fn count_back(&self, count: i64, unit: Unit) -> Option<DateTime<Utc>> {
        let (hours, days) = match unit {
            Unit::Hour => (count, 0),
            Unit::Day => (0, count),
            Unit::Week => (0, count.checked_mul(7)?),
            Unit::Month => (0, count.checked_mul(30)?),
            _ => return None,
        };
        let days = days.checked_add(hours / 24)?.clamp(0, MAX_DAYS);
        Some(self.today.now - TimeDelta::days(days) - TimeDelta::hours(hours.clamp(0, MAX_DAYS * 24) % 24))
    }

    /// The latest weekday, month or date of this name that has begun.
    fn named(&self, at: usize) -> Option<Found> {
        let today = self.date();
        if let Some((weekday, taken)) = self.find(at, |sense| if let Sense::Weekday(day) = sense { Some(day) } else { None }) {
            let back = (7 + today.weekday().num_days_from_monday() - weekday.num_days_from_monday()) % 7;
            let day = today.checked_sub_days(Days::new(u64::from(back)))?;
            return Some((self.midnight(day)?, self.midnight(day.succ_opt()?)?, taken));
        }
        if let Ok(day) = self.words.tokens.get(at)?.text.parse::<NaiveDate>() {
            return Some((self.midnight(day)?, self.midnight(day.succ_opt()?)?, 1));
        }
        let (month, taken) = self.find(at, |sense| if let Sense::Month(month) = sense { Some(month) } else { None })?;
        let year =
            self.words.tokens.get(at + taken).and_then(|year| year.text.parse::<i32>().ok()).filter(|year| (1970..=9999).contains(year));
        let newest = if month <= today.month() { today.year() } else { today.year() - 1 };
        let first = NaiveDate::from_ymd_opt(year.unwrap_or(newest), month, 1)?;
        let next = first.checked_add_months(Months::new(1))?;
        Some((self.midnight(first)?, self.midnight(next)?, taken + usize::from(year.is_some())))
    }

    fn date(&self) -> NaiveDate {
        self.today.now.with_timezone(&self.today.zone).date_naive()
    }

    fn midnight(&self, day: NaiveDate) -> Option<DateTime<Utc>> {
        instant(day.and_time(NaiveTime::MIN), self.today.zone)
    }

    fn unit(&self, at: usize) -> Option<(Unit, usize)> {
        self.find(at, |sense| if let Sense::Unit(unit) = sense { Some(unit) } else { None })
    }

    fn find<T>(&self, at: usize, wanted: impl Fn(Sense) -> Option<T>) -> Option<(T, usize)> {
        // "I am so tired" speaks of no Sunday.
        let counts = |meaning: &Meaning| !meaning.weak || self.words.language == Language::English;
        let mut meanings = self.words.meanings(at).iter().filter(|(meaning, _)| counts(meaning));
        meanings.find_map(|(meaning, length)| Some((wanted(meaning.sense)?, *length)))
    }

    fn is(&self, at: usize, sense: Sense) -> Option<usize> {
        self.find(at, |found| (found == sense).then_some(())).map(|((), taken)| taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::retrieval::words_of;
    use crate::testing::feeds::today;

    /// Formats from, to and the words. Now is Saturday, 21 November 2026, 22:50.
    fn found(text: &str) -> Option<String> {
        let (range, _) = find_range(&words_of(text), today())?;
        let show = |at: DateTime<Utc>| at.format("%m-%d %H:%M").to_string();
        Some(format!("{} to {}: {}", show(range.since), show(range.until), range.label))
    }

    #[test]
    fn phrases_become_stretches_of_time_that_end_now_at_the_latest() {
        for (text, expected) in [
            ("what happened this week?", "11-16 00:00 to 11-21 22:50: this week"),
            ("what happened last week?", "11-09 00:00 to 11-16 00:00: last week"),
            ("anything new today", "11-21 00:00 to 11-21 22:50: today"),
            ("and yesterday?", "11-20 00:00 to 11-21 00:00: yesterday"),
            ("the last 3 days", "11-18 22:50 to 11-21 22:50: last 3 days"),
            ("past two weeks", "11-07 22:50 to 11-21 22:50: past two weeks"),
            ("in the last hour", "11-21 21:50 to 11-21 22:50: last hour"),
            ("last 36 hours", "11-20 10:50 to 11-21 22:50: last 36 hours"),
            ("since monday", "11-16 00:00 to 11-21 22:50: since Monday"),
            ("since yesterday", "11-20 00:00 to 11-21 22:50: since yesterday"),
            ("on saturday", "11-21 00:00 to 11-21 22:50: on Saturday"),
            ("last tuesday", "11-17 00:00 to 11-18 00:00: last Tuesday"),
            ("in october", "10-01 00:00 to 11-01 00:00: in October"),
            ("last month", "10-01 00:00 to 11-01 00:00: last month"),
            ("this month", "11-01 00:00 to 11-21 22:50: this month"),
            ("since 2026-11-01", "11-01 00:00 to 11-21 22:50: since 2026-11-01"),
            ("last night", "11-20 18:00 to 11-21 22:50: last night"),
        ] {
            assert_eq!(found(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn days_begin_at_midnight_in_the_teams_zone() {
        // Sunday, 04:20 in Kolkata.
        let zone = chrono_tz::Tz::Asia__Kolkata;
        let show = |text: &str| {
            let (range, _) = find_range(&words_of(text), Today { zone, ..today() })?;
            Some(range.since.with_timezone(&zone).format("%a %d %H:%M").to_string())
        };
        for (text, since) in [
            ("what happened today?", "Sun 22 00:00"),
            ("and yesterday?", "Sat 21 00:00"),
            ("this week", "Mon 16 00:00"),
            ("on saturday", "Sat 21 00:00"),
            ("in october", "Thu 01 00:00"),
            ("was war gestern?", "Sat 21 00:00"),
            ("was ist seit Montag passiert?", "Mon 16 00:00"),
            ("letzte Woche", "Mon 09 00:00"),
        ] {
            assert_eq!(show(text).as_deref(), Some(since), "{text}");
        }
    }

    #[test]
    fn a_month_is_the_last_one_that_has_begun_unless_the_year_is_said() {
        let year = |text: &str| find_range(&words_of(text), today()).unwrap().0.since.year();
        assert_eq!(year("in december"), 2025);
        assert_eq!(year("in november"), 2026);
        assert_eq!(year("in march 2024"), 2024);
    }

    #[test]
    fn what_only_looks_like_a_time_is_none() {
        for text in [
            "may I ask?",
            "march on",
            "in the code",
            "last call",
            "on d-043",
            "the last seven wonders",
            "I am so tired",
            "was ist hier los",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_mixture_of_words_breaks_it(text in "((last|past|since|in|on|this|may|week|days|monday|february|2026-02-30|9999|0|3|99999999) ?){0,6}") {
            if let Some((range, taken)) = find_range(&words_of(&text), today()) {
                proptest::prop_assert!(range.until <= today().now && !taken.is_empty());
            }
        }
    }

    #[test]
    fn absurd_numbers_end_ten_years_ago() {
        assert!(found("last 99999999999999999999 days").is_none());
        for text in ["last 9223372036854775807 days", "last 999999999 weeks", "last 9223372036854775807 hours"] {
            if let Some((range, _)) = find_range(&words_of(text), today()) {
                assert!(range.since >= today().now - TimeDelta::days(MAX_DAYS + 1), "{text}");
            }
        }
        assert!(found("last 999999999 weeks").is_some());
    }
}
