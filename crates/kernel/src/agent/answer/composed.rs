//! Answers from feeds and files, for a team without a model and for times when no model answers.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{find_reply, recall};
use crate::agent::journal::JournalEntry;
use crate::agent::offline::{OfflineAnswer, OfflineQuestion};
use crate::agent::run::Reply;
use crate::agent::surroundings::Surroundings;
use crate::agent::{Agents, AnswerVerdict, Question, RunError, offline};
use crate::chat::text::Subtext;
use crate::ids::{ChannelId, MessageId};
use crate::memory::Recall;
use crate::money::Purpose;
use crate::persona::Persona;

/// The most memories that are looked at.
const MEMORIES: usize = 8;

/// How often a channel is told that the team has no model.
const OFFLINE_NOTICE_EVERY: Duration = Duration::from_hours(24);

/// How often a channel is told that the models are used up, which nobody asks before their time.
const USED_UP_NOTICE_EVERY: Duration = Duration::from_hours(1);

impl Agents {
    pub(super) async fn compose(&self, persona: &Persona, question: &Question<'_>) -> Result<Reply, RunError> {
        if let Some(journal) = question.journal
            && let Some(reply) = find_reply(journal.read().await?)
        {
            return Ok(reply);
        }
        let (composed, now) = self.compose_answer(persona, question, false).await?;
        let mut text = composed.text;
        let key = format!("offline:{}", question.channel.map_or("terminal", ChannelId::as_str));
        // Answers for work items appear in reports, where the notice does not belong.
        if question.purpose != Purpose::Step && self.store.claim_notice(&key, now, OFFLINE_NOTICE_EVERY).await? {
            text.push('\n');
            text.push_str(offline::EXPLANATION);
        }
        self.keep_composed(question, text, composed.verdict).await
    }

    /// What feeds, files and memories say on the subject of a question, for a discussion without a model.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn look_up(&self, persona: &Persona, question: &Question<'_>) -> Result<Reply, RunError> {
        let (collected, _) = self.compose_answer(persona, question, true).await?;
        self.keep_composed(question, collected.text, collected.verdict).await
    }

    /// Answers from feeds and files because no model answered, and says so once in a channel until one does. Returns `error` if they contain no
    /// answer.
    pub(super) async fn stand_in(&self, persona: &Persona, question: &Question<'_>, error: RunError) -> Result<Reply, RunError> {
        let (composed, now) = self.compose_answer(persona, question, false).await?;
        if composed.sources.is_empty() || composed.verdict == AnswerVerdict::DoesNotKnow {
            return Err(error);
        }
        tracing::warn!(subject = question.subject, %error, "no model answered, so feeds and files do");
        let mut text = composed.text;
        let key = format!("model-down:{}", question.channel.map_or("terminal", ChannelId::as_str));
        if self.store.claim_notice(&key, now, self.outage(now)).await? {
            let why = Subtext(format!("No language model answered: {}. {}", error.in_short(), error.remedy()));
            text = format!("{text}\n{why}");
        }
        self.keep_composed(question, text, composed.verdict).await
    }

    /// How long the models have been failing, and a moment more, so that a notice within this time belongs to this outage.
    fn outage(&self, now: DateTime<Utc>) -> Duration {
        let since = self.runner.models.failing_since();
        since.and_then(|since| (now - since).to_std().ok()).map_or(USED_UP_NOTICE_EVERY, |outage| outage + Duration::from_millis(1))
    }

    /// `collects`: all that there is on the subject, instead of an answer.
    async fn compose_answer(
        &self,
        persona: &Persona,
        question: &Question<'_>,
        collects: bool,
    ) -> Result<(OfflineAnswer, DateTime<Utc>), RunError> {
        let Surroundings { now, question: text, transcript, refers, files, .. } = self.look_around(question, false).await?;
        let answered: Vec<&MessageId> = question.answered.iter().collect();
        let recalled = Recall { except: &answered, ..recall(persona, question, MEMORIES, self.roster.today(now)).everything() };
        let memories = self.store.recall(&recalled).await?;
        self.store.record_used(&memories, now).await?;
        let asked = OfflineQuestion {
            persona,
            roster: &self.roster,
            text: &text,
            act: question.act,
            asker: recalled.asker,
            notes: &refers.notes,
            files: &files,
            transcript: &transcript,
            memories: &memories,
            feeds: self.readings.feeds_of(&persona.slug),
            now,
        };
        let composed = if collects { offline::collect(&asked).await } else { offline::compose(&asked).await };
        Ok((composed, now))
    }

    async fn keep_composed(&self, question: &Question<'_>, text: String, verdict: AnswerVerdict) -> Result<Reply, RunError> {
        let text = self.runner.redact(text, question.subject);
        if let Some(journal) = question.journal {
            let replied = JournalEntry::Replied { text: text.clone(), calls: Vec::new(), model: String::new() };
            let judged = JournalEntry::Judged { verdict, model: String::new() };
            if !journal.append(&[replied, judged], self.runner.clock.now()).await? {
                return Err(RunError::Lost);
            }
        }
        Ok(Reply { verdict: Some(verdict), ..Reply::plain(text) })
    }
}
