use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use tokio_util::sync::CancellationToken;

use super::material::Material;
use super::{QuestionAsked, ReportAsked, by_rule};
use crate::domain::ids::PersonaSlug;
use crate::domain::meeting::{Contribution, Meeting};
use crate::domain::page::PageFeed;
use crate::domain::persona::{Persona, StandupDuty};
use crate::domain::signal::{self, Signal};
use crate::domain::text::is_invisible;
use crate::domain::usage::Purpose;
use crate::llm::{Call as ModelCall, ModelMessage, ModelRequest, Written};
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
            read_answer(&written, persona.standup.cap)?
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

/// Takes an answer apart: what is posted, the signals, and what was wrong with it.
fn read_answer(written: &Written, cap: usize) -> Result<Contribution, TurnError> {
    let reply = &written.reply;
    let parsed = signal::parse_report(&reply.text);
    let mut problems = parsed.problems;
    let mut text = parsed.text;
    if let Some(error) = &written.broke_off {
        problems.push(format!("the answer broke off: {error}"));
        // Where the signals had begun, the words before them are all there.
        if !reply.text.contains("```signals") {
            text = whole_sentences(&text).to_owned();
        }
    }
    if !holds_words(&text) && !parsed.signals.is_empty() {
        problems.push("the answer held signals and no words".into());
        text = parsed.signals.iter().map(in_words).collect::<Vec<_>>().join("\n");
    }
    if !holds_words(&text) {
        return Err(written.broke_off.clone().map_or(TurnError::Nothing, TurnError::from));
    }
    Ok(Contribution {
        text: signal::cut_at_sentence(&text, cap),
        signals: parsed.signals,
        model: Some(reply.full_name()),
        usage: reply.usage,
        partial: written.broke_off.is_some(),
        problems,
    })
}

/// A signal as a line that people read.
fn in_words(signal: &Signal) -> String {
    let evidence = signal.evidence.as_ref().map_or(String::new(), |found| format!(" ({} {})", found.feed, found.value));
    format!("- {}: {}{evidence}", signal.subject, signal.direction.as_str())
}

/// Whether a person would read something in it. Bare JSON, as some models refuse in, is no report.
fn holds_words(text: &str) -> bool {
    let words = text.trim().trim_matches('`').trim_start_matches("json").trim();
    let is_json = words.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(words).is_ok();
    !is_json && words.chars().any(|c| c.is_alphanumeric() && !is_invisible(c))
}

/// The text up to its last whole sentence or line. A full stop behind a digit, with nothing after it, may be a decimal point.
fn whole_sentences(text: &str) -> &str {
    let mut end = 0;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let follows = chars.peek().map(|(_, next)| *next);
        let ends_sentence =
            matches!(c, '.' | '!' | '?' | '…') && follows.map_or(!(c == '.' && before.is_ascii_digit()), char::is_whitespace);
        if ends_sentence || c == '\n' {
            end = at + c.len_utf8();
        }
        before = c;
    }
    text[..end].trim_end()
}

#[cfg(test)]
mod tests;
