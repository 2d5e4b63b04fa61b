//! When the relay sends a row, and what it does with a row whose process died before it recorded the attempt.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::format::TextFormat;
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::outbox::Relay;
use kernel::chat::redact::Redactor;
use kernel::chat::{ChatPlatform, SendError};
use kernel::ids::{ChannelId, MessageId, OutboxId};
use kernel::time::{Clock, ManualClock};
use secrecy::ExposeSecret as _;
use teamroom::store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::opening::tamper;
use super::sample::{at, line};
use super::{Home, on_both};
use crate::support::database::{wall, without_wall};
use crate::support::team::eventually;

on_both!(
    a_young_row_that_may_have_been_posted_is_sent_with_the_same_nonce,
    an_old_row_that_may_have_been_posted_is_read_back_first,
    an_old_row_that_was_never_attempted_is_posted,
    an_old_row_that_no_other_process_can_have_tried_is_posted_at_once,
    an_old_row_that_was_only_turned_away_is_posted_at_once,
    an_attempt_that_could_not_be_recorded_is_looked_for,
    many_channels_are_worked_off_with_few_connections,
    a_failed_attempt_is_recorded,
    a_failed_row_is_sent_when_its_wait_is_over,
    a_row_of_which_nobody_told_is_found_in_the_end,
    a_row_that_lacks_a_permission_outlives_its_process,
    a_permission_that_comes_back_during_an_attempt_counts,
);

/// How long the platform remembers a nonce.
const WINDOW: Duration = Duration::from_mins(1);

/// A fake platform. It remembers posts by their nonces for [`WINDOW`] of its clock.
struct Wall {
    posts: Mutex<Vec<(OutboxId, DateTime<Utc>)>>,
    clock: ManualClock,
    is_away: AtomicBool,
    /// Whether posts get a rate limit of two minutes.
    limits: AtomicBool,
    /// How often the relay looked for a post.
    looks: AtomicUsize,
    denies: AtomicBool,
    denials: AtomicUsize,
    /// A denied post gets its answer only when this has a permit.
    gate: Semaphore,
}

impl Wall {
    fn posted(message: &OutboundMessage, at: DateTime<Utc>) -> Posted {
        Posted { channel: message.channel.clone(), message: message.id.as_str().into(), at }
    }
}

#[async_trait]
impl ChatPlatform for Wall {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        if self.is_away.load(Ordering::Relaxed) {
            return Err(SendError::Unreachable("the wall is away".into()));
        }
        if self.limits.load(Ordering::Relaxed) {
            return Err(SendError::RateLimited(WINDOW * 2));
        }
        if self.denies.load(Ordering::Relaxed) {
            self.denials.fetch_add(1, Ordering::Relaxed);
            drop(self.gate.acquire().await.unwrap());
            return Err(SendError::Denied { needs: "chalk".into() });
        }
        let now = self.clock.now();
        let mut posts = self.posts.lock().unwrap();
        let known = posts.iter().find(|(id, at)| *id == message.id && (now - *at).to_std().unwrap() < WINDOW);
        let at = known.map_or(now, |(_, at)| *at);
        if known.is_none() {
            posts.push((message.id.clone(), now));
        }
        Ok(Self::posted(message, at))
    }

    async fn edit(&self, message: &OutboundMessage, _: &MessageId) -> Result<Posted, SendError> {
        self.send(message).await
    }

    async fn open_thread(&self, channel: &ChannelId, _: &MessageId, _: &str) -> Result<ChannelId, SendError> {
        Ok(channel.clone())
    }

    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        let posts = self.posts.lock().unwrap();
        Ok(posts.iter().find(|(id, at)| *id == message.id && *at >= since).map(|(_, at)| Self::posted(message, *at)))
    }

    fn nonce_window(&self, _: &OutboundMessage) -> Duration {
        WINDOW
    }

    async fn find_channel(&self, _: &str) -> Option<ChannelId> {
        None
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TextFormat::plain(2000)
    }
}

struct Stage {
    store: Store,
    wall: Arc<Wall>,
    clock: ManualClock,
    row: OutboundMessage,
    tasks: TaskTracker,
}

impl Stage {
    /// A row that was enqueued at noon.
    async fn new(home: &Home, is_away: bool) -> Self {
        let (store, clock, row) = (home.open().await, ManualClock::new(at(0)), line("hello"));
        store.enqueue(std::slice::from_ref(&row), at(0)).await.unwrap();
        let wall = Arc::new(Wall {
            posts: Mutex::default(),
            clock: clock.clone(),
            is_away: is_away.into(),
            limits: false.into(),
            looks: 0.into(),
            denies: false.into(),
            denials: 0.into(),
            gate: Semaphore::new(1),
        });
        Self { store, wall, clock, row, tasks: TaskTracker::new() }
    }

    /// Posts the row as a process would that died before it could record this.
    async fn post_and_die(&self) {
        self.wall.send(&self.row).await.unwrap();
    }

    fn start(&self, stop: &CancellationToken) -> Relay {
        let clock = Arc::new(self.clock.clone());
        Relay::start(self.store.database(), self.wall.clone(), Redactor::new(&[]), clock, self.tasks.clone(), stop.clone())
    }

    /// Ends the process and waits for all its tasks.
    async fn end(&self, stop: &CancellationToken) {
        stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    /// Moves time ahead. A new process then delivers what is due.
    async fn deliver(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        let stop = CancellationToken::new();
        let relay = self.start(&stop);
        let is_settled = || async {
            let row = self.store.next_pending(&self.row.channel, self.clock.now()).await.unwrap();
            row.is_none()
        };
        eventually("the row is dealt with", is_settled).await;
        relay.drained(Duration::from_secs(5)).await;
        stop.cancel();
    }

    fn count_posts(&self) -> usize {
        self.wall.posts.lock().unwrap().len()
    }
}

async fn a_young_row_that_may_have_been_posted_is_sent_with_the_same_nonce(home: &Home) {
    let stage = Stage::new(home, false).await;
    stage.post_and_die().await;
    stage.deliver(30).await;
    assert_eq!(stage.count_posts(), 1);
    assert_eq!(stage.store.find_posted(&stage.row.id).await.unwrap(), Some(Wall::posted(&stage.row, at(0))));
}

async fn an_old_row_that_may_have_been_posted_is_read_back_first(home: &Home) {
    let stage = Stage::new(home, false).await;
    stage.post_and_die().await;
    stage.deliver(300).await;
    assert_eq!(stage.count_posts(), 1, "the nonce is forgotten, so a repeat would be a second message");
    assert_eq!(stage.store.find_posted(&stage.row.id).await.unwrap(), Some(Wall::posted(&stage.row, at(0))));
}

async fn an_old_row_that_was_never_attempted_is_posted(home: &Home) {
    let stage = Stage::new(home, false).await;
    stage.deliver(300).await;
    assert_eq!(stage.count_posts(), 1);
    assert_eq!(stage.store.find_posted(&stage.row.id).await.unwrap(), Some(Wall::posted(&stage.row, at(300))));
}

async fn an_old_row_that_no_other_process_can_have_tried_is_posted_at_once(home: &Home) {
    let stage = Stage::new(home, false).await;
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    eventually("the row of before is sent", || async { stage.count_posts() == 1 }).await;
    stage.clock.advance(Duration::from_mins(5));
    // Enqueues a row that seems to have waited behind others for this long.
    stage.store.enqueue(&[line("later")], at(0)).await.unwrap();
    eventually("the new row is sent", || async { stage.count_posts() == 2 }).await;
    stop.cancel();
    assert_eq!(stage.wall.looks.load(Ordering::Relaxed), 0);
}

async fn an_old_row_that_was_only_turned_away_is_posted_at_once(home: &Home) {
    let stage = Stage::new(home, false).await;
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    eventually("the row of before is sent", || async { stage.count_posts() == 1 }).await;
    stage.wall.limits.store(true, Ordering::Relaxed);
    stage.store.enqueue(&[line("later")], at(0)).await.unwrap();
    let attempts = async || stage.store.next_pending(&stage.row.channel, at(900)).await.unwrap().map_or(0, |row| row.attempts);
    eventually("it was turned away", || async { attempts().await == 1 }).await;
    stage.wall.limits.store(false, Ordering::Relaxed);
    eventually("it is posted after its wait", || async {
        if stage.clock.now() < at(600) {
            stage.clock.advance(Duration::from_secs(10));
        }
        stage.count_posts() == 2
    })
    .await;
    stop.cancel();
    assert_eq!(stage.wall.looks.load(Ordering::Relaxed), 0);
}

/// The database cannot record a post for so long that the platform has forgotten the nonce.
async fn an_attempt_that_could_not_be_recorded_is_looked_for(home: &Home) {
    let stage = Stage::new(home, false).await;
    let stop = CancellationToken::new();
    let relay = stage.start(&stop);
    // Moves time only while no row is being sent: not between the choice of how to send it and the post.
    let pass = async |step: Duration| {
        relay.drained(Duration::from_secs(5)).await;
        stage.clock.advance(step);
    };
    let pending = async || stage.store.outbox_depth(at(0)).await.unwrap().0;
    eventually("the row of before is sent", || async { pending().await == 0 }).await;
    let is_sqlite = home.url.expose_secret().starts_with("sqlite:");
    for sql in wall(is_sqlite, "unrecorded", "UPDATE ON outbox", "NEW.state = 'sent'") {
        tamper(home, &sql).await;
    }
    stage.store.enqueue(&[line("later")], at(0)).await.unwrap();
    eventually("the new row is posted", || async {
        pass(Duration::from_secs(1)).await;
        stage.count_posts() == 2
    })
    .await;
    tamper(home, &without_wall(is_sqlite, "unrecorded")).await;
    eventually("the post is recorded", || async {
        pass(Duration::from_mins(2)).await;
        pending().await == 0
    })
    .await;
    stop.cancel();
    assert_eq!(stage.count_posts(), 2, "the nonce is forgotten, so a repeat would be a second message");
}

/// There are more channels than connections to the database, and each channel has many rows. The clock stands still, so nothing is tried again after
/// an error.
async fn many_channels_are_worked_off_with_few_connections(home: &Home) {
    let stage = Stage::new(home, false).await;
    let mut rows = Vec::new();
    for number in 0..3 * 12 * 8 {
        let (channel, persona) = (format!("{}", 100 + number % 12), format!("persona{}", number / 12 % 8));
        rows.push(OutboundMessage { channel: channel.as_str().into(), persona: persona.as_str().into(), ..line("hello") });
    }
    stage.store.enqueue(&rows, at(0)).await.unwrap();
    stage.clock.advance(Duration::from_mins(5));
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    eventually("all is posted", || async { stage.store.outbox_depth(at(300)).await.unwrap().0 == 0 }).await;
    stop.cancel();
    assert_eq!(stage.count_posts(), 1 + rows.len());
}

async fn a_failed_attempt_is_recorded(home: &Home) {
    let stage = Stage::new(home, true).await;
    stage.deliver(1).await;
    let row = stage.store.next_pending(&stage.row.channel, at(120)).await.unwrap().expect("it waits");
    assert_eq!((row.attempts, row.first_attempt_at), (1, Some(at(1))));
}

async fn a_failed_row_is_sent_when_its_wait_is_over(home: &Home) {
    let stage = Stage::new(home, true).await;
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    let attempts = async || {
        let row = stage.store.next_pending(&stage.row.channel, at(120)).await.unwrap();
        row.map_or(0, |row| row.attempts)
    };
    eventually("it was tried", || async { attempts().await == 1 }).await;
    stage.wall.is_away.store(false, Ordering::Relaxed);
    // The first wait is at most a second.
    eventually("it is sent after its wait", || async {
        if stage.clock.now() < at(1) {
            stage.clock.advance(Duration::from_millis(100));
        }
        stage.count_posts() == 1
    })
    .await;
    stop.cancel();
}

/// A row without a notification, for example of a process that died right after its commit.
async fn a_row_of_which_nobody_told_is_found_in_the_end(home: &Home) {
    let stage = Stage::new(home, false).await;
    let row = stage.store.next_pending(&stage.row.channel, at(0)).await.unwrap().expect("it is new");
    stage.store.record_retry(&row, Some(at(0)), at(1000), "it waits for long").await.unwrap();
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    tamper(home, "UPDATE outbox SET next_attempt_at = created_at").await;
    eventually("the relay looks again", || async {
        if stage.clock.now() < at(30) {
            stage.clock.advance(Duration::from_secs(1));
        }
        stage.count_posts() == 1
    })
    .await;
    stop.cancel();
}

async fn a_row_that_lacks_a_permission_outlives_its_process(home: &Home) {
    let stage = Stage::new(home, false).await;
    stage.wall.denies.store(true, Ordering::Relaxed);
    let stop = CancellationToken::new();
    let _relay = stage.start(&stop);
    let held = async || stage.store.list_held(10).await.unwrap().1;
    eventually("it is held", || async { held().await == 1 }).await;
    stage.end(&stop).await;
    assert_eq!((stage.count_posts(), stage.store.next_pending(&stage.row.channel, at(0)).await.unwrap()), (0, None));

    let stop = CancellationToken::new();
    let relay = stage.start(&stop);
    relay.permissions_changed();
    // The permission is still denied.
    eventually("it is held again", || async { stage.wall.denials.load(Ordering::Relaxed) == 2 && held().await == 1 }).await;
    stage.wall.denies.store(false, Ordering::Relaxed);
    relay.permissions_changed();
    eventually("it is posted", || async { stage.count_posts() == 1 && held().await == 0 }).await;
    stop.cancel();
}

async fn a_permission_that_comes_back_during_an_attempt_counts(home: &Home) {
    let stage = Stage::new(home, false).await;
    stage.wall.denies.store(true, Ordering::Relaxed);
    let closed = stage.wall.gate.acquire().await.unwrap();
    let stop = CancellationToken::new();
    let relay = stage.start(&stop);
    eventually("it is tried", || async { stage.wall.denials.load(Ordering::Relaxed) == 1 }).await;
    stage.wall.denies.store(false, Ordering::Relaxed);
    relay.permissions_changed();
    drop(closed);
    // No time passes, so the relay does not look by itself.
    eventually("it is posted", || async { stage.count_posts() == 1 }).await;
    stop.cancel();
}
