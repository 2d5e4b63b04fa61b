//! Predictions, from made to settled.

use chrono::{DateTime, NaiveDate, Utc};

use crate::features::standup::model::prediction::{Prediction, Settled};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Readable, Result, Transaction, document, plain, sql};
use kernel::ids::{ChannelId, PredictionId};

#[derive(sqlx::FromRow)]
struct PredictionColumns {
    #[sqlx(try_from = "String")]
    prediction: Document<Prediction>,
    settled: Option<String>,
}

impl PredictionColumns {
    fn read(self) -> Result<Prediction> {
        Ok(Prediction { settled: self.settled.map(Document::read).transpose()?, ..self.prediction.0 })
    }
}

impl Store {
    /// The last `limit` predictions, newest first.
    pub async fn list_predictions(&self, limit: u32) -> Result<Vec<Prediction>> {
        let rows: Vec<Readable<PredictionColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM predictions ORDER BY made_at DESC, id DESC LIMIT $1", i64::from(limit))?;
        Ok(self.db().read_each("predictions", rows, PredictionColumns::read))
    }

    /// The last call of a channel on a question with an expiry.
    pub async fn find_call(&self, channel: &ChannelId, question: &str, expires_at: DateTime<Utc>) -> Result<Option<Prediction>> {
        let row: Option<PredictionColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM predictions WHERE channel = $1 AND question = $2 AND expires_at = $3 ORDER BY made_at DESC, id DESC LIMIT 1",
            channel.as_str(),
            plain(question),
            expires_at
        )?;
        row.map(PredictionColumns::read).transpose()
    }

    /// The open predictions, the first to expire first.
    pub async fn list_open_predictions(&self) -> Result<Vec<Prediction>> {
        let rows: Vec<Readable<PredictionColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM predictions WHERE settled_at IS NULL ORDER BY expires_at, id")?;
        Ok(self.db().read_each("predictions", rows, PredictionColumns::read))
    }

    /// The expired open predictions, the earliest first.
    pub async fn list_due_predictions(&self, now: DateTime<Utc>) -> Result<Vec<Prediction>> {
        let rows: Vec<Readable<PredictionColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM predictions WHERE settled_at IS NULL AND expires_at <= $1 ORDER BY expires_at, id",
            now
        )?;
        Ok(self.db().read_each("predictions", rows, PredictionColumns::read))
    }

    /// Settles a prediction and stores the posts about it. False, without any write, when it is already settled, was replaced, or has not expired at
    /// `at`.
    pub async fn settle_prediction(
        &self,
        prediction: &PredictionId,
        settled: &Settled,
        outbox: &[OutboundMessage],
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let changed = sql!(
            transaction.on(),
            execute,
            "UPDATE predictions SET settled = $2, settled_at = $3 WHERE id = $1 AND settled_at IS NULL AND expires_at <= $3",
            prediction.as_str(),
            document(settled),
            at
        )?;
        if changed == 0 {
            return Ok(false);
        }
        insert_outbound(&mut transaction, outbox, None, at).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Stores a prediction, which may be settled already. Replaces open ones of the channel on the same question of the same day or until the same
/// expiry, so that each counts once.
pub(super) async fn replace_prediction(
    transaction: &mut Transaction,
    prediction: &Prediction,
    day: NaiveDate,
    now: DateTime<Utc>,
) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "DELETE FROM predictions
         WHERE channel = $1 AND question = $3 AND settled_at IS NULL AND expires_at > $4 AND (day = $2 OR expires_at = $5)",
        prediction.channel.as_str(),
        day.to_string(),
        plain(&prediction.question),
        now,
        prediction.expires_at
    )?;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO predictions (id, channel, day, question, prediction, made_at, expires_at, settled, settled_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING",
        prediction.id.as_str(),
        prediction.channel.as_str(),
        day.to_string(),
        plain(&prediction.question),
        document(prediction),
        prediction.made_at,
        prediction.expires_at,
        prediction.settled.as_ref().map(document),
        prediction.settled.as_ref().map(|settled| settled.at)
    )?;
    Ok(())
}
