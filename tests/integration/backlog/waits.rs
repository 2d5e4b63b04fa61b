//! An item waits for its time and for what it asks, without tries, and a person's words are what came of it.

use std::time::Duration;

use chrono::TimeDelta;
use kernel::agent::AnswerVerdict;
use kernel::feeds::condition::Comparison;
use kernel::llm::settings::ProviderKind;
use kernel::time::Clock as _;
use serde_json::{Value, json};
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus};

use super::host::Page;
use super::part::{MORE, finish, is_work, write};
use super::stage::{HERE, Setting, Stage};
use crate::support::command::press;
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, Shown, eventually, on_one_store, use_model};

on_one_store!(
    what_a_person_says_to_a_reminder_is_what_came_of_it,
    words_that_a_model_does_not_take_are_the_outcome_once_it_is_done,
    words_on_the_subject_of_an_open_item_are_found_without_a_reply,
    what_has_its_time_is_not_tried_before_it,
    a_run_goes_on_with_the_answer_that_it_waited_for,
    a_run_waits_from_when_it_said_so_although_its_task_is_changed_meanwhile,
    a_watch_that_is_asked_for_in_words_watches_the_feed,
    a_question_back_is_put_to_a_person,
    what_waited_for_a_model_is_offered_once_and_starts_when_an_operator_says_so,
);

const CAUSE: &str = "The disk of db2 was full.";

/// A team whose model drafts and judges like this, and works as told.
async fn open(backing: Backing, drafts: Value, work: impl Fn(&Asked) -> Script + Send + Sync + 'static) -> Stage {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(move |asked| match () {
        () if is_grading(asked) => Script::Json(all_met(asked)),
        () if asked.schema.is_some() => Script::Json(drafts.clone()),
        () if is_work(asked) => work(asked),
        () => Script::say("Which of both do you mean?"),
    });
    stage
}

async fn reply(stage: &Stage, to: &Shown, text: &str) {
    let body = json!({"content": text, "message_reference": {"message_id": to.raw["id"]}});
    let path = format!("/channels/{}/messages", stage.team.channel(HERE));
    stage.team.call(reqwest::Method::POST, &path, Some(body)).await;
}

/// Finding out the cause, which is the person's.
async fn cause(stage: &Stage) -> WorkItem {
    let person = Owner::Person { id: stage.team.person_id(0), name: stage.team.sandbox().people()[0].name.clone() };
    let item = WorkItem { owner: person, execution: None, ..stage.glance("Find out the cause of the incident") };
    stage.put(&[&item]).await;
    item
}

async fn expect_cause(stage: &Stage, item: &WorkItem) {
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    let outcome = format!("{}: {CAUSE}", stage.team.sandbox().people()[0].name);
    assert_eq!(done.outcome.as_deref(), Some(outcome.as_str()));
    eventually("it is in the learnings", || async { stage.learnings().contains(CAUSE) }).await;
}

async fn what_a_person_says_to_a_reminder_is_what_came_of_it(backing: Backing) {
    let stage = open(backing, json!({"verdict": "answers"}), |_| Script::status(400)).await;
    let item = cause(&stage).await;
    let reminded = stage.hears("Reminder for").await;
    reply(&stage, &reminded, CAUSE).await;
    expect_cause(&stage, &item).await;
}

async fn words_that_a_model_does_not_take_are_the_outcome_once_it_is_done(backing: Backing) {
    let stage = open(backing, json!({"verdict": "in_part"}), |_| Script::status(400)).await;
    let item = cause(&stage).await;
    let reminded = stage.hears("Reminder for").await;
    reply(&stage, &reminded, CAUSE).await;
    stage.press("Is **Find out the cause of the incident**", "Done").await;
    expect_cause(&stage, &item).await;
}

async fn words_on_the_subject_of_an_open_item_are_found_without_a_reply(backing: Backing) {
    let stage = open(backing, json!({"verdict": "answers"}), |_| Script::status(400)).await;
    let item = cause(&stage).await;
    stage.hears("Reminder for").await;
    stage.team.say(HERE, "the printer is broken").await;
    stage.team.say(HERE, "The cause of the incident was a full disk.").await;
    stage.press("Is **Find out the cause of the incident**", "Done").await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert!(done.outcome.as_deref().is_some_and(|outcome| outcome.ends_with("The cause of the incident was a full disk.")), "{done:#?}");
    let asked = stage.team.answers(HERE).await.into_iter().filter(|said| said.text.starts_with("Is **")).count();
    assert_eq!(asked, 1, "the printer is no item");
}

/// Writes the document of an item.
fn document(asked: &Asked) -> Script {
    let done = asked.tool_results();
    [write("count.md", &format!("# Orders\n\nFour.\n\n{MORE}\n")), finish("count.md")][done.min(1)].clone()
}

async fn what_has_its_time_is_not_tried_before_it(backing: Backing) {
    let drafts = json!({"execution": "write", "criteria": ["The number of orders", "The day"], "start": "in one week"});
    let stage = open(backing, drafts, document).await;
    stage.backlog("add", &[("what", "Count the orders in one week"), ("owner", "Eliza")]).await;
    let item = stage.find("Count the orders").await;
    let planned = stage.until(&item.id, "planned", |item| item.not_before.is_some()).await;
    let waits = planned.not_before.expect("a time") - planned.created_at;
    // A day begins with the working hours.
    assert!((6..=7).contains(&waits.num_days()) && planned.status == WorkStatus::Ready, "{planned:#?}");
    // Words that do not stand in the task hold nothing.
    stage.backlog("add", &[("what", "Count the invoices"), ("owner", "Eliza")]).await;
    let now = stage.find("Count the invoices").await;
    stage.comes_to(&now.id, WorkStatus::Done).await;
    assert!(stage.asked_about("Count the orders").is_empty(), "nothing is tried before its time");
    let rest = planned.not_before.expect("a time") - stage.clock.now();
    stage.pass(rest.to_std().expect("it lies ahead") + Duration::from_secs(1)).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.attempts, done.run), (0, planned.run));
}

async fn a_run_goes_on_with_the_answer_that_it_waited_for(backing: Backing) {
    let drafts = json!({"execution": "write", "criteria": ["The number", "Whose it is"], "verdict": "answers"});
    let stage = open(backing, drafts, |_| Script::status(400)).await;
    let person = Owner::Person { id: stage.team.person_id(0), name: stage.team.sandbox().people()[0].name.clone() };
    let question = stage.item("Ask for the number of the invoice", "", Execution::ask(person, "Which number has the invoice?".into()));
    let call = Script::call("wait_for", json!({"item": format!("#{}", question.short_id())}));
    stage.team.model.on(move |asked| match () {
        () if is_grading(asked) => Script::Json(all_met(asked)),
        () if asked.schema.is_some() => Script::Json(json!({"verdict": "answers"})),
        () if asked.tool_results() == 0 => call.clone(),
        () if asked.tool_results() == 1 => write("count.md", &format!("# Invoice\n\nThe number is 4711.\n\n{MORE}\n")),
        () => finish("count.md"),
    });
    let item = stage.item("Write to the landlord", "", Execution::Write);
    stage.put(&[&question, &item]).await;
    let waits = stage.until(&item.id, "waits", |item| item.not_before.is_some()).await;
    assert_eq!((waits.status, waits.attempts), (WorkStatus::Ready, 0));
    let asked = stage.hears("Question for").await;
    reply(&stage, &asked, "It is 4711.").await;
    stage.comes_to(&question.id, WorkStatus::Done).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.attempts, done.run), (0, waits.run), "it cost no try");
    let asked = stage.asked_about("Write to the landlord");
    assert!(asked[1].last().contains("answered: It is 4711."), "{}", asked[1].last());
    assert_eq!(asked.len(), 3, "waiting asks no model");
}

async fn a_run_waits_from_when_it_said_so_although_its_task_is_changed_meanwhile(backing: Backing) {
    let drafts = json!({"execution": "write", "criteria": ["The number of orders", "The day"]});
    let stage = open(backing, drafts, |asked| match asked.tool_results() {
        0 => Script::call("wait_for", json!({"time": "in 7 days"})),
        1 => write("count.md", &format!("# Orders\n\nFour.\n\n{MORE}\n")),
        _ => finish("count.md"),
    })
    .await;
    let criteria = vec!["The number of orders stands there".to_owned(), "The day stands there".to_owned()];
    let item = WorkItem { criteria, ..stage.item("Count the orders of the week", "Count them.", Execution::Write) };
    stage.put(&[&item]).await;
    let waits = stage.until(&item.id, "waits", |item| item.not_before.is_some()).await;
    stage.pass(Duration::from_hours(24 * 5)).await;
    let told = stage.backlog("edit", &[("id", item.short_id()), ("how", "Count them. Leave out what was cancelled.")]).await;
    assert!(told.contains("Count the orders"), "{told}");
    let rest = waits.not_before.expect("a time") - stage.clock.now();
    stage.pass(rest.to_std().expect("it lies ahead") + Duration::from_mins(10)).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.attempts, done.run), (0, waits.run));
    assert!(done.updated_at < waits.not_before.expect("a time") + TimeDelta::days(1), "{done:#?}");
}

async fn a_watch_that_is_asked_for_in_words_watches_the_feed(backing: Backing) {
    let watch = json!({"feed": "shop", "value": "latency", "comparison": ">", "threshold": 500});
    let stage = open(backing, json!({"execution": "watch", "criteria": [], "watch": watch}), |_| Script::status(400)).await;
    // The feed has been read.
    stage.team.say(HERE, "vince, which one?").await;
    stage.hears("Which of both do you mean?").await;
    stage.backlog("add", &[("what", "Tell me when latency is above 500"), ("owner", "Vince")]).await;
    let item = stage.find("Tell me when latency").await;
    let planned = stage.until(&item.id, "planned", |item| item.execution.is_some()).await;
    let Some(Execution::Watch(terms)) = planned.execution else { panic!("no watch: {planned:#?}") };
    let rule = terms.rule.expect("a condition");
    assert_eq!((rule.value.as_str(), rule.comparison), ("latency", Comparison::Above));
    let drafts = stage.team.model.requests().into_iter().find(|asked| asked.schema.is_some()).expect("a draft");
    assert!(drafts.prompt().contains("- shop: latency"), "{}", drafts.prompt());
    stage.web.lay_out("shop", Page::Json(json!({"latency": 612}).to_string()));
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert!(done.outcome.as_deref().is_some_and(|outcome| outcome.contains("612")), "{done:#?}");
    stage.hears("612").await;
}

async fn a_question_back_is_put_to_a_person(backing: Backing) {
    let stage = open(backing, json!({"verdict": "asks_back"}), |_| Script::status(400)).await;
    let asked = Execution::ask(Owner::Persona("oracle".into()), "What are the odds?".into());
    let item = stage.item("Ask Oracle for the odds", "", asked);
    stage.put(&[&item]).await;
    let waiting = stage.until(&item.id, "waits", |item| matches!(item.wait, Some(Wait::Help { .. }))).await;
    let Some(Execution::Ask { unanswered, .. }) = &waiting.execution else { panic!("{waiting:#?}") };
    let verdicts: Vec<_> = unanswered.iter().map(|reply| (reply.by.as_str(), reply.verdict)).collect();
    assert_eq!(verdicts, [("oracle", AnswerVerdict::AsksBack)], "no colleague is asked instead");
    let help = stage.hears("Help needed from").await;
    assert!(help.text.contains("Which of both do you mean?"), "{}", help.text);
}

async fn what_waited_for_a_model_is_offered_once_and_starts_when_an_operator_says_so(backing: Backing) {
    let mut stage = Setting::on(backing).open().await;
    // Of two personas: each works on one item at a time, and the model never answers.
    let letters = [("harbour", "eliza"), ("market", "echo")].map(|(about, owner)| WorkItem {
        owner: Owner::Persona(owner.into()),
        ..stage.item(&format!("Write a letter to the {about}"), "", Execution::Write)
    });
    stage.put(&letters.iter().collect::<Vec<_>>()).await;
    for letter in &letters {
        stage.until(&letter.id, "waits", |item| item.wait == Some(Wait::Model)).await;
    }
    stage.team.stop_app().await;
    use_model(&mut stage.team.config, ProviderKind::OpenAi, &stage.team.model);
    stage.team.model.on(|asked| if is_work(asked) { Script::Hang } else { Script::Json(json!({})) });
    stage.team.start_app().await;
    eventually("it is offered", || async { !list_offers(&stage).await.is_empty() }).await;
    stage.pass(Duration::from_mins(6)).await;
    assert_eq!(stage.team.model.count(), 0, "nothing is spent");
    stage.team.stop_app().await;
    stage.team.start_app().await;
    stage.pass(Duration::from_mins(6)).await;
    let offers = list_offers(&stage).await;
    let [offer] = offers.as_slice() else { panic!("it is offered once: {offers:#?}") };
    press(&stage.team, "ops", offer, |button| button["label"] == "Start").await;
    eventually("they are worked on", || async { ["harbour", "market"].iter().all(|about| stage.asked_about(about).iter().any(is_work)) })
        .await;
}

async fn list_offers(stage: &Stage) -> Vec<Shown> {
    let said = stage.team.answers("ops").await.into_iter();
    said.filter(|shown| shown.text.contains("2 items waited for one. Shall we start?")).collect()
}
