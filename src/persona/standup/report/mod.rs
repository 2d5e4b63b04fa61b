//! A persona's report: what its prompt holds, and what is made of the answer.
//!
//! `answer` takes apart what a model wrote. What a report says where none is configured is `by_rule`'s.

mod answer;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::material::Material;
use super::{QuestionAsked, ReportAsked, by_rule};
use crate::domain::ids::PersonaSlug;
use crate::domain::meeting::{Contribution, Meeting};
use crate::domain::page::PageFeed;
use crate::domain::persona::{Persona, StandupDuty};
use crate::domain::signal::Signal;
use crate::domain::usage::Purpose;
use crate::llm::{Call as ModelCall, ModelMessage, ModelRequest};
use crate::persona::context::new_marker;
use crate::persona::prompt::{self, Block, standup as template};
use crate::persona::turn::{Performer, TurnError};

/// What signals may take of an answer, beside the report itself.
const SIGNAL_TOKENS: usize = 400;

impl Performer {
    /// Asks a persona for its standup report, once. `cancel` is the turn's time limit: whole sentences that a model had written by then are
    /// kept as a partial report.
    ///
    /// # Errors
    /// No model answered, or nothing that a person could read.
    pub async fn report(&self, asked: &ReportAsked<'_>, cancel: &CancellationToken) -> Result<Contribution, TurnError> {
        let persona = self.roster.find(asked.persona).ok_or_else(|| TurnError::NoPersona(asked.persona.clone()))?;
        let mut said = if self.models.is_offline() {
            by_rule::compose(asked, persona, &self.roster, self.clock.now())
        } else {
            let (marker, now) = (new_marker(), self.clock.now());
            let request = request(&self.team, asked, persona, Material { roster: &self.roster, marker: &marker, now });
            let written = self.models.complete_or_break_off(&model_call(persona, asked.meeting), &request, cancel).await?;
            answer::read_answer(&written, persona.standup.cap)?
        };
        said.text = self.without_secrets(said.text, &persona.slug);
        said.signals = said.signals.into_iter().map(|signal| self.signal_without_secrets(signal, &persona.slug)).collect();
        Ok(said)
    }

    /// Secrets may have come with a feed or a person's report.
    pub(super) fn without_secrets(&self, text: String, persona: &PersonaSlug) -> String {
        let (clean, redacted) = self.redactor.redact(&text);
        if redacted == 0 {
            return text;
        }
        metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
        tracing::warn!(%persona, redacted, "secrets were taken out of what was said in a standup");
        clean.into_owned()
    }

    fn signal_without_secrets(&self, mut signal: Signal, persona: &PersonaSlug) -> Signal {
        signal.subject = self.without_secrets(signal.subject, persona);
        if let Some(evidence) = &mut signal.evidence {
            evidence.feed = self.without_secrets(std::mem::take(&mut evidence.feed), persona);
            evidence.value = self.without_secrets(std::mem::take(&mut evidence.value), persona);
        }
        signal
    }
}

/// Who pays for a question of this meeting.
pub(super) fn model_call(persona: &Persona, meeting: &Meeting) -> ModelCall {
    ModelCall { persona: Some(persona.slug.clone()), purpose: Purpose::Standup, subject: meeting.id.to_string(), tier: persona.tier }
}

/// The prompt of a report. Pure: the same input gives the same prompt.
fn request(team: &str, asked: &ReportAsked<'_>, persona: &Persona, material: Material<'_>) -> ModelRequest {
    let duty = persona.standup.duty;
    let (useful, not_useful) = asked.rated;
    let ratings = useful + not_useful;
    let message = template::render_report(&template::Report {
        marker: material.marker,
        now: spelt(material.now),
        channel: material.name(&asked.meeting.channel.name),
        role: &persona.standup.role,
        duty: duty.map(|duty| match duty {
            StandupDuty::Delta => "delta",
            StandupDuty::Call => "call",
        }),
        since: spelt(asked.page.since),
        cap: persona.standup.cap,
        useful: (ratings > 0).then_some(useful),
        ratings,
        question: asked.question.as_ref().filter(|_| duty == Some(StandupDuty::Call)).map(question),
        scoreboard: asked.scoreboard.in_words(),
        blocks: &blocks(asked, persona, material),
    });
    ModelRequest {
        system: prompt::render_system(team, material.roster, persona),
        messages: vec![ModelMessage::User(message)],
        // A token is more than two characters of any European language; who writes longer is cut at the cap anyway.
        max_output_tokens: u32::try_from(persona.standup.cap / 2 + SIGNAL_TOKENS).unwrap_or(u32::MAX),
        ..ModelRequest::default()
    }
}

fn blocks(asked: &ReportAsked<'_>, persona: &Persona, material: Material<'_>) -> Vec<Block> {
    let is_own = |feed: &&PageFeed| feed.of.contains(&persona.slug);
    let (own, others): (Vec<&PageFeed>, Vec<&PageFeed>) = asked.page.feeds.iter().partition(is_own);
    let mut blocks: Vec<Block> = own.iter().map(|feed| material.feed(feed, ", yours")).collect();
    if asked.delta_context {
        blocks.extend(material.values(others.into_iter()));
        blocks.extend(material.changes(asked.page));
        let news = material.news("reports before yours", asked.before, &blocks);
        blocks.extend(news);
    } else {
        blocks.extend(others.iter().map(|feed| material.feed(feed, "")));
        blocks.extend(material.changes(asked.page));
        blocks.extend(material.reports(asked.before));
    }
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

/// The essential question as prompts word it.
pub(super) fn question<'a>(asked: &QuestionAsked<'a>) -> template::Question<'a> {
    template::Question { text: asked.text, terms: asked.rule.describe(), expires: spelt(asked.expires_at) }
}

/// A moment in full.
pub(super) fn spelt(at: DateTime<Utc>) -> String {
    at.format("%A, %-d %B %Y, %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests;
