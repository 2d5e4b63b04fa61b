//! Handles buttons. The current state is read again, because the button may be old or was clicked before.

use serde_json::json;

use crate::features::backlog::action::{execution_of, question_of};
use crate::features::backlog::button::WorkButton;
use crate::features::backlog::commands::{line, tell_cancelled, tell_restored};
use crate::features::backlog::judging::FILES;
use crate::features::backlog::learning::{ItemEnd, learn, memory_of};
use crate::features::backlog::model::{
    Artefact, Evidence, Execution, ExecutionKind, JournalEntry, Judge, Product, Wait, WorkItem, WorkStatus,
};
use crate::features::backlog::planner::asked_in;
use crate::features::backlog::render::Spot;
use crate::features::backlog::replies::words_of;
use crate::features::backlog::service::adding::clean;
use crate::features::backlog::service::changing::{named, over};
use crate::features::backlog::service::{Asker, Backlog, BacklogError, Cancelling, refused};
use crate::features::backlog::store::{ItemAnswer, ItemJudgement};
use kernel::agent::offline::wording::count;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundMessage;
use kernel::commands::CommandReply;
use kernel::db::StoreError;
use kernel::ids::{ApprovalId, MessageId, WorkItemId};
use kernel::memory::Memory;
use kernel::tools::approval::ApprovalState;

/// The answer of a button.
const DONE: &str = "done";

/// The most characters of an answer in a person's words.
const ANSWER: usize = 2000;

impl Backlog {
    pub(in crate::features::backlog) async fn press(&self, button: &WorkButton, asker: &Asker) -> Result<CommandReply, BacklogError> {
        match button {
            WorkButton::Done(id) => self.press_answer(id, (true, DONE), asker).await,
            WorkButton::NotNeeded(id) => self.press_answer(id, (false, "not needed"), asker).await,
            WorkButton::Unknown(id) => self.hand_back(id, asker).await,
            WorkButton::Answer(id, message) => self.confirm_answer(id, message, asker).await,
            WorkButton::Accept(id) => self.judge(id, true, asker).await,
            WorkButton::Reject(id) => self.judge(id, false, asker).await,
            WorkButton::Retry(id) => self.press_retry(id, asker).await,
            WorkButton::Anyway(id) => self.add_anyway(id, asker).await,
            WorkButton::Kind(id, kind) => self.choose_kind(id, *kind, asker).await,
            WorkButton::Cancel(id) => self.press_cancel(id, false, asker).await,
            WorkButton::CancelNow(id) => self.press_cancel(id, true, asker).await,
            WorkButton::Keep(id) => self.press_keep(id, asker).await,
            WorkButton::Restore(id) => self.press_restore(id, asker).await,
            WorkButton::Allow(approval) => self.decide(approval, true, asker).await,
            WorkButton::Refuse(approval) => self.decide(approval, false, asker).await,
            WorkButton::Raise(id) => self.raise(id, asker).await,
            WorkButton::StartWaiting => self.start_waiting(asker).await,
        }
    }

    /// Starts all that waited for a language model. It costs money, so an operator decides.
    async fn start_waiting(&self, asker: &Asker) -> Result<CommandReply, BacklogError> {
        if !asker.operates() {
            return Err(refused("only an operator may start them"));
        }
        let mut started = 0;
        for item in self.deps.store.list_waiting().await? {
            let waits = waits_for(&item, |wait| *wait == Wait::Model);
            if waits && self.deps.store.wake_item(&item.id, Some(asker.name()), self.deps.clock.now()).await? {
                started += 1;
            }
        }
        let told = format!("{} started {}.", by(asker), count(started, "item"));
        Ok(CommandReply::public(if started == 0 { "Nothing waits for a model any more.".to_owned() } else { told }).retiring_buttons())
    }

    async fn press_answer(&self, id: &WorkItemId, answer: (bool, &str), asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        if waits_for(&item, |wait| matches!(wait, Wait::Duplicate { .. } | Wait::Kind { .. })) {
            self.check_may_change(&item, asker).await?;
            self.cancel_item(&item, asker).await?;
            let kept = if matches!(item.wait, Some(Wait::Duplicate { .. })) { "Not added." } else { "Noted: not needed." };
            return Ok(CommandReply::private(kept).retiring_buttons());
        }
        // What the person has said before is what came of it.
        let said = item.evidence.iter().rev().filter_map(Evidence::answer).find(|(by, _)| *by == asker.name()).map(|(_, text)| text);
        let answer = if answer == (true, DONE) { (true, said.unwrap_or(DONE)) } else { answer };
        Ok(self.answer(&item, answer, asker).await?.retiring_buttons())
    }

    /// Handles "I don't know". The person who wanted the answer is told, and decides.
    async fn hand_back(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        if !asker.may_answer(&item) {
            return Err(refused(format!("only the person who was asked or an operator may answer for {}", named(&item))));
        }
        let handed = waits_for(&item, |wait| matches!(wait, Wait::Answer { .. } | Wait::Help { .. }));
        if !handed || !self.deps.store.hand_back(&item.id, asker.name(), self.deps.clock.now()).await? {
            return self.already_decided(&item).await;
        }
        Ok(CommandReply::private("Noted: you don't know.").retiring_buttons())
    }

    /// Somebody says that what they wrote is the answer.
    async fn confirm_answer(&self, id: &WorkItemId, message: &MessageId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        let Some(said) = self.deps.store.find_message(message).await?.map(|row| row.message) else {
            return Ok(CommandReply::refused("That reply is not there any more. Please reply again.").retiring_buttons());
        };
        let is_author = matches!(asker, Asker::Person { id, .. } if *id == said.author.id);
        let is_owner = matches!(asker, Asker::Person { id, .. } if item.find_asked() == Some(id));
        if !is_author && !is_owner && matches!(item.execution, Some(Execution::Remind { .. })) {
            // Somebody else says only that it is done.
            return self.press_answer(&item.id, (true, DONE), asker).await;
        }
        // Who is to do it confirms what somebody else has said of it.
        let is_reminded = is_owner && matches!(item.execution, Some(Execution::Remind { .. }));
        if !is_author && !is_reminded {
            return Err(refused(format!("only {} can say whether that is the answer", said.author.name)));
        }
        Ok(self.answer(&item, (true, &words_of(&said, &[])), asker).await?.retiring_buttons())
    }

    /// Takes an item that looks like another one into the backlog.
    async fn add_anyway(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        self.check_may_change(&item, asker).await?;
        let is_held = waits_for(&item, |wait| matches!(wait, Wait::Duplicate { .. }));
        if !is_held || !self.deps.store.wake_item(id, Some(asker.name()), self.deps.clock.now()).await? {
            return self.already_decided(&item).await;
        }
        Ok(CommandReply::public(format!("{} added {}", by(asker), line(&item))).retiring_buttons())
    }

    /// A person says which kind of work an item is, which the team could not tell.
    async fn choose_kind(&self, id: &WorkItemId, kind: ExecutionKind, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        if !asker.may_answer(&item) {
            return Err(refused(format!("only the person who was asked or an operator may choose for {}", named(&item))));
        }
        let execution = match kind {
            ExecutionKind::Remind => Some(Execution::Remind { whom: asker.as_owner() }),
            ExecutionKind::Ask => {
                Some(Execution::ask(asked_in(&item.what, &item.owner, &self.deps.roster), question_of(&item.what, &item.how)))
            }
            kind => execution_of(kind, None, &item.owner, &item.what, &item.how),
        };
        let waits = waits_for(&item, |wait| matches!(wait, Wait::Kind { .. }));
        match execution.filter(|_| waits) {
            Some(execution) if self.deps.store.choose_kind(id, &execution, asker.name(), self.deps.clock.now()).await? => {
                let chosen = ExecutionKind::CHOSEN.into_iter().find(|(known, _)| *known == kind).map_or("", |(_, label)| label);
                Ok(CommandReply::public(format!("{}: {} → {chosen}", by(asker), line(&item))).retiring_buttons())
            }
            _ => self.already_decided(&item).await,
        }
    }

    /// A person's word on an item that waits for it, with the answer in that person's words.
    ///
    /// # Errors
    /// The answer is empty or too long, or the caller may not give it.
    pub async fn answer_in_words(&self, id: &str, text: &str, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let item = self.get(id, asker).await?;
        let text = clean("text", text, ANSWER).map_err(refused)?;
        if text.is_empty() {
            return Err(refused("the answer is empty"));
        }
        self.answer(&item, (true, &text), asker).await
    }

    async fn answer(&self, item: &WorkItem, (done, text): (bool, &str), asker: &Asker) -> Result<CommandReply, BacklogError> {
        if !asker.may_answer(item) {
            return Err(refused(format!("only the person who was asked or an operator may answer for {}", named(item))));
        }
        if !waits_for(item, |wait| matches!(wait, Wait::Answer { .. } | Wait::Help { .. })) {
            return Ok(settled(item));
        }
        let now = self.deps.clock.now();
        let spot = self.find_spot(item, asker).await?;
        let said = self.announce_answer(item, asker, spot.as_ref(), (done, text));
        let evidence = [Evidence::Answer { by: asker.name().to_owned(), text: text.to_owned(), at: now }];
        let memory = if done { Some(self.learn(item, &evidence).await?) } else { None };
        let answer = ItemAnswer { by: asker.name(), done, text, memory: memory.as_ref(), outbox: &said, at: now };
        let Some(ended) = self.deps.store.answer_item(&item.id, &answer).await? else { return self.already_decided(item).await };
        Ok(CommandReply::private(if done { "Noted: done." } else { "Noted: not needed." }).with_data(json!({ "item": ended.item })))
    }

    /// The line for the channel, stored in the same transaction as the answer.
    pub(super) fn announce_answer(
        &self,
        item: &WorkItem,
        asker: &Asker,
        spot: Option<&Spot>,
        (done, text): (bool, &str),
    ) -> Vec<OutboundMessage> {
        let Some(spot) = spot else { return Vec::new() };
        let mut ended = item.clone();
        if done {
            let by = asker.name().to_owned();
            ended.outcome = (text != DONE).then(|| text.to_owned());
            ended.evidence.push(Evidence::Answer { by, text: text.to_owned(), at: self.deps.clock.now() });
            vec![self.announcer(spot).announce_done(&ended)]
        } else {
            ended.outcome = Some(format!("{} says it is not needed", asker.name()));
            vec![self.announcer(spot).announce_cancelled(&ended)]
        }
    }

    async fn judge(&self, id: &WorkItemId, accepted: bool, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.find_for_reviewer(id, asker).await? else { return Ok(gone()) };
        let may_be = item.status == WorkStatus::InReview || (accepted && waits_for(&item, |wait| matches!(wait, Wait::Decision { .. })));
        if !may_be {
            return Ok(settled(&item));
        }
        let judge = Judge::Person(asker.name().to_owned());
        let rejected = format!("rejected by {}", if *asker == Asker::KanbanPage { asker.name() } else { "button" });
        let spot = self.find_spot(&item, asker).await?;
        let files = if accepted { self.list_new_files(&item, spot.as_ref()).await? } else { Vec::new() };
        // If a decision is needed, the worker asks for it.
        let post = |judged: &WorkItem| {
            let done = spot.as_ref().filter(|_| judged.status == WorkStatus::Done);
            done.map(|spot| self.announcer(spot).announce_result(judged, &files)).into_iter().collect()
        };
        let memories = if accepted { self.learn_from(&item).await? } else { Vec::new() };
        let judgement = ItemJudgement {
            by: &judge,
            account: asker.person().map(|(id, _)| id),
            job: None,
            accepted,
            needs_person: false,
            note: if accepted { "accepted by button" } else { &rejected },
            findings: &[],
            scores: None,
            evidence: &[],
            // A button gives no reasons.
            amends: false,
            most_rejections: self.deps.most_rejections,
            memories: &memories,
            post: &post,
            at: self.deps.clock.now(),
        };
        let Some(judged) = self.deps.store.judge_item(id, &judgement).await? else { return self.already_decided(&item).await };
        let by = by(asker);
        Ok(match judged.item.status {
            WorkStatus::Done => CommandReply::private("Noted: accepted."),
            WorkStatus::Waiting => CommandReply::public(format!("{by} rejected {}. A decision is needed.", line(&item))),
            _ => CommandReply::public(format!("{by} rejected {}. It will be tried again.", line(&item))),
        }
        .retiring_buttons())
    }

    /// The files of a result that the message which asks for the decision does not show in this place.
    async fn list_new_files(&self, item: &WorkItem, spot: Option<&Spot>) -> Result<Vec<Artefact>, StoreError> {
        let asked = self.deps.store.find_posted(&item.notice_id()).await?;
        let shows_files = asked.is_some_and(|asked| spot.is_some_and(|spot| spot.channel() == Some(&asked.channel)));
        let files = self.deps.store.read_artefacts(&item.id).await?;
        Ok(if shows_files && files.len() <= FILES { Vec::new() } else { files })
    }

    /// What is remembered of an item that a person accepts in words, and the message about its result. None: there is no place for it.
    pub(in crate::features::backlog) async fn prepare_acceptance(
        &self,
        item: &WorkItem,
        asker: &Asker,
        said: &str,
    ) -> Result<(Vec<Memory>, Option<OutboundMessage>), StoreError> {
        let Some(spot) = self.find_spot(item, asker).await? else { return Ok((self.learn_from(item).await?, None)) };
        let files = self.list_new_files(item, Some(&spot)).await?;
        let (product, _) = self.read_run(item).await?;
        let mut done = WorkItem { status: WorkStatus::Done, ..item.clone() };
        done.outcome = Some(product.map_or_else(|| said.to_owned(), |product| product.summary));
        let by = Judge::Person(asker.name().to_owned());
        done.evidence.push(Evidence::Review { by, note: said.to_owned(), at: self.deps.clock.now() });
        Ok((self.learn_from(item).await?, Some(self.announcer(&spot).announce_result(&done, &files))))
    }

    /// The lesson of an item that a person completes by an answer.
    pub(super) async fn learn(&self, item: &WorkItem, evidence: &[Evidence]) -> Result<Memory, StoreError> {
        let (product, journal) = self.read_run(item).await?;
        Ok(memory_of(item, &ItemEnd::Done { product: product.as_ref(), evidence }, &journal, self.deps.clock.now()))
    }

    /// What is remembered of an item that a person accepts.
    async fn learn_from(&self, item: &WorkItem) -> Result<Vec<Memory>, StoreError> {
        let (product, journal) = self.read_run(item).await?;
        learn(&self.deps.store, item, product.as_ref(), &item.evidence, &journal, self.deps.clock.now()).await
    }

    /// The product and the journal of an item's current run.
    async fn read_run(&self, item: &WorkItem) -> Result<(Option<Product>, Vec<JournalEntry>), StoreError> {
        let store = &self.deps.store;
        let journal = store.list_journal(&item.id, item.run).await?.into_iter().map(|(entry, _)| entry).collect();
        Ok((store.find_product(&item.id).await?, journal))
    }

    async fn press_retry(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        // The person who is asked for help may say that the help is there.
        let helps = waits_for(&item, |wait| matches!(wait, Wait::Help { .. })) && asker.may_answer(&item);
        if !helps {
            self.check_may_change(&item, asker).await?;
        }
        if !matches!(item.status, WorkStatus::Failed | WorkStatus::Cancelled | WorkStatus::Waiting) {
            return Ok(settled(&item));
        }
        let item = self.retry_item(&item, asker).await?;
        Ok(CommandReply::public(format!("{} restarted {}", by(asker), line(&item))).retiring_buttons())
    }

    async fn press_cancel(&self, id: &WorkItemId, is_sure: bool, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        self.check_may_change(&item, asker).await?;
        if item.status.is_over() {
            return Ok(settled(&item));
        }
        let done = self.cancel_or_ask(item, is_sure, asker).await?;
        let reply = tell_cancelled(&by(asker), &done, asker);
        // The question that is still open keeps its buttons.
        Ok(if matches!(done, Cancelling::Asked(_)) { reply } else { reply.retiring_buttons() })
    }

    async fn press_keep(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        self.check_may_change(&item, asker).await?;
        Ok(CommandReply::private(format!("Kept: {}.", line(&item))).retiring_buttons())
    }

    async fn press_restore(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(gone()) };
        self.check_may_change(&item, asker).await?;
        let back = self.restore_item(&item, asker).await?;
        Ok(CommandReply::public(tell_restored(&by(asker), &back)).retiring_buttons())
    }

    async fn decide(&self, id: &ApprovalId, allowed: bool, asker: &Asker) -> Result<CommandReply, BacklogError> {
        operators_only(asker)?;
        let store = &self.deps.store;
        if let Some(decided) = store.decide_approval(id, allowed, asker.name(), self.deps.clock.now()).await? {
            let verb = if allowed { "allowed" } else { "refused" };
            let tool = decided.tool.replace('`', "'");
            return Ok(CommandReply::public(format!("{} {verb} the call of `{tool}`.", by(asker))).retiring_buttons());
        }
        let Some(known) = store.find_approval(id).await? else { return Ok(gone()) };
        let decided_by = known.by.as_deref().map_or_else(|| "somebody".to_owned(), |by| Medium::Chat.line_within(by, 40));
        Ok(match known.state {
            ApprovalState::Allowed => CommandReply::refused(format!("{decided_by} has approved this already.")).retiring_buttons(),
            ApprovalState::Refused => CommandReply::refused(format!("{decided_by} has refused this already.")).retiring_buttons(),
            ApprovalState::Asked => CommandReply::refused("This approval is no longer needed.").retiring_buttons(),
        })
    }

    /// Raises the limit that the item waits for by one step. Other items with the same limit continue by themselves.
    async fn raise(&self, id: &WorkItemId, asker: &Asker) -> Result<CommandReply, BacklogError> {
        let Some(item) = self.find_for_operator(id, asker).await? else { return Ok(gone()) };
        let (Some(Wait::Budget { refused, .. }), WorkStatus::Waiting) = (&item.wait, item.status) else { return Ok(settled(&item)) };
        let (now, store, limit) = (self.deps.clock.now(), &self.deps.store, &refused.limit);
        let step = self.deps.budgets.step(limit);
        // Ending the wait comes first: of two clicks only one succeeds, and only that one raises the limit.
        if !store.wake_item(id, Some(asker.name()), now).await? {
            return self.already_decided(&item).await;
        }
        store.raise_limit(limit, step, asker.name(), now).await?;
        let whose = if limit.ends_with_the_day() { "today's budget" } else { "the budget" };
        let raised = format!("{} raised {whose} by {}. Work continues: {}", by(asker), limit.render(step), line(&item));
        Ok(CommandReply::public(raised).retiring_buttons())
    }

    async fn find_for_operator(&self, id: &WorkItemId, asker: &Asker) -> Result<Option<WorkItem>, BacklogError> {
        operators_only(asker)?;
        Ok(self.deps.store.find_item(id).await?)
    }

    /// An item that this person may judge: an operator, or its named reviewer.
    async fn find_for_reviewer(&self, id: &WorkItemId, asker: &Asker) -> Result<Option<WorkItem>, BacklogError> {
        let Some(item) = self.deps.store.find_item(id).await? else { return Ok(None) };
        check_may_judge(&item, asker)?;
        Ok(Some(item))
    }

    /// Somebody else was faster.
    async fn already_decided(&self, item: &WorkItem) -> Result<CommandReply, BacklogError> {
        Ok(self.deps.store.find_item(&item.id).await?.as_ref().map_or_else(gone, settled))
    }
}

/// Checks that this person may judge an item.
pub(in crate::features::backlog) fn check_may_judge(item: &WorkItem, asker: &Asker) -> Result<(), BacklogError> {
    if asker.is_reviewer_of(item) { Ok(()) } else { operators_only(asker) }
}

fn operators_only(asker: &Asker) -> Result<(), BacklogError> {
    if asker.operates() { Ok(()) } else { Err(refused("only operators can decide that")) }
}

fn waits_for(item: &WorkItem, which: impl Fn(&Wait) -> bool) -> bool {
    item.status == WorkStatus::Waiting && item.wait.as_ref().is_some_and(which)
}

/// The reply for a question that is already decided: the item's state.
fn settled(item: &WorkItem) -> CommandReply {
    let text = if item.status.is_over() {
        Medium::Chat.line(&over(item))
    } else {
        format!("This was already decided: {} is {}", line(item), item.status.as_str().replace('_', " "))
    };
    CommandReply::refused(format!("{text}.")).retiring_buttons()
}

fn gone() -> CommandReply {
    CommandReply::refused("This item is no longer in the backlog.").retiring_buttons()
}

/// The caller's name in a reply. The kanban page says "You".
fn by(asker: &Asker) -> String {
    if *asker == Asker::KanbanPage { "You".to_owned() } else { Medium::Chat.line_within(asker.name(), 40) }
}
