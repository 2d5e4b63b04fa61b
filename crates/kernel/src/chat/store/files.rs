//! The text of attachments, kept for later turns.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::agent::files::KnownFile;
use crate::chat::message::Speaker;
use crate::db::{Database, Document, Result, count, plain, sql};
use crate::ids::{ChannelId, MessageId, UserId};
use crate::jobs::RetentionRule;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The platform's id of the attachment.
    pub id: String,
    pub message: MessageId,
    pub channel: ChannelId,
    /// For display only, never a path.
    pub name: String,
    pub size: u64,
    /// None if it could not be read. `note` says why.
    pub text: Option<String>,
    /// Notes for the reader: cut off, not downloaded, not text.
    pub note: Option<String>,
    /// Display name of the sender.
    pub by: String,
    pub at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct FileColumns {
    id: String,
    message: String,
    channel: String,
    name: String,
    #[sqlx(try_from = "i64")]
    size: u64,
    text: Option<String>,
    note: Option<String>,
    posted_by: String,
    at: DateTime<Utc>,
}

impl From<FileColumns> for FileText {
    fn from(row: FileColumns) -> Self {
        Self {
            id: row.id,
            message: row.message.into(),
            channel: row.channel.into(),
            name: row.name,
            size: row.size,
            text: row.text,
            note: row.note,
            by: row.posted_by,
            at: row.at,
        }
    }
}

/// A file without its text, with who posted it.
#[derive(sqlx::FromRow)]
struct KnownColumns {
    id: String,
    message: String,
    name: String,
    note: Option<String>,
    posted_by: String,
    at: DateTime<Utc>,
    is_readable: bool,
    has_picture: bool,
    speaker: Option<String>,
}

impl KnownColumns {
    fn read(self, asker: Option<&UserId>) -> Result<KnownFile> {
        let speaker: Option<Speaker> = self.speaker.map(Document::read).transpose()?;
        let by_asker = matches!(&speaker, Some(Speaker::Person { id, .. }) if Some(id) == asker);
        Ok(KnownFile {
            id: self.id,
            message: self.message.into(),
            name: self.name,
            by: self.posted_by,
            by_asker,
            at: self.at,
            is_readable: self.is_readable,
            has_picture: self.has_picture,
            note: self.note,
        })
    }
}

/// How long the bytes of pictures are kept. Their names stay as long as those of other files.
const PICTURES_KEPT: Duration = Duration::from_hours(72);

/// Deletes the bytes of old pictures.
pub fn picture_retention() -> RetentionRule {
    RetentionRule::new("pictures", &[], PICTURES_KEPT, |database, before, limit| {
        Box::pin(async move {
            sql!(
                database.db().write()?,
                execute,
                "UPDATE files SET picture = NULL
                 WHERE id IN (SELECT id FROM files WHERE picture IS NOT NULL AND at < $1 ORDER BY at LIMIT $2)",
                before,
                i64::from(limit)
            )
        })
    })
}

impl Database {
    /// Stores files, replacing earlier versions. Skips files of messages that were deleted in the meantime.
    pub async fn record_files(&self, files: &[FileText]) -> Result<()> {
        self.record_files_with(files, &[]).await
    }

    /// As [`Self::record_files`]. `pictures`: the bytes of the pictures among the files, by their ids.
    pub async fn record_files_with(&self, files: &[FileText], pictures: &[(String, Vec<u8>)]) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        for file in files {
            // Holds the message's row until the end, so that it cannot be deleted meanwhile.
            let deleted: Option<(bool,)> = sql!(
                transaction.on(),
                fetch_optional,
                "UPDATE inbox SET deleted_at = deleted_at WHERE id = $1 RETURNING deleted_at IS NOT NULL",
                file.message.as_str()
            )?;
            if deleted == Some((true,)) {
                continue;
            }
            sql!(
                transaction.on(),
                execute,
                "INSERT INTO files (id, message, channel, name, size, text, note, at, posted_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, size = excluded.size, text = excluded.text, note = excluded.note",
                file.id.as_str(),
                file.message.as_str(),
                file.channel.as_str(),
                plain(&file.name),
                count(file.size),
                file.text.as_deref().map(plain),
                file.note.as_deref().map(plain),
                file.at,
                plain(&file.by)
            )?;
            if let Some((_, bytes)) = pictures.iter().find(|(id, _)| *id == file.id) {
                sql!(transaction.on(), execute, "UPDATE files SET picture = $2 WHERE id = $1", file.id.as_str(), bytes.as_slice())?;
            }
        }
        transaction.commit().await
    }

    /// The last files of a channel, newest first. `asker`: the person whose files are marked as their own.
    pub async fn list_channel_files(&self, channel: &ChannelId, asker: Option<&UserId>, limit: u32) -> Result<Vec<KnownFile>> {
        let rows: Vec<KnownColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT files.id, files.message, files.name, files.note, files.posted_by, files.at, files.text IS NOT NULL AS is_readable,
                 files.picture IS NOT NULL AS has_picture, inbox.speaker
             FROM files LEFT JOIN inbox ON inbox.id = files.message
             WHERE files.channel = $1 ORDER BY files.at DESC, files.id DESC LIMIT $2",
            channel.as_str(),
            i64::from(limit)
        )?;
        rows.into_iter().map(|row| row.read(asker)).collect()
    }

    /// The last files of a message's channel, newest first.
    pub async fn list_files_beside(&self, message: &MessageId, limit: u32) -> Result<Vec<KnownFile>> {
        let channel: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT channel FROM inbox WHERE id = $1", message.as_str())?;
        match channel {
            Some((channel,)) => self.list_channel_files(&ChannelId::new(channel), None, limit).await,
            None => Ok(Vec::new()),
        }
    }

    /// The files of a message, in the order of their ids. `asker`: the person whose files are marked as their own.
    pub async fn list_message_files(&self, message: &MessageId, asker: Option<&UserId>) -> Result<Vec<KnownFile>> {
        let rows: Vec<KnownColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT files.id, files.message, files.name, files.note, files.posted_by, files.at, files.text IS NOT NULL AS is_readable,
                 files.picture IS NOT NULL AS has_picture, inbox.speaker
             FROM files LEFT JOIN inbox ON inbox.id = files.message
             WHERE files.message = $1 ORDER BY files.id",
            message.as_str()
        )?;
        rows.into_iter().map(|row| row.read(asker)).collect()
    }

    /// The bytes of a picture, as long as they are kept.
    pub async fn find_picture(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let row: Option<(Option<Vec<u8>>,)> = sql!(self.db().read(), fetch_optional, "SELECT picture FROM files WHERE id = $1", file)?;
        Ok(row.and_then(|(picture,)| picture))
    }

    /// The file with this id of the platform.
    pub async fn find_file(&self, id: &str) -> Result<Option<FileText>> {
        let row: Option<FileColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT id, message, channel, name, size, text, note, posted_by, at FROM files WHERE id = $1",
            id
        )?;
        Ok(row.map(FileText::from))
    }
}
