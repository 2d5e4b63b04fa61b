//! The meeting engine beyond standups: rounds, guests, budgets, pauses, jobs, and events instead of polling. The clock stands still, so
//! progress comes only from events.

mod stage;

use std::time::Duration;

use chrono::TimeDelta;
use kernel::agent::halts::{HaltScope, Halts};
use kernel::jobs::JobsSettings;
use kernel::money::Money;
use kernel::time::Clock as _;
use kernel::wakeup::Wakeup;
use teamroom::features::meeting::model::{MeetingState, Participant, SeatState};

use crate::support::postgres::is_there;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};
use crate::support::time::go_on;
use stage::{CHANNEL, Payload, Stage};

on_both_stores!(a_process_that_ends_between_rounds_repeats_none);
on_one_store!(
    a_meeting_has_as_many_rounds_as_its_agenda_wants,
    a_meeting_whose_budget_is_spent_ends_with_what_it_has_and_says_so,
    a_pause_lets_the_speaker_finish_and_holds_the_floor_until_it_is_resumed,
    a_pause_lets_a_person_wait_with_the_report,
    a_meeting_that_was_paused_for_a_day_is_given_up,
    a_wrap_up_ends_a_pause,
    a_halt_that_is_lifted_wakes_the_meeting_up,
    people_have_their_answers_before_the_next_turn,
    a_meeting_of_a_kind_that_is_gone_is_ended,
    a_meeting_whose_steps_keep_failing_is_given_up_with_a_word,
);

async fn a_meeting_has_as_many_rounds_as_its_agenda_wants(backing: Backing) {
    let stage = Stage::on(backing).await;
    let process = stage.process();
    let panel = stage.call(3, None).await;
    let over = stage.until_done(&panel.id).await;
    let expected = ["0 Vince", "0 An economist", "1 Vince", "1 An economist", "2 Vince", "2 An economist"];
    assert_eq!(stage.turns(), expected);
    assert_eq!(over.read_payload::<Payload>().unwrap(), Payload { rounds: 3, begun: 2 });
    let seats = stage.store.list_seats(&panel.id).await.unwrap();
    assert!(seats.iter().all(|seat| seat.state == SeatState::Spoke), "{seats:?}");
    assert_eq!(seats[1].who, Participant::Guest { id: "economist".into(), name: "An economist".into() });
    eventually("everybody was posted", async || stage.has_posted("An economist spoke")).await;
    process.end().await;
}

async fn a_process_that_ends_between_rounds_repeats_none(backing: Backing) {
    let gate = Wakeup::default();
    let stage = Stage { gate: Some(gate.clone()), ..Stage::on(backing).await };
    let panel = stage.call(3, None).await;
    // Each process is killed during a turn. The next one repeats the turn and completes it.
    for turns in 1..=4 {
        let process = stage.process();
        let begun = || stage.turns().iter().filter(|turn| turn.ends_with("begins")).count();
        eventually("a turn is begun again", async || begun() == 2 * turns - 1).await;
        gate.wake();
        eventually("the next turn has begun", async || begun() == 2 * turns).await;
        process.end().await;
    }
    let process = stage.process();
    eventually("it is over", async || {
        gate.wake();
        stage.find(&panel.id).await.state.is_over()
    })
    .await;
    assert_eq!(stage.find(&panel.id).await.state, MeetingState::Done);
    let spoke: Vec<_> = stage.turns().into_iter().filter(|turn| !turn.ends_with("begins")).collect();
    assert_eq!(spoke, ["0 Vince", "0 An economist", "1 Vince", "1 An economist", "2 Vince", "2 An economist"]);
    process.end().await;
}

async fn a_meeting_whose_budget_is_spent_ends_with_what_it_has_and_says_so(backing: Backing) {
    let stage = Stage { price: Money::from_dollars(0.10), ..Stage::on(backing).await };
    let panel = stage.call(3, Some(Money::from_dollars(0.25))).await;
    let process = stage.process();
    stage.until_done(&panel.id).await;
    assert_eq!(stage.turns(), ["0 Vince", "0 An economist", "1 Vince"], "two turns leave a rest, the third uses it up");
    let seats = stage.store.list_seats(&panel.id).await.unwrap();
    assert_eq!(seats.len(), 4);
    assert_eq!((seats[3].state, seats[3].reason.as_deref()), (SeatState::Skipped, Some("the meeting's budget was used up")));
    eventually("people are told", async || stage.has_posted("has used up its budget of $0.25")).await;
    process.end().await;
}

async fn a_pause_lets_the_speaker_finish_and_holds_the_floor_until_it_is_resumed(backing: Backing) {
    let gate = Wakeup::default();
    let stage = Stage { gate: Some(gate.clone()), ..Stage::on(backing).await };
    let panel = stage.call(1, None).await;
    let process = stage.process();
    eventually("the first turn has begun", async || stage.turns() == ["0 begins"]).await;
    let (now, id) = (stage.clock.now(), &panel.id);
    assert!(stage.store.pause_meeting(id, "Ada", now).await.unwrap());
    assert!(!stage.store.pause_meeting(id, "Bob", now).await.unwrap(), "it is paused");
    gate.wake();
    eventually("the first speaker has finished", async || stage.store.list_seats(id).await.unwrap()[0].state == SeatState::Spoke).await;

    // Far beyond the meeting's time limit: it still waits.
    stage.clock.advance(Duration::from_hours(2));
    assert_eq!(stage.turns(), ["0 begins", "0 Vince"], "nobody spoke meanwhile");
    stage.store.resume_meeting(id, stage.clock.now()).await.unwrap();
    assert!(!stage.store.resume_meeting(id, stage.clock.now()).await.unwrap(), "it is not paused any more");
    let resumed = stage.find(id).await;
    assert_eq!((resumed.paused, resumed.deadline), (None, panel.deadline + TimeDelta::hours(2)));
    eventually("the next turn has begun", async || stage.turns().len() == 3).await;
    gate.wake();
    stage.until_done(id).await;
    process.end().await;
}

async fn a_pause_lets_a_person_wait_with_the_report(backing: Backing) {
    let stage = Stage { person: true, ..Stage::on(backing).await };
    let panel = stage.call(1, None).await;
    let process = stage.process();
    let ben = async || stage.store.find_asked_person(&CHANNEL.into(), &"7".into()).await.unwrap();
    eventually("Ben is asked", async || ben().await.is_some()).await;
    stage.clock.advance(Duration::from_mins(9));
    assert!(stage.store.pause_meeting(&panel.id, "Ben", stage.clock.now()).await.unwrap());
    stage.clock.advance(Duration::from_mins(15));
    assert!(stage.store.resume_meeting(&panel.id, stage.clock.now()).await.unwrap());
    // The ten minutes start here.
    eventually("Ben is asked again", async || ben().await.is_some_and(|seat| seat.attempts == 2)).await;
    stage.clock.advance(Duration::from_mins(9));
    assert!(ben().await.is_some());
    eventually("Ben's time is over", async || {
        stage.clock.advance(Duration::from_secs(10));
        ben().await.is_none()
    })
    .await;
    stage.until_done(&panel.id).await;
    process.end().await;
}

async fn a_meeting_that_was_paused_for_a_day_is_given_up(backing: Backing) {
    let stage = Stage::on(backing).await;
    let panel = stage.call(1, None).await;
    stage.store.pause_meeting(&panel.id, "Ada", stage.clock.now()).await.unwrap();
    let process = stage.process();
    stage.clock.advance(Duration::from_hours(24));
    let over = stage.until_over(&panel.id).await;
    assert_eq!((over.state, over.reason.as_deref()), (MeetingState::Failed, Some("Ada paused it, and nobody resumed it")));
    eventually("people are told", async || stage.has_posted("No result: Ada paused it")).await;
    assert_eq!(stage.turns(), [""; 0]);
    process.end().await;
}

async fn a_wrap_up_ends_a_pause(backing: Backing) {
    let gate = Wakeup::default();
    let stage = Stage { gate: Some(gate.clone()), ..Stage::on(backing).await };
    let panel = stage.call(1, None).await;
    let process = stage.process();
    eventually("the first turn has begun", async || stage.turns() == ["0 begins"]).await;
    stage.store.pause_meeting(&panel.id, "Ada", stage.clock.now()).await.unwrap();
    gate.wake();
    eventually("Vince has finished", async || stage.store.list_seats(&panel.id).await.unwrap()[0].state == SeatState::Spoke).await;
    stage.store.ask_wrap(&panel.id, stage.clock.now()).await.unwrap();
    stage.until_done(&panel.id).await;
    process.end().await;
}

async fn a_halt_that_is_lifted_wakes_the_meeting_up(backing: Backing) {
    let stage = Stage::on(backing).await;
    let process = stage.process();
    let halts = Halts::load(stage.store.database()).await.unwrap();
    halts.set(HaltScope::Channel(CHANNEL.into()), "Ada", stage.clock.now()).await.unwrap();
    let panel = stage.call(1, None).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stage.find(&panel.id).await.state, MeetingState::Called);
    halts.lift(&HaltScope::Channel(CHANNEL.into())).await.unwrap();
    stage.until_done(&panel.id).await;
    process.end().await;
}

async fn people_have_their_answers_before_the_next_turn(backing: Backing) {
    let gate = Wakeup::default();
    let stage = Stage { gate: Some(gate.clone()), ..Stage::on(backing).await };
    let panel = stage.call(1, None).await;
    let process = stage.process();
    eventually("the first turn has begun", || async { stage.turns() == ["0 begins"] }).await;
    stage.hear("m1", "what do you think?").await;
    gate.wake();
    eventually("Vince has finished", || async { stage.store.list_seats(&panel.id).await.unwrap()[0].state == SeatState::Spoke }).await;
    assert_eq!(stage.turns(), ["0 begins", "0 Vince"], "somebody waits for an answer");

    stage.answer("m1").await;
    eventually("the next turn has begun", || async { stage.turns().len() == 3 }).await;
    gate.wake();
    stage.until_done(&panel.id).await;
    process.end().await;
}

async fn a_meeting_of_a_kind_that_is_gone_is_ended(backing: Backing) {
    let stage = Stage::on(backing).await;
    let mut panel = stage.call(1, None).await;
    stage.store.end_meeting(&panel.id, MeetingState::Cancelled, "the next one", &[], stage.clock.now()).await.unwrap();
    panel.id = "of-another-kind".into();
    panel.kind = teamroom::features::meeting::model::MeetingKind::new("seance");
    stage.store.call_meeting(&panel).await.unwrap();
    let process = stage.process();
    let over = stage.until_over(&panel.id).await;
    assert_eq!((over.state, over.reason.as_deref()), (MeetingState::Failed, Some("this team has no seance any more")));
    process.end().await;
}

async fn a_meeting_whose_steps_keep_failing_is_given_up_with_a_word(backing: Backing) {
    let stage = Stage { broken: true, ..Stage::on(backing).await };
    let _time = go_on(&stage.clock);
    let panel = stage.call(1, None).await;
    let process = stage.process();
    eventually("it is given up", async || {
        stage.clock.advance(Duration::from_secs(1));
        stage.find(&panel.id).await.state.is_over()
    })
    .await;
    let over = stage.find(&panel.id).await;
    assert_eq!((over.state, over.reason.as_deref()), (MeetingState::Failed, Some("it could not continue; see the log")));
    eventually("people are told", async || stage.has_posted("No result: it could not continue")).await;
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_whose_process_is_killed_in_a_turn_goes_on_in_another_one() {
    if !is_there().await {
        return;
    }
    let gate = Wakeup::default();
    let jobs = JobsSettings { heartbeat: Duration::from_millis(500), lease: Duration::from_secs(4), ..JobsSettings::default() };
    let stage = Stage { gate: Some(gate.clone()), jobs, ..Stage::on(Backing::Postgres).await };
    let _time = go_on(&stage.clock);
    // A separate runtime is a process that can be killed with its tasks and connections.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let store = runtime.spawn(stage.open()).await.unwrap();
    let killed = {
        let _inside = runtime.enter();
        stage.process_on(&store)
    };
    let panel = stage.call(2, None).await;
    let begun = || stage.turns().iter().filter(|turn| turn.ends_with("begins")).count();
    eventually("the first turn has begun", async || begun() == 1).await;
    gate.wake();
    eventually("the second turn has begun", async || begun() == 2).await;
    let process = stage.process();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(begun(), 2, "one process runs it");
    drop((killed, store));
    runtime.shutdown_background();
    eventually("the other one has begun the turn again", async || begun() == 3).await;
    eventually("it is over", async || {
        gate.wake();
        stage.find(&panel.id).await.state.is_over()
    })
    .await;
    assert_eq!(stage.find(&panel.id).await.state, MeetingState::Done);
    let spoke: Vec<_> = stage.turns().into_iter().filter(|turn| !turn.ends_with("begins")).collect();
    assert_eq!(spoke, ["0 Vince", "0 An economist", "1 Vince", "1 An economist"]);
    let attempts: Vec<_> = stage.store.list_seats(&panel.id).await.unwrap().iter().map(|seat| seat.attempts).collect();
    assert_eq!(attempts, [1, 2, 1, 1]);
    process.end().await;
}
