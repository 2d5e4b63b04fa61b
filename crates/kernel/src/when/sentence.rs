//! Finds the time in a sentence whose other words are free text: `remind me tomorrow at 9 to pay the bill`.
//!
//! A time is acted on only if it was read whole. So the words next to it must not belong to a time (`every Monday except holidays`), and no other time
//! in the sentence may belong to it (`tomorrow … at 15:00`).

use std::ops::Range;

use super::grammar;
use super::lexicon::{Sense, Unit, Words};
use super::phrase::{Day, Phrase};
use super::tokens::{Kind, tokenise};
use super::zone::is_area;
use super::{Asker, Language, Reading, WhenError};

/// A time phrase in a text.
struct Found {
    phrase: Phrase,
    tokens: Range<usize>,
}

/// A sentence, cut.
struct Cut<'a> {
    text: &'a str,
    words: &'a Words<'a>,
    found: Vec<Found>,
}

/// Reads `text` if it is a time and nothing else. Hours and days count from now also without "in" if `allows_bare` is set.
pub(super) fn read_all(text: &str, asker: &Asker, allows_bare: bool) -> Result<Reading, WhenError> {
    let unknown = || WhenError::Unknown(text.trim().to_owned());
    let trimmed = text.trim().trim_end_matches(['.', '!', '?', ',', ':']);
    let tokens = tokenise(trimmed);
    let mut read = Language::ALL.iter().filter_map(|language| parse_at(&Words::new(&tokens, *language), 0));
    let found = read.find(|found| found.tokens.end == tokens.len()).ok_or_else(unknown)?;
    if found.phrase.span.is_some_and(|span| !span.introduced && !allows_bare) {
        return Err(unknown());
    }
    found.phrase.resolve(trimmed, asker).map_err(|error| match error {
        WhenError::Unread(_) => unknown(),
        error => error,
    })
}

/// Splits a sentence into its time and the rest of its words.
pub(super) fn split<'a>(text: &'a str, language: Language, asker: &Asker) -> Result<(Reading, &'a str), WhenError> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '!' | '?' | ','));
    let tokens = tokenise(text);
    let words = Words::new(&tokens, language);
    let cut = Cut { text, found: find_all(&words), words: &words };
    let (found, rest) = cut.choose()?;
    Ok((found.phrase.resolve(cut.text_of(found), asker)?, &text[rest]))
}

pub(super) fn begins_with_time(text: &str, language: Language) -> bool {
    let tokens = tokenise(text);
    let words = Words::new(&tokens, language);
    // "every third Friday" is no time that is read, and no name either.
    let is_word_of_time = words.meanings(0).iter().any(|(meaning, _)| !meaning.weak && is_strong(meaning.sense));
    is_word_of_time || parse_at(&words, 0).is_some_and(|found| is_introduced(&found.phrase))
}

pub(super) fn begins_with_joint(text: &str, language: Language) -> bool {
    Words::new(&tokenise(text), language).can_mean(0, |sense| sense == Sense::Joint)
}

fn is_introduced(phrase: &Phrase) -> bool {
    phrase.span.is_none_or(|span| span.introduced)
}

fn parse_at(words: &Words<'_>, start: usize) -> Option<Found> {
    let (phrase, end) = grammar::parse(words, start)?;
    Some(Found { phrase, tokens: start..end })
}

/// The times of a text, from left to right.
fn find_all(words: &Words<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while let Some(token) = words.tokens.get(at) {
        // Not the `pm` of a `5pm` that was no time.
        let begins_word = !token.glued || token.kind != Kind::Word || words.tokens[at - 1].kind == Kind::Mark;
        match parse_at(words, at).filter(|found| begins_word && is_introduced(&found.phrase)) {
            Some(next) => {
                at = next.tokens.end;
                found.push(next);
            }
            None => at += 1,
        }
    }
    found
}

impl Cut<'_> {
    /// The time that is meant, and the part of the text that it leaves.
    fn choose(&self) -> Result<(&Found, Range<usize>), WhenError> {
        let last = self.words.tokens.len();
        let front = self.found.first().filter(|found| found.tokens.start == 0);
        let end = self.found.last().filter(|found| found.tokens.end == last && !(found.phrase.weak && found.tokens.start > 0));
        let unread = |found: &Found| WhenError::Unread(self.text_of(found).to_owned());
        // "two hours before the meeting on Friday"
        if parse_at(self.words, 0).is_some_and(|found| !is_introduced(&found.phrase)) {
            return Err(WhenError::Unread(self.text.to_owned()));
        }
        if let Some(front) = front
            && (!front.phrase.weak || self.is_joined(front))
            && (!self.may_be_text(front) || self.is_joined(front) || self.is_comma(front.tokens.end))
        {
            let rest = self.after(front);
            // The second time belongs to the text, unless it completes the first one.
            let completes = end.is_some_and(|end| front.tokens != end.tokens && are_parts_of_one(&front.phrase, &end.phrase));
            let is_alone = self.found.len() == 1 || front.tokens.end == last;
            if completes || self.goes_on_after(front) || self.asks_twice(front) || !(is_alone || self.is_joined(front)) {
                return Err(unread(front));
            }
            return Ok((front, rest));
        }
        if let Some(end) = end {
            let others = self.found.iter().filter(|found| found.tokens.end <= end.tokens.start);
            let touches = |other: &Found| other.tokens.end == end.tokens.start;
            if self.goes_on_before(end) || others.into_iter().any(|other| touches(other) || self.competes(other)) {
                return Err(unread(end));
            }
            return Ok((end, self.before(end)));
        }
        let strong = self.found.iter().any(|found| !found.phrase.weak) || self.speaks_of_time();
        if strong { Err(WhenError::Unread(self.text.to_owned())) } else { Err(WhenError::Missing) }
    }

    fn text_of(&self, found: &Found) -> &str {
        &self.text[self.words.tokens[found.tokens.start].span.start..self.words.tokens[found.tokens.end - 1].span.end]
    }

    fn after(&self, found: &Found) -> Range<usize> {
        self.without_joint(found.tokens.end..self.words.tokens.len())
    }

    fn before(&self, found: &Found) -> Range<usize> {
        self.without_joint(0..found.tokens.start)
    }

    /// The text of some tokens, without those that join it to the time: `to`, `daran, `.
    fn without_joint(&self, tokens: Range<usize>) -> Range<usize> {
        let joint = |at: usize| {
            let found = self.words.meanings(at).iter().find(|(meaning, _)| meaning.sense == Sense::Joint);
            found.map_or(0, |(_, length)| *length)
        };
        let mut begin = tokens.start + joint(tokens.start);
        // "daran, zu gehen"
        if self.words.tokens.get(begin).is_some_and(|token| token.is_mark(',')) {
            begin += 1;
            begin += joint(begin);
        }
        let end = (begin..tokens.end).rev().find(|at| !['.', '!', ','].iter().any(|mark| self.words.tokens[*at].is_mark(*mark)));
        match end {
            Some(end) => self.words.tokens[begin].span.start..self.words.tokens[end].span.end,
            None => 0..0,
        }
    }

    fn is_joined(&self, found: &Found) -> bool {
        let at = found.tokens.end + usize::from(self.is_comma(found.tokens.end));
        self.words.can_mean(at, |sense| sense == Sense::Joint)
    }

    fn is_comma(&self, at: usize) -> bool {
        self.words.tokens.get(at).is_some_and(|token| token.is_mark(','))
    }

    fn is_number(&self, at: usize) -> bool {
        let in_digits = self.words.tokens.get(at).is_some_and(|token| token.kind == Kind::Numeral);
        in_digits || self.words.can_mean(at, |sense| matches!(sense, Sense::Number(_)))
    }

    /// Whether a time at the front may belong to the next word: "the 2nd floor", "weekly report".
    fn may_be_text(&self, found: &Found) -> bool {
        let Phrase { day, clock, part, .. } = &found.phrase;
        let is_ordinal = matches!(day, Some(Day::OfMonth(_, None))) && clock.is_none() && part.is_none();
        is_ordinal || found.tokens.len() == 1 && self.words.can_mean(found.tokens.start, |sense| matches!(sense, Sense::Often(_)))
    }

    /// Whether more of the time follows than was read.
    fn goes_on_after(&self, found: &Found) -> bool {
        let mut at = found.tokens.end;
        let is_unread = self.words.can_mean(at, |sense| sense == Sense::Unread);
        // "at 10 to 12 people"
        let is_range = found.phrase.clock.is_some() && self.words.can_mean(at, |sense| sense == Sense::To) && self.is_number(at + 1);
        if self.is_joined(found) && !is_unread {
            return is_range;
        }
        while self.is_comma(at) || self.words.can_mean(at, |sense| sense == Sense::And) {
            at += 1;
        }
        let Some(next) = self.words.tokens.get(at) else { return false };
        // "at 9 for 2 hours", but not "at 9 for the call"
        let lasts = self.words.can_mean(at, |sense| sense == Sense::For)
            && (at + 1..at + 3).any(|at| self.is_number(at) || self.words.can_mean(at, |sense| matches!(sense, Sense::Unit(_))));
        let names_zone = found.phrase.clock.is_some() && self.names_zone(at);
        lasts || names_zone || self.is_number(at) || next.glued && next.is_mark('-') || self.words.can_mean(at, belongs_to_time)
    }

    /// Whether a zone follows that is not known: `IST`, `cst`, `Asia/Nowhere`, `Mars time`.
    fn names_zone(&self, at: usize) -> bool {
        let token = &self.words.tokens[at];
        let word = &self.text[token.span.clone()];
        let is_abbreviation = (2..=5).contains(&word.len()) && word.chars().all(|c| c.is_ascii_uppercase());
        let is_glued = |at: usize, mark: char| self.words.tokens.get(at).is_some_and(|token| token.glued && token.is_mark(mark));
        let is_full_name = is_glued(at + 1, '/') && is_area(&token.text);
        // A name with hyphens is one word: "Stratford-upon-Avon time".
        let mut next = at + 1;
        while is_glued(next, '-') {
            next += 2;
        }
        is_abbreviation
            || is_full_name
            || self.words.can_mean(at, |sense| sense == Sense::UnknownZone)
            || (next..next + 3).any(|at| self.words.can_mean(at, |sense| sense == Sense::ZoneTime))
    }

    fn goes_on_before(&self, found: &Found) -> bool {
        let Some(before) = found.tokens.start.checked_sub(1) else { return false };
        // A phrase of several words may end here.
        let is_part = |start: usize| {
            let mut meanings = self.words.meanings(start).iter().filter(|(_, length)| start + length == before + 1);
            meanings.any(|(meaning, _)| dangles(meaning.sense) || !meaning.weak && is_strong(meaning.sense))
        };
        let token = &self.words.tokens[before];
        (0..=before).rev().take(3).any(is_part) || token.kind == Kind::Numeral && token.integer().is_none()
    }

    /// Whether the sentence asks for a second reminder: "… and on Friday to call Ann".
    fn asks_twice(&self, first: &Found) -> bool {
        self.found.iter().any(|found| {
            let before = found.tokens.start.checked_sub(1);
            let is_added = before.is_some_and(|before| self.words.can_mean(before, |sense| sense == Sense::And));
            found.tokens != first.tokens && is_added && (self.is_joined(found) || found.tokens.end == self.words.tokens.len())
        })
    }

    /// Whether a time in the middle may be the one that is meant, and not a part of the text such as "the Monday report".
    fn competes(&self, other: &Found) -> bool {
        let introduces = |sense| matches!(sense, Sense::On | Sense::At | Sense::In | Sense::Every | Sense::Day(_));
        self.words.can_mean(other.tokens.start, introduces) && !other.phrase.weak
    }

    /// Whether a word speaks of a time although no phrase was read.
    fn speaks_of_time(&self) -> bool {
        let mut meanings = (0..self.words.tokens.len()).flat_map(|at| self.words.meanings(at));
        meanings.any(|(meaning, _)| !meaning.weak && meaning.sense != Sense::Unread && is_strong(meaning.sense))
    }
}

/// Whether two phrases make one time together: a day without a time of day, and a time of day without a day.
fn are_parts_of_one(first: &Phrase, second: &Phrase) -> bool {
    let has_day = |phrase: &Phrase| phrase.day.is_some() || phrase.every.is_some() || phrase.span.is_some();
    let has_clock = |phrase: &Phrase| phrase.clock.is_some() || phrase.part.is_some() || phrase.span.is_some_and(|span| span.seconds > 0);
    let fits = |day: &Phrase, clock: &Phrase| has_day(day) && !has_clock(day) && has_clock(clock) && !has_day(clock);
    let repeats = first.every.is_none() && second.every.is_some() && second.day.is_none() && second.clock.is_none();
    fits(first, second) || fits(second, first) || repeats
}

/// Whether a word after a time belongs to it.
fn belongs_to_time(sense: Sense) -> bool {
    is_strong(sense)
        || matches!(
            sense,
            Sense::Number(_)
                | Sense::Portion(_)
                | Sense::Ordinal(_)
                | Sense::Until
                | Sense::From
                | Sense::At
                | Sense::In
                | Sense::On
                | Sense::About
                | Sense::Zone(_)
                | Sense::Am
                | Sense::Pm
                | Sense::ZoneTime
                | Sense::Last
        )
}

fn is_strong(sense: Sense) -> bool {
    matches!(
        sense,
        Sense::Unit(Unit::Minute | Unit::Hour | Unit::Day | Unit::Week | Unit::Month | Unit::Year | Unit::Fortnight)
            | Sense::Day(_)
            | Sense::Today(_)
            | Sense::Weekday(_)
            | Sense::Weekdays(_)
            | Sense::Workday
            | Sense::Workdays
            | Sense::Weekend
            | Sense::Weekends
            | Sense::Every
            | Sense::Often(_)
            | Sense::NextWeek
            | Sense::Noon
            | Sense::Midnight
            | Sense::Oclock
            | Sense::Unread
    )
}

/// Whether a word before a time belongs to it, so that the text would end with half of it: "by Friday", "from Monday".
fn dangles(sense: Sense) -> bool {
    matches!(
        sense,
        Sense::And
            | Sense::For
            | Sense::From
            | Sense::Until
            | Sense::Of
            | Sense::Every
            | Sense::About
            | Sense::Joint
            | Sense::Ordinal(_)
            | Sense::Next
            | Sense::Last
            | Sense::Through
    )
}
