//! Discord's ids: creation time in milliseconds and a counter. Sorting by id is sorting by time.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first second of 2015, from which Discord counts.
const EPOCH_MS: u64 = 1_420_070_400_000;
/// Bits below the time: worker, process and counter at Discord, one counter here.
const COUNTER_BITS: u32 = 22;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Snowflake(u64);

impl Snowflake {
    /// Creation time in Unix milliseconds.
    pub(crate) fn created_ms(self) -> u64 {
        (self.0 >> COUNTER_BITS) + EPOCH_MS
    }

    /// The smallest and the largest id, as bounds of a range.
    pub(crate) const MIN: Self = Self(0);
    pub(crate) const MAX: Self = Self(u64::MAX);
}

impl fmt::Display for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Snowflake {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Snowflake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Snowflake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // discord.py sends ids as integers, other clients as strings. Discord accepts both.
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Snowflake;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, as a string or a number")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Snowflake, E> {
                Ok(Snowflake(value))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Snowflake, E> {
                value.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Generates ids that increase even if the clock steps back.
#[derive(Debug, Default)]
pub(crate) struct Snowflakes {
    last: u64,
}

impl Snowflakes {
    pub(crate) fn next(&mut self) -> Snowflake {
        let by_clock = now_ms().saturating_sub(EPOCH_MS) << COUNTER_BITS;
        self.last = by_clock.max(self.last + 1);
        Snowflake(self.last)
    }

    /// Generates only ids above `seen`, which an earlier run used.
    pub(crate) fn skip(&mut self, seen: Snowflake) {
        self.last = self.last.max(seen.0);
    }
}

/// Unix milliseconds now.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time format of Discord's JSON: `2026-11-21T20:23:41.676000+00:00`.
pub(crate) fn timestamp(unix_ms: u64) -> String {
    let ms = i64::try_from(unix_ms).unwrap_or(i64::MAX);
    let time = chrono::DateTime::from_timestamp_millis(ms).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Micros, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_and_carry_their_time() {
        let mut ids = Snowflakes::default();
        let before = now_ms();
        let (a, b) = (ids.next(), ids.next());
        assert!(a < b);
        assert!(a.created_ms() >= before && a.created_ms() <= now_ms());
    }

    #[test]
    fn ids_of_an_earlier_run_are_never_given_again() {
        let mut ids = Snowflakes::default();
        ids.skip(Snowflake(u64::MAX - 5));
        assert!(ids.next() > Snowflake(u64::MAX - 5));
    }

    #[test]
    fn ids_are_read_from_strings_and_integers_and_written_as_strings() {
        let read: Vec<Snowflake> = serde_json::from_str(r#"["7", 7]"#).expect("both forms");
        assert_eq!(read[0], read[1]);
        assert_eq!(serde_json::to_string(&read[0]).expect("writes"), r#""7""#);
        assert!(serde_json::from_str::<Snowflake>(r#""x""#).is_err());
    }

    #[test]
    fn times_look_like_discords() {
        assert_eq!(timestamp(1_700_000_000_123), "2023-11-14T22:13:20.123000+00:00");
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000+00:00");
    }
}
