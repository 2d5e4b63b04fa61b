//! Settling: when a call expires, code compares it with its feed (STAND-12).

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::standup::model::prediction::{Prediction, Settled};
use crate::features::standup::{Standup, render};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::feeds::{FeedQuery, Sample};

/// If a feed has not answered for this long after the expiry, the call becomes void and is reported as such.
const PATIENCE: TimeDelta = TimeDelta::days(3);

impl Standup {
    /// Settles expired predictions. A feed that is down is asked again at the next run. Nothing is guessed.
    pub(super) async fn settle_predictions(&self) -> anyhow::Result<()> {
        let store = &self.deps.store;
        let due = store.list_due_predictions(self.deps.clock.now()).await?;
        // Settled concurrently, so that a feed that hangs does not delay the others.
        let settled = futures_util::future::join_all(due.iter().map(|prediction| self.settle(prediction))).await;
        for (prediction, settled) in due.iter().zip(settled) {
            let Some(settled) = settled? else { continue };
            let text = render::render_settled(prediction, &settled, self.deps.terms.zone);
            let said = OutboundMessage::new(&prediction.call.by, &prediction.channel, OutboundKind::Notice, text);
            if store.settle_prediction(&prediction.id, &settled, &[said], self.deps.clock.now()).await? {
                metrics::counter!("teamroom_predictions_total", "verdict" => format!("{:?}", settled.verdict).to_lowercase()).increment(1);
                tracing::info!(prediction = %prediction.id, verdict = ?settled.verdict, value = settled.value, "a prediction was settled");
            }
        }
        Ok(())
    }

    /// The result of a prediction. None while its feed may still answer. The first value after the expiry counts: a recorded one, or else the feed's
    /// current value. After a long delay the current value would be a guess.
    async fn settle(&self, prediction: &Prediction) -> Result<Option<Settled>, StoreError> {
        let now = self.deps.clock.now();
        if let Some(sample) = self.find_recorded(prediction, now).await? {
            return Ok(Some(prediction.settle(sample.number, sample.at)));
        }
        let waited = now - prediction.expires_at;
        if waited >= PATIENCE {
            let note = format!("nobody could read the feed \"{}\" for {} days", prediction.rule.feed, waited.num_days());
            return Ok(Some(prediction.void(now, note)));
        }
        match self.read_value(prediction).await {
            Ok(value) => Ok(Some(prediction.settle(value, now))),
            Err(why) => {
                tracing::warn!(prediction = %prediction.id, why, "a prediction cannot be settled yet");
                Ok(None)
            }
        }
    }

    async fn find_recorded(&self, prediction: &Prediction, now: DateTime<Utc>) -> Result<Option<Sample>, StoreError> {
        let Ok(feed) = self.deps.agents.readings.get_feed(&prediction.rule.feed) else { return Ok(None) };
        let samples = self.deps.store.list_samples(feed.key(), &prediction.rule.value, prediction.expires_at, now).await?;
        Ok(samples.into_iter().next())
    }

    async fn read_value(&self, prediction: &Prediction) -> Result<f64, String> {
        let rule = &prediction.rule;
        let feed = self.deps.agents.readings.get_feed(&rule.feed).map_err(|error| error.to_string())?;
        let now = self.deps.clock.now();
        let reading = feed.read(&FeedQuery { now, since: prediction.made_at, until: now, limit: 1 }).await;
        let reading = reading.map_err(|error| format!("the feed \"{}\" did not answer: {error}", rule.feed))?;
        if reading.as_of < prediction.expires_at {
            return Err(format!("the feed \"{}\" has no data from after the expiry", rule.feed));
        }
        let value = reading.values.iter().find(|value| *value.name == *rule.value);
        value.map(|value| value.number).ok_or_else(|| format!("the feed \"{}\" gave no value \"{}\"", rule.feed, rule.value))
    }
}
