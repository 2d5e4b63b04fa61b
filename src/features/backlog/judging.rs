//! Requests reviews from the reviewing persona, or from people if there is none. Also asks people about items that were set aside.

use crate::features::backlog::learning::learn;
use crate::features::backlog::model::{Evidence, JournalEntry, Judge, Wait, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::render::put_to;
use crate::features::backlog::review::{ForReview, Judgement, review};
use crate::features::backlog::settings::Amendments;
use crate::features::backlog::store::{End, ItemJudgement, ItemOf, RunEnd};
use crate::features::backlog::{Announcer, Work};
use crate::features::memory::offer_lesson;
use kernel::agent::RunError;
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundMessage};
use kernel::db::StoreError;
use kernel::jobs::{JobContext, JobError};
use kernel::money::Refused;

/// The most files shown to people, and the most bytes of each.
pub(super) const FILES: usize = 10;
const FILE: u64 = 256 * 1024;

impl Work {
    /// Has the job's item reviewed, or asks people for a decision.
    pub(super) async fn run_review(&self, job: &JobContext) -> Result<(), JobError> {
        let ItemOf { item, by_people } = job.payload()?;
        let store = &self.deps().store;
        let Some(item) = store.find_item(&item).await? else { return Ok(()) };
        match (item.status, &item.wait) {
            (WorkStatus::Waiting, Some(Wait::Decision { why })) => {
                let parts = store.list_parts(&item.id).await?;
                // The results of the item's parts may be accepted, too.
                let made = store.find_product(&item.id).await?.is_some() || !parts.is_empty();
                let files = self.read_all_files(&item, &parts).await;
                self.ask_people(&item, job, |announcer| OutboundMessage { files, ..announcer.ask_decision(&item, why, made) }).await
            }
            (WorkStatus::Waiting, Some(Wait::Help { of })) => {
                self.ask_people(&item, job, |announcer| announcer.ask_help(&item, of.as_ref())).await
            }
            (WorkStatus::Waiting, Some(Wait::Duplicate { of, what })) => {
                self.ask_people(&item, job, |announcer| announcer.ask_anyway(&item, of, what)).await
            }
            (WorkStatus::Waiting, Some(Wait::Kind { of })) => {
                self.ask_people(&item, job, |announcer| announcer.ask_kind(&item, of.as_ref())).await
            }
            (WorkStatus::InReview, _) => self.hold_review(&item, by_people, job).await,
            _ => Ok(()),
        }
    }

    async fn hold_review(&self, item: &WorkItem, by_people: bool, job: &JobContext) -> Result<(), JobError> {
        let journal = self.read_journal(item).await?;
        let parts = self.deps().store.list_parts(&item.id).await?;
        let blocked = self.deps().store.find_product(&item.id).await?.and_then(|product| product.blocked);
        let rejected = self.find_rejection(item).await?.map(|rejection| rejection.why);
        let (blocked, rejected) = (blocked.as_deref(), rejected.as_deref());
        let of = ForReview { item, evidence: &item.evidence, journal: &journal, parts: &parts, blocked, rejected };
        if !by_people {
            match review(&self.inner.reviewer, of, Some(job), job.cancelled()).await {
                Ok(Some(judged)) => return Ok(self.record_judgement(item, &judged, &journal, job).await?),
                Ok(None) => {}
                Err(error) => match error.downcast_ref::<RunError>() {
                    Some(RunError::OutOfBudget(refused)) => return self.wait_for_money(item, refused.clone(), job).await,
                    _ => return Err(error.into()),
                },
            }
        }
        let files = self.read_all_files(item, &parts).await;
        self.ask_people(item, job, |announcer| announcer.ask_review(item, &parts, files)).await
    }

    /// Puts off a review for which there is no money. People are asked for money, not for a review.
    async fn wait_for_money(&self, item: &WorkItem, refused: Refused, job: &JobContext) -> Result<(), JobError> {
        let wait = Wait::for_budget(refused, job.now());
        let outbox = self.ask_for_money(item, &wait).await?;
        let end = End::Waits { wait, evidence: Vec::new() };
        self.deps().store.end_run(&RunEnd { job, end, artefacts: &[], outbox: &outbox, at: job.now() }).await?;
        Ok(())
    }

    async fn record_judgement(
        &self,
        item: &WorkItem,
        judged: &Judgement,
        journal: &[JournalEntry],
        job: &JobContext,
    ) -> Result<(), StoreError> {
        let deps = self.deps();
        let (now, roster) = (deps.clock.now(), &deps.roster);
        let product = deps.store.find_product(&item.id).await?;
        // What the author could not do is for a person, also if the reviewer misses nothing.
        let blocked = product.as_ref().and_then(|product| product.blocked.as_deref()).filter(|_| judged.accepted());
        let accepted = judged.accepted() && blocked.is_none();
        let note = blocked.map_or_else(|| judged.note(), |blocked| format!("{}, and a person is needed: {blocked}", judged.note()));
        let shown = judged.evidence(now);
        let memories = if accepted { learn(&deps.store, item, product.as_ref(), &item.evidence, journal, now).await? } else { Vec::new() };
        let has_lesson = product.as_ref().is_some_and(|product| product.lesson.is_some());
        let spot = self.find_spot(item).await?;
        let persona = self.speaker_of(item);
        let files = deps.store.read_artefacts(&item.id).await?;
        let post = |item: &WorkItem| -> Vec<OutboundMessage> {
            // A mission delivers its result itself.
            let done = spot.as_ref().filter(|_| item.status == WorkStatus::Done && item.kind != WorkKind::Mission);
            let announce = |spot| {
                let mut message = Announcer { persona, spot, roster }.announce_result(item, &files);
                offer_lesson(&mut message, memories.first().filter(|_| has_lesson));
                message
            };
            done.map(announce).into_iter().collect()
        };
        let judgement = ItemJudgement {
            by: &Judge::Persona(judged.by.clone()),
            account: None,
            job: Some(job),
            accepted,
            needs_person: judged.needs_person() || blocked.is_some(),
            note: &note,
            findings: &judged.findings,
            scores: judged.scores,
            evidence: &shown,
            amends: deps.settings.amendments == Amendments::Ask && !deps.agents.is_offline(),
            most_rejections: deps.settings.attempts,
            memories: &memories,
            post: &post,
            at: now,
        };
        deps.store.judge_item(&item.id, &judgement).await?;
        Ok(())
    }

    /// The verified files of an item and of its parts, for people to judge.
    async fn read_all_files(&self, item: &WorkItem, parts: &[WorkItem]) -> Vec<OutboundFile> {
        let mut files = self.read_files(item).await;
        for part in parts.iter().filter(|part| has_file(part)).take(FILES) {
            files.extend(self.read_files(part).await);
        }
        files.truncate(FILES);
        files
    }

    /// The verified files of an item. Unreadable files are skipped; the evidence names them.
    async fn read_files(&self, item: &WorkItem) -> Vec<OutboundFile> {
        let Ok(workspace) = self.deps().workspaces.open(&item.id).await else { return Vec::new() };
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

    /// Asks people once, and the one responsible by name: the message has the id of the question.
    async fn ask_people(
        &self,
        item: &WorkItem,
        job: &JobContext,
        question: impl FnOnce(Announcer<'_>) -> OutboundMessage,
    ) -> Result<(), JobError> {
        let deps = self.deps();
        let helper = self.find_person(item).await?;
        let Some(spot) = self.find_spot_for(item, helper.as_ref()).await? else {
            tracing::warn!(item = %item.id, "an item waits for a person, but there is no channel to ask in");
            return Err(JobError::Sleep(self.next_round(job.now())));
        };
        let message = question(Announcer { persona: self.speaker_of(item), spot: &spot, roster: &deps.roster });
        let message = put_to(message, helper.as_ref());
        // Does not ask if the item was changed meanwhile.
        if deps.store.find_item(&item.id).await?.is_some_and(|now| now.notice_id() == item.notice_id()) {
            deps.store.enqueue_once(&OutboundMessage { id: item.notice_id(), ..message }, deps.clock.now()).await?;
        }
        Ok(())
    }
}

fn has_file(item: &WorkItem) -> bool {
    item.evidence.iter().any(|found| matches!(found, Evidence::File { .. }))
}
