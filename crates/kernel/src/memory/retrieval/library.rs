//! Ranks passages with BM25.

use std::collections::{HashMap, HashSet};

use crate::memory::retrieval::passage;
use crate::memory::retrieval::passage::Passage;
use crate::memory::retrieval::terms::{Query, Vocabulary};

/// BM25's term saturation and length normalisation. The usual values, the second one lowered because passages have similar lengths.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// The weight of a word in the nearest heading. Words of higher headings have half of it.
const HEADING: f64 = 1.5;
/// The factor for passages that match only in headings: the right section, but maybe not the right place.
const HEADING_ONLY: f64 = 0.6;
/// The distance within which two neighbouring words of the question count as adjacent in a passage.
const NEAR: usize = 3;
const PHRASE: f64 = 0.5;
/// The bonus for each word that signals the kind of answer wanted, such as "because" for a why-question. At most three count.
const CUE: f64 = 0.2;
/// The factor for code, compared with prose.
const CODE: f64 = 0.6;
/// The number of imaginary passages added to the statistics. In a short document, a word that occurs would otherwise have too little
/// weight.
const BACKGROUND: f64 = 100.0;
/// The share of the question's weight that a passage must match. Below half it is about something else. In documents no word weighs more
/// than one that two passages have: "money marketing" is answered with "12,000 for marketing".
const COVERAGE: f64 = 0.5;

/// For this share, a word that fewer passages have counts as if this many had it.
const FEWEST: f64 = 2.0;

/// The factor for a word that occurs only with another letter.
const SLIP: f64 = 0.7;

/// From this frequency on, a passage speaks of a word and does not only mention it: the word is in its heading, or is repeated.
const WELL: f64 = 1.5;

/// Documents and facts with a search index.
#[derive(Debug, Default)]
pub struct Library {
    entries: Vec<Entry>,
    vocabulary: Vocabulary,
    /// The number of passages with a term.
    frequency: HashMap<u32, usize>,
    /// The same of documents alone, and their number of passages.
    in_documents: HashMap<u32, usize>,
    documents: usize,
    total_terms: usize,
}

#[derive(Debug)]
struct Entry {
    source: String,
    passage: Passage,
    /// True for a feed's fact, which has a reference instead of lines.
    fact: bool,
    boost: f64,
    terms: Vec<u32>,
    headings: Vec<u32>,
    outer_headings: Vec<u32>,
}

/// A matching passage.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The document's name, or the reference of a fact.
    pub source: &'a str,
    pub passage: &'a Passage,
    pub fact: bool,
    pub score: f64,
}

impl Library {
    /// Adds a document. `boost` above 1 ranks it higher.
    pub fn add_document(&mut self, name: &str, text: &str, boost: f64) {
        for passage in passage::split(text) {
            self.add(name.to_owned(), passage, false, boost);
        }
    }

    /// Adds a fact with its reference. The author is indexed like a heading.
    pub fn add_fact(&mut self, reference: String, text: &str, by: Option<&str>) {
        let passage = Passage { headings: by.map(str::to_owned).into_iter().collect(), lines: vec![(1, text.to_owned())], code: false };
        self.add(reference, passage, true, 1.0);
    }

    fn add(&mut self, source: String, passage: Passage, fact: bool, boost: f64) {
        let terms: Vec<u32> = passage.lines.iter().flat_map(|(_, line)| self.vocabulary.read(line)).collect();
        let (headings, outer_headings) = match passage.headings.split_last() {
            Some((nearest, outer)) => (self.vocabulary.read(nearest), self.vocabulary.read(&outer.join(" "))),
            None => Default::default(),
        };
        let distinct: HashSet<u32> = terms.iter().chain(&headings).chain(&outer_headings).copied().collect();
        for term in distinct {
            *self.frequency.entry(term).or_default() += 1;
            if !fact {
                *self.in_documents.entry(term).or_default() += 1;
            }
        }
        self.documents += usize::from(!fact);
        self.total_terms += terms.len();
        self.entries.push(Entry { source, passage, fact, boost, terms, headings, outer_headings });
    }

    /// The best passages, best first, at most `limit`. Passages that match less than half of the question are left out.
    pub fn find(&self, query: &Query, limit: usize) -> Vec<Hit<'_>> {
        if query.is_empty() {
            return Vec::new();
        }
        let terms: Vec<Wanted> = query.terms.iter().map(|(term, weight)| self.wanted(query, term, *weight)).collect();
        let mut hits: Vec<(f64, &Entry)> =
            self.entries.iter().filter_map(|entry| self.score(entry, query, &terms).map(|score| (score, entry))).collect();
        // The sort is stable, so equal passages stay in document order.
        hits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        hits.truncate(limit);
        hits.into_iter().map(|(score, entry)| Hit { source: &entry.source, passage: &entry.passage, fact: entry.fact, score }).collect()
    }

    /// Whether these passages together contain every term of the question, in their text or headings.
    pub fn covers(&self, query: &Query, hits: &[Hit<'_>]) -> bool {
        let entries: Vec<&Entry> =
            self.entries.iter().filter(|entry| hits.iter().any(|hit| std::ptr::eq(hit.passage, &raw const entry.passage))).collect();
        query.terms.iter().all(|(term, _)| {
            let number = self.number(query, term);
            number.is_some_and(|number| {
                entries
                    .iter()
                    .any(|entry| [&entry.terms, &entry.headings, &entry.outer_headings].iter().any(|terms| terms.contains(&number)))
            })
        })
    }

    /// A query term with its inverse document frequency, in the variant that is never negative.
    #[expect(clippy::cast_precision_loss, reason = "counts of passages are small")]
    fn wanted(&self, query: &Query, term: &str, weight: f64) -> Wanted {
        let number = self.number(query, term);
        let slip = if number.is_some() && self.vocabulary.find(term).is_none() { SLIP } else { 1.0 };
        let weight = weight * slip;
        let weigh = |with: f64, all: usize| weight * (1.0 + (BACKGROUND + all as f64 - with + 0.5) / (with + 0.5)).ln();
        let count = |of: &HashMap<u32, usize>| number.and_then(|number| of.get(&number)).copied().unwrap_or(0) as f64;
        let often = count(&self.in_documents);
        let in_documents = weigh(often.max(FEWEST), self.documents);
        let is_rare = (1.0..=FEWEST).contains(&often) && weight >= SLIP;
        Wanted { number, weight: weigh(count(&self.frequency), self.entries.len()), in_documents, is_rare }
    }

    /// The number of a term, or of the one that it probably means.
    fn number(&self, query: &Query, term: &str) -> Option<u32> {
        let near = || query.word_of(term).and_then(|word| self.vocabulary.find_near(word));
        self.vocabulary.find(term).or_else(near)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of terms are small")]
    fn score(&self, entry: &Entry, query: &Query, terms: &[Wanted]) -> Option<f64> {
        let found: Vec<(f64, f64)> =
            terms.iter().map(|term| (term.weight, entry.frequency(term))).filter(|(_, often)| *often > 0.0).collect();
        // One word of two is too little for a line of a feed: a commit is about what it did.
        let share = |term: &Wanted| if entry.fact { term.weight } else { term.in_documents };
        let covered: f64 = terms.iter().filter(|term| entry.frequency(term) > 0.0).map(share).sum();
        // A document that speaks of a rare word answers, whatever else the question mentions.
        let speaks = !entry.fact && terms.iter().any(|term| term.is_rare && entry.frequency(term) >= WELL);
        if covered < COVERAGE * terms.iter().map(share).sum::<f64>() && !speaks {
            return None;
        }
        let cues = count_cues(entry, query).min(3) as f64;
        // Passages that match only in headings are not ranked by length.
        let in_text = terms.iter().filter_map(|term| term.number).any(|number| entry.terms.contains(&number));
        let place = if in_text || cues > 0.0 { 1.0 } else { HEADING_ONLY };
        let prose = if entry.passage.code { CODE } else { 1.0 };
        let average = (self.total_terms as f64 / self.entries.len() as f64).max(1.0);
        let length = if in_text { 1.0 - LENGTH + LENGTH * entry.terms.len() as f64 / average } else { 1.0 };
        let words: f64 = found.iter().map(|(weight, often)| weight * often * (SATURATION + 1.0) / (often + SATURATION * length)).sum();
        let together = terms.windows(2).filter(|pair| entry.holds_near(&pair[0], &pair[1]));
        let phrases: f64 = together.map(|pair| PHRASE * (pair[0].weight + pair[1].weight)).sum();
        Some((words + phrases) * place * prose * entry.boost * (1.0 + CUE * cues))
    }
}

/// A query term. Without a number if no passage contains it.
struct Wanted {
    number: Option<u32>,
    weight: f64,
    /// The same among documents, limited.
    in_documents: f64,
    /// At most two passages of documents have it.
    is_rare: bool,
}

impl Entry {
    /// The frequency of a term, with headings weighted.
    #[expect(clippy::cast_precision_loss, reason = "counts of terms are small")]
    fn frequency(&self, term: &Wanted) -> f64 {
        let count = |terms: &[u32]| terms.iter().filter(|number| Some(**number) == term.number).count() as f64;
        count(&self.terms) + HEADING * count(&self.headings).min(1.0) + HEADING / 2.0 * count(&self.outer_headings).min(1.0)
    }

    /// Whether two terms are close to each other in the text or a heading.
    fn holds_near(&self, first: &Wanted, second: &Wanted) -> bool {
        let numbers = first.number.zip(second.number);
        numbers.is_some_and(|(first, second)| [&self.terms, &self.headings].iter().any(|terms| stand_near(terms, first, second)))
    }
}

fn stand_near(terms: &[u32], first: u32, second: u32) -> bool {
    let mut places = terms.iter().enumerate().filter(|(_, term)| **term == first).map(|(at, _)| at);
    places.any(|at| terms[at + 1..].iter().take(NEAR).any(|term| *term == second))
}

fn count_cues(entry: &Entry, query: &Query) -> usize {
    let text = entry.passage.text().to_lowercase();
    let has = |cue: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == cue);
    query.kind.cues().iter().filter(|cue| has(cue)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(library: &'a Library, question: &str) -> Vec<&'a str> {
        library.find(&Query::parse(question, &[]), 5).iter().map(|hit| hit.source).collect()
    }

    fn library(documents: &[(&str, &str)]) -> Library {
        let mut library = Library::default();
        for (name, text) in documents {
            library.add_document(name, text, 1.0);
        }
        library
    }

    #[test]
    fn words_that_stand_together_win_over_the_same_words_apart() {
        let library = library(&[
            ("apart", "The stop of the bus is near the soft green hill."),
            ("together", "Then comes the soft stop on the hill."),
        ]);
        assert_eq!(found(&library, "soft stop"), ["together", "apart"]);
    }

    #[test]
    fn a_why_prefers_the_passage_that_gives_a_reason() {
        let library = library(&[("what", "The queue was removed in May."), ("why", "The queue was removed because it leaked.")]);
        assert_eq!(found(&library, "why was the queue removed?")[0], "why");
    }

    #[test]
    fn a_heading_speaks_for_the_whole_section() {
        let library = library(&[("a", "## Retries\n\nThree times, then a person decides.\n\n## Other\n\nNothing.")]);
        assert_eq!(library.find(&Query::parse("retries", &[]), 5).len(), 1);
    }

    #[test]
    fn half_of_the_question_is_not_enough_when_the_rare_half_is_missing() {
        let library = library(&[("a", "The step failed.\n\nThe next step failed too.\n\nA step again.")]);
        assert!(found(&library, "kubernetes step").is_empty());
        assert!(found(&library, "what?").is_empty());
        assert!(found(&Library::default(), "step").is_empty());
    }

    #[test]
    fn a_rare_half_of_the_question_is_enough_in_a_document_and_not_in_a_fact() {
        let mut library = library(&[("plan", "12,000 for marketing.\n\n3,000 for the crane.")]);
        (1..9).for_each(|number| library.add_fact(format!("commit {number}"), "Rename the marketing page", None));
        assert_eq!(found(&library, "money marketing"), ["plan"]);
    }

    #[test]
    fn a_passage_that_speaks_of_a_rare_word_is_found_whatever_else_is_said() {
        let library = library(&[
            ("plan", "# Plan\n\n## Marketing\n\nIt gets 12,000 francs.\n\n## Crane\n\nIt comes on Monday. The weather may delay it."),
            ("notes", "Somebody mentioned the printer once.\n\nWe had coffee."),
        ]);
        assert_eq!(found(&library, "yesterday evening my cousin and the plumber wondered about marketing"), ["plan"]);
        assert!(found(&library, "yesterday evening my cousin and the plumber wondered about the printer").is_empty(), "mentioned only");
    }

    #[test]
    fn a_mistyped_word_finds_its_passage_unless_it_is_a_word_of_its_own() {
        let library = library(&[("a", "12,000 for marketing."), ("b", "The horse eats."), ("c", "The house is red.")]);
        assert_eq!(found(&library, "how much for marketng?"), ["a"]);
        assert_eq!(found(&library, "what colour has the house?"), ["c"], "no horse");
        let query = Query::parse("marketng", &[]);
        assert!(library.covers(&query, &library.find(&query, 5)));
    }

    #[test]
    fn equal_passages_stay_in_the_order_of_the_documents_unless_one_is_preferred() {
        let mut library = library(&[("first", "The queue."), ("second", "The queue.")]);
        assert_eq!(found(&library, "queue"), ["first", "second"]);
        library.add_document("own", "The queue.", 1.3);
        assert_eq!(found(&library, "queue"), ["own", "first", "second"]);
    }
}
