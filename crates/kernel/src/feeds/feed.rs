use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use sha2::{Digest as _, Sha256};

use crate::feeds::condition::Expectation;
use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{Document, FeedError, FeedQuery, FeedSpecError, Reading, Sample};
use crate::persona::FeedSpec;
use crate::time::{SharedClock, show_time};

/// The clock difference between machines that is tolerated without a note.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// The settings that every kind accepts.
const TIMEOUT: &str = "timeout_s";
const MAX_AGE: &str = "max_age_min";
const EXPECT: &str = "expect";

/// The time limit of a feed (FEED-2, STAND-3), the maximum age of its data, and what is expected of its values.
#[derive(Debug, Clone)]
pub struct Limits {
    timeout: Duration,
    max_age: Duration,
    expect: Vec<Expectation>,
}

impl Limits {
    pub fn read(settings: &mut Settings<'_>) -> Result<Self, FeedSpecError> {
        let timeout = settings.number(TIMEOUT, 1, 60)?.unwrap_or(10);
        let max_age = settings.number(MAX_AGE, 1, 527_040)?.unwrap_or(24 * 60);
        let expect = settings.parsed(EXPECT, Expectation::ALLOWED, |value| {
            value.as_object()?.iter().map(|(name, condition)| Expectation::parse(name, condition.as_str()?)).collect()
        })?;
        Ok(Self { timeout: Duration::from_secs(timeout), max_age: Duration::from_mins(max_age), expect: expect.unwrap_or_default() })
    }
}

/// A live data source with a time limit. On failure it reports why, and since when there is no data. Cheap to clone.
#[derive(Clone)]
pub struct Feed {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    kind: String,
    key: String,
    source: Box<dyn Source>,
    limits: Limits,
    clock: SharedClock,
    /// The zone of the times in notes.
    zone: Tz,
    /// The time of the newest data seen.
    newest: Mutex<Option<DateTime<Utc>>>,
}

impl Feed {
    pub fn new(spec: &FeedSpec, source: Box<dyn Source>, limits: Limits, clock: SharedClock, zone: Tz) -> Self {
        let (name, kind, key) = (spec.name.clone(), spec.kind.clone(), key_of(spec));
        Self { inner: Arc::new(Inner { name, kind, key, source, limits, clock, zone, newest: Mutex::new(None) }) }
    }

    /// The declared name, shown in reports and citations.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// One of [`super::kinds()`].
    pub fn kind(&self) -> &str {
        &self.inner.kind
    }

    /// What is expected of its values.
    pub fn expectations(&self) -> &[Expectation] {
        &self.inner.limits.expect
    }

    /// The key of its samples: the kind and a digest of the source's settings. Name and limits are not included, so personas that declare
    /// the same source share its samples, and a longer time-out keeps the history.
    pub fn key(&self) -> &str {
        &self.inner.key
    }

    /// Whether both are clones of the same feed.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The items between `asked.since` and `asked.until`, newest first.
    ///
    /// # Errors
    /// It failed, timed out, or its data is too old.
    pub async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let read = self.in_time(self.inner.source.read(asked)).await;
        let mut reading = read.map_err(|error| self.since_when(error))?;
        self.check_time(&mut reading, asked);
        let age = asked.now.signed_duration_since(reading.as_of).to_std().unwrap_or_default();
        if age > self.inner.limits.max_age {
            return Err(FeedError::NoDataSince { since: reading.as_of, reason: "its newest data is too old".into() });
        }
        Ok(reading)
    }

    /// Searchable documents, for kinds that have some.
    ///
    /// # Errors
    /// It failed or timed out.
    pub async fn documents(&self, now: DateTime<Utc>) -> Result<Vec<Document>, FeedError> {
        self.in_time(self.inner.source.documents(now)).await.map_err(|error| self.since_when(error))
    }

    /// The names of all documents, also of those that are not searched.
    ///
    /// # Errors
    /// It failed or timed out.
    pub async fn list_documents(&self) -> Result<Vec<String>, FeedError> {
        self.in_time(self.inner.source.list_documents()).await
    }

    /// The text of a document that [`Self::list_documents`] names, as it is now.
    ///
    /// # Errors
    /// There is none of that name, it cannot be read, or it timed out.
    pub async fn open_document(&self, name: &str) -> Result<String, FeedError> {
        self.in_time(self.inner.source.open_document(name)).await
    }

    /// Whether an item is new when it is first seen, whatever its time.
    pub fn counts_when_seen(&self) -> bool {
        self.inner.source.counts_when_seen()
    }

    /// Whether it is on this machine, so that it can be read for each question.
    pub fn is_local(&self) -> bool {
        self.inner.source.is_local()
    }

    /// Earlier values that the source itself knows, oldest first. Empty for most kinds.
    ///
    /// # Errors
    /// It failed or timed out.
    pub async fn history(&self, value: &str, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<(DateTime<Utc>, f64)>, FeedError> {
        self.in_time(self.inner.source.history(value, since, until)).await
    }

    /// Whether a value can never fall, so that a condition that it has passed is decided.
    pub fn only_rises(&self, value: &str) -> bool {
        self.inner.source.only_rises(value)
    }

    /// Converts a reading's values to samples.
    pub fn samples(&self, reading: &Reading) -> Vec<Sample> {
        let sample = |value: &super::Value| Sample {
            feed: self.inner.key.clone(),
            name: value.name.clone().into_owned(),
            unit: value.unit.clone().into_owned(),
            at: reading.as_of,
            number: value.number,
        };
        reading.values.iter().map(sample).collect()
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, FeedError>> + Send) -> Result<T, FeedError> {
        let timeout = self.inner.limits.timeout;
        tokio::select! {
            // After the process was suspended both are ready. The result is preferred.
            biased;
            result = work => result,
            () = self.inner.clock.sleep(timeout) => Err(FeedError::TimedOut(timeout)),
        }
    }

    /// A source may report a wrong time, or return older data than before.
    fn check_time(&self, reading: &mut Reading, asked: &FeedQuery) {
        let mut newest = self.newest();
        let (told, zone) = (reading.as_of, self.inner.zone);
        if told > asked.now + AHEAD {
            reading.add_note(&format!("its data is dated {}, which is in the future, so it counts as current", show_time(told, zone)));
            reading.as_of = asked.now;
        } else if told != asked.now
            && let Some(before) = newest.filter(|before| told < *before)
        {
            // Data of the time of the question is not checked, because overlapping reads can finish in any order.
            reading.add_note(&format!(
                "its data went back in time: it is of {}, and was of {} before",
                show_time(told, zone),
                show_time(before, zone)
            ));
        }
        *newest = (*newest).max(Some(reading.as_of));
    }

    fn since_when(&self, error: FeedError) -> FeedError {
        match *self.newest() {
            Some(since) => FeedError::NoDataSince { since, reason: error.to_string() },
            None => error,
        }
    }

    fn newest(&self) -> MutexGuard<'_, Option<DateTime<Utc>>> {
        self.inner.newest.lock().expect("no code panics while it holds this")
    }
}

/// The kind alone if there are no settings. Uses a digest because an address may contain a secret.
fn key_of(spec: &FeedSpec) -> String {
    let mut settings = serde_json::Value::Object(spec.settings.clone());
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|key, _| ![TIMEOUT, MAX_AGE, EXPECT].contains(&key.as_str()));
        if settings.is_empty() {
            return spec.kind.clone();
        }
    }
    settings.sort_all_objects();
    let digest = Sha256::digest(settings.to_string());
    digest.iter().take(8).fold(format!("{} ", spec.kind), |mut key, byte| {
        write!(key, "{byte:02x}").expect("a String takes everything");
        key
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use chrono::TimeZone as _;
    use serde_json::json;

    use super::*;
    use crate::feeds::Value;
    use crate::testing::feeds::spec;
    use crate::time::ManualClock;

    /// Returns data of these times in turn, then hangs.
    struct Tiring {
        calls: AtomicUsize,
        as_of: Vec<DateTime<Utc>>,
    }

    #[async_trait]
    impl Source for Tiring {
        async fn read(&self, _: &FeedQuery) -> Result<Reading, FeedError> {
            let Some(as_of) = self.as_of.get(self.calls.fetch_add(1, Ordering::Relaxed)) else { std::future::pending().await };
            let values = vec![Value::count("calls", 1)];
            Ok(Reading { source: "a test".into(), as_of: *as_of, values, items: Vec::new(), total: 0, note: None, story: Vec::new() })
        }
    }

    fn at(hour: u32, minute: u32) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 11, 21, hour, minute, 0).unwrap()
    }

    fn tiring(as_of: &[DateTime<Utc>], clock: &ManualClock) -> Feed {
        let limits = Limits { timeout: Duration::from_secs(10), max_age: Duration::from_hours(1), expect: Vec::new() };
        let source = Tiring { calls: AtomicUsize::new(0), as_of: as_of.to_vec() };
        Feed::new(&spec("tiring", json!({})), Box::new(source), limits, Arc::new(clock.clone()), Tz::UTC)
    }

    fn query(now: DateTime<Utc>) -> FeedQuery {
        FeedQuery { now, since: at(0, 0), until: now, limit: 10 }
    }

    #[tokio::test]
    async fn a_feed_that_hangs_says_since_when_there_is_no_data() {
        let clock = ManualClock::new(at(7, 40));
        let feed = tiring(&[at(7, 40)], &clock);
        feed.read(&query(at(7, 40))).await.expect("the first read works");
        let second = tokio::spawn(async move { feed.read(&query(at(8, 0))).await });
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(10));
        let error = second.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "no data since 2026-11-21T07:40:00Z (it did not respond within 10 s)");
    }

    #[tokio::test]
    async fn data_beyond_its_age_is_not_shown_as_if_it_were_fresh() {
        let clock = ManualClock::new(at(9, 0));
        let error = tiring(&[at(7, 40)], &clock).read(&query(at(9, 0))).await.unwrap_err();
        assert_eq!(error, FeedError::NoDataSince { since: at(7, 40), reason: "its newest data is too old".into() });
    }

    #[tokio::test]
    async fn data_that_goes_back_in_time_or_is_yet_to_come_is_told() {
        let clock = ManualClock::new(at(9, 0));
        let feed = tiring(&[at(8, 50), at(8, 20), at(9, 4), at(23, 0)], &clock);
        let mut notes = Vec::new();
        for _ in 0..4 {
            let reading = feed.read(&query(at(9, 0))).await.unwrap();
            notes.push((reading.as_of, reading.note));
        }
        let back = "its data went back in time: it is of Sat 21 Nov, 08:20, and was of Sat 21 Nov, 08:50 before";
        let ahead = "its data is dated Sat 21 Nov, 23:00, which is in the future, so it counts as current";
        assert_eq!(
            notes,
            [(at(8, 50), None), (at(8, 20), Some(back.into())), (at(9, 4), None), (at(9, 0), Some(ahead.into()))],
            "a clock that is slightly ahead is no news"
        );
    }

    #[tokio::test]
    async fn values_become_samples_of_the_datas_own_time() {
        let feed = tiring(&[at(8, 50)], &ManualClock::new(at(9, 0)));
        let reading = feed.read(&query(at(9, 0))).await.unwrap();
        let sample = Sample { feed: "tiring".into(), name: "calls".into(), unit: String::new(), at: at(8, 50), number: 1.0 };
        assert_eq!(feed.samples(&reading), [sample]);
    }

    #[test]
    fn the_key_is_what_is_read_and_not_how_long_it_may_take() {
        let key = |settings| key_of(&spec("git", settings));
        assert_eq!(key(json!({})), "git");
        assert_eq!(key(json!({"timeout_s": 5, "max_age_min": 60})), "git");
        let river = key(json!({"path": "river"}));
        assert_eq!(river.len(), "git ".len() + 16);
        assert_eq!(key(json!({"timeout_s": 5, "path": "river"})), river);
        assert_ne!(key(json!({"path": "lake"})), river);
        assert_eq!(key_of(&FeedSpec { name: "code".into(), ..spec("git", json!({"path": "river"})) }), river);
    }
}
