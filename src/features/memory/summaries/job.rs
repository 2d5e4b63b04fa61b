use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::extract::extract;
use crate::features::chat::settings::ChannelRules;
use crate::features::chat::store::is_unchanged;
use crate::store::Store;
use kernel::agent::{Agents, Prompt, Run};
use kernel::chat::message::{Channel, ChannelKind, Place, Speaker, Spoken};
use kernel::db::StoreError;
use kernel::ids::MessageId;
use kernel::jobs::{JobContext, JobError, JobHandler, KindSettings, NewJob, enqueue};
use kernel::memory::Scope;
use kernel::memory::retrieval::cut;
use kernel::memory::spans::Span;
use kernel::memory::store::{delete_span, save_span};
use kernel::money::Purpose;
use kernel::persona::Tier;
use kernel::text::{flatten, one_line, without_invisible};

const KIND: &str = "channel_summaries";
const SYSTEM: &str = include_str!("../prompts/span.md");

/// The messages of one summary, and the newest messages, which stay in the transcript of a prompt and are not summarised.
const SPAN: usize = 30;
const RECENT: usize = 30;

/// How far back a channel is looked at.
const LINES: u32 = 400;

/// The most summaries of a round.
const ROUND: usize = 10;
const EVERY: Duration = Duration::from_mins(10);

/// The most characters of a line in the prompt, and of a summary.
const LINE: usize = 600;
const SUMMARY: usize = 800;
const TOKENS: u32 = 300;

/// Summarises long channels.
pub(in crate::features::memory) struct SummariseChannels {
    pub(in crate::features::memory) store: Store,
    pub(in crate::features::memory) agents: Arc<Agents>,
    pub(in crate::features::memory) channels: ChannelRules,
}

/// Lines of a channel with the ids of their messages.
type Lines = Vec<(MessageId, Spoken)>;

impl SummariseChannels {
    /// Once per database.
    ///
    /// # Errors
    /// The database does not respond.
    pub(in crate::features::memory) async fn enqueue(store: &Store, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut transaction = store.db().begin().await?;
        enqueue(&mut transaction, &NewJob::new(KIND, &()).unique(KIND).at(now), now).await?;
        transaction.commit().await
    }
}

#[async_trait]
impl JobHandler for SummariseChannels {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> KindSettings {
        KindSettings { parallel: 1, time_limit: Duration::from_hours(1), max_attempts: u32::MAX, ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let mut left = ROUND;
        for span in self.store.list_stale_spans(u32::try_from(ROUND).unwrap_or(u32::MAX)).await? {
            job.check()?;
            left -= 1;
            if !self.make_again(job, span).await? {
                left = 0;
                break;
            }
        }
        for seen in self.store.list_channels().await? {
            while left > 0 && self.summarise_next(job, &seen.channel).await? {
                job.check()?;
                left -= 1;
            }
        }
        Err(JobError::Sleep(job.now() + EVERY))
    }
}

impl SummariseChannels {
    /// Summarises the oldest stretch of a channel that no summary has. False if there is none, or no summary could be made.
    async fn summarise_next(&self, job: &JobContext, channel: &Channel) -> Result<bool, JobError> {
        if self.is_ignored(channel) {
            return Ok(false);
        }
        let spoken = self.store.list_spoken(&channel.id, LINES).await?;
        let Some(oldest) = spoken.first().map(|line| line.at) else { return Ok(false) };
        let known = self.store.list_summarised(&channel.id, oldest).await?;
        let old = spoken.len().saturating_sub(RECENT);
        let lines: Lines = spoken
            .into_iter()
            .take(old)
            .filter_map(|line| Some((line.message.clone()?, line)))
            .filter(|(message, _)| !known.contains(message))
            .take(SPAN)
            .collect();
        let (Some((first, from)), Some((_, to))) = (lines.first(), lines.last()) else { return Ok(false) };
        if lines.len() < SPAN {
            return Ok(false);
        }
        let span = Span {
            id: format!("span-{first}"),
            channel: channel.id.clone(),
            channel_name: channel.name.clone(),
            place: Scope::of(channel).place().cloned(),
            from_at: from.at,
            to_at: to.at,
            messages: lines.len(),
            text: String::new(),
            model: None,
            outside: false,
        };
        self.keep(job, span, &lines).await
    }

    /// Summarises what is left of a stretch. False if no summary could be made.
    async fn make_again(&self, job: &JobContext, span: Span) -> Result<bool, JobError> {
        let mut lines: Lines = Vec::new();
        for message in self.store.list_span_messages(&span.id).await? {
            if let Some(line) = self.store.find_spoken(&span.channel, &message).await? {
                lines.push((message, line));
            }
        }
        if lines.is_empty() {
            let mut transaction = job.begin().await?;
            delete_span(&mut transaction, &span.id).await?;
            transaction.commit().await?;
            return Ok(true);
        }
        self.keep(job, span, &lines).await
    }

    /// Stores a summary, unless one of its messages has changed meanwhile. False if none could be made.
    async fn keep(&self, job: &JobContext, span: Span, lines: &Lines) -> Result<bool, JobError> {
        let Some(span) = self.write(span, lines, job.cancelled()).await else { return Ok(false) };
        let mut transaction = job.begin().await?;
        for (message, line) in lines {
            if !is_unchanged(&mut transaction, message, &line.text).await? {
                // The next round reads the changed message.
                return Ok(false);
            }
        }
        let messages: Vec<MessageId> = lines.iter().map(|(message, _)| message.clone()).collect();
        save_span(&mut transaction, &span, &messages).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The summary of some lines. None if the model does not answer, or the budget is used up: the next round tries again.
    async fn write(&self, span: Span, lines: &Lines, cancel: &CancellationToken) -> Option<Span> {
        if self.agents.is_offline() {
            let by_people = lines.iter().filter(|(_, line)| !line.speaker.is_agent());
            let said: Vec<(String, String)> = by_people.map(|(_, line)| (self.name(line), without_invisible(&line.text))).collect();
            let text = extract(&said);
            // A stretch without words still counts as read.
            let text = if text.is_empty() { "(nothing to tell)".to_owned() } else { text };
            return Some(Span { text, model: None, outside: false, messages: lines.len(), ..span });
        }
        let zone = self.agents.roster.zone();
        let told = |line: &Spoken| {
            let said = cut(&one_line(&without_invisible(&line.text), LINE * 2), LINE);
            format!("[{}, {}] {said}", self.name(line), line.at.with_timezone(&zone).format("%a %-d %b, %H:%M"))
        };
        let message = lines.iter().map(|(_, line)| told(line)).collect::<Vec<_>>().join("\n");
        let run = Run {
            persona: None,
            purpose: Purpose::Memory,
            subject: span.channel.as_str(),
            tier: Tier::T1,
            prompt: Box::pin(std::future::ready(Ok(Prompt {
                system: SYSTEM.trim().to_owned(),
                message,
                holds_outside: true,
                remarks: Vec::new(),
            }))),
            max_output_tokens: TOKENS,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel,
            allowance: None,
            pictures: Vec::new(),
        };
        match self.agents.run(run).await {
            Ok(reply) => {
                let outside = lines.iter().any(|(_, line)| line.speaker.is_agent());
                let text = cut(&one_line(&reply.text, SUMMARY * 2), SUMMARY);
                (!text.is_empty()).then_some(Span { text, model: reply.model, outside, messages: lines.len(), ..span })
            }
            Err(error) => {
                tracing::warn!(channel = %span.channel, %error, "a stretch of a channel waits for its summary");
                None
            }
        }
    }

    fn name(&self, line: &Spoken) -> String {
        let name = match &line.speaker {
            Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name.as_str(),
            Speaker::Persona(slug) => self.agents.roster.name_of(slug),
        };
        flatten(name, 40)
    }

    fn is_ignored(&self, channel: &Channel) -> bool {
        let (id, name) = match &channel.place {
            Place::Thread { parent, parent_name, .. } => (parent, parent_name),
            Place::Server | Place::Direct => (&channel.id, &channel.name),
        };
        self.channels.kind_of(id, name) == ChannelKind::Ignore
    }
}
