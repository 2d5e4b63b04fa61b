//! Databases of versions before: what was noted in a direct conversation becomes private to it, everything else stays public, and words stay found.

use std::path::Path;

use kernel::memory::{Recall, Scope};
use secrecy::ExposeSecret;
use sqlx::migrate::Migrator;
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use crate::store::opening::tamper;
use crate::store::{Home, on_both};

on_both!(memories_of_a_direct_conversation_become_private_to_it, what_was_indexed_before_is_still_found);

async fn memories_of_a_direct_conversation_become_private_to_it(home: &Home) {
    let home = &home.empty().await;
    migrate_to(home, 20).await;
    let at = "'2026-11-21T12:00:00+00:00'";
    let message = |id: &str, place: &str| {
        format!(
            r#"INSERT INTO inbox (id, channel, message, complete, sent_at, claimed_at) VALUES ('{id}', 'c-{id}',
               '{{"id":"{id}","channel":{{"id":"c-{id}","name":"","place":"{place}"}}}}', {}, {at}, {at});"#,
            if home.url.expose_secret().starts_with("sqlite:") { "1" } else { "TRUE" }
        )
    };
    let memory = |id: &str, text: &str, tags: &str, source: &str| {
        format!(
            "INSERT INTO memories (id, kind, persona, text, tags, significance, source, created_at)
             VALUES ('{id}', 'lesson', NULL, '{text}', '{tags}', 0.4, '{source}', {at});"
        )
    };
    let rows = [
        message("m1", "direct"),
        message("m2", "server"),
        memory("a", "the ring is gold", "[]", r#"{"message":"m1"}"#),
        memory("b", "the ring road is closed", "[]", r#"{"message":"m2"}"#),
        memory("c", "the ring of message three", "[]", r#"{"message":"m3"}"#),
        memory("d", "the ring at the standup", "[]", r#"{"meeting":"x"}"#),
        memory("learnt-e", "the ring on the web", r#"["outside"]"#, r#"{"work_item":"i"}"#),
    ];
    tamper(home, &rows.concat()).await;
    let store = home.open().await;
    let find = async |scope: &Scope| {
        let asked = Recall::new("ring", scope, 9);
        let mut ids: Vec<String> = store.recall(&asked).await.unwrap().into_iter().map(|memory| memory.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(find(&Scope::TEAM).await, ["b", "c", "d"], "words are derived for what there was");
    assert_eq!(find(&Scope::private(Some("c-m1".into()))).await, ["a", "b", "c", "d"]);
    let held = store.find_memory(&"learnt-e".into()).await.unwrap().unwrap();
    assert!(held.held);
    assert_eq!(store.find_memories(&held.short_id(), &Scope::TEAM).await.unwrap(), [held]);
}

async fn what_was_indexed_before_is_still_found(home: &Home) {
    let home = &home.empty().await;
    migrate_to(home, 36).await;
    // Without a vector it is found by its words alone.
    let row = "INSERT INTO memories (id, kind, text, tags, significance, source, created_at, words)
        VALUES ('a', 'lesson', 'the ring is gold', '[]', 0.4, '{\"meeting\":\"x\"}', '2026-11-21T12:00:00+00:00', 'the ring is gold')";
    tamper(home, row).await;
    let store = home.open().await;
    let found = store.recall(&Recall::new("ring", &Scope::TEAM, 9)).await.unwrap();
    assert_eq!(found.len(), 1);
}

/// Runs all migrations up to one.
async fn migrate_to(home: &Home, last: i64) {
    let url = home.url.expose_secret();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    if let Some(file) = url.strip_prefix("sqlite:") {
        std::fs::write(file, b"").unwrap();
        let migrator = Migrator::new(root.join("sqlite")).await.unwrap();
        migrator.run_to(last, &mut SqliteConnection::connect(url).await.unwrap()).await.unwrap();
    } else {
        let migrator = Migrator::new(root.join("postgres")).await.unwrap();
        migrator.run_to(last, &mut PgConnection::connect(url).await.unwrap()).await.unwrap();
    }
}
