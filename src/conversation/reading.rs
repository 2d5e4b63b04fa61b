//! The files of a message: fetched on receipt, since their links expire, and kept as text.

use super::Conversation;
use crate::chat::attachments;
use crate::domain::message::{Attachment, InboundMessage};
use crate::store::FileText;

/// What came of a burst's files.
#[derive(Debug, Default)]
pub(super) struct FilesRead {
    /// A sentence for the person about what could not be taken; empty when all could.
    pub(super) refused: Vec<String>,
}

impl Conversation {
    /// Fetches and stores the texts of a burst's files. A long paste that the platform turned into `message.txt` becomes message text again.
    /// A file that cannot be read never stops its message.
    pub(super) async fn read_files(&self, burst: &mut [InboundMessage]) -> anyhow::Result<FilesRead> {
        let mut read = FilesRead::default();
        let mut tally = Tally::default();
        for message in burst.iter_mut().filter(|message| !message.attachments.is_empty()) {
            let mut kept = Vec::new();
            for attachment in &message.attachments {
                let name = attachments::display_name(&attachment.name);
                match self.read_file(attachment, &mut tally).await {
                    Ok(text) if attachments::is_pasted_message(&attachment.name) => {
                        if !message.text.is_empty() {
                            message.text.push('\n');
                        }
                        message.text.push_str(&text);
                    }
                    Ok(text) => kept.push(FileText::read(attachment, name, text)),
                    Err(why) => {
                        read.refused.push(format!("I could not take `{name}`: {why}."));
                        kept.push(FileText::refused(attachment, name, why));
                    }
                }
            }
            if !kept.is_empty() {
                self.parts().store.record_files(&message.id, &message.channel.id, &kept, self.parts().clock.now()).await?;
            }
        }
        Ok(read)
    }

    async fn read_file(&self, attachment: &Attachment, tally: &mut Tally) -> Result<String, String> {
        tally.accept(attachment).map_err(|refusal| refusal.to_string())?;
        let bytes = self.parts().platform.download(attachment, attachments::FILE_LIMIT).await.map_err(|error| error.to_string())?;
        attachments::decode(&bytes).map_err(|refusal| refusal.to_string())
    }
}
