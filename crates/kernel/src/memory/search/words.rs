//! The words of a text, as they are stored for the full text search and as a question asks for them.

use crate::memory::retrieval::{Query, terms_of, words_of};

/// Longer words are addresses and keys.
const LONGEST: usize = 64;

/// The weight of a word that is hardly the subject.
const WEAK: f64 = 0.3;

/// Of a long subject, this many matching words are enough.
const WORDS: usize = 2;

/// The most words of a question that are looked for.
const MOST: usize = 40;

/// The words to be stored, separated by spaces: each as written, and its stem.
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
}

impl Wanted {
    /// None if the question names no subject, like most messages of a chat.
    pub fn parse(question: &str) -> Option<Self> {
        Self::parse_with(question, &[])
    }

    /// Like [`Self::parse`]. The words in `weak` are hardly the subject of the question.
    pub fn parse_with(question: &str, weak: &[String]) -> Option<Self> {
        let query = Query::parse(question, &[]);
        let weak: Vec<String> = weak.iter().flat_map(|word| terms_of(word)).collect();
        let mut terms: Vec<(String, f64)> = Vec::new();
        for (term, weight) in query.terms {
            let weight = if weak.contains(&term) { WEAK.min(weight) } else { weight };
            for part in split(&term) {
                if terms.len() < MOST && !terms.iter().any(|(known, _)| *known == part) {
                    terms.push((part, weight));
                }
            }
        }
        let strong = terms.iter().filter(|(_, weight)| *weight >= 1.0).count();
        if strong == 0 {
            return None;
        }
        // A run of letters without spaces holds far more pairs than words.
        let enough = if terms.iter().any(|(term, _)| is_unspaced(term)) { 1 } else { strong.div_ceil(2).min(WORDS) };
        Some(Self { terms, enough })
    }
}

/// For FTS5. Words are letters and digits only, so nothing in them is an operator.
pub(in crate::memory) fn for_sqlite(groups: &[Vec<String>]) -> String {
    let group = |words: &Vec<String>| format!("({})", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" AND "));
    groups.iter().map(group).collect::<Vec<_>>().join(" OR ")
}

/// For `to_tsquery`.
pub(in crate::memory) fn for_postgres(groups: &[Vec<String>]) -> String {
    let group = |words: &Vec<String>| format!("({})", words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" & "));
    groups.iter().map(group).collect::<Vec<_>>().join(" | ")
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
    fn a_question_looks_for_its_subject() {
        let wanted = Wanted::parse("When are the deployments?").expect("a subject");
        assert_eq!(wanted.terms, [("deployment".to_owned(), 1.0)]);
        assert_eq!(Wanted::parse("what is it?"), None);
        assert_eq!(Wanted::parse("what about \" OR ' | :* & !"), None);
        let weak = ["ann".to_owned(), "last".to_owned(), "week".to_owned()];
        let wanted = Wanted::parse_with("What did Ann say last week about the launch?", &weak).expect("a subject");
        assert_eq!((wanted.enough, wanted.terms.last()), (1, Some(&("launch".to_owned(), 1.0))));
        assert_eq!(Wanted::parse_with("What did Ann say last week?", &weak), None);
    }

    #[test]
    fn words_are_asked_for_in_the_language_of_each_database() {
        let groups = [vec!["launch".to_owned()], vec!["may".to_owned(), "june".to_owned()]];
        assert_eq!(for_sqlite(&groups), r#"("launch") OR ("may" AND "june")"#);
        assert_eq!(for_postgres(&groups), "('launch') | ('may' & 'june')");
    }
}
