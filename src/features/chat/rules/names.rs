//! The names by which personas and people are called, and where they stand in a sentence.

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
    /// The folded words of each name. Longer ones first, so that "Vince Two" does not match "Vince".
    known: Vec<(Vec<String>, Whom<'a>)>,
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
    /// "And" stands before it.
    pub(super) joined: bool,
    /// In bold, or with a title: it stands out as an address.
    pub(super) stands_out: bool,
    /// The pieces that it takes, a title behind it included.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the text goes on after it.
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
        let mut known: Vec<(Vec<String>, Whom<'a>)> = Vec::with_capacity(roster.personas().len() * 3);
        for persona in roster.personas() {
            let own = [persona.name.as_str(), persona.slug.as_str()].into_iter().chain(persona.aliases.iter().map(String::as_str));
            known.extend(own.map(|name| (fold_words(name), Whom::Persona(&persona.slug))));
        }
        for (slug, nickname) in accounts.nicknames() {
            if let Some(persona) = roster.find(slug) {
                known.push((fold_words(nickname), Whom::Persona(&persona.slug)));
            }
        }
        known.sort_by_key(|(words, _)| Reverse(words.len()));
        Self { roster, accounts, known }
    }

    /// With the names by which people of the server are called. Only those that stand in the text are prepared, because there may be thousands.
    pub(super) fn and_people(mut self, people: &[String], text: &[Sentence<'_>]) -> Self {
        let said: HashSet<&str> = text.iter().flat_map(Sentence::words).map(|word| &*word.folded).collect();
        let mut folded = String::new();
        let mut stands_in_text = |person: &&String| {
            let Some(first) = person.split_whitespace().next() else { return false };
            folded.clear();
            folded.push_str(first);
            folded.make_ascii_lowercase();
            said.contains(folded.as_str()) || (!first.is_ascii() && said.contains(&*fold(first)))
        };
        for person in people.iter().filter(|person| stands_in_text(person)) {
            let whole = fold_words(person);
            // People are called by their first name too.
            let first = whole.first().filter(|first| whole.len() > 1 && first.chars().count() > 1).map(|first| vec![first.clone()]);
            for name in [Some(whole), first].into_iter().flatten() {
                if !self.known.iter().any(|(taken, _)| *taken == name) {
                    self.known.push((name, Whom::Other));
                }
            }
        }
        self.known.sort_by_key(|(words, _)| Reverse(words.len()));
        self
    }

    /// Whether a word is a name of a persona.
    pub(super) fn is_persona(&self, word: &str) -> bool {
        self.known.iter().any(|(name, whom)| matches!(whom, Whom::Persona(_)) && name.len() == 1 && name[0] == word)
    }

    /// Whether a word is a name of anybody.
    pub(super) fn is_name(&self, word: &str) -> bool {
        self.known.iter().any(|(name, _)| name.iter().any(|part| part == word))
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
                let fits = |name: &[String]| name.split_first().is_some_and(|(word, rest)| word == said && goes_on(rest));
                let (name, whom) = match self.known.iter().find(|(name, _)| fits(name)) {
                    Some((name, whom)) => (name.len(), *whom),
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

fn fold_words(name: &str) -> Vec<String> {
    name.split_whitespace().map(|word| fold(word).into_owned()).collect()
}

fn is_word(piece: &Piece<'_>, word: &str) -> bool {
    matches!(piece, Piece::Word(found) if found.folded == word)
}
