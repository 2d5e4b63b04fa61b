//! Finds what a person's message answers, and what follows from it.

use std::collections::HashSet;

use chrono::TimeDelta;

use crate::features::backlog::answering::QUESTION_MARKS;
use crate::features::backlog::given::describe_files;
use crate::features::backlog::model::{Evidence, Execution, Wait, WorkItem, WorkStatus};
use crate::features::backlog::render::Spot;
use crate::features::backlog::replies::{TakeAnswer, TakeWord, words_of};
use crate::features::backlog::service::{Asker, Backlog};
use crate::features::backlog::store::PersonAnswer;
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::router::only_tells;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::text::parts;
use kernel::commands::Right;
use kernel::db::StoreError;
use kernel::ids::{MessageId, OutboxId, UserId};
use kernel::memory::Scope;
use kernel::memory::retrieval::terms_of;
use kernel::text::fold_name;

/// A message within this time after a question, with no other message between them, is its answer.
const FOLLOWS: TimeDelta = TimeDelta::hours(1);

/// Open requests in which the subject of a message is looked for.
const REQUESTS: u32 = 200;

/// Replies to a reminder that plainly say that it is done. After any other reply, in every language, the person is asked with buttons.
const PLAIN: [&str; 14] = ["👍", "✅", "✔", "✔️", "☑", "👌", "done", "erledigt", "fait", "hecho", "fatto", "feito", "готово", "完了"];

/// After this time only a reply answers a question, so that old ones cost no calls.
const RECENT: TimeDelta = TimeDelta::days(7);

/// The most open questions that a message may answer without a reply, newest first.
const QUESTIONS: usize = 8;

impl Backlog {
    /// What a message of somebody who was asked means. None: it is no reply to an item.
    pub(in crate::features::backlog) async fn take_reply(
        &self,
        message: &InboundMessage,
        decision: &Decision,
    ) -> Result<Option<Taken>, StoreError> {
        let Some(item) = self.find_replied(message, decision).await? else { return self.take_told(message).await };
        let why = format!("it answers the item {}", item.short_id());
        let is_question = matches!(&item.execution, Some(Execution::Ask { .. }));
        let text = said(message);
        if (is_question || !self.deps.is_offline) && message.attachments.is_empty() && text.ends_with(QUESTION_MARKS) {
            // A persona answers the person's question.
            return Ok(None);
        }
        let here = Spot::Channel(message.channel.id.clone());
        if is_question && self.deps.is_offline && message.attachments.is_empty() {
            // The reply may mean "I don't know", in any words and language.
            let reply = OutboundMessage { reply_to: Some(message.id.clone()), ..self.announcer(&here).ask_answer(&item, &message.id) };
            return Ok(Some(Taken { why, reply: Some(reply), effect: None }));
        }
        let is_plain = !is_question && PLAIN.contains(&fold_name(&text).trim_end_matches(['.', '!']));
        if is_question || (!is_plain && !self.deps.is_offline) {
            // A model judges whether the text is an answer, or what came of a reminder. A file counts as one.
            let answer = self.read_answer(&item, message).await?;
            return Ok(Some(Taken { why, reply: None, effect: Some(Box::new(TakeAnswer(answer))) }));
        }
        // Without a model, only plain words or a button say that the item is done.
        if is_plain {
            let words = "done".to_owned();
            let asker = Asker::Person {
                id: message.author.id.clone(),
                name: message.author.name.clone(),
                right: Right::Anybody,
                channel: Some(message.channel.clone()),
            };
            let spot = self.find_spot(&item, &asker).await?;
            let outbox = self.announce_answer(&item, &asker, spot.as_ref(), (true, &words));
            let evidence = [Evidence::Answer { by: message.author.name.clone(), text: words.clone(), at: self.deps.clock.now() }];
            let memory = self.learn(&item, &evidence).await?;
            let effect = TakeWord { item: item.id.clone(), by: message.author.name.clone(), text: words, memory, outbox };
            return Ok(Some(Taken { why, reply: None, effect: Some(Box::new(effect)) }));
        }
        let reply = OutboundMessage { reply_to: Some(message.id.clone()), ..self.announcer(&here).ask_word(&item, Some(&message.id)) };
        Ok(Some(Taken { why, reply: Some(reply), effect: None }))
    }

    /// Asks back whether an item is done, if somebody tells something on its subject without replying to anything: the author, if the item is theirs, or
    /// once the person who is to do it.
    async fn take_told(&self, message: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        let text = said(message);
        let is_reply = message.reply_to.is_some() || matches!(message.channel.place, Place::Thread { .. });
        if is_reply || !only_tells(&text, &self.deps.roster) {
            return Ok(None);
        }
        let (words, scope) = (terms_of(&text), Scope::of(&message.channel));
        let mut told = self.deps.store.list_requests(None, REQUESTS).await?;
        told.retain(|(_, item)| {
            let is_reminder = item.status == WorkStatus::Waiting && matches!(item.execution, Some(Execution::Remind { .. }));
            is_reminder && scope.hears(item.private_to.as_ref()) && is_about(&words, &item.what)
        });
        let (own, others): (Vec<_>, Vec<_>) = told.into_iter().partition(|(request, _)| request.person == message.author.id);
        let is_own = !own.is_empty();
        // With several such items, only a reply says which one is meant.
        let mut found = if is_own { own } else { others };
        let (Some((request, item)), true) = (found.pop(), found.is_empty()) else { return Ok(None) };
        let here = Spot::Channel(message.channel.id.clone());
        let reply = if is_own {
            self.announcer(&here).ask_word(&item, Some(&message.id))
        } else {
            let id = OutboxId::new(format!("{}-heard", WorkItem::reminder_id_of(&item.id, item.run)));
            if self.deps.store.find_delivery(&id).await?.is_some() {
                return Ok(None);
            }
            OutboundMessage { id, ..self.announcer(&here).ask_owner(&item, &request.person, message) }
        };
        let reply = OutboundMessage { reply_to: Some(message.id.clone()), ..reply };
        Ok(Some(Taken { why: format!("it is about the item {}", item.short_id()), reply: Some(reply), effect: None }))
    }

    /// The recent questions that wait for the author of a message and may be told where it was said, oldest first.
    pub(in crate::features::backlog) async fn list_open_questions(&self, message: &InboundMessage) -> Result<Vec<WorkItem>, StoreError> {
        let (asker, person) = (self.asker_of(message), &message.author.id);
        let mut open = Vec::new();
        for request in self.deps.store.list_requests_of(person).await? {
            if message.sent_at - request.asked_at <= RECENT {
                open.extend(self.deps.store.find_item(&request.item).await?);
            }
        }
        let is_question = |item: &WorkItem| matches!(item.execution, Some(Execution::Ask { .. }));
        open.retain(|item| is_question(item) && waits_for(item, person) && asker.sees(item));
        open.drain(..open.len().saturating_sub(QUESTIONS));
        Ok(open)
    }

    pub(in crate::features::backlog) async fn read_answer(
        &self,
        item: &WorkItem,
        message: &InboundMessage,
    ) -> Result<PersonAnswer, StoreError> {
        let mut given = Vec::new();
        for attachment in &message.attachments {
            given.extend(self.deps.store.find_file(&attachment.id).await?);
        }
        let files = describe_files(&given, &message.author.name);
        Ok(PersonAnswer {
            item: item.id.clone(),
            run: item.run,
            person: message.author.id.clone(),
            by: message.author.name.clone(),
            text: words_of(message, &files),
            files,
            attachments: message.attachments.iter().map(|attachment| attachment.id.clone()).collect(),
        })
    }

    /// The item that a message answers, if it still waits for its author.
    async fn find_replied(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<WorkItem>, StoreError> {
        let person = &message.author.id;
        let waits = |item: &WorkItem| waits_for(item, person);
        if let Some(replied_to) = &message.reply_to {
            return Ok(self.find_asking(&replied_to.message).await?.filter(waits));
        }
        if matches!(message.channel.place, Place::Thread { .. }) {
            // A thread that hangs on a message has the id of that message.
            let starter = MessageId::new(message.channel.id.as_str());
            if let Some(item) = self.find_asking(&starter).await?.filter(waits) {
                return Ok(Some(item));
            }
        }
        // A person who is asked for help may talk about something else, and so may anybody who asks for something or says thanks.
        if message.attachments.is_empty() && !only_tells(&said(message), &self.deps.roster) {
            return Ok(None);
        }
        let mut here = Vec::new();
        for request in self.deps.store.list_requests_of(person).await? {
            let item = self.deps.store.find_item(&request.item).await?.filter(waits);
            let Some(item) = item.filter(|item| matches!(item.wait, Some(Wait::Answer { .. }))) else { continue };
            let asked = match self.deps.store.find_posted(&WorkItem::reminder_id_of(&item.id, item.run)).await? {
                Some(asked) => Some(asked),
                None => self.deps.store.find_posted(&item.notice_id()).await?,
            };
            here.extend(asked.filter(|asked| asked.channel == message.channel.id).map(|asked| (item, asked.at)));
        }
        // With several questions open, only a reply says which one is meant.
        let [(item, asked_at)] = here.as_slice() else { return Ok(None) };
        let is_question = matches!(&item.execution, Some(Execution::Ask { .. }));
        let coordinator = &self.deps.roster.coordinator().slug;
        let addresses_asker = matches!(decision.reason, Reason::Mentioned | Reason::Named) && decision.responders == [coordinator.clone()];
        let addresses_nobody = message.mentions.is_empty()
            && !matches!(decision.reason, Reason::Mentioned | Reason::Named | Reason::Reply | Reason::Thread | Reason::AgentMention);
        let follows = addresses_nobody
            && message.sent_at - *asked_at <= FOLLOWS
            && !self.deps.store.has_messages_between(message.channel.id.as_str(), *asked_at, message.sent_at).await?;
        // Only a reply can end a reminder. Other messages are not interpreted.
        Ok((is_question && (addresses_asker || follows)).then(|| item.clone()))
    }

    /// The item that asked with this message, in its current run.
    async fn find_asking(&self, message: &MessageId) -> Result<Option<WorkItem>, StoreError> {
        let Some(posted) = self.deps.store.find_by_platform_id(message).await? else { return Ok(None) };
        let Some((item, run)) = WorkItem::parse_notice_id(&posted.id) else { return Ok(None) };
        Ok(self.deps.store.find_item(&item).await?.filter(|item| item.run == run))
    }
}

fn waits_for(item: &WorkItem, person: &UserId) -> bool {
    item.status == WorkStatus::Waiting && item.find_asked() == Some(person)
}

/// Whether words are about an item: they have at least two words of its title, and most of them.
fn is_about(words: &[String], what: &str) -> bool {
    let subject: HashSet<String> = terms_of(what).into_iter().collect();
    let common = subject.iter().filter(|term| words.contains(term)).count();
    common > 1 && common * 2 > subject.len()
}

/// The text of a message without mentions.
fn said(message: &InboundMessage) -> String {
    let text: String = parts(&message.text)
        .into_iter()
        .filter_map(|part| match part {
            kernel::chat::text::Part::Markdown(text) => Some(text),
            _ => None,
        })
        .collect();
    text.trim().to_owned()
}
