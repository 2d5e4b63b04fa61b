//! The rows of board meetings, and their comments.

mod remarks;

pub(super) use remarks::{AddRemark, Overhear};

use chrono::{DateTime, Utc};

use crate::features::board::model::comment::split_ids;
use crate::features::board::model::{BoardRecord, Comment, CommentKind, Document, Ending};
use crate::features::meeting::model::Meeting;
use crate::features::meeting::store::{Called, MEETINGS, ask_wrap, insert_meeting, key_of, name_of, read_participant};
use crate::store::Store;
use kernel::db::{Document as Json, Result, Transaction, document, plain, sql};
use kernel::events::{Event, record};
use kernel::ids::{ChannelId, MeetingId};
use kernel::jobs::{JobContext, JobError};

#[derive(sqlx::FromRow)]
struct BoardColumns {
    meeting: String,
    #[sqlx(try_from = "String")]
    documents: Json<Vec<(String, String)>>,
    #[sqlx(try_from = "i64")]
    extra_rounds: u32,
    #[sqlx(try_from = "i64")]
    remarks: u32,
    stopped_by: Option<String>,
    ending: Option<String>,
    document: Option<String>,
    created_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct CommentColumns {
    id: String,
    #[sqlx(try_from = "i64")]
    round: u32,
    #[sqlx(try_from = "i64")]
    position: u32,
    who: String,
    name: Option<String>,
    side: Option<String>,
    text: String,
    answers: Option<String>,
    novelty: f64,
}

impl CommentColumns {
    fn read(self, kind: CommentKind) -> Comment {
        Comment {
            id: self.id,
            round: self.round,
            position: self.position,
            by: read_participant(self.who, self.name),
            side: self.side,
            kind,
            text: self.text,
            answers: self.answers.as_deref().map(split_ids).unwrap_or_default(),
            novelty: self.novelty,
        }
    }
}

impl Store {
    /// Calls a board meeting, unless one is open in the channel.
    pub(super) async fn call_board(&self, meeting: &Meeting, documents: &[(String, String)]) -> Result<Called> {
        let mut transaction = self.db().begin().await?;
        let called = insert_board(&mut transaction, meeting, documents).await?;
        transaction.commit().await?;
        Ok(called)
    }

    pub(super) async fn find_board(&self, meeting: &MeetingId) -> Result<Option<BoardRecord>> {
        let row: Option<BoardColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT meeting, documents, extra_rounds, remarks, stopped_by, ending, document, created_at FROM boards WHERE meeting = $1",
            meeting.as_str()
        )?;
        let Some(row) = row else { return Ok(None) };
        let written: Option<Document> = row.document.map(Json::read).transpose()?;
        Ok(Some(BoardRecord {
            meeting: row.meeting.into(),
            documents: row.documents.0,
            extra_rounds: row.extra_rounds,
            remarks: row.remarks,
            stopped_by: row.stopped_by,
            ending: row.ending.map(Json::read).transpose()?,
            document: written,
            created_at: row.created_at,
        }))
    }

    /// The remarks of people, in order.
    pub(super) async fn list_remarks(&self, meeting: &MeetingId) -> Result<Vec<Comment>> {
        let rows: Vec<CommentColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, round, position, who, name, side, text, answers, novelty FROM board_comments
             WHERE meeting = $1 AND kind = 'remark' ORDER BY position",
            meeting.as_str()
        )?;
        Ok(rows.into_iter().map(|row| row.read(CommentKind::Remark)).collect())
    }

    /// Adds rounds to the planned ones, up to `most` added rounds in all. Returns the number of added rounds. None if `most` is reached, or the
    /// meeting is ending.
    pub(super) async fn extend_board(
        &self,
        meeting: &Meeting,
        (rounds, most): (u32, u32),
        by: &str,
        at: DateTime<Utc>,
    ) -> Result<Option<u32>> {
        let mut transaction = self.db().begin().await?;
        if !is_discussing(&mut transaction, &meeting.id, at).await? {
            return Ok(None);
        }
        let extended: Option<(i64,)> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE boards SET extra_rounds = CASE WHEN extra_rounds + $2 > $3 THEN $3 ELSE extra_rounds + $2 END
             WHERE meeting = $1 AND ending IS NULL AND extra_rounds < $3 RETURNING extra_rounds",
            meeting.id.as_str(),
            i64::from(rounds),
            i64::from(most)
        )?;
        let Some((extra,)) = extended else { return Ok(None) };
        record(&mut transaction, &event(&meeting.id, &meeting.channel.id, "extended", at).by_name(by).with("rounds", rounds)).await?;
        transaction.commit().await?;
        Ok(u32::try_from(extra).ok())
    }

    /// Ends the discussion, so that the document follows. False if it is ending already.
    pub(super) async fn stop_board(&self, meeting: &MeetingId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        if !ask_wrap(&mut transaction, meeting, at).await? {
            return Ok(false);
        }
        sql!(transaction.on(), execute, "UPDATE boards SET stopped_by = $2 WHERE meeting = $1", meeting.as_str(), plain(by))?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Whether nobody has had a turn yet.
    pub(super) async fn is_before_first_turn(&self, meeting: &MeetingId) -> Result<bool> {
        let (begun,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM seats WHERE meeting = $1 AND (started_at IS NOT NULL OR ended_at IS NOT NULL))",
            meeting.as_str()
        )?;
        Ok(!begun)
    }
}

/// Inserts the meeting with its row, inside a transaction.
pub(super) async fn insert_board(transaction: &mut Transaction, meeting: &Meeting, documents: &[(String, String)]) -> Result<Called> {
    let called = insert_meeting(transaction, meeting).await?;
    if called == Called::Opened {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO boards (meeting, documents, created_at) VALUES ($1, $2, $3)",
            meeting.id.as_str(),
            document(&documents),
            meeting.called_at
        )?;
    }
    Ok(called)
}

/// Locks a meeting that is not ending. False if it is.
async fn is_discussing(transaction: &mut Transaction, meeting: &MeetingId, at: DateTime<Utc>) -> Result<bool> {
    let held = sql!(
        transaction.on(),
        execute,
        "UPDATE meetings SET updated_at = $2 WHERE id = $1 AND state IN ('called', 'running') AND NOT wrap",
        meeting.as_str(),
        at
    )?;
    Ok(held > 0)
}

/// Writes the comments of a discussion. Existing ones stay.
pub(super) async fn record_comments(
    job: &JobContext,
    meeting: &MeetingId,
    comments: &[Comment],
    at: DateTime<Utc>,
) -> Result<(), JobError> {
    let mut transaction = job.begin().await?;
    for comment in comments.iter().filter(|comment| comment.kind != CommentKind::Remark) {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO board_comments (meeting, id, round, position, who, name, side, kind, text, answers, novelty, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (meeting, id) DO NOTHING",
            meeting.as_str(),
            comment.id.as_str(),
            i64::from(comment.round),
            i64::from(comment.position),
            key_of(&comment.by),
            name_of(&comment.by),
            comment.side.as_deref().map(plain),
            comment.kind.as_str(),
            plain(&comment.text),
            (!comment.answers.is_empty()).then(|| comment.answers.join(", ")),
            comment.novelty,
            at
        )?;
    }
    Ok(transaction.commit().await?)
}

/// Decides that a meeting ends by itself. False if people have added a round or said something since the record was read.
pub(super) async fn end_by_itself(job: &JobContext, read: &BoardRecord, ending: &Ending) -> Result<bool, JobError> {
    let mut transaction = job.begin().await?;
    let decided = sql!(
        transaction.on(),
        execute,
        "UPDATE boards SET ending = COALESCE(ending, $2) WHERE meeting = $1 AND extra_rounds = $3 AND remarks = $4",
        read.meeting.as_str(),
        document(ending),
        i64::from(read.extra_rounds),
        i64::from(read.remarks)
    )?;
    transaction.commit().await?;
    Ok(decided > 0)
}

/// Decides why a meeting ends, once. Returns the reason that was decided first.
pub(super) async fn decide_ending(job: &JobContext, meeting: &MeetingId, ending: &Ending) -> Result<Ending, JobError> {
    let mut transaction = job.begin().await?;
    let (decided,): (String,) = sql!(
        transaction.on(),
        fetch_one,
        "UPDATE boards SET ending = COALESCE(ending, $2) WHERE meeting = $1 RETURNING ending",
        meeting.as_str(),
        document(ending)
    )?;
    let decided = Json::read(decided)?;
    transaction.commit().await?;
    Ok(decided)
}

/// Stores the document. Removes the documents that were handed in, which are not needed any more.
pub(super) async fn store_document(transaction: &mut Transaction, meeting: &MeetingId, written: &Document) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE boards SET document = $2, documents = '[]' WHERE meeting = $1",
        meeting.as_str(),
        document(written)
    )?;
    Ok(())
}

fn event(meeting: &MeetingId, channel: &ChannelId, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(MEETINGS, meeting.as_str(), kind, at).seen_in(channel)
}
