//! "I'm away until Thursday", "I'm away from Monday to Friday" and "I'm back": people who are not asked for reports and check-ins for some time.
//!
//! Only sentences that are certainly meant are read here. In any other words a persona uses `/standup away`.

use chrono::{DateTime, Days, NaiveTime, Timelike as _, Utc};
use chrono_tz::Tz;

use kernel::chat::text::without_mentions;
use kernel::persona::roster::Roster;
use kernel::text::{fold_name, without_invisible};
use kernel::when::{Asker, When, WhenError, instant, read_loosely};

/// Words that may come before the sentence, besides names and mentions.
const BEFORE: [&str; 12] = ["hey", "hi", "hello", "hallo", "team", "all", "everyone", "everybody", "ok", "fyi", "and", "und"];

/// How a sentence about the author's absence begins.
const BEGIN: [&str; 10] = ["i'm", "im", "i am", "i'll be", "i will be", "i'm going to be", "ich bin", "bin", "ich werde", "ich bin dann"];

#[rustfmt::skip] // One phrase a line would bury the list.
const ABSENT: [&str; 27] = [
    "away", "off", "off work", "out", "out of office", "out of the office", "on vacation", "on holiday", "on holidays", "on leave", "on parental leave",
    "on sick leave", "sick", "ill", "gone", "unavailable", "not available", "not here", "not around",
    "weg", "im urlaub", "in urlaub", "krank", "abwesend", "nicht da", "nicht verfügbar", "unterwegs",
];

const UNTIL: [&str; 4] = ["until", "till", "til", "bis"];

/// What may come before the first day of a span, and between the first and the last. "Monday and Friday" are two days, "between" them is a span.
const FROM: [&str; 5] = ["from", "starting", "between", "von", "vom"];
const TO: [&str; 10] = [" to ", " until ", " till ", " through ", " thru ", " bis zum ", " bis ", " - ", " – ", "–"];

/// The end of a day of which only the day is said.
const LATEST: NaiveTime = NaiveTime::from_hms_opt(23, 59, 59).expect("a time of day");

#[rustfmt::skip]
const BACK: [&str; 12] = [
    "i'm back", "im back", "i am back", "i'm back again", "i'm back now", "i'm not away", "i'm not away anymore",
    "ich bin zurück", "ich bin wieder da", "bin wieder da", "bin zurück", "ich bin wieder zurück",
];

/// What a person says about being there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Absence {
    Away(Span),
    Back,
}

/// When a person is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// None: from now on.
    pub(super) from: Option<DateTime<Utc>>,
    /// When they are there again.
    pub(super) until: DateTime<Utc>,
}

impl Span {
    /// "until Thursday, 3 December" or "from Monday, 30 November, until Saturday, 5 December".
    pub(super) fn show(&self, zone: Tz) -> String {
        let until = show_until(self.until, zone);
        self.from.map_or_else(|| format!("until {until}"), |from| format!("from {}, until {until}", show_until(from, zone)))
    }

    /// One span out of this and the one that was told before. If there is time between them, the earlier one, and the one that has to be told again.
    pub(super) fn join(self, stored: Self, now: DateTime<Utc>) -> (Self, Option<Self>) {
        let (begins, stored_begins) = (self.from.unwrap_or(now), stored.from.unwrap_or(now));
        if begins > stored.until {
            return (stored, Some(self));
        }
        if stored_begins > self.until {
            return (self, Some(stored));
        }
        let from = Some(begins.min(stored_begins)).filter(|from| *from > now);
        (Self { from, until: self.until.max(stored.until) }, None)
    }
}

/// Reads a message that says this and nothing else. The error is the question about a date that has two meanings.
pub(super) fn find_absence(text: &str, roster: &Roster, now: DateTime<Utc>, zone: Tz) -> Option<Result<Absence, WhenError>> {
    let plain = without_mentions(&without_invisible(text)).replace('’', "'").to_lowercase();
    read_sentence(&plain, roster, now, zone)
}

/// As [`find_absence`], for a report of which this may be a part.
pub(super) fn find_absence_within(text: &str, roster: &Roster, now: DateTime<Utc>, zone: Tz) -> Option<Result<Absence, WhenError>> {
    let whole = find_absence(text, roster, now, zone);
    whole.or_else(|| text.lines().flat_map(|line| line.split(". ")).find_map(|sentence| find_absence(sentence, roster, now, zone)))
}

/// Reads when a person is away: a span, or until when. Of "until Thursday", Thursday is the first day on which they are there again; the last day of
/// "Monday to Friday" belongs to it.
pub(super) fn read_span(text: &str, now: DateTime<Utc>, zone: Tz) -> Result<Span, WhenError> {
    let text = text.trim();
    if let Some(time) = UNTIL.iter().find_map(|until| strip_words(text, until)) {
        return Ok(Span { from: None, until: read_time(time, now, zone)? });
    }
    let Some((first, last)) = split_span(text) else { return Ok(Span { from: None, until: read_time(text, now, zone)? }) };
    let first = FROM.iter().find_map(|from| strip_words(first, from)).unwrap_or(first);
    // Questions about a single time do not fit a span.
    let unread = |error| if let WhenError::Ask(_) = error { WhenError::Unknown(text.to_owned()) } else { error };
    let from = read_first(first, now, zone).map_err(unread)?;
    let last = read_time(last, from.unwrap_or(now), zone).map_err(unread)?;
    Ok(Span { from, until: day_after(last, zone).unwrap_or(last) })
}

/// The first and the last day of a span.
fn split_span(text: &str) -> Option<(&str, &str)> {
    let between = strip_words(text, "between").and_then(|days| days.split_once(" and "));
    between.or_else(|| TO.iter().find_map(|to| text.split_once(to)))
}

/// When a span begins. None: today, which is from now on.
fn read_first(first: &str, now: DateTime<Utc>, zone: Tz) -> Result<Option<DateTime<Utc>>, WhenError> {
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
    match read_time(first, now, zone) {
        // Today's beginning is over. Its end is not.
        Err(WhenError::Ask(_)) if read_time_of_day(first, LATEST, now, zone).is_ok_and(|end| day(end) == day(now)) => Ok(None),
        read => read.map(Some),
    }
}

/// The beginning of the next day, if a time is the beginning of one.
fn day_after(day: DateTime<Utc>, zone: Tz) -> Option<DateTime<Utc>> {
    let local = day.with_timezone(&zone).naive_local();
    (local.time() == NaiveTime::MIN).then(|| instant(local.checked_add_days(Days::new(1))?, zone)).flatten()
}

fn read_time(time: &str, now: DateTime<Utc>, zone: Tz) -> Result<DateTime<Utc>, WhenError> {
    read_time_of_day(time, NaiveTime::MIN, now, zone)
}

/// `usual` is the time of day where only a day is said.
fn read_time_of_day(time: &str, usual: NaiveTime, now: DateTime<Utc>, zone: Tz) -> Result<DateTime<Utc>, WhenError> {
    match read_loosely(time, &Asker { now, zone, usual, dates: None })?.when {
        When::Once(at) => Ok(at),
        When::Repeated(_) => Err(WhenError::Unknown(time.to_owned())),
    }
}

/// "Thursday, 3 December", with the time if it is not midnight.
pub(super) fn show_until(until: DateTime<Utc>, zone: Tz) -> String {
    let local = until.with_timezone(&zone);
    let format = if local.num_seconds_from_midnight() == 0 { "%A, %-d %B" } else { "%A, %-d %B, %H:%M" };
    local.format(format).to_string()
}

fn read_sentence(text: &str, roster: &Roster, now: DateTime<Utc>, zone: Tz) -> Option<Result<Absence, WhenError>> {
    let sentence = after_address(text, roster).trim_matches(|c: char| c.is_whitespace() || ".!,".contains(c));
    if BACK.contains(&sentence) {
        return Some(Ok(Absence::Back));
    }
    let rest = BEGIN.iter().filter_map(|begin| strip_words(sentence, begin)).min_by_key(|rest| rest.len())?;
    match read_span(find_time(rest)?, now, zone) {
        Ok(span) => Some(Ok(Absence::Away(span))),
        Err(error @ (WhenError::Ask(_) | WhenError::AskDate { .. })) => Some(Err(error)),
        // More than a time, or none: a persona reads it.
        Err(_) => None,
    }
}

/// The words of the time in "away until Thursday", "away Monday to Friday" or "bis Donnerstag weg".
fn find_time(rest: &str) -> Option<&str> {
    // The longest words count: of "out of office until Thursday" not only "out".
    let after_absent =
        ABSENT.iter().filter_map(|absent| strip_words(rest, absent)).filter(|rest| is_span(rest)).min_by_key(|rest| rest.len());
    if after_absent.is_some() {
        return after_absent;
    }
    let is_absent = |absent: &&str| rest.strip_suffix(*absent).filter(|before| before.ends_with(' '));
    ABSENT.iter().filter_map(is_absent).map(str::trim_end).filter(|rest| is_span(rest)).min_by_key(|rest| rest.len())
}

fn is_span(text: &str) -> bool {
    UNTIL.iter().any(|until| strip_words(text, until).is_some()) || split_span(text).is_some()
}

/// The text after these words at its beginning.
fn strip_words<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.strip_prefix(words)?.strip_prefix(' ').map(str::trim_start)
}

/// The text after greetings and the names of personas.
fn after_address<'t>(text: &'t str, roster: &Roster) -> &'t str {
    let names = roster.personas().iter().flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases));
    let names: Vec<String> = names.flat_map(|name| fold_name(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut rest = text.trim_start();
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if !bare.is_empty() && !BEFORE.contains(&bare) && !names.contains(&fold_name(bare)) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::roster as sample;

    /// A Sunday afternoon.
    fn now() -> DateTime<Utc> {
        "2026-11-29T14:30:00Z".parse().expect("a time")
    }

    fn find(text: &str) -> Option<Result<Absence, WhenError>> {
        find_absence(text, &sample::roster(), now(), Tz::Europe__Berlin)
    }

    fn until(text: &str) -> Option<String> {
        match find(text) {
            Some(Ok(Absence::Away(Span { from: None, until }))) => Some(show_until(until, Tz::Europe__Berlin)),
            _ => None,
        }
    }

    #[test]
    fn an_absence_is_read_with_its_end() {
        for (text, expected) in [
            ("I'm away until Thursday", "Thursday, 3 December"),
            ("Kelly, I’m out of office until Thursday.", "Thursday, 3 December"),
            ("<user:discord:42> hi, I'll be on vacation till 14 December!", "Monday, 14 December"),
            ("I am off until tomorrow", "Monday, 30 November"),
            ("i'm sick until Tuesday at 14:00", "Tuesday, 1 December, 14:00"),
            ("Ich bin bis Donnerstag weg", "Thursday, 3 December"),
            ("Ich bin im Urlaub bis 14. Dezember", "Monday, 14 December"),
            ("I'm out today until 5pm", "Sunday, 29 November, 17:00"),
            ("Ich bin heute bis 17 Uhr weg", "Sunday, 29 November, 17:00"),
            ("I'm off from today to Tuesday", "Wednesday, 2 December"),
            ("I'm away between today and tomorrow", "Tuesday, 1 December"),
        ] {
            assert_eq!(until(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(find("Kelly, I'm back!"), Some(Ok(Absence::Back)));
        assert_eq!(find("ich bin wieder da"), Some(Ok(Absence::Back)));
        assert!(matches!(find("I'm away until 4/12"), Some(Err(WhenError::AskDate { .. }))));
    }

    #[test]
    fn a_span_is_read_with_its_first_and_its_last_day() {
        for (text, expected) in [
            ("I'm away from Monday to Friday", "from Monday, 30 November, until Saturday, 5 December"),
            ("I'm away Monday to Friday", "from Monday, 30 November, until Saturday, 5 December"),
            ("Kelly, I'll be on vacation from 14 December through 18 December.", "from Monday, 14 December, until Saturday, 19 December"),
            ("I'm out from tomorrow until Wednesday", "from Monday, 30 November, until Thursday, 3 December"),
            ("I'm away between Wednesday and Thursday", "from Wednesday, 2 December, until Friday, 4 December"),
            ("I'm off Thursday - Friday", "from Thursday, 3 December, until Saturday, 5 December"),
            ("Ich bin von Montag bis Freitag weg", "from Monday, 30 November, until Saturday, 5 December"),
            ("Ich bin vom 14. Dezember bis zum 18. Dezember im Urlaub", "from Monday, 14 December, until Saturday, 19 December"),
        ] {
            let Some(Ok(Absence::Away(span))) = find(text) else { panic!("{text}: {:?}", find(text)) };
            assert_eq!(span.show(Tz::Europe__Berlin), expected, "{text}");
        }
        assert_eq!(find("I'm away from home to work"), None);
        assert_eq!(find("I'm out and about"), None);
    }

    #[test]
    fn an_absence_does_not_replace_another_one() {
        let at = |days| now() + chrono::TimeDelta::days(days);
        let span = |from: Option<i64>, until| Span { from: from.map(at), until: at(until) };
        // Away until Thursday, then from 14 December on, and in the other order.
        let (near, far) = (span(None, 4), span(Some(15), 20));
        assert_eq!(far.join(near, now()), (near, Some(far)));
        assert_eq!(near.join(far, now()), (near, Some(far)));
        assert_eq!(span(Some(30), 32).join(far, now()), (far, Some(span(Some(30), 32))));
        for (told, stored, joined) in [
            (span(Some(2), 6), near, span(None, 6)),
            (span(Some(4), 6), near, span(None, 6)),
            (span(Some(16), 18), far, span(Some(15), 20)),
            (span(Some(10), 16), far, span(Some(10), 20)),
            (span(None, 15), far, span(None, 20)),
        ] {
            assert_eq!(told.join(stored, now()), (joined, None), "{told:?} after {stored:?}");
        }
    }

    #[test]
    fn other_sentences_are_left_to_a_persona() {
        for text in [
            "I'm away",
            "Bob is away until Thursday",
            "I'm away until the release is done",
            "I'm waiting until Thursday",
            "I'm away until Thursday, can you take over?",
            "is Ann away until Thursday?",
            "I'm back on the import",
            "I'm off Monday and Friday",
            "I'm off today and tomorrow",
            "I'm off from Monday to today",
            "",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn a_report_may_say_it_in_one_of_its_sentences() {
        let find = |text: &str| find_absence_within(text, &sample::roster(), now(), Tz::Europe__Berlin);
        assert!(matches!(find("The import is done. I'm away until Thursday."), Some(Ok(Absence::Away(_)))));
        assert!(matches!(find("The import is done\nI'm on leave until 14 December"), Some(Ok(Absence::Away(_)))));
        assert_eq!(find("The import is done. The key is here."), None);
    }
}
