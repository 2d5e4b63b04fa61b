//! Forgetting reaches the message that taught it and what we said of it; a newer fact may replace an older one.

use chrono::TimeDelta;
use kernel::llm::settings::ProviderKind;
use kernel::memory::{Memory, MemoryKind, MemorySource};

use super::stage::{HERE, Stage, id_in};
use crate::store::sample::noon;
use crate::store::{Home, on_both};
use crate::support::command::press;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_is_forgotten_is_in_no_later_prompt,
    forget_that_means_what_was_said_or_told_last,
    a_fact_that_contradicts_another_is_offered_to_replace_it,
);

on_both!(what_is_old_unused_and_insignificant_is_archived);

async fn what_is_forgotten_is_in_no_later_prompt(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    stage
        .team
        .model
        .on(|asked| Script::say(if asked.prompt().contains("zq4711") { "The vault code is zq4711, as you know." } else { "I see." }));
    let taught = stage.answer_in(HERE, "remember: the vault code is zq4711").await;
    assert!(stage.answer_to("kelly, what is the vault code?").await.contains("zq4711"));
    stage.team.say(HERE, "By the way, the vault code is zq4711 for all of us.").await;
    stage.say_as_bob("Nobody tells me anything.").await;
    stage.team.settle().await;
    let forgotten = stage.command("forget", &[("id", &id_in(&taught.text))]).await;
    assert!(forgotten.contains("visible until you delete them, but we don't read them any more."), "{forgotten}");
    let copies = async |sql: &str| count(&stage.team, sql).await;
    assert_eq!(copies("SELECT COUNT(*) FROM inbox WHERE message LIKE '%zq4711%'").await, 0);
    assert_eq!(copies("SELECT COUNT(*) FROM outbox WHERE message LIKE '%zq4711%'").await, 0);
    assert_eq!(copies("SELECT COUNT(*) FROM turns WHERE reply LIKE '%zq4711%'").await, 0);
    assert_eq!(copies("SELECT COUNT(*) FROM memories WHERE text LIKE '%zq4711%' OR words LIKE '%zq4711%'").await, 0);
    assert_eq!(copies("SELECT COUNT(*) FROM inbox WHERE message LIKE '%Nobody tells me%'").await, 1, "other people's words stay");
    stage.answer_to("kelly, and what is it now?").await;
    let prompt = stage.team.model.requests().last().unwrap().prompt();
    assert!(!prompt.contains("zq4711") && prompt.contains("Nobody tells me"), "{prompt}");
}

async fn forget_that_means_what_was_said_or_told_last(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let forgotten = async || count(&stage.team, "SELECT COUNT(*) FROM memories WHERE forgotten_by = 'Ann'").await;
    stage.answer_to("remember: herons eat fish").await;
    stage.answer_to("remember: we deploy on Thursdays").await;
    let told = stage.answer_to("forget that").await;
    assert!(told.starts_with("Forgotten for good (`"), "{told}");
    assert!(!stage.answer_to("when do we deploy?").await.contains("Thursdays"));
    assert!(stage.answer_to("what do herons eat?").await.contains("fish"), "only the last");
    stage.say_as_bob("kelly, forget that").await;
    eventually("Bob taught nothing", || async {
        stage.team.answers(HERE).await.iter().any(|shown| shown.text.starts_with("I know of nothing that you could mean"))
    })
    .await;
    // In reply to the answer that repeats the fact.
    let answer = stage.answer_in(HERE, "kelly, what do herons eat?").await;
    stage.reply_to(HERE, answer.raw["id"].as_str().unwrap(), "forget that").await;
    eventually("both are forgotten", || async { forgotten().await == 2 }).await;
    // In reply to the confirmation, and by its id.
    let taught = stage.answer_in(HERE, "remember: the office opens at seven").await;
    stage.reply_to(HERE, taught.raw["id"].as_str().unwrap(), "kelly, please forget that").await;
    eventually("three are forgotten", || async { forgotten().await == 3 }).await;
    let id = id_in(&stage.answer_to("remember: the office opens at eight").await);
    // Only the person who taught a fact may forget it.
    stage.say_as_bob(&format!("kelly, forget #{id}")).await;
    eventually("Bob is refused", || async {
        stage.team.answers(HERE).await.iter().any(|shown| shown.text == "Only Ann or an operator can have this forgotten.")
    })
    .await;
    assert_eq!(forgotten().await, 3);
    assert!(stage.answer_to(&format!("kelly, forget #{id}")).await.starts_with("Forgotten for good ("));
    // What was said but not taught is forgotten, too.
    stage.team.say(HERE, "My salary is ninety thousand.").await;
    eventually("it is remembered", || async {
        count(&stage.team, "SELECT COUNT(*) FROM memories WHERE text LIKE '%ninety thousand%'").await == 1
    })
    .await;
    assert!(stage.answer_to("forget that").await.starts_with("Forgotten for good ("));
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM inbox WHERE message LIKE '%ninety thousand%'").await, 0);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM memories WHERE text LIKE '%ninety thousand%'").await, 0);
}

async fn a_fact_that_contradicts_another_is_offered_to_replace_it(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let older = id_in(&stage.answer_to("remember: we deploy on Thursdays").await);
    let told = stage.answer_in(HERE, "remember: we deploy on Fridays").await;
    assert!(told.text.ends_with(&format!("It may contradict `{older}`, taught by Ann.")), "{}", told.text);
    let answer = stage.answer_to("when do we deploy?").await;
    assert!(answer.contains("Thursdays") && answer.contains("Fridays"), "both stand until somebody decides: {answer}");
    press(&stage.team, HERE, &told, |button| button["label"] == format!("Replace #{older}")).await;
    let is_told = async || stage.team.answers(HERE).await.iter().any(|answer| answer.text.starts_with("Ann replaced"));
    eventually("it is replaced", || async { is_told().await }).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM memories WHERE replaces IS NOT NULL").await, 1);
    let answer = stage.answer_to("when do we deploy?").await;
    assert!(!answer.contains("Thursdays") && answer.contains("Fridays"), "{answer}");
    let shown = stage.command("show", &[("id", &older)]).await;
    assert!(shown.contains("we deploy on Thursdays") && shown.contains("\nReplaced on 2 Mar 2026 by `"), "{shown}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM events WHERE topic = 'memory' AND kind = 'replaced'").await, 1);
    let other = stage.answer_to("remember: the printer stands in room twelve").await;
    assert!(!other.contains("contradict"), "{other}");
    let by_command = stage.command("teach", &[("text", "We deploy on Mondays.")]).await;
    assert!(by_command.contains("It may contradict `") && by_command.contains("give the command again with `replaces: "), "{by_command}");
}

async fn what_is_old_unused_and_insignificant_is_archived(home: &Home) {
    let store = home.open().await;
    let old = noon() - TimeDelta::days(500);
    let memory = |id: &str, significance: f64| Memory {
        id: id.into(),
        significance,
        created_at: old,
        ..Memory::new(MemoryKind::Lesson, format!("lesson {id}"), MemorySource::WorkItem("i".into()), old)
    };
    let memories = [
        memory("unused", 0.4),
        memory("used", 0.4),
        memory("significant", 0.8),
        Memory { created_at: noon(), ..memory("new", 0.4) },
        Memory { kind: MemoryKind::Document, ..memory("document", 0.4) },
    ];
    store.record_memories(&memories).await.unwrap();
    store.record_used([&memories[1]], noon() - TimeDelta::days(2)).await.unwrap();
    assert_eq!(store.archive_memories_before(noon() - TimeDelta::days(400), 10).await.unwrap(), 1);
    let mut ended = Vec::new();
    for memory in &memories {
        if store.find_memory(&memory.id).await.unwrap().unwrap().ended_at.is_some() {
            ended.push(memory.id.to_string());
        }
    }
    assert_eq!(ended, ["unused"]);
}
