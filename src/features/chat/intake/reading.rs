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

impl Conversation {
    /// Fetches and stores the texts of a burst's files. A long paste that the platform turned into a file becomes message text again. An unreadable
    /// file never blocks its message. The returned sentences tell the person about it.
    pub(crate) async fn read_files(&self, burst: &mut [InboundMessage]) -> anyhow::Result<Vec<String>> {
        let mut sentences = Vec::new();
        for message in burst.iter_mut().filter(|message| !message.attachments.is_empty()) {
            let (accepted, refusals) = attachments::select(&message.attachments);
            sentences.extend(refusals.iter().map(ToString::to_string));
            let mut files = Vec::new();
            for attachment in accepted {
                let read = self.read_file(attachment).await;
                if let (Ok(text), true) = (&read, attachments::is_long_paste(attachment)) {
                    [message.text.as_str(), text].join("\n").trim().clone_into(&mut message.text);
                }
                sentences.extend(read.as_ref().err().cloned());
                files.push(FileText {
                    id: attachment.id.clone(),
                    message: message.id.clone(),
                    channel: message.channel.id.clone(),
                    name: attachments::display_name(&attachment.name),
                    size: attachment.size,
                    note: read.as_ref().err().cloned(),
                    text: read.ok(),
                    by: message.author.name.clone(),
                    at: message.sent_at,
                });
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
