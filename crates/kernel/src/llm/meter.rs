use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::mpsc;

use crate::db::Database;
use crate::llm::budget::Budgets;
use crate::llm::settings::ModelRef;
use crate::llm::store::{NOTICE_AT, ReserveError};
use crate::llm::{Meter, ModelError};
use crate::money::{Allowance, Refused, Reservation, Settlement};
use crate::time::SharedClock;

/// The most warnings that wait to be delivered.
const WARNINGS: usize = 8;

/// Records model calls in the store's ledger and enforces budgets (COST-1, COST-2).
pub struct LedgerMeter {
    store: Database,
    budgets: Budgets,
    clock: SharedClock,
    /// Receives a warning once a day when the budget runs low, and when a limit is used up.
    low: mpsc::Sender<String>,
}

impl LedgerMeter {
    /// Creates a meter and the receiver of its budget warnings.
    pub fn new(store: Database, budgets: Budgets, clock: SharedClock) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (low, warnings) = mpsc::channel(WARNINGS);
        (Arc::new(Self { store, budgets, clock, low }), warnings)
    }

    async fn warn(&self, share: f64) {
        let today = self.clock.now().date_naive();
        let key = format!("budget:{today}");
        if matches!(self.store.claim_notice(&key, self.clock.now(), Duration::from_hours(24)).await, Ok(true)) {
            let sentence = format!("{:.0} % of today's budget is used. See `/costs` for details.", share * 100.0);
            self.tell(sentence);
        }
    }

    /// A limit of the day stops calls. Items ask about theirs with a button.
    async fn warn_used_up(&self, refused: &Refused) {
        if !refused.limit.ends_with_the_day() {
            return;
        }
        if matches!(self.store.note_used_up(&refused.limit, self.clock.now()).await, Ok(true)) {
            self.tell(format!("The limit is reached: {refused}. `/costs raise` with an amount raises it."));
        }
    }

    fn tell(&self, sentence: String) {
        // A full queue already has more warnings than anybody reads.
        let _ = self.low.try_send(sentence);
    }
}

#[async_trait]
impl Meter for LedgerMeter {
    async fn reserve(&self, reservation: &Reservation) -> Result<(), ModelError> {
        match self.store.reserve(reservation, &self.budgets).await {
            Ok(reserved) => {
                if reserved.day_share >= NOTICE_AT {
                    self.warn(reserved.day_share).await;
                }
                Ok(())
            }
            Err(ReserveError::Refused(refused)) => {
                self.warn_used_up(&refused).await;
                Err(ModelError::OutOfBudget(refused))
            }
            Err(ReserveError::CallsUsedUp(calls)) => Err(ModelError::OutOfCalls(calls)),
            Err(ReserveError::Store(error)) => Err(ModelError::Ledger(error.to_string())),
        }
    }

    async fn settle(&self, settlement: &Settlement) -> Result<(), ModelError> {
        self.store.settle(settlement).await.map(drop).map_err(|error| ModelError::Ledger(error.to_string()))
    }

    async fn calls_left(&self, allowance: &Allowance) -> Result<u32, ModelError> {
        self.store.count_calls_left(allowance).await.map_err(|error| ModelError::Ledger(error.to_string()))
    }

    async fn rest(&self, model: &ModelRef, until: Option<DateTime<Utc>>) -> Result<(), ModelError> {
        let kept = match until {
            Some(until) => self.store.rest_model(model, until).await,
            None => self.store.wake_model(model).await,
        };
        kept.map_err(|error| ModelError::Ledger(error.to_string()))
    }

    async fn list_resting(&self, now: DateTime<Utc>) -> Result<Vec<(ModelRef, DateTime<Utc>)>, ModelError> {
        self.store.list_resting_models(now).await.map_err(|error| ModelError::Ledger(error.to_string()))
    }
}
