//! One attempt to send a row, and what follows it: it is sent, tried again, held or given up.

use std::collections::HashSet;
use std::sync::MutexGuard;
use std::time::Duration;

use tracing::{Span, info_span};

use super::{Inner, Obstacle, Relay};
use crate::chat::SendError;
use crate::chat::outbound::{OutboundMessage, Placement};
use crate::chat::outbox::OutboxRow;
use crate::chat::outbox::delivery::{Delivery, Hitch};
use crate::db::StoreError;
use crate::ids::{MessageId, OutboxId};

/// Waits between attempts double from the first to the last of these.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// After this time a message is given up, because it is outdated.
pub(super) const GIVE_UP_AFTER: chrono::Duration = chrono::Duration::hours(24);

/// The span of an attempt. `message` is the id of the message that the row responds to.
pub(super) fn span_of(row: &OutboxRow) -> Span {
    let OutboundMessage { id, persona, channel, .. } = &row.message;
    info_span!("delivery", message = row.cause.as_ref().map(MessageId::as_str), outbox = %id, %persona, %channel)
}

impl Relay {
    pub(super) async fn send_row(&self, mut row: OutboxRow) -> (OutboxId, Result<bool, StoreError>) {
        self.screen(&mut row.message);
        let format = self.inner.platform.text_format(&row.message.channel);
        row.message.fit(&format);
        let result = self.deliver(&row).await;
        if result.is_ok() {
            self.unrecorded().remove(&row.message.id);
        }
        (row.message.id, result)
    }

    /// Whether an attempt may have been made without a record: by a process that died during it, or by this one while the database was unavailable.
    fn may_have_been_tried(&self, row: &OutboxRow) -> bool {
        let is_inherited = self.inner.last_inherited.get().is_none_or(|last| row.position <= *last);
        is_inherited || self.unrecorded().contains(&row.message.id)
    }

    fn unrecorded(&self) -> MutexGuard<'_, HashSet<OutboxId>> {
        self.inner.unrecorded.lock().expect("no code panics while it holds the ids")
    }

    /// Redacts secrets. The stored row is not changed.
    fn screen(&self, message: &mut OutboundMessage) {
        let redacted = self.inner.redactor.redact_message(message);
        if redacted > 0 {
            metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
            tracing::warn!(outbox = %message.id, persona = %message.persona, redacted, "secrets were taken out of a message");
        }
    }

    /// Attempts to deliver one row. True if nothing waits for it any more.
    async fn deliver(&self, row: &OutboxRow) -> Result<bool, StoreError> {
        let Inner { store, clock, .. } = &*self.inner;
        let message = &row.message;
        if message.until.is_some_and(|until| clock.now() >= until) {
            self.fail(message, "its time was over before it could be delivered").await?;
            return Ok(true);
        }
        if clock.now() - row.created_at > GIVE_UP_AFTER {
            self.fail(message, "it could not be delivered within a day").await?;
            return Ok(true);
        }
        let may_have_been_tried = self.may_have_been_tried(row);
        let delivery = Delivery { store, platform: &*self.inner.platform, now: clock.now(), row, may_have_been_tried };
        if delivery.may_go_unrecorded() {
            self.unrecorded().insert(message.id.clone());
        } else {
            // Stored before the attempt, so that a restart knows that the message may have been posted.
            store.record_attempt(&message.id, delivery.now).await?;
        }
        let changes = self.permission_changes();
        match delivery.attempt().await {
            Ok(posted) => {
                match &message.place {
                    Placement::Revision { of } => store.record_revised(&message.id, of, &posted).await?,
                    Placement::Channel | Placement::Thread { .. } | Placement::Direct { .. } => {
                        store.record_sent(&message.id, &posted).await?;
                    }
                }
                metrics::counter!("teamroom_messages_sent_total", "persona" => message.persona.to_string()).increment(1);
                tracing::info!(kind = message.kind.as_str(), platform_id = %posted.message, "sent");
                Ok(true)
            }
            Err(Hitch::Store(error)) => Err(error),
            Err(Hitch::Platform(SendError::Refused(why) | SendError::Gone(why))) => {
                self.fail(message, &why).await?;
                Ok(true)
            }
            Err(Hitch::Platform(SendError::Denied { needs })) => {
                self.hold(row, needs, changes).await?;
                Ok(true)
            }
            Err(Hitch::Platform(error)) => {
                let wait = wait_after(&error, row.attempts);
                tracing::info!(outbox = %message.id, persona = %message.persona, %error, ?wait, "not sent yet");
                let attempted_at = (!matches!(error, SendError::RateLimited(_))).then_some(delivery.now);
                store.record_retry(row, attempted_at, clock.now() + wait, &error.to_string()).await?;
                self.inner.delayed.notify_one();
                Ok(false)
            }
        }
    }

    async fn fail(&self, message: &OutboundMessage, why: &str) -> Result<(), StoreError> {
        let (outbox, persona, channel) = (&message.id, &message.persona, &message.channel);
        if message.instead.is_some() {
            tracing::warn!(%outbox, %persona, %channel, why, "a message was given up on; another one is sent instead");
        } else if matches!(message.place, Placement::Direct { .. }) {
            // People may close their direct messages. Nothing needs to be fixed.
            tracing::info!(%outbox, %persona, %channel, why, "a direct message was given up on");
        } else {
            tracing::error!(%outbox, %persona, %channel, why, "a message was given up on");
            self.report(message, Obstacle::GivenUp { why: why.to_owned() });
        }
        metrics::counter!("teamroom_messages_failed_total", "persona" => message.persona.to_string()).increment(1);
        self.inner.store.record_failed(message, why, self.inner.clock.now()).await
    }
}

/// The wait before the next attempt. Jitter of up to a quarter spreads the channels.
fn wait_after(error: &SendError, attempts: u32) -> Duration {
    if let SendError::RateLimited(wait) = error {
        return *wait;
    }
    doubled(FIRST_RETRY, attempts, LAST_RETRY).mul_f64(1.0 - fastrand::f64() / 4.0)
}

pub(super) fn doubled(first: Duration, attempts: u32, last: Duration) -> Duration {
    first.saturating_mul(1 << attempts.min(6)).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_minute_and_no_further() {
        let wait = |attempts| wait_after(&SendError::Unreachable("down".into()), attempts);
        assert!(wait(0) <= Duration::from_secs(1));
        assert!(wait(3) > wait(0) && wait(3) <= Duration::from_secs(8));
        assert!((Duration::from_secs(45)..=LAST_RETRY).contains(&wait(40)));
    }

    #[test]
    fn a_rate_limit_says_itself_how_long() {
        assert_eq!(wait_after(&SendError::RateLimited(Duration::from_millis(1234)), 9), Duration::from_millis(1234));
    }
}
