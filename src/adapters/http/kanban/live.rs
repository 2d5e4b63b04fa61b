//! Notifies open pages that the backlog has changed.
//!
//! While pages are connected, one task waits for events of items, in this process or another one, and sends the position of the last. A page that
//! sees a new position reloads its data, so missed events do no harm.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::store::ITEMS;
use crate::store::Store;
use kernel::time::SharedClock;

/// The time before the position is read again after it could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// The most connected pages. A team has a few people with a few windows each.
pub(super) const PLACES: usize = 32;

/// How many events may wait for a page. A page that falls further behind is disconnected.
const BACKLOG: usize = 4;

/// Sends a keep-alive after this time, for proxies that cut idle connections.
const QUIET: Duration = Duration::from_secs(15);

/// A connection ends after this time, and the page reconnects. Otherwise a dead connection would keep its place for ever.
const LONGEST: Duration = Duration::from_mins(15);

/// The connected pages.
pub(super) struct Listeners {
    marks: watch::Sender<i64>,
    arrived: Notify,
    places: Arc<Semaphore>,
    clock: SharedClock,
    stop: CancellationToken,
}

impl Listeners {
    pub(super) fn start(store: Store, clock: SharedClock, stop: CancellationToken) -> Arc<Self> {
        let listeners = Arc::new(Self {
            marks: watch::Sender::new(0),
            arrived: Notify::new(),
            places: Arc::new(Semaphore::new(PLACES)),
            clock,
            stop: stop.clone(),
        });
        let watching = listeners.clone();
        tokio::spawn(async move { stop.run_until_cancelled(watching.watch(store)).await });
        listeners
    }

    async fn watch(&self, store: Store) {
        loop {
            if self.marks.receiver_count() == 0 {
                self.arrived.notified().await;
                continue;
            }
            let mut changes = store.subscribe(ITEMS, &self.clock);
            while self.marks.receiver_count() > 0 {
                match store.backlog_mark().await {
                    Ok(mark) => {
                        self.marks.send_if_modified(|known| std::mem::replace(known, mark) != mark);
                        tokio::select! {
                            () = changes.next() => {}
                            () = self.marks.closed() => {}
                        }
                    }
                    // Open pages keep their content.
                    Err(error) => {
                        tracing::debug!(%error, "cannot read the position of the last change");
                        self.clock.sleep(AGAIN).await;
                    }
                }
            }
        }
    }

    /// The event stream for one more page. None if too many are connected.
    pub(super) fn listen(&self) -> Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let (events, inbox) = mpsc::channel(BACKLOG);
        let mut marks = self.marks.subscribe();
        // Sends the current position first, which the page compares with its own.
        marks.mark_changed();
        self.arrived.notify_one();
        tokio::spawn(tell(marks, events, place, self.clock.clone(), self.stop.clone()));
        Some(Sse::new(futures_util::stream::unfold(inbox, |mut inbox| async { inbox.recv().await.map(|event| (Ok(event), inbox)) })))
    }
}

/// Forwards the counter to one page until the page disconnects, falls behind, or its time is over.
async fn tell(
    mut marks: watch::Receiver<i64>,
    events: mpsc::Sender<Event>,
    place: OwnedSemaphorePermit,
    clock: SharedClock,
    stop: CancellationToken,
) {
    let mut over = clock.sleep(LONGEST);
    loop {
        let event = tokio::select! {
            changed = marks.changed() => match changed {
                Ok(()) => Event::default().event("mark").data(marks.borrow_and_update().to_string()),
                Err(_) => break,
            },
            () = clock.sleep(QUIET) => Event::default().comment("nothing new"),
            () = &mut over => break,
            () = events.closed() => break,
            () = stop.cancelled() => break,
        };
        if events.try_send(event).is_err() {
            break;
        }
    }
    drop(place);
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use kernel::time::ManualClock;

    fn listener(clock: &ManualClock) -> (watch::Sender<i64>, mpsc::Receiver<Event>, Arc<Semaphore>) {
        let (sender, marks) = watch::channel(0);
        let (events, inbox) = mpsc::channel(BACKLOG);
        let places = Arc::new(Semaphore::new(1));
        let place = places.clone().try_acquire_owned().expect("a place");
        tokio::spawn(tell(marks, events, place, Arc::new(clock.clone()), CancellationToken::new()));
        (sender, inbox, places)
    }

    async fn asleep(clock: &ManualClock) {
        // `tell` waits for two timers: the keep-alive and the end of the connection.
        while clock.sleepers() < 2 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_page_that_reads_nothing_loses_its_place() {
        let clock = ManualClock::new(DateTime::UNIX_EPOCH);
        let (_marks, inbox, places) = listener(&clock);
        for _ in 0..=BACKLOG {
            assert_eq!(places.available_permits(), 0);
            asleep(&clock).await;
            clock.advance(QUIET);
        }
        let place = tokio::time::timeout(Duration::from_secs(20), places.acquire()).await;
        assert!(place.is_ok(), "the place is free again although the page is still connected: {}", !inbox.is_closed());
    }

    #[tokio::test]
    async fn a_page_has_its_time_however_well_it_reads() {
        let clock = ManualClock::new(DateTime::UNIX_EPOCH);
        let (_marks, mut inbox, _places) = listener(&clock);
        let mut heard = 0;
        let rounds = LONGEST.as_secs() / QUIET.as_secs();
        for _ in 0..rounds {
            asleep(&clock).await;
            clock.advance(QUIET);
            match tokio::time::timeout(Duration::from_secs(20), inbox.recv()).await.expect("an event or the end") {
                Some(_) => heard += 1,
                None => break,
            }
        }
        assert!(heard >= rounds - 1, "it was told {heard} times");
        let rest = tokio::time::timeout(Duration::from_secs(20), async { while inbox.recv().await.is_some() {} }).await;
        assert!(rest.is_ok(), "the events end");
    }
}
