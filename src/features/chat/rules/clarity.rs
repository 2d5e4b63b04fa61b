//! How clearly a text is meant for an assistant, where other people could be meant too.

use crate::features::chat::rules::intent;
use crate::features::chat::rules::sentence::{Piece, Sentence, fold};
use crate::features::chat::rules::words::{self, Sense};

/// A question with fewer words is a fragment.
const CLEAR_QUESTION: usize = 3;

/// The least words of a long question.
const LONG_QUESTION: usize = 7;

/// The words of a question that does not depend on what was said before.
const SELF_CONTAINED: usize = 4;

/// A shorter word is no subject.
const SUBJECT: usize = 5;

/// Whether a text asks somebody for what an assistant can do: "can you check the repo?", unlike "can you bring the charger?".
pub(super) fn asks_for_work(text: &[Sentence<'_>]) -> bool {
    let is_work = |sentence: &Sentence<'_>| [Sense::Request, Sense::Deed].iter().any(|sense| sentence.holds(*sense));
    text.iter().any(|sentence| intent::asks_you_to_do(sentence) && is_work(sentence))
}

/// Whether a text is a full question or request that an assistant can be meant to answer, although other people could be meant too. A fragment
/// ("at noon?"), small talk, and what is asked about "you" ("did you sleep well?") are not.
pub(super) fn is_clear(text: &[Sentence<'_>]) -> bool {
    let wants = |sentence: &Sentence<'_>| {
        let asks = (sentence.asks || !sentence.ended) && intent::begins_question(sentence) && intent::length(sentence) >= CLEAR_QUESTION;
        (asks && !points_to_something(sentence)) || intent::asks_you_to_do(sentence) || intent::requests(sentence)
    };
    text.iter().any(wants) && !text.iter().any(invites) && !speaks_to_you(text)
}

/// Whether a question is about something that only those who talk can know: "whose bike is that?", "is it raining?".
fn points_to_something(sentence: &Sentence<'_>) -> bool {
    let is_anaphora = |at: usize| sentence.phrase(at, Sense::Anaphora) > 0;
    let at = intent::first_significant(sentence);
    let is_subject = sentence.phrase(at, Sense::Question) == 2 && is_anaphora(at + 1);
    is_subject || sentence.pieces.len().checked_sub(1).is_some_and(is_anaphora)
}

/// Whether a text is a long question about a thing, which people who talk to each other seldom ask: "what did Ann say last week about the launch?".
pub(super) fn asks_at_length(text: &[Sentence<'_>]) -> bool {
    let is_long = |sentence: &Sentence<'_>| asks_about(sentence) && intent::length(sentence) >= LONG_QUESTION;
    text.iter().any(|sentence| is_long(sentence) && !sentence.holds(Sense::Who))
}

/// Whether a sentence begins with "what", "when" and the like, and not with "is the".
fn asks_about(sentence: &Sentence<'_>) -> bool {
    let at = intent::first_significant(sentence);
    sentence.phrase(at, Sense::Question) == 1 && sentence.phrase(at, Sense::Social) == 0
}

/// Whether a sentence is small talk, and no question about a thing as in "what are lunch vouchers worth?".
fn invites(sentence: &Sentence<'_>) -> bool {
    let about_people = || [Sense::We, Sense::You, Sense::Who].iter().any(|sense| sentence.holds(*sense));
    let about_thing = || asks_about(sentence) && intent::length(sentence) > SELF_CONTAINED;
    sentence.holds(Sense::Social) && (about_people() || !about_thing())
}

/// Whether a text is about meals, meetings of people and other small talk.
pub(super) fn is_social(text: &[Sentence<'_>]) -> bool {
    text.iter().any(|sentence| sentence.holds(Sense::Social))
}

/// Whether a text says "you" to somebody, and not only to ask for something: "you forgot it", "did you get it?".
pub(super) fn speaks_to_you(text: &[Sentence<'_>]) -> bool {
    text.iter().any(|sentence| (sentence.holds(Sense::You) || sentence.holds(Sense::CanYou)) && !intent::asks_you_to_do(sentence))
}

/// Whether a text can be understood without what was said before it: it is no reaction ("sure, …") and refers to nothing ("… it").
pub(super) fn is_self_contained(text: &[Sentence<'_>]) -> bool {
    let refers = text.iter().any(|sentence| sentence.holds(Sense::Anaphora));
    // Other writings need fewer words: they have no articles, or join them to the noun.
    let is_latin = |sentence: &Sentence<'_>| sentence.words().all(|word| word.folded.chars().all(|c| c < '\u{370}'));
    let needs = |sentence: &Sentence<'_>| if sentence.holds(Sense::We) || !is_latin(sentence) { CLEAR_QUESTION } else { SELF_CONTAINED };
    let is_long = text.iter().any(|sentence| intent::length(sentence) >= needs(sentence));
    is_long && !refers && !reacts(text)
}

/// Whether a text is about what somebody has just said: "is the dentist nice?" after "back from the dentist".
pub(super) fn takes_up(text: &[Sentence<'_>], remark: &str) -> bool {
    let said: Vec<_> = remark.split(|c: char| !c.is_alphanumeric()).map(fold).collect();
    let subject = |sentence: &Sentence<'_>, at: usize| match &sentence.pieces[at] {
        Piece::Word(word) if sentence.is_unknown_at(at) && word.folded.chars().count() >= SUBJECT => said.contains(&word.folded),
        _ => false,
    };
    text.iter().any(|sentence| (0..sentence.pieces.len()).any(|at| subject(sentence, at)))
}

/// Whether a text begins as a reaction to what was said: "sure", "and", "no way".
fn reacts(text: &[Sentence<'_>]) -> bool {
    let outweighing = [Sense::Please, Sense::Question, Sense::Greeting, Sense::Request];
    begins_with(text, &[Sense::Agreeing, Sense::Opener, Sense::Praise], &outweighing)
}

/// Whether a text begins by agreeing with somebody: "sure, where?".
pub(super) fn begins_agreeing(text: &[Sentence<'_>]) -> bool {
    begins_with(text, &[Sense::Agreeing], &[])
}

/// Whether the first words have one of `senses`, and none of `outweighing` that is longer or as long.
fn begins_with(text: &[Sentence<'_>], senses: &[Sense], outweighing: &[Sense]) -> bool {
    let Some(first) = text.first() else { return false };
    let at = first.pieces.iter().position(|piece| matches!(piece, Piece::Word(_))).unwrap_or_default();
    let longest = |senses: &[Sense]| senses.iter().map(|sense| first.phrase(at, *sense)).max().unwrap_or_default();
    let begins = |word: &str| senses.iter().any(|sense| words::begins(word, *sense));
    let unspaced = || matches!(first.pieces.get(at), Some(Piece::Word(word)) if begins(&word.folded));
    longest(senses) > longest(outweighing) || unspaced()
}

/// Whether a text speaks of the people and personas together: "when do we deploy?".
pub(super) fn says_we(text: &[Sentence<'_>]) -> bool {
    text.iter().any(|sentence| sentence.holds(Sense::We))
}
