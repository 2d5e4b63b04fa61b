//! The names by which personas and people are called, and their positions in a sentence.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::cmp::Reverse;

use foldhash::HashSet;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};

use crate::features::chat::rules::sentence::{Piece, Sentence, fold};
use crate::features::chat::rules::words::Sense;

/// The names of personas and of people, prepared for searching a text.
pub(crate) struct Names<'a> {
    roster: &'a Roster,
    accounts: &'a Accounts,
    /// Longer ones first, so that "Vince Two" does not match "Vince".
    known: Vec<Name<'a>>,
    /// The first words of all names.
    first: Outline,
}

/// A name in folded words.
struct Name<'a> {
    first: Cow<'a, str>,
    rest: Vec<Cow<'a, str>>,
    whom: Whom<'a>,
}

impl<'a> Name<'a> {
    fn parse(name: &'a str, whom: Whom<'a>) -> Option<Self> {
        let mut words = name.split_whitespace().map(fold);
        Some(Self { first: words.next()?, rest: words.collect(), whom })
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.first).chain(self.rest.iter().map(|word| &**word))
    }
}

/// A quick check whether a word may be in a set, by its first letter and length. It rules out most other words at once.
#[derive(Default)]
struct Outline([u32; 32]);

impl Outline {
    /// Small and capital letters have the same place.
    fn place(word: &[u8]) -> (usize, u32) {
        let first = word.first().map_or(0, |byte| usize::from(byte % 32));
        (first, 1 << word.len().min(31))
    }

    fn add(&mut self, word: &str) {
        let (first, length) = Self::place(word.as_bytes());
        self.0[first] |= length;
    }

    fn may_hold(&self, word: &[u8]) -> bool {
        let (first, length) = Self::place(word);
        self.0[first] & length != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom<'a> {
    Persona(&'a PersonaSlug),
    /// Somebody who is not on the team.
    Other,
    Team,
}

/// A name or mention in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called<'a> {
    pub(super) whom: Whom<'a>,
    pub(super) mentioned: bool,
    /// "And" stands before the name.
    pub(super) joined: bool,
    /// The name is in bold or has a title, so it stands out as an address.
    pub(super) stands_out: bool,
    /// The range of pieces that the name takes, including a title behind it.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The position in the text after the name.
    pub(super) text_end: usize,
}

impl<'a> Called<'a> {
    pub(super) fn persona(&self) -> Option<&'a PersonaSlug> {
        match self.whom {
            Whom::Persona(slug) => Some(slug),
            Whom::Other | Whom::Team => None,
        }
    }
}

impl<'a> Names<'a> {
    pub(crate) fn of_personas(roster: &'a Roster, accounts: &'a Accounts) -> Self {
        let mut names = Self { roster, accounts, known: Vec::with_capacity(roster.personas().len() * 3), first: Outline::default() };
        for persona in roster.personas() {
            let own = [persona.name.as_str(), persona.slug.as_str()].into_iter().chain(persona.aliases.iter().map(String::as_str));
            own.for_each(|name| names.add(Name::parse(name, Whom::Persona(&persona.slug))));
        }
        for (slug, nickname) in accounts.nicknames() {
            if let Some(persona) = roster.find(slug) {
                names.add(Name::parse(nickname, Whom::Persona(&persona.slug)));
            }
        }
        names.known.sort_by_key(|name| Reverse(name.rest.len()));
        names
    }

    /// A name that is already known keeps its first owner.
    fn add(&mut self, name: Option<Name<'a>>) {
        let is_taken = |name: &Name<'_>| {
            self.first.may_hold(name.first.as_bytes())
                && self.known.iter().any(|taken| taken.first == name.first && taken.rest == name.rest)
        };
        if let Some(name) = name.filter(|name| !is_taken(name)) {
            self.first.add(&name.first);
            self.known.push(name);
        }
    }

    /// Adds the names of the server's people. Prepares only those that occur in the text, because there may be thousands.
    pub(super) fn and_people(mut self, people: &'a [String], text: &[Sentence<'_>]) -> Self {
        let words = || text.iter().flat_map(Sentence::words).map(|word| &*word.folded);
        let mut outline = Outline::default();
        words().for_each(|word| outline.add(word));
        let said: LazyCell<HashSet<&str>, _> = LazyCell::new(|| words().collect());
        let stands_in_text = |person: &&String| {
            let may_stand = first_of_ascii(person).is_none_or(|first| outline.may_hold(first));
            may_stand && person.split_whitespace().next().is_some_and(|first| said.contains(&*fold(first)))
        };
        for person in people.iter().filter(|person| stands_in_text(person)) {
            let whole = Name::parse(person, Whom::Other);
            // People are called by their first name too.
            let first = whole.as_ref().filter(|name| !name.rest.is_empty() && name.first.chars().count() > 1);
            let first = first.map(|name| Name { first: name.first.clone(), rest: Vec::new(), whom: Whom::Other });
            self.add(whole);
            self.add(first);
        }
        self.known.sort_by_key(|name| Reverse(name.rest.len()));
        self
    }

    /// Whether a word is a name of a persona.
    pub(super) fn is_persona(&self, word: &str) -> bool {
        self.known.iter().any(|name| matches!(name.whom, Whom::Persona(_)) && name.rest.is_empty() && name.first == word)
    }

    /// Whether a word is a name of anybody.
    pub(super) fn is_name(&self, word: &str) -> bool {
        self.known.iter().any(|name| name.words().any(|part| part == word))
    }

    /// The name or mention that begins at a piece.
    pub(super) fn find_called(&self, sentence: &Sentence<'_>, at: usize) -> Option<Called<'a>> {
        let pieces = &sentence.pieces;
        match pieces.get(at)? {
            Piece::Mention { account, end } => {
                let persona = self.accounts.find(account).and_then(|slug| self.roster.find(slug));
                let whom = persona.map_or(Whom::Other, |persona| Whom::Persona(&persona.slug));
                Some(Called { whom, mentioned: true, joined: false, stands_out: false, start: at, end: at + 1, text_end: *end })
            }
            Piece::Word(first) if first.quoted => None,
            Piece::Word(first) => {
                let (said, after) = (&*first.folded, &pieces[at + 1..]);
                let goes_on =
                    |rest: &[Cow<'_, str>]| rest.len() <= after.len() && rest.iter().zip(after).all(|(word, piece)| is_word(piece, word));
                let known = if self.first.may_hold(said.as_bytes()) { self.known.as_slice() } else { &[] };
                let (name, whom) = match known.iter().find(|name| name.first == said && goes_on(&name.rest)) {
                    Some(name) => (1 + name.rest.len(), name.whom),
                    None if sentence.phrase(at, Sense::Team) > 0 => (sentence.phrase(at, Sense::Team), Whom::Team),
                    // An account whose name is not known.
                    None if first.at && !matches!(&*first.folded, "here" | "everyone") => (1, Whom::Other),
                    None => return None,
                };
                let title = sentence.phrase(at + name, Sense::Title);
                let end = at + name + title;
                let text_end = pieces[..end].iter().rev().find_map(|piece| match piece {
                    Piece::Word(word) => Some(word.end),
                    _ => None,
                });
                let stands_out = first.emphasised || title > 0;
                Some(Called { whom, mentioned: first.at, joined: false, stands_out, start: at, end, text_end: text_end? })
            }
            Piece::Comma | Piece::Pause | Piece::Other(_) => None,
        }
    }

    /// All names and mentions of a sentence.
    pub(super) fn list_called(&self, sentence: &Sentence<'_>) -> Vec<Called<'a>> {
        let mut called = Vec::new();
        let mut at = 0;
        while at < sentence.pieces.len() {
            match self.find_called(sentence, at) {
                Some(found) => {
                    at = found.end;
                    called.push(found);
                }
                None => at += 1,
            }
        }
        called
    }
}

/// The first word of a name. None if it is not ASCII, so that the caller must fold it letter by letter.
fn first_of_ascii(name: &str) -> Option<&[u8]> {
    let end = name.bytes().position(|byte| !byte.is_ascii_graphic()).unwrap_or(name.len());
    let is_whole = name.as_bytes().get(end).is_none_or(|byte| *byte == b' ');
    (is_whole && end > 0).then(|| &name.as_bytes()[..end])
}

fn is_word(piece: &Piece<'_>, word: &str) -> bool {
    matches!(piece, Piece::Word(found) if found.folded == word)
}
