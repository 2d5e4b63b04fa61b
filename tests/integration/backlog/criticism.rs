//! What people say below a delivered result: a table of words, by a reply to its message and in its thread.

use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Execution, WorkItem, WorkStatus};

use super::part::{DOCUMENT, finish, is_work, write};
use super::stage::{HERE, Setting, Stage};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::team::{Backing, Shown, eventually, on_both_stores, on_one_store};

on_both_stores!(what_is_said_below_a_result_is_talk_or_sends_it_back);
on_one_store!(somebody_elses_criticism_is_kept_as_a_remark);

const TALK: &str = "Gladly.";

fn is_below(asked: &Asked) -> bool {
    asked.prompt().contains("writes below the result of a work item")
}

/// Each try writes another text. What is said below the result is understood by its words.
fn perform(model: &ScriptedModel) {
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    model.on(|asked| match asked.tool_results() {
        _ if is_below(asked) => {
            let prompt = asked.prompt();
            let kind = match () {
                () if prompt.contains("is missing") => "again",
                () if prompt.contains("Who asked") => "question",
                () => "other",
            };
            Script::Json(json!({"kind": kind, "confidence": 0.9, "why": "they say so"}))
        }
        _ if is_grading(asked) => Script::Json(all_met(asked)),
        _ if asked.schema.is_some() => Script::Json(json!({"execution": "write", "verdict": "answers", "acts": []})),
        _ if !is_work(asked) => Script::say(TALK),
        0 => write("prices.md", &format!("{DOCUMENT}\nTry {}.\n", TRIES.fetch_add(1, Ordering::Relaxed))),
        _ => finish("prices.md"),
    });
}

async fn deliver(stage: &Stage, what: &str) -> WorkItem {
    let item = stage.item(what, "", Execution::Write);
    stage.put(&[&item]).await;
    stage.comes_to(&item.id, WorkStatus::Done).await
}

/// The message of the newest result of an item.
async fn result(stage: &Stage, item: &WorkItem) -> Shown {
    let id = WorkItem::notice_id_of(&item.id, item.run, WorkStatus::Done);
    let posted = async || stage.store.find_posted(&id).await.unwrap();
    eventually("the result", || async { posted().await.is_some() }).await;
    let shown =
        async || stage.team.answers(HERE).await.into_iter().rfind(|shown| shown.text.contains(&item.what) && shown.text.contains('✔'));
    shown().await.expect("it was posted")
}

/// Says something as a person, in a channel.
async fn say(stage: &Stage, person: usize, channel: &str, mut said: Json, below: Option<&Shown>) {
    if let Some(below) = below {
        said["message_reference"] = json!({"message_id": below.raw["id"], "channel_id": below.raw["channel_id"]});
    }
    stage.team.call_as(person, Method::POST, &format!("/channels/{channel}/messages"), Some(said)).await;
}

/// What was said in a channel, oldest first.
async fn heard(stage: &Stage, channel: &str) -> Vec<String> {
    let page = stage.team.call(Method::GET, &format!("/channels/{channel}/messages?limit=100"), None).await;
    page.as_array().unwrap().iter().rev().map(|raw| raw["content"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn hears(stage: &Stage, channel: &str, text: &str, times: usize) {
    let count = async || heard(stage, channel).await.iter().filter(|said| said.contains(text)).count();
    eventually(&format!("{text} {times} times"), || async { count().await == times }).await;
}

async fn what_is_said_below_a_result_is_talk_or_sends_it_back(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    perform(&stage.team.model);
    let mut item = deliver(&stage, "Compare the prices").await;
    let channel = stage.team.channel(HERE);
    for is_thread in [false, true] {
        let below = result(&stage, &item).await;
        let mut place = channel.clone();
        if is_thread {
            let path = format!("/channels/{channel}/messages/{}/threads", below.raw["id"].as_str().unwrap());
            let thread = stage.team.call(Method::POST, &path, Some(json!({"name": "prices"}))).await;
            thread["id"].as_str().unwrap().clone_into(&mut place);
        }
        let reply = Some(&below).filter(|_| !is_thread);
        let before = heard(&stage, &place).await.iter().filter(|said| said.contains(TALK)).count();
        for (number, text) in ["kelly, that helps me with the plan of the year.", "kelly, Who asked for it?"].into_iter().enumerate() {
            say(&stage, 0, &place, json!({ "content": text }), reply).await;
            hears(&stage, &place, TALK, before + number + 1).await;
            let now = stage.read(&item.id).await;
            assert_eq!((now.status, now.run), (WorkStatus::Done, item.run), "{text}");
        }
        let word = format!("kelly, not good enough, the table of {} is missing.", if is_thread { "years" } else { "months" });
        say(&stage, 0, &place, json!({ "content": word }), reply).await;
        hears(&stage, &place, "goes back to Eliza with what you say", 1 + usize::from(is_thread && place == channel)).await;
        let run = item.run;
        item = stage.until(&item.id, "done again", |item| item.status == WorkStatus::Done && item.run > run).await;
        let told: Vec<_> = stage.team.model.requests().into_iter().filter(|asked| asked.prompt().contains(&word)).collect();
        let tries = told.iter().filter(|asked| is_work(asked) && asked.tool_results() == 0);
        assert_eq!(tries.count(), 1, "the next try knows the criticism, and there is one");
        let reviews = told.iter().filter(|asked| is_grading(asked));
        assert_eq!(reviews.count(), 1, "its reviewer checks that the criticism is met");
        assert_eq!(heard(&stage, &place).await.iter().filter(|said| said.contains(TALK)).count(), before + 2, "no persona answers it, too");
    }
    // What is said below an older result is not about the newest one.
    assert_eq!(item.run, 2);
}

async fn somebody_elses_criticism_is_kept_as_a_remark(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .with_people(&["Ann", "Bob"])
        .configure(|config| config.chat.operators = vec!["nobody".into()])
        .open()
        .await;
    perform(&stage.team.model);
    let item = deliver(&stage, "Compare the rents").await;
    let below = result(&stage, &item).await;
    say(&stage, 1, &stage.team.channel(HERE), json!({"content": "kelly, the table is missing."}), Some(&below)).await;
    stage.hears("I keep it as a remark, because only Ann or an operator may change").await;
    let now = stage.read(&item.id).await;
    assert_eq!((now.status, now.run), (WorkStatus::Done, 0));
    let notes: Vec<_> = stage.store.list_events(&item.id).await.unwrap().into_iter().filter_map(|event| event.note).collect();
    assert!(notes.iter().any(|note| note.contains("Bob says of the result: kelly, the table is missing.")), "{notes:?}");
}
