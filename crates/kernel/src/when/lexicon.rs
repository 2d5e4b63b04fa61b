//! The words of time of each language: one file each in `lexicon/`.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::Weekday;
use chrono_tz::Tz;

use super::tokens::{Token, tokenise};

/// What a word can mean in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// The article: one hour, but never one o'clock.
    A,
    Number(u32),
    /// Hundredths: a half is 50.
    Portion(u32),
    /// A word for a number of minutes: `Viertelstunde`.
    Minutes(u32),
    Unit(Unit),
    /// Days from today.
    Day(i64),
    Part(Part),
    /// A part of today: `tonight`.
    Today(Part),
    Weekday(Weekday),
    /// On each such day: `Mondays`.
    Weekdays(Weekday),
    Workday,
    Workdays,
    Weekend,
    Weekends,
    Month(u32),
    Ordinal(u32),
    Last,
    Noon,
    Midnight,
    At,
    /// `a la una`, where the number is an article.
    AtOne,
    On,
    In,
    Of,
    The,
    Oclock,
    Am,
    Pm,
    Past,
    To,
    /// Half an hour before the hour: `halb sechs`.
    HalfTo,
    And,
    Every,
    Other,
    Often(Unit),
    Next,
    NextWeek,
    This,
    Coming,
    Until,
    From,
    For,
    /// From one day to another: `Monday to Friday`.
    Through,
    About,
    OrSo,
    /// Makes a span of what is before it: `2 hours from now`.
    Later,
    Zone(Tz),
    /// An abbreviation that several zones have, or one without a known zone: `CST`.
    UnknownZone,
    /// `time` in `Berlin time`.
    ZoneTime,
    LocalTime,
    Since,
    During,
    /// `past` in `past two weeks`: back from now.
    Recent,
    Overnight,
    LastNight,
    Few(u32),
    /// Joins a time to the text of a reminder.
    Joint,
    /// Belongs to a time that this module cannot read: `except`, `twice`.
    Unread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
}

#[derive(Debug)]
struct Lexicon {
    phrases: HashMap<String, Vec<Meaning>>,
    /// Number of tokens of the longest phrase.
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    pub sense: Sense,
    /// An everyday word too: `sat`, `may`. It counts only in the company of others.
    pub weak: bool,
}

/// A language that times are read in. A text that reads the same in several of them is read in the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    German,
    Spanish,
    French,
    Italian,
    Portuguese,
}

const FILES: [&str; 6] = [
    include_str!("lexicon/en.txt"),
    include_str!("lexicon/de.txt"),
    include_str!("lexicon/es.txt"),
    include_str!("lexicon/fr.txt"),
    include_str!("lexicon/it.txt"),
    include_str!("lexicon/pt.txt"),
];

impl Language {
    pub const ALL: [Self; 6] = [Self::English, Self::German, Self::Spanish, Self::French, Self::Italian, Self::Portuguese];

    fn lexicon(self) -> &'static Lexicon {
        static LEXICONS: LazyLock<[Lexicon; 6]> = LazyLock::new(|| FILES.map(Lexicon::parse));
        let lexicons: &'static [Lexicon; 6] = &LEXICONS;
        &lexicons[self as usize]
    }
}

/// Abbreviations of time zones. Those with several meanings (`CST`) are unknown zones. `ist` is a word in German, so it is in the English file.
const ZONES: &str = include_str!("lexicon/zones.txt");

impl Lexicon {
    /// Each line has a sense and, after a colon, its phrases: `weekday 1: monday, ?mon`. A question mark makes a phrase weak.
    fn parse(file: &str) -> Self {
        let mut lexicon = Self { phrases: HashMap::new(), longest: 1 };
        for line in file.lines().chain(ZONES.lines()).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (sense, phrases) = line.split_once(':').unwrap_or_else(|| panic!("a line without a colon: {line}"));
            let sense = parse_sense(sense).unwrap_or_else(|| panic!("an unknown sense: {line}"));
            for phrase in phrases.split(',').map(str::trim) {
                let weak = phrase.starts_with('?');
                let tokens = tokenise(phrase.trim_start_matches('?'));
                lexicon.longest = lexicon.longest.max(tokens.len());
                lexicon.phrases.entry(key(&tokens)).or_default().push(Meaning { sense, weak });
            }
        }
        lexicon
    }

    /// What the tokens at the beginning can mean, the longest phrase first, with its length.
    fn meanings(&self, tokens: &[Token]) -> Vec<(Meaning, usize)> {
        let lengths = (1..=self.longest.min(tokens.len())).rev();
        let found = lengths.flat_map(|length| {
            let found = self.phrases.get(&key(&tokens[..length])).into_iter().flatten();
            found.map(move |meaning| (*meaning, length))
        });
        found.collect()
    }
}

/// Tokens with all that they can mean in a language.
#[derive(Debug)]
pub(super) struct Words<'a> {
    pub language: Language,
    pub tokens: &'a [Token],
    meanings: Vec<Vec<(Meaning, usize)>>,
}

impl<'a> Words<'a> {
    pub(super) fn new(tokens: &'a [Token], language: Language) -> Self {
        let lexicon = language.lexicon();
        Self { language, tokens, meanings: (0..tokens.len()).map(|at| lexicon.meanings(&tokens[at..])).collect() }
    }

    /// What the words from `at` on can mean, the longest phrase first, with its length.
    pub(super) fn meanings(&self, at: usize) -> &[(Meaning, usize)] {
        self.meanings.get(at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn can_mean(&self, at: usize, is_meant: impl Fn(Sense) -> bool) -> bool {
        self.meanings(at).iter().any(|(meaning, _)| is_meant(meaning.sense))
    }
}

fn key(tokens: &[Token]) -> String {
    match tokens {
        [token] => token.text.clone(),
        tokens => tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" "),
    }
}

fn parse_sense(text: &str) -> Option<Sense> {
    let (name, value) = text.split_once(' ').unwrap_or((text, ""));
    let number = || value.parse::<u32>().ok();
    let weekday = || Weekday::try_from(u8::try_from(number()? - 1).ok()?).ok();
    Some(match name {
        "a" => Sense::A,
        "number" => Sense::Number(number()?),
        "portion" => Sense::Portion(number()?),
        "minutes" => Sense::Minutes(number()?),
        "unit" => Sense::Unit(parse_unit(value)?),
        "day" => Sense::Day(value.parse().ok()?),
        "part" => Sense::Part(parse_part(value)?),
        "today" => Sense::Today(parse_part(value)?),
        "weekday" => Sense::Weekday(weekday()?),
        "weekdays" => Sense::Weekdays(weekday()?),
        "workday" => Sense::Workday,
        "workdays" => Sense::Workdays,
        "weekend" => Sense::Weekend,
        "weekends" => Sense::Weekends,
        "month" => Sense::Month(number()?),
        "ordinal" => Sense::Ordinal(number()?),
        "last" => Sense::Last,
        "noon" => Sense::Noon,
        "midnight" => Sense::Midnight,
        "at" => Sense::At,
        "at_one" => Sense::AtOne,
        "on" => Sense::On,
        "in" => Sense::In,
        "of" => Sense::Of,
        "the" => Sense::The,
        "oclock" => Sense::Oclock,
        "am" => Sense::Am,
        "pm" => Sense::Pm,
        "past" => Sense::Past,
        "to" => Sense::To,
        "half_to" => Sense::HalfTo,
        "and" => Sense::And,
        "every" => Sense::Every,
        "other" => Sense::Other,
        "often" => Sense::Often(parse_unit(value)?),
        "next" => Sense::Next,
        "next_week" => Sense::NextWeek,
        "this" => Sense::This,
        "coming" => Sense::Coming,
        "until" => Sense::Until,
        "from" => Sense::From,
        "for" => Sense::For,
        "through" => Sense::Through,
        "about" => Sense::About,
        "or_so" => Sense::OrSo,
        "later" => Sense::Later,
        "zone" => Sense::Zone(value.parse().ok()?),
        "unknown_zone" => Sense::UnknownZone,
        "zone_time" => Sense::ZoneTime,
        "local_time" => Sense::LocalTime,
        "since" => Sense::Since,
        "during" => Sense::During,
        "recent" => Sense::Recent,
        "overnight" => Sense::Overnight,
        "last_night" => Sense::LastNight,
        "few" => Sense::Few(number()?),
        "joint" => Sense::Joint,
        "unread" => Sense::Unread,
        _ => return None,
    })
}

fn parse_part(text: &str) -> Option<Part> {
    Some(match text {
        "morning" => Part::Morning,
        "afternoon" => Part::Afternoon,
        "evening" => Part::Evening,
        "night" => Part::Night,
        _ => return None,
    })
}

fn parse_unit(text: &str) -> Option<Unit> {
    Some(match text {
        "second" => Unit::Second,
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "fortnight" => Unit::Fortnight,
        "month" => Unit::Month,
        "quarter" => Unit::Quarter,
        "year" => Unit::Year,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        for language in Language::ALL {
            assert!(language.lexicon().phrases.len() > 100, "{language:?}");
        }
    }
}
