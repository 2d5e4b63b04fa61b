use chrono::{DateTime, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::executor::ask::{find_answer, made_by_person};
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::model::{Blocker, Execution, Owner, Wait, WorkItem, name_of_helper};
use crate::features::backlog::render::Announcer;
use kernel::agent::AnswerVerdict;
use kernel::chat::outbound::OutboundMessage;
use kernel::ids::OutboxId;

impl Work {
    /// Asks or tells a person. The message and the wait for the answer are stored together, so a reply never comes before the item waits for it.
    pub(crate) async fn remind(&self, assignment: &Assignment<'_>) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        if let (Some(Execution::Remind { .. }), Some(said)) = (&item.execution, find_answer(item)) {
            return self.take_report(assignment, said).await;
        }
        let Some(spot) = self.find_spot_for(item, item.find_awaited()).await? else {
            return Ok(Outcome::Failed { blocker: Blocker::NeedsInput, why: NO_CHANNEL.into() });
        };
        let announcer = Announcer { persona: &deps.roster.coordinator().slug, spot: &spot, roster: &deps.roster };
        let message = match &item.execution {
            Some(Execution::Ask { whom: Owner::Person { .. }, question, .. }) => announcer.ask_person(item, question, deps.zone),
            _ => announcer.remind(item, deps.zone),
        };
        let message = OutboundMessage { id: WorkItem::reminder_id_of(&item.id, item.run), ..message };
        let wait = Wait::Answer { of: name_of_helper(item.find_awaited()).to_owned() };
        Ok(Outcome::Told { wait, message: Box::new(message) })
    }

    /// Takes a person's reply to a reminder as what came of it, if a model accepts it as that. Otherwise the person is asked whether it is done.
    async fn take_report(&self, assignment: &Assignment<'_>, (by, text, at): (&str, &str, DateTime<Utc>)) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let question = format!("Is this done, and what came of it?\n{}", item.describe_request());
        let judged = match self.judge_words(assignment, &question, (text, at)).await? {
            Ok(judged) => judged,
            Err(later) => return Ok(later),
        };
        if judged == Some(AnswerVerdict::Answers) {
            return Ok(Outcome::Made(made_by_person(by, text, at)));
        }
        let Some(spot) = self.find_spot_for(item, item.find_awaited()).await? else {
            return Ok(Outcome::Failed { blocker: Blocker::NeedsInput, why: NO_CHANNEL.into() });
        };
        let announcer = Announcer { persona: &deps.roster.coordinator().slug, spot: &spot, roster: &deps.roster };
        // Each reply is asked back about once.
        let id = OutboxId::new(format!("{}-word-{}", WorkItem::reminder_id_of(&item.id, item.run), at.timestamp_millis()));
        let message = OutboundMessage { id, ..announcer.ask_word(item, None) };
        Ok(Outcome::Told { wait: Wait::Answer { of: by.to_owned() }, message: Box::new(message) })
    }
}

/// Why nobody can be told.
pub(crate) const NO_CHANNEL: &str = "there is no channel to ask or tell anybody in. Set `backlog.channel` to the name of one";
