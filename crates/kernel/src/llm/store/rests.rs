//! Models that their providers allow again at a time. All processes of the team keep to it, also after a restart.

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::llm::settings::ModelRef;

/// The beginning of the key of such a notice, whose time is when the model may be asked again.
const PREFIX: &str = "model-used-up:";

impl Database {
    pub async fn rest_model(&self, model: &ModelRef, until: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO notices (key, at) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET at = excluded.at",
            key_of(model),
            until
        )
        .map(drop)
    }

    /// The model has answered all the same.
    pub async fn wake_model(&self, model: &ModelRef) -> Result<()> {
        sql!(self.db().write()?, execute, "DELETE FROM notices WHERE key = $1", key_of(model)).map(drop)
    }

    /// The models that may not be asked at `now`, and until when.
    pub async fn list_resting_models(&self, now: DateTime<Utc>) -> Result<Vec<(ModelRef, DateTime<Utc>)>> {
        let rows: Vec<(String, DateTime<Utc>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT key, at FROM notices WHERE key LIKE $1 AND at > $2 ORDER BY key",
            format!("{PREFIX}%"),
            now
        )?;
        let parse = |(key, until): (String, DateTime<Utc>)| {
            let (provider, model) = key.strip_prefix(PREFIX)?.split_once('/')?;
            Some((ModelRef { provider: provider.to_owned(), model: model.to_owned() }, until))
        };
        Ok(rows.into_iter().filter_map(parse).collect())
    }
}

fn key_of(model: &ModelRef) -> String {
    format!("{PREFIX}{}/{}", model.provider, model.model)
}
