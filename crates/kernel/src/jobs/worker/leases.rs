//! Sends the heartbeats of this worker, and checks those of others.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Claimed, Jobs};
use crate::db::StoreError;
use crate::jobs::blame::pause_of;
use crate::jobs::store::{SeenWorker, WorkerId};
use crate::jobs::{JobsSettings, KindSettings};

/// How often waiting jobs are counted, in looks.
const COUNT_EVERY: u64 = 15;

/// The last snapshots of other workers.
#[derive(Debug, Default)]
struct Watch {
    seen: HashMap<WorkerId, (Option<i64>, u32)>,
}

impl Watch {
    /// Compares the workers with the last snapshots, and returns those without a change for `dead_after` looks. It counts looks instead of comparing
    /// times, so that a wrong clock makes no worker look dead. A process that was suspended must look again before it decides.
    fn look(&mut self, workers: Vec<SeenWorker>, dead_after: u32) -> Vec<SeenWorker> {
        let mut seen = HashMap::new();
        let mut dead = Vec::new();
        for worker in workers {
            let looks = match self.seen.get(&worker.id) {
                Some((beat, looks)) if *beat == worker.beat => looks + 1,
                _ => 0,
            };
            seen.insert(worker.id.clone(), (worker.beat, looks));
            if looks >= dead_after {
                dead.push(worker);
            }
        }
        self.seen = seen;
        dead
    }
}

/// The interval of looks, two per heartbeat, and the number of looks in a lease.
fn looks(settings: &JobsSettings) -> (Duration, u32) {
    let look = settings.heartbeat / 2;
    let dead_after = settings.lease.as_millis().div_ceil(look.as_millis().max(1));
    (look, u32::try_from(dead_after).unwrap_or(u32::MAX))
}

impl Jobs {
    pub(super) async fn keep_leases(self) {
        let inner = &self.inner;
        let (every, dead_after) = looks(&inner.settings);
        let mut watch = Watch::default();
        let mut idle = HashSet::new();
        // The number of consecutive failed heartbeats.
        let mut silent = 0;
        for look in 0_u64.. {
            if look.is_multiple_of(2) {
                match self.beat(&mut idle).await {
                    Ok(()) => silent = 0,
                    Err(error) => {
                        silent += 1;
                        tracing::warn!(%error, "no heartbeat gets through to the jobs");
                    }
                }
                // Other workers soon take the jobs back, so this worker stops before that.
                if silent == 2 && !self.is_alone() {
                    self.end_all();
                }
            }
            if let Err(error) = self.watch_others(&mut watch, dead_after).await {
                tracing::warn!(%error, "cannot look after the jobs of other processes");
            }
            if look.is_multiple_of(COUNT_EVERY)
                && let Err(error) = self.count_waiting().await
            {
                tracing::debug!(%error, "cannot count the jobs that wait");
            }
            if self.wait_until_over(every).await {
                break;
            }
        }
        if let Err(error) = inner.store.remove_worker(&self.worker()).await {
            tracing::debug!(%error, "the worker is taken for dead after a while");
        }
    }

    /// Waits for the next look. True when the process stops and no run is left.
    async fn wait_until_over(&self, every: Duration) -> bool {
        let inner = &self.inner;
        let sleep = inner.clock.sleep(every);
        tokio::pin!(sleep);
        loop {
            let ended = inner.ended.notified();
            if inner.stop.is_cancelled() && self.running().is_empty() && self.reserved().is_empty() {
                return true;
            }
            tokio::select! {
                () = &mut sleep => return false,
                () = ended => {}
                () = inner.stop.cancelled(), if !inner.stop.is_cancelled() => {}
            }
        }
    }

    /// Sends the heartbeat, and ends runs whose job this worker no longer holds. Releases jobs that it holds without running them, because the end of
    /// their run could not be stored. `idle` contains those of the previous heartbeat.
    async fn beat(&self, idle: &mut HashSet<Claimed>) -> Result<(), StoreError> {
        let (inner, worker) = (&self.inner, self.worker());
        // Read before the database, or a job that is claimed in between would seem lost.
        let here: Vec<_> = self.running().keys().copied().collect();
        if !self.is_alone() && !inner.store.beat(&worker).await? {
            tracing::warn!("this process was taken for dead; its jobs have gone to others");
            self.end_all();
            let renewed = WorkerId::generate();
            inner.store.add_worker(&renewed, inner.clock.now()).await?;
            *inner.worker.lock().unwrap_or_else(PoisonError::into_inner) = renewed;
            return Ok(());
        }
        if !inner.unsettled.swap(false, Ordering::Relaxed) && here.is_empty() {
            return Ok(());
        }
        let held = inner.store.list_held(&worker).await?;
        {
            let running = self.running();
            let lost = here.iter().filter(|job| !held.contains(job)).filter_map(|job| running.get(job));
            lost.for_each(|job| job.cancel.cancel());
        }
        let idle_now: HashSet<_> = held.into_iter().filter(|job| !here.contains(job)).collect();
        // Seen in two heartbeats, because a job seen once may just have been claimed.
        for (job, token) in idle.intersection(&idle_now) {
            tracing::warn!(%job, "a job that nobody runs is given back");
            // No lost heartbeat: the next one tries again.
            if let Err(error) = inner.store.release(*job, *token).await {
                tracing::warn!(%job, %error, "a job cannot be given back yet");
            }
            inner.store.0.db().handover().wake.notify_one();
        }
        *idle = idle_now;
        if !idle.is_empty() {
            inner.unsettled.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn end_all(&self) {
        self.running().values().for_each(|job| job.cancel.cancel());
    }

    async fn watch_others(&self, watch: &mut Watch, dead_after: u32) -> Result<(), StoreError> {
        if self.is_alone() {
            return Ok(());
        }
        let others = self.inner.store.list_other_workers(&self.worker()).await?;
        for dead in watch.look(others, dead_after) {
            self.take_back(&dead).await?;
        }
        Ok(())
    }

    pub(super) async fn take_back(&self, dead: &SeenWorker) -> Result<(), StoreError> {
        let inner = &self.inner;
        let pause = |kind: &str, crashes| {
            let max_crashes = inner.kinds.get(kind).map_or_else(KindSettings::default, |kind| kind.settings).max_crashes;
            pause_of(crashes, max_crashes, &inner.settings)
        };
        let Some(taken) = inner.store.take_back(dead, pause, inner.clock.now()).await? else { return Ok(()) };
        for blame in &taken {
            tracing::warn!(job = %blame.id, crashes = blame.crashes, suspicions = blame.suspicions, "the process that ran a job is dead");
        }
        metrics::counter!("teamroom_jobs_taken_back_total").increment(taken.len() as u64);
        inner.store.0.db().handover().wake.notify_one();
        Ok(())
    }

    async fn count_waiting(&self) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        let waiting = self.inner.store.count_waiting(now).await?;
        let age = waiting.oldest.map_or(0.0, |oldest| (now - oldest).to_std().unwrap_or_default().as_secs_f64());
        metrics::gauge!("teamroom_jobs_ready").set(u32::try_from(waiting.ready).unwrap_or(u32::MAX));
        metrics::gauge!("teamroom_jobs_oldest_ready_seconds").set(age);
        Ok(())
    }
}
