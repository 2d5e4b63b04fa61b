//! The files of a message: fetched on receipt, since their links expire, and kept as text.

use crate::chat::attachments::{self, MAX_FILE_BYTES};
use crate::conversation::Conversation;
use crate::domain::message::{Attachment, InboundMessage};
use crate::store::FileText;

impl Conversation {
    /// Fetches and stores the texts of a burst's files. A long paste that the platform turned into a file becomes message text again. A file
    /// that cannot be read never stops its message; the sentences that come back say so to the person.
    pub(in crate::conversation) async fn read_files(&self, burst: &mut [InboundMessage]) -> anyhow::Result<Vec<String>> {
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
            self.parts().store.record_files(&files).await?;
        }
        Ok(sentences)
    }

    /// The text of one file, or a sentence about why there is none.
    async fn read_file(&self, attachment: &Attachment) -> Result<String, String> {
        let bytes = self
            .parts()
            .platform
            .download(attachment, MAX_FILE_BYTES)
            .await
            .map_err(|error| format!("I could not take {}: {error}.", attachments::display_name(&attachment.name)))?;
        attachments::decode(&bytes, attachment).map_err(|refusal| refusal.to_string())
    }
}
