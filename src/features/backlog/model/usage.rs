use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::model::{JournalEntry, WorkStatus};
use kernel::tools::CallStatus;

/// What the runs of an item used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// The time in progress, and in review.
    pub time: TimeDelta,
    /// By tool: calls, and how many of them did not succeed.
    pub calls: BTreeMap<String, (usize, usize)>,
}

impl Usage {
    /// Adds up the changes of status, oldest first. Work that goes on counts until `now`.
    pub fn add_times(&mut self, changes: impl Iterator<Item = (WorkStatus, DateTime<Utc>)>, now: DateTime<Utc>) {
        let mut began = None;
        for (to, at) in changes {
            if let Some(began) = began.take() {
                self.time += at - began;
            }
            if matches!(to, WorkStatus::InProgress | WorkStatus::InReview) {
                began = Some(at);
            }
        }
        if let Some(began) = began {
            self.time += (now - began).max(TimeDelta::zero());
        }
    }

    /// Adds the calls of a run. The model chooses call ids and may reuse them, so a result belongs to the reply directly before it.
    pub fn add_calls<'a>(&mut self, journal: impl Iterator<Item = &'a JournalEntry>) {
        let mut last: &[_] = &[];
        for entry in journal {
            match entry {
                JournalEntry::Replied { calls, .. } => last = calls,
                JournalEntry::Returned { call, status, .. } => {
                    if let Some(made) = last.iter().find(|made| made.id == *call) {
                        let (calls, failures) = self.calls.entry(made.name.clone()).or_default();
                        *calls += 1;
                        *failures += usize::from(*status != CallStatus::Ok);
                    }
                }
                _ => {}
            }
        }
    }

    /// `12 min`; None if nothing was done yet.
    pub fn describe_time(&self) -> Option<String> {
        let minutes = self.time.num_minutes();
        match self.time.num_seconds() {
            0 if self.time.is_zero() => None,
            0 => Some("under 1 s".to_owned()),
            seconds @ 1..60 => Some(format!("{seconds} s")),
            _ if minutes < 60 => Some(format!("{minutes} min")),
            _ if minutes % 60 == 0 => Some(format!("{} h", minutes / 60)),
            _ => Some(format!("{} h {} min", minutes / 60, minutes % 60)),
        }
    }

    /// `fetch_page 3 times (1 failed), workspace_write once`; None without calls.
    pub fn describe_calls(&self) -> Option<String> {
        let times = |calls: usize| if calls == 1 { "once".to_owned() } else { format!("{calls} times") };
        let failed = |failures: usize| if failures == 0 { String::new() } else { format!(" ({failures} failed)") };
        let calls: Vec<_> =
            self.calls.iter().map(|(tool, (calls, failures))| format!("{tool} {}{}", times(*calls), failed(*failures))).collect();
        (!calls.is_empty()).then(|| calls.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::backlog::model::ToolCall;

    fn after(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    #[test]
    fn only_time_at_work_counts() {
        let mut usage = Usage::default();
        assert_eq!(usage.describe_time(), None);
        let changes = [
            (WorkStatus::New, after(0)),
            (WorkStatus::Ready, after(10)),
            (WorkStatus::InProgress, after(20)),
            (WorkStatus::Waiting, after(50)),
            (WorkStatus::Ready, after(500)),
            (WorkStatus::InProgress, after(510)),
            (WorkStatus::InReview, after(520)),
        ];
        usage.add_times(changes.into_iter(), after(545));
        assert_eq!(usage.describe_time().as_deref(), Some("1 h 5 min"));
    }

    #[test]
    fn calls_are_counted_by_tool_with_those_that_failed() {
        let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: json!({}) };
        let replied = |calls: Vec<ToolCall>| JournalEntry::Replied { text: String::new(), calls, model: "m".into() };
        let returned =
            |call: &str, status| JournalEntry::Returned { call: call.into(), text: String::new(), outside: false, status, trace: None };
        let journal = [
            replied(vec![call("1", "fetch_page"), call("2", "fetch_page")]),
            returned("1", CallStatus::Ok),
            returned("2", CallStatus::Refused),
            replied(vec![call("1", "workspace_write")]),
            returned("1", CallStatus::Ok),
            returned("saved", CallStatus::Ok),
        ];
        let mut usage = Usage::default();
        usage.add_calls(journal.iter());
        assert_eq!(usage.describe_calls().as_deref(), Some("fetch_page 2 times (1 failed), workspace_write once"));
    }
}
