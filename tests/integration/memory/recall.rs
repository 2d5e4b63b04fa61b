//! The search in both databases, and memories that wait for a person's confirmation.

use chrono::TimeDelta;
use kernel::memory::store::{confirm_memory, save_memory};
use kernel::memory::{Memory, MemoryKind, MemorySource, Recall, Scope, Teacher};
use teamroom::store::Store;

use crate::store::sample::noon;
use crate::store::{Home, on_both};

on_both!(
    words_and_letters_find_what_is_meant,
    what_comes_from_outside_waits_for_a_person,
    taught_facts_come_first_whether_they_fit_or_not,
    near_duplicates_become_one,
    nothing_that_is_asked_breaks_the_search,
);

fn memory(text: &str) -> Memory {
    Memory::new(MemoryKind::Lesson, text, MemorySource::WorkItem("i".into()), noon())
}

fn fact(text: &str, by: &str) -> Memory {
    let taught_by = Some(Teacher { id: Some(by.into()), name: by.to_owned() });
    Memory { taught_by, significance: Memory::TAUGHT, ..Memory::new(MemoryKind::Fact, text, MemorySource::Command, noon()) }
}

async fn texts(store: &Store, subject: &str, scope: &Scope) -> Vec<String> {
    let found = store.recall(&Recall::new(subject, scope, 5).of(&"vince".into())).await.unwrap();
    found.into_iter().map(|memory| memory.text).collect()
}

async fn words_and_letters_find_what_is_meant(home: &Home) {
    let store = home.open().await;
    let mut memories: Vec<Memory> = (0..600)
        .map(|number| Memory {
            created_at: noon() - TimeDelta::minutes(number),
            ..memory(&format!("Case {number} of the ledger was closed by the clerk."))
        })
        .collect();
    let older = noon() - TimeDelta::days(300);
    for text in [
        "we deploy on Thursdays",
        "Der Urlaub wird im Januar geplant",
        "我们周四部署",
        "Релиз выкатываем по четвергам",
        "デプロイは木曜日です",
    ] {
        memories.push(Memory { created_at: older, significance: 0.1, ..memory(text) });
    }
    memories.push(Memory { place: Some("c1".into()), ..memory("the deploy key lies in the safe") });
    memories.push(Memory { persona: Some("kelly".into()), ..memory("deploy notes of Kelly") });
    store.record_memories(&memories).await.unwrap();
    for (question, expected) in [
        ("When are the deployments?", "we deploy on Thursdays"),
        ("Wann ist der Urlaub?", "Der Urlaub wird im Januar geplant"),
        ("什么时候部署?", "我们周四部署"),
        ("Когда выкатываем релиз?", "Релиз выкатываем по четвергам"),
        ("デプロイはいつですか", "デプロイは木曜日です"),
    ] {
        assert_eq!(texts(&store, question, &Scope::TEAM).await, [expected], "{question}");
    }
    let private = texts(&store, "deploy key", &Scope::private(Some("c1".into()))).await;
    assert_eq!(private[0], "the deploy key lies in the safe");
    assert!(!texts(&store, "deploy key", &Scope::private(Some("c2".into()))).await.contains(&private[0]));
    assert_eq!(texts(&store, "and what then?", &Scope::TEAM).await, Vec::<String>::new());
}

async fn what_comes_from_outside_waits_for_a_person(home: &Home) {
    let store = home.open().await;
    let held = Memory { held: true, tags: vec![Memory::OUTSIDE.into()], ..memory("The page says that herons deploy.") };
    store.record_memories(std::slice::from_ref(&held)).await.unwrap();
    assert_eq!(texts(&store, "do herons deploy?", &Scope::TEAM).await, Vec::<String>::new());
    assert!(store.list_lessons(&"vince".into(), 9).await.unwrap().is_empty() && store.list_learnt(9).await.unwrap().is_empty());
    let mut transaction = store.database().db().begin().await.unwrap();
    assert!(confirm_memory(&mut transaction, &held.id).await.unwrap());
    assert!(!confirm_memory(&mut transaction, &held.id).await.unwrap(), "once");
    transaction.commit().await.unwrap();
    assert_eq!(texts(&store, "do herons deploy?", &Scope::TEAM).await, std::slice::from_ref(&held.text));
    assert!(store.find_memory(&held.id).await.unwrap().unwrap().may_quote_outside(), "it still is text from outside");
}

async fn taught_facts_come_first_whether_they_fit_or_not(home: &Home) {
    let store = home.open().await;
    let memories = [memory("Herons eat fish."), fact("we deploy on Thursdays", "ann"), memory("The ledger is closed.")];
    store.record_memories(&memories).await.unwrap();
    let asked = Recall::new("what do herons eat?", &Scope::TEAM, 3);
    let told: Vec<String> = store.recall_for_prompt(&asked).await.unwrap().into_iter().map(|memory| memory.text).collect();
    assert_eq!(told, ["we deploy on Thursdays", "Herons eat fish."]);
}

async fn near_duplicates_become_one(home: &Home) {
    let store = home.open().await;
    let save = async |memory: &Memory| {
        let mut transaction = store.database().db().begin().await.unwrap();
        let kept = save_memory(&mut transaction, memory).await.unwrap();
        transaction.commit().await.unwrap();
        kept
    };
    let lesson = Memory { tags: vec![Memory::OUTSIDE.into()], held: true, ..memory("Latency doubles on Saturdays.") };
    let first = save(&lesson).await;
    assert_eq!(save(&memory("on Saturdays, the latency doubles")).await, first, "order and stop words do not count");
    assert_ne!(save(&memory("Latency doubles on Sundays.")).await, first);
    assert_ne!(save(&Memory { place: Some("c1".into()), ..memory("Latency doubles on Saturdays.") }).await, first);
    assert_eq!(save(&fact("Latency DOUBLES on Saturdays!", "ann")).await, first);
    let kept = store.find_memory(&first).await.unwrap().unwrap();
    assert_eq!((kept.text.as_str(), kept.kind, kept.held), ("Latency DOUBLES on Saturdays!", MemoryKind::Fact, false));
    assert!(!kept.may_quote_outside() && (kept.significance - Memory::TAUGHT).abs() < f64::EPSILON);
    assert_eq!(save(&memory("Saturdays: latency doubles")).await, first);
    assert_eq!(store.find_memory(&first).await.unwrap().unwrap().text, kept.text, "an agent does not reword what a person taught");
}

async fn nothing_that_is_asked_breaks_the_search(home: &Home) {
    let store = home.open().await;
    store.record_memories(&[memory("quotes \" and ' and * stay text")]).await.unwrap();
    for question in [
        "\"",
        "' OR 1=1 --",
        "NEAR(a b)",
        "quotes*",
        "a:b AND NOT c",
        "words : words",
        "\\",
        "' :* | &",
        "{x} (y",
        "\u{0}quotes",
        "🙂 quotes",
    ] {
        texts(&store, question, &Scope::TEAM).await;
    }
    assert_eq!(texts(&store, "quotes'\"*:&|!() text", &Scope::TEAM).await.len(), 1);
}
