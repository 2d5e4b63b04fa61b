//! Heartbeats, and the detection of dead workers.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::features::backlog::Work;
use crate::features::backlog::model::Lease;
use crate::features::backlog::store::{End, RunEnd, SeenLease};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;

/// The interval for checking leases. Every second check sends a heartbeat.
const LOOK: Duration = Duration::from_secs(1);

/// The number of checks without a heartbeat after which a lease is dead: 7 s, or three and a half heartbeats. Including the time that a
/// standby process takes to start serving, an item runs again within 15 s. Counting checks instead of comparing times tolerates wrong and
/// changed clocks, and a process that was suspended checks again before it reclaims anything.
const DEAD_AFTER: u32 = 7;

/// An item whose worker died this often is set aside.
const MAX_CRASHES: u32 = 3;

/// Observations of all workers' leases.
#[derive(Debug, Default)]
struct LeaseMonitor {
    seen: HashMap<(WorkItemId, i64), Observation>,
    /// Our own leases that nothing was working on at the last heartbeat.
    idle: HashSet<Lease>,
}

#[derive(Debug)]
struct Observation {
    beat: i64,
    looks: u32,
}

impl LeaseMonitor {
    /// Records the current leases and returns those that are dead.
    fn look(&mut self, leases: Vec<SeenLease>) -> Vec<SeenLease> {
        let mut seen = HashMap::new();
        let mut dead = Vec::new();
        for lease in leases {
            let key = (lease.lease.item.clone(), lease.lease.token);
            let looks = match self.seen.remove(&key) {
                Some(before) if before.beat == lease.beat => before.looks + 1,
                _ => 0,
            };
            seen.insert(key, Observation { beat: lease.beat, looks });
            if looks >= DEAD_AFTER {
                dead.push(lease);
            }
        }
        self.seen = seen;
        dead
    }
}

impl Work {
    pub(super) async fn run_heartbeat(self) {
        let parts = self.parts();
        let mut monitor = LeaseMonitor::default();
        // Failed heartbeats in a row.
        let mut silent = 0;
        for look in 0_u64.. {
            if look.is_multiple_of(2) {
                match self.send_heartbeat(&mut monitor).await {
                    Ok(()) => silent = 0,
                    Err(error) => {
                        silent += 1;
                        tracing::warn!(%error, "cannot send a heartbeat for the items in progress");
                    }
                }
                // Others will reclaim the items soon, so they are stopped here first.
                if silent == 2 {
                    self.running().values().for_each(tokio_util::sync::CancellationToken::cancel);
                }
            }
            if let Err(error) = self.reclaim_dead(&mut monitor).await {
                tracing::warn!(%error, "cannot check the items in progress");
            }
            tokio::select! {
                () = parts.kill.cancelled() => return,
                () = parts.clock.sleep(LOOK) => {}
            }
            if parts.stop.is_cancelled() && self.running().is_empty() {
                return;
            }
        }
    }

    /// Sends a heartbeat and stops items whose lease is lost: cancelled, edited or reclaimed. Releases leases that nothing works on, left
    /// when the end of a run could not be stored.
    async fn send_heartbeat(&self, monitor: &mut LeaseMonitor) -> Result<(), StoreError> {
        let parts = self.parts();
        let held = parts.store.heartbeat(&self.inner.worker).await?;
        let idle: HashSet<Lease> = held.iter().filter(|lease| !self.running().contains_key(&lease.item)).cloned().collect();
        // Idle twice in a row; once could be a lease that was just claimed.
        for lease in idle.intersection(&monitor.idle) {
            tracing::warn!(item = %lease.item, "releasing an item in progress that nobody works on");
            parts.store.end_run(&RunEnd { lease, end: End::Released, outbox: &[], at: parts.clock.now() }).await?;
        }
        monitor.idle = idle;
        for (item, cancel) in &*self.running() {
            if !held.iter().any(|lease| lease.item == *item) {
                cancel.cancel();
            }
        }
        Ok(())
    }

    /// Reclaims the items of dead workers.
    async fn reclaim_dead(&self, monitor: &mut LeaseMonitor) -> Result<(), StoreError> {
        let parts = self.parts();
        for dead in monitor.look(parts.store.list_leases().await?) {
            if dead.lease.worker == self.inner.worker {
                // Our own heartbeat does not get through. Others will reclaim it.
                continue;
            }
            let Some(item) = parts.store.reclaim_item(&dead, MAX_CRASHES, parts.clock.now()).await? else { continue };
            tracing::warn!(item = %item.id, worker = dead.lease.worker.as_str(), "the worker of an item is dead; the item was reclaimed");
            metrics::counter!("teamroom_work_taken_back_total").increment(1);
            parts.wake.notify_one();
        }
        Ok(())
    }
}
