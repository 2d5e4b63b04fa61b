//! Finds whom a text addresses: mentions anywhere, and names where they stand as an address.
//!
//! A name is an address at the beginning of a sentence ("vince, look", "thanks Vince"), at its end ("what do you think, vince?") and between commas. Elsewhere
//! it is talked about. All of this works on text without invisible characters, quotes and code, see [`spoken`].

use std::borrow::Cow;

use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::{without_invisible, without_quotes_and_code};

use crate::features::chat::rules::intent;
use crate::features::chat::rules::names::{Called, Names, Whom};
use crate::features::chat::rules::sentence::{Piece, Sentence, sentences};
use crate::features::chat::rules::words::{self, Sense};

/// The words before the name in a heading: "one question for".
const LONGEST_HEADING: usize = 3;

/// The personas that an agent's text addresses, in the order named: by account, or by `@Name` as our own personas write it.
///
/// A bare name is no address here. Agents often talk about each other, and each name would start a turn.
pub fn addressed_by_agent(text: &str, roster: &Roster, accounts: &Accounts) -> Vec<PersonaSlug> {
    let spoken = spoken(text);
    let names = Names::of_personas(roster, accounts);
    let mut addressed = Addressed::default();
    for sentence in sentences(&spoken) {
        names.list_called(&sentence).into_iter().filter(|called| called.mentioned).for_each(|called| addressed.add(&called));
    }
    addressed.personas
}

/// The part of a text that can address somebody.
pub(crate) fn spoken(text: &str) -> String {
    let visible = without_invisible(text);
    match without_quotes_and_code(&visible) {
        Cow::Owned(spoken) => spoken,
        Cow::Borrowed(_) => visible,
    }
}

/// Whom a text addresses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one text")]
pub(crate) struct Addressed {
    /// In order of appearance.
    pub(crate) personas: Vec<PersonaSlug>,
    /// A persona is mentioned by account, and not only by name.
    pub(crate) mentioned: bool,
    /// The team as a whole is addressed.
    pub(crate) team: bool,
    /// Somebody who is not on the team is addressed.
    pub(crate) others: bool,
    /// The text begins by addressing somebody who is not on the team.
    pub(crate) others_first: bool,
    /// The personas at the beginning of the text.
    pub(crate) leading: Vec<PersonaSlug>,
    /// The position in the text after the addressees at its beginning.
    pub(crate) rest: usize,
}

impl Addressed {
    fn add(&mut self, called: &Called<'_>) {
        match called.whom {
            Whom::Persona(slug) => {
                self.mentioned |= called.mentioned;
                if !self.personas.contains(slug) {
                    self.personas.push(slug.clone());
                }
            }
            Whom::Other => self.others = true,
            Whom::Team => self.team = true,
        }
    }
}

impl<'a> Names<'a> {
    /// Whether a text calls people, and nobody of the team.
    pub(super) fn speaks_only_to_others(&self, text: &[Sentence<'_>]) -> bool {
        let called: Vec<Called<'_>> = text.iter().flat_map(|sentence| self.list_called(sentence)).collect();
        !called.is_empty() && called.iter().all(|called| called.whom == Whom::Other)
    }

    /// Whether a text begins with a request whose object is a persona: "tell Vince …", "demande à Vince …".
    pub(super) fn requests_of_persona(&self, text: &[Sentence<'_>]) -> bool {
        let Some(first) = text.first() else { return false };
        let end = intent::find_request(first);
        let is_short = |at: usize| matches!(first.pieces.get(at), Some(Piece::Word(word)) if word.folded.chars().count() <= 2);
        let at = |at: usize| self.find_called(first, at).is_some_and(|called| called.persona().is_some());
        end.is_some_and(|end| at(end) || (is_short(end) && at(end + 1)))
    }

    /// Whether a text names a persona without clearly talking about it, as "told vince" and "vince would know" do.
    pub(super) fn may_call_a_persona(&self, text: &[Sentence<'_>]) -> bool {
        let talks_about = |sentence: &Sentence<'_>, called: &Called<'_>| {
            let governed = called.start > 0 && sentence.phrase(called.start - 1, Sense::Governing) > 0;
            governed || sentence.phrase(called.end, Sense::Stating) > 0
        };
        let calls = |sentence: &Sentence<'_>| {
            self.list_called(sentence).iter().any(|called| called.persona().is_some() && !talks_about(sentence, called))
        };
        text.iter().any(calls)
    }

    /// Whom a text addresses.
    pub(super) fn find_addressed(&self, text: &[Sentence<'_>]) -> Addressed {
        let mut addressed = Addressed::default();
        let mut is_head = true;
        for (number, sentence) in text.iter().enumerate() {
            let leading = self.list_leading(sentence, is_head);
            // "hi", "kelly", "I need the numbers": a greeting does not end the beginning of the text.
            is_head &= leading.is_empty() && only_opens(sentence);
            if number == 0 {
                addressed.rest = leading.last().map_or(0, |last| last.text_end);
                addressed.others_first = leading.first().is_some_and(|first| first.whom == Whom::Other);
                addressed.leading = leading.iter().filter_map(|called| called.persona().cloned()).collect();
            }
            let called = self.list_called(sentence);
            let closing = find_closing(sentence, &called);
            let leads = |found: &&Called<'_>| leading.binary_search_by_key(&found.start, |leading| leading.start).is_ok();
            for found in &leading {
                addressed.add(found);
            }
            for found in called.iter().filter(|found| !leads(found)) {
                let inside = || is_enclosed(sentence, found, &called) || is_asked(sentence, found) || is_heading(sentence, found);
                if found.mentioned || closes(sentence, found, closing) || inside() {
                    addressed.add(found);
                }
            }
        }
        addressed
    }

    /// The names at the beginning of a sentence, if they are an address: "vince, …", "hey Vince …", "vince and solus: …", "thanks, vince".
    ///
    /// Takes the longest list of names that is an address. In "vince, solus is wrong" this is Vince alone. "Vince and Solus are late" contains no
    /// address.
    fn list_leading(&self, sentence: &Sentence<'_>, is_first: bool) -> Vec<Called<'a>> {
        let mut called: Vec<Called<'a>> = Vec::new();
        let (mut at, mut greeted, mut joined) = (0, false, false);
        while at < sentence.pieces.len() {
            let nickname = || if greeted { self.find_shortened(sentence, at) } else { None };
            if let Some(found) = self.find_called(sentence, at).or_else(nickname) {
                at = found.end;
                // Two names without a mark between them are no list of addressees: "vince solus".
                let apart = joined || found.mentioned || called.last().is_none_or(|last| last.end < found.start);
                if !apart {
                    break;
                }
                called.push(Called { joined, ..found });
                joined = false;
                continue;
            }
            let piece = &sentence.pieces[at];
            if matches!(piece, Piece::Comma | Piece::Other(_)) || (matches!(piece, Piece::Pause) && called.is_empty()) {
                at += 1;
                continue;
            }
            let and = sentence.phrase(at, Sense::And);
            if and > 0 && !called.is_empty() {
                joined = true;
                at += and;
                continue;
            }
            let greeting =
                [Sense::Greeting, Sense::Thanks, Sense::Praise, Sense::Attention].into_iter().map(|sense| sentence.phrase(at, sense)).max();
            let greeting = greeting.unwrap_or_default();
            let skipped = [Sense::Opener, Sense::Please, Sense::Title].into_iter().map(|sense| sentence.phrase(at, sense)).max();
            let skipped = skipped.unwrap_or_default().max(greeting);
            if !called.is_empty() || skipped == 0 {
                break;
            }
            greeted |= greeting > 0;
            at += skipped;
        }
        while let Some(last) = called.last() {
            if is_address(sentence, last, greeted, is_first) {
                return called;
            }
            if last.joined {
                return Vec::new();
            }
            called.pop();
        }
        Vec::new()
    }
}

/// Whether a text begins with a name that is not known here and goes on speaking to that person: "Bob, how are you?".
pub(super) fn calls_a_stranger(text: &[Sentence<'_>]) -> bool {
    let Some(first) = text.first() else { return false };
    let greets = |at: usize| [Sense::Greeting, Sense::Attention].into_iter().map(|sense| first.phrase(at, sense)).max().unwrap_or_default();
    let at = greets(0);
    let is_name = matches!(first.pieces.get(at), Some(Piece::Word(word)) if word.capital && !word.quoted) && first.is_unknown_at(at);
    let speaks = || [Sense::You, Sense::CanYou].into_iter().any(|sense| text.iter().any(|sentence| sentence.holds(sense)));
    is_name && matches!(first.pieces.get(at + 1), Some(Piece::Comma)) && speaks()
}

/// Whether a sentence only greets, or says nothing: "hi", "ok".
fn only_opens(sentence: &Sentence<'_>) -> bool {
    const OPENING: [Sense; 5] = [Sense::Greeting, Sense::Attention, Sense::Opener, Sense::Agreeing, Sense::Everybody];
    let mut at = 0;
    while at < sentence.pieces.len() {
        let length = OPENING.iter().map(|sense| sentence.phrase(at, *sense)).max().unwrap_or_default();
        match sentence.pieces[at] {
            Piece::Word(_) if length == 0 => return false,
            _ => at += length.max(1),
        }
    }
    true
}

/// Whether what follows a name at the beginning of a sentence shows that it is an address.
fn is_address(sentence: &Sentence<'_>, called: &Called<'_>, greeted: bool, is_first: bool) -> bool {
    if called.mentioned {
        return true;
    }
    // "✨Ann✨ can you look?"
    let after = called.end + sentence.pieces[called.end..].iter().take_while(|piece| matches!(piece, Piece::Other(_))).count();
    // "next May, …"
    if called.start > 0 && !called.joined && is_ordinary_word(sentence, called) && sentence.phrase(called.start - 1, Sense::Governing) > 0 {
        return false;
    }
    match sentence.pieces.get(after) {
        // A name in a list, or on a line of its own, may be an entry or a signature.
        None => !sentence.is_entry && (is_first || greeted || sentence.ended || !sentence.begins_line),
        Some(Piece::Comma | Piece::Pause) if sentence.is_entry => speaks_to(sentence, after + 1),
        Some(Piece::Comma | Piece::Pause | Piece::Mention { .. }) => true,
        // "Will can you look", but not "will you look".
        Some(_) if is_ordinary_word(sentence, called) => {
            sentence.phrase(after, Sense::CanYou) > 0 || (greeted && speaks_to(sentence, after) && sentence.phrase(after, Sense::You) == 0)
        }
        // "Kelly I need the numbers", "Kelly hi".
        Some(_) if sentence.phrase(after, Sense::Subject).max(sentence.phrase(after, Sense::Greeting)) > 0 => true,
        Some(_) => {
            let tells = sentence.phrase(after, Sense::Stating) > sentence.phrase(after, Sense::Question) && !sentence.asks;
            ((greeted || called.stands_out) && !tells) || speaks_to(sentence, after)
        }
    }
}

/// The piece where the list of names at the end of a sentence begins. Without such a list, the end of the sentence.
fn find_closing(sentence: &Sentence<'_>, called: &[Called<'_>]) -> usize {
    let mut called = called.iter().rev().peekable();
    let mut at = sentence.pieces.len();
    let mut closing = at;
    while at > 0 {
        if let Some(found) = called.next_if(|found| found.end == at) {
            at = found.start;
            closing = at;
        } else if matches!(sentence.pieces[at - 1], Piece::Comma | Piece::Other(_)) || sentence.phrase(at - 1, Sense::And) > 0 {
            at -= 1;
        } else {
            break;
        }
    }
    closing
}

/// Whether a name in the list at the end of a sentence is an address: "what do you think, vince?", "any news vince?".
fn closes(sentence: &Sentence<'_>, found: &Called<'_>, closing: usize) -> bool {
    if closing == 0 || found.start < closing {
        return false;
    }
    if matches!(sentence.pieces[closing - 1], Piece::Comma) {
        return true;
    }
    let is_governed = || sentence.phrase(closing - 1, Sense::Governing) > 0;
    let speaks = || sentence.asks || sentence.holds(Sense::You) || speaks_to(sentence, 0);
    found.start == closing && !is_governed() && !is_ordinary_word(sentence, found) && speaks()
}

/// Whether a name between commas is an address: "tell me, vince, how it went". Not in "with ann, vince, and solus".
fn is_enclosed(sentence: &Sentence<'_>, found: &Called<'_>, called: &[Called<'_>]) -> bool {
    let is_comma = |at: usize| matches!(sentence.pieces.get(at), Some(Piece::Comma));
    if !is_comma(found.end) {
        return false;
    }
    // "…, so vince, could you"
    let opens = |length: &usize| sentence.phrase(found.start - length, Sense::Opener) == *length;
    let start = found.start - (1..=found.start).take_while(opens).last().unwrap_or(0);
    let Some(comma) = start.checked_sub(1).filter(|before| *before > 0 && is_comma(*before)) else { return false };
    let after = found.end + 1;
    let listed = called.binary_search_by_key(&comma, |other| other.end).is_ok()
        || called.binary_search_by_key(&after, |other| other.start).is_ok()
        || sentence.phrase(after, Sense::And) > 0;
    let tells = sentence.phrase(after, Sense::Stating) > sentence.phrase(after, Sense::CanYou);
    !listed && !tells
}

/// Whether a name is in the heading of a question: "one for vince: is it late?".
fn is_heading(sentence: &Sentence<'_>, found: &Called<'_>) -> bool {
    let is_short = found.start <= LONGEST_HEADING && !is_ordinary_word(sentence, found);
    is_short && matches!(sentence.pieces.get(found.end), Some(Piece::Pause)) && (sentence.asks || speaks_to(sentence, found.end + 1))
}

/// Whether a name in the middle is asked something: "it is late but vince can you look", "can bob fix the lamp?".
fn is_asked(sentence: &Sentence<'_>, found: &Called<'_>) -> bool {
    let before = |sense| found.start > 0 && sentence.phrase(found.start - 1, sense) > 0;
    let requests = || sentence.asks || sentence.holds(Sense::Please);
    if found.whom != Whom::Team && found.start == 1 && before(Sense::Can) && requests() && !is_ordinary_word(sentence, found) {
        return true;
    }
    !before(Sense::Governing) && sentence.phrase(found.end, Sense::CanYou) > 0 && !is_ordinary_word(sentence, found)
}

/// People and personas have names such as Will, May and Mark.
fn is_ordinary_word(sentence: &Sentence<'_>, called: &Called<'_>) -> bool {
    let senses = [Sense::Stating, Sense::Governing, Sense::Request, Sense::Imperative, Sense::Question, Sense::Opener, Sense::Can];
    !called.mentioned && called.whom != Whom::Team && senses.iter().any(|sense| sentence.phrase(called.start, *sense) > 0)
}

/// Whether the words from `at` on speak to somebody ("what do you think", "check the costs") and do not tell about somebody ("said no").
fn speaks_to(sentence: &Sentence<'_>, at: usize) -> bool {
    let longest = |senses: &[Sense]| senses.iter().map(|sense| sentence.phrase(at, *sense)).max().unwrap_or_default();
    let states = longest(&[Sense::Stating]);
    let request = longest(&[Sense::Request, Sense::Imperative]);
    // "report is late" is about a report.
    let requests = request > 0 && sentence.phrase(at + request, Sense::Stating) == 0;
    let says_you = longest(&[Sense::You, Sense::CanYou, Sense::Please]).max(if requests { request } else { 0 });
    // In writing without spaces these words may stand anywhere.
    let speaking = [Sense::You, Sense::Please, Sense::Request, Sense::Question];
    let is_spoken = |word: &str| speaking.iter().any(|sense| words::holds(word, *sense));
    let unspaced = matches!(sentence.pieces.get(at), Some(Piece::Word(word)) if is_spoken(&word.folded));
    let asks = longest(&[Sense::Question]);
    match states {
        0 => says_you > 0 || asks > 0 || unspaced || sentence.asks,
        // "Vince can you", "vince is this right?", but not "vince is late?".
        _ => says_you > states || (asks > states && sentence.asks) || (says_you == states && sentence.holds(Sense::You)),
    }
}
