//! What belongs to a message besides its text: reactions of people, and titles of its links.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, Transaction, Word, plain, sql};
use crate::ids::{ChannelId, MessageId, UserId};
use crate::jobs::RetentionRule;
use serde::{Deserialize, Serialize};

/// The most characters of an emoji's name, a person's name and a title.
const TEXT: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationKind {
    Reaction,
    Link,
}

impl AnnotationKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Reaction => "reaction",
            Self::Link => "link",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    pub message: MessageId,
    pub kind: AnnotationKind,
    /// The address of a link.
    pub key: String,
    /// Who reacted. Empty for a link.
    pub by: String,
    /// The emoji or the title.
    pub text: String,
}

/// A person's reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub message: MessageId,
    pub channel: ChannelId,
    pub person: UserId,
    /// Empty if the platform does not tell it.
    pub name: String,
    pub emoji: String,
}

#[derive(sqlx::FromRow)]
struct AnnotationColumns {
    message: String,
    #[sqlx(try_from = "String")]
    kind: Word<AnnotationKind>,
    key: String,
    by: String,
    text: String,
}

fn key_of(person: &UserId, emoji: &str) -> String {
    format!("{person} {emoji}")
}

fn short(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

/// Deletes annotations with the messages.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("annotations", &["annotations"], kept, |database, before, limit| {
        Box::pin(async move {
            sql!(
                database.db().write()?,
                execute,
                "DELETE FROM annotations WHERE at < $1 AND (message, kind, key) IN
                     (SELECT message, kind, key FROM annotations WHERE at < $1 ORDER BY at LIMIT $2)",
                before,
                i64::from(limit)
            )
        })
    })
}

/// Removes all reactions of a person.
pub async fn forget_reactions_of(transaction: &mut Transaction, person: &UserId) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "DELETE FROM annotations WHERE kind = 'reaction' AND key LIKE $1 /* reads all: a person is forgotten */",
        key_of(person, "%")
    )
    .map(drop)
}

impl Database {
    /// Stores a reaction to a message that is known and not deleted.
    pub async fn record_reaction(&self, reaction: &Reaction, at: DateTime<Utc>) -> Result<()> {
        let Reaction { message, channel, person, name, emoji } = reaction;
        let name = if name.is_empty() { self.find_name(person).await?.unwrap_or_default() } else { name.clone() };
        self.record_annotation((message, channel), AnnotationKind::Reaction, (&key_of(person, emoji), &name, emoji), at).await
    }

    /// Removes reactions: of one person with one emoji, all with one emoji, or all.
    pub async fn remove_reactions(&self, message: &MessageId, person: Option<&UserId>, emoji: Option<&str>) -> Result<()> {
        let emoji = emoji.map(short);
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM annotations WHERE message = $1 AND kind = 'reaction' AND ($2 = '' OR key = $2) AND ($3 = '' OR text = $3)",
            message.as_str(),
            person.zip(emoji.as_deref()).map(|(person, emoji)| key_of(person, emoji)).unwrap_or_default(),
            emoji.as_deref().unwrap_or_default()
        )?;
        Ok(())
    }

    /// Stores the title of a link in a message that is known and not deleted.
    pub async fn record_link(&self, message: &MessageId, channel: &ChannelId, url: &str, title: &str, at: DateTime<Utc>) -> Result<()> {
        self.record_annotation((message, channel), AnnotationKind::Link, (url, "", title), at).await
    }

    async fn record_annotation(
        &self,
        (message, channel): (&MessageId, &ChannelId),
        kind: AnnotationKind,
        (key, by, text): (&str, &str, &str),
        at: DateTime<Utc>,
    ) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO annotations (message, channel, kind, key, by, text, at)
             SELECT $1, $2, $3, $4, $5, $6, $7
             WHERE EXISTS (SELECT 1 FROM inbox WHERE id = $1 AND deleted_at IS NULL)
                OR EXISTS (SELECT 1 FROM outbox WHERE platform_id = $1 AND deleted_at IS NULL)
             ON CONFLICT (message, kind, key) DO UPDATE SET text = excluded.text",
            message.as_str(),
            channel.as_str(),
            kind.as_str(),
            key,
            plain(&short(by)),
            plain(&short(text)),
            at
        )?;
        Ok(())
    }

    /// The last annotations in a channel, oldest first.
    pub async fn list_annotations(&self, channel: &ChannelId, limit: u32) -> Result<Vec<Annotation>> {
        let rows: Vec<AnnotationColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT message, kind, key, by, text FROM annotations WHERE channel = $1 ORDER BY at DESC LIMIT $2",
            channel.as_str(),
            i64::from(limit)
        )?;
        let read =
            |row: AnnotationColumns| Annotation { message: row.message.into(), kind: row.kind.0, key: row.key, by: row.by, text: row.text };
        Ok(rows.into_iter().rev().map(read).collect())
    }
}

/// Forgets what belonged to a deleted message.
pub async fn forget_annotations(transaction: &mut Transaction, message: &MessageId) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM annotations WHERE message = $1", message.as_str())?;
    Ok(())
}
