//! Search terms and questions.

use std::collections::{HashMap, HashSet};

/// Words without a subject, including words about asking and about documents.
const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "anybody", "anyone", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "did", "do", "document", "does", "doing", "else", "explain", "file", "find", "for",
    "from", "get", "give", "had", "has", "have", "he", "her", "here", "hey", "hi", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "know", "let", "like", "look", "many", "may", "me", "mean", "might", "more", "most", "much", "must", "my", "no", "not",
    "now", "of", "off", "on", "one", "only", "or", "other", "our", "out", "over", "please", "really", "said", "say", "she", "should",
    "show", "so", "some", "such", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "up", "us", "very", "was", "we", "were", "what", "whats", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "write", "written", "you", "your",
];

/// Further words that are no subject of a question. They are not in the list above, because stored vectors contain them.
const NO_SUBJECTS: &[&str] = &["after", "looking", "looks", "others", "whether"];

/// Generic words with little weight.
const WEAK_WORDS: &[&str] = &[
    "add",
    "bad",
    "call",
    "cause",
    "change",
    "choose",
    "come",
    "deal",
    "decide",
    "decision",
    "go",
    "good",
    "handle",
    "happen",
    "important",
    "issue",
    "keep",
    "make",
    "matter",
    "need",
    "pick",
    "problem",
    "reason",
    "select",
    "set",
    "speak",
    "start",
    "take",
    "talk",
    "thing",
    "try",
    "use",
    "want",
    "work",
];

/// A longer question is a pasted text. Its beginning names the subject.
const MAX_TERMS: usize = 40;

/// The kind of answer wanted, from the question word. Passages with matching signal words rank higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    Why,
    When,
    Who,
    Decision,
    Other,
}

impl QuestionKind {
    fn of(words: &[String]) -> Self {
        let asks = |word: &str| words.iter().any(|w| w == word);
        if asks("why") || asks("cause") || asks("reason") {
            Self::Why
        } else if asks("when") {
            Self::When
        } else if asks("who") || asks("whose") {
            Self::Who
        } else if words.iter().any(|word| word.starts_with("decid") || word.starts_with("decision") || word.starts_with("cho")) {
            Self::Decision
        } else {
            Self::Other
        }
    }

    /// Words that signal this kind of answer in a passage.
    pub fn cues(self) -> &'static [&'static str] {
        match self {
            Self::Why => &["because", "cause", "context", "rationale", "reason", "why"],
            Self::When => &["date", "when", "since", "until"],
            Self::Who => &["author", "by", "owner", "who"],
            Self::Decision => &["decision", "decided", "chosen"],
            Self::Other => &[],
        }
    }
}

/// A parsed question.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Distinct stems in order, with weights.
    pub terms: Vec<(String, f64)>,
    /// The stems whose words are long enough to be mistyped, with these words.
    long: Vec<(String, String)>,
    pub kind: QuestionKind,
}

impl Query {
    /// Parses a question. Words in `ignored` (names of personas, words already understood) are skipped.
    pub fn parse(question: &str, ignored: &[String]) -> Self {
        let words = words_of(question);
        let mut terms: Vec<(String, f64)> = Vec::new();
        let mut long: Vec<(String, String)> = Vec::new();
        for word in words.iter().filter(|word| !is_stop_word(word) && !NO_SUBJECTS.contains(&word.as_str()) && !ignored.contains(word)) {
            if terms.len() == MAX_TERMS {
                break;
            }
            let term = stem(word);
            if !terms.iter().any(|(known, _)| *known == term) {
                let weight = if WEAK_WORDS.iter().any(|weak| stem(weak) == term) { 0.3 } else { 1.0 };
                let may_be_mistyped = word.chars().count() >= MISTYPED && word.chars().all(char::is_alphabetic);
                long.extend(may_be_mistyped.then(|| (term.clone(), word.clone())));
                terms.push((term, weight));
            }
        }
        Self { terms, long, kind: QuestionKind::of(&words) }
    }

    /// The same subject, for another kind of answer.
    #[must_use]
    pub fn asked_as(self, kind: QuestionKind) -> Self {
        Self { kind, ..self }
    }

    /// The same question. A word whose stem is among these is not mistyped.
    #[must_use]
    pub fn knowing<'t>(&self, stems: impl IntoIterator<Item = &'t String>) -> Self {
        let known: HashSet<&String> = stems.into_iter().collect();
        let long = self.long.iter().filter(|(stem, _)| !known.contains(stem)).cloned().collect();
        Self { long, ..self.clone() }
    }

    /// Whether a stem of a text is that of the question, or of a word that was mistyped there. A slip may be another word, see [`Self::knowing`].
    pub fn means(&self, term: &str, said: &str) -> bool {
        term == said || self.word_of(term).is_some_and(|word| is_slip_of(word, said))
    }

    /// The word of a stem, if it may be mistyped.
    pub(super) fn word_of(&self, term: &str) -> Option<&str> {
        self.long.iter().find(|(stem, _)| stem == term).map(|(_, word)| word.as_str())
    }

    /// Whether it names no subject.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|(_, weight)| *weight < 1.0)
    }
}

/// The shortest word in which a typing error is looked for. In a shorter one, another letter makes another word.
const MISTYPED: usize = 5;

/// The endings that a stem may have lost.
const ENDINGS: [&str; 8] = ["", "e", "s", "es", "ing", "ed", "ion", "y"];

/// Whether a word is mistyped from one with this stem. The first letter is seldom wrong.
fn is_slip_of(word: &str, stem: &str) -> bool {
    word.chars().next() == stem.chars().next() && ENDINGS.iter().any(|ending| is_slip(word, &format!("{stem}{ending}")))
}

/// Whether two words differ by one letter: one more or less, another one, or two in the other order.
fn is_slip(left: &str, right: &str) -> bool {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let (short, long) = if left.len() <= right.len() { (&left, &right) } else { (&right, &left) };
    if short.len() + 1 < MISTYPED || long.len() - short.len() > 1 || short.first() != long.first() || long.iter().any(char::is_ascii_digit)
    {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    let rest = |from: usize, of: usize| short.get(from..) == long.get(of..);
    if short.len() < long.len() {
        return rest(same, same + 1);
    }
    let swapped = short.get(same).zip(short.get(same + 1)) == long.get(same + 1).zip(long.get(same)) && rest(same + 2, same + 2);
    same < long.len() && (rest(same + 1, same + 1) || swapped)
}

pub(in crate::memory) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The stems of a text without stop words.
pub fn terms_of(text: &str) -> Vec<String> {
    words_of(text).iter().filter(|word| !is_stop_word(word)).map(|word| stem(word)).collect()
}

/// Lower-case words. A compound (`getPendingSteps`, `D-043`, `step_order`) yields itself and its parts.
pub fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for token in tokens_of(text) {
        words.push(token.to_lowercase().replace(['\'', '’'], ""));
        if is_compound(token) {
            let parts = parts_of(token);
            words.extend(parts.iter().filter(|part| part.chars().count() > 1).map(|part| part.to_lowercase()));
        }
    }
    words
}

/// Words as written, without the possessive.
fn tokens_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '’')))
        .map(|token| token.trim_matches(['-', '_', '\'', '’']))
        .map(|token| token.strip_suffix("'s").or_else(|| token.strip_suffix("’s")).unwrap_or(token))
        .filter(|token| !token.is_empty())
}

/// Terms as numbers. Words repeat, so each distinct one is stemmed once. Without this the search would be noticeably slow.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    tokens: HashMap<String, Vec<u32>>,
    terms: HashMap<String, u32>,
}

impl Vocabulary {
    /// The terms of a text, in order.
    pub(super) fn read(&mut self, text: &str) -> Vec<u32> {
        let mut numbers = Vec::new();
        for token in tokens_of(text) {
            if let Some(known) = self.tokens.get(token) {
                numbers.extend(known);
            } else {
                let new: Vec<u32> = terms_of(token).into_iter().map(|term| self.number(term)).collect();
                numbers.extend(&new);
                self.tokens.insert(token.to_owned(), new);
            }
        }
        numbers
    }

    /// The number of a term. None if no text contained it.
    pub(super) fn find(&self, term: &str) -> Option<u32> {
        self.terms.get(term).copied()
    }

    /// The term from which a word is mistyped. The first by letters, so that the same question finds the same.
    pub(super) fn find_near(&self, word: &str) -> Option<u32> {
        self.terms.iter().filter(|(known, _)| is_slip_of(word, known)).min().map(|(_, number)| *number)
    }

    fn number(&mut self, term: String) -> u32 {
        let next = u32::try_from(self.terms.len()).expect("texts are far smaller than that");
        *self.terms.entry(term).or_insert(next)
    }
}

/// Checked first, because most words are not compounds and splitting is slow.
fn is_compound(token: &str) -> bool {
    let bytes = token.as_bytes();
    token.contains(['-', '_']) || bytes.windows(2).any(|pair| !pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase())
}

fn parts_of(token: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in token.split(['-', '_']) {
        let mut start = 0;
        let mut before = ' ';
        for (at, c) in piece.char_indices() {
            if c.is_uppercase() && before.is_lowercase() {
                parts.push(&piece[start..at]);
                start = at;
            }
            before = c;
        }
        parts.push(&piece[start..]);
    }
    parts
}

/// Removes the commonest English endings. Less aggressive than Porter's stemmer, because a wrong match is worse than a missed one.
pub(in crate::memory) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() || word.contains(|c: char| c.is_ascii_digit()) {
        return word.to_owned();
    }
    let plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let word = word.strip_suffix("sses").map_or_else(|| word[..word.len() - usize::from(plural)].to_owned(), |base| format!("{base}ss"));
    let has_vowel = |base: &str| base.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let base = ["ing", "ed"].iter().find_map(|ending| word.strip_suffix(ending)).filter(|base| base.len() >= 3 && has_vowel(base));
    let base = base.map_or(word.as_str(), undouble);
    // Maps "rejection" to "reject" and "completion" to "complete".
    let base = base.strip_suffix("ion").filter(|base| base.len() >= 4).unwrap_or(base);
    let base = base.strip_suffix('e').filter(|base| base.len() >= 3).unwrap_or(base);
    // Maps "queries" and "query" to the same stem.
    base.strip_suffix('y').map_or_else(|| base.to_owned(), |base| format!("{base}i"))
}

/// `stopp` → `stop`, but `fill` stays.
fn undouble(base: &str) -> &str {
    let mut ends = base.bytes().rev();
    match (ends.next(), ends.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, b'l' | b's' | b'z') => &base[..base.len() - 1],
        _ => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_words_are_sorted_for_the_search_in_them() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn forms_of_a_word_meet_in_one_stem() {
        for forms in [
            &["step", "steps"][..],
            &["reject", "rejected", "rejection", "rejecting", "rejects"],
            &["complete", "completed", "completion", "completes"],
            &["reply", "replies", "replied"],
            &["stop", "stopped", "stopping"],
            &["query", "queries"],
            &["zombie", "zombies"],
            &["process", "processes", "processed"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?} gives {stems:?}");
        }
    }

    #[test]
    fn short_words_and_those_with_digits_stay_as_they_are() {
        for word in ["bus", "is", "pm2", "d-043", "status", "class"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn a_compound_is_found_by_itself_and_by_its_parts() {
        assert_eq!(words_of("`getPendingSteps(3)` in D-043"), ["getpendingsteps", "get", "pending", "steps", "3", "in", "d-043", "043"]);
    }

    #[test]
    fn one_wrong_letter_in_a_word_of_five_is_a_slip() {
        let query = Query::parse("marketng budgte crnae vendro plen Marz25", &[]);
        let means = |said: &str| query.terms.iter().any(|(term, _)| query.means(term, &stem(said)));
        for said in ["marketing", "budget", "crane", "vendor", "vendors"] {
            assert!(means(said), "{said}");
        }
        for said in ["plan", "crate", "render", "marz26", "budgets7"] {
            assert!(!means(said), "{said}");
        }
        assert!(!is_slip("horse", "horse") && !is_slip("horses", "nurse") && is_slip("house", "horse") && !is_slip_of("worse", "hors"));
    }

    #[test]
    fn a_word_that_is_known_is_not_mistyped() {
        let query = Query::parse("horse vendor", &[]);
        assert!(query.means("hors", "hous") && query.means("vendor", "vender"));
        let known = query.knowing(&[stem("horses")]);
        assert!(known.means("hors", "hors") && !known.means("hors", "hous") && known.means("vendor", "vender"));
    }

    #[test]
    fn a_question_keeps_its_subject_and_its_kind() {
        let query = Query::parse("Kelly, why were zombie steps a problem?", &["kelly".to_owned()]);
        assert_eq!(query.terms, [("zombi".to_owned(), 1.0), ("step".to_owned(), 1.0), ("problem".to_owned(), 0.3)]);
        assert_eq!(query.kind, QuestionKind::Why);
        assert!(Query::parse("what is the problem?", &[]).is_empty());
    }
}
