//! Work items claimed by a test.

use chrono::{DateTime, Utc};
use kernel::jobs::Paused;
use kernel::testing::jobs::ManualWorker;
use teamroom::features::backlog::store::{Claimed, RUN};
use teamroom::store::Store;

/// Claims the next ready item and begins its run.
pub(crate) async fn claim_item(store: &Store, now: DateTime<Utc>) -> Claimed {
    let worker = ManualWorker::start(store.database(), now).await.expect("the store answers");
    let job = worker.claim(RUN, 1, &Paused::default(), now).await.expect("the store answers").expect("an item to claim");
    store.start_run(&job, now).await.expect("the store answers").expect("its item needs it")
}
