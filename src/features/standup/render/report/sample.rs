//! Day Reports for tests.

use crate::features::backlog::model::{RefusedAction, Urgency};
use crate::features::meeting::model::{Participant, SeatState};
use crate::features::meeting::signal::{Claim, Direction, Evidence, Signal};
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::prediction::{Answer, Call, Scoreboard};
use crate::features::standup::model::report::{Contributed, DayReport, FeedLine, FeedRead, ReportedAction, ReportedCall, ValueChange};
use crate::features::standup::model::tension::{CrossCheck, Finding, Tension};
use kernel::money::{Money, TokenUsage};

/// A report without any content.
pub(super) fn empty() -> DayReport {
    DayReport {
        day: chrono::NaiveDate::from_ymd_opt(2026, 11, 20).unwrap(),
        channel: "10".into(),
        channel_name: "daily-standup".to_owned(),
        meeting: "m1".into(),
        revision: 1,
        written_at: "2026-11-20T08:03:00Z".parse().unwrap(),
        read_at: None,
        zone: chrono_tz::Tz::UTC,
        tldr: Vec::new(),
        earlier: Vec::new(),
        question: None,
        call: Err("no question is configured".to_owned()),
        scoreboard: Scoreboard::default(),
        contributions: Vec::new(),
        people: Vec::new(),
        cross_check: CrossCheck::default(),
        changes: Vec::new(),
        moved: Vec::new(),
        actions: Vec::new(),
        refused: Vec::new(),
        feeds: Vec::new(),
        cost: Money::ZERO,
        usage: TokenUsage::default(),
        seconds: 0,
        model: None,
    }
}

/// A usual day: four personas, a person, a tension, two actions, one failed feed.
pub(super) fn usual() -> DayReport {
    let (vince, eliza) = (claim("vince", Direction::Up, 0.8, "502 commits"), claim("eliza", Direction::Down, 0.6, "3 open bugs"));
    let tension = Tension { subject: "pace".to_owned(), sides: vec![vec![vince.clone()], vec![eliza.clone()]] };
    let finding = Finding { subject: "pace".to_owned(), direction: None, confidence: 0.35, claims: vec![vince.clone(), eliza] };
    let agreed = Finding { subject: "releases".to_owned(), direction: Some(Direction::Good), confidence: 0.9, claims: vec![vince] };
    let seen = "2026-11-20T08:00:00Z".parse().unwrap();
    let read = FeedRead {
        source: "git repository river".to_owned(),
        as_of: seen,
        items: 12,
        values: vec!["commits 502".to_owned(), "authors 4".to_owned()],
        note: Some("the newest commit is 2 h old".to_owned()),
        numbers: Vec::new(),
        known: Vec::new(),
    };
    DayReport {
        revision: 2,
        tldr: vec!["12 commits since yesterday.".to_owned(), "Pace is disputed.".to_owned()],
        question: Some("Will the repository have at least 10 more commits by next Friday?".to_owned()),
        call: Ok(call()),
        scoreboard: Scoreboard { hits: 1, open: 1, ..Scoreboard::default() },
        contributions: vec![
            contributed("vince", "Vince", SeatState::Spoke, Some("12 commits, **all green**.\n- see https://river.example/log")),
            contributed("eliza", "Eliza", SeatState::Spoke, Some("Bugs pile up.")),
            contributed("otaku", "Otaku", SeatState::Quiet, Some("Nothing to report.")),
            Contributed { reason: Some("no answer within 90 s".to_owned()), ..contributed("solus", "Solus", SeatState::Skipped, None) },
        ],
        cross_check: CrossCheck { findings: vec![finding, agreed], tensions: vec![tension], ..CrossCheck::default() },
        changes: vec![ValueChange {
            feed: "repository".to_owned(),
            name: "commits".to_owned(),
            unit: String::new(),
            before: 490.0,
            before_at: "2026-11-19T08:00:00Z".parse().unwrap(),
            now: 502.0,
            now_at: seen,
            usual: None,
        }],
        moved: vec!["\"Fix the gauge\" is done (Vince).".to_owned()],
        actions: vec![action("Review the open bugs", "Eliza", Urgency::Today), action("Write the changelog", "Ann", Urgency::ThisWeek)],
        refused: vec![RefusedAction { what: "More tests".to_owned(), reason: "it does not begin with a verb".to_owned() }],
        feeds: vec![
            FeedLine { feed: "repository".to_owned(), of: vec!["Vince".to_owned(), "Kelly".to_owned()], outcome: Ok(read) },
            FeedLine { feed: "prices".to_owned(), of: vec!["Solus".to_owned()], outcome: Err("no answer within 10 s".to_owned()) },
        ],
        cost: Money(21_300),
        usage: TokenUsage { input: 10_000, cached: 4000, output: 2345 },
        seconds: 134,
        model: Some("openai/gpt-5-mini".to_owned()),
        ..empty()
    }
}

/// The largest report that the limits allow: 7 actions of 160 characters, 10 tensions, 50 participants, with `text` in every field of
/// foreign text.
pub(super) fn full_of(text: &str) -> DayReport {
    let cut = |limit: usize| text.chars().cycle().take(limit).collect::<String>();
    let said = |by: &str, direction| Claim {
        signal: Signal { subject: cut(60), direction, confidence: 0.5, evidence: Some(Evidence { feed: cut(40), value: cut(60) }) },
        by: by.into(),
    };
    let sides = vec![vec![said("p0", Direction::Up), said("p1", Direction::Up)], vec![said("p2", Direction::Down)]];
    let finding = Finding { subject: cut(60), direction: None, confidence: 0.5, claims: sides.concat() };
    let action = ReportedAction { what: cut(160), how: cut(300), why: cut(300), owner: cut(40), ..action("", "", Urgency::ThisWeek) };
    let states = [SeatState::Spoke, SeatState::Quiet, SeatState::Skipped, SeatState::Waiting, SeatState::Speaking];
    let contributions = (0..50).map(|n| Contributed {
        reason: Some(cut(200)),
        ..contributed(&format!("p{n}"), &cut(32), states[n % 5], Some(&format!("{text}\n{text}\r\n\n{}", cut(1200))))
    });
    let mut call = call();
    call.call.reason = cut(400);
    let FeedLine { outcome, .. } = usual().feeds.remove(0);
    let read = FeedRead { source: cut(200), values: vec![cut(60); 12], note: Some(cut(200)), ..outcome.unwrap() };
    let feeds = (0..30).map(|n| FeedLine {
        feed: cut(40),
        of: vec![cut(32); 3],
        outcome: if n % 3 == 0 { Err(cut(200)) } else { Ok(read.clone()) },
    });
    let change = ValueChange { feed: cut(40), name: cut(40), unit: cut(12), ..usual().changes.remove(0) };
    DayReport {
        channel_name: cut(100),
        tldr: vec![cut(400); 3],
        question: Some(cut(300)),
        call: Ok(ReportedCall { by_name: cut(32), terms: cut(200), ..call }),
        contributions: contributions.collect(),
        people: vec![PersonSaid { name: cut(32), text: cut(1200) }; 10],
        cross_check: CrossCheck {
            findings: vec![finding; 60],
            tensions: vec![Tension { subject: cut(60), sides }; 10],
            ..CrossCheck::default()
        },
        changes: vec![change; 20],
        moved: vec![cut(200); 20],
        actions: vec![action; 7],
        refused: vec![RefusedAction { what: cut(160), reason: cut(160) }; 7],
        feeds: feeds.collect(),
        model: Some(cut(60)),
        ..usual()
    }
}

pub(super) fn claim(by: &str, direction: Direction, confidence: f64, value: &str) -> Claim {
    let evidence = Some(Evidence { feed: "repository".to_owned(), value: value.to_owned() });
    Claim { by: by.into(), signal: Signal { subject: "pace".to_owned(), direction, confidence, evidence } }
}

fn call() -> ReportedCall {
    ReportedCall {
        call: Call {
            by: "vince".into(),
            answer: Answer::Yes,
            confidence: 0.72,
            reason: "At 12 commits a day it is there by Tuesday.".to_owned(),
            model: None,
        },
        by_name: "Vince".to_owned(),
        terms: "repository commits >= 512 (now 502)".to_owned(),
        expires_at: "2026-11-27T08:00:00Z".parse().unwrap(),
        settled: None,
    }
}

fn contributed(slug: &str, name: &str, state: SeatState, text: Option<&str>) -> Contributed {
    Contributed {
        who: Participant::Persona(slug.into()),
        name: name.to_owned(),
        state,
        text: text.map(str::to_owned),
        reason: None,
        signals: Vec::new(),
    }
}

fn action(what: &str, owner: &str, urgency: Urgency) -> ReportedAction {
    ReportedAction {
        item: "0192f0c1d2e37a4b8c5d6e7f8091a2b3".into(),
        what: what.to_owned(),
        how: "Go through the list with Ann.".to_owned(),
        why: "They hold up the release.".to_owned(),
        owner: owner.to_owned(),
        urgency,
    }
}
