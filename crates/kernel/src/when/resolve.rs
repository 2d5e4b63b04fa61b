//! Which instants a phrase means for somebody in a zone at a time.

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;

use super::lexicon::{Part, Unit};
use super::phrase::{Day, Every, Half, Phrase, Span, Until, Week};
use super::repetition::full_name;
use super::{Asker, DateOrder, Pattern, Reading, Repetition, When, WhenError, instant, name_of_month, spell_date};

/// The shortest distance of a repetition.
const LEAST_MINUTES: u32 = 15;

/// What is further away than this in hours has a date.
const LONGEST_PASSING: u32 = 366 * 86_400;

/// A time of day, and how many days after the one that was said.
type OfDay = (NaiveTime, u64);

impl Phrase {
    /// `words` are those of the phrase, for errors.
    pub(super) fn resolve(&self, words: &str, asker: &Asker) -> Result<Reading, WhenError> {
        let unread = || WhenError::Unread(words.trim().to_owned());
        self.check_ambiguity(asker)?;
        let zone = self.zone.unwrap_or(asker.zone);
        let when = match (&self.every, self.span) {
            (Some(every), _) => When::Repeated(Box::new(self.repeated(every, zone, words, asker)?)),
            (None, Some(span)) => When::Once(self.after(span, zone, asker).ok_or_else(unread)?),
            (None, None) => When::Once(self.once(zone, words, asker)?),
        };
        let early = self.clock.is_some_and(|clock| clock.half == Half::Unsaid && (1..=6).contains(&clock.hour)) && self.part.is_none();
        Ok(Reading { when, zone: self.zone.filter(|zone| *zone != asker.zone), is_early: early })
    }

    fn check_ambiguity(&self, asker: &Asker) -> Result<(), WhenError> {
        let until = self.until.as_ref().and_then(|until| if let Until::Day(day) = until { Some(day) } else { None });
        for day in self.day.iter().chain(&self.from).chain(until) {
            match *day {
                Day::Either { first, second, .. } if asker.dates.is_none() => {
                    return Err(WhenError::AskDate { first, second });
                }
                Day::MaybeClock { day, month } => {
                    return Err(WhenError::Ask(format!(
                        "Is {day}.{month:02} {} or the time {day:02}:{month:02}? Please write \"on {day} {}\" or \"at {day:02}:{month:02}\".",
                        spell_date(month, day),
                        name_of_month(month)
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The time of day; `usual` where none is said. None: hour and part of the day contradict each other.
    fn of_day(&self, usual: NaiveTime) -> Option<OfDay> {
        let Some(clock) = self.clock else {
            let hour = match self.part {
                None => return Some((usual, 0)),
                Some(Part::Morning) => 9,
                Some(Part::Afternoon) => 14,
                Some(Part::Evening) => 18,
                Some(Part::Night) => 20,
            };
            return Some((NaiveTime::from_hms_opt(hour, 0, 0)?, 0));
        };
        let hour = match (self.part, clock.half, clock.hour) {
            (None, ..) | (Some(Part::Night), Half::Midnight, _) => clock.hour,
            // "12:30 in the morning" may be either half of the day.
            (Some(Part::Morning), half, hour) => Some(hour).filter(|hour| *hour < 12 || *hour == 12 && half == Half::Said)?,
            (Some(Part::Afternoon), _, hour @ 12..=18) | (Some(Part::Evening | Part::Night), _, hour @ 16..=24) => hour,
            (Some(Part::Afternoon), Half::Unsaid, hour @ 1..=6) | (Some(Part::Evening | Part::Night), Half::Unsaid, hour @ 5..=12) => {
                hour + 12
            }
            // "tonight at 1" is after midnight.
            (Some(Part::Night), _, hour @ 0..=4) => hour + 24,
            _ => return None,
        };
        Some((NaiveTime::from_hms_opt(hour % 24, clock.minute, 0)?, u64::from(hour / 24)))
    }

    fn once(&self, zone: Tz, words: &str, asker: &Asker) -> Result<DateTime<Utc>, WhenError> {
        let unread = || WhenError::Unread(words.trim().to_owned());
        let past = || WhenError::Past(words.trim().to_owned());
        let (time, later) = self.of_day(asker.usual).ok_or_else(unread)?;
        let at = |date: NaiveDate| instant(date.checked_add_days(Days::new(later))?.and_time(time), zone);
        let in_future = |date: NaiveDate| at(date).filter(|at| *at > asker.now);
        let Some(day) = &self.day else {
            // "at 9" said at ten o'clock means tomorrow.
            let today = asker.now.with_timezone(&zone).date_naive();
            let first = if later > 0 { today.pred_opt().unwrap_or(today) } else { today };
            return std::iter::successors(Some(first), chrono::NaiveDate::succ_opt).take(3).find_map(in_future).ok_or_else(unread);
        };
        let is_open = self.clock.is_none() && self.part.is_none();
        let today = asker.today();
        match *day {
            Day::Away(0) if is_open && in_future(today).is_none() => {
                Err(WhenError::Ask("What time today? Try \"today at 17:30\" or \"in 2 hours\".".to_owned()))
            }
            Day::Away(days) if days != 0 && self.is_midnight() => Err(ask_midnight(add_days(today, days).ok_or_else(unread)?)),
            Day::Away(days) => add_days(today, days).and_then(in_future).ok_or_else(past),
            Day::Weekday(..) | Day::OfMonth(..) | Day::Date { .. } | Day::Either { .. } if self.is_midnight() => {
                Err(ask_midnight(candidates(day, today, asker).into_iter().next().ok_or_else(unread)?))
            }
            _ => {
                check_weekday(day, today, asker)?;
                candidates(day, today, asker).into_iter().find_map(in_future).ok_or_else(past)
            }
        }
    }

    fn is_midnight(&self) -> bool {
        self.clock.is_some_and(|clock| clock.half == Half::Midnight) && self.part != Some(Part::Night)
    }

    /// `in 3 days`, `in 90 minutes`. None: too far away, or a time of day next to hours.
    fn after(&self, span: Span, zone: Tz, asker: &Asker) -> Option<DateTime<Utc>> {
        if span.months == 0 && span.days == 0 {
            let passing = Some(span.seconds).filter(|seconds| *seconds <= LONGEST_PASSING)?;
            return asker.now.checked_add_signed(TimeDelta::seconds(i64::from(passing)));
        }
        let now = asker.now.with_timezone(&asker.zone);
        let date = now.date_naive().checked_add_months(Months::new(span.months))?.checked_add_days(Days::new(u64::from(span.days)))?;
        if span.seconds > 0 {
            let at = instant(date.and_time(now.time()), asker.zone)?;
            return at.checked_add_signed(TimeDelta::seconds(i64::from(span.seconds)));
        }
        let (time, later) = self.of_day(asker.usual)?;
        instant(date.checked_add_days(Days::new(later))?.and_time(time), zone)
    }

    fn repeated(&self, every: &Every, zone: Tz, words: &str, asker: &Asker) -> Result<Repetition, WhenError> {
        let unread = || WhenError::Unread(words.trim().to_owned());
        let (time, later) = self.of_day(asker.usual).ok_or_else(unread)?;
        // "every day at 24:00" would be said of another day than it comes on.
        let today = asker.now.with_timezone(&zone).date_naive();
        let start = match &self.from {
            Some(day) => {
                check_weekday(day, asker.today(), asker)?;
                candidates(day, asker.today(), asker).into_iter().find(|date| *date >= today).ok_or_else(unread)?
            }
            None => today,
        };
        if later > 0 && !matches!(every, Every::Units(1, Unit::Day)) {
            return Err(unread());
        }
        let mut repetition = Repetition { pattern: Pattern::Days(1), time, zone, first: start, until: None };
        let comes = |date: &NaiveDate| instant(date.and_time(time), zone).is_some_and(|at| at > asker.now);
        let next_date = std::iter::successors(Some(start), chrono::NaiveDate::succ_opt).take(3).find(comes).ok_or_else(unread)?;
        repetition.pattern = match *every {
            Every::Units(count, Unit::Minute) => Pattern::Minutes(count),
            Every::Units(count, Unit::Hour) => Pattern::Minutes(count.checked_mul(60).ok_or_else(unread)?),
            Every::Units(_, Unit::Second) => Pattern::Minutes(0),
            Every::Units(count, Unit::Day) => Pattern::Days(count),
            Every::Units(count, Unit::Week) => Pattern::Weeks { every: count, days: vec![next_date.weekday()] },
            Every::Units(count, Unit::Fortnight) => Pattern::Weeks { every: count * 2, days: vec![next_date.weekday()] },
            Every::Units(count, Unit::Month) => Pattern::Months { every: count, day: next_date.day() },
            Every::Units(count, Unit::Quarter) => Pattern::Months { every: count * 3, day: next_date.day() },
            Every::Units(1, Unit::Year) => Pattern::Yearly { month: next_date.month(), day: next_date.day() },
            Every::Units(_, Unit::Year) => return Err(unread()),
            Every::Weekdays { ref days, weeks } => Pattern::Weeks { every: weeks, days: sorted(days) },
            Every::MonthDay { day, months } => Pattern::Months { every: months, day },
            Every::MonthWeekday { nth, day } => Pattern::NthWeekday { nth, day },
            Every::Date { month, day } => Pattern::Yearly { month, day },
        };
        if let Pattern::Minutes(minutes) = repetition.pattern {
            if minutes < LEAST_MINUTES {
                return Err(WhenError::Ask(format!(
                    "I can repeat a reminder every {LEAST_MINUTES} minutes at most. Try \"every hour\" or \"every 30 minutes\"."
                )));
            }
            let first = asker.now.with_timezone(&zone) + TimeDelta::minutes(i64::from(minutes));
            if self.from.is_some() {
                return Err(unread());
            }
            (repetition.first, repetition.time) = (first.date_naive(), first.time());
        } else {
            // Weeks, days and months are counted from the first date on which it comes.
            let counted = Repetition { pattern: uncounted(&repetition.pattern), ..repetition.clone() };
            let first = counted.next_after(asker.now).ok_or_else(unread)?;
            repetition.first = first.with_timezone(&zone).date_naive().max(start);
        }
        repetition.until = match &self.until {
            Some(until) => Some(last_date(until, &repetition, asker).ok_or_else(unread)?),
            None => None,
        };
        let first = repetition.next_after(asker.now).ok_or_else(|| WhenError::Past(words.trim().to_owned()))?;
        // "every 300 months": a second time is too far away to be found, so it would be told only once.
        if repetition.until.is_none() && repetition.next_after(first).is_none() {
            return Err(unread());
        }
        Ok(repetition)
    }
}

/// The last date of a repetition. None: it cannot be told.
fn last_date(until: &Until, repetition: &Repetition, asker: &Asker) -> Option<NaiveDate> {
    match until {
        Until::Day(day) => {
            let dates = candidates(day, asker.today(), asker).into_iter();
            // "until Friday" of a later week, but never until a date of another year.
            let most = if matches!(day, Day::Weekday(..)) { usize::MAX } else { 1 };
            dates.take(most).find(|date| *date >= repetition.first)
        }
        Until::For(span) => {
            let months = repetition.first.checked_add_months(Months::new(span.months))?;
            months.checked_add_days(Days::new(u64::from(span.days)))?.pred_opt()
        }
    }
}

fn ask_midnight(date: NaiveDate) -> WhenError {
    let day = date.format("%a %-d %b");
    WhenError::Ask(format!(
        "Should that be when {day} begins or when it ends? Please write \"{} at 0:00\" or \"{0} at 24:00\".",
        date.format("%-d %b")
    ))
}

/// The pattern as if it came in each week, day and month.
fn uncounted(pattern: &Pattern) -> Pattern {
    match pattern {
        Pattern::Days(_) => Pattern::Days(1),
        Pattern::Weeks { days, .. } => Pattern::Weeks { every: 1, days: days.clone() },
        Pattern::Months { day, .. } => Pattern::Months { every: 1, day: *day },
        other => other.clone(),
    }
}

fn sorted(days: &[Weekday]) -> Vec<Weekday> {
    let mut days = days.to_vec();
    days.sort_unstable_by_key(Weekday::num_days_from_monday);
    days.dedup();
    days
}

fn add_days(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    date.checked_add_signed(TimeDelta::try_days(days)?)
}

/// The dates that a day can mean, the nearest first. The first one whose time is still to come is meant.
fn candidates(day: &Day, today: NaiveDate, asker: &Asker) -> Vec<NaiveDate> {
    let week = today.week(Weekday::Mon).first_day();
    let of_week = |weekday: Weekday, weeks: i64| add_days(week, weeks * 7 + i64::from(weekday.num_days_from_monday()));
    match *day {
        Day::Away(days) => add_days(today, days).into_iter().collect(),
        Day::Weekday(weekday, Week::Coming) => (0..=2).filter_map(|weeks| of_week(weekday, weeks)).filter(|date| *date >= today).collect(),
        Day::Weekday(weekday, Week::This) => of_week(weekday, 0).into_iter().collect(),
        Day::Weekday(weekday, Week::Next) => of_week(weekday, 1).into_iter().collect(),
        Day::Date { year: Some(year), month, day, .. } => NaiveDate::from_ymd_opt(year, month, day).into_iter().collect(),
        Day::Date { year: None, month, day, .. } => {
            let years = today.year()..=today.year().saturating_add(8);
            years.filter_map(|year| NaiveDate::from_ymd_opt(year, month, day)).filter(|date| *date >= today).collect()
        }
        Day::OfMonth(day, _) => {
            let months = (0..12).filter_map(|months| today.with_day(1)?.checked_add_months(Months::new(months)));
            months.filter_map(|first| first.with_day(day)).filter(|date| *date >= today).collect()
        }
        Day::Either { first, second, year } => {
            let (month, day) = if asker.dates == Some(DateOrder::DayFirst) { (second, first) } else { (first, second) };
            candidates(&Day::Date { weekday: None, year, month, day }, today, asker)
        }
        Day::MaybeClock { .. } => Vec::new(),
    }
}

/// A date whose weekday was said too has to fall on it.
fn check_weekday(day: &Day, today: NaiveDate, asker: &Asker) -> Result<(), WhenError> {
    let (Day::Date { weekday: Some(weekday), .. } | Day::OfMonth(_, Some(weekday))) = day else { return Ok(()) };
    match candidates(day, today, asker).first() {
        Some(date) if date.weekday() != *weekday => Err(WhenError::Ask(format!(
            "{} is a {}, not a {}. Which day is right?",
            date.format("%-d %B %Y"),
            full_name(date.weekday()),
            full_name(*weekday)
        ))),
        _ => Ok(()),
    }
}
