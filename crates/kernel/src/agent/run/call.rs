use serde_json::Value;

use crate::agent::RunError;
use crate::agent::journal::JournalEntry;
use crate::agent::run::offer::FIND;
use crate::agent::run::own_words::kind_of;
use crate::agent::run::{CallError, Consent, Session, Tools};
use crate::llm::ToolCall;
use crate::tools::approval::Risk;
use crate::tools::{CallStatus, Decision, ToolContext, ToolError, ToolOutput};

/// The result for the model if a crash interrupted a call.
const UNKNOWN: &str =
    "The process ended while this was being done. It is not known whether it happened, and it is not repeated; look before you rely on it.";

/// The result for the model if a person is asked to allow the call.
const PROPOSED: &str = "Not done yet: the person is asked by a button below your answer, and it is done once they allow it. Do not say that it is \
     done.";

/// The result for the model if the task was changed before the run ended.
const OUTDATED: &str = "Not done: the task was changed meanwhile. The next message says how.";

/// The most calls of a run that a person is asked about.
const MOST_PROPOSED: usize = 3;

/// A reason not to make a call.
enum Objection {
    None,
    Refused(String),
    Proposed,
}

impl Session<'_> {
    /// Makes a call, or tells the model why not. Returns the arguments if the call ends the run.
    pub(super) async fn carry_out(&mut self, call: &ToolCall) -> Result<Option<Value>, RunError> {
        let Some(tools) = self.tools.as_ref() else {
            self.refuse(call, "Not done: you have no tools here.".into()).await?;
            return Ok(None);
        };
        if call.name == FIND && self.offered.can_find() {
            let found = self.offered.tell(&call.arguments);
            self.answer(call, told(found), CallStatus::Ok).await?;
            return Ok(None);
        }
        let own = tools.own.iter().find(|own| own.spec().name == call.name);
        let is_last = own.is_some_and(|own| own.ends_run());
        let most = tools.limits.calls;
        if is_last && self.progress.is_outdated() {
            self.refuse(call, OUTDATED.into()).await?;
            return Ok(None);
        }
        if self.progress.counted_calls() >= most && !is_last {
            let end = tools.own.iter().find(|own| own.ends_run()).map(|own| format!("Call `{}`", own.spec().name));
            let end = end.unwrap_or_else(|| "Answer".into());
            self.refuse(call, format!("Not done: a run has {most} calls. {end} now, with what there is.")).await?;
            return Ok(None);
        }
        if let Some(watch) = tools.in_chat.and_then(|in_chat| in_chat.watch) {
            let doing = match own {
                Some(own) => own.describe_doing(&call.arguments),
                None => self.runner.tools.describe_doing(&call.name, &call.arguments),
            };
            doing.into_iter().for_each(watch);
        }
        if let Some(own) = own {
            let result = tokio::select! {
                result = own.call(&call.arguments, &self.progress) => result,
                () = self.cancel.cancelled() => return Err(RunError::Cancelled),
            };
            return match result {
                Ok(_) if is_last => Ok(Some(call.arguments.clone())),
                result => self.answer_own(call, result).await.map(|()| None),
            };
        }
        self.decide(call).await.map(|()| None)
    }

    async fn answer_own(&mut self, call: &ToolCall, result: Result<ToolOutput, CallError>) -> Result<(), RunError> {
        match result {
            Ok(output) => self.answer(call, output, CallStatus::Ok).await,
            Err(CallError::Tool(ToolError::Refused(why))) => self.refuse(call, why).await,
            Err(CallError::Tool(ToolError::Failed(why))) => self.answer(call, told(why), CallStatus::Failed).await,
            Err(CallError::Run(error)) => Err(error),
        }
    }

    async fn decide(&mut self, call: &ToolCall) -> Result<(), RunError> {
        let Some((tools, context)) = self.tools.as_ref().zip(self.context()) else {
            return self.refuse(call, "Not done: you have no tools here.".into()).await;
        };
        let decision = self.runner.tools.decide(&tools.listed, &call.name, &call.arguments, &context);
        // Checked before asking for approval, because a person cannot extend the run's limits.
        let mut research = self.progress.research;
        match (decision, research.take(&call.name)) {
            (Decision::Refused { why }, _) | (_, Err(why)) => self.refuse(call, format!("Not done: {why}")).await,
            (Decision::Allowed { risk }, Ok(())) => self.make(call, risk).await,
            (Decision::NeedsApproval { risk, why }, Ok(())) => match self.find_objection(call, risk, &why).await? {
                Objection::None => self.make(call, risk).await,
                Objection::Refused(why) => self.refuse(call, why).await,
                Objection::Proposed => match self.find_in_own_words(call).await? {
                    Some(wanted) => self.make_in_own_words(&wanted, risk).await,
                    None => self.answer(call, told(PROPOSED.into()), CallStatus::Proposed).await,
                },
            },
        }
    }

    /// Answers a call that was interrupted by a restart. It is never made twice.
    pub(super) async fn give_up(&mut self, call: &ToolCall) -> Result<(), RunError> {
        self.answer(call, told(UNKNOWN.into()), CallStatus::Failed).await
    }

    async fn make(&mut self, call: &ToolCall, risk: Risk) -> Result<(), RunError> {
        if risk != Risk::Read {
            self.record(JournalEntry::Began { call: call.id.clone(), own_words: None }).await?;
        }
        let Some(context) = self.context() else { return Ok(()) };
        let result = self.runner.tools.perform(&call.name, &call.arguments, &context).await;
        self.answer_made(call, result).await
    }

    /// Makes a call with the arguments that the person's own words give. Each kind of call once in a run.
    async fn make_in_own_words(&mut self, wanted: &ToolCall, risk: Risk) -> Result<(), RunError> {
        if risk != Risk::Read {
            self.record(JournalEntry::Began { call: wanted.id.clone(), own_words: Some(kind_of(wanted)) }).await?;
        }
        let Some(context) = self.context() else { return Ok(()) };
        let alone = ToolContext { tainted: false, ..context };
        let result = self.runner.tools.perform(&wanted.name, &wanted.arguments, &alone).await;
        let result = result.map(|output| {
            let text = format!("Done as the person's own words ask for it, with {}.\n{}", wanted.arguments, output.text);
            ToolOutput { text, ..output }
        });
        self.answer_made(wanted, result).await
    }

    async fn answer_made(&mut self, call: &ToolCall, result: Result<ToolOutput, ToolError>) -> Result<(), RunError> {
        let toolbox = &self.runner.tools;
        match result {
            Ok(output) => self.answer(call, output, CallStatus::Ok).await,
            // The call may have happened, so its entry stays open.
            Err(_) if self.cancel.is_cancelled() => Err(RunError::Cancelled),
            Err(error) => {
                // An error may quote a server or a page. Workspace tools quote nothing.
                let outside = !toolbox.needs_workspace(&call.name);
                let (text, status) = match error {
                    ToolError::Refused(why) => (format!("Not done: {why}"), CallStatus::Refused),
                    ToolError::Failed(why) => (format!("Nothing came of it: {why}"), CallStatus::Failed),
                };
                if status == CallStatus::Refused {
                    self.note_refusal(call, &text);
                }
                self.answer(call, ToolOutput { text, outside, trace: None }, status).await
            }
        }
    }

    /// Whether a call that needs a person's approval has it.
    async fn find_objection(&self, call: &ToolCall, risk: Risk, why: &str) -> Result<Objection, RunError> {
        let tools = self.tools.as_ref();
        let Some(approvals) = tools.and_then(|tools| tools.approvals) else {
            let proposes = tools.and_then(|tools| tools.in_chat).is_some_and(|in_chat| in_chat.proposes);
            let is_known = self.progress.proposed.iter().any(|known| (&known.name, &known.arguments) == (&call.name, &call.arguments));
            let mut objection =
                format!("Not done: {why}. A person would have to allow it, and nobody can be asked here. Go on without it.");
            if proposes && risk == Risk::ReachOut {
                objection.push_str(" It is allowed where the person gives the address in the message.");
            }
            return Ok(match () {
                () if !proposes || risk != Risk::Write => Objection::Refused(objection),
                () if is_known => Objection::Refused("The person is asked about this very call already.".into()),
                () if self.progress.proposed.len() >= MOST_PROPOSED => Objection::Refused(format!(
                    "Not done: a person is asked about {MOST_PROPOSED} calls at most. Name the rest in your answer."
                )),
                () => Objection::Proposed,
            });
        };
        Ok(match approvals.request(call, risk, why).await? {
            Consent::Allowed { at } if self.progress.was_made_since(call, at) => {
                Objection::Refused("Not done: a person allowed this call once, and it was made.".into())
            }
            Consent::Allowed { .. } => Objection::None,
            Consent::Refused => Objection::Refused("Not done: a person did not allow this call. Go on without it.".into()),
            Consent::Asked(approval) => return Err(RunError::NeedsApproval(approval)),
        })
    }

    async fn refuse(&mut self, call: &ToolCall, why: String) -> Result<(), RunError> {
        self.note_refusal(call, &why);
        self.answer(call, told(why), CallStatus::Refused).await
    }

    fn note_refusal(&self, call: &ToolCall, why: &str) {
        let persona = self.persona.map(|persona| persona.slug.as_str());
        tracing::info!(subject = self.call.subject, persona, tool = call.name, why, "a call was refused");
        metrics::counter!("teamroom_tool_calls_refused_total").increment(1);
    }

    async fn answer(&mut self, call: &ToolCall, output: ToolOutput, status: CallStatus) -> Result<(), RunError> {
        let ToolOutput { text, outside, trace } = output;
        let text = self.runner.redact(text, &self.call.subject);
        self.record(JournalEntry::Returned { call: call.id.clone(), text, outside, status, trace }).await
    }

    /// None if the run has no persona or no tools.
    pub(super) fn context(&self) -> Option<ToolContext<'_>> {
        let Tools { workspace, source, scope, asked_by, .. } = self.tools.as_ref()?;
        Some(ToolContext {
            persona: &self.persona?.slug,
            workspace: *workspace,
            source: source.as_ref(),
            scope,
            asked_by: asked_by.as_ref(),
            seen: &self.progress.seen,
            tainted: self.progress.tainted,
            now: self.runner.clock.now(),
            cancel: self.cancel,
        })
    }
}

fn told(text: String) -> ToolOutput {
    ToolOutput { text, outside: false, trace: None }
}
