//! The words of a text, and which of them are names by how they are written.

use std::collections::BTreeSet;

/// The words of a text, with whether each begins a sentence. Files, numbers and ids stay whole.
pub fn tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut begins = true;
    text.split_whitespace().flat_map(move |word| {
        let first = std::mem::replace(&mut begins, word.ends_with(['.', '!', '?', ':', '"', '”']));
        let parts = word.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '\'' | '’' | ',')));
        let clean = |part: &str| part.len() - part.trim_matches(|c: char| !c.is_alphanumeric()).len();
        parts
            .filter(move |part| part.len() > clean(part))
            .map(move |part| (part.trim_matches(|c: char| !c.is_alphanumeric()), first || !word.starts_with(part)))
    })
}

pub fn is_capital(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
}

/// Whether capital letters show which words are names. They do not in languages that write all nouns with a capital.
pub fn shows_names(words: &[(&str, bool)]) -> bool {
    let capitals = words.iter().filter(|(word, first)| !first && is_capital(word)).count();
    capitals * 4 <= words.len()
}

/// The names in a text, in lower case: words with a capital that do not begin a sentence. None if capitals do not show names.
pub fn list_names(text: &str) -> BTreeSet<String> {
    let words: Vec<(&str, bool)> = tokens(text).collect();
    let names = words.iter().filter(|(word, first)| !first && is_capital(word)).map(|(word, _)| word.to_lowercase());
    if shows_names(&words) { names.collect() } else { BTreeSet::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_seen_where_capitals_show_them() {
        let names = |text: &str| list_names(text).into_iter().collect::<Vec<_>>();
        assert_eq!(names("The provider in Zurich runs PostgreSQL for us. Nobody has asked it for a price."), ["postgresql", "zurich"]);
        assert_eq!(names("Der Anbieter in Zürich nennt den Preis für den Betrieb der Datenbank."), [""; 0]);
        assert_eq!(names("供应商在苏黎世运行数据库。"), [""; 0]);
    }
}
