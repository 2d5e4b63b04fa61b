//! The job that makes the audio of a result. Only one is open for each.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::voice::audio::ENDING;
use crate::features::voice::player::{PlayError, Player, Recording};
use crate::features::voice::script::Script;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundMessage};
use kernel::chat::outbox::store::{insert_outbound, insert_outbound_once};
use kernel::chat::text::Subtext;
use kernel::db::{StoreError, Transaction};
use kernel::ids::OutboxId;
use kernel::jobs::{self, Failure, Job, JobContext, JobError, JobHandler, KindSettings, NewJob};

const KIND: &str = "play";

/// Which result is to be heard.
#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    kind: String,
    id: String,
    title: String,
    /// Carries the audio, or says why there is none.
    message: OutboundMessage,
}

/// The id of the message with the audio of a result. It is always the same.
pub(super) fn audio_id(kind: &str, script: &Script) -> OutboxId {
    OutboxId::new(format!("play-{kind}-{}", script.id))
}

/// Enqueues the job that makes the audio of a result. Does nothing while one is open.
pub(super) async fn enqueue(transaction: &mut Transaction, kind: &str, script: &Script, now: DateTime<Utc>) -> Result<(), StoreError> {
    let message = OutboundMessage { id: audio_id(kind, script), ..script.message.clone() };
    let wanted = Wanted { kind: kind.to_owned(), id: script.id.clone(), title: script.title.clone(), message };
    jobs::enqueue(transaction, &NewJob::new(KIND, &wanted).unique(format!("{KIND}:{kind}:{}", script.id)), now).await?;
    Ok(())
}

/// Makes audio.
pub(super) struct MakeAudio {
    pub(super) player: Arc<Player>,
}

#[async_trait]
impl JobHandler for MakeAudio {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("id")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { parallel: 2, max_attempts: 3, time_limit: Duration::from_mins(30), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let wanted: Wanted = job.payload()?;
        let playable = self.player.find_playable(&wanted.kind);
        let playable = playable.ok_or_else(|| JobError::fail(format!("there is nothing called {} to play", wanted.kind)))?;
        // A result that was forgotten meanwhile is not spoken.
        let Some(script) = playable.find_script(&wanted.id).await? else { return job.begin_final().await?.finish().await };
        let is_stopping = || job.check().is_err();
        let made = tokio::select! {
            biased;
            () = job.cancelled().cancelled() => return Err(JobError::Stopping),
            made = self.player.make(&script, &is_stopping) => made,
        };
        let recording = made.map_err(|error| match error {
            PlayError::Stopping => JobError::Stopping,
            PlayError::Store(error) => error.into(),
            error if error.is_passing() => JobError::retry_later(error.to_string()),
            error => JobError::fail(error.to_string()),
        })?;
        let message = carry(&wanted.message, &script, recording);
        let mut transaction = job.begin_final().await?;
        insert_outbound_once(&mut transaction, &message, None, job.now()).await?;
        transaction.finish().await
    }

    /// Reports the failure where the audio was to be posted.
    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let Ok(wanted) = job.read_payload::<Wanted>() else { return Ok(()) };
        let title = Medium::Chat.line_within(&wanted.title, 120);
        let why = match why {
            Failure::Failed(why) => why.clone(),
            Failure::Crashed(_) => "the program stopped several times while it made it".to_owned(),
        };
        let text = format!("I could not make the audio of {title}: {}. Press *Play* to try again.", Medium::Chat.line_within(&why, 300));
        // Each failure gets a message of its own.
        let id = OutboxId::new(format!("{}-failed-{}", wanted.message.id, job.id));
        insert_outbound(transaction, &[OutboundMessage { id, text, ..wanted.message }], None, self.player.clock.now()).await
    }
}

fn carry(message: &OutboundMessage, script: &Script, recording: Recording) -> OutboundMessage {
    let Recording { audio, left_out } = recording;
    let chapters = if audio.chapters.len() == 1 { "1 chapter".to_owned() } else { format!("{} chapters", audio.chapters.len()) };
    let mut text = format!("**{}**: {}, {chapters}", Medium::Chat.line_within(&script.title, 120), show_length(audio.length));
    if let Some(note) = describe_left_out(left_out) {
        let _ = write!(text, "\n{}", Subtext(note));
    }
    let file = OutboundFile { name: format!("{}.{ENDING}", script.file), content: FileContent::Bytes(audio.bytes) };
    OutboundMessage { text, files: vec![file], ..message.clone() }
}

pub(super) fn describe_left_out(left_out: usize) -> Option<String> {
    match left_out {
        0 => None,
        1 => Some("It was too long: 1 contribution is left out.".to_owned()),
        more => Some(format!("It was too long: {more} contributions are left out.")),
    }
}

/// `4 min 12 s`
pub(super) fn show_length(length: Duration) -> String {
    match (length.as_secs() / 60, length.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}
