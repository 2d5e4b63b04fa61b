//! Reads a time phrase at one place of a text, as far as it goes.
//!
//! A phrase is a row of parts in any order, because languages order them differently: day, clock, part of the day, zone, span, repetition, end. Each
//! part occurs once. Where a part does not fit, the phrase ends; [`sentence`](super::sentence) then decides whether what follows belongs to a time.

mod clock;
mod day;
mod every;
mod span;
mod zone;

use super::Language;
use super::lexicon::{Sense, Unit, Words};
use super::phrase::{Day, Every, Half, Phrase};
use super::tokens::Token;

/// A place in the tokens.
pub(super) struct Parser<'a> {
    words: &'a Words<'a>,
    at: usize,
    /// Whether a word was used that may mean something else.
    weak: bool,
}

/// The phrase that begins at the token `start`, and the token after it.
pub(super) fn parse(words: &Words<'_>, start: usize) -> Option<(Phrase, usize)> {
    let mut parser = Parser { words, at: start, weak: false };
    let mut phrase = Phrase::default();
    let mut whole = None;
    let mut parts = 0;
    while parser.attempt(|parser| parser.part(&mut phrase)).is_some() {
        parts += 1;
        parser.is(Sense::OrSo);
        if is_whole(&phrase) {
            let weak = parser.weak && parts == 1 && parser.at == start + 1;
            whole = Some((Phrase { weak, ..phrase.clone() }, parser.at));
        }
    }
    whole
}

/// Whether the parts make a time together.
fn is_whole(phrase: &Phrase) -> bool {
    let repeats = phrase.every.is_some();
    let counts_days = phrase.span.is_some_and(|span| span.seconds == 0);
    let has_day = phrase.day.is_some() || repeats || counts_days;
    (phrase.until.is_none() && phrase.from.is_none() || repeats)
        && (phrase.zone.is_none() || phrase.clock.is_some())
        && !(phrase.span.is_some() && (phrase.day.is_some() || repeats))
        && !(phrase.span.is_some() && !counts_days && (phrase.clock.is_some() || phrase.part.is_some()))
        && !(repeats && phrase.day.is_some())
        && (has_day || phrase.clock.is_some() || phrase.part.is_some() || phrase.span.is_some())
        // A clock repeats only from day to day.
        && !(phrase.clock.is_some() && phrase.every.as_ref().is_some_and(is_below_a_day))
        && !(phrase.part.is_some() && phrase.every.as_ref().is_some_and(is_below_a_day))
}

fn is_below_a_day(every: &Every) -> bool {
    matches!(every, Every::Units(_, Unit::Second | Unit::Minute | Unit::Hour))
}

impl<'a> Parser<'a> {
    /// Reads one more part of the phrase.
    fn part(&mut self, phrase: &mut Phrase) -> Option<()> {
        if *phrase != Phrase::default() {
            self.comma();
        }
        let repeats = phrase.every.is_some();
        let has_day = phrase.day.is_some() || repeats;
        let has_more = has_day || phrase.clock.is_some() || phrase.span.is_some();
        let has_part = phrase.part.is_some();
        let has_clock = phrase.clock.is_some_and(|clock| clock.half != Half::Midnight);
        let found = self.attempt(|parser| parser.every(phrase)).is_some()
            || self.fill(&mut phrase.until, Self::until)
            || repeats && self.fill(&mut phrase.from, Self::from)
            || self.fill(&mut phrase.span, Self::span)
            || has_day && self.fill(&mut phrase.clock, |parser| parser.clock(true))
            || phrase.day.is_none() && self.attempt(|parser| parser.add_day(phrase)).is_some()
            || self.fill(&mut phrase.part, |parser| parser.part_of_day(has_more))
            || self.attempt(|parser| parser.part_of_today(phrase)).is_some()
            || self.fill(&mut phrase.clock, |parser| parser.clock(has_part))
            || has_clock && (self.is(Sense::LocalTime) || self.fill(&mut phrase.zone, Self::zone));
        found.then_some(())
    }

    /// Reads a part that is not known yet.
    fn fill<T>(&mut self, part: &mut Option<T>, read: impl FnOnce(&mut Self) -> Option<T>) -> bool {
        if part.is_some() {
            return false;
        }
        *part = self.attempt(read);
        part.is_some()
    }

    /// `tonight`.
    fn part_of_today(&mut self, phrase: &mut Phrase) -> Option<()> {
        let part = self.sense(|sense| match sense {
            Sense::Today(part) => Some(part),
            _ => None,
        })?;
        (phrase.day.is_none() && phrase.part.is_none()).then(|| (phrase.day, phrase.part) = (Some(Day::Away(0)), Some(part)))
    }

    /// The next word in one of its meanings.
    fn sense<T>(&mut self, wanted: impl Fn(Sense) -> Option<T>) -> Option<T> {
        let mut meanings = self.words.meanings(self.at).iter();
        let (value, weak, length) = meanings.find_map(|(meaning, length)| Some((wanted(meaning.sense)?, meaning.weak, *length)))?;
        self.at += length;
        self.weak |= weak;
        Some(value)
    }

    fn is(&mut self, sense: Sense) -> bool {
        self.sense(|found| (found == sense).then_some(())).is_some()
    }

    /// A parser of what follows, whose steps leave this one where it is.
    fn ahead(&self) -> Self {
        Self { words: self.words, at: self.at, weak: false }
    }

    /// Whether `10/4` is the tenth of April. In English it may be either.
    fn day_first(&self) -> bool {
        self.words.language != Language::English
    }

    /// Whether the next words can mean this.
    fn sees(&self, is_meant: impl Fn(Sense) -> bool) -> bool {
        self.words.can_mean(self.at, is_meant)
    }

    /// Goes back to where it began if nothing is found.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, weak) = (self.at, self.weak);
        let read = read(self);
        if read.is_none() {
            (self.at, self.weak) = (at, weak);
        }
        read
    }

    fn peek(&self) -> Option<&'a Token> {
        self.words.tokens.get(self.at)
    }

    fn mark(&mut self, mark: char) -> bool {
        let found = self.peek().is_some_and(|token| token.is_mark(mark));
        self.at += usize::from(found);
        found
    }

    fn comma(&mut self) {
        self.mark(',');
    }

    /// A numeral without separators.
    fn integer(&mut self) -> Option<u32> {
        let number = self.peek()?.integer()?;
        self.at += 1;
        Some(number)
    }

    /// A number in digits or in words.
    fn number(&mut self) -> Option<u32> {
        self.integer().or_else(|| self.number_in_words())
    }

    fn number_in_words(&mut self) -> Option<u32> {
        self.sense(|sense| match sense {
            Sense::Number(number) => Some(number),
            _ => None,
        })
    }

    /// `3rd`, `3.`, `third`.
    fn ordinal(&mut self) -> Option<u32> {
        let token = self.peek()?;
        if let Some(number) = token.integer() {
            let suffix = self.words.tokens.get(self.at + 1).filter(|next| next.glued);
            let has_suffix = suffix.is_some_and(|suffix| ["st", "nd", "rd", "th", "er", "e", "o", "a"].contains(&suffix.text.as_str()));
            if !has_suffix && !token.text.ends_with('.') {
                return None;
            }
            self.at += 1 + usize::from(has_suffix);
            return Some(number);
        }
        self.sense(|sense| match sense {
            Sense::Ordinal(number) => Some(number),
            _ => None,
        })
    }

    /// Whether the text ends here, or the words begin that the time belongs to.
    fn ends(&self) -> bool {
        let rest = &self.words.tokens[self.at..];
        rest.iter().all(|token| token.is_mark('.') || token.is_mark('!') || token.is_mark('?')) || self.sees(|sense| sense == Sense::Joint)
    }
}
