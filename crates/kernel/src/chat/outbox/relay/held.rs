//! Rows that are kept until a permission is there.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::attempt::{GIVE_UP_AFTER, doubled};
use super::{Obstacle, Relay};
use crate::chat::outbox::OutboxRow;
use crate::db::StoreError;

/// Waits for a permission double from the first to the last of these. Each refusal counts towards a ban of this address.
const FIRST_LOOK: Duration = Duration::from_mins(5);
const LAST_LOOK: Duration = Duration::from_hours(1);

impl Relay {
    /// Tries the rows again that were refused because of a missing permission.
    pub fn permissions_changed(&self) {
        self.inner.permission_changes.fetch_add(1, Ordering::SeqCst);
        let mut next = self.next_look();
        if next.is_some() {
            *next = Some(DateTime::<Utc>::MIN_UTC);
            drop(next);
            self.inner.delayed.notify_one();
        }
    }

    /// Tries the held rows again whose wait is over.
    pub(super) async fn release_held(&self) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        let due = *self.next_look();
        let Some(due) = due.filter(|due| *due <= now) else { return Ok(()) };
        let all = due == DateTime::<Utc>::MIN_UTC;
        // Long enough for any wait.
        let until = if all { now + GIVE_UP_AFTER } else { now };
        let next = self.inner.store.release_held(until, now).await?;
        let mut known = self.next_look();
        // A row may have been held meanwhile, or permissions may have changed again.
        if *known == Some(due) {
            *known = next;
        }
        Ok(())
    }

    /// How often permissions have changed.
    pub(super) fn permission_changes(&self) -> u64 {
        self.inner.permission_changes.load(Ordering::SeqCst)
    }

    /// Keeps a row until the permission is there. `changes`: how often permissions had changed before it was tried.
    pub(super) async fn hold(&self, row: &OutboxRow, needs: String, changes: u64) -> Result<(), StoreError> {
        let message = &row.message;
        let (outbox, persona, channel) = (&message.id, &message.persona, &message.channel);
        tracing::warn!(%outbox, %persona, %channel, needs, "a permission is missing; the message waits for it");
        metrics::counter!("teamroom_messages_held_total", "persona" => persona.to_string()).increment(1);
        let end = row.created_at + GIVE_UP_AFTER + chrono::Duration::seconds(1);
        let next = (self.inner.clock.now() + doubled(FIRST_LOOK, row.attempts, LAST_LOOK)).min(end);
        self.inner.store.record_held(row, next, &needs).await?;
        {
            let mut look = self.next_look();
            // The permission may have come back while the row was being refused.
            let next = if self.permission_changes() == changes { next } else { DateTime::<Utc>::MIN_UTC };
            *look = Some(look.map_or(next, |known| known.min(next)));
        }
        self.inner.delayed.notify_one();
        self.report(message, Obstacle::Held { needs });
        Ok(())
    }

    pub(super) fn next_look(&self) -> MutexGuard<'_, Option<DateTime<Utc>>> {
        self.inner.next_look.lock().expect("no code panics while it holds the time")
    }
}
