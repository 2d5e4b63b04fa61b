//! A standup of eight on one page, as a team of some weeks has it.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{CallAsked, ConcludeAsked, QuestionAsked, ReportAsked};
use crate::domain::ids::PersonaSlug;
use crate::domain::meeting::{CalledBy, Contribution, Meeting, MeetingKind, MeetingState, Participant, Seat, SeatState};
use crate::domain::memory::{Memory, MemoryKind, MemorySource};
use crate::domain::message::{Channel, Place};
use crate::domain::page::{PageFeed, PageItem, PageReading, PageValue, SharedPage};
use crate::domain::persona::{Persona, StandupDuty};
use crate::domain::prediction::{Answer, Call, Comparison, Prediction, Scoreboard, SettlingRule};
use crate::domain::report::{DayReport, ReportedAction, ReportedCall, ValueChange};
use crate::domain::roster::Roster;
use crate::domain::signal::{Claim, Direction, Evidence, Signal};
use crate::domain::tension::{CrossCheck, Finding, Hint, Tension};
use crate::domain::usage::{Money, TokenUsage};
use crate::domain::work::{Origin, Owner, Urgency, WorkItem, WorkKind, WorkStatus};
use crate::feeds::fixture::now;
use crate::persona::fixture::persona;

/// Who speaks, in order, what about, and the feeds they declare.
const SPEAKERS: [(&str, &str, &[&str]); 8] = [
    ("Vince", "data", &["shop", "ledger"]),
    ("Sentinel", "code", &["repository"]),
    ("Echo", "mood", &["reviews"]),
    ("Ada", "incidents", &["incidents", "repository"]),
    ("Bruno", "supply", &["prices"]),
    ("Oracle", "odds", &["markets"]),
    ("Eliza", "memory", &["backlog"]),
    ("Solus", "the call", &[]),
];

/// All that a standup is about.
pub(super) struct Standup {
    pub(super) roster: Roster,
    pub(super) meeting: Meeting,
    pub(super) page: SharedPage,
    pub(super) seats: Vec<Seat>,
    pub(super) hints: Vec<Hint>,
    pub(super) items: Vec<WorkItem>,
    pub(super) lessons: Vec<Memory>,
    pub(super) rule: SettlingRule,
    pub(super) history: Vec<(DateTime<Utc>, f64)>,
    pub(super) open_calls: Vec<Prediction>,
    pub(super) scoreboard: Scoreboard,
    pub(super) last_report: DayReport,
    pub(super) moved: Vec<String>,
    pub(super) cross_check: CrossCheck,
    pub(super) call: Call,
    pub(super) people: Vec<String>,
}

/// Friday, 09:00.
pub(super) fn yesterday() -> DateTime<Utc> {
    now() - TimeDelta::minutes(37 * 60 + 50)
}

impl Standup {
    pub(super) fn new() -> Self {
        let page = page();
        let cross_check = cross_check();
        let rule = SettlingRule {
            feed: "repository".into(),
            value: "commits".into(),
            unit: "commits".into(),
            comparison: Comparison::AtLeast,
            threshold: 512.0,
        };
        let call = Call {
            by: "solus".into(),
            answer: Answer::Yes,
            confidence: 0.7,
            reason: "Twelve commits came since yesterday.".into(),
            model: None,
        };
        Self {
            roster: roster(),
            meeting: meeting(),
            seats: SPEAKERS.iter().zip(0..).map(|((name, about, _), position)| seat(name, about, position)).collect(),
            hints: vec![Hint {
                from: "sentinel".into(),
                subject: "checkout errors".into(),
                text: "checkout errors is going up (80 % sure; incidents: 4 entries).".into(),
            }],
            items: vec![item("Trace the slow checkout query", "vince", 2)],
            lessons: vec![lesson("The price feed stops at night; its silence before 08:00 means nothing.")],
            history: (1..=5_i32).rev().map(|day| (now() - TimeDelta::days(day.into()), 500.0 - 4.0 * f64::from(day))).collect(),
            open_calls: vec![prediction(&rule, &call)],
            scoreboard: Scoreboard { hits: 7, misses: 8, open: 1, accuracy: Some(7.0 / 15.0), ..Scoreboard::default() },
            last_report: last_report(&call, &page, &cross_check),
            moved: vec!["Done: Repair the feed markets (Oracle)".into()],
            rule,
            page,
            cross_check,
            call,
            people: vec!["Ann".into()],
        }
    }

    /// A standup in which all feeds answer and nothing moved.
    pub(super) fn quiet() -> Self {
        let mut standup = Self::new();
        standup.page.changes.clear();
        standup.page.feeds.retain(|feed| feed.outcome.is_ok());
        for feed in &mut standup.page.feeds {
            let reading = feed.outcome.as_mut().expect("those that fail are gone");
            (reading.items, reading.total) = (Vec::new(), 0);
        }
        standup.cross_check = CrossCheck::default();
        standup.moved.clear();
        standup
    }

    pub(super) fn persona(&self, slug: &str) -> &Persona {
        self.roster.find(&slug.into()).expect("on the roster")
    }

    pub(super) fn question(&self) -> QuestionAsked<'_> {
        QuestionAsked {
            text: "Will the repository have at least 10 more commits by next Friday?",
            rule: &self.rule,
            base: 502.0,
            history: &self.history,
            expires_at: now() + TimeDelta::days(6),
        }
    }

    /// What the speaker at this place is given.
    pub(super) fn report_asked<'a>(&'a self, persona: &'a PersonaSlug, position: usize) -> ReportAsked<'a> {
        ReportAsked {
            persona,
            meeting: &self.meeting,
            page: &self.page,
            before: &self.seats[..position],
            hints: &self.hints,
            items: &self.items,
            lessons: &self.lessons,
            question: Some(self.question()),
            open_calls: &self.open_calls,
            scoreboard: &self.scoreboard,
            last_report: Some(&self.last_report),
            moved: &self.moved,
            rated: (9, 3),
            delta_context: true,
        }
    }

    pub(super) fn call_asked<'a>(&'a self, persona: &'a PersonaSlug) -> CallAsked<'a> {
        CallAsked {
            persona,
            meeting: &self.meeting,
            page: &self.page,
            seats: &self.seats,
            cross_check: &self.cross_check,
            question: self.question(),
            scoreboard: &self.scoreboard,
        }
    }

    pub(super) fn conclude_asked(&self) -> ConcludeAsked<'_> {
        ConcludeAsked {
            meeting: &self.meeting,
            page: &self.page,
            seats: &self.seats,
            cross_check: &self.cross_check,
            call: Some(&self.call),
            question: Some(self.question()),
            last_report: Some(&self.last_report),
            moved: &self.moved,
            open: &self.items,
            people: &self.people,
        }
    }
}

/// The speakers in order.
pub(super) fn speakers() -> impl Iterator<Item = PersonaSlug> {
    SPEAKERS.iter().map(|(name, ..)| name.to_lowercase().into())
}

fn roster() -> Roster {
    let speakers = SPEAKERS.iter().map(|(name, role, feeds)| {
        let mut persona = persona(name, role, feeds);
        persona.standup.role = format!("Report what changed about {role} since the last report, with figures.");
        persona.standup.duty = match *name {
            "Eliza" => Some(StandupDuty::Delta),
            "Solus" => Some(StandupDuty::Call),
            _ => None,
        };
        persona
    });
    Roster::new(speakers.chain([persona("Kelly", "coordination", &[])]).collect()).expect("a valid roster")
}

fn meeting() -> Meeting {
    Meeting {
        id: "meeting-1".into(),
        kind: MeetingKind::Standup,
        channel: Channel { id: "10".into(), name: "daily-standup".into(), place: Place::Server },
        day: now().date_naive(),
        facilitator: "kelly".into(),
        called_by: CalledBy::CommandLine,
        called_at: now(),
        deadline: now() + TimeDelta::minutes(30),
        state: MeetingState::Running,
        wrap: false,
        closings: 0,
        reason: None,
        ended_at: None,
    }
}

fn page() -> SharedPage {
    let items = |what: &str, number: usize, texts: &[&str]| -> Vec<PageItem> {
        let texts = texts.iter().cycle().take(number).enumerate();
        texts.map(|(at, text)| item_of(what, at, &format!("{text}, part {}", at + 1))).collect()
    };
    let commits = ["Retry a payment whose answer was lost", "Move the cart's totals into one query", "Test what a declined card shows"];
    let reviews =
        ["Checkout takes for ever on my phone", "Great shop but paying failed twice today", "Delivery came a day early, thank you"];
    let incidents = ["Payment provider answered 502 for four minutes", "Disk of the search node at 91 percent", "Mail queue stuck"];
    let markets = ["Rate cut in December priced at a higher chance", "Shipping futures fall for the third day", "Holiday sales forecast"];
    let backlog = ["Trace the slow checkout query", "Write to the payment provider", "Warm the search cache at night"];
    let prices = Err("no data since 2026-11-21 07:40 UTC (it did not answer within 10 s)".to_owned());
    SharedPage {
        read_at: now(),
        since: yesterday(),
        feeds: vec![
            feed(
                "shop",
                "http_json",
                &["vince"],
                Ok(reading("shop figures", Vec::new(), &[("orders", 231.0, ""), ("latency", 840.0, "ms")])),
            ),
            feed("ledger", "ledger", &["vince"], Ok(reading("ledger", items("persona", 6, &["Vince", "Solus"]), &[("cost", 0.31, "USD")]))),
            feed(
                "repository",
                "git",
                &["sentinel", "ada"],
                Ok(reading(
                    "git repository river",
                    items("commit", 14, &commits),
                    &[("commits", 502.0, "commits"), ("branches", 7.0, "branches")],
                )),
            ),
            feed("reviews", "rss", &["echo"], Ok(reading("shop reviews", items("entry", 12, &reviews), &[("entries", 40.0, "entries")]))),
            feed("incidents", "rss", &["ada"], Ok(reading("incident log", items("entry", 9, &incidents), &[("entries", 4.0, "entries")]))),
            feed("prices", "http_json", &["bruno"], prices),
            feed("markets", "rss", &["oracle"], Ok(reading("market news", items("entry", 12, &markets), &[("entries", 60.0, "entries")]))),
            feed(
                "backlog",
                "backlog",
                &["eliza"],
                Ok(reading("backlog", items("item", 6, &backlog), &[("open", 9.0, ""), ("ready", 3.0, "")])),
            ),
        ],
        changes: vec![
            change("shop", "orders", "", 240.0, 231.0),
            change("shop", "latency", "ms", 410.0, 840.0),
            change("repository", "commits", "commits", 490.0, 502.0),
            change("repository", "branches", "branches", 7.0, 7.0),
            change("incidents", "entries", "entries", 1.0, 4.0),
            change("backlog", "open", "", 8.0, 9.0),
        ],
    }
}

fn feed(name: &str, kind: &str, of: &[&str], outcome: Result<PageReading, String>) -> PageFeed {
    PageFeed { feed: name.into(), kind: kind.into(), of: of.iter().map(|slug| (*slug).into()).collect(), outcome }
}

fn reading(source: &str, items: Vec<PageItem>, values: &[(&str, f64, &str)]) -> PageReading {
    let value = |(name, number, unit): &(&str, f64, &str)| PageValue { name: (*name).into(), number: *number, unit: (*unit).into() };
    let total = items.len();
    PageReading { source: source.into(), as_of: now(), items, total, values: values.iter().map(value).collect(), note: None }
}

fn item_of(what: &str, at: usize, text: &str) -> PageItem {
    let minutes = i64::try_from(at).expect("a few items") * 40 + 5;
    let by = (what == "commit").then(|| format!("author-{}", at % 3 + 1));
    let reference =
        if what == "entry" { format!("https://news.example/{what}/{}", 4100 + at) } else { format!("{:07x}", 0x00a1_b2c3 + at) };
    PageItem { at: Some(now() - TimeDelta::minutes(minutes)), what: what.into(), by, text: text.into(), reference }
}

fn change(feed: &str, name: &str, unit: &str, before: f64, after: f64) -> ValueChange {
    let (before_at, now_at) = (yesterday(), now());
    ValueChange { feed: feed.into(), name: name.into(), unit: unit.into(), before, before_at, now: after, now_at }
}

/// A report as a model writes one, of some 450 characters.
fn seat(name: &str, about: &str, position: u32) -> Seat {
    let text = format!(
        "On {about}: two things changed since yesterday and one did not. The first is the one to look at, since it bears on checkout: what we \
         see since 07:30 fits a slower answer of the payment provider and not more traffic, which is down by 9 orders. The second is smaller \
         and explains itself by the release of Friday evening.\nThe usual figures are where they were. I would keep an eye on it until noon \
         and come back tomorrow with the numbers by hour."
    );
    let signals = vec![
        signal(&format!("{about} trend"), Direction::Up, 0.7, "shop", "840 ms"),
        signal("orders", Direction::Down, 0.6, "shop", "231"),
    ];
    Seat {
        meeting: "meeting-1".into(),
        round: 1,
        position,
        who: Participant::Persona(name.to_lowercase().into()),
        state: SeatState::Spoke,
        attempts: 1,
        contribution: Some(Contribution {
            text,
            signals,
            model: Some("main/small".into()),
            usage: TokenUsage::default(),
            partial: false,
            problems: Vec::new(),
        }),
        reason: None,
        started_at: Some(now()),
        ended_at: Some(now()),
    }
}

fn signal(subject: &str, direction: Direction, confidence: f64, feed: &str, value: &str) -> Signal {
    Signal { subject: subject.into(), direction, confidence, evidence: Some(Evidence { feed: feed.into(), value: value.into() }) }
}

fn cross_check() -> CrossCheck {
    let claim =
        |by: &str, direction, feed: &str, value: &str| Claim { by: by.into(), signal: signal("checkout", direction, 0.8, feed, value) };
    let sides = vec![vec![claim("vince", Direction::Bad, "shop", "840 ms")], vec![claim("echo", Direction::Good, "reviews", "40 entries")]];
    CrossCheck {
        findings: vec![Finding { subject: "checkout".into(), direction: None, confidence: 0.4, claims: sides.concat() }],
        tensions: vec![Tension { subject: "checkout".into(), sides }],
    }
}

pub(super) fn item(what: &str, owner: &str, untouched_days: i64) -> WorkItem {
    let at = now() - TimeDelta::days(untouched_days);
    WorkItem {
        id: "item-1".into(),
        kind: WorkKind::Action,
        what: what.into(),
        how: "Read the plan of the query.".into(),
        why: "Checkout is slow.".into(),
        owner: Owner::Persona(owner.into()),
        urgency: Urgency::Today,
        priority: 1,
        criteria: Vec::new(),
        status: WorkStatus::Ready,
        attempts: 0,
        parent: None,
        depends_on: Vec::new(),
        origin: Origin::Meeting("meeting-0".into()),
        outcome: None,
        cost: Money::ZERO,
        created_at: at,
        updated_at: at,
    }
}

fn lesson(text: &str) -> Memory {
    Memory {
        id: "memory-1".into(),
        kind: MemoryKind::Lesson,
        persona: None,
        text: text.into(),
        tags: Vec::new(),
        significance: 0.5,
        source: MemorySource::Meeting("meeting-0".into()),
        created_at: yesterday(),
        ended_at: None,
    }
}

fn prediction(rule: &SettlingRule, call: &Call) -> Prediction {
    Prediction {
        id: "prediction-1".into(),
        meeting: "meeting-0".into(),
        channel: "10".into(),
        question: "Will the repository have at least 10 more commits by next Friday?".into(),
        call: call.clone(),
        rule: rule.clone(),
        base: 490.0,
        made_at: yesterday(),
        expires_at: now() + TimeDelta::days(6),
        settled: None,
    }
}

fn last_report(call: &Call, page: &SharedPage, checked: &CrossCheck) -> DayReport {
    let call = ReportedCall {
        call: call.clone(),
        by_name: "Solus".into(),
        terms: "repository commits >= 512 (now 490)".into(),
        expires_at: page.read_at + TimeDelta::days(6),
    };
    let action = ReportedAction {
        item: "item-0".into(),
        what: "Repair the feed markets".into(),
        how: "Read it by hand.".into(),
        why: "No data.".into(),
        owner: "Oracle".into(),
        urgency: Urgency::Today,
    };
    DayReport {
        day: NaiveDate::from_ymd_opt(2026, 11, 20).expect("a date"),
        channel: "10".into(),
        channel_name: "daily-standup".into(),
        meeting: "meeting-0".into(),
        revision: 1,
        written_at: yesterday(),
        tldr: vec!["Checkout was slow for the second day (shop latency 410 ms).".into()],
        question: Some("Will the repository have at least 10 more commits by next Friday?".into()),
        call: Ok(call),
        scoreboard: Scoreboard::default(),
        contributions: Vec::new(),
        cross_check: checked.clone(),
        changes: Vec::new(),
        moved: Vec::new(),
        actions: vec![action],
        refused: Vec::new(),
        feeds: Vec::new(),
        cost: Money::ZERO,
        usage: TokenUsage::default(),
        seconds: 90,
        model: None,
    }
}
