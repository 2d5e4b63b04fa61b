use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::features::standup::model::prediction::{Answer, Call};
use crate::features::standup::prompts as template;
use crate::features::standup::turns::material::{Material, history};
use crate::features::standup::turns::report::{question, spelt};
use crate::features::standup::turns::{CallAsked, Turns, run};
use kernel::agent::Prompt;
use kernel::agent::context::new_marker;
use kernel::agent::prompt::{Block, PromptKind, render_system};
use kernel::llm::Structured;
use kernel::memory::retrieval::cut;
use kernel::persona::Persona;

/// A call consists of three short fields.
pub(super) const TOKENS: u32 = 300;
/// The most characters of the reason.
const REASON: usize = 300;

/// The model's answer, not checked yet.
#[derive(Debug, Deserialize, JsonSchema)]
struct CallGiven {
    answer: Answer,
    /// From 0.5 to 1.
    confidence: f64,
    /// One sentence.
    reason: String,
}

impl Turns<'_> {
    /// Asks for a call on the essential question. Never fails: without a valid answer the call is computed, and its reason says so.
    pub async fn call(&self, asked: &CallAsked<'_>, cancel: &CancellationToken) -> Call {
        let (agents, now) = (self.agents, self.now());
        let by_rule = || asked.question.call_by_rule(asked.page.read_at, asked.persona);
        let needs_model = !agents.is_offline() && !asked.question.is_decided();
        let Some(persona) = agents.roster.find(asked.persona).filter(|_| needs_model) else { return by_rule() };
        let marker = new_marker();
        let prompt = prompt(&agents.team, asked, persona, Material { roster: &agents.roster, marker: &marker, now });
        let given = agents.run_structured(run(persona, asked.meeting, prompt, TOKENS, cancel)).await;
        let problem = match given.map(|given| read_call(given, persona)) {
            Ok(Ok(call)) => return call,
            Ok(Err(problem)) => problem.to_owned(),
            Err(error) => error.to_string(),
        };
        tracing::warn!(meeting = %asked.meeting.id, problem, "the call is made by rule");
        let call = by_rule();
        Call { reason: format!("{} Computed, because the model gave no valid prediction.", call.reason), ..call }
    }
}

/// Renders the prompt. Pure.
pub(super) fn prompt(team: &str, asked: &CallAsked<'_>, persona: &Persona, material: Material<'_>) -> Prompt {
    let rule = asked.question.rule;
    let message = template::render_call(&template::Call {
        marker: material.marker,
        now: spelt(material.now, material.roster.zone()),
        channel: material.name(&asked.meeting.channel.name),
        question: question(&asked.question, material.roster.zone()),
        base: rule.with_unit(asked.question.base),
        scoreboard: asked.scoreboard.in_words(),
        blocks: &blocks(asked, material),
    });
    Prompt { system: render_system(team, material.roster, persona, PromptKind::Meeting), message, holds_outside: true, remarks: Vec::new() }
}

fn blocks(asked: &CallAsked<'_>, material: Material<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = history(asked.question.history, material.roster.zone()).into_iter().collect();
    blocks.extend(material.changes(asked.page));
    blocks.extend(material.news("reports", asked.seats, &[]));
    blocks.extend(material.cross_check(asked.cross_check));
    blocks
}

/// Validates the call. A confidence below one half counts as one half.
fn read_call(given: Structured<CallGiven>, persona: &Persona) -> Result<Call, &'static str> {
    let Structured { value: CallGiven { answer, confidence, reason }, model } = given;
    let reason = cut(&reason.split_whitespace().collect::<Vec<_>>().join(" "), REASON);
    if reason.is_empty() {
        return Err("the call has no reason");
    }
    // Some models give percent instead of a share.
    let share = if confidence > 1.0 { confidence / 100.0 } else { confidence };
    if !(0.0..=1.0).contains(&share) {
        return Err("the confidence is no share");
    }
    let confidence = if answer == Answer::Uncertain { 0.5 } else { share.max(0.5) };
    Ok(Call { by: persona.slug.clone(), answer, confidence, reason, model: Some(model) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::standup::turns::fixture::Standup;
    use kernel::testing::feeds::now;
    use kernel::testing::persona::roster;

    fn read(answer: Answer, confidence: f64, reason: &str) -> Result<Call, &'static str> {
        let value = CallGiven { answer, confidence, reason: reason.into() };
        let roster = roster();
        read_call(Structured { value, model: "main/small".into() }, roster.find(&"solus".into()).expect("on the roster"))
    }

    #[test]
    fn the_prompt_of_a_call_reads_as_it_should() {
        let standup = Standup::new();
        let solus = standup.persona("solus");
        let material = Material { roster: &standup.roster, marker: "7f3a9c20d1e8", now: now() };
        insta::assert_snapshot!(prompt("Teamroom", &standup.call_asked(&solus.slug), solus, material).message);
    }

    #[test]
    fn a_call_is_kept_within_its_bounds() {
        for (answer, given, kept) in [
            (Answer::Yes, 0.8, 0.8),
            (Answer::No, 0.2, 0.5),
            (Answer::Yes, 85.0, 0.85),
            (Answer::Uncertain, 0.9, 0.5),
            (Answer::No, 1.0, 1.0),
        ] {
            let call = read(answer, given, "Commits rose.\n").expect("a call");
            assert!((call.confidence - kept).abs() < 1e-9, "{given} became {}", call.confidence);
            assert_eq!((call.reason.as_str(), call.model.as_deref()), ("Commits rose.", Some("main/small")));
        }
    }

    #[test]
    fn a_call_without_a_reason_or_a_share_is_none() {
        for (confidence, reason) in [(0.8, " \n"), (-0.1, "So."), (f64::NAN, "So."), (1000.0, "So.")] {
            assert!(read(Answer::Yes, confidence, reason).is_err(), "{confidence} {reason:?}");
        }
    }
}
