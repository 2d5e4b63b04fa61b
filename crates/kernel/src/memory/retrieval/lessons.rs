//! Finds a persona's lessons on a subject (MEM-4).

use std::collections::{HashMap, HashSet};

use crate::db::{Database, StoreError};
use crate::ids::PersonaSlug;
use crate::memory::Memory;
use crate::memory::retrieval::terms::{Query, Vocabulary};

/// The most lessons searched: the most significant ones, then the newest. All are compared for each question, which is fast at this number.
const LOOKED_AT: u32 = 2000;

/// For a long subject, this many matching words in a lesson are enough.
const WORDS: usize = 2;

/// Up to `limit` lessons of a persona and the team on a subject. Sorted by match, then significance, then age. Empty if none matches.
pub async fn find_lessons(store: &Database, subject: &str, persona: &PersonaSlug, limit: usize) -> Result<Vec<Memory>, StoreError> {
    let query = Query::parse(subject, &[]);
    // Most chat messages name no subject. Then nothing is read.
    if query.is_empty() {
        return Ok(Vec::new());
    }
    Ok(rank(&query, store.list_lessons(persona, LOOKED_AT).await?, limit))
}

#[expect(clippy::cast_precision_loss, reason = "counts of lessons are small")]
fn rank(query: &Query, lessons: Vec<Memory>, limit: usize) -> Vec<Memory> {
    let mut vocabulary = Vocabulary::default();
    let told: Vec<HashSet<u32>> = lessons.iter().map(|lesson| vocabulary.read(&words_of(lesson)).into_iter().collect()).collect();
    let strong = query.terms.iter().filter(|(_, weight)| *weight >= 1.0).count();
    let enough = strong.div_ceil(2).min(WORDS);
    let mut frequency: HashMap<u32, usize> = HashMap::new();
    for term in told.iter().flatten() {
        *frequency.entry(*term).or_default() += 1;
    }
    // A word that occurs in many lessons has little weight.
    let rarity = |term: u32| (1.0 + (lessons.len() + 1) as f64 / (frequency.get(&term).copied().unwrap_or(0) + 1) as f64).ln();
    let wanted: Vec<(u32, f64)> = query.terms.iter().filter_map(|(term, weight)| Some((vocabulary.find(term)?, *weight))).collect();
    let score = |terms: &HashSet<u32>| {
        let shared = || wanted.iter().filter(|(term, _)| terms.contains(term));
        let is_on_it = shared().filter(|(_, weight)| *weight >= 1.0).count() >= enough;
        is_on_it.then(|| shared().map(|(term, weight)| weight * rarity(*term)).sum::<f64>())
    };
    let scores: Vec<Option<f64>> = told.iter().map(score).collect();
    let mut found: Vec<(f64, Memory)> =
        scores.into_iter().zip(lessons).filter_map(|(score, lesson)| score.map(|score| (score, lesson))).collect();
    found.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(other.significance.total_cmp(&one.significance)).then(other.created_at.cmp(&one.created_at))
    });
    found.into_iter().take(limit).map(|(_, lesson)| lesson).collect()
}

fn words_of(lesson: &Memory) -> String {
    std::iter::once(lesson.text.as_str()).chain(lesson.tags.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::ids::MemoryId;
    use crate::memory::{MemoryKind, MemorySource};
    use crate::testing::feeds::now;

    fn lesson(text: &str, tags: &[&str], significance: f64, days_ago: i64) -> Memory {
        Memory {
            id: MemoryId::generate(),
            kind: MemoryKind::Lesson,
            persona: None,
            text: text.into(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            significance,
            source: MemorySource::WorkItem("item".into()),
            created_at: now() - TimeDelta::days(days_ago),
            ended_at: None,
        }
    }

    fn found(subject: &str, lessons: &[Memory]) -> Vec<String> {
        rank(&Query::parse(subject, &[]), lessons.to_vec(), 3).into_iter().map(|lesson| lesson.text).collect()
    }

    #[test]
    fn lessons_on_the_subject_are_found_and_others_are_not() {
        let lessons = [
            lesson("The cache of the queue is cold after each deployment.", &[], 0.4, 3),
            lesson("Prices of scanners change on Mondays.", &[], 0.9, 1),
            lesson("Deployments need a second pair of eyes.", &[], 0.4, 2),
        ];
        assert_eq!(found("Why is the queue slow after deploying?", &lessons), [lessons[0].text.clone()]);
        assert_eq!(found("Compare the prices of three scanners", &lessons), [lessons[1].text.clone()]);
        assert_eq!(found("Book a room for Friday", &lessons), Vec::<String>::new());
    }

    #[test]
    fn what_says_more_of_the_subject_comes_first_then_the_more_significant_then_the_newer() {
        let lessons = [
            lesson("The queue: old.", &[], 0.4, 9),
            lesson("The queue: new.", &[], 0.4, 1),
            lesson("The queue: significant.", &[], 0.8, 5),
            lesson("The queue and its latency.", &[], 0.1, 9),
        ];
        assert_eq!(found("queue latency", &lessons), ["The queue and its latency.", "The queue: significant.", "The queue: new."]);
    }

    #[test]
    fn tags_are_searched_like_words() {
        let lessons = [lesson("Ask for the quote in writing.", &["scanner", "price"], 0.4, 1)];
        assert_eq!(found("Compare prices of scanners", &lessons).len(), 1);
    }
}
