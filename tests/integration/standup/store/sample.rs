//! Test data for standups.

use chrono::TimeDelta;
use kernel::chat::outbound::OutboundMessage;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::ids::{OutboxId, PredictionId};
use kernel::money::{Money, TokenUsage};
use teamroom::features::meeting::model::Meeting;
use teamroom::features::meeting::store::MeetingRun;
use teamroom::features::standup::model::prediction::{Answer, Call, Prediction, Scoreboard};
use teamroom::features::standup::model::report::DayReport;
use teamroom::features::standup::model::tension::CrossCheck;
use teamroom::features::standup::store::StandupClosing;
use teamroom::store::Store;

use crate::store::meeting_sample::opened;
use crate::store::sample::{at, line};

pub(crate) fn report(meeting: &Meeting, revision: u32) -> DayReport {
    DayReport {
        day: meeting.day,
        channel: meeting.channel.id.clone(),
        channel_name: meeting.channel.name.clone(),
        meeting: meeting.id.clone(),
        revision,
        written_at: at(60),
        read_at: None,
        zone: chrono_tz::Tz::UTC,
        earlier: Vec::new(),
        tldr: vec![format!("revision {revision}")],
        question: None,
        call: Err("nobody was asked".into()),
        scoreboard: Scoreboard::default(),
        contributions: Vec::new(),
        people: Vec::new(),
        cross_check: CrossCheck::default(),
        changes: Vec::new(),
        moved: Vec::new(),
        actions: Vec::new(),
        refused: Vec::new(),
        feeds: Vec::new(),
        cost: Money(5),
        usage: TokenUsage::default(),
        seconds: 60,
        model: None,
    }
}

/// A prediction that expires an hour after noon.
pub(crate) fn prediction(meeting: &Meeting, question: &str) -> Prediction {
    Prediction {
        id: PredictionId::generate(),
        meeting: meeting.id.clone(),
        channel: meeting.channel.id.clone(),
        question: question.into(),
        call: Call { by: "echo".into(), answer: Answer::Yes, confidence: 0.7, reason: "It grew all week.".into(), model: None },
        rule: SettlingRule {
            feed: "repository".into(),
            value: "commits".into(),
            unit: String::new(),
            comparison: Comparison::AtLeast,
            threshold: 512.0,
        },
        base: 502.0,
        made_at: at(60),
        expires_at: at(3600),
        settled: None,
    }
}

/// A closing with only a report.
pub(crate) fn closing<'a>(run: &'a MeetingRun, meeting: &'a Meeting, report: &'a DayReport, post: &'a OutboxId) -> StandupClosing<'a> {
    StandupClosing { run, meeting, report, post, items: &[], prediction: None, memories: &[], outbox: &[], at: meeting.called_at + MINUTE }
}

/// The duration of the tests' standups.
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// Opens a standup and closes it with this revision of the report.
pub(crate) async fn closed(store: &Store, revision: u32) -> (Meeting, OutboundMessage) {
    let (_, run) = opened(store).await;
    let meeting = run.begin_closing(at(50)).await.unwrap().unwrap();
    let post = line(&format!("revision {revision}"));
    assert!(closing(&run, &meeting, &report(&meeting, revision), &post.id).store().await.unwrap());
    (meeting, post)
}
