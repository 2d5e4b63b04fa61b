//! Drafts an amendment with a model and offers it to the operators.

use serde::{Deserialize, Serialize};

use crate::features::backlog::Work;
use crate::features::backlog::learning::amendment::store::{AmendmentOf, fail, offer};
use crate::features::backlog::learning::amendment::{Amendment, AmendmentDraft, AmendmentStatus, read_draft, render};
use crate::features::backlog::prompts::amendment as template;
use kernel::agent::context::{Cleaner, flat_name, new_marker};
use kernel::agent::prompt::PromptKind;
use kernel::agent::{Prompt, Run, RunError};
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Job, JobContext, JobError};
use kernel::money::Purpose;
use kernel::persona::{Persona, Tier};

/// Enough for six habits.
const TOKENS: u32 = 1500;

/// A draft that cannot be used is asked for once more.
const ROUNDS: u32 = 2;

/// The most bytes of all reasons, and the most characters of a fault.
const REASONS: usize = 12_000;
const FAULT: usize = 200;

/// The result of drafting, stored as a step of the job.
#[derive(Debug, Serialize, Deserialize)]
struct Drafted {
    draft: Option<AmendmentDraft>,
    /// Why there is no draft.
    fault: Option<String>,
}

impl Work {
    pub(in crate::features::backlog) async fn draft_amendment(&self, job: &JobContext) -> Result<(), JobError> {
        let deps = self.deps();
        let AmendmentOf { amendment } = job.payload()?;
        let found = deps.store.find_amendment(&amendment).await?;
        let Some(amendment) = found.filter(|amendment| amendment.status == AmendmentStatus::Drafting) else { return Ok(()) };
        let later = || JobError::Sleep(self.next_round(job.now()));
        let drafted = match deps.roster.find(&amendment.persona) {
            None => Err("the persona is no longer on the team".to_owned()),
            Some(_) if deps.agents.is_offline() => return Err(later()),
            Some(persona) => self.draft_with_model(&amendment, persona, job).await?,
        };
        match drafted {
            Ok((text, replaces)) => {
                let Some(channel) = self.resolve_channel(&deps.ops_channel).await? else {
                    tracing::warn!(amendment = %amendment.id, "an amendment cannot be offered, because there is no channel for operators");
                    return Err(later());
                };
                let amendment = Amendment { text: Some(text), replaces, ..amendment };
                let message = render::offer(&amendment, &channel, &deps.roster);
                let mut transaction = job.begin_final().await?;
                if offer(&mut transaction, &amendment, job.now()).await? {
                    insert_outbound_once(&mut transaction, &message, None, job.now()).await?;
                }
                transaction.finish().await
            }
            Err(why) => {
                tracing::warn!(amendment = %amendment.id, why, "an amendment could not be drafted");
                let mut transaction = job.begin_final().await?;
                fail(&mut transaction, &amendment.id, &why).await?;
                transaction.finish().await
            }
        }
    }

    /// The new text and the text that it replaces, or why there is no new text.
    async fn draft_with_model(
        &self,
        amendment: &Amendment,
        persona: &Persona,
        job: &JobContext,
    ) -> Result<Result<(String, Option<String>), String>, JobError> {
        let deps = self.deps();
        let in_use = deps.store.find_amendment_in_use(&persona.slug, amendment.skill).await?;
        let before = in_use.and_then(|amendment| amendment.text);
        let mut faults = Vec::new();
        for round in 1..=ROUNDS {
            let prompt = self.prompt_to_amend(amendment, persona, before.as_deref(), &faults);
            let drafted = job.step(&format!("draft-{round}"), || self.ask_for_habits(amendment, prompt, job)).await?;
            let checked = match &drafted.draft {
                Some(draft) => read_draft(draft, before.as_deref(), &deps.agents.runner.redactor),
                None => Err(vec![drafted.fault.unwrap_or_else(|| "the answer was empty".to_owned())]),
            };
            match checked {
                Ok(text) => return Ok(Ok((text, before))),
                Err(found) => faults = found,
            }
        }
        Ok(Err(faults.join("; ")))
    }

    async fn ask_for_habits(&self, amendment: &Amendment, prompt: Prompt, job: &JobContext) -> Result<Drafted, JobError> {
        let deps = self.deps();
        let run = Run::new(deps.roster.coordinator(), (Purpose::Other, amendment.id.as_str()), prompt, TOKENS, job.cancelled());
        match Box::pin(deps.agents.run_structured::<AmendmentDraft>(Run { tier: Tier::T2, ..run })).await {
            Ok(given) => Ok(Drafted { draft: Some(given.value), fault: None }),
            Err(error @ (RunError::Unusable { .. } | RunError::Nothing)) => Ok(Drafted { draft: None, fault: Some(error.in_short()) }),
            Err(RunError::Cancelled) => Err(JobError::Stopping),
            Err(RunError::Lost) => Err(JobError::LostLease),
            Err(RunError::Store(error)) => Err(error.into()),
            // A model or money may be available later.
            Err(error) => {
                tracing::warn!(amendment = %amendment.id, %error, "an amendment cannot be drafted yet");
                Err(JobError::Sleep(self.next_round(job.now())))
            }
        }
    }

    fn prompt_to_amend(&self, amendment: &Amendment, persona: &Persona, before: Option<&str>, faults: &[String]) -> Prompt {
        let deps = self.deps();
        let marker = new_marker();
        let cleaner = Cleaner { marker: &marker };
        let reasons = amendment.reasons.iter().map(|reason| format!("- {reason}")).collect::<Vec<_>>().join("\n");
        let message = template::render_amendment(&template::Amendment {
            marker: &marker,
            persona: flat_name(&persona.name),
            skill: render::skill(amendment.skill),
            reasons: cleaner.text(&reasons, REASONS),
            before: before.map(|before| cleaner.text(before, REASONS)).unwrap_or_default(),
            prompt: cleaner.text(&persona.prompt, REASONS),
            faults: faults.iter().map(|fault| cleaner.line(fault, FAULT)).collect(),
        });
        let system = deps.agents.system_prompt(deps.roster.coordinator(), PromptKind::Judgement);
        Prompt { system, message, holds_outside: true, remarks: Vec::new() }
    }
}

/// Ends an amendment whose job was given up.
pub(in crate::features::backlog) async fn give_amendment_up(transaction: &mut Transaction, job: &Job, why: &str) -> Result<(), StoreError> {
    let Ok(AmendmentOf { amendment }) = job.read_payload() else { return Ok(()) };
    fail(transaction, &amendment, why).await
}
