//! "remind me …" and "remind Ann …" in a message: for whom, when, what.

use kernel::chat::text::split_mention;
use kernel::text::fold_name;
use kernel::when::{Asker, Language, Reading, WhenError, begins_with_joint, begins_with_time, split};

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
    pub when: Result<Reading, WhenError>,
}

/// The most words of a name.
const LONGEST_NAME: usize = 3;

/// The most words before "remind": "hey Big Ear, could you please".
const LONGEST_ADDRESS: usize = 7;

/// Words that ask for a reminder of the person who is named next.
const REMIND: [(&str, Language); 3] = [("remind", Language::English), ("erinnere", Language::German), ("erinner", Language::German)];

/// Words that ask for a reminder of the author.
#[rustfmt::skip] // One word a line would bury the list.
const REMIND_ME: [(&str, Language); 11] = [
    ("recuérdame", Language::Spanish), ("recuerdame", Language::Spanish), ("recordame", Language::Spanish),
    ("rappelle-moi", Language::French), ("rappelez-moi", Language::French), ("rappelle moi", Language::French),
    ("ricordami", Language::Italian),
    ("lembra-me", Language::Portuguese), ("lembre-me", Language::Portuguese), ("me lembra", Language::Portuguese), ("me lembre", Language::Portuguese),
];

/// Words that may stand before "remind" besides names and mentions.
#[rustfmt::skip]
const BEFORE: [&str; 29] = [
    "hey", "hi", "hello", "ok", "okay", "and", "please", "can", "could", "would", "will", "you", "team", "everyone", "everybody", "all", "also", "so",
    "bitte", "hallo", "und", "hola", "por", "favor", "bonjour", "salut", "ciao", "olá", "oi",
];

/// After "remind me" these words ask about something that was said before, and request no reminder.
#[rustfmt::skip]
const ASK: [&str; 18] = [
    "what", "who", "whom", "whose", "why", "how", "where", "which", "when", "if",
    "was", "wer", "wie", "wo", "wann", "warum", "ob", "welche",
];

const ME: [&str; 4] = ["me", "myself", "mich", "mir"];
#[rustfmt::skip]
const SEVERAL: [&str; 10] = ["us", "everyone", "everybody", "all", "them", "@everyone", "@here", "people", "uns", "alle"];

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

/// The words of a request after the one that asks for it.
struct Asked<'a, 't> {
    language: Language,
    /// That word names the author too.
    names_author: bool,
    words: &'a [&'t str],
}

/// Whether a message begins like a request for a reminder. `names` are those of the personas, which may stand first as an address.
pub fn begins_request(text: &str, names: &[&str]) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    find_request(&words, names).is_some()
}

/// Reads a message that asks for a reminder. None for other messages.
pub fn parse_request(text: &str, asker: &Asker, names: &[&str]) -> Option<Request> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Asked { language, names_author, mut words } = find_request(&words, names)?;
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && ["please", "thanks", "bitte", "danke"].contains(&bare(last).as_str())
    {
        words = rest;
    }
    let (whom, rest) = if names_author { (ForWhom::Me, words) } else { split_whom(words, language) };
    let rest = rest.join(" ");
    let split = split(&rest, language, asker);
    // About somebody else it may be anything: "remind Ann that she is great", "… that Friday is off".
    let is_vague = matches!(split, Err(WhenError::Missing | WhenError::Unread(_)));
    let first = rest.split_whitespace().next().map(bare).unwrap_or_default();
    if whom != ForWhom::Me && is_vague && first != "to" && !begins_with_time(&rest, language) {
        return None;
    }
    Some(match split {
        Ok((reading, what)) => Request { whom, what: what.to_owned(), when: Ok(reading) },
        Err(error) => Request { whom, what: String::new(), when: Err(error) },
    })
}

/// Finds the word that asks for a reminder, if only an address comes before it and a request follows.
fn find_request<'a, 't>(words: &'a [&'t str], names: &[&str]) -> Option<Asked<'a, 't>> {
    let is_name = |word: &str| names.iter().any(|name| fold_name(name).split_whitespace().any(|part| part == word));
    let is_address = |word: &&str| split_mention(word).is_some() || BEFORE.contains(&bare(word).as_str()) || is_name(&bare(word));
    (0..words.len().min(LONGEST_ADDRESS + 1)).take_while(|at| words[..*at].iter().all(is_address)).find_map(|at| {
        let word = bare(words[at]);
        let pair = words.get(at + 1).map(|next| format!("{word} {}", bare(next)));
        let asks_for = |(asking, _): &&(&str, Language)| *asking == word;
        if let Some((_, language)) = REMIND.iter().find(asks_for) {
            let words = &words[at + 1..];
            return (words.len() > 1 && !asks(words[1])).then_some(Asked { language: *language, names_author: false, words });
        }
        let (asking, language) = REMIND_ME.iter().find(|(asking, _)| *asking == word || Some(*asking) == pair.as_deref())?;
        let words = &words[at + asking.split(' ').count()..];
        (!words.is_empty()).then_some(Asked { language: *language, names_author: true, words })
    })
}

/// A word in lower case, without the marks around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

fn asks(word: &str) -> bool {
    ASK.contains(&bare(word).as_str())
}

/// Splits the words into whom to remind and the rest. A name of several words ends where a time or "to" begins.
fn split_whom<'a, 't>(words: &'a [&'t str], language: Language) -> (ForWhom, &'a [&'t str]) {
    let first = words[0].trim_end_matches([',', ':']);
    if first == "the" && words.get(1).is_some_and(|word| bare(word) == "team") {
        return (ForWhom::Several, &words[2..]);
    }
    let one = ForWhom::parse(first);
    if one != ForWhom::Somebody(first.to_owned()) || split_mention(first).is_some() {
        return (one, &words[1..]);
    }
    let ends = |length: &usize| {
        let rest = words[*length..].join(" ");
        begins_with_joint(&rest, language) || begins_with_time(&rest, language)
    };
    let length = (1..=LONGEST_NAME.min(words.len() - 1)).find(ends).unwrap_or(1);
    (ForWhom::Somebody(words[..length].join(" ").trim_end_matches([',', ':']).to_owned()), &words[length..])
}

#[cfg(test)]
mod tests {
    use chrono::NaiveTime;
    use chrono_tz::Europe::Berlin;
    use kernel::when::When;
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["Kelly", "Big Ear"];

    fn asker() -> Asker {
        let usual = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");
        Asker { now: "2026-11-24T14:30:00Z".parse().expect("a time"), zone: Berlin, usual, dates: None }
    }

    fn read(text: &str) -> Option<(String, String, String)> {
        let request = parse_request(text, &asker(), &NAMES)?;
        let when = match request.when.map(|reading| reading.when) {
            Ok(When::Once(at)) => at.with_timezone(&Berlin).format("%a %d %H:%M").to_string(),
            Ok(When::Repeated(repetition)) => repetition.describe(),
            Err(WhenError::Past(_)) => "past".to_owned(),
            Err(WhenError::Missing) => "missing".to_owned(),
            Err(WhenError::Unread(_)) => "left".to_owned(),
            Err(WhenError::Ask(_) | WhenError::AskDate { .. } | WhenError::Unknown(_)) => "asked".to_owned(),
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
            ("remind me every Monday at 8 to water the plants", "me", "water the plants", "every Monday at 08:00"),
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
    fn requests_in_other_languages_are_read() {
        for (text, what, when) in [
            ("erinnere mich morgen um 9 an den Anruf", "den Anruf", "Wed 25 09:00"),
            ("Kelly, bitte erinnere mich in anderthalb Stunden daran, zu gehen", "gehen", "Tue 24 17:00"),
            ("recuérdame mañana a las 9 que pague", "pague", "Wed 25 09:00"),
            ("rappelle-moi demain à 9h de payer", "payer", "Wed 25 09:00"),
            ("ricordami domani alle 9 di pagare", "pagare", "Wed 25 09:00"),
            ("lembra-me amanhã às 9 de pagar", "pagar", "Wed 25 09:00"),
        ] {
            assert_eq!(read(text), Some(("me".to_owned(), what.to_owned(), when.to_owned())), "{text}");
            assert!(begins_request(text, &NAMES), "{text}");
        }
    }

    #[test]
    fn what_is_not_read_whole_is_not_acted_on() {
        for text in
            ["remind me every Monday except holidays to call", "remind me to finish it by Friday", "remind Ann every third Friday to pay"]
        {
            assert_eq!(read(text).expect("a request").2, "left", "{text}");
        }
        assert_eq!(read("remind me on 10/4 to file taxes").expect("a request").2, "asked");
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
            "remind Ann that Friday is off for all",
            "erinnere mich, was wir gestern gesagt haben",
            "Kelly said: remind me tomorrow to call",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_sentence_panics(words in prop::collection::vec(prop::sample::select(vec!["remind", "me", "Ann", "the", "team", "tomorrow", "at", "9", "to", ":", "<user:discord:1>", "please", "every", "Monday", "ß", "@"]), 0..9)) {
            let text = format!("remind {}", words.join(" "));
            drop(parse_request(&text, &asker(), &NAMES));
        }
    }
}
