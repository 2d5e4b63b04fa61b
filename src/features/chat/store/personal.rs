//! Removes the messages of a person who wants this (SEC-4).

use chrono::{DateTime, Utc};

use crate::features::chat::store::inbox::InboxColumns;
use crate::features::chat::store::turn_ends::CancelScope;
use crate::features::chat::store::withholding::{Said, withhold_posts};
use crate::store::Store;
use kernel::chat::store::forget_reactions_of;
use kernel::db::{Document, Result, sql};
use kernel::ids::{ChannelId, MessageId, UserId};
use kernel::people::Erasure;

/// The number of messages that are removed at once, so that a running team waits only briefly.
const BATCH: i64 = 100;

impl Store {
    /// Removes the texts of a person's messages, the team's answers to them, and all posts in private conversations with this person. The rows stay
    /// without their text, so that no message is answered twice.
    pub async fn forget_messages_of(&self, erasure: &Erasure) -> Result<()> {
        let mut after = String::new();
        loop {
            let (page, last) = self.list_messages_of(&erasure.person, &after).await?;
            self.record_deletion(&page, erasure.at).await?;
            for message in &page {
                self.cancel_turns(CancelScope::Message(message), "its author is forgotten", erasure.at).await?;
                self.forget_answers_to(message, erasure.at).await?;
            }
            match last {
                Some(last) => after = last,
                None => break,
            }
        }
        for channel in &erasure.private {
            self.forget_posts_in(channel, erasure.at).await?;
        }
        let mut transaction = self.db().begin().await?;
        forget_reactions_of(&mut transaction, &erasure.person).await?;
        transaction.commit().await
    }

    /// The next messages of a person, and the position to continue at.
    async fn list_messages_of(&self, person: &UserId, after: &str) -> Result<(Vec<MessageId>, Option<String>)> {
        let rows: Vec<InboxColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM inbox WHERE id > $1 AND message LIKE $2 ORDER BY id LIMIT $3",
            after,
            format!("%{person}%"),
            BATCH
        )?;
        let last = rows.last().map(|row| row.message.0.id.to_string());
        let own = rows.into_iter().map(|row| row.message.0).filter(|message| message.author.id == *person);
        Ok((own.map(|message| message.id).collect(), last))
    }

    async fn forget_answers_to(&self, message: &MessageId, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let posts: Vec<(i64, String)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT position, message FROM outbox WHERE cause = $1 AND sent_at IS NOT NULL",
            message.as_str()
        )?;
        withhold_posts(&mut transaction, &read(posts)?, at).await?;
        sql!(
            transaction.on(),
            execute,
            "DELETE FROM job_steps WHERE job IN (SELECT job FROM turns WHERE message = $1 AND finished_at IS NOT NULL)",
            message.as_str()
        )?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE turns SET reply = NULL, follow_up = NULL WHERE message = $1 AND finished_at IS NOT NULL",
            message.as_str()
        )?;
        transaction.commit().await
    }

    async fn forget_posts_in(&self, channel: &ChannelId, at: DateTime<Utc>) -> Result<()> {
        let mut after = 0;
        loop {
            let mut transaction = self.db().begin().await?;
            let posts: Vec<(i64, String)> = sql!(
                transaction.on(),
                fetch_all,
                "SELECT position, message FROM outbox WHERE channel = $1 AND sent_at IS NOT NULL AND position > $2 ORDER BY position LIMIT $3",
                channel.as_str(),
                after,
                BATCH
            )?;
            let Some((last, _)) = posts.last() else { return Ok(()) };
            after = *last;
            withhold_posts(&mut transaction, &read(posts)?, at).await?;
            transaction.commit().await?;
        }
    }
}

fn read(posts: Vec<(i64, String)>) -> Result<Vec<Said>> {
    posts.into_iter().map(|(position, message)| Ok(Said { position, message: Document::read(message)? })).collect()
}
