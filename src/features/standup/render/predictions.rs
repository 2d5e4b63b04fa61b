//! Predictions and their results, for `/predictions` (STAND-12).

use std::fmt::Write as _;

use crate::features::standup::model::prediction::{Band, Prediction, Scoreboard};

use crate::features::standup::render::labels;
use crate::features::standup::render::medium::Medium;
use kernel::time::Today;

/// The most settled predictions listed. All count in the scoreboard.
const SETTLED: usize = 10;
const QUESTION: usize = 160;
const NOTE: usize = 160;

/// Open predictions, next to be settled first, then the last settled ones and the scoreboard.
pub fn render_predictions(predictions: &[Prediction], scoreboard: &Scoreboard, today: Today) -> String {
    if predictions.is_empty() {
        return "No predictions yet. Set an essential question, and each standup will make one.".to_owned();
    }
    let (mut open, mut settled) = (Vec::new(), Vec::new());
    for prediction in predictions {
        match &prediction.settled {
            None => open.push(prediction),
            Some(outcome) => settled.push((prediction, outcome)),
        }
    }
    open.sort_by_key(|prediction| prediction.expires_at);
    settled.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.at));
    let mut text = String::new();
    if !open.is_empty() {
        text.push_str("**Open**\n");
    }
    for prediction in open {
        let due = if prediction.expires_at <= today.now { "is being settled, was due" } else { "is settled" };
        let (terms, made_at) = (Medium::Chat.line_within(&prediction.rule.describe(), NOTE), today.show(prediction.made_at));
        let _ = writeln!(text, "- {} ({terms}), made {made_at}; {due} {}", render_call(prediction), today.show(prediction.expires_at));
    }
    if !settled.is_empty() {
        text.push_str("**Settled**\n");
    }
    for (prediction, outcome) in settled.iter().take(SETTLED) {
        let (verdict, note) = (labels::verdict(outcome.verdict), Medium::Chat.line_within(&outcome.note, NOTE));
        let _ = writeln!(text, "- {verdict}: {}; {note}, {}", render_call(prediction), today.show(outcome.at));
    }
    if settled.len() > SETTLED {
        let _ = writeln!(text, "- and {} more", settled.len() - SETTLED);
    }
    format!("{text}\n{}", render_scoreboard(scoreboard))
}

/// The scoreboard as text, with a table of confidence and accuracy.
pub fn render_scoreboard(scoreboard: &Scoreboard) -> String {
    let mut text = format!("Scoreboard: {}\n", scoreboard.in_words());
    let bands: Vec<&Band> = scoreboard.bands.iter().filter(|band| band.calls > 0).collect();
    if !bands.is_empty() {
        text.push_str("\n| how sure | calls | right | share |\n| --- | ---: | ---: | ---: |\n");
    }
    for band in bands {
        let share = labels::percent(f64::from(band.hits) / f64::from(band.calls));
        // The upper limit belongs to the next band, except for the last band.
        let upper = if band.to >= 100 { 100 } else { band.to - 1 };
        let _ = writeln!(text, "| {}–{upper} % | {} | {} | {share} |", band.from, band.calls, band.hits);
    }
    text.trim_end().to_owned()
}

/// The question and the answer.
fn render_call(prediction: &Prediction) -> String {
    let question = Medium::Chat.line_within(&prediction.question, QUESTION);
    format!("{question} {}", labels::call(&prediction.call))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use chrono_tz::Tz;

    use super::*;
    use crate::features::standup::model::prediction::{Answer, Call};
    use kernel::feeds::condition::{Comparison, SettlingRule};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn today(now: DateTime<Utc>) -> Today {
        Today { now, zone: Tz::UTC }
    }

    fn prediction(answer: Answer, expires: &str) -> Prediction {
        let call = Call { by: "vince".into(), answer, confidence: 0.72, reason: "because".to_owned(), model: None };
        let rule = SettlingRule {
            feed: "repository".to_owned(),
            value: "commits".to_owned(),
            unit: String::new(),
            comparison: Comparison::AtLeast,
            threshold: 512.0,
        };
        Prediction {
            id: "p1".into(),
            meeting: "m1".into(),
            channel: "10".into(),
            question: "Will there be 10 more *commits*?".to_owned(),
            call,
            rule,
            base: 502.0,
            made_at: at("2026-11-13T08:00:00Z"),
            expires_at: at(expires),
            settled: None,
        }
    }

    fn settled(value: f64, when: &str) -> Prediction {
        let open = prediction(Answer::Yes, when);
        Prediction { settled: Some(open.settle(value, at(when))), ..open }
    }

    #[test]
    fn without_predictions_there_is_no_scoreboard() {
        let text = render_predictions(&[], &Scoreboard::default(), today(at("2026-11-20T08:00:00Z")));
        assert_eq!(text, "No predictions yet. Set an essential question, and each standup will make one.");
    }

    #[test]
    fn open_ones_come_first_and_void_is_told() {
        let silent = prediction(Answer::Yes, "2026-11-14T08:00:00Z");
        let note = "the feed repository did not answer for 3 days".to_owned();
        let predictions = [
            Prediction { settled: Some(silent.void(at("2026-11-17T08:00:00Z"), note)), ..silent },
            settled(515.0, "2026-11-19T08:00:00Z"),
            prediction(Answer::No, "2026-11-27T08:00:00Z"),
            prediction(Answer::Uncertain, "2026-11-20T08:00:00Z"),
        ];
        let now = at("2026-11-20T08:00:00Z");
        insta::assert_snapshot!(render_predictions(&predictions, &Scoreboard::of(&predictions, now), today(now)));
    }

    #[test]
    fn many_settled_ones_are_counted() {
        let now = at("2026-11-20T08:00:00Z");
        let predictions = vec![settled(511.5, "2026-11-19T08:00:00Z"); 14];
        let text = render_predictions(&predictions, &Scoreboard::of(&predictions, now), today(now));
        assert_eq!(text.matches("- wrong: ").count(), SETTLED);
        assert!(text.contains("- and 4 more") && !text.contains("**Open**"), "{text}");
    }

    #[test]
    fn a_scoreboard_shows_how_sure_calls_were_against_how_often_they_were_right() {
        let band = |from, calls, hits| Band { from, to: from + 10, calls, hits };
        let bands = vec![band(50, 4, 1), band(60, 0, 0), band(70, 6, 3), band(90, 5, 3)];
        let (accuracy, recent_accuracy) = (Some(7.0 / 15.0), Some(7.0 / 15.0));
        let board =
            Scoreboard { hits: 7, misses: 8, void: 1, accuracy, recent_accuracy, brier: Some(0.24), bands, ..Scoreboard::default() };
        insta::assert_snapshot!(render_scoreboard(&board));
    }
}
