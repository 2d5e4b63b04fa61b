use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{RefusedAction, Urgency};
use crate::features::meeting::model::{Participant, SeatState};
use crate::features::meeting::signal::Signal;
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::page::PageValue;
use crate::features::standup::model::prediction::{Call, Scoreboard, Settled};
use crate::features::standup::model::tension::CrossCheck;
use kernel::feeds::Sample;
use kernel::figure;
use kernel::ids::{ChannelId, MeetingId, WorkItemId};
use kernel::money::{Money, TokenUsage};

/// The Day Report of a channel. A second standup on the same day revises it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DayReport {
    pub day: NaiveDate,
    pub channel: ChannelId,
    /// Without `#`.
    pub channel_name: String,
    /// The standup that made this revision.
    pub meeting: MeetingId,
    /// 1 for the first of the day.
    pub revision: u32,
    pub written_at: DateTime<Utc>,
    /// When its feeds were read. The next report covers the time since then. Absent in reports of earlier versions.
    #[serde(default)]
    pub read_at: Option<DateTime<Utc>>,
    /// The zone of its times.
    #[serde(default, with = "kernel::time::zone_name")]
    pub zone: Tz,
    /// At most 3 lines.
    pub tldr: Vec<String>,
    /// The summaries that this revision replaces, oldest first.
    #[serde(default)]
    pub earlier: Vec<EarlierSummary>,
    pub question: Option<String>,
    /// The call, or why there is none.
    pub call: Result<ReportedCall, String>,
    pub scoreboard: Scoreboard,
    pub contributions: Vec<Contributed>,
    /// What people wrote before the standup. Absent in reports of earlier versions.
    #[serde(default)]
    pub people: Vec<PersonSaid>,
    pub cross_check: CrossCheck,
    /// Changed values since the last report.
    pub changes: Vec<ValueChange>,
    /// Changed actions since the last report, one line each.
    pub moved: Vec<String>,
    pub actions: Vec<ReportedAction>,
    pub refused: Vec<RefusedAction>,
    /// All feeds that were read.
    pub feeds: Vec<FeedLine>,
    pub cost: Money,
    pub usage: TokenUsage,
    /// Seconds from the call to the report.
    pub seconds: u64,
    /// `provider/model` of the summary. None if it was generated without a model.
    pub model: Option<String>,
}

/// The summary of an earlier revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierSummary {
    pub at: DateTime<Utc>,
    pub tldr: Vec<String>,
}

/// The day's call with its terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedCall {
    pub call: Call,
    pub by_name: String,
    /// "repository commits >= 512 (now 502)".
    pub terms: String,
    pub expires_at: DateTime<Utc>,
    /// The result, if the question is decided before it expires.
    #[serde(default)]
    pub settled: Option<Settled>,
}

/// What a participant said, or why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contributed {
    pub who: Participant,
    pub name: String,
    pub state: SeatState,
    pub text: Option<String>,
    pub reason: Option<String>,
    pub signals: Vec<Signal>,
}

/// A value now and at the last report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueChange {
    pub feed: String,
    pub name: String,
    pub unit: String,
    pub before: f64,
    pub before_at: DateTime<Utc>,
    pub now: f64,
    pub now_at: DateTime<Utc>,
    /// The usual value. None while too little is known.
    #[serde(default)]
    pub usual: Option<Usual>,
}

/// The usual value of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    pub median: f64,
    /// The usual distance of values from the median.
    pub spread: f64,
}

impl Usual {
    /// The fewest earlier days that are needed.
    const LEAST: usize = 5;

    /// Computed from one value per day. Uses only the same weekday if it has enough days.
    pub fn of(days: &[(NaiveDate, f64)], today: NaiveDate) -> Option<Self> {
        let same: Vec<f64> = days.iter().filter(|(day, _)| day.weekday() == today.weekday()).map(|(_, value)| *value).collect();
        let all = || days.iter().map(|(_, value)| *value).collect();
        let values: Vec<f64> = if same.len() >= Self::LEAST { same } else { all() };
        if values.len() < Self::LEAST {
            return None;
        }
        let median = median(values.clone());
        Some(Self { median, spread: median_distance(&values, median) })
    }

    /// The distance of a value in multiples of the usual distance, which is taken as at least a twentieth of the median.
    pub fn distance(&self, value: f64) -> f64 {
        (value - self.median).abs() / self.spread.max(self.median.abs() / 20.0).max(f64::MIN_POSITIVE)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

fn median_distance(values: &[f64], median_of_all: f64) -> f64 {
    median(values.iter().map(|value| (value - median_of_all).abs()).collect())
}

impl ValueChange {
    /// Whether the displayed value has changed.
    pub fn has_moved(&self) -> bool {
        figure::number(self.now) != figure::number(self.before)
    }

    /// The relative change, from 0. A change from zero counts as 1.
    pub fn share(&self) -> f64 {
        let by = (self.now - self.before).abs();
        match self.before.abs() {
            _ if by == 0.0 => 0.0,
            0.0 => 1.0,
            before => by / before,
        }
    }

    /// The change between two samples of a feed. None if the value did not change or the samples are not comparable: different units, or
    /// the earlier one is newer.
    pub fn between(feed: &str, before: &Sample, now: &Sample) -> Option<Self> {
        let comparable = before.unit == now.unit && before.at <= now.at;
        #[expect(clippy::float_cmp, reason = "a number that was stored comes back as it was")]
        let moved = before.number != now.number;
        (comparable && moved).then(|| Self {
            feed: feed.to_owned(),
            name: now.name.clone(),
            unit: now.unit.clone(),
            before: before.number,
            before_at: before.at,
            now: now.number,
            now_at: now.at,
            usual: None,
        })
    }
}

/// An action with its state in the backlog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedAction {
    pub item: WorkItemId,
    pub what: String,
    pub how: String,
    pub why: String,
    pub owner: String,
    pub urgency: Urgency,
}

/// The result of reading a feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedLine {
    pub feed: String,
    /// The names of the personas that declare it.
    pub of: Vec<String>,
    /// The source and age of the data, or why there is none.
    pub outcome: Result<FeedRead, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedRead {
    pub source: String,
    pub as_of: DateTime<Utc>,
    pub items: usize,
    /// "commits 502", one per value.
    pub values: Vec<String>,
    pub note: Option<String>,
    /// The values as numbers, to compare the next report with. Absent in reports of earlier versions.
    #[serde(default)]
    pub numbers: Vec<PageValue>,
    /// What identifies its entries of news, and the references of its items without a time: they are not new in the next report.
    #[serde(default)]
    pub known: Vec<String>,
}

impl DayReport {
    /// When the data of the report was read.
    pub fn as_of(&self) -> DateTime<Utc> {
        self.read_at.unwrap_or(self.written_at)
    }

    /// The data of a feed in the report.
    pub fn find_feed(&self, feed: &str) -> Option<&FeedRead> {
        self.feeds.iter().find(|line| line.feed == feed)?.outcome.as_ref().ok()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn sample(minutes: i64, unit: &str, number: f64) -> Sample {
        let at = DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        Sample { feed: "git".into(), name: "latency".into(), unit: unit.into(), at, number }
    }

    #[test]
    fn a_change_is_one_of_what_is_comparable_and_moved() {
        let now = sample(60, "ms", 120.0);
        let change = |before: Sample| ValueChange::between("service", &before, &now).map(|change| change.now - change.before);
        assert_eq!(change(sample(0, "ms", 100.0)), Some(20.0));
        assert_eq!(change(sample(60, "ms", 120.0)), None);
        assert_eq!(change(sample(0, "s", 0.1)), None, "another unit");
        assert_eq!(change(sample(61, "ms", 100.0)), None, "newer than what is said now");
    }
}
