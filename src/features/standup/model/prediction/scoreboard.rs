//! Statistics of past calls, and advice for the next one (STAND-12).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::features::standup::model::prediction::{Answer, Band, Prediction, Scoreboard, Verdict};

/// The minimum number of judged calls for advice.
const ENOUGH: u32 = 5;
/// The number of calls in the recent accuracy.
const RECENT: usize = 20;
/// A larger difference between confidence and accuracy is reported.
const TOLERANCE: f64 = 0.1;

impl Scoreboard {
    /// The statistics at time `now`, without later calls and results. If there are several calls on a question with the same expiry, the last one
    /// counts.
    pub fn of(predictions: &[Prediction], now: DateTime<Utc>) -> Self {
        let mut board = Self::default();
        let mut judged: Vec<(&Prediction, DateTime<Utc>, bool)> = Vec::new();
        let mut errors: Vec<f64> = Vec::new();
        for prediction in list_last(predictions, now) {
            let settled = prediction.settled.as_ref().filter(|settled| settled.at <= now);
            match settled.map(|settled| (settled.verdict, settled.at)) {
                None => board.open += 1,
                Some((Verdict::Void, _)) => board.void += 1,
                Some((Verdict::Uncalled, _)) => {
                    board.uncalled += 1;
                    // Half way between yes and no, for either outcome.
                    errors.push(0.25);
                }
                Some((verdict, at)) => {
                    let hit = verdict == Verdict::Hit;
                    errors.push(squared_error(prediction, hit));
                    judged.push((prediction, at, hit));
                }
            }
        }
        judged.sort_by_key(|(prediction, at, _)| (*at, &prediction.id));
        board.hits = count(judged.iter().filter(|(_, _, hit)| *hit).count());
        board.misses = count(judged.len()) - board.hits;
        board.accuracy = share_of(judged.iter().map(|(_, _, hit)| *hit));
        board.recent_accuracy = share_of(judged.iter().rev().take(RECENT).map(|(_, _, hit)| *hit));
        board.brier = mean(&errors);
        board.bands = list_bands(judged.iter().map(|(prediction, _, hit)| (prediction.call.confidence, *hit)));
        board
    }

    /// Calls that were hit or missed.
    pub fn judged(&self) -> u32 {
        self.hits + self.misses
    }

    /// One line for the kickoff, the report and the next prompt.
    pub fn in_words(&self) -> String {
        let (Some(accuracy), Some(recent), Some(brier)) = (self.accuracy, self.recent_accuracy, self.brier) else {
            return self.too_few();
        };
        if self.judged() < ENOUGH {
            return self.too_few();
        }
        let recent = if self.judged() as usize > RECENT { format!(", {} of the last {RECENT}", percent(recent)) } else { String::new() };
        let advice = self.advice().map(|advice| format!(": {advice}")).unwrap_or_default();
        format!("accuracy {} of {}{recent}, Brier {brier:.2}{}{advice}", percent(accuracy), self.judged(), self.others())
    }

    /// What the next call should change. None if nothing, or if there is too little data.
    pub fn advice(&self) -> Option<&'static str> {
        let accuracy = self.accuracy.filter(|_| self.judged() >= ENOUGH)?;
        let surer_than_right = self.mean_confidence() - accuracy;
        if accuracy < 0.5 || surer_than_right > TOLERANCE {
            Some("be more careful")
        } else if surer_than_right < -TOLERANCE {
            Some("be more confident")
        } else {
            None
        }
    }

    /// The average of the band middles, weighted by judged calls. 0 without any.
    fn mean_confidence(&self) -> f64 {
        let sum: f64 = self.bands.iter().map(|band| f64::from(band.calls) * f64::from(band.from + band.to) / 200.0).sum();
        sum / f64::from(self.judged().max(1))
    }

    fn too_few(&self) -> String {
        format!("too few to judge ({} settled, {} open{})", self.judged(), self.open, self.others())
    }

    /// Calls that are not part of the accuracy.
    fn others(&self) -> String {
        let told = |count: u32, what: &str| if count == 0 { String::new() } else { format!(", {count} {what}") };
        told(self.uncalled, "uncalled") + &told(self.void, "void")
    }
}

/// The last call on each question for each expiry.
fn list_last(predictions: &[Prediction], now: DateTime<Utc>) -> Vec<&Prediction> {
    let mut last: BTreeMap<(&str, DateTime<Utc>), &Prediction> = BTreeMap::new();
    for prediction in predictions.iter().filter(|prediction| prediction.made_at <= now) {
        let known = last.entry((&prediction.question, prediction.expires_at)).or_insert(prediction);
        // Of two versions of one call, the one with its result is the later.
        if (prediction.made_at, &prediction.id, prediction.settled.is_some()) > (known.made_at, &known.id, known.settled.is_some()) {
            *known = prediction;
        }
    }
    last.into_values().collect()
}

/// (Probability of yes − outcome)². A hit on no counts like one on yes, so only the confidence matters.
fn squared_error(prediction: &Prediction, hit: bool) -> f64 {
    let confidence = if prediction.call.answer == Answer::Uncertain { 0.5 } else { prediction.call.confidence };
    let missing = if hit { 1.0 - confidence } else { confidence };
    missing * missing
}

/// Empty bands are left out.
fn list_bands(calls: impl Iterator<Item = (f64, bool)>) -> Vec<Band> {
    let mut bands: Vec<Band> = (5..10).map(|ten| Band { from: ten * 10, to: ten * 10 + 10, calls: 0, hits: 0 }).collect();
    for (confidence, hit) in calls {
        // 0.7 × 100 is slightly below 70 in binary.
        let percent = confidence * 100.0 + 1e-6;
        let band = bands.iter_mut().rev().find(|band| percent >= f64::from(band.from));
        // Calls below 50 % can come only from outside data. They count in the lowest band.
        if let Some(band) = band {
            band.calls += 1;
            band.hits += u32::from(hit);
        } else if let Some(lowest) = bands.first_mut() {
            lowest.calls += 1;
            lowest.hits += u32::from(hit);
        }
    }
    bands.retain(|band| band.calls > 0);
    bands
}

fn share_of(hits: impl Iterator<Item = bool>) -> Option<f64> {
    let hits: Vec<f64> = hits.map(|hit| f64::from(u8::from(hit))).collect();
    mean(&hits)
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / f64::from(count(numbers.len())))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
