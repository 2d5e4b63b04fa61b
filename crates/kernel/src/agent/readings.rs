use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::task::JoinHandle;

use crate::agent::documents::DocumentSearch;
use crate::feeds::condition::Expectation;
use crate::feeds::{Document, Feed, FeedError, FeedQuery, FeedReport, Reading, Sample};
use crate::ids::PersonaSlug;
use crate::time::SharedClock;

/// The time range of feeds in a prompt, and the most items of each.
const DAYS: TimeDelta = TimeDelta::days(7);
const ITEMS: usize = 20;

/// Limit of items read from a source whose items count as new when they are first seen.
const SEEN: usize = 200;

/// A reading is reused for this time, so that a burst of questions does not ask a service each time.
const FRESH: TimeDelta = TimeDelta::seconds(30);

/// The same for sources on this machine. Short, because a file or a commit is often asked about right after it was made.
const FRESH_HERE: TimeDelta = TimeDelta::seconds(2);

/// A question waits this long for a new reading. Then the known one is used: a good one if it is no older than `USABLE`, a failed one always, so that
/// a source that does not respond delays only the first answer by its whole time-out.
const PATIENCE: Duration = Duration::from_secs(3);
const USABLE: TimeDelta = TimeDelta::minutes(5);

/// The feeds of all personas, with their last readings. Cheap to clone.
///
/// A feed shared by several personas is stored once and read once, also for concurrent questions.
#[derive(Clone)]
pub struct Readings {
    inner: Arc<Inner>,
}

struct Inner {
    feeds: HashMap<PersonaSlug, Vec<Feed>>,
    shared: Vec<Arc<Shared>>,
    clock: SharedClock,
}

/// A feed, its personas and its last reading.
struct Shared {
    feed: Feed,
    personas: Vec<PersonaSlug>,
    /// Locked during a read. Others wait and then use the result.
    reading: tokio::sync::Mutex<()>,
    last: Mutex<Option<Arc<FeedRead>>>,
}

/// A feed's result at one time.
struct FeedRead {
    at: DateTime<Utc>,
    report: FeedReport,
    documents: Arc<DocumentSearch>,
}

/// The results of all feeds of a persona.
#[derive(Default)]
pub struct FeedsRead {
    /// Whose feeds they are.
    pub persona: Option<PersonaSlug>,
    pub reports: Vec<FeedReport>,
    /// The documents of each feed that has some.
    pub documents: Vec<Arc<DocumentSearch>>,
}

/// A feed's result for a standup.
#[derive(Debug, Clone, PartialEq)]
pub struct PageEntry {
    /// The personas that declare the feed.
    pub personas: Vec<PersonaSlug>,
    pub feed: String,
    /// The kind of feed.
    pub kind: String,
    pub outcome: Result<Reading, FeedError>,
    /// What is expected of its values.
    pub expect: Vec<Expectation>,
    /// The values to record as samples.
    pub samples: Vec<Sample>,
}

/// The values that a feed has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedValues {
    pub feed: String,
    /// Each with its unit.
    pub values: Vec<(String, String)>,
}

/// Why a feed was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchFeed {
    #[error("there is no feed called \"{name}\". There {known}")]
    Unknown { name: String, known: String },
    #[error("\"{name}\" is the name of several feeds ({owners}). Give them different names in their persona files")]
    Ambiguous { name: String, owners: String },
}

impl Readings {
    pub fn new(feeds: HashMap<PersonaSlug, Vec<Feed>>, clock: SharedClock) -> Self {
        let mut owned: Vec<_> = feeds.iter().flat_map(|(persona, feeds)| feeds.iter().map(move |feed| (persona, feed))).collect();
        owned.sort_by_key(|(persona, _)| *persona);
        let mut shared: Vec<Shared> = Vec::new();
        for (persona, feed) in owned {
            match shared.iter_mut().find(|shared| shared.feed.is(feed)) {
                Some(shared) => shared.personas.push(persona.clone()),
                None => shared.push(Shared::new(feed.clone(), persona.clone())),
            }
        }
        Self { inner: Arc::new(Inner { shared: shared.into_iter().map(Arc::new).collect(), feeds, clock }) }
    }

    pub fn feeds_of(&self, persona: &PersonaSlug) -> &[Feed] {
        self.inner.feeds.get(persona).map(Vec::as_slice).unwrap_or_default()
    }

    /// All feeds, those of a persona first.
    pub fn list_feeds<'a>(&'a self, persona: &PersonaSlug) -> impl Iterator<Item = &'a Feed> {
        let own = self.feeds_of(persona);
        own.iter().chain(self.inner.shared.iter().map(|shared| &shared.feed).filter(move |feed| !own.iter().any(|own| own.is(feed))))
    }

    /// Finds a declared feed by name, for any persona.
    ///
    /// # Errors
    /// No feed or several feeds have this name. The message lists the candidates.
    pub fn get_feed(&self, name: &str) -> Result<&Feed, NoSuchFeed> {
        let found: Vec<_> = self.inner.shared.iter().filter(|shared| shared.feed.name() == name).collect();
        match found.as_slice() {
            [shared] => Ok(&shared.feed),
            [] => Err(NoSuchFeed::Unknown { name: name.to_owned(), known: self.describe_names() }),
            several => {
                let owners: Vec<_> = several.iter().map(|shared| format!("of {}", list(&shared.personas))).collect();
                Err(NoSuchFeed::Ambiguous { name: name.to_owned(), owners: owners.join("; ") })
            }
        }
    }

    /// Whether a feed has a value: by its last reading, or by one that takes no longer than `limit`. None if that is not known.
    pub async fn has_value(&self, feed: &str, value: &str, limit: Duration) -> Option<bool> {
        let shared = self.inner.shared.iter().find(|shared| shared.feed.name() == feed)?;
        let known = shared.last().clone();
        let read = if let Some(known) = known {
            known
        } else {
            tokio::select! {
                read = shared.read(&self.inner.clock) => read,
                () = self.inner.clock.sleep(limit) => return None,
            }
        };
        read.report.outcome.as_ref().ok().map(|reading| reading.find_value(value).is_some())
    }

    /// The values of each feed by its last reading, with their units. Reads nothing.
    pub fn list_values(&self) -> Vec<FeedValues> {
        let of = |shared: &Arc<Shared>| {
            let known = shared.last().clone()?;
            let values = &known.report.outcome.as_ref().ok()?.values;
            let values: Vec<_> = values.iter().map(|value| (value.name.to_string(), value.unit.to_string())).collect();
            (!values.is_empty()).then(|| FeedValues { feed: shared.feed.name().to_owned(), values })
        };
        self.inner.shared.iter().filter_map(of).collect()
    }

    /// The names of all declared feeds, without duplicates.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.inner.shared.iter().map(|shared| shared.feed.name()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn describe_names(&self) -> String {
        let names = self.names();
        if names.is_empty() { "is none at all".into() } else { format!("are {}", names.join(", ")) }
    }

    /// Reads all feeds in the background, so that the first turns do not wait.
    pub fn warm(&self) {
        for shared in &self.inner.shared {
            drop(self.refresh(shared));
        }
    }

    /// The persona's feeds, at most a moment old. Takes as long as the slowest feed.
    pub async fn read(&self, persona: &PersonaSlug) -> FeedsRead {
        let shared = |feed: &Feed| self.inner.shared.iter().find(|shared| shared.feed.is(feed));
        let own = self.feeds_of(persona).iter().filter_map(shared);
        let mut reads = FeedsRead { persona: Some(persona.clone()), ..FeedsRead::default() };
        for read in futures_util::future::join_all(own.map(|shared| self.read_lately(shared))).await {
            reads.reports.push(read.report.clone());
            reads.documents.extend(Some(read.documents.clone()).filter(|search| !search.documents().is_empty()));
        }
        reads
    }

    /// The feeds of this machine that have no material yet, with the reason: no repository, no folder.
    pub async fn list_absent(&self) -> Vec<(String, String)> {
        let local = self.inner.shared.iter().filter(|shared| shared.feed.is_local());
        let read = futures_util::future::join_all(local.map(|shared| self.read_lately(shared))).await;
        let absent = |read: &Arc<FeedRead>| {
            let why = read.report.outcome.as_ref().ok()?.find_absence()?;
            Some((read.report.feed.clone(), why.to_owned()))
        };
        read.iter().filter_map(absent).collect()
    }

    /// Reads every feed of the team concurrently, without the cache: the shared page of a standup (STAND-3). Takes as long as the slowest
    /// feed, which has a time-out.
    pub async fn read_page(&self, asked: &FeedQuery) -> Vec<PageEntry> {
        let read = async |shared: &Arc<Shared>| {
            let mut query = asked.clone();
            if shared.feed.counts_when_seen() {
                // All that there is, so that the next page knows what was seen.
                query = FeedQuery { since: DateTime::<Utc>::MIN_UTC, until: DateTime::<Utc>::MAX_UTC, limit: SEEN, ..query };
            }
            let outcome = shared.feed.read(&query).await;
            let samples = outcome.as_ref().map(|reading| shared.feed.samples(reading)).unwrap_or_default();
            PageEntry {
                personas: shared.personas.clone(),
                feed: shared.feed.name().to_owned(),
                kind: shared.feed.kind().to_owned(),
                outcome,
                expect: shared.feed.expectations().to_vec(),
                samples,
            }
        };
        futures_util::future::join_all(self.inner.shared.iter().map(read)).await
    }

    async fn read_lately(&self, shared: &Arc<Shared>) -> Arc<FeedRead> {
        let clock = &self.inner.clock;
        let now = clock.now();
        let last = shared.last().clone();
        match last {
            Some(known) if now - known.at < shared.fresh_for() => known,
            Some(known) if now - known.at < USABLE || known.report.outcome.is_err() => tokio::select! {
                biased;
                read = self.refresh(shared) => read.unwrap_or(known),
                () = clock.sleep(PATIENCE) => known,
            },
            _ => shared.read(clock).await,
        }
    }

    /// Reads in the background. If a read is in progress, waits for its result.
    fn refresh(&self, shared: &Arc<Shared>) -> JoinHandle<Arc<FeedRead>> {
        let (shared, clock) = (shared.clone(), self.inner.clock.clone());
        tokio::spawn(async move { shared.read(&clock).await })
    }
}

impl Shared {
    fn new(feed: Feed, persona: PersonaSlug) -> Self {
        Self { feed, personas: vec![persona], reading: tokio::sync::Mutex::new(()), last: Mutex::default() }
    }

    async fn read(&self, clock: &SharedClock) -> Arc<FeedRead> {
        let _reading = self.reading.lock().await;
        let now = clock.now();
        if let Some(known) = self.find_younger(now, self.fresh_for()) {
            return known;
        }
        let query = FeedQuery { now, since: now - DAYS, until: now, limit: ITEMS };
        let (outcome, documents) = tokio::join!(self.feed.read(&query), self.feed.documents(now));
        let report = FeedReport { feed: self.feed.name().to_owned(), outcome };
        // A failed feed is part of the report.
        let documents = self.index(documents.unwrap_or_default()).await;
        let read = Arc::new(FeedRead { at: now, report, documents });
        *self.last() = Some(read.clone());
        read
    }

    /// The index of these documents. It is made again only if they have changed.
    async fn index(&self, documents: Vec<Document>) -> Arc<DocumentSearch> {
        let known = self.last().as_ref().map(|known| known.documents.clone());
        match known.filter(|known| known.documents() == documents) {
            Some(known) => known,
            None => tokio::task::spawn_blocking(|| Arc::new(DocumentSearch::new(documents))).await.unwrap_or_default(),
        }
    }

    fn fresh_for(&self) -> TimeDelta {
        if self.feed.is_local() { FRESH_HERE } else { FRESH }
    }

    fn find_younger(&self, now: DateTime<Utc>, than: TimeDelta) -> Option<Arc<FeedRead>> {
        self.last().clone().filter(|known| now - known.at < than)
    }

    fn last(&self) -> MutexGuard<'_, Option<Arc<FeedRead>>> {
        self.last.lock().expect("no code panics while it holds the reading")
    }
}

fn list(personas: &[PersonaSlug]) -> String {
    personas.iter().map(PersonaSlug::as_str).collect::<Vec<_>>().join(", ")
}
