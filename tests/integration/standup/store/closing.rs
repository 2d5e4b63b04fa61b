//! The results of a standup: report, prediction, items, memories, figures.

use chrono::{Days, TimeDelta};
use kernel::chat::message::Channel;
use kernel::ids::LedgerId;
use kernel::jobs::JobError;
use kernel::llm::budget::Budgets;
use kernel::money::{Money, Purpose, Reservation};
use kernel::persona::Tier;
use teamroom::features::backlog::model::{Origin, WorkItem};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::meeting::model::{Meeting, MeetingState, Seat, SeatState};
use teamroom::features::meeting::store::MeetingRun;
use teamroom::features::standup::STANDUP;
use teamroom::features::standup::model::health::StandupFigures;
use teamroom::features::standup::model::prediction::{Prediction, Settled, Verdict};
use teamroom::features::standup::store::StandupClosing;
use teamroom::store::Store;

use super::sample::{closed, closing, prediction, report};
use crate::store::meeting_sample::{a_meeting, ben, contribution, meeting_channel, opened, run_of, seat, today, vince};
use crate::store::opening::tamper;
use crate::store::sample::{at, general, item, lesson, line};
use crate::store::{Home, on_both};

on_both!(
    a_standup_is_closed_once_with_all_that_came_of_it,
    a_closing_that_fails_in_the_middle_stores_nothing,
    a_closing_begun_anew_makes_the_earlier_one_void,
    a_second_standup_of_the_day_revises_the_report,
    reports_are_found_by_day,
    a_report_that_cannot_be_read_is_told,
    a_day_has_one_call_on_a_question,
    a_prediction_is_settled_once_and_not_before_it_expires,
    a_person_rates_an_insight_once,
    a_standup_is_told_in_figures,
);

const ALL_ITEMS: ItemFilter<'_> = ItemFilter { statuses: &[], owner: None, scope: None, limit: 100 };

async fn begun(store: &Store) -> (Meeting, MeetingRun) {
    let (_, run) = opened(store).await;
    (run.begin_closing(at(50)).await.unwrap().unwrap(), run)
}

async fn a_standup_is_closed_once_with_all_that_came_of_it(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = begun(&store).await;
    let (report, post) = (report(&meeting, 1), line("the Day Report"));
    let origin = Origin::Meeting(meeting.id.clone().into());
    let items = [WorkItem { origin: origin.clone(), ..item("profile checkout", 60) }, WorkItem { origin, ..item("roll it back", 61) }];
    let (prediction, memories) = (prediction(&meeting, "512 commits by Friday?"), [lesson("Latency follows traffic.")]);
    let whole = StandupClosing {
        items: &items,
        prediction: Some(&prediction),
        memories: &memories,
        outbox: std::slice::from_ref(&post),
        ..closing(&run, &meeting, &report, &post.id)
    };
    assert!(whole.store().await.unwrap());
    assert!(matches!(whole.store().await, Err(JobError::LostLease)), "it is over, and its job too");
    assert!(matches!(run.begin_closing(at(70)).await, Err(JobError::LostLease)));
    store.close().await;

    let store = home.open().await;
    let ended = store.find_meeting(&meeting.id).await.unwrap().unwrap();
    assert_eq!((ended.state, ended.ended_at), (MeetingState::Done, Some(at(60))));
    assert!(store.list_open_meetings().await.unwrap().is_empty());
    let stored = store.find_report(&report.channel, today()).await.unwrap().unwrap();
    assert_eq!((stored.report, stored.post, stored.created_at), (report, post.id, at(60)));
    assert_eq!(store.list_items(&ALL_ITEMS).await.unwrap(), items);
    assert_eq!(store.list_items_changed(at(0), at(60)).await.unwrap().len(), 2, "each began with an event");
    assert_eq!(store.list_predictions(9).await.unwrap(), [prediction]);
    assert_eq!(store.list_lessons(&"vince".into(), 9).await.unwrap(), memories);
    let trace = store.trace(&"m1".into()).await.unwrap().unwrap();
    assert_eq!(trace.outbox.len(), 1, "its post is traced to the message that called the standup");
}

async fn a_closing_that_fails_in_the_middle_stores_nothing(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = begun(&store).await;
    let (report, post) = (report(&meeting, 1), line("the Day Report"));
    store.enqueue(std::slice::from_ref(&post), at(0)).await.unwrap();
    let (items, call, memories) = ([item("profile checkout", 60)], prediction(&meeting, "?"), [lesson("Latency follows traffic.")]);
    let whole =
        StandupClosing { items: &items, prediction: Some(&call), memories: &memories, ..closing(&run, &meeting, &report, &post.id) };
    StandupClosing { outbox: &[line("first"), post.clone()], ..whole }.store().await.unwrap_err();
    assert_eq!(store.find_meeting(&meeting.id).await.unwrap().unwrap().state, MeetingState::Closing);
    assert_eq!(store.find_report(&report.channel, today()).await.unwrap(), None);
    assert!(store.list_items(&ALL_ITEMS).await.unwrap().is_empty());
    assert!(store.list_items_changed(at(0), at(99)).await.unwrap().is_empty());
    assert!(store.list_predictions(9).await.unwrap().is_empty());
    assert!(store.list_lessons(&"vince".into(), 9).await.unwrap().is_empty());
    assert_eq!(store.outbox_depth(at(60)).await.unwrap().0, 1);

    assert!(whole.store().await.unwrap(), "it may be tried again");
}

async fn a_closing_begun_anew_makes_the_earlier_one_void(home: &Home) {
    let store = home.open().await;
    let (running, run) = opened(&store).await;
    let (report, post) = (report(&running, 1), line("the Day Report"));
    assert!(!closing(&run, &running, &report, &post.id).store().await.unwrap(), "people still speak");
    let first = run.begin_closing(at(50)).await.unwrap().unwrap();
    let second = run.begin_closing(at(51)).await.unwrap().unwrap();
    assert!(!closing(&run, &first, &report, &post.id).store().await.unwrap());
    assert!(closing(&run, &second, &report, &post.id).store().await.unwrap());
}

async fn a_second_standup_of_the_day_revises_the_report(home: &Home) {
    let store = home.open().await;
    let (_, first) = closed(&store, 1).await;
    let (second, _) = closed(&store, 2).await;
    let stored = store.find_report(&meeting_channel().id, today()).await.unwrap().unwrap();
    assert_eq!((stored.report.revision, &stored.report.meeting), (2, &second.id));
    assert_eq!(stored.post, first.id, "revisions stand where the first was posted");
    assert_eq!(store.list_reports(9).await.unwrap(), std::slice::from_ref(&stored));

    // This closing began without knowing the second one.
    let (third, run) = begun(&store).await;
    let (stale, post) = (report(&third, 2), line("revision 2 again"));
    let items = [item("profile checkout", 60)];
    assert!(!StandupClosing { items: &items, ..closing(&run, &third, &stale, &post.id) }.store().await.unwrap());
    assert_eq!(store.find_report(&meeting_channel().id, today()).await.unwrap(), Some(stored));
    assert!(store.list_items(&ALL_ITEMS).await.unwrap().is_empty());
    assert!(closing(&run, &third, &report(&third, 3), &post.id).store().await.unwrap(), "the meeting still waits for its end");
}

async fn reports_are_found_by_day(home: &Home) {
    let store = home.open().await;
    let friday = today() - Days::new(3);
    for (day, channel) in [(friday, meeting_channel()), (today(), meeting_channel()), (today(), general())] {
        let called = Meeting { day, channel, ..a_meeting() };
        store.call_meeting(&called).await.unwrap();
        let run = run_of(&store, &called).await;
        run.open(&[], &[], at(1)).await.unwrap();
        let meeting = run.begin_closing(at(2)).await.unwrap().unwrap();
        assert!(closing(&run, &meeting, &report(&meeting, 1), &line("the Day Report").id).store().await.unwrap());
    }
    let channel = meeting_channel().id;
    let last = store.find_last_report(&channel, today() - Days::new(1)).await.unwrap().unwrap();
    assert_eq!(last.report.day, friday, "the last one, however long ago");
    assert_eq!(store.find_last_report(&channel, friday - Days::new(1)).await.unwrap(), None);
    assert_eq!(store.find_last_report(&channel, today()).await.unwrap().unwrap().report.day, today(), "an earlier one of the day");
    assert_eq!(store.find_report(&channel, friday).await.unwrap(), Some(last));
    assert_eq!(store.find_report(&channel, friday + Days::new(1)).await.unwrap(), None);
    let days: Vec<_> = store.list_reports(3).await.unwrap().into_iter().map(|stored| stored.report.day).collect();
    assert_eq!(days, [today(), today(), friday]);
    assert_eq!(store.list_reports(2).await.unwrap().len(), 2);
    let of_today = store.list_reports_of(today()).await.unwrap();
    assert!(of_today.len() == 2 && of_today.iter().all(|stored| stored.report.day == today()), "in two channels");
    assert_eq!(store.list_reports_of(friday + Days::new(1)).await.unwrap(), []);
}

async fn a_report_that_cannot_be_read_is_told(home: &Home) {
    let store = home.open().await;
    closed(&store, 1).await;
    tamper(home, r#"UPDATE reports SET report = '{"day":"2026-11-21"}'"#).await;
    let error = store.find_report(&meeting_channel().id, today()).await.unwrap_err();
    assert!(error.to_string().contains("column report") && error.to_string().contains("restore a backup"), "{error}");
    assert!(!error.is_retryable());
    assert_eq!(store.list_meetings(&STANDUP, 9).await.unwrap().len(), 1, "the rest is still there");
}

/// Closes today's standup with a call.
async fn call_in(store: &Store, revision: u32, question: &str) -> Prediction {
    let (meeting, run) = begun(store).await;
    let call = prediction(&meeting, question);
    let report = report(&meeting, revision);
    assert!(StandupClosing { prediction: Some(&call), ..closing(&run, &meeting, &report, &line("").id) }.store().await.unwrap());
    call
}

fn settled(verdict: Verdict) -> Settled {
    Settled { verdict, value: Some(513.0), at: at(3600), note: "commits 513".into() }
}

async fn a_day_has_one_call_on_a_question(home: &Home) {
    let store = home.open().await;
    let replaced = call_in(&store, 1, "512 commits?").await;
    let other = call_in(&store, 2, "a new star?").await;
    let call = call_in(&store, 3, "512 commits?").await;
    let ids = |predictions: Vec<Prediction>| predictions.into_iter().map(|prediction| prediction.id).collect::<Vec<_>>();
    assert_eq!(ids(store.list_predictions(9).await.unwrap()), [call.id.clone(), other.id.clone()]);
    assert!(!store.settle_prediction(&replaced.id, &settled(Verdict::Hit), &[line("late")], at(3600)).await.unwrap());

    assert!(store.settle_prediction(&call.id, &settled(Verdict::Hit), &[], at(3600)).await.unwrap());
    let later = call_in(&store, 4, "512 commits?").await;
    assert_eq!(ids(store.list_predictions(9).await.unwrap()), [later.id, call.id, other.id], "what is settled stays");
}

async fn a_prediction_is_settled_once_and_not_before_it_expires(home: &Home) {
    let store = home.open().await;
    let call = call_in(&store, 1, "512 commits?").await;
    assert!(store.list_due_predictions(at(3599)).await.unwrap().is_empty());
    assert!(!store.settle_prediction(&call.id, &settled(Verdict::Miss), &[line("too soon")], at(3599)).await.unwrap());
    assert_eq!(store.list_due_predictions(at(3600)).await.unwrap(), std::slice::from_ref(&call));

    let twice = line("a hit");
    store.enqueue(std::slice::from_ref(&twice), at(3600)).await.unwrap();
    store.settle_prediction(&call.id, &settled(Verdict::Miss), std::slice::from_ref(&twice), at(3601)).await.unwrap_err();
    assert!(store.settle_prediction(&call.id, &settled(Verdict::Hit), &[line("a hit")], at(3601)).await.unwrap());
    assert!(!store.settle_prediction(&call.id, &settled(Verdict::Miss), &[line("a miss")], at(3602)).await.unwrap());
    assert!(store.list_due_predictions(at(9999)).await.unwrap().is_empty());
    assert_eq!(store.list_predictions(1).await.unwrap(), [Prediction { settled: Some(settled(Verdict::Hit)), ..call }]);
    assert_eq!(store.outbox_depth(at(3602)).await.unwrap().0, 2);
}

async fn a_person_rates_an_insight_once(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.count_ratings(&"vince".into(), at(0)).await.unwrap(), (0, 0));
    store.rate("s1/vince", &"vince".into(), &"1".into(), true, at(0)).await.unwrap();
    store.rate("s1/vince", &"vince".into(), &"2".into(), true, at(1)).await.unwrap();
    store.rate("s2/vince", &"vince".into(), &"1".into(), true, at(2)).await.unwrap();
    store.rate("s2/echo", &"echo".into(), &"1".into(), true, at(2)).await.unwrap();
    assert_eq!(store.count_ratings(&"vince".into(), at(0)).await.unwrap(), (3, 0));
    store.rate("s1/vince", &"vince".into(), &"2".into(), false, at(5)).await.unwrap();
    assert_eq!(store.count_ratings(&"vince".into(), at(0)).await.unwrap(), (2, 1), "one may think better of it");
    assert_eq!(store.count_ratings(&"vince".into(), at(2)).await.unwrap(), (1, 1));
}

async fn a_standup_is_told_in_figures(home: &Home) {
    let store = home.open().await;
    let meeting = a_meeting();
    store.call_meeting(&meeting).await.unwrap();
    let run = run_of(&store, &meeting).await;
    let echo = || teamroom::features::meeting::model::Participant::Persona("echo".into());
    let seats = [vince(), echo(), ben(), echo(), echo()].into_iter().zip(0..).map(|(who, position)| seat(&meeting, position, who));
    run.open(&seats.collect::<Vec<_>>(), &[], at(1)).await.unwrap();
    let ends = [SeatState::Spoke, SeatState::Spoke, SeatState::Quiet, SeatState::Quiet, SeatState::Skipped];
    for (position, state) in (0..).zip(ends) {
        let begun = run.begin_seat((0, position), &[], at(2)).await.unwrap().unwrap();
        let contribution = (state != SeatState::Skipped).then(contribution);
        assert!(run.finish_seat(&Seat { state, contribution, ..begun }, &[], at(3)).await.unwrap());
    }
    store.reserve(&call_for(meeting.id.as_str(), 7), &Budgets::default()).await.unwrap();
    store.reserve(&call_for(meeting.id.as_str(), 5), &Budgets::default()).await.unwrap();
    store.reserve(&call_for("something else", 9), &Budgets::default()).await.unwrap();
    store.rate(&format!("{}/vince", meeting.id), &"vince".into(), &"1".into(), true, at(4)).await.unwrap();
    store.rate(&format!("{}/echo", meeting.id), &"echo".into(), &"1".into(), false, at(4)).await.unwrap();
    store.rate(meeting.id.as_str(), &"kelly".into(), &"1".into(), false, at(4)).await.unwrap();
    assert!(store.list_standup_figures(14).await.unwrap().is_empty(), "it is not over");

    let meeting = run.begin_closing(at(50)).await.unwrap().unwrap();
    assert!(StandupClosing { at: at(75), ..closing(&run, &meeting, &report(&meeting, 1), &line("").id) }.store().await.unwrap());
    let elsewhere = Channel { id: "30".into(), ..meeting_channel() };
    let cancelled = Meeting { channel: elsewhere, ..a_meeting() };
    store.call_meeting(&cancelled).await.unwrap();
    store.end_meeting(&cancelled.id, MeetingState::Cancelled, "no", &[], at(80)).await.unwrap();

    let expected = StandupFigures {
        day: today(),
        reports: 2,
        quiet: 2,
        skipped: 1,
        words: 12,
        seconds: 75,
        cost: Money(12),
        useful: 1,
        not_useful: 2,
    };
    assert_eq!(store.list_standup_figures(14).await.unwrap(), [expected]);

    let next = Meeting { called_at: at(0) + TimeDelta::days(1), day: today() + Days::new(1), ..a_meeting() };
    store.call_meeting(&next).await.unwrap();
    let run = run_of(&store, &next).await;
    run.open(&[], &[], at(1)).await.unwrap();
    let next = run.begin_closing(at(2)).await.unwrap().unwrap();
    // The clock was set back in between.
    assert!(StandupClosing { at: at(3), ..closing(&run, &next, &report(&next, 1), &line("").id) }.store().await.unwrap());
    let figures = store.list_standup_figures(1).await.unwrap().remove(0);
    assert_eq!((figures.day, figures.seconds, figures.words), (next.day, 0, 0), "the newest comes first");
}

fn call_for(subject: &str, cost: i64) -> Reservation {
    Reservation {
        id: LedgerId::generate(),
        at: at(2),
        persona: Some("vince".into()),
        purpose: Purpose::Standup,
        subject: subject.into(),
        allowance: None,
        provider: "openai".into(),
        model: "small".into(),
        tier: Tier::T1,
        tokens: 10,
        cost: Money(cost),
    }
}
