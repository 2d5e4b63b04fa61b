//! What people say elsewhere while an item waits for their answer. A model tells whether it is that answer, in any language. The item goes on in the
//! transaction that decides on the message, so that it happens once.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::features::backlog::Work;
use crate::features::backlog::commands::line;
use crate::features::backlog::model::{Execution, WorkItem};
use crate::features::backlog::prompts::open_question::{SaidMeanwhile, ask_open_question};
use crate::features::backlog::render::{Announcer, Spot};
use crate::features::backlog::replies::{ReplyListener, TakeAnswer, words_of};
use crate::features::backlog::requests::find_request;
use crate::features::backlog::service::Backlog;
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::chat::message::{InboundMessage, Place, Speaker};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::{Effect, StoreError};
use kernel::ids::OutboxId;
use kernel::memory::Scope;
use kernel::text::flatten;

/// From here on it is the answer, and from there on the person is asked whether it is.
const SURE: f64 = 0.7;
const MAYBE: f64 = 0.4;

/// How many lines before the message the model reads.
const LINES: u32 = 6;

/// A reply that ends with one of these is itself a question.
pub(super) const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Which open question a message answers.
#[derive(Debug, Deserialize, JsonSchema)]
struct Answered {
    /// The number of the question, or 0.
    question: usize,
    /// From 0 to 1.
    confidence: f64,
    /// In a few words.
    #[serde(default)]
    why: String,
}

impl ReplyListener {
    /// Takes a message that answers an open question to its author, although it replies to nothing. Only then, and only if such a question is open, a
    /// model is asked.
    pub(super) async fn take_answer_said_elsewhere(
        &self,
        message: &InboundMessage,
        decision: &Decision,
    ) -> Result<Option<Taken>, StoreError> {
        let (Ok(backlog), Ok(work)) = (self.backlog.get(), self.work.get()) else { return Ok(None) };
        if work.deps().agents.is_offline() || !may_answer(&backlog, message, decision) {
            return Ok(None);
        }
        let open = backlog.list_open_questions(message).await?;
        if open.is_empty() {
            return Ok(None);
        }
        let Some(answered) = find_answered(&work, message, &open).await? else { return Ok(None) };
        let Answered { question, confidence, why } = answered;
        let Some(item) = question.checked_sub(1).and_then(|index| open.get(index)).filter(|_| confidence >= MAYBE) else {
            return Ok(None);
        };
        let roster = backlog.roster();
        // In a direct conversation not every persona can post.
        let silent = if message.channel.place == Place::Direct { &message.seen_by } else { &roster.coordinator().slug };
        let persona = decision.responders.first().unwrap_or(silent);
        // What somebody says in private is told elsewhere only if they say so.
        let tells_more = Scope::of(&message.channel).place().is_some_and(|place| item.private_to.as_ref() != Some(place));
        let is_sure = confidence >= SURE;
        let (reply, effect): (OutboundMessage, Option<Box<dyn Effect>>) = if is_sure && !tells_more {
            let told = format!("Thanks, I take that as the answer to {}.", line(item));
            let answer = backlog.read_answer(item, message).await?;
            (OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told), Some(Box::new(TakeAnswer(answer))))
        } else {
            let once = OutboxId::new(format!("{}-elsewhere", WorkItem::reminder_id_of(&item.id, item.run)));
            if !is_sure && backlog.store().find_delivery(&once).await?.is_some() {
                return Ok(None);
            }
            let spot = Spot::Channel(message.channel.id.clone());
            let asks = Announcer { persona, spot: &spot, roster }.ask_answer(item, &message.id);
            (if is_sure { asks } else { OutboundMessage { id: once, ..asks } }, None)
        };
        let why = format!("it answers the item {} ({:.0} % sure): {}", item.short_id(), confidence * 100.0, flatten(&why, 120));
        Ok(Some(Taken { why, reply: Some(OutboundMessage { reply_to: Some(message.id.clone()), ..reply }), effect }))
    }
}

/// Whether a message can be an answer at all: it says something, asks nothing, and is for the team or for nobody.
fn may_answer(backlog: &Backlog, message: &InboundMessage, decision: &Decision) -> bool {
    let is_for_others = matches!(decision.reason, Reason::ForOthers | Reason::ListenOnly | Reason::NoAnswerWanted | Reason::Taken);
    let text = message.text.trim();
    // A message that was weighed was read here before.
    let is_read = decision.because.is_some();
    !is_for_others
        && !is_read
        && decision.ask.is_none()
        && !text.is_empty()
        && !text.ends_with(QUESTION_MARKS)
        && find_request(backlog, message).is_none()
}

/// Which of these questions a message answers, as a model reads it. None: the model gives no answer in time.
async fn find_answered(work: &Work, message: &InboundMessage, open: &[WorkItem]) -> Result<Option<Answered>, StoreError> {
    let roster = &work.deps().roster;
    let lines = work.deps().store.list_spoken(&message.channel.id, LINES + 1).await?;
    let before = lines.into_iter().filter(|line| line.message.as_ref() != Some(&message.id) && line.at < message.sent_at);
    let before = before.map(|line| match line.speaker {
        Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => (name, line.text),
        Speaker::Persona(slug) => (roster.name_of(&slug).to_owned(), line.text),
    });
    let questions = open.iter().map(|item| match &item.execution {
        Some(Execution::Ask { question, .. }) if !question.starts_with(&item.what) => format!("{}: {question}", item.what),
        Some(Execution::Ask { question, .. }) => question.clone(),
        _ => item.what.clone(),
    });
    let prompt = ask_open_question(&SaidMeanwhile {
        author: &message.author.name,
        text: &words_of(message, &[]),
        before: &before.collect::<Vec<_>>(),
        questions: &questions.collect::<Vec<_>>(),
    });
    Ok(work.classify(message, "whether a message answers a question", prompt).await)
}
