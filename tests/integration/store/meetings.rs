use chrono::TimeDelta;
use kernel::ids::MessageId;
use kernel::money::Money;
use kernel::wakeup::Wakeup;
use serde_json::json;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{CancelScope, Decided};
use teamroom::features::meeting::model::{CalledBy, Meeting, MeetingState, Participant, Seat, SeatState};
use teamroom::features::meeting::store::{Called, MeetingChange, MeetingEffect, OpenMeeting};
use teamroom::store::Store;

use super::opening::tamper;
use super::sample::{at, decided, general, line, message, turn};
use super::standup::{ben, opened, seat, spoke, standup, standup_channel, vince};
use super::{Home, on_both};

on_both!(
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

async fn begun(store: &Store, meeting: &Meeting, position: u32, seconds: i64) -> Seat {
    store.begin_seat(&meeting.id, 0, position, &[], at(seconds)).await.unwrap().expect("the seat is open")
}

async fn a_channel_has_one_open_meeting(home: &Home) {
    let store = home.open().await;
    let (first, second) = (standup(), standup());
    let elsewhere = Meeting { channel: general(), called_by: CalledBy::Schedule { job: "standup".into() }, called_at: at(2), ..standup() };
    assert_eq!(store.call_meeting(&first).await.unwrap(), Called::Opened);
    assert_eq!(store.call_meeting(&second).await.unwrap(), Called::AlreadyOpen(first.clone()));
    assert_eq!(store.call_meeting(&first).await.unwrap(), Called::AlreadyOpen(first.clone()), "the same call twice");
    assert_eq!(store.call_meeting(&elsewhere).await.unwrap(), Called::Opened);

    assert_eq!(store.find_open_meeting(&standup_channel().id).await.unwrap().as_ref(), Some(&first));
    assert_eq!(store.find_open_meeting(&"30".into()).await.unwrap(), None);
    assert_eq!(store.find_meeting(&second.id).await.unwrap(), None, "nothing of it was stored");
    let open = [&first, &elsewhere].map(|meeting| OpenMeeting { meeting: meeting.clone(), material: None });
    assert_eq!(store.list_open_meetings().await.unwrap(), open);

    assert!(store.end_meeting(&first.id, MeetingState::Cancelled, "Ada said so", &[], at(9)).await.unwrap());
    assert!(matches!(store.call_meeting(&first).await.unwrap(), Called::AlreadyOpen(over) if over.ended_at == Some(at(9))));
    assert_eq!(store.call_meeting(&Meeting { called_at: at(10), ..second.clone() }).await.unwrap(), Called::Opened, "the channel is free");
    let newest: Vec<_> = store.list_meetings(2).await.unwrap().into_iter().map(|meeting| meeting.id).collect();
    assert_eq!(newest, [second.id, elsewhere.id]);
}

async fn of_many_callers_at_once_one_opens_the_meeting(home: &Home) {
    let store = home.open().await;
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let meeting = standup();
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
    let meeting = standup();
    store.call_meeting(&meeting).await.unwrap();
    let seats = [seat(&meeting, 1, ben()), seat(&meeting, 0, vince()), Seat { round: 1, ..seat(&meeting, 0, vince()) }];
    assert!(store.open_meeting(&meeting.id, &seats, &[line("good morning")], at(1)).await.unwrap());
    assert!(!store.open_meeting(&meeting.id, &seats, &[line("good morning again")], at(2)).await.unwrap());
    assert_eq!(store.outbox_depth(at(2)).await.unwrap().0, 1, "who comes second posts nothing");
    assert_eq!(store.list_seats(&meeting.id).await.unwrap(), [seats[1].clone(), seats[0].clone(), seats[2].clone()]);
    assert_eq!(state(&store, &meeting).await, MeetingState::Running);
    let trace = store.trace(&"m1".into()).await.unwrap().unwrap();
    assert_eq!(trace.outbox[0].message.text, "good morning", "it is traced to the message that called the standup");

    assert!(store.ask_wrap(&meeting.id, at(3)).await.unwrap());
    assert!(!store.ask_wrap(&meeting.id, at(4)).await.unwrap());
    let closing = store.begin_closing(&meeting.id, at(5)).await.unwrap().unwrap();
    assert_eq!((closing.state, closing.closings, closing.wrap), (MeetingState::Closing, 1, true));
    assert!(!store.ask_wrap(&meeting.id, at(6)).await.unwrap(), "it comes to its end already");
    store.close().await;

    let store = home.open().await;
    let again = store.begin_closing(&meeting.id, at(9)).await.unwrap().unwrap();
    assert_eq!(again.closings, 2, "after a crash the closing is begun again");
    assert_eq!(store.find_meeting(&meeting.id).await.unwrap(), Some(again));
}

async fn a_called_meeting_is_neither_spoken_in_nor_closed(home: &Home) {
    let store = home.open().await;
    let meeting = standup();
    assert!(!store.open_meeting(&meeting.id, &[seat(&meeting, 0, vince())], &[], at(0)).await.unwrap(), "it was never called");
    assert!(!store.ask_wrap(&meeting.id, at(0)).await.unwrap());
    store.call_meeting(&meeting).await.unwrap();
    assert_eq!(store.begin_closing(&meeting.id, at(1)).await.unwrap(), None);
    assert_eq!(store.begin_seat(&meeting.id, 0, 0, &[], at(1)).await.unwrap(), None);
    assert!(!store.finish_seat(&spoke(&seat(&meeting, 0, vince())), &[], at(1)).await.unwrap());
    assert!(!store.record_material(&meeting.id, &json!({}), &[], at(1)).await.unwrap());
    assert!(store.ask_wrap(&meeting.id, at(1)).await.unwrap(), "somebody may change their mind at once");
    assert_eq!(state(&store, &meeting).await, MeetingState::Called);
}

async fn a_meeting_that_is_over_takes_nothing_more(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let seat = begun(&store, &meeting, 0, 2).await;
    for state in [MeetingState::Called, MeetingState::Running, MeetingState::Closing, MeetingState::Done] {
        assert!(!store.end_meeting(&meeting.id, state, "no", &[line("no")], at(3)).await.unwrap(), "{state:?} is no such end");
    }
    assert!(store.end_meeting(&meeting.id, MeetingState::Failed, "the channel\0 is gone", &[line("sorry")], at(4)).await.unwrap());
    assert!(!store.end_meeting(&meeting.id, MeetingState::Cancelled, "late", &[line("late")], at(5)).await.unwrap());

    assert_eq!(store.begin_seat(&meeting.id, 0, 0, &[], at(5)).await.unwrap(), None);
    assert!(!store.finish_seat(&spoke(&seat), &[line("late")], at(5)).await.unwrap());
    assert!(!store.skip_seat(&meeting.id, &vince(), "late", at(5)).await.unwrap());
    assert!(!store.ask_wrap(&meeting.id, at(5)).await.unwrap());
    assert!(!store.record_material(&meeting.id, &json!({}), &[line("late")], at(5)).await.unwrap());
    assert_eq!(store.begin_closing(&meeting.id, at(5)).await.unwrap(), None);
    let ended = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!((ended.state, ended.ended_at), (MeetingState::Failed, Some(at(4))));
    assert_eq!(ended.reason.as_deref(), Some("the channel is gone"));
    assert_eq!(store.outbox_depth(at(5)).await.unwrap().0, 1);
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[0], seat);
}

async fn the_material_is_gathered_once(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let page = json!({ "read_at": "2026-11-21T12:00:00Z", "feeds": [{ "feed": "news", "text": "a\u{0}b" }] });
    assert!(store.record_material(&meeting.id, &page, &[line("the page")], at(2)).await.unwrap());
    assert!(!store.record_material(&meeting.id, &json!("other"), &[line("again")], at(3)).await.unwrap());
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.list_open_meetings().await.unwrap(), [OpenMeeting { meeting, material: Some(page) }]);
    assert_eq!(store.outbox_depth(at(3)).await.unwrap().0, 1);
}

async fn a_seat_is_begun_again_after_a_crash_and_finished_once(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let first = begun(&store, &meeting, 0, 2).await;
    assert_eq!((first.state, first.attempts, first.started_at), (SeatState::Speaking, 1, Some(at(2))));
    assert_eq!(store.begin_seat(&meeting.id, 0, 9, &[], at(2)).await.unwrap(), None, "there is no such seat");
    store.close().await;

    let store = home.open().await;
    let seat = begun(&store, &meeting, 0, 30).await;
    assert_eq!((seat.attempts, seat.started_at), (2, Some(at(2))), "since when a person is waited for");
    assert!(!store.finish_seat(&seat, &[line("not an end")], at(31)).await.unwrap());
    assert!(store.finish_seat(&spoke(&seat), &[line("latency is up")], at(32)).await.unwrap());
    assert!(!store.finish_seat(&spoke(&seat), &[line("latency is up")], at(33)).await.unwrap());
    assert_eq!(store.begin_seat(&meeting.id, 0, 0, &[], at(34)).await.unwrap(), None, "it has spoken");
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[0], Seat { ended_at: Some(at(32)), ..spoke(&seat) });
    assert_eq!(store.outbox_depth(at(34)).await.unwrap().0, 1);
}

async fn a_seat_that_was_begun_anew_is_not_finished_by_the_first(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let first = begun(&store, &meeting, 0, 2).await;
    let second = begun(&store, &meeting, 0, 90).await;
    assert!(!store.finish_seat(&spoke(&first), &[line("from the grave")], at(91)).await.unwrap());
    let quiet = Seat { state: SeatState::Quiet, ..second };
    assert!(store.finish_seat(&quiet, &[line("nothing to report")], at(92)).await.unwrap());
    let skipped = Seat { state: SeatState::Skipped, reason: Some("no time left".into()), ..seat(&meeting, 1, ben()) };
    assert!(store.finish_seat(&skipped, &[], at(93)).await.unwrap(), "a seat may end without a beginning");
    let states: Vec<_> = store.list_seats(&meeting.id).await.unwrap().into_iter().map(|seat| (seat.state, seat.reason)).collect();
    assert_eq!(states, [(SeatState::Quiet, None), (SeatState::Skipped, Some("no time left".into()))]);
}

async fn what_was_begun_and_given_back_does_not_count(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    for _ in 0..5 {
        let seat = begun(&store, &meeting, 0, 2).await;
        assert_eq!(seat.attempts, 1);
        store.release_seat(&seat).await.unwrap();
        store.release_seat(&seat).await.unwrap();
    }
    for _ in 0..5 {
        let closing = store.begin_closing(&meeting.id, at(5)).await.unwrap().unwrap();
        assert_eq!(closing.closings, 1);
        store.release_closing(&closing).await.unwrap();
        store.release_closing(&closing).await.unwrap();
    }
}

async fn nobody_speaks_once_the_closing_has_begun(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let seat = begun(&store, &meeting, 0, 2).await;
    let finishing = tokio::spawn({
        let (store, seat) = (store.clone(), spoke(&seat));
        async move { store.finish_seat(&seat, &[line("at the last moment")], at(3)).await.unwrap() }
    });
    store.begin_closing(&meeting.id, at(3)).await.unwrap().unwrap();
    let finished = finishing.await.unwrap();
    let stored = store.list_seats(&meeting.id).await.unwrap().remove(0);
    assert_eq!((stored.state == SeatState::Spoke, store.outbox_depth(at(4)).await.unwrap().0 == 1), (finished, finished), "all or nothing");

    assert!(!store.finish_seat(&spoke(&seat), &[line("too late")], at(4)).await.unwrap());
    assert_eq!(store.begin_seat(&meeting.id, 0, 1, &[], at(4)).await.unwrap(), None);
    assert!(!store.skip_seat(&meeting.id, &ben(), "too late", at(4)).await.unwrap());
    assert!(store.record_material(&meeting.id, &json!([]), &[], at(4)).await.unwrap(), "the report may still need it");
}

async fn an_invitation_is_posted_once(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    for seconds in [2, 30] {
        store.begin_seat(&meeting.id, 0, 1, &[line("Ben, what is new?")], at(seconds)).await.unwrap().unwrap();
    }
    assert_eq!(store.begin_seat(&meeting.id, 0, 9, &[line("nobody sits here")], at(31)).await.unwrap(), None);
    assert_eq!(store.outbox_depth(at(31)).await.unwrap().0, 1);
}

/// Claims a message and decides twice on this change of a meeting.
async fn decide(store: &Store, id: &str, change: MeetingChange) -> (bool, bool) {
    let effect = MeetingEffect { change, wakeup: Wakeup::default() };
    store.claim(&message(id, "about the standup", 0), at(0)).await.unwrap();
    let nobody = Decision::nobody(Reason::Empty);
    let messages: [MessageId; 1] = [id.into()];
    let decided = Decided { messages: &messages, decision: &nobody, turns: &[], asks: &[], outbox: &[], effect: Some(&effect), at: at(5) };
    (store.decide(&decided).await.unwrap(), store.decide(&decided).await.unwrap())
}

async fn a_message_is_decided_on_together_with_what_it_does_to_a_meeting(home: &Home) {
    let store = home.open().await;
    let meeting = standup();
    assert_eq!(decide(&store, "m1", MeetingChange::Call(Box::new(meeting.clone()))).await, (true, false));
    assert_eq!(decide(&store, "m2", MeetingChange::Call(Box::new(standup()))).await, (true, false), "decided on, though one is open");
    assert_eq!(store.list_meetings(9).await.unwrap(), std::slice::from_ref(&meeting));

    store.open_meeting(&meeting.id, &[seat(&meeting, 0, vince()), seat(&meeting, 1, ben())], &[], at(6)).await.unwrap();
    let asked = begun(&store, &meeting, 1, 7).await;
    assert_eq!(decide(&store, "m3", MeetingChange::Report(Box::new(spoke(&asked)))).await, (true, false));
    assert_eq!(store.list_seats(&meeting.id).await.unwrap()[1].state, SeatState::Spoke);
    assert_eq!(decide(&store, "m4", MeetingChange::Wrap(meeting.id.clone())).await, (true, false));
    assert!(store.find_meeting(&meeting.id).await.unwrap().unwrap().wrap);
}

async fn what_a_meeting_keeps_about_itself_reads_back(home: &Home) {
    let store = home.open().await;
    let meeting = Meeting { payload: Some(json!({"topic": "prices"})), budget: Some(Money(50_000)), ..standup() };
    store.call_meeting(&meeting).await.unwrap();
    let guest = Participant::Guest { id: "economist".into(), name: "An economist".into() };
    store.open_meeting(&meeting.id, &[seat(&meeting, 0, guest.clone())], &[], at(1)).await.unwrap();
    let stored = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!(stored, Meeting { state: MeetingState::Running, ..meeting });
    assert!(stored.read_payload::<Vec<String>>().unwrap_err().to_string().contains("the payload of the standup"), "of another type");
    assert_eq!(store.list_seats(&stored.id).await.unwrap()[0].who, guest);
    assert!(store.skip_seat(&stored.id, &guest, "too long", at(2)).await.unwrap());
}

async fn a_further_round_opens_once_and_only_when_the_one_before_is_over(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let further = |round, position| Seat { round, ..seat(&meeting, position, vince()) };
    let open = async |round| {
        let seats = [further(round, 0), further(round, 1)];
        store.open_round(&meeting.id, &seats, Some(&json!({"round": round})), &[line("on we go")], at(9)).await.unwrap()
    };
    assert!(!open(1).await, "the first round is not over");
    for position in [0, 1] {
        let begun = begun(&store, &meeting, position, 2).await;
        assert!(store.finish_seat(&spoke(&begun), &[], at(3)).await.unwrap());
    }
    assert!(!open(2).await, "no round is left out");
    assert!(!open(0).await, "it is there");
    assert!(!store.open_round(&meeting.id, &[], None, &[], at(9)).await.unwrap(), "of nobody");
    assert_eq!((open(1).await, open(1).await), (true, false));
    assert_eq!(store.list_seats(&meeting.id).await.unwrap().len(), 4);
    assert_eq!(store.outbox_depth(at(9)).await.unwrap().0, 1);
    assert_eq!(store.find_meeting(&meeting.id).await.unwrap().unwrap().payload, Some(json!({"round": 1})));
    store.begin_closing(&meeting.id, at(10)).await.unwrap();
    assert!(!open(2).await, "it comes to its result");
}

async fn a_pause_keeps_the_floor_and_does_not_count_as_time(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let asked = begun(&store, &meeting, 1, 2).await;
    assert!(store.pause_meeting(&meeting.id, "Ada", at(10)).await.unwrap());
    assert!(!store.pause_meeting(&meeting.id, "Ben", at(11)).await.unwrap());
    let paused = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!(paused.paused.map(|paused| (paused.by, paused.at)), Some(("Ada".to_owned(), at(10))));
    assert_eq!(store.begin_seat(&meeting.id, 0, 0, &[], at(12)).await.unwrap(), None, "nobody is given the floor");

    assert!(store.resume_meeting(&meeting.id, at(70)).await.unwrap());
    assert!(!store.resume_meeting(&meeting.id, at(71)).await.unwrap());
    let resumed = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!((resumed.paused, resumed.deadline), (None, meeting.deadline + TimeDelta::seconds(60)));
    let seats = store.list_seats(&meeting.id).await.unwrap();
    assert_eq!((seats[1].started_at, seats[1].attempts), (Some(at(70)), asked.attempts), "Ben has the whole time again");
    assert!(store.begin_seat(&meeting.id, 0, 0, &[], at(72)).await.unwrap().is_some());

    store.begin_closing(&meeting.id, at(80)).await.unwrap();
    assert!(!store.pause_meeting(&meeting.id, "Ada", at(81)).await.unwrap(), "nobody speaks any more");
}

async fn a_meeting_whose_budget_is_spent_says_so_once(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    for expected in [true, false] {
        assert_eq!(store.end_budget(&meeting.id, &[line("the budget is spent")], at(5)).await.unwrap(), expected);
    }
    assert!(store.find_meeting(&meeting.id).await.unwrap().unwrap().wrap);
    assert_eq!(store.outbox_depth(at(5)).await.unwrap().0, 1);
    assert!(!store.pause_meeting(&meeting.id, "Ada", at(6)).await.unwrap(), "it comes to its end");
}

async fn a_skipped_seat_is_passed_over_in_its_round(home: &Home) {
    let store = home.open().await;
    let meeting = standup();
    store.call_meeting(&meeting).await.unwrap();
    let later = Seat { round: 1, ..seat(&meeting, 0, vince()) };
    store.open_meeting(&meeting.id, &[seat(&meeting, 0, vince()), seat(&meeting, 1, ben()), later], &[], at(1)).await.unwrap();
    begun(&store, &meeting, 0, 2).await;
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
    let meeting = opened(&store).await;
    let channel = standup_channel().id;
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap(), None, "not yet");
    let seat = begun(&store, &meeting, 1, 2).await;
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap().as_ref(), Some(&seat));
    assert_eq!(store.find_asked_person(&channel, &"8".into()).await.unwrap(), None);
    assert_eq!(store.find_asked_person(&general().id, &"7".into()).await.unwrap(), None);
    begun(&store, &meeting, 0, 2).await;
    assert_eq!(store.find_asked_person(&channel, &"vince".into()).await.unwrap(), None, "a persona is no person");
    assert!(store.finish_seat(&spoke(&seat), &[], at(3)).await.unwrap());
    assert_eq!(store.find_asked_person(&channel, &"7".into()).await.unwrap(), None);
}

async fn a_failure_in_the_middle_stores_nothing(home: &Home) {
    let store = home.open().await;
    let meeting = standup();
    store.call_meeting(&meeting).await.unwrap();
    let post = line("said before");
    store.enqueue(std::slice::from_ref(&post), at(0)).await.unwrap();
    let twice = [line("good morning"), post];
    let seats = [seat(&meeting, 0, vince())];
    store.open_meeting(&meeting.id, &seats, &twice, at(1)).await.unwrap_err();
    assert_eq!(state(&store, &meeting).await, MeetingState::Called);
    assert!(store.list_seats(&meeting.id).await.unwrap().is_empty());

    store.open_meeting(&meeting.id, &seats, &[], at(1)).await.unwrap();
    let begun = begun(&store, &meeting, 0, 2).await;
    store.finish_seat(&spoke(&begun), &twice, at(3)).await.unwrap_err();
    store.record_material(&meeting.id, &json!({}), &twice, at(3)).await.unwrap_err();
    store.end_meeting(&meeting.id, MeetingState::Failed, "no", &twice, at(3)).await.unwrap_err();
    assert_eq!(store.list_seats(&meeting.id).await.unwrap(), [begun]);
    let open = store.list_open_meetings().await.unwrap().remove(0);
    assert_eq!((open.meeting.state, open.material), (MeetingState::Running, None));
    assert_eq!(store.outbox_depth(at(3)).await.unwrap().0, 1);
}

async fn a_contribution_of_an_older_program_is_read(home: &Home) {
    let store = home.open().await;
    let meeting = opened(&store).await;
    let seat = begun(&store, &meeting, 0, 2).await;
    store.finish_seat(&spoke(&seat), &[], at(3)).await.unwrap();
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
    let meeting = opened(&store).await;
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
    assert!(!store.has_open_talk(&standup_channel().id).await.unwrap());
    let turn = turn("m1", "vince");
    decided(&store, "m1", std::slice::from_ref(&turn)).await;
    assert!(store.has_open_talk(&here).await.unwrap(), "not answered");
    store.cancel_turns(CancelScope::All, "stop", at(2)).await.unwrap();
    assert!(!store.has_open_talk(&here).await.unwrap());
    store.claim(&message("m2", "", 0), at(3)).await.unwrap();
    store.record_deletion(&["m2".into()], at(4)).await.unwrap();
    assert!(!store.has_open_talk(&here).await.unwrap(), "a deleted message waits for nothing");
}
