//! Test data for standups.

use chrono::{NaiveDate, TimeDelta};

use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::OutboundMessage;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::ids::{MeetingId, OutboxId, PredictionId};
use kernel::jobs::Paused;
use kernel::memory::{Memory, MemoryKind, MemorySource};
use kernel::money::{Money, TokenUsage};
use kernel::testing::jobs::ManualWorker;
use teamroom::features::backlog::model::{Origin, Owner, Urgency, WorkItem};
use teamroom::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingState, Participant, Seat, SeatState};
use teamroom::features::meeting::signal::{Direction, Signal};
use teamroom::features::meeting::store::{Called, MeetingRun, RUN};
use teamroom::features::standup::STANDUP;
use teamroom::features::standup::model::prediction::{Answer, Call, Prediction, Scoreboard};
use teamroom::features::standup::model::report::DayReport;
use teamroom::features::standup::model::tension::CrossCheck;
use teamroom::features::standup::store::StandupClosing;
use teamroom::store::Store;

use super::sample::{at, line, noon};

pub(crate) fn standup_channel() -> Channel {
    Channel { id: "20".into(), name: "daily-standup".into(), place: Place::Server, private: false }
}

/// The date of noon.
pub(crate) fn today() -> NaiveDate {
    noon().date_naive()
}

/// A standup called by Ada with the message `m1`.
pub(crate) fn standup() -> Meeting {
    Meeting {
        id: MeetingId::generate(),
        kind: STANDUP,
        channel: standup_channel(),
        day: today(),
        facilitator: "kelly".into(),
        called_by: CalledBy::Person { id: "1".into(), name: "Ada".into(), message: Some("m1".into()) },
        called_at: at(0),
        deadline: at(1800),
        state: MeetingState::Called,
        wrap: false,
        paused: None,
        budget: None,
        payload: None,
        closings: 0,
        reason: None,
        ended_at: None,
    }
}

pub(crate) fn vince() -> Participant {
    Participant::Persona("vince".into())
}

/// Ben, a person.
pub(crate) fn ben() -> Participant {
    Participant::Person { id: "7".into(), name: "Ben".into() }
}

pub(crate) fn seat(meeting: &Meeting, position: u32, who: Participant) -> Seat {
    Seat::waiting(&meeting.id, 0, position, who)
}

/// Six words.
pub(crate) fn contribution() -> Contribution {
    let signal = Signal { subject: "checkout latency".into(), direction: Direction::Up, confidence: 0.8, evidence: None };
    Contribution {
        text: "Latency is up\nby 10 ms.".into(),
        signals: vec![signal],
        model: Some("scripted/one".into()),
        usage: TokenUsage { input: 100, cached: 40, output: 7 },
        partial: false,
        problems: Vec::new(),
    }
}

/// The seat after its contribution.
pub(crate) fn spoke(seat: &Seat) -> Seat {
    Seat { state: SeatState::Spoke, contribution: Some(contribution()), ..seat.clone() }
}

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

/// An action of Vince, created `seconds` after noon.
pub(crate) fn item(what: &str, seconds: i64) -> WorkItem {
    WorkItem {
        how: "By profiling it.".into(),
        why: "Checkout got slow.".into(),
        urgency: Urgency::Today,
        criteria: vec!["the profile is posted".into()],
        ..WorkItem::new(what, Owner::Persona("vince".into()), Origin::CommandLine, at(seconds))
    }
}

/// A lesson for the whole team.
pub(crate) fn lesson(text: &str) -> Memory {
    Memory { tags: vec!["latency".into()], ..Memory::new(MemoryKind::Lesson, text, MemorySource::Message("m1".into()), at(60)) }
}

/// Claims the job of a meeting.
pub(crate) async fn run_of(store: &Store, meeting: &Meeting) -> MeetingRun {
    claim_run(&ManualWorker::start(store.database(), at(0)).await.unwrap(), meeting).await
}

/// Claims jobs of meetings until it has that of `meeting`.
pub(crate) async fn claim_run(worker: &ManualWorker, meeting: &Meeting) -> MeetingRun {
    loop {
        let job = worker.claim(RUN, 99, &Paused::default(), at(0)).await.unwrap().expect("the job of the meeting");
        let run = MeetingRun::of(&job).unwrap();
        if *run.meeting() == meeting.id {
            return run;
        }
    }
}

/// Calls and opens a standup with seats for Vince and Ben.
pub(crate) async fn opened(store: &Store) -> (Meeting, MeetingRun) {
    let meeting = standup();
    assert_eq!(store.call_meeting(&meeting).await.unwrap(), Called::Opened);
    let run = run_of(store, &meeting).await;
    let seats = [seat(&meeting, 0, vince()), seat(&meeting, 1, ben())];
    assert!(run.open(&seats, &[], at(1)).await.unwrap());
    (store.find_meeting(&meeting.id).await.unwrap().unwrap(), run)
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
