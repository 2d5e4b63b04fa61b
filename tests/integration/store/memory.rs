use kernel::memory::{Memory, MemoryKind};

use super::sample::{at, lesson};
use super::{Home, on_both};

on_both!(a_persona_is_told_its_own_lessons_and_the_teams, a_memory_ends_once, memories_are_stored_once);

async fn a_persona_is_told_its_own_lessons_and_the_teams(home: &Home) {
    let store = home.open().await;
    let made = |text: &str, persona: Option<&str>, significance, seconds| Memory {
        persona: persona.map(Into::into),
        significance,
        created_at: at(seconds),
        ..lesson(text)
    };
    let memories = [
        made("older", None, 0.5, 1),
        made("newer", Some("vince"), 0.5, 2),
        made("most significant", None, 0.9, 0),
        made("of somebody else", Some("echo"), 1.0, 3),
        Memory { kind: MemoryKind::Disagreement, ..made("no lesson", None, 1.0, 3) },
        Memory { ended_at: Some(at(4)), ..made("refuted", None, 1.0, 3) },
    ];
    store.record_memories(&memories).await.unwrap();
    let lessons = store.list_lessons(&"vince".into(), 9).await.unwrap();
    assert_eq!(lessons, [memories[2].clone(), memories[1].clone(), memories[0].clone()]);
    assert_eq!(store.list_lessons(&"vince".into(), 1).await.unwrap(), [memories[2].clone()]);
    assert_eq!(store.list_lessons(&"kelly".into(), 9).await.unwrap().len(), 2);
    let learnt: Vec<_> = store.list_learnt(4).await.unwrap().into_iter().map(|lesson| lesson.text).collect();
    assert_eq!((learnt.len(), &learnt[2..]), (4, &["newer".to_owned(), "older".to_owned()][..]), "everybody's, the newest first");
}

async fn a_memory_ends_once(home: &Home) {
    let store = home.open().await;
    let memory = lesson("Latency follows traffic.");
    assert!(!store.end_memory(&memory.id, at(1)).await.unwrap(), "there is none");
    store.record_memories(std::slice::from_ref(&memory)).await.unwrap();
    assert!(store.end_memory(&memory.id, at(1)).await.unwrap());
    assert!(!store.end_memory(&memory.id, at(2)).await.unwrap());
    assert!(store.list_lessons(&"vince".into(), 9).await.unwrap().is_empty());
}

async fn memories_are_stored_once(home: &Home) {
    let store = home.open().await;
    let memory = lesson("Latency\0 follows traffic.");
    store.record_memories(std::slice::from_ref(&memory)).await.unwrap();
    store.record_memories(&[Memory { text: "changed".into(), ..memory.clone() }]).await.unwrap();
    store.close().await;
    let lessons = home.open().await.list_lessons(&"vince".into(), 9).await.unwrap();
    assert_eq!(lessons, [Memory { text: "Latency follows traffic.".into(), ..memory }]);
}
