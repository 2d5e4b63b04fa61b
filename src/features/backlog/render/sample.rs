//! Items for tests.

use chrono::{DateTime, Utc};

use serde_json::Value;

use crate::features::backlog::model::{Evidence, Judge, Origin, Owner, Urgency, WorkItem, WorkStatus};
use crate::features::backlog::render::{Announcer, Spot};
use kernel::ids::MeetingId;
use kernel::tools::approval::{Approval, ApprovalState, Risk};

/// Why an approval is needed.
pub(super) const OUTSIDE: &str = "Text from outside is in its context";

/// 20 November 2026, 10:00.
pub(super) fn at() -> DateTime<Utc> {
    "2026-11-20T10:00:00Z".parse().expect("a time")
}

/// An item of Vince from a standup.
pub(super) fn item() -> WorkItem {
    let origin = Origin::Meeting(MeetingId::from("m1").into());
    WorkItem {
        id: "0192f0a1b2c3d4e5f60718293a4ba1b2c3".into(),
        how: "Compare the last ten runs.".to_owned(),
        why: "It took twice as long as last week.".to_owned(),
        urgency: Urgency::Today,
        criteria: vec!["The cause is named".to_owned()],
        persona: Some("vince".into()),
        channel: Some("10".into()),
        ..WorkItem::new("Check why the build is slow", Owner::Persona("vince".into()), origin, at())
    }
}

/// The same item, done and verified.
pub(super) fn done() -> WorkItem {
    let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned();
    WorkItem {
        status: WorkStatus::Done,
        outcome: Some("The cache was cold".to_owned()),
        evidence: vec![
            Evidence::File {
                path: "slow-build.md".to_owned(),
                sha256: sha256.clone(),
                bytes: 1204,
                form: "Markdown, 3 headings, 210 words".to_owned(),
            },
            Evidence::Link { url: "https://ci.example/runs/7".to_owned(), sha256, at: at() },
            Evidence::Review { by: Judge::Persona("kelly".into()), note: "names the cause".to_owned(), at: at() },
        ],
        ..item()
    }
}

pub(super) fn with_announcer<T>(say: impl FnOnce(&Announcer<'_>) -> T) -> T {
    let roster = kernel::testing::roster::roster();
    say(&Announcer { persona: &"kelly".into(), spot: &Spot::Channel("10".into()), roster: &roster })
}

pub(super) fn approval(arguments: Value) -> Approval {
    Approval {
        id: "a1".into(),
        item: item().id,
        run: 0,
        tool: "fetch_page".to_owned(),
        arguments,
        risk: Risk::ReachOut,
        state: ApprovalState::Asked,
        by: None,
        asked_at: at(),
        decided_at: None,
    }
}
