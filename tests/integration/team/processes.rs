//! Two processes on one PostgreSQL: they share all jobs, and one replaces the other when it dies or is suspended.

use std::collections::BTreeMap;
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use sandbox::Options;
use tokio::sync::watch;

use super::crashes::set;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually};

const ROOMS: [&str; 4] = ["red", "green", "blue", "white"];
const PEOPLE_WAIT_FOR: [&str; 4] = ["kelly", "vince", "eliza", "echo"];
const ROUNDS: usize = 6;

/// The number of concurrent jobs per process. There are more rooms.
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

/// How often each answer was posted.
async fn posted(team: &TestTeam) -> BTreeMap<String, usize> {
    let mut texts = BTreeMap::new();
    for room in ROOMS {
        for shown in team.answers(room).await {
            *texts.entry(shown.text).or_default() += 1;
        }
    }
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_shared_and_come_once_when_the_one_that_serves_is_killed() {
    if !is_there().await {
        return;
    }
    let rooms = |options: &mut Options| options.channels = ROOMS.map(str::to_owned).to_vec();
    let (team, serving, _beside) = two_processes("", rooms).await;
    team.model.on(|asked| Script::SayAfter(Duration::from_millis(1500), format!("answer-{}", asked.last_word())));
    let mut expected = BTreeMap::new();
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

/// The process that does not serve ran some of the turns, so it holds the jobs of their late answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_answers_of_a_killed_process_are_delivered_by_the_other_one() {
    if !is_there().await {
        return;
    }
    let rooms = |options: &mut Options| options.channels = ROOMS.map(str::to_owned).to_vec();
    let (team, _serving, beside) = two_processes("[chat]\nask_timeout = \"1s\"\n", rooms).await;
    let (go_on, may) = watch::channel(false);
    team.model.on(move |asked| {
        let room = ROOMS.into_iter().find(|room| asked.prompt().contains(&format!("think about {room}?"))).unwrap_or("nothing");
        Script::say(format!("late-{room}")).when(&may)
    });
    for room in ROOMS {
        team.say(room, &format!("ask vince what he thinks about {room}")).await;
    }
    eventually("nobody waits any more", || async { posted(&team).await.values().sum::<usize>() == ROOMS.len() }).await;
    let holders = "SELECT COUNT(DISTINCT holder) FROM jobs WHERE kind = 'ask.late' AND state = 'running'";
    eventually("both processes wait for late answers", || async { count(&team, holders).await == 2 }).await;
    beside.kill();
    go_on.send(true).expect("the model waits");
    let is_late = |text: &&String| text.starts_with("Late, but here it is.");
    eventually("all are posted", || async { posted(&team).await.keys().filter(is_late).count() == ROOMS.len() }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    let posted = posted(&team).await;
    for room in ROOMS {
        let told = format!("Late, but here it is. **Vince** answers:\nlate-{room}");
        assert_eq!(posted.get(&told), Some(&1), "{posted:#?}");
    }
    assert_eq!(posted.values().sum::<usize>(), 2 * ROOMS.len(), "{posted:#?}");
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
