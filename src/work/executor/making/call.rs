use serde_json::Value;

use super::finish;
use super::run::{ALWAYS, MOST_CALLS, Run, Stop};
use crate::domain::approval::{Approval, ApprovalState, Risk, fingerprint};
use crate::domain::ids::{ApprovalId, ChannelId};
use crate::domain::work::{JournalCall, JournalEntry, Wait};
use crate::tools::{Decision, ToolError, ToolOutput, ToolSetting};
use crate::work::executor::Outcome;
use crate::work::render::Voice;

/// What a model is told of a call that a crash fell into.
const UNKNOWN: &str =
    "The process ended while this was being done. It is not known whether it happened, and it is not repeated; look before you rely on it.";

/// What becomes of a call that a person has to allow.
enum Leave {
    Given,
    /// Why not, for the model.
    Denied(String),
}

impl Run<'_> {
    /// Has one call made, or says why not.
    pub(super) async fn carry_out(&mut self, call: &JournalCall) -> Result<(), Stop> {
        if call.name == finish::NAME {
            return match finish::read_product(&call.arguments, &self.conversation) {
                Ok(product) => Err(Stop::With(Outcome::Made(product))),
                Err(problem) => self.refuse(call, problem).await,
            };
        }
        if self.conversation.calls >= MOST_CALLS {
            return self.refuse(call, format!("Not done: a run has {MOST_CALLS} calls. Call `finish` now, with what there is.")).await;
        }
        let decision = self.maker.toolbox.decide(&self.listed, &call.name, &call.arguments, &self.setting(), self.conversation.tainted);
        // Before anybody is asked: no person can give what the run has used up.
        let left = self.conversation.spent.clone().take(&call.name);
        match (decision, left) {
            (Decision::Refused { why }, _) | (_, Err(why)) => self.refuse(call, format!("Not done: {why}")).await,
            (Decision::Allowed { risk }, Ok(())) => self.make(call, risk).await,
            (Decision::NeedsApproval { risk, why }, Ok(())) => match self.ask_leave(call, risk, &why).await? {
                Leave::Given => self.make(call, risk).await,
                Leave::Denied(why) => self.refuse(call, why).await,
            },
        }
    }

    /// Answers a call that was begun before the process ended. It is never made a second time.
    pub(super) async fn leave(&mut self, call: &JournalCall) -> Result<(), Stop> {
        self.answer(call, ToolOutput { text: UNKNOWN.into(), outside: false, trace: None }, false).await
    }

    async fn make(&mut self, call: &JournalCall, risk: Risk) -> Result<(), Stop> {
        if risk != Risk::Read {
            self.record(JournalEntry::Began { call: call.id.clone() }).await?;
        }
        match self.maker.toolbox.perform(&call.name, &call.arguments, &self.setting()).await {
            Ok(output) => self.answer(call, output, false).await,
            // Nobody knows how far it came: what was begun stays begun.
            Err(_) if self.assignment.cancel.is_cancelled() => Err(self.interrupted()),
            Err(error) => {
                let refused = matches!(error, ToolError::Refused(_));
                if refused {
                    self.note_refusal(call, &error.to_string());
                }
                // What went wrong may be told in somebody else's words: a server's, a page's.
                let outside = !ALWAYS.contains(&call.name.as_str());
                let text = if refused { format!("Not done: {error}") } else { format!("Nothing came of it: {error}") };
                self.answer(call, ToolOutput { text, outside, trace: None }, refused).await
            }
        }
    }

    /// Finds out whether a person allows this very call; asks where nobody was asked yet.
    async fn ask_leave(&mut self, call: &JournalCall, risk: Risk, why: &str) -> Result<Leave, Stop> {
        let (item, store) = (self.assignment.item, &self.maker.performer.store);
        let found = store.find_approval_for(&item.id, item.run, &fingerprint(&call.name, &call.arguments)).await?;
        match found.as_ref().map(|approval| (approval.state, approval)) {
            Some((ApprovalState::Allowed, approval)) => {
                let used = self.conversation.was_made_since(call, approval.decided_at.unwrap_or(approval.asked_at));
                let spent = "Not done: a person allowed this call once, and it was made.";
                Ok(if used { Leave::Denied(spent.into()) } else { Leave::Given })
            }
            Some((ApprovalState::Refused, _)) => Ok(Leave::Denied("Not done: a person did not allow this call. Go on without it.".into())),
            Some((ApprovalState::Asked, approval)) => Err(waits(approval.id.clone())),
            None => match self.background.channel {
                Some(channel) => Err(self.put_before_a_person(call, risk, why, channel).await?),
                None => Ok(Leave::Denied(format!("Not done: {why}, and there is nobody who could be asked. Go on without it."))),
            },
        }
    }

    async fn put_before_a_person(&self, call: &JournalCall, risk: Risk, why: &str, channel: &ChannelId) -> Result<Stop, Stop> {
        let now = self.maker.performer.clock.now();
        let approval = Approval {
            id: ApprovalId::generate(),
            item: self.assignment.item.id.clone(),
            run: self.assignment.item.run,
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            risk,
            state: ApprovalState::Asked,
            by: None,
            asked_at: now,
            decided_at: None,
        };
        let performer = &self.maker.performer;
        let voice = Voice { persona: &self.assignment.persona.slug, channel, roster: &performer.roster };
        let outbox = [voice.ask_approval(self.assignment.item, &approval, why)];
        let asked = performer.store.ask_approval(self.assignment.lease, &approval, &outbox, now).await?;
        Ok(if asked { waits(approval.id) } else { self.interrupted() })
    }

    async fn refuse(&mut self, call: &JournalCall, why: String) -> Result<(), Stop> {
        self.note_refusal(call, &why);
        self.answer(call, ToolOutput { text: why, outside: false, trace: None }, true).await
    }

    fn note_refusal(&self, call: &JournalCall, why: &str) {
        tracing::info!(item = %self.assignment.item.id, persona = %self.assignment.persona.slug, tool = call.name, why, "a call was refused");
        metrics::counter!("teamroom_tool_calls_refused_total").increment(1);
    }

    async fn answer(&mut self, call: &JournalCall, output: ToolOutput, refused: bool) -> Result<(), Stop> {
        let ToolOutput { text, outside, trace } = output;
        let text = self.without_secrets(&text);
        self.record(JournalEntry::Returned { call: call.id.clone(), text, outside, refused, trace }).await
    }

    fn setting(&self) -> ToolSetting<'_> {
        ToolSetting {
            persona: &self.assignment.persona.slug,
            item: &self.assignment.item.id,
            seen: &self.conversation.seen,
            tainted: self.conversation.tainted,
            now: self.maker.performer.clock.now(),
            cancel: self.assignment.cancel,
        }
    }

    /// What is kept, saved or handed to a tool holds no secret (CHAT-25).
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let (clean, redacted) = self.maker.performer.redactor.redact(text);
        if redacted > 0 {
            metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
            tracing::warn!(item = %self.assignment.item.id, redacted, "secrets were taken out of a run");
        }
        clean.into_owned()
    }

    pub(super) fn without_secrets_in(&self, arguments: Value) -> Value {
        match arguments {
            Value::String(text) => Value::String(self.without_secrets(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.without_secrets_in(value)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, self.without_secrets_in(value))).collect())
            }
            plain => plain,
        }
    }
}

/// The wait is recorded together with the approval; said again, it changes nothing.
fn waits(approval: ApprovalId) -> Stop {
    Stop::With(Outcome::Waits(Wait::Approval { approval }))
}
