//! The files of a message. They are fetched on receipt, because their links expire, and stored as text.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::features::chat::Conversation;
use crate::features::chat::intake::recording;
use crate::features::chat::rules::authorize::{Action, authorize};
use kernel::agent::RunError;
use kernel::chat::attachments::{Refusal, Unreadable};
use kernel::chat::medium::{flatten, shorten};
use kernel::chat::message::{Attachment, AuthorKind, ChannelKind, InboundMessage};
use kernel::chat::store::FileText;
use kernel::chat::text::escape_values;
use kernel::chat::{DownloadError, attachments};
use kernel::llm::{ModelError, Transcription};

/// Number of checks for an online identity. Half a minute in total, the time that a login may take.
const ONLINE_LOOKS: u32 = 60;
const ONLINE_LOOK: Duration = Duration::from_millis(500);

/// How long to wait for the text of a document. The document reader has a limit of its own, which a single page may exceed.
const READING: Duration = Duration::from_secs(20);

/// How many documents are read at once.
static READERS: Semaphore = Semaphore::const_new(2);

/// The most characters of a recording's words that are shown.
const NOTED: usize = 250;

/// The most refused files of a message that are kept by name. A platform has a limit of its own.
const REFUSED: usize = 20;

impl Conversation {
    /// Fetches and stores the texts of a burst's files. A long paste that the platform turned into a file becomes message text again. An unreadable
    /// file never blocks its message. Its row says why there is no text, for this answer and later ones. The returned sentences tell the person.
    pub(crate) async fn read_files(&self, burst: &mut [InboundMessage]) -> anyhow::Result<Vec<String>> {
        let mut sentences = Vec::new();
        for message in burst.iter_mut().filter(|message| !message.attachments.is_empty()) {
            let (accepted, refused) = attachments::select(&message.attachments);
            let heard = self.hear(message).await?;
            let refused: Vec<_> = refused.into_iter().filter(|(attachment, _)| heard.iter().all(|file| file.id != attachment.id)).collect();
            let pictures = if self.deps().agents.has_eyes() { self.keep_pictures(message).await } else { Vec::new() };
            let is_picture = |attachment: &Attachment| pictures.iter().any(|(picture, _)| picture.id == attachment.id);
            let refused = refused.iter().filter(|(attachment, _)| !is_picture(attachment)).take(REFUSED);
            let refused = refused.map(|(attachment, refusal)| stored(message, attachment, Err(refusal.to_string())));
            let mut files: Vec<FileText> = refused.collect();
            let words: Vec<String> = heard.iter().filter_map(|file| file.text.clone()).collect();
            files.extend(heard);
            let mut kept = Vec::new();
            for (attachment, picture) in pictures {
                let (bytes, note) = picture.map_or_else(|why| (None, Some(why)), |bytes| (Some(bytes), None));
                files.push(FileText { text: None, note, ..stored(message, attachment, Ok((String::new(), None))) });
                kept.extend(bytes.map(|bytes| (attachment.id.clone(), bytes)));
            }
            let mut pasted = Vec::new();
            for attachment in accepted {
                let read = self.read_file(attachment).await;
                if let (Ok((text, _)), true) = (&read, attachments::is_long_paste(attachment)) {
                    pasted.push(text.clone());
                }
                files.push(stored(message, attachment, read));
            }
            sentences.extend(files.iter().filter_map(|file| file.note.clone()));
            for text in pasted {
                [message.text.as_str(), &text].join("\n").trim().clone_into(&mut message.text);
            }
            self.persist("storing files", || self.deps().store.record_files_with(&files, &kept)).await?;
            // The words are stored after the files, so that no transcription is paid twice: after a crash they are read from the files' rows.
            let words: Vec<String> = words.iter().map(|words| escape_values(words).into_owned()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).filter(|words| !message.text.contains(words)).collect();
            if !words.is_empty() {
                [message.text.as_str(), &words.join("\n")].join("\n").trim().clone_into(&mut message.text);
                self.persist("storing what was heard", || self.deps().store.record_heard(message)).await?;
            }
        }
        Ok(sentences)
    }

    /// The bytes of a message's pictures for models that see, or a sentence about why a picture is not shown to them.
    async fn keep_pictures<'m>(&self, message: &'m InboundMessage) -> Vec<(&'m Attachment, Result<Vec<u8>, String>)> {
        let mut kept = Vec::new();
        for (attachment, accepted) in attachments::select_pictures(&message.attachments) {
            kept.push((attachment, self.keep_picture(attachment, accepted).await));
        }
        kept
    }

    async fn keep_picture(&self, attachment: &Attachment, accepted: Result<(), Refusal>) -> Result<Vec<u8>, String> {
        accepted.map_err(|refusal| refusal.to_string())?;
        let name = attachments::display_name(&attachment.name);
        let bytes = self.download(attachment).await.map_err(|error| format!("I could not take {name}: {error}."))?;
        attachments::read_picture(&bytes, attachment).map_err(|refusal| refusal.to_string())?;
        Ok(bytes.to_vec())
    }

    /// Whether the team can transcribe, and listens to this author in this channel. Nobody else's recordings cost anything.
    pub(crate) fn listens_to(&self, message: &InboundMessage) -> bool {
        let deps = self.deps();
        deps.agents.transcription.is_some()
            && message.author.kind == AuthorKind::Person
            && self.kind_of(&message.channel) != ChannelKind::Ignore
            && authorize(Action::Speak, &message.author, &message.channel, &deps.chat).is_ok()
    }

    /// Transcribes the recordings of a message, if the team can. The row of a recording without words says why there are none.
    async fn hear(&self, message: &InboundMessage) -> anyhow::Result<Vec<FileText>> {
        let deps = self.deps();
        let Some(transcription) = &deps.agents.transcription else { return Ok(Vec::new()) };
        if !self.listens_to(message) {
            return Ok(Vec::new());
        }
        let mut heard = Vec::new();
        for (attachment, accepted) in attachments::select_recordings(&message.attachments) {
            let known = self.persist("finding a file", || deps.store.find_file(&attachment.id)).await?;
            let words = match (known.and_then(|file| file.text), accepted) {
                (Some(text), _) => Ok(text),
                (None, Err(refusal)) => Err(refusal.to_string()),
                (None, Ok(())) => self.transcribe(transcription, message, attachment).await,
            };
            heard.push(match words {
                Ok(text) => {
                    let note = format!("I heard: \"{}\"", shorten(&flatten(&text), NOTED));
                    stored(message, attachment, Ok((text, Some(note))))
                }
                Err(why) => stored(message, attachment, Err(why)),
            });
        }
        Ok(heard)
    }

    async fn transcribe(&self, transcription: &Transcription, message: &InboundMessage, attachment: &Attachment) -> Result<String, String> {
        let name = attachments::display_name(&attachment.name);
        let bytes = self.download(attachment).await.map_err(|error| format!("I could not take {name}: {error}."))?;
        if bytes.len() as u64 > attachments::MAX_RECORDING_BYTES {
            return Err(format!("{name} is too long. Please send a shorter one."));
        }
        let recorded = bytes.clone();
        let sound = spawn_blocking(move || recording::decode(&recorded)).await.ok().flatten();
        let heard = transcription.transcribe(&attachment.name, bytes.to_vec(), sound, message.id.as_str()).await;
        heard.map_err(|error| {
            tracing::warn!(id = %message.id, %error, "a recording is not understood");
            match error {
                ModelError::Empty { .. } => format!("I heard nothing in {name}."),
                error => {
                    let error = RunError::from(error);
                    format!("I couldn't listen to {name}: {}. {}", error.in_short(), error.remedy())
                }
            }
        })
    }

    /// After a restart no identity may be online yet.
    async fn download(&self, attachment: &Attachment) -> Result<Bytes, DownloadError> {
        let deps = self.deps();
        for _ in 0..ONLINE_LOOKS {
            match deps.platform.download(attachment, attachments::limit_of(attachment)).await {
                Err(DownloadError::Offline) if !deps.stop.is_cancelled() => deps.clock.sleep(ONLINE_LOOK).await,
                done => return done,
            }
        }
        Err(DownloadError::Offline)
    }

    /// The text of one file with a note if it is not all of it, or a sentence about why there is none.
    async fn read_file(&self, attachment: &Attachment) -> Result<(String, Option<String>), String> {
        let name = attachments::display_name(&attachment.name);
        let bytes = self.download(attachment).await.map_err(|error| format!("I could not take {name}: {error}."))?;
        if !attachments::is_document(&bytes, attachment) {
            return attachments::read(&bytes, attachment).map_err(|refusal| refusal.to_string());
        }
        // Documents are read on a thread of their own, and few at once: a parser that does not end cannot be stopped.
        let slow = || format!("I can't read {name}: {}.", Unreadable::Slow);
        let Ok(Ok(place)) = timeout(READING, READERS.acquire()).await else { return Err(slow()) };
        let attachment = attachment.clone();
        let reading = spawn_blocking(move || {
            let _place = place;
            attachments::read(&bytes, &attachment)
        });
        match timeout(READING, reading).await {
            Ok(Ok(read)) => read.map_err(|refusal| refusal.to_string()),
            Ok(Err(_)) => Err(format!("I can't read {name}: {}.", Unreadable::Damaged)),
            Err(_) => Err(slow()),
        }
    }
}

/// The row of a file: its text, or a sentence about why there is none.
fn stored(message: &InboundMessage, attachment: &Attachment, read: Result<(String, Option<String>), String>) -> FileText {
    let (text, note) = match read {
        Ok((text, note)) => (Some(text), note),
        Err(why) => (None, Some(why)),
    };
    FileText {
        id: attachment.id.clone(),
        message: message.id.clone(),
        channel: message.channel.id.clone(),
        name: attachments::display_name(&attachment.name),
        size: attachment.size,
        note,
        text,
        by: message.author.name.clone(),
        at: message.sent_at,
    }
}
