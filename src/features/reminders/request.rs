//! "remind me …" and "remind Ann …" in a message: for whom, when, what.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::chat::text::split_mention;
use kernel::text::fold_name;

use super::when::{When, WhenError, parse_when};

/// Whom to remind, as the author wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForWhom {
    /// The author.
    Me,
    /// A name or a mention.
    Somebody(String),
    /// More than one person.
    Several,
}

/// A request for a reminder in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub whom: ForWhom,
    /// Empty if the author did not say what.
    pub what: String,
    /// The error is shown to the author, because the request is clear but its time is not.
    pub when: Result<When, WhenError>,
}

/// The most words that a time takes: "on the first of December at half past".
const LONGEST_TIME: usize = 9;

/// The most words of a name.
const LONGEST_NAME: usize = 3;

/// The most words before "remind": "hey Big Ear, could you please".
const LONGEST_ADDRESS: usize = 7;

/// Words that may stand before "remind" besides names and mentions.
const BEFORE: [&str; 18] = [
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "and",
    "please",
    "can",
    "could",
    "would",
    "will",
    "you",
    "team",
    "everyone",
    "everybody",
    "all",
    "also",
    "so",
];

/// Words that join the time to the reminder's text.
const JOINTS: [&str; 5] = ["to", "that", "about", "of", ":"];

/// After "remind me" these words ask about something that was said before, and request no reminder.
const ASK: [&str; 10] = ["what", "who", "whom", "whose", "why", "how", "where", "which", "when", "if"];

const ME: [&str; 2] = ["me", "myself"];
const SEVERAL: [&str; 8] = ["us", "everyone", "everybody", "all", "them", "@everyone", "@here", "people"];

impl ForWhom {
    /// Parses a name that is an argument of a command.
    pub fn parse(name: &str) -> Self {
        let folded = name.trim().to_lowercase();
        if ME.contains(&folded.as_str()) {
            Self::Me
        } else if SEVERAL.contains(&folded.as_str()) || ["the team", "team"].contains(&folded.as_str()) {
            Self::Several
        } else {
            Self::Somebody(name.trim().to_owned())
        }
    }
}

/// Whether a message begins like a request for a reminder. `names` are those of the personas, which may stand first as an address.
pub fn begins_request(text: &str, names: &[&str]) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    find_request(&words, names).is_some_and(|words| words.len() > 1 && !asks(words))
}

/// Reads a message that asks for a reminder. None for other messages.
pub fn parse_request(text: &str, now: DateTime<Utc>, zone: Tz, names: &[&str]) -> Option<Request> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut words = find_request(&words, names).filter(|words| words.len() > 1 && !asks(words))?;
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && ["please", "thanks"].contains(&bare(last).as_str())
    {
        words = rest;
    }
    let (whom, rest) = split_whom(words, |part| time(part, now, zone).is_some());
    let (when, what) = match split(rest, now, zone) {
        Some(found) => found,
        // Without a time a sentence about somebody else may be anything: "remind Ann that she is great".
        None if whom == ForWhom::Me || rest.first().is_some_and(|word| bare(word) == "to") => (Err(WhenError::Missing), what(rest)),
        None => return None,
    };
    Some(Request { whom, what, when })
}

/// The words after "remind", if only an address stands before it.
fn find_request<'a, 't>(words: &'a [&'t str], names: &[&str]) -> Option<&'a [&'t str]> {
    let at = words.iter().take(LONGEST_ADDRESS + 1).position(|word| bare(word) == "remind")?;
    let is_name = |word: &str| names.iter().any(|name| fold_name(name).split_whitespace().any(|part| part == word));
    let is_address = |word: &&str| split_mention(word).is_some() || BEFORE.contains(&bare(word).as_str()) || is_name(&bare(word));
    words[..at].iter().all(is_address).then(|| &words[at + 1..])
}

/// A word in lower case, without the marks around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

fn asks(words: &[&str]) -> bool {
    words.get(1).is_some_and(|word| ASK.contains(&bare(word).as_str()))
}

/// Splits the words into whom to remind and the rest. A name of several words ends where a time or "to" begins.
fn split_whom<'a, 't>(words: &'a [&'t str], begins_with_time: impl Fn(&[&str]) -> bool) -> (ForWhom, &'a [&'t str]) {
    let first = words[0].trim_end_matches([',', ':']);
    if first == "the" && words.get(1).is_some_and(|word| bare(word) == "team") {
        return (ForWhom::Several, &words[2..]);
    }
    let one = ForWhom::parse(first);
    if one != ForWhom::Somebody(first.to_owned()) || split_mention(first).is_some() {
        return (one, &words[1..]);
    }
    let ends = |length: &usize| {
        let rest = &words[*length..];
        rest.first().is_some_and(|word| JOINTS.contains(&bare(word).as_str())) || lengths(rest).any(|time| begins_with_time(&rest[..time]))
    };
    let length = (1..=LONGEST_NAME.min(words.len() - 1)).find(ends).unwrap_or(1);
    (ForWhom::Somebody(words[..length].join(" ").trim_end_matches([',', ':']).to_owned()), &words[length..])
}

/// The possible lengths of a time at one end of `words`, the longest first.
fn lengths(words: &[&str]) -> impl Iterator<Item = usize> + use<> {
    (1..=LONGEST_TIME.min(words.len())).rev()
}

/// The time that the words mean, or the error that it is over. None if they are no time.
fn time(words: &[&str], now: DateTime<Utc>, zone: Tz) -> Option<Result<When, WhenError>> {
    match parse_when(words.join(" ").trim_end_matches(':'), now, zone) {
        Err(WhenError::Unknown(_) | WhenError::Missing) => None,
        other => Some(other),
    }
}

/// Splits the words into the time and the rest. None if there is no time. The time stands first or last. A time followed by "to" is preferred, then
/// the longest text that is a time.
fn split(words: &[&str], now: DateTime<Utc>, zone: Tz) -> Option<(Result<When, WhenError>, String)> {
    for length in lengths(words) {
        let (part, rest) = words.split_at(length);
        let colon = part.last().is_some_and(|word| word.ends_with(':'));
        let joined = colon || rest.first().is_some_and(|word| JOINTS.contains(&word.to_lowercase().as_str()));
        if let Some(when) = joined.then(|| time(part, now, zone)).flatten() {
            return Some((when, what(rest)));
        }
    }
    let mut past = None;
    for length in lengths(words) {
        let (first, last) = (words.split_at(length), words.split_at(words.len() - length));
        for (part, rest) in [(first.0, first.1), (last.1, last.0)] {
            match stands_alone(part).then(|| time(part, now, zone)).flatten() {
                Some(Ok(when)) => return Some((Ok(when), what(rest))),
                Some(error) => past = past.or_else(|| Some((error, what(rest)))),
                None => {}
            }
        }
    }
    past
}

/// One short word may be a month, a day or a word of the sentence ("may", "march", "sat"), so it counts only with another one.
fn stands_alone(words: &[&str]) -> bool {
    match words {
        [word] => word.len() > 5 || word.contains(':') || word.ends_with("am") || word.ends_with("pm"),
        _ => true,
    }
}

/// The rest of the sentence, without the word that joins it to the time.
fn what(words: &[&str]) -> String {
    let words = match words {
        [first, rest @ ..] if JOINTS.contains(&first.to_lowercase().as_str()) => rest,
        words => words,
    };
    words.join(" ").trim_end_matches(['.', '!', ',']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use chrono_tz::Europe::Berlin;
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["Kelly", "Big Ear"];

    fn now() -> DateTime<Utc> {
        "2026-11-24T14:30:00Z".parse().expect("a time")
    }

    fn read(text: &str) -> Option<(String, String, String)> {
        let request = parse_request(text, now(), Berlin, &NAMES)?;
        let when = match request.when {
            Ok(When::Once(at)) => at.with_timezone(&Berlin).format("%a %d %H:%M").to_string(),
            Ok(When::Repeated(timetable)) => timetable.cron().to_owned(),
            Err(WhenError::Past(_)) => "past".to_owned(),
            Err(WhenError::Missing) => "missing".to_owned(),
            Err(WhenError::Unknown(_)) => "unknown".to_owned(),
        };
        let whom = match request.whom {
            ForWhom::Me => "me".to_owned(),
            ForWhom::Somebody(name) => name,
            ForWhom::Several => "several".to_owned(),
        };
        Some((whom, request.what, when))
    }

    #[test]
    fn the_time_may_come_first_or_last() {
        for (text, whom, what, when) in [
            ("remind me tomorrow at 9 to pay the hosting bill", "me", "pay the hosting bill", "Wed 25 09:00"),
            ("Remind me to pay the hosting bill tomorrow at 9.", "me", "pay the hosting bill", "Wed 25 09:00"),
            ("remind Ann on Friday to send the invoice", "Ann", "send the invoice", "Fri 27 09:00"),
            ("remind <user:discord:42> in 20 minutes about the call", "<user:discord:42>", "the call", "Tue 24 15:50"),
            ("remind me every Monday at 8 to water the plants", "me", "water the plants", "0 8 * * 1"),
            ("remind me to ask what she may do next Friday", "me", "ask what she may do", "Fri 04 09:00"),
            ("remind me Fri about the talk on Monday at 14:30", "me", "the talk on Monday at 14:30", "Fri 27 09:00"),
            ("remind me tomorrow at 9: pay", "me", "pay", "Wed 25 09:00"),
        ] {
            assert_eq!(read(text), Some((whom.to_owned(), what.to_owned(), when.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_persona_may_be_spoken_to_first_and_be_asked_politely() {
        for text in [
            "Kelly, remind me in 20 minutes to call",
            "<user:discord:7> remind me in 20 minutes to call",
            "hey Big Ear, could you please remind me in 20 minutes to call",
            "please remind me to call in 20 minutes, thanks!",
        ] {
            assert_eq!(read(text), Some(("me".to_owned(), "call".to_owned(), "Tue 24 15:50".to_owned())), "{text}");
            assert!(begins_request(text, &NAMES), "{text}");
        }
    }

    #[test]
    fn a_name_may_have_several_words() {
        for text in ["remind Ann Lee on Friday to send it", "remind Ann Lee to send it on Friday"] {
            assert_eq!(read(text), Some(("Ann Lee".to_owned(), "send it".to_owned(), "Fri 27 09:00".to_owned())), "{text}");
        }
        for text in ["remind the team on Friday to vote", "remind everyone on Friday to vote", "remind us to vote on Friday"] {
            assert_eq!(read(text).expect("a request").0, "several", "{text}");
        }
    }

    #[test]
    fn without_a_time_the_author_is_told_what_is_missing() {
        for text in ["remind me to call 2 friends", "remind me to ask where she sat", "remind Ann to call"] {
            assert_eq!(read(text).expect("a request").2, "missing", "{text}");
        }
        assert_eq!(read("remind me tomorrow"), Some(("me".to_owned(), String::new(), "Wed 25 09:00".to_owned())));
        assert_eq!(read("remind me yesterday to call").expect("a request").2, "past");
    }

    #[test]
    fn other_messages_are_no_requests() {
        for text in [
            "",
            "remind",
            "remind me",
            "reminders are nice",
            "please do not remind me tomorrow",
            "remind me what we said yesterday",
            "remind me how it works",
            "remind Ann that she is great",
            "Kelly said: remind me tomorrow to call",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_sentence_panics(words in prop::collection::vec(prop::sample::select(vec!["remind", "me", "Ann", "the", "team", "tomorrow", "at", "9", "to", ":", "<user:discord:1>", "please", "every", "Monday", "ß", "@"]), 0..9)) {
            let text = format!("remind {}", words.join(" "));
            drop(parse_request(&text, now(), Berlin, &NAMES));
        }
    }
}
