//! Joins what words and vectors find into one order.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::memory::search::Recall;
use crate::memory::search::index::{Admission, Index, term};
use crate::memory::search::question::Question;
use crate::memory::search::words::Wanted;

/// The most rows that each way of searching gives.
const EACH: usize = 60;

/// From this similarity of letters on, a memory is about the question although it shares no word with it.
const SIMILAR: f32 = 0.3;
const SIMILAR_LOOSELY: f32 = 0.2;

/// The constant of reciprocal rank fusion. The larger it is, the less the first place counts above the next ones.
const FLATTENED: f64 = 10.0;

/// How much each way of searching counts. A sentence model judges best whether two texts mean the same.
const WORDS: f64 = 1.0;
const LETTERS: f64 = 1.0;
const MEANING: f64 = 1.5;

/// What significance and newness add at most. Less than one place in both rankings, so that they decide among equals.
const SIGNIFICANCE: f64 = 0.1;
const NEWNESS: f64 = 0.03;

/// What is added if the question names who said it, or when.
const NAMED: f64 = 1.0;

/// After so many days a memory has half of its newness.
const HALF: f64 = 90.0;

/// BM25's length normalisation: how many more words a long text has to share than a short one.
const LENGTH: f64 = 0.3;
const USUAL_LENGTH: f64 = 12.0;

/// What is searched for, in the form of each way of searching.
pub(super) struct Search<'a> {
    pub(super) question: &'a Question,
    pub(super) admission: &'a Admission,
    /// The vector of its letters.
    pub(super) letters: Option<&'a [u8]>,
    /// The vector of its meaning, and the least similarity.
    pub(super) meaning: Option<&'a (Vec<u8>, f32)>,
    pub(super) is_loose: bool,
}

/// The rows whose vectors are near to a question, the nearest first.
#[derive(Default)]
pub(super) struct NearRows {
    letters: Vec<vectors::Near>,
    meaning: Vec<vectors::Near>,
}

impl Index {
    pub(super) fn find_near(&self, search: &Search<'_>) -> NearRows {
        let admits = |index: usize| self.admits(search.admission, index);
        if search.question.wanted.is_none() {
            return NearRows::default();
        }
        let letters = search.letters.map(|letters| self.hashed.find_nearest(letters, 0.0, EACH, &admits));
        let meaning = search.meaning.zip(self.meaning.as_ref());
        let meaning = meaning.map(|((asked, least), (_, vectors))| vectors.find_nearest(asked, *least, EACH, &admits));
        NearRows { letters: letters.unwrap_or_default(), meaning: meaning.unwrap_or_default() }
    }

    /// The numbers of the rows that a question is about, best first. `by_words`: the numbers of the rows that share a word with it.
    pub(super) fn rank(&self, search: &Search<'_>, near: &NearRows, by_words: &[i64]) -> Vec<i64> {
        let admits = |index: usize| self.admits(search.admission, index);
        let Some(wanted) = &search.question.wanted else { return self.list_named(search) };
        let (words, whole) = self.rank_words(
            wanted,
            search.is_loose,
            by_words.iter().filter_map(|number| self.find_row(*number)).filter(|index| admits(*index)),
        );
        let mut scores: HashMap<usize, f64> = HashMap::new();
        add(&mut scores, &words, |score| WORDS * score / whole);
        let similar = if search.is_loose { SIMILAR_LOOSELY } else { SIMILAR };
        let counts = |near: &&vectors::Near| near.similarity >= similar || words.iter().any(|(row, _)| *row == near.row);
        let place = |near: &vectors::Near| (near.row, f64::from(near.similarity));
        let letters: Vec<(usize, f64)> = near.letters.iter().filter(counts).map(place).collect();
        add(&mut scores, &letters, |similarity| LETTERS * similarity);
        let meaning: Vec<(usize, f64)> = near.meaning.iter().map(place).collect();
        add(&mut scores, &meaning, |_| MEANING);
        self.order(search.question, scores)
    }

    /// The numbers of the rows that are nearest to a text, by letters or by meaning.
    pub(in crate::memory) fn list_nearest(
        &self,
        asked: &Recall<'_>,
        letters: &[u8],
        least: f32,
        meaning: Option<&(Vec<u8>, f32)>,
    ) -> Vec<i64> {
        let admission = self.admission(asked);
        let admits = |index: usize| self.admits(&admission, index);
        let mut near = self.hashed.find_nearest(letters, least, asked.limit, &admits);
        if let (Some((meaning, least)), Some((_, vectors))) = (meaning, &self.meaning) {
            near.extend(vectors.find_nearest(meaning, *least, asked.limit, &admits));
        }
        near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        let mut numbers: Vec<i64> = Vec::new();
        for number in near.iter().map(|near| self.rows[near.row].number) {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }

    /// The rows that share enough words, where the rarest words count most.
    #[expect(clippy::cast_precision_loss, reason = "counts of memories and words")]
    fn rank_words(&self, wanted: &Wanted, is_loose: bool, rows: impl Iterator<Item = usize>) -> (Vec<(usize, f64)>, f64) {
        let all = self.count_live() as f64;
        let enough = if is_loose { 1 } else { wanted.enough };
        let terms: Vec<(u32, f64, f64)> = wanted
            .terms
            .iter()
            .map(|(word, weight)| {
                let term = term(word);
                (term, *weight, (1.0 + (all + 1.0) / (self.frequency_of(term) as f64 + 1.0)).ln())
            })
            .collect();
        let mut found: Vec<(usize, f64)> = rows
            .filter_map(|row| {
                let shared: Vec<_> = terms.iter().filter(|(term, ..)| self.has_term(row, *term)).collect();
                let is_on_it = shared.iter().filter(|(_, weight, _)| *weight >= 1.0).count() >= enough;
                let length = 1.0 - LENGTH + LENGTH * self.count_terms(row) as f64 / USUAL_LENGTH;
                let score: f64 = shared.iter().map(|(_, weight, rarity)| weight * rarity * 2.2 / (1.0 + 1.2 * length)).sum();
                is_on_it.then_some((row, score))
            })
            .collect();
        found.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(self.rows[*b].at.cmp(&self.rows[*a].at)));
        found.truncate(EACH);
        let whole: f64 = terms.iter().map(|(_, weight, rarity)| weight * rarity).sum();
        (found, whole.max(f64::MIN_POSITIVE))
    }

    /// The rows of a person or of a time, if the question names nothing else.
    fn list_named(&self, search: &Search<'_>) -> Vec<i64> {
        let question = search.question;
        if question.people.is_empty() {
            return Vec::new();
        }
        let is_meant = |index: &usize| {
            let row = &self.rows[*index];
            question.names_person(row.person) && (question.within.is_none() || question.names_time(row.at))
        };
        let mut rows: Vec<usize> = (0..self.rows.len()).filter(is_meant).filter(|index| self.admits(search.admission, *index)).collect();
        rows.sort_by_key(|index| std::cmp::Reverse(self.rows[*index].at));
        rows.iter().take(EACH).map(|index| self.rows[*index].number).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "days")]
    fn order(&self, question: &Question, scores: HashMap<usize, f64>) -> Vec<i64> {
        let newest: Option<DateTime<Utc>> = scores.keys().map(|index| self.rows[*index].at).max();
        let mut found: Vec<(f64, usize)> = scores
            .into_iter()
            .map(|(index, fused)| {
                let row = &self.rows[index];
                let days = newest.map_or(0.0, |newest| (newest - row.at).num_seconds() as f64 / 86_400.0);
                let named = f64::from(u8::from(question.names_person(row.person)) + u8::from(question.names_time(row.at)));
                let newness = HALF / (HALF + days);
                (fused * (1.0 + SIGNIFICANCE * row.significance + NEWNESS * newness + NAMED * named), index)
            })
            .collect();
        found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(self.rows[*other].at.cmp(&self.rows[*one].at)).then(other.cmp(one)));
        found.into_iter().map(|(_, index)| self.rows[index].number).collect()
    }
}

/// Adds the value of each place in one order. It is smaller if even the first row hardly fits. Equal rows share a place.
fn add(scores: &mut HashMap<usize, f64>, ranked: &[(usize, f64)], weight: impl Fn(f64) -> f64) {
    let (mut place, mut before) = (0.0, None);
    for (row, score) in ranked {
        if before.is_some_and(|before: f64| before - score > 1e-6) {
            place += 1.0;
        }
        before = Some(*score);
        *scores.entry(*row).or_default() += weight(*score) / (FLATTENED + place);
    }
}
