//! Two processes on one PostgreSQL: they share all jobs, and one replaces the other when it dies or is suspended.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::TimeDelta;
use kernel::ids::ReminderId;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock, SystemClock};
use sandbox::Options;
use teamroom::features::reminders::model::{Person, Reminder, ReminderState};
use teamroom::store::Store;

use super::crashes::set;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually};

const ROOMS: [&str; 4] = ["red", "green", "blue", "white"];
const PEOPLE_WAIT_FOR: [&str; 4] = ["kelly", "vince", "eliza", "echo"];
const ROUNDS: usize = 6;

/// So many jobs at a time per process, fewer than there are rooms.
const FEW: (&str, &str) = ("TEAMROOM_JOBS_PARALLEL", "2");

async fn two_processes(settings: &str, options: impl Fn(&mut Options) + Send + 'static) -> (TestTeam, TeamProcess, TeamProcess) {
    let team = Wanted::on(Backing::Postgres).model(ProviderKind::OpenAi).sandbox(options).without_app().start().await;
    set(&team, settings);
    let serving = TeamProcess::start(&team, &[FEW]).await;
    let beside = TeamProcess::spawn(&team, &[FEW]);
    let workers = "SELECT COUNT(*) FROM job_workers";
    eventually("the second process works beside the first", || async { count(&team, workers).await == 2 }).await;
    (team, serving, beside)
}

/// A reminder for the first person, due in so many milliseconds.
fn reminder(team: &TestTeam, number: usize, milliseconds: i64) -> Reminder {
    let person = team.sandbox().people().remove(0);
    let ann = Person { id: team.person_id(0), name: person.name };
    Reminder {
        id: ReminderId::generate(),
        what: format!("water plant{number}"),
        by: Some(ann.clone()),
        whom: ann,
        channel: team.channel_id(ROOMS[0]),
        private: false,
        persona: "kelly".into(),
        due: SystemClock.now() + TimeDelta::milliseconds(milliseconds),
        repeat: None,
        zone: chrono_tz::Tz::UTC,
        state: ReminderState::Waiting,
        round: 0,
    }
}

/// How often each answer and each reminder was posted.
async fn posted(team: &TestTeam) -> BTreeMap<String, usize> {
    let mut texts = BTreeMap::new();
    for room in ROOMS {
        for shown in team.answers(room).await {
            let subject = shown.text.split_whitespace().find(|word| word.starts_with("plant") || word.starts_with("answer-"));
            *texts.entry(subject.unwrap_or(&shown.text).trim_matches(|shown: char| !shown.is_alphanumeric()).to_owned()).or_default() += 1;
        }
    }
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_reminders_are_shared_and_come_once_when_the_one_that_serves_is_killed() {
    if !is_there().await {
        return;
    }
    let rooms = |options: &mut Options| options.channels = ROOMS.map(str::to_owned).to_vec();
    let (team, serving, _beside) = two_processes("", rooms).await;
    team.model.on(|asked| Script::SayAfter(Duration::from_millis(200), format!("answer-{}", asked.last_word())));
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap();
    let mut expected = BTreeMap::new();
    for number in 0..ROUNDS {
        let due = i64::try_from(number).unwrap() * 700;
        store.add_reminder(&reminder(&team, number, due), team.clock.now()).await.unwrap();
        expected.insert(format!("plant{number}"), 1);
    }
    store.close().await;
    let mut serving = Some(serving);
    for round in 0..ROUNDS {
        for (room, persona) in ROOMS.into_iter().zip(PEOPLE_WAIT_FOR) {
            team.say(room, &format!("{persona}, report {room}{round}")).await;
            expected.insert(format!("answer-{room}{round}"), 1);
        }
        if round == ROUNDS / 2 {
            let holders = "SELECT COUNT(DISTINCT holder) FROM jobs WHERE kind = 'chat.turn' AND state IN ('running', 'done')";
            eventually("both processes have run turns", || async { count(&team, holders).await == 2 }).await;
            serving.take().unwrap().kill();
        }
    }
    eventually("all is posted", || async { posted(&team).await.len() >= expected.len() }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(posted(&team).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serving_process_that_is_suspended_is_replaced_and_ends_when_it_wakes() {
    if !is_there().await {
        return;
    }
    let (team, mut serving, beside) = two_processes("", |_| {}).await;
    team.model.on(|asked| Script::Say(format!("answer-{}", asked.last_word())));
    serving.freeze();
    team.say("general", "kelly, report once").await;
    eventually("the second process answers", || async { team.answers("general").await.len() == 1 }).await;
    serving.thaw();
    let mut is_running = || serving.is_running();
    eventually("the first one ends", || std::future::ready(!is_running())).await;
    team.say("general", "kelly, report twice").await;
    eventually("both are answered", || async { team.answers("general").await.len() >= 2 }).await;
    let answers = team.answers("general").await;
    assert_eq!(answers.iter().map(|shown| shown.text.as_str()).collect::<Vec<_>>(), ["answer-once", "answer-twice"]);
    drop(beside);
}
