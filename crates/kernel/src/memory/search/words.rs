//! The words of a text, as they are stored for the full text search and as a question asks for them.

use crate::memory::retrieval::{Query, terms_of, words_of};

/// Longer words are addresses and keys.
const LONGEST: usize = 64;

/// A word of at least so many letters is also found by its beginning, which is the same in most of its forms and in many compounds.
const BENT: usize = 5;

/// Of a long subject, this many matching words are enough.
const WORDS: usize = 2;

/// The most words of a question that are looked for.
const MOST: usize = 40;

/// The words to be stored, separated by spaces: each as it stands, and its stem.
pub fn to_store(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in words_of(text).into_iter().chain(terms_of(text)).flat_map(|word| split(&word)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// What a question looks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Distinct stems with their weights.
    pub terms: Vec<(String, f64)>,
    /// How many of them a memory has to share to be about the question.
    pub enough: usize,
    /// Beginnings of words.
    prefixes: Vec<String>,
}

impl Wanted {
    /// None if the question names no subject, as most messages of a chat.
    pub fn parse(question: &str) -> Option<Self> {
        let query = Query::parse(question, &[]);
        if query.is_empty() {
            return None;
        }
        let mut terms: Vec<(String, f64)> = Vec::new();
        for (term, weight) in query.terms {
            for part in split(&term) {
                if terms.len() < MOST && !terms.iter().any(|(known, _)| *known == part) {
                    terms.push((part, weight));
                }
            }
        }
        let strong = terms.iter().filter(|(_, weight)| *weight >= 1.0);
        // A run of letters without spaces holds far more pairs than words.
        let enough = if terms.iter().any(|(term, _)| is_unspaced(term)) { 1 } else { strong.count().div_ceil(2).min(WORDS) };
        let prefixes = terms.iter().filter_map(|(term, _)| prefix(term)).collect();
        Some(Self { terms, enough, prefixes })
    }

    /// For FTS5. Words are letters and digits only, so nothing in them is an operator.
    pub fn for_sqlite(&self) -> String {
        let words = self.terms.iter().map(|(term, _)| format!("\"{term}\""));
        words.chain(self.prefixes.iter().map(|prefix| format!("\"{prefix}\"*"))).collect::<Vec<_>>().join(" OR ")
    }

    /// For `to_tsquery`.
    pub fn for_postgres(&self) -> String {
        let words = self.terms.iter().map(|(term, _)| format!("'{term}'"));
        words.chain(self.prefixes.iter().map(|prefix| format!("'{prefix}':*"))).collect::<Vec<_>>().join(" | ")
    }
}

fn prefix(term: &str) -> Option<String> {
    let letters = term.chars().count();
    (letters >= BENT && !is_unspaced(term)).then(|| term.chars().take(BENT.min(letters - 1)).collect())
}

/// Letters and digits of a word. One of a script without spaces becomes its pairs of letters.
pub(super) fn split(word: &str) -> Vec<String> {
    let clean: Vec<char> = word.chars().filter(|c| c.is_alphanumeric()).take(LONGEST).collect();
    if clean.is_empty() {
        return Vec::new();
    }
    let whole: String = clean.iter().collect();
    if clean.len() > 2 && is_unspaced(&whole) {
        return clean.windows(2).map(|pair| pair.iter().collect()).collect();
    }
    vec![whole]
}

/// Whether it is written in a script that puts no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
fn is_unspaced(word: &str) -> bool {
    word.chars().any(|c| {
        matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stored_as_they_stand_and_by_their_stems() {
        assert_eq!(to_store("We deploy on Thursdays, D-043!"), "we deploy on thursdays d043 043 deploi thursdai");
        assert_eq!(to_store("我们周四部署"), "我们 们周 周四 四部 部署");
        assert_eq!(to_store("?! —"), "");
    }

    #[test]
    fn a_question_looks_for_its_subject_in_all_its_forms() {
        let wanted = Wanted::parse("When are the deployments?").expect("a subject");
        assert_eq!(wanted.for_sqlite(), r#""deployment" OR "deplo"*"#);
        assert_eq!(wanted.for_postgres(), "'deployment' | 'deplo':*");
        assert_eq!(Wanted::parse("what is it?"), None);
        assert_eq!(Wanted::parse("what about \" OR ' | :* & !"), None);
    }
}
