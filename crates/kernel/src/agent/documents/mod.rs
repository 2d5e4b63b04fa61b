//! Documents: the passages on a subject for a prompt, and the tool that reads further.

mod tool;

use crate::agent::{Agents, FeedsRead};
use crate::db::Result;
use crate::feeds::Document;
use crate::ids::PersonaSlug;
use crate::memory::retrieval::{Passage, Query, Quote, cut, split};
use crate::memory::search::TextSearch;
use crate::memory::{Memory, MemoryKind, Recall, Scope};

pub use tool::ReadDocument;

/// Limits: the passages in a prompt, and the characters of each.
const PASSAGES: usize = 5;
const PASSAGE: usize = 900;

/// A document that is no longer is given whole.
const WHOLE: usize = 1200;

/// The documents of a feed with a search index.
#[derive(Default)]
pub struct DocumentSearch {
    documents: Vec<Document>,
    /// Each with the position of its document.
    passages: Vec<(usize, Passage)>,
    search: TextSearch,
}

impl DocumentSearch {
    pub fn new(documents: Vec<Document>) -> Self {
        let of = |(position, document): (usize, &Document)| split(&document.text).into_iter().map(move |passage| (position, passage));
        let passages: Vec<(usize, Passage)> = documents.iter().enumerate().flat_map(of).collect();
        let texts: Vec<String> = passages.iter().map(|(position, passage)| searched(&documents[*position], passage)).collect();
        let search = TextSearch::new(texts.iter().map(String::as_str));
        Self { documents, passages, search }
    }

    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Passages on a subject with their places, best first. A short document is given whole.
    fn find(&self, subject: &str, persona: Option<&PersonaSlug>, is_loose: bool) -> Vec<Quote> {
        let query = Query::parse(subject, &[]);
        let mut quotes: Vec<Quote> = Vec::new();
        for hit in self.search.find(subject, persona, PASSAGES, is_loose) {
            let (position, passage) = &self.passages[hit];
            let quote = quote(&self.documents[*position], passage, &query);
            if !quotes.contains(&quote) {
                quotes.push(quote);
            }
        }
        quotes
    }
}

/// The text of a passage with the name of its document and all headings above it.
fn searched(document: &Document, passage: &Passage) -> String {
    let name = document.name.replace(['.', '/'], " ");
    std::iter::once(name.as_str())
        .chain(passage.headings.iter().map(String::as_str))
        .chain([passage.text().as_str()])
        .collect::<Vec<_>>()
        .join("\n")
}

fn quote(document: &Document, passage: &Passage, query: &Query) -> Quote {
    let text = document.text.trim_end();
    if text.chars().count() <= WHOLE {
        return Quote { text: text.to_owned(), place: format!("{}, whole, lines 1–{}", document.name, text.lines().count().max(1)) };
    }
    let (text, lines) = passage.quote(query, PASSAGE);
    Quote { text, place: passage.place(&document.name, lines) }
}

impl FeedsRead {
    /// Passages of the feeds' documents on a subject, best first. If none is about it, those that are close to it.
    pub fn find_passages(&self, subject: &str) -> Vec<Quote> {
        let found = self.rank_passages(subject, false);
        if found.is_empty() { self.rank_passages(subject, true) } else { found }
    }

    /// Takes the best passages of each feed in turn, because feeds are ranked apart. A folder may be part of another one.
    fn rank_passages(&self, subject: &str, is_loose: bool) -> Vec<Quote> {
        let found: Vec<Vec<Quote>> =
            self.documents.iter().map(|documents| documents.find(subject, self.persona.as_ref(), is_loose)).collect();
        let mut quotes: Vec<Quote> = Vec::new();
        for quote in (0..PASSAGES).flat_map(|rank| found.iter().filter_map(move |found| found.get(rank))) {
            if quotes.len() < PASSAGES && !quotes.iter().any(|known| known.text == quote.text) {
                quotes.push(quote.clone());
            }
        }
        quotes
    }
}

impl Agents {
    /// Passages on a subject for work and meetings: of the feeds' documents, and of what was posted in knowledge channels. (Answers recall the latter
    /// with what was said.)
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn find_passages(&self, read: &FeedsRead, subject: &str, scope: &Scope) -> Result<Vec<Quote>> {
        let asked = Recall { kinds: &[MemoryKind::Document], ..Recall::new(subject, scope, PASSAGES) };
        let posted = self.store.recall(&asked).await?;
        Ok(read.find_passages(subject).into_iter().chain(posted.iter().filter_map(quote_posted)).collect())
    }
}

fn quote_posted(memory: &Memory) -> Option<Quote> {
    let part = memory.origin.as_ref()?.part.as_ref()?;
    let heading = part.heading.as_deref().map_or(String::new(), |heading| format!(", {heading}"));
    let place = format!("{}{heading}, lines {}–{}", part.document, part.lines.0, part.lines.1);
    Some(Quote { text: cut(&memory.text, PASSAGE), place })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folders: &[&[(&str, &str)]]) -> FeedsRead {
        let document = |(name, text): &(&str, &str)| Document { name: (*name).into(), text: (*text).into(), changed_at: None };
        let search = |folder: &&[(&str, &str)]| DocumentSearch::new(folder.iter().map(document).collect()).into();
        FeedsRead { persona: None, reports: Vec::new(), documents: folders.iter().map(search).collect() }
    }

    fn found(read: &FeedsRead, subject: &str) -> Vec<String> {
        read.find_passages(subject).into_iter().map(|quote| quote.place).collect()
    }

    const RULES: &str = "# Rules\n\n## Pager\n\nAbove 400 ms the pager rings.\n\n## Weekends\n\nDana is on call on Saturdays.\n";

    #[test]
    fn a_short_document_is_given_whole_with_its_lines() {
        let folder = [("on-call-rules.md", RULES), ("lunch.md", "Soup on Mondays.")];
        let read = read(&[&folder]);
        assert_eq!(found(&read, "Who is on call on Saturdays?"), ["on-call-rules.md, whole, lines 1–9"]);
        assert_eq!(read.find_passages("when does the pager ring?")[0].text, RULES.trim_end());
    }

    #[test]
    fn a_document_is_found_by_its_name_alone() {
        let read = read(&[&[("on-call-rules.md", RULES), ("lunch.md", "Soup on Mondays.")]]);
        assert_eq!(found(&read, "please read the on-call rules"), ["on-call-rules.md, whole, lines 1–9"]);
        assert_eq!(found(&read, "what is new?"), Vec::<String>::new());
    }

    #[test]
    fn of_a_long_document_the_passages_are_given_best_first() {
        let long = format!("# Rules\n\n{}## Weekends\n\nDana is on call on Saturdays.\n", "Nothing of it here.\n\n".repeat(100));
        let read = read(&[&[("rules.md", &long)]]);
        let quotes = read.find_passages("who is on call on Saturdays?");
        assert_eq!(quotes[0].place, "rules.md, Weekends, line 205");
        assert_eq!(quotes[0].text, "Dana is on call on Saturdays.");
    }

    #[test]
    fn a_folder_within_another_one_gives_its_passages_once() {
        let (inner, outer) = ([("rules.md", "The pager rings for Dana.")], [("ops/rules.md", "The pager rings for Dana.")]);
        assert_eq!(found(&read(&[&inner, &outer]), "for whom does the pager ring?"), ["rules.md, whole, lines 1–1"]);
    }
}
