//! Classifies a text that addresses nobody: a question, a directive, or neither.
//!
//! Uses words and punctuation, not a model, so the same text always gives the same result and a person can see why. The word lists are English. In
//! other languages the question mark, names and mentions still count.

use kernel::chat::text::split_mention;

/// The first words of a question, whatever follows.
const QUESTION_WORDS: &[&str] = &["what", "why", "how", "when", "where", "who", "whom", "whose", "which"];

/// Verbs that begin a question when a subject follows: "is it …", but not "will do".
const AUXILIARIES: &[&str] = &[
    "is", "are", "am", "was", "were", "do", "does", "did", "can", "could", "would", "should", "will", "shall", "has", "have", "had", "isn",
    "aren", "wasn", "don", "doesn", "didn", "couldn", "wouldn", "shouldn", "won", "hasn", "haven",
];

const PRONOUNS: &[&str] = &[
    "i", "you", "we", "they", "he", "she", "it", "there", "this", "that", "these", "those", "any", "anyone", "anybody", "someone",
    "somebody",
];

/// They begin a subject too, but not after "have" and "do": "have a nice day" is no question.
const DETERMINERS: &[&str] = &["the", "a", "an", "my", "our", "your", "his", "her", "their", "everyone", "everybody", "all"];

/// Verbs that begin a directive. Those that mostly begin something else ("take care", "look at this") are left out.
#[rustfmt::skip] // One word a line would bury the list.
const DIRECTIVES: &[&str] = &[
    "add", "analyse", "analyze", "announce", "arrange", "ask", "assign", "build", "calculate", "cancel", "check", "clean", "collect",
    "compare", "compile", "compute", "count", "create", "debug", "define", "delete", "deploy", "describe", "design", "document", "draft",
    "draw", "estimate", "evaluate", "explain", "export", "fetch", "find", "fix", "forecast", "generate", "give", "help", "identify",
    "implement", "improve", "inspect", "investigate", "list", "make", "measure", "merge", "monitor", "outline", "plan", "post", "predict",
    "prepare", "prioritise", "prioritize", "propose", "publish", "rank", "read", "recommend", "refactor", "release", "remind", "remove",
    "rename", "replace", "report", "research", "restart", "retry", "review", "rewrite", "run", "schedule", "search", "send", "share",
    "show", "sort", "start", "suggest", "summarise", "summarize", "tell", "test", "track", "translate", "update", "verify", "write",
];

/// After these words the first word was a noun: "report is late".
const STATING: &[&str] = &["is", "are", "was", "were", "has", "had", "looks", "seems", "failed", "passed", "works", "says"];

/// Words that are skipped before the first significant word.
const LEAD_INS: &[&str] = &["ok", "okay", "so", "and", "well", "now", "then", "also", "but", "hey", "hi", "hello"];

/// Whether a text is a question: a question mark ends a word, or the text begins like a question.
pub fn is_question(text: &str) -> bool {
    has_question_mark(text) || begins_question(&first_words(text))
}

/// Whether a text is a directive: it begins with "please" or with a verb from the list.
pub fn is_directive(text: &str) -> bool {
    begins_directive(&first_words(text))
}

/// Whether the text after a bare name addresses it ("vince what do you think") rather than mentions it ("vince said no").
pub(crate) fn speaks_to(rest: &str) -> bool {
    let words = first_words(rest);
    let you = words.get(1).is_some_and(|word| word == "you");
    words.first().is_some_and(|first| QUESTION_WORDS.contains(&first.as_str()) || (you && AUXILIARIES.contains(&first.as_str())))
        || begins_directive(&words)
}

fn begins_question(words: &[String]) -> bool {
    let (Some(first), second) = (words.first(), words.get(1).map_or("", String::as_str)) else { return false };
    match first.as_str() {
        // An exclamation: "what a day".
        "what" => !matches!(second, "a" | "an"),
        word if QUESTION_WORDS.contains(&word) => true,
        "do" | "have" | "had" => PRONOUNS.contains(&second),
        word => AUXILIARIES.contains(&word) && (PRONOUNS.contains(&second) || DETERMINERS.contains(&second)),
    }
}

fn begins_directive(words: &[String]) -> bool {
    let second = words.get(1).map_or("", String::as_str);
    words.first().is_some_and(|first| first == "please" || (DIRECTIVES.contains(&first.as_str()) && !STATING.contains(&second)))
}

/// A question mark at the end of a word. One inside a URL does not count.
fn has_question_mark(text: &str) -> bool {
    text.match_indices(['?', '？', '؟']).any(|(at, mark)| {
        let after = text[at + mark.len()..].trim_start_matches(['?', '!', '"', '\'', ')', ']', '*', '_', '~', '”', '’', '…', '.', '）']);
        let word = &text[text[..at].rfind(char::is_whitespace).unwrap_or(0)..at];
        after.chars().next().is_none_or(char::is_whitespace) && !word.contains("://")
    })
}

/// The first two significant words without mentions, in lower case and cut at an apostrophe: "what's" is "what".
fn first_words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .filter(|word| split_mention(word).is_none())
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .map(|word| word.split(['\'', '’']).next().unwrap_or_default().to_lowercase())
        .skip_while(|word| word.is_empty() || LEAD_INS.contains(&word.as_str()))
        .take(2)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_known_by_their_mark_or_their_beginning() {
        for text in [
            "any news?",
            "any news?!",
            "(really?)",
            "what happened this week",
            "What's up",
            "ok, how do we start",
            "is it safe",
            "Are the tests green",
            "does our cache work",
            "do we ship",
            "isn't it late",
            "¿qué tal?",
            "本当？",
        ] {
            assert!(is_question(text), "{text:?}");
        }
    }

    #[test]
    fn statements_are_no_questions() {
        for text in
            ["what a day", "will do", "have a nice day", "isolated the bug", "see https://example.org/a?", "do the dishes", "nice", ""]
        {
            assert!(!is_question(text), "{text:?}");
        }
    }

    #[test]
    fn directives_begin_with_a_verb_that_commands() {
        for text in ["summarise the week", "Please have a look", "ok, write a changelog", "help", "report!", "Ask vince about it"] {
            assert!(is_directive(text), "{text:?}");
        }
        for text in ["report is late", "tests passed", "good work", "take care", "planning is hard", "I will write it", ""] {
            assert!(!is_directive(text), "{text:?}");
        }
    }

    #[test]
    fn a_bare_name_is_spoken_to_only_by_a_question_or_a_directive() {
        assert!(speaks_to(" what do you think"));
        assert!(speaks_to(" can you look"));
        assert!(speaks_to(" check the costs"));
        assert!(!speaks_to(" is late"));
        assert!(!speaks_to(" said no"));
        assert!(!speaks_to(" can do it"));
    }
}
