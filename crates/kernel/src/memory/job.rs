//! Makes the vectors of memories that have none of the configured sentence model. One job that sleeps between its rounds, so that it is never run twice
//! at once, whatever number of processes there is.
//!
//! | the process dies | the row that says so | the next start |
//! | --- | --- | --- |
//! | before the vectors of a round are stored | memories without a vector | makes them again; what the endpoint charged stays in the ledger |
//! | after that | the vectors | goes on with the next round |

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::db::{Database, Result};
use crate::jobs::{JobContext, JobError, JobHandler, KindSettings, NewJob, enqueue};
use crate::memory::embedder::Meaning;
use crate::memory::store::record_meaning;

const KIND: &str = "memory_vectors";

/// Texts of one call, and the longest of each. Models read no more than a page.
const ROUND: u32 = 64;
const LONGEST: usize = 2000;

const PATIENCE: Duration = Duration::from_mins(1);

/// How soon a new memory is found by its meaning, and how soon it is tried again while the model does not answer.
const EVERY: Duration = Duration::from_secs(30);
const AFTER_FAILURE: Duration = Duration::from_mins(5);

pub struct VectorsHandler {
    meaning: Arc<Meaning>,
}

impl VectorsHandler {
    /// None without a sentence model.
    pub fn new(database: &Database) -> Option<Self> {
        database.sentence_model().map(|meaning| Self { meaning: meaning.clone() })
    }

    /// Once per database.
    pub async fn enqueue(database: &Database, now: DateTime<Utc>) -> Result<()> {
        let mut transaction = database.db().begin().await?;
        enqueue(&mut transaction, &NewJob::new(KIND, &()).unique(KIND).at(now), now).await?;
        transaction.commit().await
    }
}

#[async_trait]
impl JobHandler for VectorsHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> KindSettings {
        KindSettings { parallel: 1, time_limit: Duration::from_hours(1), max_attempts: u32::MAX, ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        loop {
            job.check()?;
            let missing = job.database().list_without_meaning(self.meaning.name(), ROUND).await?;
            if missing.is_empty() {
                return Err(JobError::Sleep(job.now() + EVERY));
            }
            let texts: Vec<String> = missing.iter().map(|missing| missing.read.chars().take(LONGEST).collect()).collect();
            let vectors = match self.meaning.embed(&texts, PATIENCE).await {
                Ok(vectors) => vectors,
                Err(error) => {
                    tracing::warn!(%error, "memories wait for their vectors");
                    return Err(JobError::Sleep(job.now() + AFTER_FAILURE));
                }
            };
            let mut transaction = job.begin().await?;
            for (missing, vector) in missing.iter().zip(&vectors) {
                record_meaning(&mut transaction, missing, (self.meaning.name(), vector)).await?;
            }
            transaction.commit().await?;
        }
    }
}
