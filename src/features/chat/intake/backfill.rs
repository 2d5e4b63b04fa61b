//! Fetches messages that were posted while no identity of the team was connected.
//!
//! The database holds a mark for each channel: everything up to it was read without a gap. A channel *is behind* from the start of the process, and
//! from each reconnect of an identity, until it has been read up to now. Messages that arrive live meanwhile are claimed but do not move the mark.
//! Otherwise a crash in between would lose the messages before them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::DateTime;

use crate::features::chat::Conversation;
use kernel::chat::SendError;
use kernel::chat::message::{AuthorKind, InboundMessage, Place};
use kernel::chat::store::ChannelSeen;
use kernel::db::StoreError;
use kernel::ids::ChannelId;

/// Messages per request.
const PAGE: usize = 100;

/// Identities reconnect in groups. After this delay one backfill serves them all.
const DELAY: Duration = Duration::from_millis(100);

/// Delay before channels that could not be read are tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Which channels may have a gap.
#[derive(Default)]
pub(crate) struct Gaps {
    /// Each channel with the number of the last backfill that reported it. An older backfill does not close the gap.
    behind: Mutex<HashMap<ChannelId, u64>>,
    looks: AtomicU64,
    /// A backfill is scheduled and has not begun.
    due: Mutex<bool>,
    /// Held by the running backfill. At most one other waits for it and serves all identities that reconnect meanwhile. Otherwise unstable identities
    /// would have every channel read once for each reconnect, and new messages would wait behind that.
    running: tokio::sync::Mutex<()>,
    /// Since the last reconnect the channels that the platform reports have got marks.
    marked: AtomicBool,
    /// A backfill has finished since the start.
    looked: AtomicBool,
}

impl Gaps {
    pub(crate) fn new(known: &[ChannelSeen]) -> Self {
        let gaps = Self::default();
        gaps.open(known);
        gaps
    }

    fn open(&self, known: &[ChannelSeen]) {
        let look = self.looks.fetch_add(1, Ordering::Relaxed);
        self.behind().extend(known.iter().map(|seen| (seen.channel.id.clone(), look)));
    }

    fn close(&self, channel: &ChannelId, look: u64) {
        let mut behind = self.behind();
        if behind.get(channel) == Some(&look) {
            behind.remove(channel);
        }
    }

    /// From here on no message can be missed, even if this process dies.
    pub(crate) fn have_been_looked_for(&self) -> bool {
        self.looked.load(Ordering::Acquire)
    }

    /// Whether every channel that the platform reports has a mark.
    pub(super) fn are_marked(&self) -> bool {
        self.marked.load(Ordering::Acquire)
    }

    /// Whether messages before those that arrive now may be missing.
    pub(super) fn has_gap(&self, channel: &ChannelId) -> bool {
        self.behind().contains_key(channel)
    }

    fn behind(&self) -> MutexGuard<'_, HashMap<ChannelId, u64>> {
        self.behind.lock().expect("no code panics while it holds the gaps")
    }

    /// True for the first caller until [`Gaps::begin`].
    fn schedule(&self) -> bool {
        !std::mem::replace(&mut *self.due.lock().expect("no code panics while it holds the flag"), true)
    }

    fn begin(&self) {
        *self.due.lock().expect("no code panics while it holds the flag") = false;
    }
}

impl Conversation {
    /// Starts a backfill after an identity reconnects. Messages that only it can see may have been missed.
    pub(crate) async fn look_for_gaps(&self) -> Result<(), StoreError> {
        self.inner.gaps.marked.store(false, Ordering::Release);
        self.inner.gaps.open(&self.deps().store.list_channels().await?);
        self.backfill_after(DELAY);
        Ok(())
    }

    fn backfill_after(&self, delay: Duration) {
        if !self.inner.gaps.schedule() {
            return;
        }
        let conversation = self.clone();
        self.deps().tasks.spawn(async move {
            let deps = conversation.deps();
            tokio::select! {
                // Real time, because the delay is for a real platform.
                () = tokio::time::sleep(delay) => {}
                () = deps.stop.cancelled() => return,
            }
            let _turn = tokio::select! {
                turn = conversation.inner.gaps.running.lock() => turn,
                () = deps.stop.cancelled() => return,
            };
            conversation.inner.gaps.begin();
            if let Err(error) = conversation.backfill().await {
                tracing::warn!(error = format!("{error:#}"), "missed messages could not be fetched");
                conversation.backfill_after(RETRY);
            }
        });
    }

    async fn backfill(&self) -> anyhow::Result<()> {
        self.mark_new_channels().await?;
        self.inner.gaps.marked.store(true, Ordering::Release);
        self.inner.gaps.looked.store(true, Ordering::Release);
        let mut unread = None;
        let known = self.deps().store.list_channels().await?;
        let mut left: VecDeque<ChannelSeen> = known.into();
        let mut known: HashSet<ChannelId> = left.iter().map(|seen| seen.channel.id.clone()).collect();
        while let Some(seen) = left.pop_front() {
            let channel = seen.channel.id.clone();
            let Some(look) = self.inner.gaps.behind().get(&channel).copied() else { continue };
            let read = match self.mark_new_threads(&seen, &mut known).await? {
                Ok(threads) => {
                    left.extend(threads);
                    self.read_up(seen).await?
                }
                Err(refused) => Err(refused),
            };
            let read = match read {
                Ok(()) => self.catch_up_changes(&channel).await?,
                refused => refused,
            };
            match read {
                Ok(()) => {}
                // No identity of the team may read the channel any more, so nothing was missed there.
                Err(SendError::Refused(why)) => tracing::info!(%channel, why, "a channel can no longer be read"),
                Err(error) => {
                    unread = Some(error);
                    continue;
                }
            }
            self.inner.gaps.close(&channel, look);
        }
        unread.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Marks the channels that the team sees for the first time. Of these only direct conversations are read, from the marks that the platform
    /// gives. What was said in the others was not said to the team. New threads of known channels are left to [`Self::mark_new_threads`].
    async fn mark_new_channels(&self) -> Result<(), StoreError> {
        let store = &self.deps().store;
        let known: HashSet<ChannelId> = store.list_channels().await?.into_iter().map(|seen| seen.channel.id).collect();
        for (channel, newest) in self.deps().platform.list_channels() {
            let in_known = matches!(&channel.place, Place::Thread { parent, .. } if known.contains(parent));
            if !in_known && !known.contains(&channel.id) {
                // The oldest possible time, so that any live message moves the mark.
                let seen = [ChannelSeen { channel, last_message: newest, last_at: DateTime::UNIX_EPOCH }];
                self.store_seen(&seen).await?;
                if seen[0].channel.place == Place::Direct {
                    self.inner.gaps.open(&seen);
                }
            }
        }
        Ok(())
    }

    /// Marks the threads in which something was said after a channel's mark, if nobody was heard there before. The channel's own mark does not move
    /// past them before that.
    async fn mark_new_threads(
        &self,
        seen: &ChannelSeen,
        known: &mut HashSet<ChannelId>,
    ) -> Result<Result<Vec<ChannelSeen>, SendError>, StoreError> {
        let threads = match self.deps().platform.list_threads_after(&seen.channel.id, &seen.last_message).await {
            Ok(threads) => threads,
            Err(error) => return Ok(Err(error)),
        };
        let new = threads.into_iter().filter(|thread| known.insert(thread.id.clone()));
        let marks = new.map(|channel| ChannelSeen { channel, last_message: seen.last_message.clone(), last_at: DateTime::UNIX_EPOCH });
        let marks: Vec<ChannelSeen> = marks.collect();
        self.store_seen(&marks).await?;
        self.inner.gaps.open(&marks);
        Ok(Ok(marks))
    }

    /// How many of these messages were said before a message of the team that this database does not hold. With another database they were answered.
    async fn count_answered(&self, page: &[InboundMessage]) -> Result<usize, StoreError> {
        for (index, message) in page.iter().enumerate().rev() {
            let is_ours = matches!(message.author.kind, AuthorKind::Persona(_));
            if is_ours && self.deps().store.find_by_platform_id(&message.id).await?.is_none() {
                return Ok(index);
            }
        }
        Ok(0)
    }

    /// Reads a channel page by page from its mark.
    async fn read_up(&self, seen: ChannelSeen) -> anyhow::Result<Result<(), SendError>> {
        let deps = self.deps();
        let mut mark = seen.last_message;
        loop {
            let page = match deps.platform.list_messages_after(&seen.channel.id, &mark, PAGE).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            let Some(last) = page.last() else { return Ok(Ok(())) };
            let (last_id, last_at, full) = (last.id.clone(), last.sent_at, page.len() == PAGE);
            // Nobody was heard here before.
            let is_new = seen.last_at == DateTime::UNIX_EPOCH;
            let answered = if is_new { self.count_answered(&page).await? } else { 0 };
            for message in page.into_iter().skip(answered) {
                self.receive(message).await?;
            }
            mark.clone_from(&last_id);
            let seen = ChannelSeen { channel: seen.channel.clone(), last_message: last_id, last_at };
            self.store_seen(&[seen]).await?;
            if !full {
                return Ok(Ok(()));
            }
        }
    }
}
