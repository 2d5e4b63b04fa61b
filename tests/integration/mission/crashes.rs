//! `kill -9` behind every stored step of a mission: from the message to the delivery everything is said once, and nothing is done twice.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use serde_json::json;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::store::Store;
use tokio::sync::watch;

use super::stage::{HERE, Play, ROADMAP, is_planning};
use crate::backlog::part::{is_work, what};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};

on_both_stores!(killed_behind_each_stored_step);

const SETTINGS: &str = r#"
[backlog]
parallel = 8
every = "1s"
attempts = 1
[jobs]
crash_pause = "0s"
[chat]
operators = ["*"]
"#;

/// The writes of a mission, in this order: the change, its condition, and a field of the answer that it stores. The work begins only after the
/// progress is shown, because it is quicker than a kill.
const WALLS: [(&str, &str, Option<&str>); 9] = [
    ("INSERT ON job_steps", "NEW.name = 'understand'", Some("to_find_out")),
    ("INSERT ON job_steps", "NEW.name = 'plan-1'", Some("left_out")),
    ("INSERT ON job_steps", "NEW.name = 'doubts-1'", Some("doubts")),
    ("UPDATE OF status ON missions", "NEW.status = 'running'", None),
    ("UPDATE OF shown ON missions", "1 = 1", None),
    ("INSERT ON job_steps", "NEW.name LIKE 'replan-%'", Some("possible")),
    ("UPDATE OF replans ON missions", "NEW.replans = 1", None),
    ("UPDATE OF status ON missions", "NEW.status = 'done'", None),
    ("INSERT ON outbox", "NEW.id LIKE 'mission-%-delivery-%'", None),
];

/// A team that plans, and that works as soon as it may.
async fn team(backing: Backing) -> (TestTeam, watch::Sender<bool>) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let other_way = json!({
        "possible": true, "why": "The roadmap is enough.", "title": "Sketch the payment", "instructions": "Sketch both ways of paying.",
        "kind": "write", "owner": "solus", "criteria": ["Both ways of paying are named", "Each has its steps"],
    });
    let (go_on, may_work) = watch::channel(false);
    let play = Play { fails: Some("Describe the payment"), other_way, ..Play::default() };
    team.model.on(move |asked| play.answer_when(asked, &may_work));
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    (team, go_on)
}

async fn find(store: &Store) -> Option<Mission> {
    let listed = store.list_missions(5).await.unwrap().into_iter().next()?;
    store.find_mission(&listed.id).await.unwrap()
}

/// Resets the open jobs as if they had never been tried. No process runs meanwhile.
pub(super) async fn hurry(team: &TestTeam) {
    let reset = "state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0, run_at = '2026-01-01T00:00:00+00:00'";
    execute(team, &format!("UPDATE jobs SET {reset} WHERE finished_at IS NULL")).await;
}

async fn killed_behind_each_stored_step(backing: Backing) {
    let (team, go_on) = team(backing).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    // One transaction decides on the message and stores the mission.
    forbid(&team, "wall", "INSERT ON missions", "1 = 1").await;
    let process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    eventually("it was classified", || async { team.model.count() > 0 }).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    process.kill();
    allow(&team, "wall").await;
    assert!(find(&store).await.is_none() && team.answers(HERE).await.is_empty(), "nothing is said before it is stored");

    let asked_for = |field: &str| team.model.requests().iter().filter(|asked| is_planning(asked, field)).count();
    let mut paid = Vec::new();
    for (change, when, answer) in WALLS {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        let stands =
            async || count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission' AND attempts > 0 AND finished_at IS NULL").await == 1;
        eventually(&format!("it stands before {change} {when}"), || async { stands().await }).await;
        process.kill();
        paid.extend(answer.map(|field| (field, asked_for(field))));
        allow(&team, "wall").await;
        hurry(&team).await;
        if change.contains("shown") {
            go_on.send(true).unwrap();
        }
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let is_done = async || find(&store).await.is_some_and(|mission| mission.status == MissionStatus::Done);
    eventually("it is delivered", || async { is_done().await }).await;
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
    eventually("the delivery is posted", || async { delivered().await }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;

    let mission = find(&store).await.unwrap();
    assert_eq!((store.list_missions(5).await.unwrap().len(), mission.replans), (1, 1));
    let said = team.answers(HERE).await;
    for text in ["I take this as a mission", "is done. 3 of 3 steps done"] {
        assert_eq!(said.iter().filter(|shown| shown.text.contains(text)).count(), 1, "{text}: {said:#?}");
    }
    for (what, times) in [("plan", 1), ("reading", 1), ("progress", 1)] {
        let id = mission.message_id(what);
        assert_eq!(count(&team, &format!("SELECT COUNT(*) FROM outbox WHERE id = '{id}' AND state = 'sent'")).await, times, "{what}");
    }
    assert_eq!(count(&team, "SELECT COUNT(*) FROM outbox WHERE id LIKE 'mission-%-replan-%'").await, 1);
    let steps = store.list_parts(&mission.id).await.unwrap();
    assert_eq!(steps.len(), 3, "{steps:#?}");
    // Only an answer that a wall kept from being stored is paid a second time.
    for (field, times) in paid {
        assert_eq!(asked_for(field), times + 1, "{field}");
    }
    store.close().await;
}

/// Two processes share the database; the one that serves is killed while steps are worked on, and so is the one that follows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mission_of_two_processes_outlives_one_of_them() {
    if !is_there().await {
        return;
    }
    let (team, _) = team(Backing::Postgres).await;
    Play::default().answer_for(&team.model);
    let first = TeamProcess::start(&team, &[]).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let mut processes = vec![first, TeamProcess::spawn(&team, &[])];
    let is_ready = async |title: &str| {
        let asked = team.model.requests();
        asked.iter().any(|asked| is_work(asked) && asked.tool_results() > 0 && what(asked).contains(title))
    };
    for (number, title) in ["Describe the cart", "Join both to one specification"].into_iter().enumerate() {
        // The step is finished, but its end cannot be stored.
        forbid(&team, "wall", "UPDATE OF status ON work_items", &format!("NEW.status = 'done' AND NEW.what = '{title}'")).await;
        if number == 0 {
            team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
        }
        eventually(title, || async { is_ready(title).await }).await;
        processes.remove(0).kill();
        allow(&team, "wall").await;
        processes.push(TeamProcess::spawn(&team, &[]));
    }
    let is_done = async || find(&store).await.is_some_and(|mission| mission.status == MissionStatus::Done);
    eventually("it is delivered", || async { is_done().await }).await;
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
    eventually("the delivery is posted", || async { delivered().await }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;

    let said = team.answers(HERE).await;
    for text in ["I take this as a mission", "is done. 3 of 3 steps done"] {
        assert_eq!(said.iter().filter(|shown| shown.text.contains(text)).count(), 1, "{text}: {said:#?}");
    }
    let steps = store.list_parts(&find(&store).await.unwrap().id).await.unwrap();
    assert_eq!(steps.len(), 3, "{steps:#?}");
    for step in steps {
        let events = store.list_events(&step.id).await.unwrap();
        assert_eq!(events.iter().filter(|event| event.to == WorkStatus::Done).count(), 1, "{events:#?}");
    }
    store.close().await;
}
