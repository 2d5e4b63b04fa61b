//! People correct the question before the first round.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use serde_json::json;
use teamroom::features::board::BoardSettings;
use teamroom::features::meeting::model::MeetingState;
use teamroom::store::Store;

use super::stage::{HERE, Play, QUESTION, TEAM, comes_to, command, create, document, file, hears, is_turn, last, thread};
use crate::backlog::stage::{Setting, Stage};
use crate::mission::stage::SETTINGS;
use crate::support::command::{give, sub_command};
use crate::support::database::{allow, count, forbid};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_before_the_corrected_question_is_stored);
on_one_store!(what_a_person_corrects_is_asked_in_the_first_round, without_a_new_wording_the_correction_stands_beside_the_question,);

const LEAD: Duration = Duration::from_mins(10);
const CORRECTED: &str = "Should the queue run on PostgreSQL in Zurich instead of SQLite?";

fn is_correction(asked: &Asked) -> bool {
    asked.prompt().contains("what people said to that")
}

/// Opens a team. `corrected` is the model's answer to a correction; `None` means its usual answer.
async fn open(backing: Backing, corrected: Option<Script>) -> Stage {
    let stage = super::stage::open(Setting::on(backing).with_model(), Play::default()).await;
    let play = Play::default();
    stage.team.model.on(move |asked| corrected.clone().filter(|_| is_correction(asked)).unwrap_or_else(|| play.answer(asked)));
    stage
}

fn restated() -> Script {
    Script::Json(json!({"question": CORRECTED, "constraints": ["No downtime in the day."], "answered_by": "Yes or no."}))
}

/// Restarts the team with a pause before the first round.
async fn give_time(stage: &mut Stage) {
    stage.team.stop_app().await;
    let settings = stage.team.config.features.get::<BoardSettings>();
    stage.team.config.features.set(BoardSettings { lead: LEAD, ..settings });
    stage.team.start_app().await;
}

async fn say_in_thread(team: &TestTeam, question: &serde_json::Value, text: &str, is_reply: bool) {
    let thread = question["channel_id"].as_str().unwrap();
    let mut said = json!({"content": text});
    if is_reply {
        said["message_reference"] = json!({"message_id": question["id"], "channel_id": thread});
    }
    team.call(reqwest::Method::POST, &format!("/channels/{thread}/messages"), Some(said)).await;
}

async fn what_a_person_corrects_is_asked_in_the_first_round(backing: Backing) {
    let mut stage = open(backing, Some(restated())).await;
    give_time(&mut stage).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    let question = hears(&stage.team, &stage.store, &meeting.id, "**The question**: Should the queue run on PostgreSQL instead").await;
    // A reply to the question is meant for the meeting, not for the persona that posted the question.
    say_in_thread(&stage.team, &question.raw, "I mean the provider in Zurich.", true).await;
    hears(&stage.team, &stage.store, &meeting.id, "I take that into the question before anybody answers it.").await;
    let edited = hears(&stage.team, &stage.store, &meeting.id, &format!("**The question**: {CORRECTED}")).await;
    assert_eq!(edited.raw["id"], question.raw["id"], "edited in place");
    let asked = stage.team.model.requests();
    assert_eq!(asked.iter().filter(|asked| is_correction(asked)).count(), 1);
    let prompt = asked.iter().find(|asked| is_correction(asked)).unwrap().prompt();
    assert!(prompt.contains("I mean the provider in Zurich.") && prompt.contains("Should the queue run on PostgreSQL instead"), "{prompt}");

    // The correction is kept over a restart, and paid only once.
    stage.team.stop_app().await;
    stage.team.start_app().await;
    assert!(!stage.team.model.requests().iter().any(is_turn), "there is time left");
    stage.clock.advance(LEAD);
    comes_to(&stage.store, MeetingState::Done).await;
    let asked = stage.team.model.requests();
    let turns: Vec<_> = asked.iter().filter(|asked| is_turn(asked)).map(Asked::prompt).collect();
    assert!(turns.len() > 3 && turns.iter().all(|prompt| prompt.contains(CORRECTED) && prompt.contains("in Zurich.")), "{turns:#?}");
    assert!(turns.iter().all(|prompt| !prompt.contains("on PostgreSQL instead of SQLite?")), "{turns:#?}");
    assert_eq!(asked.iter().filter(|asked| is_correction(asked)).count(), 1);
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains(&format!("Question: {CORRECTED}")), "{text}");
    // The old question is nowhere any more: in the call, the list, the lesson, the document and the prompts.
    let called = stage.team.answers(HERE).await;
    assert!(called.iter().any(|shown| shown.text.starts_with(&format!("**Board meeting**: {CORRECTED}"))), "{called:#?}");
    let listed = command(&stage, "list", &[]).await;
    assert!(listed.contains(CORRECTED), "{listed}");
    let lessons = async |of: &str| count(&stage.team, &format!("SELECT COUNT(*) FROM memories WHERE text LIKE '%{of}%'")).await;
    assert_eq!((lessons(CORRECTED).await, lessons(QUESTION).await), (1, 0));
    for told in turns.iter().chain([&text, &listed]) {
        assert!(!told.contains(QUESTION), "{told}");
    }
}

async fn without_a_new_wording_the_correction_stands_beside_the_question(backing: Backing) {
    stands_beside(backing, Some(Script::say("No idea."))).await;
    stands_beside(backing, None).await;
}

async fn stands_beside(backing: Backing, corrected: Option<Script>) {
    let mut stage = open(backing, corrected).await;
    give_time(&mut stage).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    let question = hears(&stage.team, &stage.store, &meeting.id, "**The question**").await;
    say_in_thread(&stage.team, &question.raw, "Only servers in Zurich count.", false).await;
    let edited = hears(&stage.team, &stage.store, &meeting.id, "Only servers in Zurich count.\nAnswered by").await;
    assert_eq!(edited.raw["id"], question.raw["id"], "edited in place");
    assert!(edited.text.contains("- No downtime in the day.\n- "), "{}", edited.text);
    stage.clock.advance(LEAD);
    comes_to(&stage.store, MeetingState::Done).await;
    let asked = stage.team.model.requests();
    let first = asked.iter().find(|asked| is_turn(asked)).unwrap().prompt();
    let constraints = first.split("| constraints>>").nth(1).and_then(|rest| rest.split("<<end").next()).unwrap_or_default();
    assert!(constraints.contains("Only servers in Zurich count."), "{first}");
}

async fn killed_before_the_corrected_question_is_stored(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let play = Play::default();
    team.model.on(move |asked| if is_correction(asked) { restated() } else { play.answer(asked) });
    std::fs::write(team.path("teamroom.toml"), format!("{SETTINGS}[board]\nlead = \"30s\"\n")).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    forbid(&team, "wall", "UPDATE OF material ON meetings", "NEW.material LIKE '%\"corrections\":1%'").await;
    let process = TeamProcess::start(&team, &[]).await;
    give(&team, HERE, "board", sub_command("create", &[("topic", QUESTION), ("team", TEAM)])).await;
    eventually("it is called", || async { last(&store).await.is_some() }).await;
    let meeting = last(&store).await.unwrap();
    let question = hears(&team, &store, &meeting.id, "**The question**").await;
    say_in_thread(&team, &question.raw, "I mean the provider in Zurich.", false).await;
    eventually("it stands before the new question", || async {
        count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'meeting.run' AND attempts > 0 AND finished_at IS NULL").await == 1
    })
    .await;
    process.kill();
    allow(&team, "wall").await;
    let _process = TeamProcess::start(&team, &[]).await;
    comes_to(&store, MeetingState::Done).await;
    assert!(team.model.requests().iter().filter(|asked| is_turn(asked)).all(|asked| asked.prompt().contains(CORRECTED)));
    let said = thread(&team, &store, &meeting.id).await;
    let questions: Vec<_> = said.iter().filter(|shown| shown.text.contains("**The question**")).collect();
    assert!(questions.len() == 1 && questions[0].text.contains(CORRECTED), "{questions:#?}");
    store.close().await;
}
