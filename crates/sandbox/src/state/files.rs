//! The bytes of attachments, as files beside the event file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Attachment, Message, World};
use crate::snowflake::Snowflake;

impl World {
    /// The file of an attachment. It is named by id, so that a given file name is never used as a path.
    pub(crate) fn file_path(&self, attachment: Snowflake) -> PathBuf {
        self.files.join(attachment.to_string())
    }

    /// Finds an attachment of a message or command in the channel.
    pub(crate) fn find_attachment(&self, channel: Snowflake, id: Snowflake) -> Option<&Attachment> {
        if let Some(file) = self.interactions.find_file(channel, id) {
            return Some(file);
        }
        self.messages.find_attachment(channel, id)
    }

    /// Removes files that belong to no message: files of commands, and files whose message was never stored.
    pub(super) fn sweep_files(&self) {
        let kept: HashSet<String> = self.messages.iter().flat_map(|message| &message.attachments).map(|file| file.id.to_string()).collect();
        let found = std::fs::read_dir(&self.files).into_iter().flatten().flatten();
        for file in found.filter(|file| !kept.contains(&*file.file_name().to_string_lossy())) {
            if let Err(error) = remove_if_present(&file.path()) {
                tracing::warn!(%error, path = %file.path().display(), "a leftover file could not be removed");
            }
        }
    }

    pub(super) fn forget_files(&self, message: &Message) {
        for attachment in &message.attachments {
            let path = self.file_path(attachment.id);
            if let Err(error) = remove_if_present(&path) {
                tracing::warn!(%error, path = %path.display(), "a deleted message's file could not be removed");
            }
        }
    }
}

fn remove_if_present(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
