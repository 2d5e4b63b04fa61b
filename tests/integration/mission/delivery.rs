//! From a dropped document to the delivery, and what is no mission.

use serde_json::json;
use teamroom::features::backlog::model::{Wait, WorkKind, WorkStatus};
use teamroom::features::mission::model::MissionStatus;

use super::stage::{
    HERE, Play, ROADMAP, comes_to, command, command_text, files_of, find, hand_over, hears, open, plan, press_on, step, steps, thread,
};
use crate::backlog::part::{MORE, finish, is_work, write};
use crate::backlog::stage::Setting;
use crate::support::command::text;
use crate::support::database::execute;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_document_is_planned_worked_on_and_delivered,
    a_delivered_mission_is_taken_up_again_with_what_is_wrong,
    a_question_about_a_document_is_answered,
    a_plan_that_is_never_valid_is_left_to_the_coordinator,
    a_long_plan_waits_for_a_word,
    a_product_goes_from_phase_to_phase,
    without_a_model_each_section_is_a_step_that_waits,
    a_private_mission_is_told_of_nowhere_else,
);

async fn a_document_is_planned_worked_on_and_delivered(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let opening = hears(&stage, "I take this as a mission").await;
    assert!(opening.text.contains("**Tea shop**") && opening.text.contains("10 parts of roadmap.md"), "{}", opening.text);
    assert_eq!(opening.author, "Kelly");

    // The delivery answers the message, with what became of each part and what the steps made, the last one first.
    let delivery = hears(&stage, "is done. 3 of 3 steps done").await;
    assert!(delivery.text.contains("8 of 10 parts of the directive served; not:"), "{}", delivery.text);
    assert!(delivery.text.contains("- 9–10 \"Later\" …: left out. The roadmap says later."), "{}", delivery.text);
    assert_eq!(files_of(&delivery), ["coverage.md", "result.md", "result-2.md", "result-3.md"]);
    let url = delivery.raw["attachments"][1]["url"].as_str().expect("an address");
    let first = reqwest::get(url).await.expect("the file").text().await.expect("text");
    assert!(first.starts_with("# Join both to one specification"), "{first}");
    assert_eq!(delivery.raw["message_reference"]["message_id"].as_str(), mission.message.as_ref().map(kernel::ids::MessageId::bare));

    // The thread has the plan, what each step made, and one line of progress that was edited.
    let said = thread(&stage, &mission).await;
    let plan = said.iter().find(|shown| files_of(shown).contains(&"plan.md".to_owned())).expect("the plan");
    let card = &plan.raw["embeds"][0];
    assert_eq!(card["title"], "Tea shop");
    // A file that a card shows is not listed beside it.
    assert_eq!(files_of(plan), ["plan.md"]);
    let picture = fetch(&card["image"]).await;
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{} bytes", picture.len());
    assert!(card["description"].as_str().unwrap().contains("`1` Describe the cart: Eliza"), "{card}");
    let done = said.iter().filter(|shown| shown.text.starts_with('✔')).count();
    assert_eq!(done, 3, "{said:#?}");
    let bars: Vec<_> = said.iter().filter(|shown| shown.text.contains('▰') || shown.text.contains('▱')).collect();
    assert_eq!(bars.len(), 1, "{bars:#?}");
    eventually("the bar is full", || async {
        thread(&stage, &mission).await.iter().any(|shown| shown.text.contains("▰▰▰▰▰▰▰▰▰▰▰▰ 3 of 3 steps done"))
    })
    .await;
    assert_eq!(
        stage.team.answers(HERE).await.iter().filter(|shown| shown.text.contains("Tea shop")).count(),
        2,
        "the opening and the delivery"
    );

    // Each step was told its parts, and the last one had what the others made.
    let asked = stage.asked_about("Join both").remove(0).prompt();
    assert!(asked.contains("[2] We sell tea to people who care.") && asked.contains("made by Eliza for: Describe the cart"), "{asked}");
    let items = steps(&stage, &mission).await;
    assert!(items.iter().all(|item| item.kind == WorkKind::Step && item.status == WorkStatus::Done), "{items:#?}");

    let id = mission.short_id();
    let status = command_text(&stage, "status", &[("id", id)]).await;
    assert!(status.contains("**Tea shop**") && status.contains("3 of 3 steps done"), "{status}");
    // By now the steps are done, and the picture says so.
    let shown = command(&stage, "plan", &[("id", id)]).await;
    assert_eq!((&shown["attachments"][0]["filename"], &shown["attachments"][1]["filename"]), (&json!("plan.md"), &json!("plan.png")));
    let now = fetch(&shown["attachments"][1]).await;
    assert!(now.starts_with(b"\x89PNG\r\n\x1a\n") && now != picture, "{} bytes", now.len());
    let coverage = command(&stage, "coverage", &[("id", id)]).await;
    assert_eq!(coverage["attachments"][0]["filename"], "coverage.md", "{coverage}");
    assert!(command_text(&stage, "costs", &[("id", "tea")]).await.contains("Describe the cart"));
    assert!(command_text(&stage, "cancel", &[("id", id)]).await.contains("is over already"));
    assert!(command_text(&stage, "status", &[("id", "coffee")]).await.contains("There is no mission"));
}

/// The bytes of an attachment or of a card's picture.
async fn fetch(file: &serde_json::Value) -> Vec<u8> {
    let url = file["url"].as_str().expect("an address");
    reqwest::get(url).await.expect("the file").bytes().await.expect("bytes").to_vec()
}

async fn a_delivered_mission_is_taken_up_again_with_what_is_wrong(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    let before = stage.asked_about("Join both").len();
    stage.team.model.on(|asked| {
        let again = is_work(asked) && asked.prompt().contains("says of the delivery: the refund is missing");
        match (again, asked.tool_results()) {
            (true, 0) => write("result.md", &format!("# Refunds\n\nA refund takes three days.{MORE}\n")),
            (true, _) => finish("result.md"),
            _ => Play::default().answer(asked),
        }
    });
    let told = command_text(&stage, "retry", &[("id", mission.short_id()), ("why", "the refund is missing")]).await;
    assert!(told.contains("goes on: 1 step is tried again"), "{told}");
    eventually("it is delivered again", || async {
        stage.team.answers(HERE).await.iter().filter(|shown| shown.text.contains("is done. 3 of 3 steps done")).count() == 2
    })
    .await;
    let asked = stage.asked_about("Join both").remove(before).prompt();
    assert!(asked.contains("why the last try was not accepted>>\n") && asked.contains("the refund is missing"), "{asked}");
    let items = steps(&stage, &mission).await;
    assert_eq!(items.iter().map(|item| item.run).sum::<u32>(), 1, "only the last step was done again: {items:#?}");
}

async fn a_question_about_a_document_is_answered(backing: Backing) {
    let question = json!({"kind": "question", "confidence": 0.95, "why": "they ask", "title": "Tea shop"});
    let stage = open(Setting::on(backing), Play { classified: question, ..Play::default() }).await;
    stage.team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, what do you think of this?").await;
    assert_eq!(stage.team.wait_for_answers(HERE, 1).await[0].text, "It goes well.");
    // A project with low confidence is not taken, either.
    let unsure = json!({"kind": "project", "confidence": 0.6, "why": "maybe", "title": "Tea shop"});
    Play { classified: unsure, ..Play::default() }.perform(&stage);
    hand_over(&stage).await;
    stage.team.wait_for_answers(HERE, 2).await;
    // A file without a word asks for nothing.
    Play::default().perform(&stage);
    stage.team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "").await;
    stage.team.settle().await;
    assert!(stage.store.list_missions(5).await.unwrap().is_empty());
}

async fn a_plan_that_is_never_valid_is_left_to_the_coordinator(backing: Backing) {
    let invented = plan(&[step("cart", "Describe the cart", "eliza", &[], &["3", "77"])]);
    let circle = plan(&[step("a", "Go", "eliza", &["b"], &["3"]), step("b", "Come", "vince", &["a"], &["6"])]);
    let stage = open(Setting::on(backing), Play { plans: vec![invented, circle], ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Failed).await;
    let told = hears(&stage, "I have no plan for **Tea shop**").await;
    assert!(told.text.contains("steps wait for each other: Go → Come → Go"), "{}", told.text);
    let second = stage.team.model.requests().into_iter().find(|asked| asked.prompt().contains("Your last plan was refused")).unwrap();
    assert!(second.prompt().contains("there is no part 77: the directive has 10"));
    assert!(steps(&stage, &mission).await.is_empty());
    assert!(stage.find("Plan by hand: Tea shop").await.status != WorkStatus::Done);
}

/// The planner names the phases, and code has each begin with the results of the one before.
async fn a_product_goes_from_phase_to_phase(backing: Backing) {
    let in_phase = |phase: &str, mut step: serde_json::Value| {
        step["phase"] = json!(phase);
        step
    };
    let plans = vec![plan(&[
        in_phase("test", step("join", "Join both to one specification", "echo", &[], &["1", "2"])),
        in_phase("design", step("cart", "Describe the cart", "eliza", &[], &["3"])),
        in_phase("design", step("pay", "Describe the payment", "vince", &[], &["6"])),
    ])];
    let stage = open(Setting::on(backing), Play { plans, ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let asked = stage.asked_about("Join both").pop().unwrap().prompt();
    assert!(asked.contains("Describe the cart") && asked.contains("Describe the payment"), "it builds on the design: {asked}");
    let said = thread(&stage, &mission).await;
    let card = &said.iter().find(|shown| files_of(shown).contains(&"plan.md".to_owned())).expect("the plan").raw["embeds"][0];
    let steps = card["description"].as_str().unwrap();
    let design = "Phase: **design**\n`1` Describe the cart: Eliza\n`1` Describe the payment: Vince\n";
    assert_eq!(steps, format!("{design}Phase: **test**\n`2` Join both to one specification: Echo"));
}

async fn a_long_plan_waits_for_a_word(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| {
        config.features.set(teamroom::features::mission::MissionSettings { approve_steps: 3, ..Default::default() });
    });
    let stage = open(setting, Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Proposed).await;
    assert!(steps(&stage, &mission).await.is_empty(), "nothing runs before the word");
    let proposed = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("waits for your word"));
    eventually("the plan", || async { proposed().await.is_some() }).await;
    press_on(&stage, &proposed().await.unwrap(), "Start").await;
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn without_a_model_each_section_is_a_step_that_waits(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("they wait", || async { steps(&stage, &mission).await.iter().filter(|item| item.wait == Some(Wait::Model)).count() == 4 })
        .await;
    let items = steps(&stage, &mission).await;
    let titles: Vec<_> = items.iter().map(|item| item.what.as_str()).collect();
    assert_eq!(titles, ["Cart", "Payment", "Later", "Join the pieces: Tea shop"]);
    let plan = mission.plan.as_ref().unwrap();
    assert_eq!(super::stage::open_parts(plan, &mission), 0);
    let find_progress = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("0 of 4 steps done"));
    eventually("the progress says so", || async {
        find_progress().await.is_some_and(|shown| shown.text.contains("Waits for a language model to be connected"))
    })
    .await;
    assert_eq!(find(&stage).await.status, MissionStatus::Running);
}

async fn a_private_mission_is_told_of_nowhere_else(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    execute(&stage.team, "UPDATE missions SET private_to = 'discord:4711'").await;
    for name in ["status", "plan", "coverage", "costs", "pause", "cancel", "retry"] {
        for id in [mission.short_id(), "tea"] {
            let reply = command(&stage, name, &[("id", id)]).await;
            assert!(reply["attachments"].as_array().is_none_or(Vec::is_empty), "{name}: {reply}");
            let told = text(&reply);
            assert!(told.contains("There is no mission") && !told.contains("Tea"), "{name}: {told}");
        }
    }
    let listed = command_text(&stage, "list", &[]).await;
    assert!(listed.contains("There are no missions"), "{listed}");
}
