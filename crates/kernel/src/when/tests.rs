//! Wordings with what they mean, as data in `wordings/`: each alone, before and after the words of a sentence, at five points of a day, in three zones.
//!
//! A meaning is worked out here without the reader: `day 1 09:00`, `clock 17:30` (the next one), `weekday Fri 09:00`, `week 1 Fri 09:00`,
//! `date 2026-12-18 09:00`, `in 5400` (seconds), `after 2 10800` (days, then seconds); `@Europe/Berlin` after it names the zone of the clock. A
//! repetition has its words and its first time. `past`, `ask` and `left` are not acted on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{Datelike as _, Days, Weekday};
use chrono_tz::Tz;
use proptest::prelude::*;

use super::*;

const POINTS: [&str; 5] = ["00:10", "07:30", "12:00", "16:45", "22:20"];
const ZONES: [Tz; 3] = [Tz::Europe__Berlin, Tz::America__New_York, Tz::Asia__Kolkata];

/// A language, its wordings, and the text of a reminder after a time, and before one.
const FILES: [(Language, &str, &str, &str); 6] = [
    (Language::English, include_str!("wordings/en.tsv"), "to pay the bill", "to pay the bill"),
    (Language::German, include_str!("wordings/de.tsv"), "an die Rechnung", "an die Rechnung"),
    (Language::Spanish, include_str!("wordings/es.tsv"), "que pague la luz", "pagar la luz"),
    (Language::French, include_str!("wordings/fr.tsv"), "de payer la facture", "de payer la facture"),
    (Language::Italian, include_str!("wordings/it.tsv"), "di pagare la luce", "di pagare la luce"),
    (Language::Portuguese, include_str!("wordings/pt.tsv"), "de pagar a conta", "de pagar a conta"),
];

/// A Tuesday.
fn asker(point: &str, zone: Tz) -> Asker {
    let local = NaiveDateTime::parse_from_str(&format!("2026-11-24 {point}"), "%Y-%m-%d %H:%M").expect("a time");
    let usual = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");
    Asker { now: instant(local, zone).expect("a time"), zone, usual, dates: None }
}

/// What a wording means. None: it is not acted on.
#[derive(Debug, PartialEq, Eq)]
struct Meant {
    first: DateTime<Utc>,
    repetition: Option<String>,
}

fn meant(meaning: &str, asker: &Asker) -> Option<Meant> {
    let (meaning, zone) =
        meaning.split_once(" @").map_or((meaning, asker.zone), |(meaning, zone)| (meaning, zone.parse().expect("a zone")));
    if let Some(each) = meaning.strip_prefix("each ") {
        let (words, first) = each.split_once(" | ").expect("words and the first time");
        return Some(Meant { first: first_of(first, asker, zone)?, repetition: Some(words.to_owned()) });
    }
    (!["past", "ask", "left"].contains(&meaning)).then(|| first_of(meaning, asker, zone).map(|first| Meant { first, repetition: None }))?
}

fn first_of(meaning: &str, asker: &Asker, zone: Tz) -> Option<DateTime<Utc>> {
    if let Some(both) = meaning.strip_prefix("either ") {
        return both.split(" / ").filter_map(|one| first_of(one, asker, zone)).min();
    }
    let words: Vec<&str> = meaning.split(' ').collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let today = asker.now.with_timezone(&asker.zone).date_naive();
    let at = |date: NaiveDate, time: &str| instant(date.and_time(NaiveTime::parse_from_str(time, "%H:%M").expect("a time of day")), zone);
    let days_from = |date: NaiveDate| (0..40).map(move |days| date + Days::new(days)).collect::<Vec<_>>();
    let next = |dates: Vec<NaiveDate>, time: &str| dates.into_iter().find_map(|date| at(date, time).filter(|at| *at > asker.now));
    let seconds = |text: &str| TimeDelta::seconds(i64::try_from(number(text)).expect("a number"));
    match words.as_slice() {
        ["in", passing] => Some(asker.now + seconds(passing)),
        ["after", days, passing] => {
            let local = asker.now.with_timezone(&asker.zone).naive_local() + Days::new(number(days));
            Some(instant(local, zone)? + seconds(passing))
        }
        ["clock", time] => next(days_from(asker.now.with_timezone(&zone).date_naive()), time),
        ["day", days, time] => at(today + Days::new(number(days)), time).filter(|at| *at > asker.now),
        ["weekday", day, time] => {
            let day: Weekday = day.parse().expect("a weekday");
            next(days_from(today).into_iter().filter(|date| date.weekday() == day).collect(), time)
        }
        ["week", weeks, day, time] => {
            let day: Weekday = day.parse().expect("a weekday");
            let monday = today - Days::new(u64::from(today.weekday().num_days_from_monday()));
            at(monday + Days::new(number(weeks) * 7 + u64::from(day.num_days_from_monday())), time).filter(|at| *at > asker.now)
        }
        ["date", date, time] => at(date.parse().expect("a date"), time),
        _ => panic!("no meaning: {meaning}"),
    }
}

fn read_as(reading: &Reading, asker: &Asker) -> Meant {
    let repetition = match &reading.when {
        When::Once(_) => None,
        When::Repeated(repetition) => Some(repetition.describe()),
    };
    Meant { first: reading.when.first_after(asker.now).expect("it lies ahead"), repetition }
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    right: usize,
    left: usize,
    wrong: usize,
}

#[test]
fn wordings_mean_what_they_say_or_are_not_acted_on() {
    let mut counts: BTreeMap<(String, String), Count> = BTreeMap::new();
    let mut faults = String::new();
    let mut wordings = 0;
    for (language, file, after, before) in FILES {
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let [kind, wording, meaning] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("three columns: {line}") };
            wordings += 1;
            let count = counts.entry((format!("{language:?}"), kind.to_owned())).or_default();
            for (point, zone) in POINTS.iter().flat_map(|point| ZONES.map(|zone| (*point, zone))) {
                let asker = asker(point, zone);
                let meant = meant(meaning, &asker);
                let (first, last) = (format!("{wording} {after}"), format!("{before} {wording}"));
                let in_sentence = |text: &str| split(text, language, &asker).map(|(reading, _)| reading);
                let alone = if kind == "bare" { read_loosely(wording, &asker) } else { read(wording, &asker) };
                let readings = if kind == "bare" { vec![alone] } else { vec![alone, in_sentence(&first), in_sentence(&last)] };
                for (place, reading) in ["alone", "first", "last"].into_iter().zip(readings) {
                    let read = reading.as_ref().ok().map(|reading| read_as(reading, &asker));
                    match (&read, &meant) {
                        (None, _) => count.left += 1,
                        (read, meant) if read == meant => count.right += 1,
                        _ => count.wrong += 1,
                    }
                    if read != meant && faults.len() < 20_000 && !faults.contains(&format!("{wording} ({language:?}, {place}")) {
                        writeln!(faults, "{wording} ({language:?}, {place}, {point} {zone}): {reading:?}, not {meant:?}")
                            .expect("a String");
                    }
                }
            }
        }
    }
    println!("{wordings} wordings\n{:<12}{:<10}{:>7}{:>7}{:>7}", "language", "kind", "right", "left", "wrong");
    for ((language, kind), Count { right, left, wrong }) in &counts {
        println!("{language:<12}{kind:<10}{right:>7}{left:>7}{wrong:>7}");
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(wordings >= 400);
}

/// The rest of a sentence after "remind me".
#[test]
fn a_sentence_is_read_whole_or_not_at_all() {
    let asker = asker("12:00", Tz::Europe__Berlin);
    let mut faults = String::new();
    for line in include_str!("wordings/sentences.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [language, sentence, meaning, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("four columns: {line}") };
        let language = if language == "de" { Language::German } else { Language::English };
        let read = split(sentence, language, &asker);
        let kind = match &read {
            Ok(_) => "read",
            Err(WhenError::Missing) => "missing",
            Err(WhenError::Past(_)) => "past",
            Err(WhenError::Ask(_) | WhenError::AskDate { .. }) => "ask",
            Err(WhenError::Unread(_)) => "left",
            Err(WhenError::Unknown(_)) => "unknown",
        };
        let is_right = match &read {
            Ok((reading, rest)) => Some(read_as(reading, &asker)) == meant(meaning, &asker) && *rest == text,
            Err(_) => kind == meaning,
        };
        if !is_right {
            writeln!(faults, "{sentence}: {read:?}, not {meaning}").expect("a String");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_date_that_two_orders_read_differently_is_read_by_the_persons_own() {
    for (dates, date) in [(DateOrder::DayFirst, "2027-04-10"), (DateOrder::MonthFirst, "2027-10-04")] {
        let asker = Asker { dates: Some(dates), ..asker("12:00", Tz::UTC) };
        let reading = read("10/4 at 9", &asker).expect("a time");
        assert_eq!(reading.when.first_after(asker.now).map(|at| at.date_naive().to_string()).as_deref(), Some(date));
    }
    let asked = read("on 10/4", &asker("12:00", Tz::UTC)).expect_err("a question").to_string();
    assert_eq!(asked, "Is 10/4 10 April or 4 October? Please write the month as a word.");
}

#[test]
fn a_time_that_clocks_leave_out_or_show_twice_is_the_first_there_is() {
    for (now, meant) in [("2027-03-27T12:00:00Z", "2027-03-28T01:00:00+00:00"), ("2026-10-24T12:00:00Z", "2026-10-25T00:30:00+00:00")] {
        let asker = Asker { now: now.parse().expect("a time"), ..asker("12:00", Tz::Europe__Berlin) };
        let reading = read("tomorrow at 2:30", &asker).expect("a time");
        assert_eq!(reading.when, When::Once(meant.parse().expect("a time")));
        assert!(reading.is_early);
    }
}

#[test]
fn a_day_without_a_time_ends_when_it_usually_does() {
    let evening = NaiveTime::from_hms_opt(18, 0, 0).expect("a time of day");
    let now = "2026-11-24T14:30:00Z".parse().expect("a time");
    let read = |text: &str| {
        let at = parse_instant(text, now, Tz::Europe__Berlin, evening)?;
        Ok(at.with_timezone(&Tz::Europe__Berlin).format("%a %F %H:%M").to_string())
    };
    for (text, meant) in [
        ("today", "Tue 2026-11-24 18:00"),
        ("friday", "Fri 2026-11-27 18:00"),
        ("Friday 14:30", "Fri 2026-11-27 14:30"),
        ("2026-12-01", "Tue 2026-12-01 18:00"),
        ("in 2 hours", "Tue 2026-11-24 17:30"),
        ("next monday", "Mon 2026-11-30 18:00"),
        ("next Tuesday afternoon", "Tue 2026-12-01 14:00"),
        ("next friday 8am", "Fri 2026-12-04 08:00"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(meant), "{text}");
    }
    assert!(matches!(read("yesterday"), Err(WhenError::Past(_))));
    assert!(matches!(read("soon"), Err(WhenError::Unknown(_))));
    assert!(matches!(read("every day"), Err(WhenError::Unknown(_))));
}

proptest! {
    #[test]
    fn whatever_is_read_lies_in_the_future(text in "\\PC{0,40}", at in 0_i64..4_000_000_000) {
        let asker = Asker { now: DateTime::from_timestamp(at, 0).expect("in range"), ..asker("12:00", Tz::Europe__Berlin) };
        if let Ok(reading) = read_loosely(&text, &asker) {
            prop_assert!(reading.when.first_after(asker.now).is_some());
        }
        for language in Language::ALL {
            if let Ok((reading, rest)) = split(&text, language, &asker) {
                prop_assert!(reading.when.first_after(asker.now).is_some() && text.contains(rest));
            }
        }
    }

    #[test]
    fn words_in_any_order_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "in", "at", "next", "friday", "9", "99", "every", "march", "-5", "am", "1/2", "tomorrow", ":", "30", "days", "last", "9999999999",
        "2026-02-30", "half", "to", "until", "for", "weeks", "other", "of", "month", "first", "0", "from", "and", "years", "24:00", "UTC+", "time",
        "minutes", "18.12.", "10/4", "midnight", "tonight", "366",
    ]), 0..8)) {
        let asker = asker("12:00", Tz::Europe__Berlin);
        if let Ok(reading) = read_loosely(&words.join(" "), &asker) {
            prop_assert!(reading.when.first_after(asker.now).is_some());
        }
        for language in Language::ALL {
            drop(split(&words.join(" "), language, &asker));
        }
    }
}
