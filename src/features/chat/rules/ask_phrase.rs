//! Parses requests such as "ask Vince what he thinks about SOL".

use crate::features::chat::model::decision::AskRequest;
use kernel::text::capital;

/// Phrases that may precede "ask" in a request: "could you please ask …".
#[rustfmt::skip] // One word a line would bury the list.
const LEAD_INS: &[&str] = &[
    "can you", "could you", "would you", "will you", "please", "kindly", "just", "now", "then", "and", "also", "ok", "okay", "so", "hey",
];

/// Words after "ask" that name no persona: "ask me anything", "ask the team".
#[rustfmt::skip] // One word a line would bury the list.
const NOBODY: &[&str] = &[
    "me", "us", "you", "him", "her", "them", "it", "myself", "yourself", "the", "a", "an", "my", "our", "your", "his", "their", "this",
    "that", "for", "about", "if", "whether", "what", "why", "how", "when", "where", "who", "which", "to", "questions", "again", "around",
    "away", "everyone", "everybody", "anyone", "anybody", "someone", "somebody", "people", "nobody", "not", "nicely", "in", "on",
    "at", "and", "or",
];

const QUESTION_WORDS: &[&str] = &["what", "how", "why", "when", "where", "who", "which", "whose"];

/// Finds a request to ask a persona, at the beginning of a text from which other addressees were removed.
///
/// The askee stays as written. The name is resolved when the ask is carried out, so that an unknown name gets an answer too.
pub fn find_ask(text: &str) -> Option<AskRequest> {
    let request = strip_word(skip_lead_ins(text), "ask")?;
    let (name, rest) = split_word(request);
    let askee = name.trim_end_matches([',', ':', ';', '-']);
    let pause = &name[askee.len()..];
    let bare = askee.trim_start_matches('@');
    if !bare.contains(char::is_alphanumeric) || NOBODY.contains(&bare.to_lowercase().as_str()) {
        return None;
    }
    let question = rewrite(bare, pause, rest.trim())?;
    Some(AskRequest { askee: bare.to_owned(), question })
}

/// The question in the form that the askee reads. Only a plain "what he thinks …" is rewritten, because a wider rewrite could change the person's
/// meaning.
fn rewrite(askee: &str, pause: &str, rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches([':', ',', '-', '–', '—']).trim_start();
    let direct = !pause.is_empty() || rest.starts_with(['"', '“']);
    let rest = rest.trim_matches(['"', '“', '”']).trim();
    if !rest.contains(char::is_alphanumeric) {
        return None;
    }
    let (first, after) = split_word(rest);
    let question = match first.to_lowercase().as_str() {
        word if QUESTION_WORDS.contains(&word) => turn_round(askee, first, after).unwrap_or_else(|| rest.to_owned()),
        "whether" | "if" => rest.to_owned(),
        _ if direct => return Some(finish(rest, None)),
        "about" if !after.is_empty() => format!("What do you think about {after}"),
        "to" if !after.is_empty() => return Some(finish(&format!("please {after}"), Some('.'))),
        "for" if !after.is_empty() => return Some(finish(&format!("please give {after}"), Some('.'))),
        _ => return None,
    };
    Some(finish(&question, Some('?')))
}

/// "what he thinks about our costs" → "what do you think about our costs".
fn turn_round(askee: &str, question_word: &str, after: &str) -> Option<String> {
    let (subject, after) = split_word(after);
    let (verb, rest) = split_word(after);
    let subject = subject.to_lowercase();
    let (bare_verb, end) = verb.split_at(verb.find(|c: char| !c.is_alphabetic()).unwrap_or(verb.len()));
    let base = match bare_verb.to_lowercase().as_str() {
        "thinks" | "think" => "think",
        "knows" | "know" => "know",
        "says" | "say" => "say",
        "wants" | "want" => "want",
        "needs" | "need" => "need",
        "sees" | "see" => "see",
        "expects" | "expect" => "expect",
        "means" | "mean" => "mean",
        "recommends" | "recommend" => "recommend",
        "suggests" | "suggest" => "suggest",
        _ => return None,
    };
    let about_askee = matches!(subject.as_str(), "he" | "she" | "they") || subject == askee.to_lowercase();
    about_askee.then(|| format!("{question_word} do you {base}{end} {rest}").trim_end().to_owned())
}

/// Capitalises the sentence and, if it has no final punctuation, appends `mark`.
fn finish(sentence: &str, mark: Option<char>) -> String {
    let mut finished = capital(sentence.trim_end());
    if let Some(mark) = mark
        && !finished.ends_with(['?', '!', '.', '…'])
    {
        finished.push(mark);
    }
    finished
}

fn skip_lead_ins(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = LEAD_INS.iter().find_map(|lead_in| strip_word(text, lead_in)) {
        text = rest;
    }
    text
}

/// The text after `word` (ASCII, lower case) and after the space or comma behind it.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).map(|start| &text[start.len()..])?;
    let after = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    (after.len() < rest.len()).then_some(after)
}

/// The first word, and the text after it without the space between.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Option<(String, String)> {
        find_ask(text).map(|ask| (ask.askee, ask.question))
    }

    #[test]
    fn asks_are_understood_and_turned_into_questions() {
        for (text, askee, question) in [
            ("ask vince what he thinks about our costs", "vince", "What do you think about our costs?"),
            ("Ask Vince what he thinks about SOL?", "Vince", "What do you think about SOL?"),
            ("ask Solus what solus thinks", "Solus", "What do you think?"),
            ("can you ask vince whether the cache is warm", "vince", "Whether the cache is warm?"),
            ("please ask @Oracle how likely rain is", "Oracle", "How likely rain is?"),
            ("could you please ask eliza about the decision log", "eliza", "What do you think about the decision log?"),
            ("ask vince: is SOL up?", "vince", "Is SOL up?"),
            ("ask vince, what did it cost?", "vince", "What did it cost?"),
            ("ask vince \"is it late\"", "vince", "Is it late"),
            ("ask sentinel to check the tests", "sentinel", "Please check the tests."),
            ("ask vince for the numbers", "vince", "Please give the numbers."),
            ("ask <user:discord:42> why she left", "<user:discord:42>", "Why she left?"),
            ("ask bob what he wants", "bob", "What do you want?"),
        ] {
            assert_eq!(ask(text), Some((askee.to_owned(), question.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn other_sentences_with_ask_are_no_asks() {
        for text in [
            "ask me anything",
            "ask the team about it",
            "ask vince",
            "ask vince:",
            "I asked vince what he thinks",
            "tasks vince what",
            "ask questions first",
            "ask around",
            "don't ask vince what he thinks",
            "ask vince later",
            "ask",
            "",
        ] {
            assert_eq!(ask(text), None, "{text:?}");
        }
    }
}
