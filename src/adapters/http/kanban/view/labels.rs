use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::time::show_time;

use crate::features::backlog::model::{Evidence, Judge, Urgency, WorkStatus};
use crate::features::backlog::render::{changed_tests, total};

/// How long ago or how far ahead, in its largest unit: `4 min ago`, `in 3 h`, `12 d ago`.
pub(super) fn distance(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let minutes = (now - at).num_minutes();
    let length = match minutes.abs() {
        ..1 => return "now".into(),
        count @ 1..60 => format!("{count} min"),
        count @ 60..2880 => format!("{} h", count / 60),
        count => format!("{} d", count / 1440),
    };
    if minutes < 0 { format!("in {length}") } else { format!("{length} ago") }
}

/// When something was or will be: `Fri 27 Nov, 09:00 (3 h ago)`.
pub(super) fn date(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    format!("{} ({})", show_time(at, zone), distance(at, now))
}

pub(super) fn status(status: WorkStatus) -> String {
    status.as_str().replace('_', " ")
}

pub(super) fn urgency(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Now => "now",
        Urgency::Today => "today",
        Urgency::ThisWeek => "this week",
        Urgency::Backlog => "some time",
    }
}

/// `1 file, 2 links, a review`.
pub(super) fn count_evidence(evidence: &[Evidence]) -> Option<String> {
    let kinds = [
        ("file", "files"),
        ("link", "links"),
        ("delivery", "deliveries"),
        ("answer", "answers"),
        ("test", "tests"),
        ("value", "values"),
        ("reading", "readings"),
        ("review", "reviews"),
    ];
    let parts = kinds.into_iter().filter_map(|(one, many)| match evidence.iter().filter(|proof| kind(proof) == one).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    });
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn kind(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::File { .. } | Evidence::Uncited { .. } => "file",
        Evidence::Branch { .. } => "change",
        Evidence::Link { .. } => "link",
        Evidence::Delivered { .. } => "delivery",
        Evidence::Answer { .. } => "answer",
        Evidence::Test { .. } | Evidence::NotHeld { .. } => "test",
        Evidence::Value { .. } | Evidence::NotMet { .. } => "value",
        Evidence::Reading { .. } => "reading",
        Evidence::Criterion { .. } => "criterion",
        Evidence::Review { .. } => "review",
    }
}

/// One piece of evidence as a sentence, and its hash.
pub(super) fn evidence(evidence: &Evidence, zone: Tz) -> (&'static str, String, Option<String>) {
    let (text, sha256) = match evidence {
        Evidence::File { path, sha256, bytes, form } => (format!("{path}: {form}, {bytes} bytes"), Some(sha256.clone())),
        Evidence::Branch { repository, branch, diffstat, tests, .. } => {
            (format!("branch {branch} of {repository}: {}{}", total(diffstat), changed_tests(tests)), None)
        }
        Evidence::Link { url, sha256, at } => (format!("{url}, fetched {}", show_time(*at, zone)), Some(sha256.clone())),
        Evidence::Uncited { path, pages } => {
            (format!("{path}: citations taken out, because the pages were never read: {}", pages.join(", ")), None)
        }
        Evidence::Delivered { message, at, .. } => (format!("message {}, delivered {}", message.bare(), show_time(*at, zone)), None),
        Evidence::Answer { by, text, at } => (format!("{by} answered “{text}” ({})", show_time(*at, zone)), None),
        Evidence::Test { command, exit_code, at } => (format!("{command} ended with {exit_code}, {}", show_time(*at, zone)), None),
        Evidence::NotHeld { .. } => (evidence.describe_not_held().unwrap_or_default(), None),
        Evidence::Value { feed, name, value, unit, at } => (format!("{feed}: {name} was {value} {unit}, {}", show_time(*at, zone)), None),
        Evidence::Reading { feed, at } => (format!("{feed} gave data, {}", show_time(*at, zone)), None),
        Evidence::NotMet { feed, name, value, unit, at } => {
            (format!("{feed}: {name} was still {value} {unit}, {}", show_time(*at, zone)), None)
        }
        Evidence::Criterion { criterion, shown, by, at } => {
            (format!("{criterion}: “{shown}” ({}, {})", name_of_judge(by), show_time(*at, zone)), None)
        }
        Evidence::Review { by, note, at } => (format!("{}: {note} ({})", name_of_judge(by), show_time(*at, zone)), None),
    };
    (kind(evidence), text, sha256)
}

fn name_of_judge(judge: &Judge) -> &str {
    match judge {
        Judge::Persona(slug) => slug.as_str(),
        Judge::Person(name) => name,
    }
}

/// Cuts a text to at most `most` characters and says how much is left out.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} characters in all)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_date_comes_with_its_distance_in_the_largest_unit() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
        let told = [0, 1, 59, 60, 119, 2879, 2880, 40_000, -5, -90].map(|minutes| distance(now - TimeDelta::minutes(minutes), now));
        let expected = ["now", "1 min ago", "59 min ago", "1 h ago", "1 h ago", "47 h ago", "2 d ago", "27 d ago", "in 5 min", "in 1 h"];
        assert_eq!(told, expected);
        assert_eq!(date(now - TimeDelta::hours(3), now, Tz::UTC), "Fri 10 Apr, 21:00 (3 h ago)");
    }

    #[test]
    fn evidence_is_counted_by_kind() {
        let file = |path: &str| Evidence::File { path: path.into(), sha256: "ab".into(), bytes: 3, form: "text".into() };
        let reading = Evidence::Reading { feed: "prices".into(), at: DateTime::UNIX_EPOCH };
        assert_eq!(count_evidence(&[file("a"), reading, file("b")]).as_deref(), Some("2 files, 1 reading"));
        assert_eq!(count_evidence(&[]), None);
        assert_eq!(evidence(&file("a.md"), Tz::UTC), ("file", "a.md: text, 3 bytes".into(), Some("ab".into())));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("größer", 3), "grö… (6 characters in all)");
        assert_eq!(cut("größer", 6), "größer");
    }
}
