//! The intent of a text: an answer, something done, silence, or nothing.
//!
//! Uses marks and words, not a model, so the same text always gives the same result and a person can see why.

use crate::features::chat::rules::names::Names;
use crate::features::chat::rules::sentence::{Piece, Sentence, fold};
use crate::features::chat::rules::words::{self, Sense};

/// A longer text is never just a stop phrase.
const MOST_STOP_WORDS: usize = 12;

/// A longer text is more than the name of a thing.
const STATEMENT_WORDS: usize = 5;

/// A longer text is more than thanks.
const MOST_THANKS_WORDS: usize = 8;

/// Whether a text is a question: a sentence ends with a question mark, or the first or last one begins like a question and has no mark.
pub(super) fn is_question(text: &[Sentence<'_>]) -> bool {
    let begins = |sentence: &Sentence<'_>| !sentence.ended && begins_question(sentence);
    text.iter().any(|sentence| sentence.asks) || text.first().is_some_and(begins) || text.last().is_some_and(begins)
}

pub(super) fn begins_question(sentence: &Sentence<'_>) -> bool {
    let at = first_significant(sentence);
    let question = sentence.phrase(at, Sense::Question);
    // "can you …"
    let asks_you = sentence.phrase(at, Sense::CanYou) > 0;
    let is_word = |at: usize, words: &[&str]| matches!(sentence.pieces.get(at), Some(Piece::Word(word)) if words.contains(&&*word.folded));
    let exclaims = is_word(at, &["what"]) && is_word(at + 1, &["a", "an"]);
    let holds = sentence.words().any(|word| {
        words::holds(&word.folded, Sense::Question) || (is_verb_last(&word.folded) && words::says(&word.folded, Sense::Question))
    });
    (question > 0 && !exclaims) || asks_you || holds
}

/// Whether a text asks somebody to do something: "can you check the repo?". Turkish, Hindi and Korean have such words at the end.
pub(super) fn asks_to_do(text: &[Sentence<'_>]) -> bool {
    text.iter().any(asks_you_to_do)
}

pub(super) fn asks_you_to_do(sentence: &Sentence<'_>) -> bool {
    let ends =
        || (1..=2).any(|length| sentence.pieces.len().checked_sub(length).is_some_and(|at| sentence.phrase(at, Sense::AskToDo) == length));
    let unspaced = || sentence.words().any(|word| words::holds(&word.folded, Sense::AskToDo));
    // "please can you", "ты можешь"
    let at = first_significant(sentence);
    let skipped = [Sense::Please, Sense::You].map(|sense| sentence.phrase(at, sense)).into_iter().max().unwrap_or_default();
    sentence.phrase(at, Sense::AskToDo).max(sentence.phrase(at + skipped, Sense::AskToDo)) > 0 || ends() || unspaced()
}

/// Whether a text greets everybody in the room: "hi all".
pub(super) fn greets_everybody(text: &[Sentence<'_>]) -> bool {
    text.iter().any(|sentence| sentence.phrase(0, Sense::Greeting) > 0 && sentence.holds(Sense::Everybody))
}

/// Whether the author greets and says who they are: "hi all, Ann here". `is_author` knows the author's names.
pub(super) fn introduces(text: &[Sentence<'_>], is_author: impl Fn(&str) -> bool) -> bool {
    let greets = text.first().is_some_and(|first| first.phrase(0, Sense::Greeting) > 0);
    let is_name = |sentence: &Sentence<'_>, at: usize| match sentence.pieces.get(at) {
        Some(Piece::Word(word)) => is_author(&word.folded) || (word.capital && sentence.is_unknown_at(at)),
        _ => false,
    };
    // The name ends the clause, so that "I'm Friday out" is none.
    let ends = |sentence: &Sentence<'_>, at: usize| !matches!(sentence.pieces.get(at), Some(Piece::Word(_)));
    // "Ann from accounting here"
    let is_here = |sentence: &Sentence<'_>, at: usize| {
        let is_author = matches!(sentence.pieces.get(at), Some(Piece::Word(word)) if is_author(&word.folded));
        let between = if is_author { 4 } else { 1 };
        let closes = |at: usize| sentence.phrase(at, Sense::Here) > 0 && ends(sentence, at + 1);
        is_name(sentence, at) && (1..=between).any(|words| closes(at + words))
    };
    let names = |sentence: &Sentence<'_>| {
        (0..sentence.pieces.len()).any(|at| {
            let after = at + sentence.phrase(at, Sense::Introducing);
            let says_so = after > at && is_name(sentence, after) && ends(sentence, after + 1);
            says_so || is_here(sentence, at)
        })
    };
    greets && text.iter().any(names)
}

/// The number of words. In writing without spaces two letters count as one.
pub(super) fn length(sentence: &Sentence<'_>) -> usize {
    sentence.words().map(|word| if word.folded.contains(words::is_unspaced) { word.folded.chars().count().div_ceil(2) } else { 1 }).sum()
}

/// Whether a text begins with a verb that requests something.
pub(super) fn begins_request(text: &[Sentence<'_>]) -> bool {
    text.first().is_some_and(begins_with_request)
}

fn begins_with_request(sentence: &Sentence<'_>) -> bool {
    find_request(sentence).is_some()
}

/// The end of the verb with which a sentence requests something.
pub(super) fn find_request(sentence: &Sentence<'_>) -> Option<usize> {
    let at = first_significant(sentence);
    let request = sentence.phrase(at, Sense::Request);
    // "report is late" is about a report.
    (request > 0 && sentence.phrase(at + request, Sense::Stating) == 0).then_some(at + request)
}

/// Whether a text is a request: it begins with "please" or a verb that requests, or, where verbs come last, ends with one.
pub(super) fn is_request(text: &[Sentence<'_>]) -> bool {
    text.iter().any(requests)
}

pub(super) fn requests(sentence: &Sentence<'_>) -> bool {
    let pleads = (0..sentence.pieces.len()).any(|at| sentence.phrase(at, Sense::Please) > 0) && sentence.words().count() > 1;
    let unspaced = sentence.words().any(|word| words::holds(&word.folded, Sense::Please) || words::begins(&word.folded, Sense::Request));
    begins_with_request(sentence) || pleads || unspaced || ends_with_request(sentence)
}

/// Whether a text tells something: it has a subject or a verb of a statement, or is longer than the name of a thing.
pub(super) fn is_statement(text: &[Sentence<'_>]) -> bool {
    let length: usize = text.iter().map(length).sum();
    length >= STATEMENT_WORDS || text.iter().any(|sentence| sentence.holds(Sense::Telling))
}

/// Whether a text begins with a verb that speaks to somebody.
pub(super) fn is_imperative(text: &[Sentence<'_>]) -> bool {
    text.first().is_some_and(|sentence| sentence.phrase(first_significant(sentence), Sense::Imperative) > 0)
}

/// In Hindi, Bengali, Urdu and Arabic writing, question words stand in the middle and verbs that request at the end.
fn is_verb_last(word: &str) -> bool {
    word.chars().any(|c| matches!(c, '\u{0600}'..='\u{06FF}' | '\u{0900}'..='\u{09FF}'))
}

fn ends_with_request(sentence: &Sentence<'_>) -> bool {
    let pieces = &sentence.pieces;
    let last = pieces.iter().rposition(|piece| matches!(piece, Piece::Word(_)));
    let word = last.and_then(|last| sentence.words().last().map(|word| (last, word)));
    word.is_some_and(|(last, word)| {
        let request = sentence.phrase(last, Sense::Request) > 0 || words::says(&word.folded, Sense::Request);
        last > 0 && request && is_verb_last(&word.folded)
    })
}

/// Whether a text may ask or request something although its form does not show it: it speaks to somebody, contains a word of a question or a plea, or
/// has no word that the rules know.
pub(super) fn may_want(text: &[Sentence<'_>]) -> bool {
    const HINTS: [Sense; 6] = [Sense::You, Sense::CanYou, Sense::Question, Sense::Please, Sense::Team, Sense::Presence];
    if text.iter().any(|sentence| sentence.asks) {
        return true;
    }
    let words = text.iter().flat_map(Sentence::words).count();
    let is_foreign = || words > 1 && text.iter().all(Sentence::is_unknown);
    text.iter().any(|sentence| HINTS.iter().any(|sense| sentence.holds(*sense))) || is_foreign()
}

/// The position after the words that only begin a sentence: "ok, so …".
pub(super) fn first_significant(sentence: &Sentence<'_>) -> usize {
    let mut at = 0;
    while at < sentence.pieces.len() {
        let skipped = match sentence.pieces[at] {
            Piece::Word(_) => {
                // "is there any news" is a question, although "there" may be said to everybody.
                let begins = [Sense::Question, Sense::CanYou, Sense::Request, Sense::Please];
                if begins.iter().any(|sense| sentence.phrase(at, *sense) > 0) {
                    return at;
                }
                let skipped = [Sense::Opener, Sense::Greeting, Sense::Attention, Sense::Thanks, Sense::Everybody, Sense::Team];
                skipped.iter().map(|sense| sentence.phrase(at, *sense)).max().unwrap_or_default()
            }
            // "ann@example.com is the contact" is about the address.
            Piece::Other(other) if other.contains(char::is_alphanumeric) => 0,
            _ => 1,
        };
        if skipped == 0 {
            return at;
        }
        at += skipped;
    }
    at
}

/// Whether a text has no word: emojis alone.
pub(super) fn is_wordless(text: &[Sentence<'_>]) -> bool {
    !text.is_empty() && text.iter().all(|sentence| !sentence.asks && sentence.pieces.iter().all(|piece| matches!(piece, Piece::Other(_))))
}

/// Whether a text is a greeting to the room, or asks whether somebody is there.
pub(super) fn is_greeting(text: &[Sentence<'_>]) -> bool {
    says_only(text, &[Sense::Greeting, Sense::Presence], &[Sense::Opener, Sense::Everybody, Sense::Team, Sense::Title], |_| false)
}

/// Whether a text only thanks or praises somebody.
pub(super) fn is_thanks(text: &[Sentence<'_>], names: &Names<'_>) -> bool {
    let around = [Sense::Opener, Sense::Everybody, Sense::Team, Sense::Title, Sense::Greeting];
    let only = says_only(text, &[Sense::Thanks, Sense::Praise], &around, |word| names.is_name(word));
    // "Thanks for the summary."
    let short = || match text {
        [sentence] => {
            let asks = sentence.asks || sentence.holds(Sense::CanYou) || sentence.holds(Sense::Question);
            let begins = sentence.phrase(0, Sense::Thanks);
            let pauses = sentence.pieces.iter().any(|piece| matches!(piece, Piece::Comma | Piece::Pause));
            begins > 0 && !asks && !pauses && sentence.words().count() <= MOST_THANKS_WORDS
        }
        _ => false,
    };
    (only || short()) && !text.iter().any(|sentence| sentence.asks)
}

/// Whether a text only takes note or agrees: "ok", "good to know 👍".
pub(super) fn is_agreement(text: &[Sentence<'_>]) -> bool {
    let around = [Sense::Thanks, Sense::Praise, Sense::Team, Sense::Title];
    says_only(text, &[Sense::Agreeing], &around, |_| false) && !text.iter().any(|sentence| sentence.asks)
}

/// Whether a message only calls off what is being done: "cancel that", "never mind, vince".
pub(super) fn calls_off(text: &[Sentence<'_>], names: &Names<'_>) -> bool {
    let around = |word: &str| names.is_persona(word);
    let is_short = text.iter().flat_map(Sentence::words).count() <= MOST_STOP_WORDS;
    is_short && !text.iter().any(|sentence| sentence.asks) && covers(text, &[Sense::CallOff], &[Sense::AroundStop], around, |_, _| 0)
}

/// Whether a message is only a stop phrase, in any case and punctuation, perhaps with a name or a "please": "Stop!", "just stop it, vince".
pub(super) fn is_stop(text: &[Sentence<'_>], phrases: &[String], names: &Names<'_>) -> bool {
    let words: Vec<_> = text.iter().flat_map(Sentence::words).collect();
    if words.len() > MOST_STOP_WORDS || text.iter().any(|sentence| sentence.asks) {
        return false;
    }
    let folded = |phrase: &str| phrase.split_whitespace().map(|word| fold(word).into_owned()).collect::<Vec<_>>();
    let own: Vec<Vec<String>> = phrases.iter().map(|phrase| folded(phrase)).filter(|words| !words.is_empty()).collect();
    let is_own = |sentence: &Sentence<'_>, at: usize| {
        let fits = |phrase: &&Vec<String>| {
            phrase.iter().enumerate().all(|(offset, wanted)| match sentence.pieces.get(at + offset) {
                Some(Piece::Word(word)) => word.folded == **wanted,
                Some(Piece::Other(other)) => other == wanted,
                _ => false,
            })
        };
        own.iter().filter(fits).map(Vec::len).max().unwrap_or_default()
    };
    let around = |word: &str| names.is_persona(word) || word.chars().all(|c| c.is_ascii_digit());
    covers(text, &[Sense::Stop], &[Sense::AroundStop, Sense::Title], around, is_own)
}

/// Whether every word of a text has one of `senses` or may stand around such words, and at least one has one of `senses`.
fn says_only(text: &[Sentence<'_>], senses: &[Sense], around: &[Sense], is_around: impl Fn(&str) -> bool) -> bool {
    covers(text, senses, around, is_around, |_, _| 0)
}

fn covers(
    text: &[Sentence<'_>],
    senses: &[Sense],
    around: &[Sense],
    is_around: impl Fn(&str) -> bool,
    says_more: impl Fn(&Sentence<'_>, usize) -> usize,
) -> bool {
    let mut found = false;
    for sentence in text {
        let mut at = 0;
        while let Some(piece) = sentence.pieces.get(at) {
            let said = senses.iter().map(|sense| sentence.phrase(at, *sense)).max().unwrap_or_default().max(says_more(sentence, at));
            let beside = around.iter().map(|sense| sentence.phrase(at, *sense)).max().unwrap_or_default();
            found |= said > 0;
            at += match piece {
                _ if said.max(beside) > 0 => said.max(beside),
                Piece::Word(word) if is_around(&word.folded) => 1,
                Piece::Word(word) if made_of(&word.folded, senses, around).is_some() => {
                    found |= made_of(&word.folded, senses, around) == Some(true);
                    1
                }
                Piece::Word(_) => return false,
                Piece::Mention { .. } | Piece::Comma | Piece::Pause | Piece::Other(_) => 1,
            };
        }
    }
    found
}

/// Whether a word without spaces inside consists of words with these senses. True if one of them has a sense of `senses` and not only of `around`.
fn made_of(word: &str, senses: &[Sense], around: &[Sense]) -> Option<bool> {
    let all: Vec<Sense> = senses.iter().chain(around).copied().collect();
    words::is_made_of(word, &all).then(|| senses.iter().any(|sense| words::holds(word, *sense)))
}
