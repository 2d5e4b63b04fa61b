//! A persona's report: prompt and parsing. `by_rule` generates it if no model is configured.

mod answer;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use tokio_util::sync::CancellationToken;

use crate::features::meeting::model::{Contribution, Meeting, Seat};
use crate::features::meeting::signal::Signal;
use crate::features::standup::model::page::PageFeed;
use crate::features::standup::prompts as template;
use crate::features::standup::turns::material::Material;
use crate::features::standup::turns::{QuestionAsked, ReportAsked, Turns, by_rule, run};
use kernel::agent::context::new_marker;
use kernel::agent::prompt::{Block, PromptKind, render_system};
use kernel::agent::{Prompt, Run, RunError};
use kernel::chat::text::Subtext;
use kernel::persona::{Persona, StandupDuty};
use kernel::time::Today;

/// The tokens reserved for signals.
const SIGNAL_TOKENS: usize = 400;

impl Turns<'_> {
    /// Asks a persona for its report, once. When `cancel` fires at the time limit, complete sentences are kept as a partial report.
    ///
    /// # Errors
    /// No model answered, or there was no readable text.
    pub async fn report(&self, asked: &ReportAsked<'_>, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        let persona = self.agents.roster.find(asked.persona).ok_or_else(|| RunError::NoPersona(asked.persona.clone()))?;
        let composed = || by_rule::compose(asked, persona, &self.agents.roster, self.now());
        let mut said = if self.agents.is_offline() {
            composed()
        } else {
            match self.ask(asked, persona, cancel).await {
                Err(error) if error.is_outage() => explain(composed(), &error, asked.before),
                said => said?,
            }
        };
        said.text = self.redact(said.text, asked.meeting);
        said.signals = said.signals.into_iter().map(|signal| self.redact_signal(signal, asked.meeting)).collect();
        Ok(said)
    }

    async fn ask(&self, asked: &ReportAsked<'_>, persona: &Persona, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        let marker = new_marker();
        let material = Material { roster: &self.agents.roster, marker: &marker, now: self.now() };
        let prompt = prompt(&self.agents.team, asked, persona, material);
        let run = Run { keep_partial: true, ..run(persona, asked.meeting, prompt, max_tokens(persona), cancel) };
        answer::read_answer(&self.agents.run(run).await?, persona.standup.cap)
    }

    fn redact_signal(&self, mut signal: Signal, meeting: &Meeting) -> Signal {
        signal.subject = self.redact(signal.subject, meeting);
        if let Some(evidence) = &mut signal.evidence {
            evidence.feed = self.redact(std::mem::take(&mut evidence.feed), meeting);
            evidence.value = self.redact(std::mem::take(&mut evidence.value), meeting);
        }
        signal
    }
}

/// The beginning of what operators read about a report that was composed because no model answered.
const COMPOSED: &str = "no model answered";

/// Says why a report is composed. The first of a meeting says it to people too.
fn explain(mut composed: Contribution, error: &RunError, before: &[Seat]) -> Contribution {
    let is_composed = |said: &Contribution| said.problems.iter().any(|problem| problem.starts_with(COMPOSED));
    if !before.iter().filter_map(|seat| seat.contribution.as_ref()).any(is_composed) {
        let why = Subtext(format!("No language model answered: {}. Until one does, reports quote feeds.", error.in_short()));
        composed.text = format!("{}\n{why}", composed.text);
    }
    composed.problems.push(format!("{COMPOSED}: {error}"));
    composed
}

/// A token has more than two characters in any European language. Longer reports are cut anyway.
fn max_tokens(persona: &Persona) -> u32 {
    u32::try_from(persona.standup.cap / 2 + SIGNAL_TOKENS).unwrap_or(u32::MAX)
}

/// Renders the prompt. Pure.
fn prompt(team: &str, asked: &ReportAsked<'_>, persona: &Persona, material: Material<'_>) -> Prompt {
    let duty = persona.standup.duty;
    let (useful, not_useful) = asked.rated;
    let ratings = useful + not_useful;
    let message = template::render_report(&template::Report {
        marker: material.marker,
        now: spelt(material.now, material.roster.zone()),
        channel: material.name(&asked.meeting.channel.name),
        role: &persona.standup.role,
        duty: duty.map(|duty| match duty {
            StandupDuty::Delta => "delta",
            StandupDuty::Call => "call",
        }),
        since: spelt(asked.page.since, material.roster.zone()),
        cap: persona.standup.cap,
        useful: (ratings > 0).then_some(useful),
        ratings,
        question: asked.question.as_ref().filter(|_| duty == Some(StandupDuty::Call)).map(|asked| question(asked, material.roster.zone())),
        scoreboard: asked.scoreboard.in_words(),
        blocks: &blocks(asked, persona, material),
    });
    Prompt { system: render_system(team, material.roster, persona, PromptKind::Meeting), message, holds_outside: true, remarks: Vec::new() }
}

fn blocks(asked: &ReportAsked<'_>, persona: &Persona, material: Material<'_>) -> Vec<Block> {
    let is_own = |feed: &&PageFeed| feed.of.contains(&persona.slug);
    let (own, others): (Vec<&PageFeed>, Vec<&PageFeed>) = asked.page.list_with_material().partition(is_own);
    let mut blocks: Vec<Block> = own.iter().map(|feed| material.feed(feed, ", yours", asked.page.is_first)).collect();
    blocks.extend(material.people(asked.page));
    if asked.delta_context {
        blocks.extend(material.values(others.into_iter()));
        blocks.extend(material.changes(asked.page));
        let news = material.news("reports before yours", asked.before, &blocks);
        blocks.extend(news);
    } else {
        blocks.extend(others.iter().map(|feed| material.feed(feed, "", asked.page.is_first)));
        blocks.extend(material.changes(asked.page));
        blocks.extend(material.reports(asked.before));
    }
    blocks.extend(material.findings(asked.findings));
    blocks.extend(material.told(asked.told));
    blocks.extend(material.hints(asked.hints));
    blocks.extend(material.items("your open items", asked.items));
    blocks.extend(material.lessons(asked.lessons));
    if persona.standup.duty == Some(StandupDuty::Delta) {
        blocks.extend(asked.last_report.and_then(|report| material.last_report(report)));
        blocks.extend(material.moved(asked.moved));
        blocks.extend(material.open_calls(asked.open_calls));
    }
    blocks
}

/// The essential question as text for prompts.
pub(super) fn question<'a>(asked: &QuestionAsked<'a>, zone: Tz) -> template::Question<'a> {
    template::Question { text: asked.text, terms: asked.rule.describe(), expires: spelt(asked.expires_at, zone) }
}

/// A full date and time, with its zone: `Friday, 27 November 2026, 09:00 CET`.
pub(super) fn spelt(at: DateTime<Utc>, zone: Tz) -> String {
    Today { now: at, zone }.spell()
}

#[cfg(test)]
mod tests;
