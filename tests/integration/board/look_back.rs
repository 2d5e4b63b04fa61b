//! Looking back at a board meeting that is over, when somebody asks for it.

use std::process::Command;

use kernel::chat::message::Channel;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use serde_json::json;
use teamroom::features::meeting::model::MeetingState;
use teamroom::features::overwatch::model::{Insight, InsightKind, Subject};
use teamroom::store::Store;

use super::stage::{HERE, Play, QUESTION, TEAM, comes_to, create, last, open, thread};
use crate::backlog::stage::{Setting, Stage};
use crate::mission::stage::SETTINGS;
use crate::support::command::{give, invoke, sub_command, text};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(asked_twice_at_once_it_is_one_look, killed_before_and_behind_each_stored_step);
on_one_store!(those_who_spoke_look_back_when_asked, nothing_of_a_private_meeting_is_told_elsewhere, who_asks_is_told_when_nobody_answers,);

const NOTICED: &str = "Echo and Vince both said move before anybody asked what the provider takes. Ask for the price first.";

fn is_look(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("cross-concern"))
}

fn looks(stage: &TestTeam) -> usize {
    stage.model.requests().iter().filter(|asked| is_look(asked)).count()
}

/// Vince notices something, Solus invents a number, Echo sees no tension.
fn look(asked: &Asked) -> Script {
    let insight = |message: &str| json!({"to": "team", "kind": "process", "message": message, "task": "Do it sooner next time"});
    let insights = match asked.system.as_str() {
        system if system.contains("You are Vince") => json!([insight(NOTICED)]),
        system if system.contains("You are Solus") => json!([insight("They spoke for 4711 minutes about it.")]),
        _ => json!([]),
    };
    Script::Json(json!({ "insights": insights }))
}

fn answer(play: &Play, asked: &Asked) -> Script {
    if is_look(asked) { look(asked) } else { play.answer(asked) }
}

/// A team whose board meeting is over.
async fn held(backing: Backing) -> Stage {
    let stage = open(Setting::on(backing), Play::default()).await;
    let play = Play::default();
    stage.team.model.on(move |asked| answer(&play, asked));
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Done).await;
    stage
}

async fn ask(stage: &Stage, options: &[(&str, &str)]) -> String {
    text(&invoke(&stage.team, HERE, "overwatch", sub_command("run", options)).await).to_owned()
}

async fn insights(store: &Store, number: usize) -> Vec<Insight> {
    eventually("it was looked back at", || async { store.list_insights(20).await.unwrap().len() >= number }).await;
    store.list_insights(20).await.unwrap()
}

async fn those_who_spoke_look_back_when_asked(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let play = Play::default();
    stage.team.model.on(move |asked| answer(&play, asked));
    let early = ask(&stage, &[]).await;
    assert_eq!(early, "No standup or board meeting has been held here yet, so there is nothing to look back at.");
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;

    let asked = ask(&stage, &[]).await;
    assert_eq!(asked, format!("Vince, Echo and Solus look back at **{QUESTION}** now. What they notice follows there in half a minute."));
    let all = insights(&stage.store, 3).await;
    let by = |slug: &str| all.iter().find(|insight| insight.by.as_str() == slug).unwrap();
    assert_eq!(by("vince").subject, Subject::Meeting(meeting.id.clone()));
    assert_eq!((by("vince").supported, by("solus").supported, by("echo").kind), (true, false, InsightKind::None));

    // Each prompt has what was said in the meeting and what came of it.
    let prompts: Vec<String> = stage.team.model.requests().iter().filter(|asked| is_look(asked)).map(Asked::prompt).collect();
    assert_eq!(prompts.len(), 3);
    for part in [
        "A board meeting of the team is over",
        "Over after 3 rounds: nothing new was said",
        "Round 1, Solus (spoke): **stay**",
        "Left open: What does the provider ask a month?",
        "What follows: Ask the provider for a price (Vince)",
        "Cost: ",
    ] {
        assert!(prompts[0].contains(part), "{part}: {}", prompts[0]);
    }

    // The insights are in the thread of the meeting, with their buttons.
    let shown = async || thread(&stage.team, &stage.store, &meeting.id).await;
    eventually("it is posted", || async {
        shown().await.iter().any(|shown| shown.raw["embeds"][0]["title"] == "Vince → team: ⚙️ how we worked" && shown.author == "Vince")
            && shown().await.iter().any(|shown| shown.text.contains("Looking back, Echo saw no tension."))
    })
    .await;
    let doubted = shown().await.into_iter().find(|shown| shown.author == "Solus" && shown.raw["embeds"][0]["title"].is_string()).unwrap();
    let footer = doubted.raw["embeds"][0]["footer"]["text"].as_str().unwrap();
    assert!(footer.contains("isn't in this board meeting"), "{footer}");

    // A second request only shows the earlier answers again.
    let again = ask(&stage, &[("meeting", "postgresql")]).await;
    assert!(again.starts_with("They have looked back at it already.") && again.contains(NOTICED), "{again}");
    assert_eq!(looks(&stage.team), 3);
    let unknown = ask(&stage, &[("meeting", "the moon")]).await;
    assert!(unknown.starts_with("No meeting that is over fits \"the moon\". Name its kind"), "{unknown}");
}

async fn asked_twice_at_once_it_is_one_look(backing: Backing) {
    let stage = held(backing).await;
    tokio::join!(
        give(&stage.team, HERE, "overwatch", sub_command("run", &[])),
        give(&stage.team, HERE, "overwatch", sub_command("run", &[("meeting", "board")])),
    );
    insights(&stage.store, 3).await;
    eventually("no look is left", || async {
        count(&stage.team, "SELECT COUNT(*) FROM jobs WHERE kind = 'overwatch' AND finished_at IS NULL").await == 0
    })
    .await;
    assert_eq!((looks(&stage.team), insights(&stage.store, 3).await.len()), (3, 3));
}

async fn nothing_of_a_private_meeting_is_told_elsewhere(backing: Backing) {
    let stage = held(backing).await;
    // Makes the meeting one of a private channel.
    let meeting = last(&stage.store).await.unwrap();
    let hidden = Channel { id: "discord:4711".into(), private: true, ..meeting.channel };
    let place = serde_json::to_string(&hidden).unwrap();
    execute(&stage.team, &format!("UPDATE meetings SET channel = 'discord:4711', place = '{place}'")).await;
    for options in [&[][..], &[("meeting", "postgresql")], &[("meeting", "board")]] {
        let answer = ask(&stage, options).await;
        assert!(!answer.contains(QUESTION) && answer.starts_with("No "), "{answer}");
    }
    // The operator at the command line sees everything. The insights stay in that private channel.
    let told = teamroom(&stage.team, &["run"]);
    assert!(told.contains(&format!("look back at {QUESTION}")), "{told}");
    let all = insights(&stage.store, 3).await;
    assert!(all.iter().all(|insight| insight.private_to.as_ref().is_some_and(|place| place.as_str() == "discord:4711")), "{all:#?}");
    let shown = text(&invoke(&stage.team, HERE, "overwatch", sub_command("show", &[])).await).to_owned();
    assert_eq!(shown, "Nobody has looked back at a mission or a meeting yet.");
}

async fn who_asks_is_told_when_nobody_answers(backing: Backing) {
    let stage = held(backing).await;
    let play = Play::default();
    stage.team.model.on(move |asked| if is_look(asked) { Script::say("I would rather sing.") } else { play.answer(asked) });
    let meeting = last(&stage.store).await.unwrap();
    for times in 1..=2 {
        ask(&stage, &[]).await;
        eventually("it is said why there is nothing", || async {
            let said = thread(&stage.team, &stage.store, &meeting.id).await;
            let told = "Nothing to show of looking back: nobody gave an answer in time that can be used. `/overwatch run` tries again.";
            said.iter().filter(|shown| shown.text.contains(told)).count() == times
        })
        .await;
    }
    assert!(stage.store.list_insights(9).await.unwrap().is_empty());
}

/// `teamroom overwatch …` beside the team, or without one.
fn teamroom(team: &TestTeam, arguments: &[&str]) -> String {
    use secrecy::ExposeSecret as _;
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .arg("overwatch")
        .args(arguments)
        .current_dir(team.dir.path())
        .env("DATABASE_URL", team.config.database_url.expose_secret())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The writes of looking back, in this order.
const WALLS: [(&str, &str); 2] = [("INSERT ON job_steps", "NEW.name = 'looks'"), ("INSERT ON insights", "1 = 1")];

async fn killed_before_and_behind_each_stored_step(backing: Backing) {
    let team: TestTeam = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let play = Play::default();
    team.model.on(move |asked| answer(&play, asked));
    std::fs::write(team.path("teamroom.toml"), format!("{SETTINGS}[board]\nlead = \"0s\"\n")).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let empty = teamroom(&team, &["run"]);
    assert!(empty.contains("no standup or board meeting has been held yet"), "{empty}");
    let process = TeamProcess::start(&team, &[]).await;
    give(&team, HERE, "board", sub_command("create", &[("topic", QUESTION), ("team", TEAM)])).await;
    comes_to(&store, MeetingState::Done).await;
    process.kill();

    // No team runs when this is asked, so the job waits for one.
    let asked = teamroom(&team, &["run"]);
    assert!(asked.contains("No team is running, so this starts once one does: `teamroom run`"), "{asked}");
    teamroom(&team, &["run"]);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'overwatch' AND finished_at IS NULL").await, 1);
    for (change, when) in WALLS {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        let stands = async || {
            looks(&team) >= 3
                && count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'overwatch' AND attempts > 0 AND finished_at IS NULL").await == 1
        };
        eventually(&format!("it stands before {change}"), || async { stands().await }).await;
        process.kill();
        allow(&team, "wall").await;
        execute(&team, "UPDATE jobs SET state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0, run_at = '2026-01-01T00:00:00+00:00' WHERE finished_at IS NULL").await;
    }
    let _process = TeamProcess::start(&team, &[]).await;
    assert_eq!(insights(&store, 3).await.len(), 3);
    let meeting = last(&store).await.unwrap();
    let posted = async || {
        let said = thread(&team, &store, &meeting.id).await;
        said.iter().filter(|shown| shown.raw["embeds"][0]["description"].as_str().is_some_and(|text| text.starts_with(NOTICED))).count()
    };
    eventually("it is posted", || async { posted().await > 0 }).await;
    // Waits long enough that a duplicate would arrive.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!((posted().await, store.list_insights(9).await.unwrap().len()), (1, 3));
    // The model was asked again only for answers that could not be stored because of a wall.
    let asked = looks(&team);
    assert!((3..=9).contains(&asked), "{asked}");
    store.close().await;
}
