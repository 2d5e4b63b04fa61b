//! The files of a message. They are fetched on receipt, because their links expire, and stored as text.

use std::time::Duration;

use bytes::Bytes;

use crate::features::chat::Conversation;
use kernel::chat::attachments::MAX_FILE_BYTES;
use kernel::chat::message::{Attachment, InboundMessage};
use kernel::chat::store::FileText;
use kernel::chat::{DownloadError, attachments};

/// Number of checks for an online identity. Half a minute in total, the time that a login may take.
const ONLINE_LOOKS: u32 = 60;
const ONLINE_LOOK: Duration = Duration::from_millis(500);

/// The most refused files of a message that are kept by name. A platform has a limit of its own.
const REFUSED: usize = 20;

impl Conversation {
    /// Fetches and stores the texts of a burst's files. A long paste that the platform turned into a file becomes message text again. An unreadable
    /// file never blocks its message. Its row says why there is no text, for this answer and later ones. The returned sentences tell the person.
    pub(crate) async fn read_files(&self, burst: &mut [InboundMessage]) -> anyhow::Result<Vec<String>> {
        let mut sentences = Vec::new();
        for message in burst.iter_mut().filter(|message| !message.attachments.is_empty()) {
            let (accepted, refused) = attachments::select(&message.attachments);
            let refused = refused.iter().take(REFUSED).map(|(attachment, refusal)| stored(message, attachment, Err(refusal.to_string())));
            let mut files: Vec<FileText> = refused.collect();
            let mut pasted = Vec::new();
            for attachment in accepted {
                let read = self.read_file(attachment).await;
                if let (Ok(text), true) = (&read, attachments::is_long_paste(attachment)) {
                    pasted.push(text.clone());
                }
                files.push(stored(message, attachment, read));
            }
            sentences.extend(files.iter().filter_map(|file| file.note.clone()));
            for text in pasted {
                [message.text.as_str(), &text].join("\n").trim().clone_into(&mut message.text);
            }
            self.persist("storing files", || self.deps().store.record_files(&files)).await?;
        }
        Ok(sentences)
    }

    /// After a restart no identity may be online yet.
    async fn download(&self, attachment: &Attachment) -> Result<Bytes, DownloadError> {
        let deps = self.deps();
        for _ in 0..ONLINE_LOOKS {
            match deps.platform.download(attachment, MAX_FILE_BYTES).await {
                Err(DownloadError::Offline) if !deps.stop.is_cancelled() => deps.clock.sleep(ONLINE_LOOK).await,
                done => return done,
            }
        }
        Err(DownloadError::Offline)
    }

    /// The text of one file, or a sentence about why there is none.
    async fn read_file(&self, attachment: &Attachment) -> Result<String, String> {
        let bytes = self
            .download(attachment)
            .await
            .map_err(|error| format!("I could not take {}: {error}.", attachments::display_name(&attachment.name)))?;
        attachments::decode(&bytes, attachment).map_err(|refusal| refusal.to_string())
    }
}

/// The row of a file: its text, or a sentence about why there is none.
fn stored(message: &InboundMessage, attachment: &Attachment, read: Result<String, String>) -> FileText {
    FileText {
        id: attachment.id.clone(),
        message: message.id.clone(),
        channel: message.channel.id.clone(),
        name: attachments::display_name(&attachment.name),
        size: attachment.size,
        note: read.as_ref().err().cloned(),
        text: read.ok(),
        by: message.author.name.clone(),
        at: message.sent_at,
    }
}
