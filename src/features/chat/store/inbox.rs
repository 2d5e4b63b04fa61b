//! The inbox: incoming messages. Each is claimed once, however many identities receive it.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Decision;
use crate::features::chat::store::approvals::forget_approvals;
use crate::store::Store;
use kernel::chat::message::{AuthorKind, InboundMessage, Speaker};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::store::forget_annotations;
use kernel::db::{Document, Readable, Result, Transaction, document, sql};
use kernel::ids::{ChannelId, MessageId};
use kernel::memory::store::{delete_said, forget_memories_of, reword_said};
use kernel::people::{Seen, record_seen};

/// The result of claiming a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The message is new. The caller decides on it.
    New,
    /// The message was claimed without its content and is undecided. The content is now stored.
    Completed,
    /// The message is already claimed.
    Known,
}

/// A message of the inbox and its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxRow {
    /// The current content: edited, or without text and files once deleted.
    pub message: InboundMessage,
    pub claimed_at: DateTime<Utc>,
    pub decided_at: Option<DateTime<Utc>>,
    pub decision: Option<Decision>,
    /// The first message of its burst, whose turns answer this one. Its own id for a single message.
    pub burst: Option<MessageId>,
    pub edited_at: Option<DateTime<Utc>>,
    pub deleted_at: Option<DateTime<Utc>>,
}

#[derive(sqlx::FromRow)]
pub(crate) struct InboxColumns {
    #[sqlx(try_from = "String")]
    pub(super) message: Document<InboundMessage>,
    claimed_at: DateTime<Utc>,
    decided_at: Option<DateTime<Utc>>,
    decision: Option<String>,
    pub(super) burst: Option<String>,
    pub(super) edited_at: Option<DateTime<Utc>>,
    pub(super) deleted_at: Option<DateTime<Utc>>,
}

#[derive(sqlx::FromRow)]
struct ClaimColumns {
    completed_at: Option<DateTime<Utc>>,
    decided_at: Option<DateTime<Utc>>,
}

impl InboxColumns {
    pub(crate) fn read(self) -> Result<InboxRow> {
        Ok(InboxRow {
            message: self.message.0,
            claimed_at: self.claimed_at,
            decided_at: self.decided_at,
            decision: self.decision.map(Document::read).transpose()?,
            burst: self.burst.map(MessageId::new),
            edited_at: self.edited_at,
            deleted_at: self.deleted_at,
        })
    }
}

impl Store {
    /// Claims a message, so that it is handled once. An identity that sees no content claims it too. Another identity then supplies the content, as
    /// [`Claim::Completed`] if the message is undecided. After the decision the content is stored too. The author becomes known to the team.
    pub async fn claim(&self, message: &InboundMessage, now: DateTime<Utc>) -> Result<Claim> {
        let mut transaction = self.db().begin().await?;
        let claimed: Option<ClaimColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "INSERT INTO inbox (id, channel, message, complete, speaker, sent_at, claimed_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (id) DO UPDATE SET message = excluded.message, complete = excluded.complete, speaker = excluded.speaker,
                 completed_at = excluded.claimed_at
             WHERE excluded.complete AND NOT inbox.complete AND inbox.deleted_at IS NULL
             RETURNING completed_at, decided_at",
            message.id.as_str(),
            message.channel.id.as_str(),
            document(message),
            message.complete,
            speaker(message).as_ref().map(document),
            message.sent_at,
            now
        )?;
        if claimed.is_some() {
            record_seen(&mut transaction, &Seen { author: &message.author, channel: &message.channel, at: now }).await?;
        }
        transaction.commit().await?;
        Ok(match claimed {
            Some(ClaimColumns { completed_at: None, .. }) => Claim::New,
            Some(ClaimColumns { decided_at: None, .. }) => Claim::Completed,
            Some(_) | None => Claim::Known,
        })
    }

    /// A message and its decision.
    pub async fn find_message(&self, message: &MessageId) -> Result<Option<InboxRow>> {
        let row: Option<InboxColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM inbox WHERE id = $1", message.as_str())?;
        row.map(InboxColumns::read).transpose()
    }

    /// The messages of the burst that the turns of `message` answer, including itself, oldest first. Empty before the decision.
    pub async fn list_burst(&self, message: &MessageId) -> Result<Vec<InboxRow>> {
        let rows: Vec<InboxColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM inbox WHERE burst = $1 ORDER BY sent_at, id", message.as_str())?;
        rows.into_iter().map(InboxColumns::read).collect()
    }

    /// Messages with content that were undecided when the process ended, oldest first. In one channel or in all.
    pub async fn list_undecided(&self, channel: Option<&ChannelId>) -> Result<Vec<InboxRow>> {
        let rows: Vec<Readable<InboxColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM inbox WHERE decided_at IS NULL AND deleted_at IS NULL AND complete AND ($1 = '' OR channel = $1) ORDER BY sent_at, id",
            channel.map_or("", ChannelId::as_str)
        )?;
        Ok(self.db().read_each("inbox", rows, InboxColumns::read))
    }

    /// Stores the text of a message with what was heard in its recordings. Does nothing after an edit, a deletion or a decision since then.
    pub async fn record_heard(&self, message: &InboundMessage) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let heard = sql!(
            transaction.on(),
            execute,
            "UPDATE inbox SET message = $2, speaker = $3 WHERE id = $1 AND deleted_at IS NULL AND edited_at IS NULL AND decided_at IS NULL",
            message.id.as_str(),
            document(message),
            speaker(message).as_ref().map(document)
        )?;
        if heard > 0 {
            reword_said(&mut transaction, &message.id, &message.text).await?;
        }
        transaction.commit().await
    }

    /// Removes deleted messages from the transcript. For a person's message, removes the text, the files and everything made of them: questions to
    /// colleagues, requests to allow a call, and memories. Marks a post of the team as deleted and removes the reply of its turn.
    pub async fn record_deletion(&self, messages: &[MessageId], at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        for message in messages {
            delete_said(&mut transaction, message).await?;
            forget_annotations(&mut transaction, message).await?;
            if let Some(row) = find_in(&mut transaction, message).await? {
                blank(&mut transaction, row, at).await?;
                sql!(transaction.on(), execute, "DELETE FROM files WHERE message = $1", message.as_str())?;
                forget_approvals(&mut transaction, message).await?;
                forget_memories_of(&mut transaction, message, at).await?;
            } else {
                forget_reply(&mut transaction, message).await?;
                sql!(
                    transaction.on(),
                    execute,
                    "UPDATE outbox SET deleted_at = $2 WHERE platform_id = $1 AND deleted_at IS NULL",
                    message.as_str(),
                    at
                )?;
            }
        }
        transaction.commit().await
    }
}

/// Removes the text of a message, the copies of it in the decision and in questions to colleagues, and the message from the transcript.
pub(super) async fn blank(transaction: &mut Transaction, mut row: InboxColumns, at: DateTime<Utc>) -> Result<()> {
    row.message.0.text.clear();
    row.message.0.attachments.clear();
    let decision = row.decision.take().map(Document::<Decision>::read).transpose()?;
    let id = row.message.0.id.as_str();
    sql!(
        transaction.on(),
        execute,
        "UPDATE inbox SET message = $2, speaker = NULL, deleted_at = COALESCE(deleted_at, $3), decision = $4 WHERE id = $1",
        id,
        document(&row.message.0),
        at,
        decision.map(|decision| document(&decision.without_words()))
    )?;
    // It may say what was done for an earlier text.
    sql!(transaction.on(), execute, "UPDATE turns SET error = NULL WHERE message = $1 AND state = 'cancelled'", id)?;
    sql!(transaction.on(), execute, "UPDATE asks SET question = '', answer = NULL WHERE message = $1", id).map(drop)
}

/// Forgets the stored reply of a turn whose post is deleted.
async fn forget_reply(transaction: &mut Transaction, post: &MessageId) -> Result<()> {
    let posted: Option<(String,)> =
        sql!(transaction.on(), fetch_optional, "SELECT message FROM outbox WHERE platform_id = $1", post.as_str())?;
    let posted = posted.map(|(message,)| Document::<OutboundMessage>::read(message)).transpose()?;
    if let Some(turn) = posted.and_then(|posted| posted.turn) {
        sql!(transaction.on(), execute, "UPDATE turns SET reply = NULL WHERE id = $1", turn.as_str())?;
    }
    Ok(())
}

pub(super) async fn find_in(transaction: &mut Transaction, message: &MessageId) -> Result<Option<InboxColumns>> {
    sql!(transaction.on(), fetch_optional, "SELECT * FROM inbox WHERE id = $1", message.as_str())
}

/// The speaker, if the message belongs in a transcript.
pub(super) fn speaker(message: &InboundMessage) -> Option<Speaker> {
    if message.is_empty() {
        return None;
    }
    let author = &message.author;
    match &author.kind {
        AuthorKind::Person => Some(Speaker::Person { id: author.id.clone(), name: author.name.clone() }),
        AuthorKind::Persona(slug) => Some(Speaker::Persona(slug.clone())),
        AuthorKind::ForeignBot => Some(Speaker::ForeignBot { id: author.id.clone(), name: author.name.clone() }),
        AuthorKind::System => None,
    }
}
