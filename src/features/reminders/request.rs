//! "remind me …" and "remind Ann …" in a message: for whom, when, what.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::when::{When, WhenError, parse_when};

/// Whom to remind, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForWhom {
    /// The author.
    Me,
    /// A name or a mention.
    Somebody(String),
}

/// A reminder that somebody asks for in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub whom: ForWhom,
    pub what: String,
    /// The error is for the author: what was asked for is clear, the time is not.
    pub when: Result<When, WhenError>,
}

/// The most words that a time takes: "on the first of December at half past".
const LONGEST_TIME: usize = 9;

/// Reads a message that asks for a reminder; None where it does not.
pub fn parse_request(text: &str, now: DateTime<Utc>, zone: Tz) -> Option<Request> {
    let text = text.trim();
    let mut words = text.split_whitespace();
    if words.next()?.to_lowercase() != "remind" {
        return None;
    }
    let whom = words.next()?;
    let whom = if whom.eq_ignore_ascii_case("me") { ForWhom::Me } else { ForWhom::Somebody(whom.trim_end_matches([',', ':']).to_owned()) };
    let rest: Vec<&str> = words.collect();
    let (when, what) = split(&rest, now, zone)?;
    Some(Request { whom, what, when })
}

/// The time and the rest. The time stands first or last; the longest text that is a time counts.
fn split(words: &[&str], now: DateTime<Utc>, zone: Tz) -> Option<(Result<When, WhenError>, String)> {
    let most = LONGEST_TIME.min(words.len());
    let time = |part: &[&str]| parse_when(&part.join(" "), now, zone);
    let mut past = None;
    for length in (1..=most).rev() {
        let (first, last) = (words.split_at(length), words.split_at(words.len() - length));
        for (part, rest) in [(first.0, first.1), (last.1, last.0)] {
            if !stands_alone(part) {
                continue;
            }
            let what = what(rest);
            match time(part) {
                Ok(when) => return what.map(|what| (Ok(when), what)),
                Err(error @ WhenError::Past(_)) => past = past.or_else(|| what.map(|what| (Err(error), what))),
                Err(WhenError::Unknown(_)) => {}
            }
        }
    }
    past.or_else(|| what(words).map(|what| (Err(WhenError::Unknown(words.join(" "))), what)))
}

/// One short word may be a month, a day or a word of the sentence ("may", "march", "sat"), so it counts only with another one.
fn stands_alone(words: &[&str]) -> bool {
    match words {
        [word] => word.len() > 5 || word.contains(':') || word.ends_with("am") || word.ends_with("pm"),
        _ => true,
    }
}

/// What is left of the sentence, without the word that joins it to the time.
fn what(words: &[&str]) -> Option<String> {
    let words = match words {
        [first, rest @ ..] if ["to", "that", "about", "of", ":"].contains(&first.to_lowercase().as_str()) => rest,
        words => words,
    };
    let text = words.join(" ");
    let text = text.trim_end_matches(['.', '!', ',']).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use chrono_tz::Europe::Berlin;

    use super::*;

    fn read(text: &str) -> Option<(ForWhom, String, String)> {
        let now = "2026-11-24T14:30:00Z".parse().expect("a time");
        let request = parse_request(text, now, Berlin)?;
        let when = match request.when {
            Ok(When::Once(at)) => at.with_timezone(&Berlin).format("%a %d %H:%M").to_string(),
            Ok(When::Repeated(timetable)) => timetable.cron().to_owned(),
            Err(error) => error.to_string().chars().take(13).collect(),
        };
        Some((request.whom, request.what, when))
    }

    #[test]
    fn the_time_may_come_first_or_last() {
        for (text, whom, what, when) in [
            ("remind me tomorrow at 9 to pay the hosting bill", "me", "pay the hosting bill", "Wed 25 09:00"),
            ("Remind me to pay the hosting bill tomorrow at 9.", "me", "pay the hosting bill", "Wed 25 09:00"),
            ("remind Ann on Friday to send the invoice", "Ann", "send the invoice", "Fri 27 09:00"),
            ("remind <@42> in 20 minutes about the call", "<@42>", "the call", "Tue 24 15:50"),
            ("remind me every Monday at 8 to water the plants", "me", "water the plants", "0 8 * * 1"),
            ("remind me to ask what she may do next Friday", "me", "ask what she may do", "Fri 04 09:00"),
        ] {
            let whom = if whom == "me" { ForWhom::Me } else { ForWhom::Somebody(whom.to_owned()) };
            assert_eq!(read(text), Some((whom, what.to_owned(), when.to_owned())), "{text}");
        }
    }

    #[test]
    fn without_a_time_the_author_is_told_what_is_missing() {
        let (_, what, error) = read("remind me to call 2 friends").expect("a request");
        assert_eq!((what.as_str(), error.as_str()), ("call 2 friends", "I cannot read"));
        assert_eq!(read("remind me to ask where she sat").expect("a request").2, "I cannot read");
    }

    #[test]
    fn other_messages_are_no_requests() {
        for text in ["", "remind", "remind me", "remind me tomorrow", "reminders are nice", "please do not remind me"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
