//! Lessons of items, for people and later prompts.

use std::sync::Arc;
use std::time::Instant;

use chrono::TimeDelta;
use kernel::ids::MemoryId;
use kernel::llm::budget::Budgets;
use kernel::memory::{Memory, MemoryKind, MemorySource, Recall, Scope};
use teamroom::features::backlog::learning::{ItemEnd, Learnings, memory_of};
use teamroom::features::backlog::model::{Execution, WorkItem};

use super::stage::{SECRET, Stage, item, now, product};
use crate::store::{Home, on_both};

on_both!(
    a_lesson_is_stored_once_and_found_by_its_subject,
    the_file_follows_the_store,
    ended_lessons_stay_readable_and_are_told_to_nobody,
    approaches_of_the_same_persona_come_first_and_private_ones_stay_in_their_place,
);

async fn a_lesson_is_stored_once_and_found_by_its_subject(home: &Home) {
    let stage = Stage::new(home).await;
    let made = item(Execution::Research);
    let product = product(&[]);
    let memory = memory_of(&made, &ItemEnd::Done { product: Some(&product), evidence: &[] }, &[], now());
    stage.store.record_memories(&[memory.clone(), memory.clone()]).await.unwrap();
    stage.store.record_memories(std::slice::from_ref(&memory)).await.unwrap();
    let told = find(&stage, "What do scanners cost, at which prices?", "vince").await;
    assert_eq!(told, [memory]);
    assert_eq!(find(&stage, "prices of scanners", "kelly").await, [], "it is Vince's");
    assert_eq!(find(&stage, "rooms for Friday", "vince").await, []);
}

async fn the_file_follows_the_store(home: &Home) {
    let stage = Stage::new(home).await;
    let path = stage.directory.path().join("reports").join("learnings.md");
    let learnings = Learnings::new(Arc::new(stage.agents(None, Budgets::default())), path.clone());
    learnings.keep_up().await;
    assert!(std::fs::read_to_string(&path).unwrap().contains("Nothing yet."));
    let failed = |what: &str| {
        let item = WorkItem { what: what.into(), ..item(Execution::Write) };
        memory_of(&item, &ItemEnd::Failed { why: &format!("the key {SECRET} was refused") }, &[], now())
    };
    stage.store.record_memories(&[failed("Write the plan")]).await.unwrap();
    std::fs::write(&path, "of somebody else").unwrap();
    learnings.keep_up().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("vince, active: Write the plan: failed, the key [redacted] was refused"), "{text}");

    std::fs::write(&path, "kept").unwrap();
    learnings.keep_up().await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept", "nothing new, nothing written");
    std::fs::remove_file(&path).unwrap();
    learnings.keep_up().await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it was gone");

    // Of two memories made at the same time, the older one may be stored second.
    let older = Memory { created_at: now() - TimeDelta::milliseconds(3), ..failed("Sign the lease") };
    stage.store.record_memories(std::slice::from_ref(&older)).await.unwrap();
    learnings.keep_up().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("vince, active: Sign the lease"), "{text}");
    stage.store.end_memory(&older.id, now()).await.unwrap();
    learnings.keep_up().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("vince, ended: Sign the lease"), "{text}");

    // The store is closed, so the old file stays.
    stage.store.close().await;
    learnings.keep_up().await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

async fn ended_lessons_stay_readable_and_are_told_to_nobody(home: &Home) {
    let stage = Stage::new(home).await;
    let memory = memory_of(&item(Execution::Write), &ItemEnd::Failed { why: "nobody answered" }, &[], now());
    stage.store.record_memories(std::slice::from_ref(&memory)).await.unwrap();
    assert!(stage.store.end_memory(&memory.id, now()).await.unwrap());
    assert_eq!(find(&stage, "prices of scanners", "vince").await, []);
    assert_eq!(stage.store.list_learnt(9).await.unwrap(), [Memory { ended_at: Some(now()), ..memory }]);
}

async fn approaches_of_the_same_persona_come_first_and_private_ones_stay_in_their_place(home: &Home) {
    let stage = Stage::new(home).await;
    let approach = |id: &str, persona: &str, minutes: i64| Memory {
        id: id.into(),
        persona: Some(persona.into()),
        ..Memory::new(
            MemoryKind::Approach,
            format!("Compare prices of scanners. Pages cited: {id}.example."),
            MemorySource::WorkItem("i".into()),
            now() - TimeDelta::minutes(minutes),
        )
    };
    let memories = [
        approach("own", "vince", 9),
        approach("of-kelly", "kelly", 1),
        approach("of-eliza", "eliza", 2),
        Memory { place: Some("c1".into()), ..approach("private", "vince", 3) },
        Memory { ended_at: Some(now()), ..approach("ended", "vince", 4) },
    ];
    stage.store.record_memories(&memories).await.unwrap();
    let found = async |subject: &str, scope: Scope, persona: &str| -> Vec<String> {
        let found = stage.store.recall_approaches(subject, &scope, &persona.into()).await.unwrap();
        found.into_iter().map(|memory| memory.id.to_string()).collect()
    };
    let subject = "Compare the prices of two scanners";
    let team = found(subject, Scope::TEAM, "vince").await;
    assert!(team.len() == 2 && team[0] == "own" && team[1].starts_with("of-"), "{team:?}");
    assert_eq!(found(subject, Scope::private(Some("c1".into())), "vince").await, ["private", "own"]);
    assert_eq!(found("Book a room for Friday", Scope::TEAM, "vince").await, Vec::<String>::new());
    assert_eq!(find(&stage, subject, "vince").await, [], "they are no lessons");
    // Like lessons, old memories that were never recalled are archived.
    assert_eq!(stage.store.archive_memories_before(now() - TimeDelta::minutes(5), 9).await.unwrap(), 1);
    let mut left = found(subject, Scope::TEAM, "vince").await;
    left.sort_unstable();
    assert_eq!(left, ["of-eliza", "of-kelly"]);
}

#[tokio::test]
async fn among_ten_thousand_lessons_those_on_the_subject_are_found_at_once() {
    let stage = Stage::on_sqlite().await;
    let words = ["queue", "latency", "deployment", "invoice", "shop", "scanner", "price", "customer", "branch", "release"];
    let lesson = |index: i64, text: String| Memory {
        id: MemoryId::new(format!("m{index}")),
        significance: 0.4,
        ..Memory::new(MemoryKind::Lesson, text, MemorySource::WorkItem("i".into()), now() - TimeDelta::minutes(index))
    };
    let word = |index: i64| words[usize::try_from(index).unwrap() % words.len()];
    let mut lessons: Vec<Memory> = (0..10_000)
        .map(|index| {
            lesson(
                index,
                format!("The {} depends on the {} of case {index}, as was seen when it was tried.", word(index), word(index / 10)),
            )
        })
        .collect();
    lessons[700].text = "A heron at the weir says that the water is clean.".into();
    stage.store.record_memories(&lessons).await.unwrap();
    let began = Instant::now();
    let told = find(&stage, "Is there a heron at the weir?", "vince").await;
    let took = began.elapsed();
    println!("one of 10,000 lessons was found in {took:?}");
    assert_eq!(told.iter().map(|lesson| lesson.id.as_str()).collect::<Vec<_>>(), ["m700"]);
    // Far above the usual time, for busy machines and debug builds.
    assert!(took.as_secs() < 5, "{took:?}");
}

/// The lessons on a subject that a persona gets.
async fn find(stage: &Stage, subject: &str, persona: &str) -> Vec<Memory> {
    stage.store.recall(&Recall::new(subject, &Scope::TEAM, 5).of(&persona.into())).await.unwrap()
}
