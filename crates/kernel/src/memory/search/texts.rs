//! The same search for texts that are not in the database, such as the files of a folder.

use chrono::DateTime;

use crate::ids::PersonaSlug;
use crate::memory::search::index::{Entry, Index};
use crate::memory::search::question::Question;
use crate::memory::search::ranking::Search;
use crate::memory::search::{HEARD, Recall, Vector, to_store};
use crate::memory::{MemoryKind, Scope};

/// Texts with a search index.
#[derive(Default)]
pub struct TextSearch {
    index: Index,
    numbers: Vec<i64>,
}

impl TextSearch {
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut search = Self::default();
        for (number, text) in (0..).zip(texts) {
            search.index.set(&entry(number, text), None);
            search.numbers.push(number);
        }
        search
    }

    /// The positions of up to `limit` texts on a subject, best first. `is_loose`: also those that are only close to it.
    /// `persona`: who is asked, and hardly the subject.
    pub fn find(&self, subject: &str, persona: Option<&PersonaSlug>, limit: usize, is_loose: bool) -> Vec<usize> {
        let asked = Recall { persona, kinds: HEARD, ..Recall::new(subject, &Scope::TEAM, limit) };
        let question = Question::parse(&asked, &self.index);
        if question.wanted.is_none() {
            return Vec::new();
        }
        let admission = self.index.admission(&asked);
        let letters = Vector::of(subject).to_bytes();
        let search = Search { question: &question, admission: &admission, letters: Some(&letters), meaning: None, is_loose };
        let ranked = self.index.rank(&search, &self.index.find_near(&search), &self.numbers);
        ranked.into_iter().take(limit).filter_map(|number| usize::try_from(number).ok()).collect()
    }
}

fn entry(number: i64, text: &str) -> Entry {
    Entry {
        number,
        kind: MemoryKind::Document,
        persona: None,
        place: None,
        person: None,
        message: None,
        at: DateTime::UNIX_EPOCH,
        significance: 0.0,
        is_live: true,
        words: to_store(text),
        hashed: Vector::of(text).to_bytes(),
        meaning: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_on_a_subject_are_found_best_first_and_others_are_not() {
        let texts = ["The pager goes to Dana on weekends.", "Lunch is at noon.", "Above 400 ms the pager rings for Dana and Bob."];
        let search = TextSearch::new(texts);
        assert_eq!(search.find("who has the pager if it is above 400 ms?", None, 3, false), [2, 0]);
        assert_eq!(search.find("who has the pager if it is above 400 ms?", None, 1, false), [2]);
        let loosely = "who knows the plan for noon on weekdays?";
        assert_eq!((search.find(loosely, None, 3, false), search.find(loosely, None, 3, true).first()), (Vec::new(), Some(&1)));
        assert_eq!(search.find("kubernetes", None, 3, false), Vec::<usize>::new());
        assert_eq!(search.find("and what about that?", None, 3, true), Vec::<usize>::new());
        assert_eq!(TextSearch::default().find("pager", None, 3, true), Vec::<usize>::new());
    }
}
