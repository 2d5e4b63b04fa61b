//! The names by which personas and people are called, and their positions in a sentence.

use std::cell::LazyCell;
use std::cmp::Reverse;

use foldhash::HashSet;
use kernel::chat::message::Author;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::plain_letters;

use crate::features::chat::rules::sentence::{Piece, Sentence, Word, fold};
use crate::features::chat::rules::words::{self, Sense};

/// A shorter name with a typing error is too likely another word.
const SHORTEST_MISSPELT: usize = 5;

/// A shorter beginning of a name is too likely another word.
const SHORTEST_NICKNAME: usize = 3;

/// The names of personas and of people, prepared for searching a text.
pub(crate) struct Names<'a> {
    roster: &'a Roster,
    accounts: &'a Accounts,
    /// Longer ones first, so that "Vince Two" does not match "Vince".
    known: Vec<Name<'a>>,
    /// The first words of all names.
    first: Outline,
    /// The server's people, also those whose names are not in the text, and the author, who is not meant.
    people: &'a [String],
    author: Option<&'a Author>,
}

/// A name in folded words.
struct Name<'a> {
    first: String,
    rest: Vec<String>,
    whom: Whom<'a>,
}

impl<'a> Name<'a> {
    /// Reads the plain letters of a name that may be decorated. None if it has none.
    fn parse(name: &str, whom: Whom<'a>) -> Option<Self> {
        let plain = plain_letters(name);
        let words = plain.split_whitespace().map(|word| fold(word.trim_matches(|c: char| !c.is_alphanumeric())).into_owned());
        let mut words = words.filter(|word| !word.is_empty());
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
        let known = Vec::with_capacity(roster.personas().len() * 3);
        let mut names = Self { roster, accounts, known, first: Outline::default(), people: &[], author: None };
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
        // Somebody's display name may be "You", which as a word is no name.
        let is_pronoun = |name: &Name<'_>| name.whom == Whom::Other && name.rest.is_empty() && words::says(&name.first, Sense::You);
        if let Some(name) = name.filter(|name| !is_taken(name) && !is_pronoun(name)) {
            self.first.add(&name.first);
            self.known.push(name);
        }
    }

    /// Adds the names of the server's people except the author. Prepares only those that occur in the text, because there may be thousands.
    pub(super) fn and_people(mut self, people: &'a [String], author: &'a Author, text: &[Sentence<'_>]) -> Self {
        (self.people, self.author) = (people, Some(author));
        let words = || text.iter().flat_map(Sentence::words).map(|word| &*word.folded);
        let mut outline = Outline::default();
        words().for_each(|word| outline.add(word));
        let said: LazyCell<HashSet<&str>, _> = LazyCell::new(|| words().collect());
        let may_stand = |person: &&String| first_of_ascii(person).is_none_or(|first| outline.may_hold(first)) && !is_of(person, author);
        for whole in people.iter().filter(may_stand).filter_map(|person| Name::parse(person, Whom::Other)) {
            if !said.contains(&*whole.first) {
                continue;
            }
            // People are called by their first name too.
            let first = (!whole.rest.is_empty() && whole.first.chars().count() > 1).then(|| whole.first.clone());
            self.add(Some(whole));
            self.add(first.map(|first| Name { first, rest: Vec::new(), whom: Whom::Other }));
        }
        self.known.sort_by_key(|name| Reverse(name.rest.len()));
        self
    }

    /// Whether a person may be meant: one whose first name fits and is not the name of a persona. Looks at all people, so ask this last.
    fn may_mean_person(&self, fits: impl Fn(&str) -> bool) -> bool {
        let others = self.people.iter().filter(|person| self.author.is_none_or(|author| !is_of(person, author)));
        let mut names = others.filter_map(|person| Name::parse(person, Whom::Other));
        names.any(|name| fits(&name.first) && !self.is_persona(&name.first))
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
                    |rest: &[String]| rest.len() <= after.len() && rest.iter().zip(after).all(|(word, piece)| is_word(piece, word));
                let known = if self.first.may_hold(said.as_bytes()) { self.known.as_slice() } else { &[] };
                let (name, whom) = match known.iter().find(|name| name.first == said && goes_on(&name.rest)) {
                    Some(name) => (1 + name.rest.len(), name.whom),
                    None if sentence.phrase(at, Sense::Team) > 0 => (sentence.phrase(at, Sense::Team), Whom::Team),
                    None => match self.find_misspelt(first, sentence.is_unknown_at(at)) {
                        Some(persona) => (1, Whom::Persona(persona)),
                        // An account whose name is not known.
                        None if first.at && !matches!(&*first.folded, "here" | "everyone") => (1, Whom::Other),
                        None => return None,
                    },
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

    /// The persona whose name a word has with one typing error. `is_unknown`: the word is none that the rules know.
    fn find_misspelt(&self, word: &Word<'_>, is_unknown: bool) -> Option<&'a PersonaSlug> {
        if is_unknown { self.find_with_error(&word.folded, word.capital) } else { None }
    }

    /// The persona whose name a folded word has with one typing error, if there is only one and no person fits too.
    pub(super) fn find_with_error(&self, word: &str, is_capital: bool) -> Option<&'a PersonaSlug> {
        if word.len() + 1 < SHORTEST_MISSPELT {
            return None;
        }
        let is_meant = |name: &&Name<'a>| name.rest.is_empty() && has_one_error(word, &name.first, is_capital);
        let mut meant = self.known.iter().filter(is_meant).filter_map(|name| match name.whom {
            Whom::Persona(slug) => Some(slug),
            Whom::Other | Whom::Team => None,
        });
        let first = meant.next()?;
        let is_clear =
            meant.all(|other| other == first) && !self.may_mean_person(|name| name == word || has_one_error(word, name, is_capital));
        is_clear.then_some(first)
    }

    /// The persona whose name a word begins, if there is only one and no person fits too: "vin".
    pub(super) fn find_shortened(&self, sentence: &Sentence<'_>, at: usize) -> Option<Called<'a>> {
        let Some(Piece::Word(word)) = sentence.pieces.get(at) else { return None };
        if word.quoted || word.folded.len() < SHORTEST_NICKNAME || !sentence.is_unknown_at(at) {
            return None;
        }
        let mut meant = self.known.iter().filter(|name| name.first.starts_with(&*word.folded)).map(|name| name.whom);
        let whom = meant.next().filter(|whom| matches!(whom, Whom::Persona(_)))?;
        let is_clear = meant.all(|other| other == whom) && !self.may_mean_person(|name| name.starts_with(&*word.folded));
        is_clear.then_some(Called { whom, mentioned: false, joined: false, stands_out: false, start: at, end: at + 1, text_end: word.end })
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

/// Whether a person's name is one of the author's.
fn is_of(person: &str, author: &Author) -> bool {
    author.name == person || author.aliases.iter().any(|alias| alias == person)
}

/// The first word of a name. None if it is decorated or not ASCII, so that the caller must fold each letter.
fn first_of_ascii(name: &str) -> Option<&[u8]> {
    let end = name.bytes().position(|byte| !byte.is_ascii_graphic()).unwrap_or(name.len());
    let is_whole = name.as_bytes().get(end).is_none_or(|byte| *byte == b' ');
    let first = &name.as_bytes()[..end];
    let is_plain =
        first.first().zip(first.last()).is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric());
    (is_whole && is_plain).then_some(first)
}

/// Whether a word is a name with one typing error: a letter is missing, doubled, replaced, or in the place of its neighbour. The first letter is
/// nearly always right. A word with a capital and another letter is likely another name ("Vance"), and one with an "s" more is a plural.
fn has_one_error(word: &str, name: &str, is_capital: bool) -> bool {
    // Rules out nearly all words at once.
    let letters = |text: &str| text.chars().next().zip(text.chars().nth(1));
    let begins_alike = letters(word).zip(letters(name)).is_some_and(|((a, b), (c, d))| a == c || (a == d && b == c));
    if !begins_alike {
        return false;
    }
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    if name.len() < SHORTEST_MISSPELT || word.len().abs_diff(name.len()) > 1 {
        return false;
    }
    let same = word.iter().zip(&name).take_while(|(said, meant)| said == meant).count();
    let (word, name) = (&word[same..], &name[same..]);
    match (word, name) {
        ([extra, rest @ ..], _) if rest == name => !(rest.is_empty() && *extra == 's') && same > 0,
        (_, [_, rest @ ..]) if word == rest => same > 0,
        ([a, b, word @ ..], [c, d, name @ ..]) if a == d && b == c => word == name,
        ([_, word @ ..], [_, name @ ..]) => word == name && same > 0 && !is_capital,
        _ => false,
    }
}

fn is_word(piece: &Piece<'_>, word: &str) -> bool {
    matches!(piece, Piece::Word(found) if found.folded == word)
}

#[cfg(test)]
mod tests {
    use kernel::chat::message::AuthorKind;
    use kernel::testing::roster as sample;

    use super::*;
    use crate::features::chat::rules::sentence::sentences;

    /// The persona that Marco Polo greets where these people are: by a short form, or with a typing error.
    fn greeted(text: &str, people: &[&str]) -> Option<String> {
        let personas = ["kelly", "marina"].map(|slug| sample::persona(slug, slug, ""));
        let (roster, accounts) = (Roster::new(personas.into()).unwrap(), Accounts::default());
        let author = Author { id: "9".into(), name: "Marco Polo".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() };
        let people: Vec<String> = people.iter().map(|name| (*name).to_owned()).collect();
        let text = sentences(text);
        let names = Names::of_personas(&roster, &accounts).and_people(&people, &author, &text);
        let called = names.find_called(&text[0], 1).or_else(|| names.find_shortened(&text[0], 1))?;
        called.persona().map(|slug| slug.as_str().to_owned())
    }

    #[test]
    fn a_short_form_or_a_typing_error_calls_nobody_where_a_person_may_be_meant() {
        let marina = Some("marina".to_owned());
        let nobody_alike: [&[&str]; 4] = [&[], &["Bob Miller"], &["Marina Rossi"], &["Marco Polo"]];
        for people in nobody_alike {
            assert_eq!(greeted("hey mar, look", people), marina, "{people:?}");
            assert_eq!(greeted("hey marinna, look", people), marina, "{people:?}");
        }
        assert_eq!(greeted("hey mar, look", &["Bob Miller", "Marco Bianchi"]), None);
        assert_eq!(greeted("hey mar, look", &["🌸 Marius 🌸"]), None);
        assert_eq!(greeted("hey marinna, look", &["Marinne Dubois"]), None);
        assert_eq!(greeted("hey marina, look", &["Marius", "Marinne Dubois"]), marina, "her whole name is clear");
    }
}
