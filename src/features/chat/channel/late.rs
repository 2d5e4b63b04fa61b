//! Answers that come after the deadline of their ask. The transaction that expires the ask enqueues their job, so any process delivers them.

use crate::features::chat::Conversation;
use crate::features::chat::channel::attribute;
use crate::features::chat::store::{AskUpdate, settle};
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::{Reply, RunError};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{StoreError, Transaction};
use kernel::ids::AskId;
use kernel::jobs::{JobContext, JobError};
use tracing::Span;

impl Conversation {
    /// Delivers the answer to an expired ask. In the process that sent the ask, the persona is still answering. In any other process it is asked
    /// again.
    pub(crate) async fn answer_late(&self, id: &AskId, job: &JobContext) -> Result<(), JobError> {
        let Some(ask) = self.deps().store.find_ask(id).await?.filter(|ask| ask.state == AskState::Expired) else { return Ok(()) };
        Span::current().record("message", ask.message.as_str());
        let answer = if self.is_wanted(&ask, job) {
            // Stored before it is posted, so that it is paid once.
            job.step("answer", || self.await_late(&ask, job)).await?
        } else {
            None
        };
        let mut last = job.begin_final().await?;
        let (state, outbox) = match &answer {
            Some(answer) => (AskState::Late, self.late_answer(&ask, answer)),
            None => (AskState::Failed, Vec::new()),
        };
        if settle(&mut last, &AskUpdate { ask: id, state, answer: answer.as_deref() }, job.now()).await?.is_some() {
            insert_outbound(&mut last, &outbox, Some(&ask.message), job.now()).await?;
        }
        last.finish().await
    }

    /// Whether the answer is still wanted: not after a halt, and not when the ask is too old.
    fn is_wanted(&self, ask: &Ask, job: &JobContext) -> bool {
        let is_young = (job.now() - ask.asked_at).to_std().is_ok_and(|age| age <= self.deps().chat.max_age);
        is_young && !self.inner.halts.was_halted_since(&ask.channel, ask.asked_at)
    }

    /// None: the persona cannot answer, or was halted.
    async fn await_late(&self, ask: &Ask, job: &JobContext) -> Result<Option<String>, JobError> {
        let begun = self.late().remove(&ask.id);
        let mut asked = begun.unwrap_or_else(|| self.carry_out(ask.clone()));
        let result: Result<Reply, RunError> = tokio::select! {
            result = &mut asked.answer => result.map_err(|error| JobError::retry_later(error.to_string()))?,
            () = job.cancelled().cancelled() => return Err(JobError::Stopping),
        };
        match result {
            Ok(reply) => Ok(Some(reply.text)),
            Err(_) if self.deps().kill.is_cancelled() => Err(JobError::Stopping),
            Err(error) => {
                tracing::info!(ask = %ask.id, %error, "the asked persona did not answer, even late");
                Ok(None)
            }
        }
    }

    /// Ends an ask whose job is no longer retried.
    pub(crate) async fn give_up_ask(&self, transaction: &mut Transaction, ask: &AskId) -> Result<(), StoreError> {
        settle(transaction, &AskUpdate { ask, state: AskState::Failed, answer: None }, self.deps().clock.now()).await?;
        Ok(())
    }

    /// The message that the asker posts.
    fn late_answer(&self, ask: &Ask, answer: &str) -> Vec<OutboundMessage> {
        let name = self.deps().roster.name_of(&ask.askee);
        let text = format!("Late, but here it is. {}", attribute(name, answer));
        self.render_as(&ask.asker, &ask.channel, &text)
    }
}
