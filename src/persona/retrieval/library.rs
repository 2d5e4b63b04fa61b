//! Ranking: BM25 over passages.

use std::collections::HashMap;

use super::passage::{self, Passage};
use super::terms::{Query, terms_of};

/// How soon more of the same word stops counting, and how much long passages are held back. The usual values of BM25, the second
/// lowered because passages are cut to about one length already.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// A word of the nearest heading counts as this many in the text; one of a heading further up as half of that.
const HEADING: f64 = 1.5;
/// Two neighbouring words of the question that stand at most this many words apart in the passage, in their order.
const NEAR: usize = 3;
const PHRASE: f64 = 0.5;
/// For each sign that a passage gives the kind of answer asked for, as "because" does for a why. Three are enough.
const CUE: f64 = 0.2;
/// Passages of other texts that are thought of as being there too, so that in a short text a word that it does hold is no less worth
/// than one that it does not.
const BACKGROUND: f64 = 100.0;
/// How much of the question, by weight, a passage must speak of. Below half it speaks of something else.
const COVERAGE: f64 = 0.5;

/// Documents and single facts, ready to be searched.
#[derive(Debug, Default)]
pub struct Library {
    entries: Vec<Entry>,
    /// In how many passages a term occurs.
    frequency: HashMap<String, usize>,
    total_terms: usize,
}

#[derive(Debug)]
struct Entry {
    source: String,
    passage: Passage,
    /// True for a fact of a feed, which has a reference of its own and no lines.
    fact: bool,
    boost: f64,
    terms: Vec<String>,
    headings: Vec<String>,
    outer_headings: Vec<String>,
}

/// A passage that speaks of what was asked.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The document's name, or where a fact stands.
    pub source: &'a str,
    pub passage: &'a Passage,
    pub fact: bool,
    pub score: f64,
}

impl Library {
    /// Adds a document. `boost` above 1 prefers it over others that say as much.
    pub fn add_document(&mut self, name: &str, text: &str, boost: f64) {
        for passage in passage::split(text) {
            self.add(name.to_owned(), passage, false, boost);
        }
    }

    /// Adds a single fact with its own reference. Who did it is found like a heading.
    pub fn add_fact(&mut self, reference: String, text: &str, by: Option<&str>) {
        let passage = Passage { headings: by.map(str::to_owned).into_iter().collect(), lines: vec![(1, text.to_owned())] };
        self.add(reference, passage, true, 1.0);
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn add(&mut self, source: String, passage: Passage, fact: bool, boost: f64) {
        let terms = terms_of(&passage.text());
        let (headings, outer_headings) = match passage.headings.split_last() {
            Some((nearest, outer)) => (terms_of(nearest), terms_of(&outer.join(" "))),
            None => Default::default(),
        };
        let mut distinct: Vec<&String> = terms.iter().chain(&headings).chain(&outer_headings).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for term in distinct {
            // Looked up first: a term is seen a hundred times before a new one has to be copied.
            if let Some(count) = self.frequency.get_mut(term) {
                *count += 1;
            } else {
                self.frequency.insert(term.clone(), 1);
            }
        }
        self.total_terms += terms.len();
        self.entries.push(Entry { source, passage, fact, boost, terms, headings, outer_headings });
    }

    /// The best passages, best first, at most `limit`. Nothing where no passage speaks of at least half of what was asked.
    pub fn find(&self, query: &Query, limit: usize) -> Vec<Hit<'_>> {
        if query.is_empty() {
            return Vec::new();
        }
        let weights: Vec<f64> = query.terms.iter().map(|(term, weight)| weight * self.rarity(term)).collect();
        let mut hits: Vec<(f64, &Entry)> =
            self.entries.iter().filter_map(|entry| self.score(entry, query, &weights).map(|score| (score, entry))).collect();
        // The sort is stable, so that equal passages stay in the order of the documents.
        hits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        hits.truncate(limit);
        hits.into_iter().map(|(score, entry)| Hit { source: &entry.source, passage: &entry.passage, fact: entry.fact, score }).collect()
    }

    /// Inverse document frequency, in the form that never falls below zero.
    #[expect(clippy::cast_precision_loss, reason = "counts of passages are small")]
    fn rarity(&self, term: &str) -> f64 {
        let (all, with) = (BACKGROUND + self.entries.len() as f64, self.frequency.get(term).copied().unwrap_or(0) as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of terms are small")]
    fn score(&self, entry: &Entry, query: &Query, weights: &[f64]) -> Option<f64> {
        let count = |terms: &[String], term: &str| terms.iter().filter(|t| *t == term).count() as f64;
        let average = self.total_terms as f64 / self.entries.len() as f64;
        let length = 1.0 - LENGTH + LENGTH * entry.terms.len() as f64 / average.max(1.0);
        let cues = count_cues(entry, query).min(3) as f64;
        // Found by its headings alone: the right section, but maybe not the right place in it. Such passages stay in their order.
        let in_text = query.terms.iter().any(|(term, _)| entry.terms.contains(term));
        let (length, place) = if in_text { (length, 1.0) } else { (1.0, if cues > 0.0 { 1.0 } else { 0.6 }) };
        let (mut score, mut covered) = (0.0, 0.0);
        for ((term, _), weight) in query.terms.iter().zip(weights) {
            let above = HEADING * count(&entry.headings, term).min(1.0) + HEADING / 2.0 * count(&entry.outer_headings, term).min(1.0);
            let frequency = count(&entry.terms, term) + above;
            if frequency > 0.0 {
                covered += weight;
                score += weight * frequency * (SATURATION + 1.0) / (frequency + SATURATION * length);
            }
        }
        if covered < COVERAGE * weights.iter().sum::<f64>() {
            return None;
        }
        for (pair, weight) in query.terms.windows(2).zip(weights.windows(2)) {
            if [&entry.terms, &entry.headings].iter().any(|terms| stand_near(terms, &pair[0].0, &pair[1].0)) {
                score += PHRASE * (weight[0] + weight[1]);
            }
        }
        Some(score * place * entry.boost * (1.0 + CUE * cues))
    }
}

fn stand_near(terms: &[String], first: &str, second: &str) -> bool {
    let mut places = terms.iter().enumerate().filter(|(_, term)| *term == first).map(|(at, _)| at);
    places.any(|at| terms[at + 1..].iter().take(NEAR).any(|term| term == second))
}

fn count_cues(entry: &Entry, query: &Query) -> usize {
    let text = entry.passage.text().to_lowercase();
    let has = |cue: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == cue);
    query.kind.cues().iter().filter(|cue| has(cue)).count()
}
