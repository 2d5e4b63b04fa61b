//! How far each channel was heard, kept in memory until it is stored.
//!
//! Storing a mark with each message would cost every answer a commit. A mark that lags behind loses nothing: later messages are read again, and found
//! known. Only a channel's first mark is stored at once, because a channel without a mark is not read after a restart.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::features::chat::Conversation;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::store::ChannelSeen;
use kernel::db::StoreError;
use kernel::ids::ChannelId;

/// The longest delay of a mark.
const DELAY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Marks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Channels with a stored mark.
    stored: HashSet<ChannelId>,
    /// The newest mark of each channel that is not stored yet.
    unstored: HashMap<ChannelId, ChannelSeen>,
    /// A task is scheduled that will store them.
    scheduled: bool,
}

/// When a mark is stored.
#[derive(Debug, PartialEq, Eq)]
enum When {
    Now,
    /// Soon, by a task that the caller starts.
    Soon,
    /// Soon, by a task that was started before.
    Scheduled,
}

impl Marks {
    pub(crate) fn new(known: &[ChannelSeen]) -> Self {
        let marks = Self::default();
        marks.inner().stored.extend(known.iter().map(|seen| seen.channel.id.clone()));
        marks
    }

    fn has_stored(&self, channel: &ChannelId) -> bool {
        self.inner().stored.contains(channel)
    }

    fn note(&self, seen: ChannelSeen) -> When {
        let mut inner = self.inner();
        let channel = seen.channel.id.clone();
        let is_first = !inner.stored.contains(&channel);
        if inner.unstored.get(&channel).is_none_or(|before| before.last_at < seen.last_at) {
            inner.unstored.insert(channel, seen);
        }
        match is_first {
            true => When::Now,
            false if std::mem::replace(&mut inner.scheduled, true) => When::Scheduled,
            false => When::Soon,
        }
    }

    /// Takes the marks to store.
    fn take(&self) -> Vec<ChannelSeen> {
        let mut inner = self.inner();
        inner.scheduled = false;
        std::mem::take(&mut inner.unstored).into_values().collect()
    }

    fn note_stored(&self, marks: &[ChannelSeen]) {
        self.inner().stored.extend(marks.iter().map(|seen| seen.channel.id.clone()));
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no code panics while it holds the marks")
    }
}

impl Conversation {
    /// Moves the mark of a channel, unless there may be a gap before this message.
    pub(super) async fn note_heard(&self, message: &InboundMessage) -> Result<(), StoreError> {
        let gaps = &self.inner.gaps;
        let may_be_behind = match &message.channel.place {
            // The backfill of the parent finds threads in which something was missed.
            Place::Thread { parent, .. } => gaps.has_gap(parent),
            Place::Direct => !gaps.are_marked(),
            Place::Server => false,
        };
        if gaps.has_gap(&message.channel.id) || (may_be_behind && !self.inner.marks.has_stored(&message.channel.id)) {
            return Ok(());
        }
        let seen = ChannelSeen { channel: message.channel.clone(), last_message: message.id.clone(), last_at: message.sent_at };
        match self.inner.marks.note(seen) {
            When::Now => self.store_marks().await,
            When::Soon => {
                self.store_marks_soon();
                Ok(())
            }
            When::Scheduled => Ok(()),
        }
    }

    fn store_marks_soon(&self) {
        let conversation = self.clone();
        self.deps().tasks.spawn(async move {
            // Real time, because a test's clock may stand still.
            let _ = conversation.deps().stop.run_until_cancelled(tokio::time::sleep(DELAY)).await;
            if let Err(error) = conversation.store_marks().await {
                // The next start reads the messages again, and finds them known.
                tracing::warn!(%error, "how far channels were heard could not be stored");
            }
        });
    }

    async fn store_marks(&self) -> Result<(), StoreError> {
        self.store_seen(&self.inner.marks.take()).await
    }

    pub(super) async fn store_seen(&self, marks: &[ChannelSeen]) -> Result<(), StoreError> {
        self.deps().store.record_channels_seen(marks).await?;
        self.inner.marks.note_stored(marks);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use kernel::chat::message::Channel;

    use super::*;

    fn seen(channel: &str, message: &str, second: i64) -> ChannelSeen {
        let channel = Channel { id: channel.into(), name: channel.into(), place: Place::Server, private: false, shared: false };
        ChannelSeen { channel, last_message: message.into(), last_at: DateTime::from_timestamp(second, 0).unwrap() }
    }

    #[test]
    fn the_first_mark_of_a_channel_is_stored_now_and_later_ones_together() {
        let marks = Marks::new(&[seen("known", "m0", 0)]);
        assert_eq!(marks.note(seen("known", "m1", 1)), When::Soon);
        assert_eq!(marks.note(seen("known", "m3", 3)), When::Scheduled);
        assert_eq!(marks.note(seen("known", "m2", 2)), When::Scheduled);
        assert_eq!(marks.note(seen("new", "m4", 4)), When::Now);
        let mut taken = marks.take();
        taken.sort_by_key(|seen| seen.last_at);
        assert_eq!(taken, [seen("known", "m3", 3), seen("new", "m4", 4)]);
        marks.note_stored(&taken);
        assert_eq!(marks.take(), []);
        assert_eq!(marks.note(seen("new", "m5", 5)), When::Soon);
    }
}
