//! Signs of life: ours, and whether others still give any.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::features::backlog::Work;
use crate::features::backlog::model::Lease;
use crate::features::backlog::store::{End, RunEnd, SeenLease};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;

/// How often leases are looked at. Every second look gives a sign of life of our own.
const LOOK: Duration = Duration::from_secs(1);

/// A lease that gave no sign of life over so many looks belongs to nobody: 7 s, or three heartbeats and a half. With the time that a process
/// which stands by takes to serve, an item is running again within 15 s even where it has to look anew. Looks are counted instead of
/// comparing times, so that neither a clock that is wrong nor one that is set makes a worker look dead, and a process that was itself asleep
/// believes nothing before it has looked again.
const DEAD_AFTER: u32 = 7;

/// An item over which its worker died so often is set aside.
const POISONOUS: u32 = 3;

/// What was seen of the leases of all workers.
#[derive(Debug, Default)]
struct Vigil {
    seen: HashMap<(WorkItemId, i64), Sighting>,
    /// Leases of our own that nobody here worked on at the last sign of life.
    idle: HashSet<Lease>,
}

#[derive(Debug)]
struct Sighting {
    beat: i64,
    looks: u32,
}

impl Vigil {
    /// Takes the leases as they stand, and says which of them have shown no sign of life for too long.
    fn look(&mut self, leases: Vec<SeenLease>) -> Vec<SeenLease> {
        let mut seen = HashMap::new();
        let mut dead = Vec::new();
        for lease in leases {
            let key = (lease.lease.item.clone(), lease.lease.token);
            let looks = match self.seen.remove(&key) {
                Some(before) if before.beat == lease.beat => before.looks + 1,
                _ => 0,
            };
            seen.insert(key, Sighting { beat: lease.beat, looks });
            if looks >= DEAD_AFTER {
                dead.push(lease);
            }
        }
        self.seen = seen;
        dead
    }
}

impl Work {
    pub(super) async fn keep_vigil(self) {
        let parts = self.parts();
        let mut vigil = Vigil::default();
        // How often in a row no sign of life got through.
        let mut silent = 0;
        for look in 0_u64.. {
            if look.is_multiple_of(2) {
                match self.give_sign(&mut vigil).await {
                    Ok(()) => silent = 0,
                    Err(error) => {
                        silent += 1;
                        tracing::warn!(%error, "cannot give a sign of life to the items in progress");
                    }
                }
                // Soon others take them back; we stop before they begin.
                if silent == 2 {
                    self.running().values().for_each(tokio_util::sync::CancellationToken::cancel);
                }
            }
            if let Err(error) = self.take_back(&mut vigil).await {
                tracing::warn!(%error, "cannot look after the items in progress");
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

    /// Shows that this worker lives, and ends what it holds no longer: somebody cancelled or edited it, or took it back. What it holds without
    /// working on it, because the end of a run could not be stored, it gives back.
    async fn give_sign(&self, vigil: &mut Vigil) -> Result<(), StoreError> {
        let parts = self.parts();
        let held = parts.store.beat(&self.inner.worker).await?;
        let idle: HashSet<Lease> = held.iter().filter(|lease| !self.running().contains_key(&lease.item)).cloned().collect();
        // Seen twice, or it may just have been claimed.
        for lease in idle.intersection(&vigil.idle) {
            tracing::warn!(item = %lease.item, "an item in progress that nobody works on is given back");
            parts.store.end_run(&RunEnd { lease, end: End::Released, outbox: &[], at: parts.clock.now() }).await?;
        }
        vigil.idle = idle;
        for (item, cancel) in &*self.running() {
            if !held.iter().any(|lease| lease.item == *item) {
                cancel.cancel();
            }
        }
        Ok(())
    }

    /// Takes back what dead workers hold.
    async fn take_back(&self, vigil: &mut Vigil) -> Result<(), StoreError> {
        let parts = self.parts();
        for dead in vigil.look(parts.store.list_leases().await?) {
            if dead.lease.worker == self.inner.worker {
                // Our own sign of life does not get through; whoever sees that takes it back.
                continue;
            }
            let Some(item) = parts.store.take_back(&dead, POISONOUS, parts.clock.now()).await? else { continue };
            tracing::warn!(item = %item.id, worker = dead.lease.worker.as_str(), "the worker of an item is dead; it goes on without it");
            metrics::counter!("teamroom_work_taken_back_total").increment(1);
            parts.wake.notify_one();
        }
        Ok(())
    }
}
