//! Settling: at its expiry a call is held against its feed, by rule (STAND-12).

use chrono::TimeDelta;

use super::{Standup, render};
use crate::domain::outbound::{OutboundKind, OutboundMessage};
use crate::domain::prediction::{Prediction, Settled};
use crate::feeds::FeedQuery;

/// A feed that has not answered for this long after the expiry leaves the call void, which is counted openly.
const PATIENCE: TimeDelta = TimeDelta::days(3);

impl Standup {
    /// Settles what is due. A feed that is down is asked again at the next look; nothing is guessed.
    pub(super) async fn settle_predictions(&self) -> anyhow::Result<()> {
        let store = &self.parts.store;
        for prediction in store.list_due_predictions(self.parts.clock.now()).await? {
            let Some(settled) = self.settle(&prediction).await else { continue };
            let now = self.parts.clock.now();
            let text = render::render_settled(&prediction, &settled);
            let said = OutboundMessage::new(&prediction.call.by, &prediction.channel, OutboundKind::Notice, text);
            if store.settle_prediction(&prediction.id, &settled, &[said], now).await? {
                metrics::counter!("teamroom_predictions_total", "verdict" => format!("{:?}", settled.verdict).to_lowercase()).increment(1);
                tracing::info!(prediction = %prediction.id, verdict = ?settled.verdict, value = settled.value, "a prediction was settled");
                self.parts.relay.wake(&prediction.channel);
            }
        }
        Ok(())
    }

    /// How a prediction turned out; none while its feed may still answer.
    async fn settle(&self, prediction: &Prediction) -> Option<Settled> {
        let now = self.parts.clock.now();
        let why = match self.read_value(prediction).await {
            Ok(value) => return Some(prediction.settle(value, now)),
            Err(why) => why,
        };
        tracing::warn!(prediction = %prediction.id, why, "a prediction cannot be settled yet");
        let waited = now - prediction.expires_at;
        (waited >= PATIENCE).then(|| prediction.void(now, format!("{why} for {} days", waited.num_days())))
    }

    async fn read_value(&self, prediction: &Prediction) -> Result<f64, String> {
        let rule = &prediction.rule;
        let feed = self.parts.performer.readings.get_feed(&rule.feed).map_err(|error| error.to_string())?;
        let now = self.parts.clock.now();
        let reading = feed.read(&FeedQuery { now, since: prediction.made_at, until: now, limit: 1 }).await;
        let reading = reading.map_err(|error| format!("the feed \"{}\" did not answer: {error}", rule.feed))?;
        if reading.as_of < prediction.expires_at {
            return Err(format!("the feed \"{}\" has no data from after the expiry", rule.feed));
        }
        let value = reading.values.iter().find(|value| *value.name == *rule.value);
        value.map(|value| value.number).ok_or_else(|| format!("the feed \"{}\" gave no value \"{}\"", rule.feed, rule.value))
    }
}
