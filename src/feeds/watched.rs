use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::settings::Settings;
use super::{Document, Feed, FeedError, FeedQuery, FeedSpecError, Reading};
use crate::clock::SharedClock;

/// How long a feed may take (FEED-2, STAND-3), and how old what it says may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    timeout: Duration,
    max_age: Duration,
}

impl Limits {
    pub(crate) fn read(settings: &mut Settings<'_>) -> Result<Self, FeedSpecError> {
        let timeout = settings.number("timeout_s", 1, 60)?.unwrap_or(10);
        let max_age = settings.number("max_age_min", 1, 527_040)?.unwrap_or(24 * 60);
        Ok(Self { timeout: Duration::from_secs(timeout), max_age: Duration::from_mins(max_age) })
    }
}

/// A feed that answers in time, or says why not and since when there is no data.
pub(crate) struct Watched {
    feed: Box<dyn Feed>,
    limits: Limits,
    clock: SharedClock,
    /// The age of the newest data that was seen.
    last_good: Mutex<Option<DateTime<Utc>>>,
}

impl Watched {
    pub(crate) fn new(feed: Box<dyn Feed>, limits: Limits, clock: SharedClock) -> Self {
        Self { feed, limits, clock, last_good: Mutex::new(None) }
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, FeedError>> + Send) -> Result<T, FeedError> {
        tokio::select! {
            result = work => result,
            () = self.clock.sleep(self.limits.timeout) => Err(FeedError::TimedOut(self.limits.timeout)),
        }
    }

    fn last_good(&self) -> std::sync::MutexGuard<'_, Option<DateTime<Utc>>> {
        self.last_good.lock().expect("no code panics while it holds this")
    }

    fn since_when(&self, error: FeedError) -> FeedError {
        match *self.last_good() {
            Some(since) => FeedError::NoDataSince { since, reason: error.to_string() },
            None => error,
        }
    }
}

#[async_trait]
impl Feed for Watched {
    fn name(&self) -> &str {
        self.feed.name()
    }

    fn kind(&self) -> &'static str {
        self.feed.kind()
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let reading = self.in_time(self.feed.read(asked)).await.map_err(|error| self.since_when(error))?;
        *self.last_good() = Some(reading.as_of);
        let age = asked.now.signed_duration_since(reading.as_of).to_std().unwrap_or_default();
        if age > self.limits.max_age {
            return Err(FeedError::NoDataSince { since: reading.as_of, reason: "its newest data is too old".into() });
        }
        Ok(reading)
    }

    async fn documents(&self, now: DateTime<Utc>) -> Result<Vec<Document>, FeedError> {
        self.in_time(self.feed.documents(now)).await.map_err(|error| self.since_when(error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use chrono::TimeZone as _;

    use super::*;
    use crate::clock::ManualClock;

    /// Answers at first, then hangs; its data stands still at `as_of`.
    struct Tiring {
        calls: AtomicUsize,
        as_of: DateTime<Utc>,
    }

    #[async_trait]
    impl Feed for Tiring {
        fn name(&self) -> &'static str {
            "tiring"
        }

        fn kind(&self) -> &'static str {
            "tiring"
        }

        async fn read(&self, _: &FeedQuery) -> Result<Reading, FeedError> {
            if self.calls.fetch_add(1, Ordering::Relaxed) > 0 {
                std::future::pending::<()>().await;
            }
            Ok(Reading { source: "a test".into(), as_of: self.as_of, items: Vec::new(), total: 0, note: None })
        }
    }

    fn at(hour: u32, minute: u32) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 11, 21, hour, minute, 0).unwrap()
    }

    fn watched(as_of: DateTime<Utc>, clock: &ManualClock) -> Watched {
        let limits = Limits { timeout: Duration::from_secs(10), max_age: Duration::from_hours(1) };
        Watched::new(Box::new(Tiring { calls: AtomicUsize::new(0), as_of }), limits, Arc::new(clock.clone()))
    }

    fn query(now: DateTime<Utc>) -> FeedQuery {
        FeedQuery { now, since: at(0, 0), until: now, limit: 10 }
    }

    #[tokio::test]
    async fn a_feed_that_hangs_says_since_when_there_is_no_data() {
        let clock = ManualClock::new(at(7, 40));
        let feed = Arc::new(watched(at(7, 40), &clock));
        feed.read(&query(at(7, 40))).await.expect("the first read works");
        let second = tokio::spawn({
            let feed = feed.clone();
            async move { feed.read(&query(at(8, 0))).await }
        });
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(10));
        let error = second.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "no data since 2026-11-21 07:40 UTC (it did not answer within 10 s)");
    }

    #[tokio::test]
    async fn data_beyond_its_age_is_not_shown_as_if_it_were_fresh() {
        let clock = ManualClock::new(at(9, 0));
        let error = watched(at(7, 40), &clock).read(&query(at(9, 0))).await.unwrap_err();
        assert_eq!(error, FeedError::NoDataSince { since: at(7, 40), reason: "its newest data is too old".into() });
    }
}
