use chrono::{DateTime, Utc};

use crate::features::standup::model::prediction::{Answer, Prediction, Settled, Verdict};

impl Prediction {
    /// The result for the feed's value. NaN and infinity make the prediction void.
    pub fn settle(&self, value: f64, at: DateTime<Utc>) -> Settled {
        if !value.is_finite() {
            return self.void(at, format!("the feed {} gave no number for {}", self.rule.feed, self.rule.value));
        }
        let came_true = self.rule.holds(value);
        let verdict = match self.call.answer {
            Answer::Uncertain => Verdict::Uncalled,
            Answer::Yes if came_true => Verdict::Hit,
            Answer::No if !came_true => Verdict::Hit,
            Answer::Yes | Answer::No => Verdict::Miss,
        };
        let held = if came_true { "holds" } else { "does not hold" };
        let note = format!("{} was {}: {} {held}", self.rule.value, self.rule.with_unit(value), self.rule.describe());
        Settled { verdict, value: Some(value), at, note }
    }

    /// The result if the feed returned no data.
    pub fn void(&self, at: DateTime<Utc>, note: String) -> Settled {
        Settled { verdict: Verdict::Void, value: None, at, note }
    }
}
