//! Test data for meetings.

use chrono::NaiveDate;

use kernel::chat::message::{Channel, Place};
use kernel::ids::MeetingId;
use kernel::jobs::Paused;
use kernel::money::TokenUsage;
use kernel::testing::jobs::ManualWorker;
use teamroom::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, MeetingState, Participant, Seat, SeatState};
use teamroom::features::meeting::signal::{Direction, Signal};
use teamroom::features::meeting::store::{Called, MeetingRun, RUN};
use teamroom::store::Store;

use super::sample::{at, noon};

pub(crate) fn meeting_channel() -> Channel {
    Channel { id: "20".into(), name: "daily-standup".into(), place: Place::Server, private: false, shared: false }
}

/// The date of noon.
pub(crate) fn today() -> NaiveDate {
    noon().date_naive()
}

/// A meeting called by Ada with the message `m1`.
pub(crate) fn a_meeting() -> Meeting {
    Meeting {
        id: MeetingId::generate(),
        kind: MeetingKind::new("standup"),
        channel: meeting_channel(),
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
        details: None,
    }
}

/// The seat once its speaker has contributed.
pub(crate) fn spoke(seat: &Seat) -> Seat {
    Seat { state: SeatState::Spoke, contribution: Some(contribution()), ..seat.clone() }
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

/// Calls and opens a meeting with seats for Vince and Ben.
pub(crate) async fn opened(store: &Store) -> (Meeting, MeetingRun) {
    let meeting = a_meeting();
    assert_eq!(store.call_meeting(&meeting).await.unwrap(), Called::Opened);
    let run = run_of(store, &meeting).await;
    let seats = [seat(&meeting, 0, vince()), seat(&meeting, 1, ben())];
    assert!(run.open(&seats, &[], at(1)).await.unwrap());
    (store.find_meeting(&meeting.id).await.unwrap().unwrap(), run)
}
