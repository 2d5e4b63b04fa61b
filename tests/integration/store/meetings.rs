use chrono::TimeDelta;
use kernel::ids::MessageId;
use kernel::jobs::JobError;
use kernel::money::Money;
use kernel::testing::jobs::ManualWorker;
use serde_json::json;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{CancelScope, Decided};
use teamroom::features::meeting::model::{CalledBy, Meeting, MeetingKind, MeetingState, Participant, Seat, SeatState};
use teamroom::features::meeting::store::{Called, MeetingChange, MeetingRun, OpenMeeting};
use teamroom::store::Store;

use super::meeting_sample::{a_meeting, ben, claim_run, meeting_channel, opened, run_of, seat, spoke, vince};
use super::opening::{count, tamper};
use super::sample::{at, decided, general, line, message, turn};
use super::{Home, on_both};

on_both!(
    a_call_has_one_job_however_it_is_made,
    an_open_meeting_of_an_earlier_version_has_a_job_after_the_migration,
    a_run_that_lost_its_job_stores_nothing_more,
    a_meeting_whose_turns_kill_the_process_twice_each_is_not_lost,
    a_meeting_that_waits_is_not_blamed_for_kills,
    a_meeting_that_kills_the_process_before_its_first_step_is_blamed,
    a_channel_has_one_open_meeting,
    of_many_callers_at_once_one_opens_the_meeting,
    a_meeting_goes_its_way_once,
    a_called_meeting_is_neither_spoken_in_nor_closed,
    a_meeting_that_is_over_takes_nothing_more,
    the_material_is_gathered_once,
    a_seat_is_begun_again_after_a_crash_and_finished_once,
    a_seat_that_was_begun_anew_is_not_finished_by_the_first,
    what_was_begun_and_given_back_does_not_count,
    nobody_speaks_once_the_closing_has_begun,
    an_invitation_is_posted_once,
    a_message_is_decided_on_together_with_what_it_does_to_a_meeting,
    a_skipped_seat_is_passed_over_in_its_round,
    what_a_meeting_keeps_about_itself_reads_back,
    a_further_round_opens_once_and_only_when_the_one_before_is_over,
    a_pause_keeps_the_floor_and_does_not_count_as_time,
    a_meeting_whose_budget_is_spent_says_so_once,
    a_person_is_asked_only_while_their_turn_lasts,
    a_failure_in_the_middle_stores_nothing,
    a_contribution_of_an_older_program_is_read,
    an_open_meeting_is_open_work,
    talk_is_open_until_it_is_decided_on_and_answered,
);

async fn state(store: &Store, meeting: &Meeting) -> MeetingState {
    store.find_meeting(&meeting.id).await.unwrap().unwrap().state
}

async fn begun(run: &MeetingRun, position: u32, seconds: i64) -> Seat {
    run.begin_seat((0, position), &[], at(seconds)).await.unwrap().expect("the seat is open")
}

/// Opens the database after a crash. Reclaims the job of the meeting and claims it again.
async fn taken_over(home: &Home, meeting: &Meeting) -> (Store, MeetingRun) {
    tamper(home, "UPDATE jobs SET state = 'ready' WHERE state = 'running'").await;
    let store = home.open().await;
    let run = run_of(&store, meeting).await;
    (store, run)
}

async fn a_channel_has_one_open_meeting(home: &Home) {
    let store = home.open().await;
    let (first, second) = (a_meeting(), a_meeting());
    let elsewhere =
        Meeting { channel: general(), called_by: CalledBy::Schedule { job: "standup".into() }, called_at: at(2), ..a_meeting() };
    assert_eq!(store.call_meeting(&first).await.unwrap(), Called::Opened);
    assert_eq!(store.call_meeting(&second).await.unwrap(), Called::AlreadyOpen(first.clone()));
    assert_eq!(store.call_meeting(&first).await.unwrap(), Called::AlreadyOpen(first.clone()), "the same call twice");
    assert_eq!(store.call_meeting(&elsewhere).await.unwrap(), Called::Opened);

    assert_eq!(store.find_open_meeting(&meeting_channel().id, &MeetingKind::new("standup")).await.unwrap().as_ref(), Some(&first));
    assert_eq!(store.find_open_meeting(&"30".into(), &MeetingKind::new("standup")).await.unwrap(), None);
    assert_eq!(store.find_meeting(&second.id).await.unwrap(), None, "nothing of it was stored");
    let open = [&first, &elsewhere].map(|meeting| OpenMeeting { meeting: meeting.clone(), material: None });
    assert_eq!(store.list_open_meetings().await.unwrap(), open);

    assert!(store.end_meeting(&first.id, MeetingState::Cancelled, "Ada said so", &[], at(9)).await.unwrap());
    assert!(matches!(store.call_meeting(&first).await.unwrap(), Called::AlreadyOpen(over) if over.ended_at == Some(at(9))));
    assert_eq!(store.call_meeting(&Meeting { called_at: at(10), ..second.clone() }).await.unwrap(), Called::Opened, "the channel is free");
    let newest: Vec<_> =
        store.list_meetings(&MeetingKind::new("standup"), 2).await.unwrap().into_iter().map(|meeting| meeting.id).collect();
    assert_eq!(newest, [second.id, elsewhere.id]);
}

async fn of_many_callers_at_once_one_opens_the_meeting(home: &Home) {
    let store = home.open().await;
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let meeting = a_meeting();
                let called = store.call_meeting(&meeting).await.unwrap();
                (meeting, called)
            })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    let opened: Vec<_> = answers.iter().filter(|(_, called)| *called == Called::Opened).map(|(meeting, _)| meeting.clone()).collect();
    assert_eq!(opened.len(), 1);
    for (_, called) in answers.iter().filter(|(meeting, _)| *meeting != opened[0]) {
        assert_eq!(*called, Called::AlreadyOpen(opened[0].clone()), "the others are told which one");
    }
}

async fn a_meeting_goes_its_way_once(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let run = run_of(&store, &meeting).await;
    let seats = [seat(&meeting, 1, ben()), seat(&meeting, 0, vince()), Seat { round: 1, ..seat(&meeting, 0, vince()) }];
    assert!(run.open(&seats, &[line("good morning")], at(1)).await.unwrap());
    assert!(!run.open(&seats, &[line("good morning again")], at(2)).await.unwrap());
    assert_eq!(store.outbox_depth(at(2)).await.unwrap().0, 1, "who comes second posts nothing");
    assert_eq!(store.list_seats(&meeting.id).await.unwrap(), [seats[1].clone(), seats[0].clone(), seats[2].clone()]);
    assert_eq!(state(&store, &meeting).await, MeetingState::Running);
    let trace = store.trace(&"m1".into()).await.unwrap().unwrap();
    assert_eq!(trace.outbox[0].message.text, "good morning", "it is traced to the message that called the standup");

    assert!(store.ask_wrap(&meeting.id, at(3)).await.unwrap());
    assert!(!store.ask_wrap(&meeting.id, at(4)).await.unwrap());
    let closing = run.begin_closing(at(5)).await.unwrap().unwrap();
    assert_eq!((closing.state, closing.closings, closing.wrap), (MeetingState::Closing, 1, true));
    assert!(!store.ask_wrap(&meeting.id, at(6)).await.unwrap(), "it comes to its end already");
    store.close().await;

    let (store, run) = taken_over(home, &meeting).await;
    let again = run.begin_closing(at(9)).await.unwrap().unwrap();
    assert_eq!(again.closings, 2, "after a crash the closing is begun again");
    assert_eq!(store.find_meeting(&meeting.id).await.unwrap(), Some(again));
}

async fn a_called_meeting_is_neither_spoken_in_nor_closed(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    assert!(!store.ask_wrap(&meeting.id, at(0)).await.unwrap(), "it was never called");
    store.call_meeting(&meeting).await.unwrap();
    let run = run_of(&store, &meeting).await;
    assert_eq!(run.begin_closing(at(1)).await.unwrap(), None);
    assert_eq!(run.begin_seat((0, 0), &[], at(1)).await.unwrap(), None);
    assert!(!run.finish_seat(&spoke(&seat(&meeting, 0, vince())), &[], at(1)).await.unwrap());
    assert!(!run.record_material(&json!({}), &[], at(1)).await.unwrap());
    assert!(store.ask_wrap(&meeting.id, at(1)).await.unwrap(), "somebody may change their mind at once");
    assert_eq!(state(&store, &meeting).await, MeetingState::Called);
}

async fn a_meeting_that_is_over_takes_nothing_more(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let seat = begun(&run, 0, 2).await;
    for state in [MeetingState::Called, MeetingState::Running, MeetingState::Closing, MeetingState::Done] {
        assert!(!store.end_meeting(&meeting.id, state, "no", &[line("no")], at(3)).await.unwrap(), "{state:?} is no such end");
    }
    assert!(store.end_meeting(&meeting.id, MeetingState::Failed, "the channel\0 is gone", &[line("sorry")], at(4)).await.unwrap());
    assert!(!store.end_meeting(&meeting.id, MeetingState::Cancelled, "late", &[line("late")], at(5)).await.unwrap());

    assert_eq!(run.begin_seat((0, 0), &[], at(5)).await.unwrap(), None);
    assert!(!run.finish_seat(&spoke(&seat), &[line("late")], at(5)).await.unwrap());
    assert!(!store.skip_seat(&meeting.id, &vince(), "late", at(5)).await.unwrap());
    assert!(!store.ask_wrap(&meeting.id, at(5)).await.unwrap());
    assert!(!run.record_material(&json!({}), &[line("late")], at(5)).await.unwrap());
    assert_eq!(run.begin_closing(at(5)).await.unwrap(), None);
    let ended = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!((ended.state, ended.ended_at), (MeetingState::Failed, Some(at(4))));
    assert_eq!(ended.reason.as_deref(), Some("the channel is gone"));
    assert_eq!(store.outbox_depth(at(5)).await.unwrap().0, 1);
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[0], seat);
}

async fn the_material_is_gathered_once(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let page = json!({ "read_at": "2026-11-21T12:00:00Z", "feeds": [{ "feed": "news", "text": "a\u{0}b" }] });
    assert!(run.record_material(&page, &[line("the page")], at(2)).await.unwrap());
    assert!(!run.record_material(&json!("other"), &[line("again")], at(3)).await.unwrap());
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.list_open_meetings().await.unwrap(), [OpenMeeting { meeting, material: Some(page) }]);
    assert_eq!(store.outbox_depth(at(3)).await.unwrap().0, 1);
}

async fn a_seat_is_begun_again_after_a_crash_and_finished_once(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let first = begun(&run, 0, 2).await;
    assert_eq!((first.state, first.attempts, first.started_at), (SeatState::Speaking, 1, Some(at(2))));
    assert_eq!(run.begin_seat((0, 9), &[], at(2)).await.unwrap(), None, "there is no such seat");
    store.close().await;

    let (store, run) = taken_over(home, &meeting).await;
    let seat = begun(&run, 0, 30).await;
    assert_eq!((seat.attempts, seat.started_at), (2, Some(at(2))), "since when a person is waited for");
    assert!(!run.finish_seat(&seat, &[line("not an end")], at(31)).await.unwrap());
    assert!(run.finish_seat(&spoke(&seat), &[line("latency is up")], at(32)).await.unwrap());
    assert!(!run.finish_seat(&spoke(&seat), &[line("latency is up")], at(33)).await.unwrap());
    assert_eq!(run.begin_seat((0, 0), &[], at(34)).await.unwrap(), None, "it has spoken");
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[0], Seat { ended_at: Some(at(32)), ..spoke(&seat) });
    assert_eq!(store.outbox_depth(at(34)).await.unwrap().0, 1);
}

async fn a_seat_that_was_begun_anew_is_not_finished_by_the_first(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let first = begun(&run, 0, 2).await;
    let second = begun(&run, 0, 90).await;
    assert!(!run.finish_seat(&spoke(&first), &[line("from the grave")], at(91)).await.unwrap());
    let quiet = Seat { state: SeatState::Quiet, ..second };
    assert!(run.finish_seat(&quiet, &[line("nothing to report")], at(92)).await.unwrap());
    let skipped = Seat { state: SeatState::Skipped, reason: Some("no time left".into()), ..seat(&meeting, 1, ben()) };
    assert!(run.finish_seat(&skipped, &[], at(93)).await.unwrap(), "a seat may end without a beginning");
    let states: Vec<_> = store.list_seats(&meeting.id).await.unwrap().into_iter().map(|seat| (seat.state, seat.reason)).collect();
    assert_eq!(states, [(SeatState::Quiet, None), (SeatState::Skipped, Some("no time left".into()))]);
}

async fn what_was_begun_and_given_back_does_not_count(home: &Home) {
    let store = home.open().await;
    let (_, run) = opened(&store).await;
    for _ in 0..5 {
        let seat = begun(&run, 0, 2).await;
        assert_eq!(seat.attempts, 1);
        run.release_seat(&seat).await.unwrap();
        run.release_seat(&seat).await.unwrap();
    }
    for _ in 0..5 {
        let closing = run.begin_closing(at(5)).await.unwrap().unwrap();
        assert_eq!(closing.closings, 1);
        run.release_closing(&closing).await.unwrap();
        run.release_closing(&closing).await.unwrap();
    }
}

async fn nobody_speaks_once_the_closing_has_begun(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let seat = begun(&run, 0, 2).await;
    let finishing = tokio::spawn({
        let (run, seat) = (run.clone(), spoke(&seat));
        async move { run.finish_seat(&seat, &[line("at the last moment")], at(3)).await.unwrap() }
    });
    run.begin_closing(at(3)).await.unwrap().unwrap();
    let finished = finishing.await.unwrap();
    let stored = store.list_seats(&meeting.id).await.unwrap().remove(0);
    assert_eq!((stored.state == SeatState::Spoke, store.outbox_depth(at(4)).await.unwrap().0 == 1), (finished, finished), "all or nothing");

    assert!(!run.finish_seat(&spoke(&seat), &[line("too late")], at(4)).await.unwrap());
    assert_eq!(run.begin_seat((0, 1), &[], at(4)).await.unwrap(), None);
    assert!(!store.skip_seat(&meeting.id, &ben(), "too late", at(4)).await.unwrap());
    assert!(run.record_material(&json!([]), &[], at(4)).await.unwrap(), "the report may still need it");
}

async fn an_invitation_is_posted_once(home: &Home) {
    let store = home.open().await;
    let (_, run) = opened(&store).await;
    for seconds in [2, 30] {
        run.begin_seat((0, 1), &[line("Ben, what is new?")], at(seconds)).await.unwrap().unwrap();
    }
    assert_eq!(run.begin_seat((0, 9), &[line("nobody sits here")], at(31)).await.unwrap(), None);
    assert_eq!(store.outbox_depth(at(31)).await.unwrap().0, 1);
}

/// Claims a message, and stores twice the decision that it makes this change to a meeting.
async fn decide(store: &Store, id: &str, change: MeetingChange) -> (bool, bool) {
    store.claim(&message(id, "about the standup", 0), at(0)).await.unwrap();
    let nobody = Decision::nobody(Reason::Empty);
    let messages: [MessageId; 1] = [id.into()];
    let decided = Decided { messages: &messages, decision: &nobody, turns: &[], asks: &[], outbox: &[], effect: Some(&change), at: at(5) };
    (store.decide(&decided).await.unwrap(), store.decide(&decided).await.unwrap())
}

async fn a_message_is_decided_on_together_with_what_it_does_to_a_meeting(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    assert_eq!(decide(&store, "m1", MeetingChange::Call(Box::new(meeting.clone()))).await, (true, false));
    assert_eq!(decide(&store, "m2", MeetingChange::Call(Box::new(a_meeting()))).await, (true, false), "decided on, though one is open");
    assert_eq!(store.list_meetings(&MeetingKind::new("standup"), 9).await.unwrap(), std::slice::from_ref(&meeting));

    let run = run_of(&store, &meeting).await;
    run.open(&[seat(&meeting, 0, vince()), seat(&meeting, 1, ben())], &[], at(6)).await.unwrap();
    let asked = begun(&run, 1, 7).await;
    assert_eq!(decide(&store, "m3", MeetingChange::Report(Box::new(spoke(&asked)))).await, (true, false));
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[1].state, SeatState::Spoke);
    assert_eq!(decide(&store, "m4", MeetingChange::Wrap(meeting.id.clone())).await, (true, false));
    assert!(store.find_meeting(&meeting.id).await.unwrap().unwrap().wrap);
}

async fn what_a_meeting_keeps_about_itself_reads_back(home: &Home) {
    let store = home.open().await;
    let meeting = Meeting { payload: Some(json!({"topic": "prices"})), budget: Some(Money(50_000)), ..a_meeting() };
    store.call_meeting(&meeting).await.unwrap();
    let guest = Participant::Guest { id: "economist".into(), name: "An economist".into() };
    let run = run_of(&store, &meeting).await;
    run.open(&[seat(&meeting, 0, guest.clone())], &[], at(1)).await.unwrap();
    let stored = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!(stored, Meeting { state: MeetingState::Running, ..meeting });
    assert!(stored.read_payload::<Vec<String>>().unwrap_err().to_string().contains("the payload of the standup"), "of another type");
    assert_eq!(store.list_seats(&stored.id).await.unwrap()[0].who, guest);
    assert!(store.skip_seat(&stored.id, &guest, "too long", at(2)).await.unwrap());
}

async fn a_further_round_opens_once_and_only_when_the_one_before_is_over(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let further = |round, position| Seat { round, ..seat(&meeting, position, vince()) };
    let open = async |round| {
        let seats = [further(round, 0), further(round, 1)];
        run.open_round(&seats, Some(&json!({"round": round})), &[line("on we go")], at(9)).await.unwrap()
    };
    assert!(!open(1).await, "the first round is not over");
    for position in [0, 1] {
        let begun = begun(&run, position, 2).await;
        assert!(run.finish_seat(&spoke(&begun), &[], at(3)).await.unwrap());
    }
    assert!(!open(2).await, "no round is left out");
    assert!(!open(0).await, "it is there");
    assert!(!run.open_round(&[], None, &[], at(9)).await.unwrap(), "of nobody");
    assert_eq!((open(1).await, open(1).await), (true, false));
    assert_eq!(store.list_seats(&meeting.id).await.unwrap().len(), 4);
    assert_eq!(store.outbox_depth(at(9)).await.unwrap().0, 1);
    assert_eq!(store.find_meeting(&meeting.id).await.unwrap().unwrap().payload, Some(json!({"round": 1})));
    run.begin_closing(at(10)).await.unwrap();
    assert!(!open(2).await, "it comes to its result");
}

async fn a_pause_keeps_the_floor_and_does_not_count_as_time(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let asked = begun(&run, 1, 2).await;
    assert!(store.pause_meeting(&meeting.id, "Ada", at(10)).await.unwrap());
    assert!(!store.pause_meeting(&meeting.id, "Ben", at(11)).await.unwrap());
    let paused = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!(paused.paused.map(|paused| (paused.by, paused.at)), Some(("Ada".to_owned(), at(10))));
    assert_eq!(run.begin_seat((0, 0), &[], at(12)).await.unwrap(), None, "nobody is given the floor");

    assert!(store.resume_meeting(&meeting.id, at(70)).await.unwrap());
    assert!(!store.resume_meeting(&meeting.id, at(71)).await.unwrap());
    let resumed = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!((resumed.paused, resumed.deadline), (None, meeting.deadline + TimeDelta::seconds(60)));
    let seats = store.list_seats(&meeting.id).await.unwrap();
    assert_eq!((seats[1].started_at, seats[1].attempts), (Some(at(70)), asked.attempts), "Ben has the whole time again");
    assert!(run.begin_seat((0, 0), &[], at(72)).await.unwrap().is_some());

    run.begin_closing(at(80)).await.unwrap();
    assert!(!store.pause_meeting(&meeting.id, "Ada", at(81)).await.unwrap(), "nobody speaks any more");
}

async fn a_meeting_whose_budget_is_spent_says_so_once(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    for expected in [true, false] {
        assert_eq!(run.end_budget(&[line("the budget is spent")], at(5)).await.unwrap(), expected);
    }
    assert!(store.find_meeting(&meeting.id).await.unwrap().unwrap().wrap);
    assert_eq!(store.outbox_depth(at(5)).await.unwrap().0, 1);
    assert!(!store.pause_meeting(&meeting.id, "Ada", at(6)).await.unwrap(), "it comes to its end");
}

async fn a_skipped_seat_is_passed_over_in_its_round(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let later = Seat { round: 1, ..seat(&meeting, 0, vince()) };
    let run = run_of(&store, &meeting).await;
    run.open(&[seat(&meeting, 0, vince()), seat(&meeting, 1, ben()), later], &[], at(1)).await.unwrap();
    begun(&run, 0, 2).await;
    assert!(store.skip_seat(&meeting.id, &vince(), "Ada said so", at(3)).await.unwrap());
    let renamed = Participant::Person { id: "7".into(), name: "Benjamin".into() };
    assert!(store.skip_seat(&meeting.id, &renamed, "is ill", at(3)).await.unwrap(), "a person is known by the account");
    assert!(!store.skip_seat(&meeting.id, &ben(), "is ill", at(4)).await.unwrap());
    assert!(!store.skip_seat(&meeting.id, &Participant::Persona("7".into()), "nobody", at(4)).await.unwrap());
    let seats = store.list_seats(&meeting.id).await.unwrap();
    let states: Vec<_> = seats.iter().map(|seat| (seat.round, seat.state, seat.reason.as_deref())).collect();
    let expected = [(0, SeatState::Skipped, Some("Ada said so")), (0, SeatState::Skipped, Some("is ill")), (1, SeatState::Waiting, None)];
    assert_eq!(states, expected);
    assert!(store.skip_seat(&meeting.id, &vince(), "and again", at(5)).await.unwrap(), "now in the next round");
}

async fn a_person_is_asked_only_while_their_turn_lasts(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let channel = meeting_channel().id;
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap(), None, "not yet");
    let seat = begun(&run, 1, 2).await;
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap().as_ref(), Some(&seat));
    assert_eq!(store.find_asked_person(&channel, &"8".into()).await.unwrap(), None);
    assert_eq!(store.find_asked_person(&general().id, &"7".into()).await.unwrap(), None);
    begun(&run, 0, 2).await;
    assert_eq!(store.find_asked_person(&channel, &"vince".into()).await.unwrap(), None, "a persona is no person");
    assert!(run.finish_seat(&spoke(&seat), &[], at(3)).await.unwrap());
    let adding = store.find_asked_person(&channel, &"7".into()).await.unwrap().expect("more may be said before the next turn");
    assert_eq!((adding.position, adding.state), (seat.position, SeatState::Spoke));
    store.end_meeting(&meeting.id, MeetingState::Cancelled, "enough", &[], at(4)).await.unwrap();
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap(), None);
}

async fn a_failure_in_the_middle_stores_nothing(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let post = line("said before");
    store.enqueue(std::slice::from_ref(&post), at(0)).await.unwrap();
    let twice = [line("good morning"), post];
    let seats = [seat(&meeting, 0, vince())];
    let run = run_of(&store, &meeting).await;
    run.open(&seats, &twice, at(1)).await.unwrap_err();
    assert_eq!(state(&store, &meeting).await, MeetingState::Called);
    assert!(store.list_seats(&meeting.id).await.unwrap().is_empty());

    run.open(&seats, &[], at(1)).await.unwrap();
    let begun = begun(&run, 0, 2).await;
    run.finish_seat(&spoke(&begun), &twice, at(3)).await.unwrap_err();
    run.record_material(&json!({}), &twice, at(3)).await.unwrap_err();
    store.end_meeting(&meeting.id, MeetingState::Failed, "no", &twice, at(3)).await.unwrap_err();
    assert_eq!(store.list_seats(&meeting.id).await.unwrap(), [begun]);
    let open = store.list_open_meetings().await.unwrap().remove(0);
    assert_eq!((open.meeting.state, open.material), (MeetingState::Running, None));
    assert_eq!(store.outbox_depth(at(3)).await.unwrap().0, 1);
}

async fn a_contribution_of_an_older_program_is_read(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let seat = begun(&run, 0, 2).await;
    run.finish_seat(&spoke(&seat), &[], at(3)).await.unwrap();
    let old = r#"{"text":"all well","signals":[],"usage":{"input":1,"cached":0,"output":1},"partial":false,"problems":[],"mood":"sunny"}"#;
    tamper(home, &format!("UPDATE seats SET contribution = '{old}' WHERE position = 0")).await;
    let read = store.list_seats(&meeting.id).await.unwrap().remove(0).contribution.unwrap();
    assert_eq!((read.text.as_str(), read.model), ("all well", None), "what is new is missing, what is gone is passed over");

    tamper(home, "UPDATE seats SET contribution = '{' WHERE position = 0").await;
    let error = store.list_seats(&meeting.id).await.unwrap_err();
    assert!(error.to_string().contains("restore a backup"), "{error}");
}

async fn an_open_meeting_is_open_work(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.count_open_work().await.unwrap(), 0);
    let (meeting, _) = opened(&store).await;
    assert_eq!(store.count_open_work().await.unwrap(), 1);
    store.end_meeting(&meeting.id, MeetingState::Cancelled, "enough", &[], at(2)).await.unwrap();
    assert_eq!(store.count_open_work().await.unwrap(), 0);
}

async fn talk_is_open_until_it_is_decided_on_and_answered(home: &Home) {
    let store = home.open().await;
    let here = general().id;
    assert!(!store.has_open_talk(&here).await.unwrap());
    store.claim(&message("m1", "hello", 0), at(0)).await.unwrap();
    assert!(store.has_open_talk(&here).await.unwrap(), "not decided on");
    assert!(!store.has_open_talk(&meeting_channel().id).await.unwrap());
    let turn = turn("m1", "vince");
    decided(&store, "m1", std::slice::from_ref(&turn)).await;
    assert!(store.has_open_talk(&here).await.unwrap(), "not answered");
    store.cancel_turns(CancelScope::All, "stop", at(2)).await.unwrap();
    assert!(!store.has_open_talk(&here).await.unwrap());
    store.claim(&message("m2", "", 0), at(3)).await.unwrap();
    store.record_deletion(&["m2".into()], at(4)).await.unwrap();
    assert!(!store.has_open_talk(&here).await.unwrap(), "a deleted message waits for nothing");
}

const JOBS: &str = "SELECT COUNT(*) FROM jobs WHERE kind = 'meeting.run'";

async fn a_call_has_one_job_however_it_is_made(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    for _ in 0..2 {
        store.call_meeting(&meeting).await.unwrap();
        assert_eq!(count(home, JOBS).await, 1);
    }
    assert_eq!(decide(&store, "m1", MeetingChange::Call(Box::new(a_meeting()))).await, (true, false));
    assert_eq!(count(home, JOBS).await, 1, "the channel has an open meeting, and a refused call has no job");
    let elsewhere = Meeting { channel: general(), ..a_meeting() };
    assert_eq!(decide(&store, "m2", MeetingChange::Call(Box::new(elsewhere.clone()))).await, (true, false));
    assert_eq!(count(home, JOBS).await, 2);
    assert_eq!(run_of(&store, &elsewhere).await.meeting(), &elsewhere.id);
}

async fn an_open_meeting_of_an_earlier_version_has_a_job_after_the_migration(home: &Home) {
    let store = home.open().await;
    let (running, _) = opened(&store).await;
    let over = Meeting { channel: general(), ..a_meeting() };
    store.call_meeting(&over).await.unwrap();
    store.end_meeting(&over.id, MeetingState::Cancelled, "enough", &[], at(2)).await.unwrap();
    store.close().await;
    for sql in ["DELETE FROM job_steps", "DELETE FROM jobs", "DELETE FROM _sqlx_migrations WHERE version = 15"] {
        tamper(home, sql).await;
    }

    let store = home.open().await;
    assert_eq!(count(home, JOBS).await, 1, "what is over needs none");
    assert!(matches!(store.call_meeting(&running).await.unwrap(), Called::AlreadyOpen(_)));
    let run = run_of(&store, &running).await;
    let seat = begun(&run, 0, 3).await;
    assert!(run.finish_seat(&spoke(&seat), &[], at(4)).await.unwrap());
    let closing = run.begin_closing(at(5)).await.unwrap().unwrap();
    assert!(run.close(&closing, &[], at(6)).await.unwrap());
    assert_eq!(state(&store, &running).await, MeetingState::Done);
    assert_eq!(count(home, &format!("{JOBS} AND state = 'done'")).await, 1, "its job ends with it");
}

async fn a_run_that_lost_its_job_stores_nothing_more(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let dead = ManualWorker::start(store.database(), at(0)).await.unwrap();
    let lost = claim_run(&dead, &meeting).await;
    assert!(lost.open(&[seat(&meeting, 0, vince()), seat(&meeting, 1, ben())], &[], at(1)).await.unwrap());
    let begun = begun(&lost, 0, 2).await;
    dead.die(at(3)).await.unwrap();
    let run = run_of(&store, &meeting).await;

    let stored = async || (store.list_open_meetings().await.unwrap(), store.list_seats(&meeting.id).await.unwrap());
    let (before, post) = (stored().await, [line("from the grave")]);
    let later = [Seat { round: 1, ..seat(&meeting, 0, vince()) }];
    let refused = [
        lost.record_wait().await.err(),
        lost.open(&[], &post, at(4)).await.err(),
        lost.record_material(&json!({}), &post, at(4)).await.err(),
        lost.begin_seat((0, 1), &post, at(4)).await.err(),
        lost.finish_seat(&spoke(&begun), &post, at(4)).await.err(),
        lost.release_seat(&begun).await.err(),
        lost.skip_seats(&before.1, "no", at(4)).await.err(),
        lost.open_round(&later, None, &post, at(4)).await.err(),
        lost.end_budget(&post, at(4)).await.err(),
        lost.begin_closing(at(4)).await.err(),
        lost.end(MeetingState::Failed, "no", &post, at(4)).await.err(),
    ];
    assert!(refused.iter().all(|error| matches!(error, Some(JobError::LostLease))), "{refused:?}");
    assert_eq!(stored().await, before);
    let closing = run.begin_closing(at(5)).await.unwrap().unwrap();
    assert!(matches!(lost.release_closing(&closing).await, Err(JobError::LostLease)));
    assert!(matches!(lost.close(&closing, &post, at(6)).await, Err(JobError::LostLease)));
    assert_eq!(store.outbox_depth(at(6)).await.unwrap().0, 0);
    assert!(run.close(&closing, &[], at(7)).await.unwrap());
}

/// Claims the job of a meeting, calls `step` and kills the process. Returns how often the job had crashed a process and been suspected of it before.
async fn killed_after(store: &Store, meeting: &Meeting, step: impl AsyncFnOnce(&MeetingRun)) -> (u32, u32) {
    let worker = ManualWorker::start(store.database(), at(0)).await.unwrap();
    let run = claim_run(&worker, meeting).await;
    step(&run).await;
    worker.die(at(1)).await.unwrap();
    (run.job().job().crashes, run.job().job().suspicions)
}

async fn a_meeting_whose_turns_kill_the_process_twice_each_is_not_lost(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let seats: Vec<_> = (0..4).map(|position| seat(&meeting, position, vince())).collect();
    killed_after(&store, &meeting, async |run| assert!(run.open(&seats, &[], at(1)).await.unwrap())).await;
    for position in 0..4 {
        for _ in 0..2 {
            let blamed = killed_after(&store, &meeting, async |run| drop(begun(run, position, 2).await)).await;
            assert_eq!(blamed, (0, 0));
        }
        let run = run_of(&store, &meeting).await;
        let third = begun(&run, position, 3).await;
        assert!(run.finish_seat(&spoke(&third), &[], at(4)).await.unwrap());
        tamper(home, "UPDATE jobs SET state = 'ready' WHERE state = 'running'").await;
    }
    let seats = store.list_seats(&meeting.id).await.unwrap();
    assert!(seats.iter().all(|seat| (seat.state, seat.attempts) == (SeatState::Spoke, 3)), "{seats:?}");
}

async fn a_meeting_that_waits_is_not_blamed_for_kills(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    for _ in 0..5 {
        let blamed = killed_after(&store, &meeting, async |run| run.record_wait().await.unwrap()).await;
        assert_eq!(blamed, (0, 0));
    }
}

async fn a_meeting_that_kills_the_process_before_its_first_step_is_blamed(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    for crashes in 0..4 {
        assert_eq!(killed_after(&store, &meeting, async |_| ()).await, (crashes, crashes));
    }
}
