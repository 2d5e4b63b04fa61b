use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, TimeDelta, Utc};

use crate::clock::SharedClock;
use crate::domain::ids::PersonaSlug;
use crate::feeds::{self, Document, Feed, FeedQuery, FeedReport};

/// How far back a model is told of its feeds, and how many items of each.
const DAYS: TimeDelta = TimeDelta::days(7);
const ITEMS: usize = 20;

/// What feeds said serves the turns of this time; a burst of questions does not start `git` for each.
const FRESH: TimeDelta = TimeDelta::seconds(30);

/// Up to this age it serves a turn at once while it is read anew for the next.
const USABLE: TimeDelta = TimeDelta::minutes(5);

/// The feeds of all personas, and what they said last. Cheap to clone.
#[derive(Clone)]
pub struct Readings {
    inner: Arc<Inner>,
}

struct Inner {
    feeds: HashMap<PersonaSlug, Vec<Box<dyn Feed>>>,
    clock: SharedClock,
    last: Mutex<HashMap<PersonaSlug, Arc<FeedsRead>>>,
    /// Personas whose feeds are being read in the background.
    refreshing: Mutex<HashSet<PersonaSlug>>,
}

/// What a persona's feeds said at one time.
pub struct FeedsRead {
    at: DateTime<Utc>,
    pub reports: Vec<FeedReport>,
    pub documents: Vec<Document>,
}

impl Readings {
    pub fn new(feeds: HashMap<PersonaSlug, Vec<Box<dyn Feed>>>, clock: SharedClock) -> Self {
        Self { inner: Arc::new(Inner { feeds, clock, last: Mutex::default(), refreshing: Mutex::default() }) }
    }

    /// The feeds of a persona.
    pub fn feeds_of(&self, persona: &PersonaSlug) -> &[Box<dyn Feed>] {
        self.inner.feeds.get(persona).map(Vec::as_slice).unwrap_or_default()
    }

    /// Reads all feeds in the background, so that the first turns need not wait for them.
    pub fn warm(&self) {
        for persona in self.inner.feeds.keys() {
            self.refresh(persona);
        }
    }

    /// What a persona's feeds say: now, or a moment ago.
    pub async fn read(&self, persona: &PersonaSlug) -> Arc<FeedsRead> {
        let now = self.inner.clock.now();
        let known = self.last().get(persona).cloned();
        match known {
            Some(known) if now - known.at < FRESH => known,
            Some(known) if now - known.at < USABLE => {
                self.refresh(persona);
                known
            }
            _ => self.read_now(persona).await,
        }
    }

    /// One at a time for each persona. Ends by itself: every feed has a time-out.
    fn refresh(&self, persona: &PersonaSlug) {
        if !self.refreshing().insert(persona.clone()) {
            return;
        }
        let (readings, persona) = (self.clone(), persona.clone());
        tokio::spawn(async move {
            readings.read_now(&persona).await;
            readings.refreshing().remove(&persona);
        });
    }

    async fn read_now(&self, persona: &PersonaSlug) -> Arc<FeedsRead> {
        let now = self.inner.clock.now();
        let feeds = self.feeds_of(persona);
        let reports = feeds::read_all(feeds, &FeedQuery { now, since: now - DAYS, until: now, limit: ITEMS }).await;
        let mut documents = Vec::new();
        for feed in feeds {
            // A feed that cannot be read says so in its report.
            documents.extend(feed.documents(now).await.unwrap_or_default());
        }
        let read = Arc::new(FeedsRead { at: now, reports, documents });
        self.last().insert(persona.clone(), read.clone());
        read
    }

    fn refreshing(&self) -> MutexGuard<'_, HashSet<PersonaSlug>> {
        self.inner.refreshing.lock().expect("no code panics while it holds the list")
    }

    fn last(&self) -> MutexGuard<'_, HashMap<PersonaSlug, Arc<FeedsRead>>> {
        self.inner.last.lock().expect("no code panics while it holds the readings")
    }
}
