//! Ids and message timestamps.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The id of a message in its channel: seconds and microseconds since 1970, such as `1790812800.000100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub(crate) struct Ts(u64);

impl fmt::Display for Ts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[derive(Debug)]
pub(crate) struct InvalidTs;

impl FromStr for Ts {
    type Err = InvalidTs;

    /// Reads also the shorter forms that `oldest` and `latest` may have, such as `1790812800` and `1790812800.1`.
    fn from_str(text: &str) -> Result<Self, InvalidTs> {
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if seconds.is_empty() || fraction.len() > 6 || !is_number(seconds) || !is_number(fraction) {
            return Err(InvalidTs);
        }
        let seconds: u64 = seconds.parse().map_err(|_| InvalidTs)?;
        let micros: u64 = format!("{fraction:0<6}").parse().map_err(|_| InvalidTs)?;
        seconds.checked_mul(1_000_000).and_then(|whole| whole.checked_add(micros)).map(Self).ok_or(InvalidTs)
    }
}

/// Makes ids. Each is used once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ids {
    last: u64,
    last_ts: Ts,
}

impl Ids {
    /// A new id such as `C00000000A`. As with Slack, the first letter names the kind of object.
    pub(crate) fn next(&mut self, prefix: &str) -> String {
        self.last += 1;
        let mut rest = self.last;
        let mut digits = Vec::new();
        while rest > 0 || digits.len() < 9 {
            digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[usize::try_from(rest % 36).unwrap_or_default()]);
            rest /= 36;
        }
        let digits = digits.iter().rev().map(|digit| char::from(*digit));
        prefix.chars().chain(digits).collect()
    }

    /// A timestamp for the present time, later than all earlier timestamps.
    pub(crate) fn ts(&mut self, now: Duration) -> Ts {
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        self.last_ts = Ts(now.max(self.last_ts.0 + 100));
        self.last_ts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_grow_while_the_clock_stands_still_and_are_read_again() {
        let mut ids = Ids::default();
        let now = Duration::from_hours(497_448);
        let (first, second) = (ids.ts(now), ids.ts(now));
        assert!(first < second);
        assert_eq!(second.to_string(), "1790812800.000100");
        assert_eq!(second.to_string().parse::<Ts>().ok(), Some(second));
        assert_eq!("1790812800.1".parse::<Ts>().expect("short").to_string(), "1790812800.100000");
        for wrong in ["", "x", "1.0000001", "-1", "1.x", "1.2.3"] {
            assert!(wrong.parse::<Ts>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_unique_and_as_long_as_those_of_slack() {
        let mut ids = Ids::default();
        let made: std::collections::BTreeSet<String> = (0..2_000).map(|_| ids.next("C")).collect();
        assert_eq!(made.len(), 2_000);
        assert!(made.iter().all(|id| id.len() == 10 && id.starts_with('C')));
    }
}
