//! What a question asks for: its subject, and the people and the time that it names.

use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::memory::retrieval::words_of;
use crate::memory::search::Recall;
use crate::memory::search::index::{Index, Name};
use crate::memory::search::words::Wanted;
use crate::when::find_range;

/// Words by which a speaker means itself, in the ten most spoken languages. They rank, and keep one person's word from another.
const ONESELF: [&str; 20] =
    ["i", "me", "my", "mine", "ich", "mich", "mein", "je", "moi", "mon", "yo", "mi", "eu", "meu", "я", "мой", "saya", "ami", "我", "私"];

/// Whether both texts speak of their author in the same words: "my birthday".
pub fn speak_of_oneself(one: &str, other: &str) -> bool {
    let other = words_of(other);
    words_of(one).iter().any(|word| ONESELF.contains(&word.as_str()) && other.contains(word))
}

pub(super) struct Question {
    /// None: it names no subject.
    pub(super) wanted: Option<Wanted>,
    /// The people whom it names, and the asker if it says "I".
    pub(super) people: Vec<Name>,
    pub(super) within: Option<Range<DateTime<Utc>>>,
}

impl Question {
    /// The people and times that a question names are hardly its subject, but they can be: "who is Ann's dentist?"
    pub(super) fn parse(asked: &Recall<'_>, index: &Index) -> Self {
        let words = words_of(asked.subject);
        let time = asked.today.and_then(|today| find_range(&words, today));
        let mut people: Vec<Name> = words.iter().flat_map(|word| index.find_people(word)).copied().collect();
        let names = words.iter().filter(|word| !index.find_people(word).is_empty());
        let times = time.as_ref().map_or(0..0, |(_, taken)| taken.clone());
        // The persona that is spoken to is hardly what it is asked about.
        let addressed = asked.persona.map(ToString::to_string);
        let weak: Vec<String> = names.chain(&words[times]).cloned().chain(addressed).collect();
        if let Some(asker) = asked.asker
            && words.iter().any(|word| ONESELF.contains(&word.as_str()))
        {
            people.push(index.find_person(asker.as_str()));
        }
        let within = time.map(|(range, _)| range.since..range.until);
        Self { wanted: Wanted::parse_with(asked.subject, &weak), people, within }
    }

    pub(super) fn names_person(&self, person: Name) -> bool {
        person != 0 && self.people.contains(&person)
    }

    pub(super) fn names_time(&self, at: DateTime<Utc>) -> bool {
        self.within.as_ref().is_some_and(|within| within.contains(&at))
    }
}
