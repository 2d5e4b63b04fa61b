//! Requests reviews from the reviewing persona, or from people if there is none. Also asks people about items that were set aside.

use std::time::Duration;

use crate::features::backlog::learning::{ItemEnd, memory_of};
use crate::features::backlog::model::{Evidence, JournalEntry, Judge, Wait, WorkItem, WorkStatus};
use crate::features::backlog::review::{Judgement, review};
use crate::features::backlog::store::ItemJudgement;
use crate::features::backlog::{Announcer, Work};
use kernel::catch_panic::contain;
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundMessage};
use kernel::db::StoreError;

/// A review older than this was lost with its process and is started again.
const REVIEW: Duration = Duration::from_mins(4);

/// The most items per round.
const AT_ONCE: u32 = 50;

/// The most files shown to people, and the most bytes of each.
const FILES: usize = 5;
const FILE: u64 = 256 * 1024;

impl Work {
    /// Requests judgement for items that need it. Reviews run in the background, because a model is slow.
    pub(super) async fn judge(&self) -> anyhow::Result<()> {
        let store = &self.parts().store;
        for item in store.list_unasked(AT_ONCE).await? {
            match &item.wait {
                Some(Wait::Decision { why }) => {
                    let made = store.find_product(&item.id).await?.is_some();
                    self.ask_people(&item, |announcer| announcer.ask_decision(&item, why, made)).await?;
                }
                _ => self.begin_review(item).await?,
            }
        }
        Ok(())
    }

    async fn begin_review(&self, item: WorkItem) -> Result<(), StoreError> {
        let parts = self.parts();
        let key = format!("review:{}:{}", item.id, item.run);
        if parts.store.claim_notice(&key, parts.clock.now(), REVIEW).await? {
            parts.tasks.spawn(self.clone().hold_review(item));
        }
        Ok(())
    }

    async fn hold_review(self, item: WorkItem) {
        let parts = self.parts();
        let held = async {
            let journal = self.read_journal(&item).await?;
            if let Some(judged) = review(&self.inner.reviewer, &item, &item.evidence, &journal, &parts.kill).await? {
                return self.record_judgement(&item, judged, &journal).await;
            }
            let files = self.read_files(&item).await;
            self.ask_people(&item, |announcer| announcer.ask_review(&item, files)).await
        };
        if let Err(error) = contain(Box::pin(held)).await {
            tracing::warn!(item = %item.id, error = format!("{error:#}"), "a review failed and is repeated later");
        }
        parts.wake.notify_one();
    }

    async fn record_judgement(&self, item: &WorkItem, judged: Judgement, journal: &[JournalEntry]) -> anyhow::Result<()> {
        let parts = self.parts();
        let (now, roster) = (parts.clock.now(), &parts.roster);
        let Judgement { by, accepted, note } = judged;
        let product = parts.store.find_product(&item.id).await?;
        let ending = ItemEnd::Done { product: product.as_ref(), evidence: &item.evidence };
        let memory = accepted.then(|| memory_of(item, &ending, journal, now));
        let channel = self.find_channel(item).await?;
        let persona = self.speaker_of(item);
        let post = |item: &WorkItem| -> Vec<OutboundMessage> {
            let done = channel.as_ref().filter(|_| item.status == WorkStatus::Done);
            done.map(|channel| Announcer { persona, channel, roster }.announce_done(item)).into_iter().collect()
        };
        let judgement = ItemJudgement {
            by: &Judge::Persona(by),
            accepted,
            note: &note,
            most_rejections: parts.settings.attempts,
            memory: memory.as_ref(),
            post: &post,
            at: now,
        };
        parts.store.judge_item(&item.id, &judgement).await?;
        self.wake_relay(channel.as_ref());
        Ok(())
    }

    /// The verified files, for people to judge. Unreadable files are skipped; the evidence names them.
    async fn read_files(&self, item: &WorkItem) -> Vec<OutboundFile> {
        let Ok(workspace) = self.parts().workspaces.open(&item.id).await else { return Vec::new() };
        let mut files = Vec::new();
        for found in &item.evidence {
            if let Evidence::File { path, .. } = found
                && files.len() < FILES
                && let Ok(file) = workspace.read(path, FILE).await
            {
                let name = path.replace('/', "-");
                files.push(OutboundFile { name, content: FileContent::Text(String::from_utf8_lossy(&file.head).into_owned()) });
            }
        }
        files
    }

    /// Asks people once: the message has the id of the question.
    async fn ask_people(&self, item: &WorkItem, question: impl FnOnce(Announcer<'_>) -> OutboundMessage) -> anyhow::Result<()> {
        let parts = self.parts();
        let Some(channel) = self.find_channel(item).await? else {
            tracing::warn!(item = %item.id, "an item waits for a person, but there is no channel to ask in");
            return Ok(());
        };
        let message = question(Announcer { persona: self.speaker_of(item), channel: &channel, roster: &parts.roster });
        parts.store.enqueue_once(&OutboundMessage { id: item.notice_id(), ..message }, parts.clock.now()).await?;
        self.wake_relay(Some(&channel));
        Ok(())
    }
}
