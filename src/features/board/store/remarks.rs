//! What people say to all members of a board meeting.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::board::BOARD;
use crate::features::board::model::{Document, meeting_of};
use crate::features::board::store::{event, is_discussing, store_document};
use crate::features::meeting::model::Participant;
use crate::features::meeting::store::{key_of, name_of};
use crate::store::Store;
use kernel::chat::message::{Channel, Place};
use kernel::db::{Applied, Document as Json, Effect, Result, Transaction, Who, plain, sql};
use kernel::events::record;
use kernel::ids::{ChannelId, MeetingId, MessageId, OutboxId, UserId};

/// A person's remark to all members.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::features::board) struct AddRemark {
    pub(in crate::features::board) meeting: MeetingId,
    pub(in crate::features::board) channel: ChannelId,
    pub(in crate::features::board) by: Participant,
    pub(in crate::features::board) text: String,
    /// The message it is in, which is one remark. None for a command.
    pub(in crate::features::board) message: Option<MessageId>,
}

#[async_trait]
impl Effect for AddRemark {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        let added = add_remark(transaction, self, at).await?;
        Ok(if added { Applied::Done } else { Applied::Refused("the board meeting is coming to its end".to_owned()) })
    }
}

/// What a person says to somebody in a thread, as a remark to all members of the board meeting of this thread, if there is one.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::features::board) struct Overhear {
    pub(in crate::features::board) thread: Channel,
    pub(in crate::features::board) by: Participant,
    pub(in crate::features::board) text: String,
    pub(in crate::features::board) message: MessageId,
}

#[async_trait]
impl Effect for Overhear {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        if let Some((meeting, channel)) = find_discussed(transaction, &self.thread).await? {
            let remark = AddRemark { meeting, channel, by: self.by.clone(), text: self.text.clone(), message: Some(self.message.clone()) };
            add_remark(transaction, &remark, at).await?;
        }
        Ok(Applied::Done)
    }
}

/// The open board meeting of a thread, with its channel: the thread hangs on the meeting's message, or the meeting was called in it.
async fn find_discussed(transaction: &mut Transaction, thread: &Channel) -> Result<Option<(MeetingId, ChannelId)>> {
    let Place::Thread { starter, .. } = &thread.place else { return Ok(None) };
    let posted: Vec<(String,)> = match starter {
        Some(starter) => sql!(transaction.on(), fetch_all, "SELECT id FROM outbox WHERE platform_id = $1", starter.as_str())?,
        None => Vec::new(),
    };
    let hanging = posted.into_iter().find_map(|(id,)| meeting_of(&OutboxId::new(id)));
    let row: Option<(String, String)> = match hanging {
        Some(meeting) => sql!(
            transaction.on(),
            fetch_optional,
            "SELECT id, channel FROM meetings WHERE id = $1 AND kind = $2 AND ended_at IS NULL",
            meeting.as_str(),
            BOARD.as_str()
        )?,
        None => sql!(
            transaction.on(),
            fetch_optional,
            "SELECT id, channel FROM meetings WHERE channel = $1 AND kind = $2 AND ended_at IS NULL",
            thread.id.as_str(),
            BOARD.as_str()
        )?,
    };
    Ok(row.map(|(meeting, channel)| (meeting.into(), channel.into())))
}

impl Store {
    /// False if the meeting is ending.
    pub(in crate::features::board) async fn add_remark(&self, remark: &AddRemark, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let added = add_remark(&mut transaction, remark, at).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Whether people have added a remark since the last round began, so that not all members have read it.
    pub(in crate::features::board) async fn has_unread_remark(&self, meeting: &MeetingId) -> Result<bool> {
        let (unread,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM board_comments WHERE meeting = $1 AND kind = 'remark' AND created_at >= (
                 SELECT MIN(started_at) FROM seats WHERE meeting = $1 AND round = (SELECT MAX(round) FROM seats WHERE meeting = $1)))",
            meeting.as_str()
        )?;
        Ok(unread)
    }

    /// Removes a person's remarks in board meetings.
    pub(in crate::features::board) async fn forget_remarks_of(&self, person: &UserId) -> Result<()> {
        let key = Who::key_of(person);
        let mut transaction = self.db().begin().await?;
        let said: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "DELETE FROM board_comments WHERE who = $1 RETURNING meeting /* reads all: a person is forgotten */",
            key.as_str()
        )?;
        let meetings: BTreeSet<String> = said.into_iter().map(|(meeting,)| meeting).collect();
        for meeting in meetings {
            let row: Option<(Option<String>,)> =
                sql!(transaction.on(), fetch_optional, "SELECT document FROM boards WHERE meeting = $1", meeting.as_str())?;
            let Some((Some(written),)) = row else { continue };
            let mut written: Document = Json::read(written)?;
            written.comments.retain(|comment| key_of(&comment.by) != key);
            store_document(&mut transaction, &MeetingId::new(meeting), &written).await?;
        }
        transaction.commit().await
    }
}

/// A message that two listeners hear is added once. False if the meeting is ending.
async fn add_remark(transaction: &mut Transaction, remark: &AddRemark, at: DateTime<Utc>) -> Result<bool> {
    if !is_discussing(transaction, &remark.meeting, at).await? {
        return Ok(false);
    }
    let (is_known,): (bool,) = sql!(
        transaction.on(),
        fetch_one,
        "SELECT EXISTS (SELECT 1 FROM board_comments WHERE meeting = $1 AND message = $2)",
        remark.meeting.as_str(),
        remark.message.as_ref().map(MessageId::as_str)
    )?;
    if is_known {
        return Ok(true);
    }
    // Wakes a meeting that waits for corrections before its first round.
    let said_by = Who { key: key_of(&remark.by), name: name_of(&remark.by) };
    record(transaction, &event(&remark.meeting, &remark.channel, "remarked", at).by_key(said_by)).await?;
    let numbered: Option<(i64,)> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE boards SET remarks = remarks + 1 WHERE meeting = $1 AND ending IS NULL RETURNING remarks",
        remark.meeting.as_str()
    )?;
    let Some((number,)) = numbered else { return Ok(false) };
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO board_comments (meeting, id, round, position, who, name, side, kind, text, answers, novelty, message, created_at)
         VALUES ($1, $2, (SELECT COALESCE(MAX(round), 0) FROM seats WHERE meeting = $1), $3, $4, $5, NULL, 'remark', $6, NULL, 1, $7, $8)",
        remark.meeting.as_str(),
        format!("p{number}"),
        number,
        key_of(&remark.by),
        name_of(&remark.by),
        plain(&remark.text),
        remark.message.as_ref().map(MessageId::as_str),
        at
    )?;
    Ok(true)
}
