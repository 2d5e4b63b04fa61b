//! Searches the files of a conversation together with what feeds say.

use std::collections::HashMap;

use crate::agent::files::{File, Files};
use crate::memory::retrieval::{Hit, Library, Query, terms_of};

/// How much more a passage counts if the question is about its file.
const FOCUS: f64 = 1.3;
/// The most hits that are compared.
const HITS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Conversation,
    Older,
}

/// The files and the feeds' documents and facts, with an index.
#[derive(Debug, Default)]
pub struct Search {
    library: Library,
    /// The origin of each file, by the name under which it is cited. Other names belong to feeds.
    origins: HashMap<String, Origin>,
}

impl Search {
    /// `cite` says how a file is called in citations, with its day if it is from before.
    pub fn new(files: &Files, cite: impl Fn(&File, bool) -> String) -> Self {
        let mut search = Self::default();
        let focus = if files.is_meant { FOCUS } else { 1.0 };
        let all =
            [(&files.focus, focus, Origin::Conversation), (&files.near, 1.0, Origin::Conversation), (&files.older, 1.0, Origin::Older)];
        for (files, boost, origin) in all {
            for file in files {
                if let Some(text) = &file.text {
                    let name = cite(file, origin == Origin::Older);
                    search.library.add_document(&name, text, boost);
                    search.origins.insert(name, origin);
                }
            }
        }
        search
    }

    pub fn add_document(&mut self, name: &str, text: &str) {
        self.library.add_document(name, text, 1.0);
    }

    pub fn add_fact(&mut self, reference: String, text: &str, by: Option<&str>) {
        self.library.add_fact(reference, text, by);
    }

    /// The best passages, best first. A file from before counts only if nothing in the conversation fits, one of its passages has every subject of
    /// the question, and no feed fits better.
    pub fn find(&self, query: &Query, limit: usize) -> Vec<Hit<'_>> {
        let hits = self.library.find(query, HITS);
        let origin = |hit: &Hit<'_>| self.origins.get(hit.source);
        let in_conversation = hits.iter().any(|hit| origin(hit) == Some(&Origin::Conversation));
        let of_feeds = hits.iter().filter(|hit| origin(hit).is_none()).map(|hit| hit.score).fold(0.0, f64::max);
        let counts = |hit: &Hit<'_>| {
            origin(hit) != Some(&Origin::Older) || !in_conversation && hit.score > of_feeds && has_every_subject(hit, query)
        };
        hits.into_iter().filter(counts).take(limit).collect()
    }

    /// Whether these passages together contain every term of the question.
    pub fn covers(&self, query: &Query, hits: &[Hit<'_>]) -> bool {
        self.library.covers(query, hits)
    }
}

fn has_every_subject(hit: &Hit<'_>, query: &Query) -> bool {
    let mut terms = terms_of(&hit.passage.text());
    hit.passage.headings.iter().for_each(|heading| terms.extend(terms_of(heading)));
    query.terms.iter().filter(|(_, weight)| *weight >= 1.0).all(|(term, _)| terms.contains(term))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::feeds::now;

    fn file(name: &str, text: &str) -> File {
        File { name: name.into(), by: "Ann".into(), at: now(), text: Some(text.into()), is_shown: false, is_heard: false, note: None }
    }

    fn found(files: &Files, facts: &[&str], question: &str) -> Vec<String> {
        let mut search = Search::new(files, |file, is_older| format!("{}{}", if is_older { "old " } else { "" }, file.name));
        for fact in facts {
            search.add_fact("feed".into(), fact, None);
        }
        let hits = search.find(&Query::parse(question, &[]), 5);
        hits.iter().map(|hit| hit.source.to_owned()).collect()
    }

    #[test]
    fn a_file_from_before_answers_only_what_it_is_about() {
        let launch = file("launch.md", "The launch costs 400 dollars and is on Friday.");
        let files = Files { older: vec![launch.clone()], ..Files::default() };
        assert_eq!(found(&files, &[], "what does the launch cost?"), ["old launch.md"]);
        assert!(found(&files, &[], "what does the server cost?").is_empty(), "it says nothing of servers");
        assert!(found(&files, &["Prepare the launch: cost table, launch page"], "what does the launch cost?").first().unwrap() == "feed");
        let files = Files { near: vec![file("today.md", "The launch costs nothing.")], older: vec![launch], ..Files::default() };
        assert_eq!(found(&files, &[], "what does the launch cost?"), ["today.md"]);
    }

    #[test]
    fn the_file_that_is_meant_comes_first() {
        let (a, b) = (file("a.md", "The queue."), file("b.md", "The queue."));
        let files = Files { focus: vec![b], is_meant: true, near: vec![a], ..Files::default() };
        assert_eq!(found(&files, &[], "queue"), ["b.md", "a.md"]);
    }
}
