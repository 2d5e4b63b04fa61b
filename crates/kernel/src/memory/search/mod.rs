//! Finds the memories that a question is about: by words and by vectors, fused by reciprocal rank, then by significance and age (MEM-2).
//!
//! The database gives the candidates: what shares a word, and the most significant ones. Both halves rank only these, so that the time does not
//! grow with what is remembered.

mod vector;
mod words;

use std::collections::HashMap;

use crate::db::{Database, Result};
use crate::ids::PersonaSlug;
use crate::memory::{Memory, MemoryKind, Scope};

pub use vector::Vector;
pub use words::{Wanted, to_store};

/// The most candidates that share a word, and the most that are compared because they are significant.
const BY_WORDS: i64 = 200;
const SIGNIFICANT: i64 = 300;

/// From this similarity on, a memory is about the question although it shares no word with it.
const SIMILAR: f64 = 0.3;

/// Of reciprocal rank fusion: how little the first place counts more than the next ones.
const FLATTENED: f64 = 10.0;

/// What significance and newness add at most. Less than one place in both rankings, so that they decide among equals.
const SIGNIFICANCE: f64 = 0.1;
const NEWNESS: f64 = 0.03;

/// After so many days a memory has half of its newness.
const HALF: f64 = 90.0;

/// The most taught facts in a prompt.
const TAUGHT: usize = 8;

/// A question to the memory.
#[derive(Debug, Clone, Copy)]
pub struct Recall<'a> {
    pub subject: &'a str,
    /// Whose memories are searched besides the team's. None: everybody's.
    pub persona: Option<&'a PersonaSlug>,
    /// Where they are told.
    pub scope: &'a Scope,
    pub limit: usize,
}

/// A memory with what is derived from its text.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub memory: Memory,
    pub words: String,
    pub vector: Vec<u8>,
}

impl Database {
    /// The memories that a question is about, best first. Empty if none is, or if it names no subject.
    pub async fn recall(&self, asked: &Recall<'_>) -> Result<Vec<Memory>> {
        let Some(wanted) = Wanted::parse(asked.subject) else { return Ok(Vec::new()) };
        self.derive_missing().await?;
        let mut candidates = self.find_by_words(&wanted, asked, BY_WORDS).await?;
        for other in self.list_significant(asked, SIGNIFICANT).await? {
            if !candidates.iter().any(|known| known.memory.id == other.memory.id) {
                candidates.push(other);
            }
        }
        Ok(rank(&wanted, &Vector::of(asked.subject), candidates, asked.limit))
    }

    /// What a prompt is to tell of the memory: what people taught, whether it fits or not, then up to `limit` lessons on the subject.
    pub async fn recall_for_prompt(&self, asked: &Recall<'_>) -> Result<Vec<Memory>> {
        let found = self.recall(&Recall { limit: asked.limit + TAUGHT, ..*asked }).await?;
        let (mut told, mut lessons): (Vec<Memory>, Vec<Memory>) = found.into_iter().partition(|memory| memory.kind == MemoryKind::Fact);
        told.truncate(TAUGHT);
        for fact in self.list_taught(asked.scope, TAUGHT).await? {
            if told.len() < TAUGHT && !told.iter().any(|known| known.id == fact.id) {
                told.push(fact);
            }
        }
        lessons.truncate(asked.limit);
        told.extend(lessons);
        Ok(told)
    }
}

/// How well a candidate fits, by words and by its vector. None: by that half not at all.
struct Fit {
    words: Option<f64>,
    vector: Option<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "there are a few hundred candidates")]
fn rank(wanted: &Wanted, question: &Vector, candidates: Vec<Candidate>, limit: usize) -> Vec<Memory> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for candidate in &candidates {
        for (term, _) in wanted.terms.iter().filter(|(term, _)| has(candidate, term)) {
            *frequency.entry(term).or_default() += 1;
        }
    }
    // A word that occurs in many memories has little weight.
    let rarity = |term: &str| (1.0 + (candidates.len() + 1) as f64 / (frequency.get(term).copied().unwrap_or(0) + 1) as f64).ln();
    let fit = |candidate: &Candidate| {
        let shared: Vec<&(String, f64)> = wanted.terms.iter().filter(|(term, _)| has(candidate, term)).collect();
        let is_on_it = shared.iter().filter(|(_, weight)| *weight >= 1.0).count() >= wanted.enough;
        let similarity = question.similarity(&candidate.vector);
        Fit {
            words: is_on_it.then(|| shared.iter().map(|(term, weight)| weight * rarity(term)).sum()),
            vector: (is_on_it || similarity >= SIMILAR).then_some(similarity),
        }
    };
    let fits: Vec<Fit> = candidates.iter().map(fit).collect();
    let by_words = places(&fits, |fit| fit.words);
    let by_vector = places(&fits, |fit| fit.vector);
    let newest = candidates.iter().map(|candidate| candidate.memory.created_at).max();
    let mut found: Vec<(f64, Memory)> = Vec::new();
    for (index, Candidate { memory, .. }) in candidates.into_iter().enumerate() {
        let reciprocal = |place: Option<usize>| place.map_or(0.0, |place| 1.0 / (FLATTENED + place as f64));
        let fused = reciprocal(by_words[index]) + reciprocal(by_vector[index]);
        if fused > 0.0 {
            let days = newest.map_or(0.0, |newest| (newest - memory.created_at).num_seconds() as f64 / 86_400.0);
            let newness = HALF / (HALF + days);
            found.push((fused * (1.0 + SIGNIFICANCE * memory.significance + NEWNESS * newness), memory));
        }
    }
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.created_at.cmp(&one.created_at)).then(other.id.cmp(&one.id)));
    found.into_iter().take(limit).map(|(_, memory)| memory).collect()
}

fn has(candidate: &Candidate, term: &str) -> bool {
    candidate.words.split(' ').any(|word| word == term)
}

/// The place of each in the order of a half. Equal ones share a place.
fn places(fits: &[Fit], half: impl Fn(&Fit) -> Option<f64>) -> Vec<Option<usize>> {
    let mut scores: Vec<f64> = fits.iter().filter_map(&half).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let place = |score: f64| scores.iter().position(|known| *known - score < 1e-9).unwrap_or(scores.len());
    fits.iter().map(|fit| half(fit).map(place)).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::memory::MemorySource;
    use crate::testing::feeds::now;

    fn memory(text: &str, significance: f64, days_ago: i64) -> Memory {
        let source = MemorySource::WorkItem("item".into());
        Memory { significance, ..Memory::new(MemoryKind::Lesson, text, source, now() - TimeDelta::days(days_ago)) }
    }

    fn found(subject: &str, memories: &[Memory]) -> Vec<String> {
        let Some(wanted) = Wanted::parse(subject) else { return Vec::new() };
        let candidate = |memory: &Memory| {
            let text = memory.searched();
            Candidate { memory: memory.clone(), words: to_store(&text), vector: Vector::of(&text).to_bytes() }
        };
        let candidates = memories.iter().map(candidate).collect();
        rank(&wanted, &Vector::of(subject), candidates, 3).into_iter().map(|memory| memory.text).collect()
    }

    #[test]
    fn what_is_on_the_subject_is_found_and_other_things_are_not() {
        let memories = [
            memory("The cache of the queue is cold after each deployment.", 0.4, 3),
            memory("Prices of scanners change on Mondays.", 0.9, 1),
            memory("The weekly cleaning needs a second pair of hands.", 0.4, 2),
        ];
        assert_eq!(found("Why is the queue slow after deploying?", &memories), [memories[0].text.clone()]);
        assert_eq!(found("Compare the prices of three scanners", &memories), [memories[1].text.clone()]);
        assert_eq!(found("Book a room for Friday", &memories), Vec::<String>::new());
        assert_eq!(found("and what about that?", &memories), Vec::<String>::new());
    }

    #[test]
    fn what_says_more_of_the_subject_comes_first_then_the_more_significant_then_the_newer() {
        let memories = [
            memory("The queue: old.", 0.4, 9),
            memory("The queue: new.", 0.4, 1),
            memory("The queue: big.", 0.8, 5),
            memory("The queue and its latency.", 0.1, 9),
        ];
        assert_eq!(found("queue latency", &memories), ["The queue and its latency.", "The queue: big.", "The queue: new."]);
    }

    #[test]
    fn other_forms_of_a_word_and_other_languages_are_found() {
        for (question, text) in [
            ("what did I say about deployments?", "we deploy on Thursdays"),
            ("when do we deploy?", "we deploy on Thursdays"),
            ("Wann deployen wir?", "Wir deployen donnerstags"),
            ("¿Cuándo desplegamos?", "Desplegamos los jueves"),
            ("什么时候部署?", "我们周四部署"),
            ("Когда мы выкатываем релиз?", "Релиз выкатываем по четвергам"),
        ] {
            assert_eq!(found(question, &[memory(text, 0.9, 1)]), [text], "{question}");
        }
    }

    #[test]
    fn tags_are_searched_like_words() {
        let tagged = Memory { tags: vec!["scanner".into(), "price".into()], ..memory("Ask for the quote in writing.", 0.4, 1) };
        assert_eq!(found("Compare prices of scanners", &[tagged]).len(), 1);
    }
}
