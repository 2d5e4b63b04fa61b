//! `kill -9` at each step of a standup: it continues, and nothing is posted or paid twice.

use std::time::Duration;

use chrono::TimeDelta;
use kernel::time::{Clock, SystemClock};
use sandbox::{RestFault, Switch};
use teamroom::features::meeting::model::{MeetingState, SeatState};
use teamroom::features::standup::STANDUP;

use super::aftermath::{ATTEMPTS, Aftermath, CALL, CHANNEL, SPEAKERS, answer, open, reports_asked, second_is_asked, set, team};
use super::cast::Part;
use crate::support::command::press;
use crate::support::database::{allow, count, execute, forbid};
use crate::support::long;
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, eventually, on_both_stores};

on_both_stores!(
    killed_after_it_was_called,
    killed_after_it_was_opened,
    killed_after_the_page_was_gathered,
    killed_after_a_turn_was_begun,
    killed_before_a_turn_was_stored,
    killed_after_a_turn_was_stored,
    killed_after_the_closing_was_begun,
    killed_before_the_file_was_written,
    killed_after_the_platform_took_a_report,
    killed_after_the_platform_opened_a_thread,
    killed_at_random_moments,
    a_turn_that_keeps_killing_the_process_is_passed_over,
    a_closing_that_keeps_killing_the_process_ends_without_a_report,
    a_person_is_asked_once_and_the_deadline_stands,
    a_button_of_before_the_crash_rates,
    a_wrap_up_of_before_the_crash_counts,
);

/// A trigger that blocks the next step until the process is killed.
pub(super) struct Wall<'a> {
    team: &'a TestTeam,
    /// A condition on the row, which is `OLD`, or `NEW` for an insert.
    when: &'static str,
}

impl<'a> Wall<'a> {
    /// Blocks meetings that match the condition.
    pub(super) async fn raise(team: &'a TestTeam, when: &'static str) -> Self {
        Self::raise_before(team, "UPDATE ON meetings", when).await
    }

    pub(super) async fn raise_before(team: &'a TestTeam, change: &str, when: &'static str) -> Self {
        forbid(team, "wall", change, when).await;
        Self { team, when }
    }

    /// Waits until a meeting is blocked.
    pub(super) async fn reached(&self) {
        let sql = format!("SELECT COUNT(*) FROM meetings AS old WHERE {}", self.when);
        eventually(self.when, || async { count(self.team, &sql).await > 0 }).await;
    }

    pub(super) async fn fall(self) {
        allow(self.team, "wall").await;
    }
}

/// Calls a standup and kills the process at a blocked step; the next process finishes it. The model gets one request per report, plus
/// `again`.
async fn kill_where(backing: Backing, when: &'static str, again: usize) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    let wall = Wall::raise(&team, when).await;
    team.say(CHANNEL, CALL).await;
    wall.reached().await;
    process.kill();
    wall.fall().await;
    let _process = TeamProcess::start(&team, &[]).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(reports_asked(&team), SPEAKERS.len() + again, "a stored turn was paid for again");
}

async fn killed_after_it_was_called(backing: Backing) {
    kill_where(backing, "OLD.state = 'called'", 0).await;
}

async fn killed_after_it_was_opened(backing: Backing) {
    kill_where(backing, "OLD.state = 'running' AND OLD.material IS NULL", 0).await;
}

async fn killed_after_the_page_was_gathered(backing: Backing) {
    let no_turn = "OLD.material IS NOT NULL AND NOT EXISTS (SELECT 1 FROM seats WHERE meeting = OLD.id AND attempts > 0)";
    kill_where(backing, no_turn, 0).await;
}

async fn killed_after_a_turn_was_begun(backing: Backing) {
    let team = team(backing).await;
    team.model.on(|asked| if asked.number == 1 { Script::Hang } else { answer(asked) });
    let process = TeamProcess::start(&team, &[]).await;
    team.say(CHANNEL, CALL).await;
    second_is_asked(&team).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(reports_asked(&team), SPEAKERS.len() + 1, "the unfinished call is made again, once");
}

async fn killed_before_a_turn_was_stored(backing: Backing) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    let begun = "EXISTS (SELECT 1 FROM seats WHERE meeting = OLD.id AND position = 1 AND state = 'speaking')";
    let wall = Wall::raise(&team, begun).await;
    team.say(CHANNEL, CALL).await;
    wall.reached().await;
    second_is_asked(&team).await;
    process.kill();
    wall.fall().await;
    let _process = TeamProcess::start(&team, &[]).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(reports_asked(&team), SPEAKERS.len() + 1, "the answer that was not stored is asked for again, once");
}

async fn killed_after_a_turn_was_stored(backing: Backing) {
    let between = "OLD.state = 'running' AND EXISTS (SELECT 1 FROM seats WHERE meeting = OLD.id AND position = 0 AND state = 'spoke')";
    kill_where(backing, between, 0).await;
}

async fn killed_after_the_closing_was_begun(backing: Backing) {
    kill_where(backing, "OLD.state = 'closing'", 0).await;
}

async fn killed_before_the_file_was_written(backing: Backing) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    let folder = team.config.data.join("reports");
    std::fs::create_dir_all(&team.config.data).unwrap();
    std::fs::write(&folder, "a file where the folder should be").unwrap();
    team.say(CHANNEL, CALL).await;
    let store = open(&team).await;
    eventually("the result is stored", || async { !store.list_reports(1).await.unwrap().is_empty() }).await;
    process.kill();
    std::fs::remove_file(&folder).unwrap();
    // Neither requests for actions nor the planner's drafts for them are part of the standup.
    let is_draft = |asked: &Asked| asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("criteria"));
    let asked = || team.model.requests().iter().filter(|asked| Part::of(asked) != Part::Talk && !is_draft(asked)).count();
    let before = asked();
    let _process = TeamProcess::start(&team, &[]).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(asked(), before, "the result was stored and is not made again");
}

async fn killed_after_the_platform_took_a_report(backing: Backing) {
    let posts = |team: &TestTeam| format!("/channels/{}/messages", team.channel(CHANNEL));
    kill_unheard(backing, "vince", posts, |post| post.text.starts_with("Report 0:")).await;
}

async fn killed_after_the_platform_opened_a_thread(backing: Backing) {
    let threads = |team: &TestTeam| format!("/channels/{}/messages/", team.channel(CHANNEL));
    kill_unheard(backing, "kelly", threads, |post| post.raw["thread"].is_object()).await;
}

/// The platform executes requests to these paths but its answers are lost. The process is killed once the effect is visible.
async fn kill_unheard(backing: Backing, who: &str, path: impl Fn(&TestTeam) -> String, trace: impl Fn(&Shown) -> bool) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    let (bot, method) = (Some(who.to_owned()), Some("POST".to_owned()));
    let lost = Switch::Rest { bot, method, path: path(&team), times: u32::MAX, with: RestFault::ResetAfter };
    team.sandbox().misbehaviour().set(lost).unwrap();
    team.say(CHANNEL, CALL).await;
    eventually("the platform did it", || async { team.answers(CHANNEL).await.iter().any(&trace) }).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).unwrap();
    let _process = TeamProcess::start(&team, &[]).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
}

/// Kills `TEAMROOM_TEST_CRASHES` times. When a standup is over, another one is called.
async fn killed_at_random_moments(backing: Backing) {
    let team = team(backing).await;
    // A standup takes about as long as a process lives.
    team.model.on(|asked| match answer(asked) {
        Script::Say(text) => Script::SayAfter(Duration::from_millis(150), text),
        other => other,
    });
    let rounds = long::amount("TEAMROOM_TEST_CRASHES", 8, 200);
    let mut random = long::random();
    // The first start creates the database.
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let mut called = 0;
    for _ in 0..rounds {
        if store.list_open_meetings().await.unwrap().is_empty() {
            let process = TeamProcess::start(&team, &[]).await;
            team.say(CHANNEL, CALL).await;
            called += 1;
            eventually("it was called", || async { store.list_meetings(&STANDUP, 100).await.unwrap().len() == called }).await;
            tokio::time::sleep(Duration::from_micros(random.u64(0..1_500_000))).await;
            process.kill();
        } else {
            // The process is killed at any moment of its start, because a standup in progress continues before everybody is online.
            let process = TeamProcess::spawn(&team, &[]);
            tokio::time::sleep(Duration::from_micros(random.u64(300_000..2_500_000))).await;
            process.kill();
        }
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let left = Aftermath::wait(&team, called).await;
    left.expect_nothing_twice(&team);
    for seat in &left.seats {
        let given_up = seat.state == SeatState::Skipped && seat.attempts > ATTEMPTS;
        assert!(seat.state == SeatState::Spoke || given_up, "{seat:#?}");
    }
    for meeting in &left.meetings {
        let given_up = meeting.state == MeetingState::Failed && meeting.closings > ATTEMPTS;
        assert!(meeting.state == MeetingState::Done || given_up, "{meeting:#?}");
    }
    let begun: u32 = left.seats.iter().map(|seat| seat.attempts).sum();
    assert!(reports_asked(&team) <= begun as usize, "{} requests for {begun} turns", reports_asked(&team));
    println!("{called} standups, {begun} turns begun, {} reports asked for", reports_asked(&team));
}

async fn a_turn_that_keeps_killing_the_process_is_passed_over(backing: Backing) {
    let team = team(backing).await;
    team.model.on(|asked| if asked.number < 4 && asked.number > 0 { Script::Hang } else { answer(asked) });
    for attempt in 1..=ATTEMPTS as usize {
        let process = TeamProcess::start(&team, &[]).await;
        if attempt == 1 {
            team.say(CHANNEL, CALL).await;
        }
        eventually("the second speaker's model was asked", || async { team.model.count() == 1 + attempt }).await;
        process.kill();
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let left = Aftermath::wait(&team, 1).await;
    left.expect_nothing_twice(&team);
    assert_eq!(left.meetings[0].state, MeetingState::Done);
    let states: Vec<_> = left.seats.iter().map(|seat| seat.state).collect();
    assert_eq!(states, [SeatState::Spoke, SeatState::Skipped, SeatState::Spoke]);
    assert_eq!(left.count("Eliza is skipped: it was interrupted three times"), 1, "{:#?}", left.texts());
    assert_eq!(reports_asked(&team), 2 + ATTEMPTS as usize);
}

async fn a_closing_that_keeps_killing_the_process_ends_without_a_report(backing: Backing) {
    let team = team(backing).await;
    team.model.on(|asked| if asked.schema.is_some() { Script::Hang } else { answer(asked) });
    let closings = || team.model.requests().iter().filter(|asked| asked.schema.is_some()).count();
    for attempt in 1..=ATTEMPTS as usize {
        let process = TeamProcess::start(&team, &[]).await;
        if attempt == 1 {
            team.say(CHANNEL, CALL).await;
        }
        eventually("the result is being made", || async { closings() == attempt }).await;
        process.kill();
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let left = Aftermath::wait(&team, 1).await;
    left.expect_nothing_twice(&team);
    assert_eq!(left.meetings[0].state, MeetingState::Failed);
    assert_eq!(left.count("There is no Day Report this time: its result was interrupted three times"), 1, "{:#?}", left.texts());
    assert_eq!((closings(), reports_asked(&team)), (ATTEMPTS as usize, SPEAKERS.len()));
}

async fn a_person_is_asked_once_and_the_deadline_stands(backing: Backing) {
    let team = team(backing).await;
    let person = team.sandbox().people()[0].clone();
    set(&team, &format!("humans = [\"Ann:{}\"]\nhuman_deadline = \"10m\"", person.id));
    // Kills more often than a persona's turn would be started again. Waiting for a person is not blamed for a crash.
    for attempt in 0..=ATTEMPTS {
        let process = TeamProcess::start(&team, &[]).await;
        if attempt == 0 {
            team.say(CHANNEL, CALL).await;
        }
        let store = open(&team).await;
        eventually("the person is waited for", || async {
            let Some(meeting) = store.list_meetings(&STANDUP, 1).await.unwrap().pop() else { return false };
            let seats = store.list_seats(&meeting.id).await.unwrap();
            seats.last().is_some_and(|seat| seat.state == SeatState::Speaking && seat.attempts > attempt)
        })
        .await;
        process.kill();
    }
    let asked_at = (SystemClock.now() - TimeDelta::minutes(10)).to_rfc3339();
    execute(&team, &format!("UPDATE seats SET started_at = '{asked_at}' WHERE state = 'speaking'")).await;
    let restarted_at = SystemClock.now();
    let _process = TeamProcess::start(&team, &[]).await;
    let left = Aftermath::wait(&team, 1).await;
    left.expect_nothing_twice(&team);
    assert_eq!(left.count("your report, please"), 1, "{:#?}", left.texts());
    let seat = left.seats.last().unwrap();
    assert_eq!((seat.state, seat.reason.as_deref()), (SeatState::Skipped, Some("no report came in time")));
    let (since_asked, since_restart) = (seat.ended_at.unwrap() - seat.started_at.unwrap(), seat.ended_at.unwrap() - restarted_at);
    assert!(since_asked.num_minutes() >= 10 && since_restart.num_minutes() < 10, "{since_asked} {since_restart}");
}

async fn a_button_of_before_the_crash_rates(backing: Backing) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    team.say(CHANNEL, CALL).await;
    let left = Aftermath::wait(&team, 1).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    let report = left.posts.iter().find(|post| post.text.starts_with("Report 0:")).unwrap();
    press(&team, CHANNEL, report, |button| button["custom_id"].as_str().is_some_and(|id| id.ends_with(":useful"))).await;
    let store = open(&team).await;
    let rated = async || store.count_ratings(&"vince".into(), left.meetings[0].called_at).await.unwrap();
    eventually("it is rated", || async { rated().await == (1, 0) }).await;
}

async fn a_wrap_up_of_before_the_crash_counts(backing: Backing) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    team.model.on(|asked| if asked.number == 1 { Script::Hang } else { answer(asked) });
    let wall = Wall::raise(&team, "OLD.wrap").await;
    team.say(CHANNEL, CALL).await;
    second_is_asked(&team).await;
    team.say(CHANNEL, "wrap up").await;
    wall.reached().await;
    process.kill();
    wall.fall().await;
    let _process = TeamProcess::start(&team, &[]).await;
    let left = Aftermath::wait(&team, 1).await;
    left.expect_nothing_twice(&team);
    let states: Vec<_> = left.seats.iter().map(|seat| seat.state).collect();
    assert_eq!(states, [SeatState::Spoke, SeatState::Skipped, SeatState::Skipped]);
    assert!(left.seats[1..].iter().all(|seat| seat.reason.as_deref() == Some("the meeting was wrapped up")), "{:#?}", left.seats);
    assert_eq!((left.meetings[0].state, reports_asked(&team)), (MeetingState::Done, 2));
}
