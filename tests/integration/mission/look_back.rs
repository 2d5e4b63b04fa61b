//! Looking back: after a mission, each persona that took part says what it noticed, and later plans are told.

use std::time::Duration;

use kernel::ids::PersonaSlug;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::Owner;
use teamroom::features::mission::model::MissionStatus;
use teamroom::features::overwatch::model::{Insight, InsightKind};
use teamroom::store::Store;

use super::stage::{HERE, Play, ROADMAP, SETTINGS, comes_to, find, hand_over, hasten, hears, labels, open, press_on, press_twice, thread};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, sub_command, text};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_before_it_is_stored);
on_one_store!(
    those_who_took_part_look_back_at_the_mission,
    the_next_plan_is_told_and_says_what_it_changed,
    from_a_mission_to_what_the_next_one_does_differently,
    who_hangs_or_cannot_be_read_is_left_out,
);

const TASK: &str = "Agree on the words for the sum before a cart is described again.";
const NOTICED: &str = "The cart and the payment name the sum differently, so both were written twice. Agree on the words first.";

fn is_look(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("cross-concern"))
}

fn is_of(asked: &Asked, name: &str) -> bool {
    asked.system.contains(&format!("You are {name}"))
}

fn insight(to: &str, kind: &str, message: &str, task: Option<&str>) -> Json {
    json!({"to": to, "kind": kind, "message": message, "task": task})
}

/// Vince notices something, Eliza invents a file, Echo sees no tension.
fn look(asked: &Asked) -> Script {
    let insights = if is_of(asked, "Vince") {
        json!([insight("Eliza", "cross-concern", NOTICED, Some(TASK))])
    } else if is_of(asked, "Eliza") {
        json!([insight(
            "team",
            "risk",
            "Nobody has read stock-list.md before the cart was described.",
            Some("Read it before a cart is described")
        )])
    } else {
        json!([])
    };
    Script::Json(json!({ "insights": insights }))
}

fn perform(stage: &Stage, play: Play) {
    stage.team.model.on(move |asked| if is_look(asked) { look(asked) } else { play.answer(asked) });
}

async fn insights(store: &Store, number: usize) -> Vec<Insight> {
    eventually("it was looked back at", || async { store.list_insights(20).await.unwrap().len() >= number }).await;
    store.list_insights(20).await.unwrap()
}

async fn card(stage: &Stage, title: &str) -> Shown {
    let mission = find(stage).await;
    let find = async || {
        let said = thread(stage, &mission).await;
        said.into_iter().find(|shown| shown.raw["embeds"][0]["title"].as_str().is_some_and(|shown| shown.starts_with(title)))
    };
    eventually(title, || async { find().await.is_some() }).await;
    find().await.unwrap()
}

async fn those_who_took_part_look_back_at_the_mission(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    perform(&stage, Play::default());
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let all = insights(&stage.store, 3).await;
    assert_eq!(all.len(), 3, "{all:#?}");
    let by = |slug: &str| all.iter().find(|insight| insight.by.as_str() == slug).unwrap();
    assert_eq!((by("vince").to.as_ref().map(PersonaSlug::as_str), by("vince").supported), (Some("eliza"), true));
    assert_eq!((by("eliza").supported, by("echo").kind), (false, InsightKind::None));

    // Each sees the whole run, on the cheapest model.
    let looks: Vec<Asked> = stage.team.model.requests().into_iter().filter(is_look).collect();
    assert_eq!(looks.len(), 3);
    let prompt = looks[0].prompt();
    assert!(prompt.contains("Step 1: Describe the cart (Eliza, done, attempts 1") && prompt.contains("File: result.md"), "{prompt}");

    // Each message stands in the thread, with its author and its addressee.
    let vince = card(&stage, "Vince → Eliza: 🔀 conflict").await;
    assert_eq!((vince.author.as_str(), labels(&vince)), ("Vince", vec!["Useful", "Not useful", "Make it a work item"]));
    assert_eq!(vince.raw["embeds"][0]["footer"]["text"], Json::Null);
    assert!(vince.raw["embeds"][0]["description"].as_str().unwrap().ends_with(&format!("**To do:** {TASK}")), "{vince:#?}");
    let eliza = card(&stage, "Eliza → team: ⚠️ risk").await;
    assert!(eliza.raw["embeds"][0]["footer"]["text"].as_str().unwrap().contains("won't be used for planning"), "{eliza:#?}");
    eventually("who saw nothing is named in one line", || async {
        thread(&stage, &mission).await.iter().any(|shown| shown.text.contains("Looking back, Echo saw no tension."))
    })
    .await;

    press_on(&stage, &vince, "Useful").await;
    eventually("it is useful", || async { count(&stage.team, "SELECT COUNT(*) FROM insight_ratings WHERE useful").await == 1 }).await;
    press_on(&stage, &vince, "Not useful").await;
    eventually("the last judgement counts", || async {
        count(&stage.team, "SELECT COUNT(*) FROM insight_ratings").await == 1
            && count(&stage.team, "SELECT COUNT(*) FROM insight_ratings WHERE NOT useful").await == 1
    })
    .await;
    // The first judgement has moved the two, once.
    let moved = "SELECT COUNT(*) FROM relationships WHERE one = 'eliza' AND other = 'vince' AND cause = 'useful'";
    assert_eq!(count(&stage.team, moved).await, 1);
    press_twice(&stage, &vince, "Make it a work item").await;
    let made = async || stage.store.list_insights(9).await.unwrap().into_iter().find_map(|insight| insight.item);
    eventually("it is a work item", || async { made().await.is_some() }).await;
    let item = stage.store.find_item(&made().await.unwrap()).await.unwrap().expect("the item");
    assert_eq!((item.what.as_str(), item.how.as_str(), item.owner), (TASK, NOTICED, Owner::Persona("eliza".into())));
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM insights WHERE item IS NOT NULL").await, 1);

    let shown = text(&invoke(&stage.team, HERE, "overwatch", sub_command("show", &[])).await).to_owned();
    assert!(
        shown.contains("- Vince → Eliza, 🔀 conflict: The cart")
            && shown.contains("(not confirmed)")
            && shown.contains("- Echo: no tension"),
        "{shown}"
    );
    let trends = text(&invoke(&stage.team, HERE, "overwatch", sub_command("trends", &[])).await).to_owned();
    assert_eq!(trends, "No theme has come up more than once yet.");
}

async fn the_next_plan_is_told_and_says_what_it_changed(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    perform(&stage, Play::default());
    hand_over(&stage).await;
    let first = comes_to(&stage, MissionStatus::Done).await;
    insights(&stage.store, 3).await;
    // Its plan says what it learnt, and invents a second insight that it was never told.
    let mut play = Play::default();
    play.plans[0]["learnt"] = json!([{"insight": "i1", "change": "One step names the sum before both describe it."}, {"insight": "i7", "change": "Coffee is made."}]);
    perform(&stage, play);
    stage.team.drop_file(HERE, "again.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    let second = async || stage.store.list_missions(5).await.unwrap().into_iter().find(|mission| mission.id != first.id);
    eventually("the second mission is planned", || async { second().await.is_some_and(|mission| mission.plan.is_some()) }).await;
    let asked = stage.team.model.requests();
    let planning = asked.iter().rfind(|asked| asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("left_out"))).unwrap();
    let prompt = planning.prompt();
    assert!(prompt.contains(&format!("[i1] {NOTICED}")) && !prompt.contains("stock-list.md"), "{prompt}");
    let learnt = second().await.unwrap().plan.unwrap().learnt;
    assert_eq!(
        learnt.iter().map(|learnt| (learnt.insight.as_str(), learnt.change.as_str())).collect::<Vec<_>>(),
        [(NOTICED, "One step names the sum before both describe it.")]
    );
}

/// A mission, what was noticed about it, what a person makes of that, and the next mission.
async fn from_a_mission_to_what_the_next_one_does_differently(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    perform(&stage, Play::default());
    hand_over(&stage).await;
    let first = comes_to(&stage, MissionStatus::Done).await;
    let vince = card(&stage, "Vince → Eliza: 🔀 conflict").await;
    press_on(&stage, &vince, "Useful").await;
    eventually("it is useful", || async { count(&stage.team, "SELECT COUNT(*) FROM insight_ratings WHERE useful").await == 1 }).await;
    press_on(&stage, &vince, "Make it a work item").await;
    let made = async || stage.store.list_insights(9).await.unwrap().into_iter().find_map(|insight| insight.item);
    eventually("it is a work item", || async { made().await.is_some() }).await;
    let item = stage.store.find_item(&made().await.unwrap()).await.unwrap().expect("the item");
    assert_eq!((item.how.as_str(), item.why.as_str()), (NOTICED, "Vince noticed it when looking back at \"Tea shop\"."));

    let mut play = Play::default();
    let change = "One step names the sum before both describe it.";
    play.plans[0]["learnt"] = json!([{"insight": "i1", "change": change}]);
    perform(&stage, play);
    stage.team.drop_file(HERE, "again.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    let second = async || {
        let listed = stage.store.list_missions(5).await.unwrap().into_iter().find(|mission| mission.id != first.id)?;
        stage.store.find_mission(&listed.id).await.unwrap()
    };
    eventually("the second mission is planned", || async { second().await.is_some_and(|mission| mission.plan.is_some()) }).await;
    let second = second().await.unwrap();
    let shown_plan = async || {
        let said = thread(&stage, &second).await;
        said.into_iter().find(|shown| shown.raw["embeds"][0]["fields"].to_string().contains("Learnt from earlier missions"))
    };
    eventually("its card is posted", || async { shown_plan().await.is_some() }).await;
    let told = shown_plan().await.unwrap().raw["embeds"][0]["fields"].to_string();
    assert!(told.contains(&format!("{change} (because: The cart and the payment name the sum differently")), "{told}");
}

async fn who_hangs_or_cannot_be_read_is_left_out(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let play = Play::default();
    stage.team.model.on(move |asked| match is_look(asked) {
        true if is_of(asked, "Eliza") => Script::Hang,
        true if is_of(asked, "Echo") => Script::say("I would rather sing."),
        true => look(asked),
        false => play.answer(asked),
    });
    hand_over(&stage).await;
    comes_to(&stage, MissionStatus::Done).await;
    // The mission is delivered, whatever becomes of the look back.
    hears(&stage, "is done. 3 of 3 steps done").await;
    eventually("all were asked", || async { stage.team.model.requests().iter().filter(|asked| is_look(asked)).count() >= 4 }).await;
    let found = async || stage.store.list_insights(9).await.unwrap();
    eventually("the limit is over", || async {
        hasten(&stage).await;
        !found().await.is_empty()
    })
    .await;
    let found = found().await;
    assert_eq!(found.iter().map(|insight| insight.by.as_str()).collect::<Vec<_>>(), ["vince"], "{found:#?}");
}

async fn killed_before_it_is_stored(backing: Backing) {
    let team: TestTeam = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let play = Play::default();
    team.model.on(move |asked| if is_look(asked) { look(asked) } else { play.answer(asked) });
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    forbid(&team, "wall", "INSERT ON insights", "1 = 1").await;
    let process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    let stands = async || count(&team, "SELECT COUNT(*) FROM job_steps WHERE name = 'looks'").await == 1;
    eventually("all have answered", || async { stands().await }).await;
    process.kill();
    allow(&team, "wall").await;
    execute(&team, "UPDATE jobs SET state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0, run_at = '2026-01-01T00:00:00+00:00' WHERE finished_at IS NULL").await;
    let _process = TeamProcess::start(&team, &[]).await;
    let all = insights(&store, 3).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((all.len(), store.list_insights(9).await.unwrap().len()), (3, 3));
    // Nothing was asked again.
    assert_eq!(team.model.requests().iter().filter(|asked| is_look(asked)).count(), 3);
    store.close().await;
}
