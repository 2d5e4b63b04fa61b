//! A row that cannot be read costs that row. It is named once, and nothing decides by half of it.

use std::time::Duration;

use kernel::db::UnreadableRow;
use kernel::memory::Memory;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::store::{ItemFilter, KanbanFilter};
use teamroom::store::Store;

use super::opening::{count, tamper};
use super::sample::{at, decided, general, item, lesson, line, message, turn};
use super::{Home, on_both};

on_both!(
    lists_leave_out_the_row_that_cannot_be_read,
    a_row_that_was_repaired_is_no_longer_named,
    a_process_that_changes_nothing_names_no_row
);

/// Waits until `count` rows are named.
async fn named(store: &Store, count: usize) -> Vec<UnreadableRow> {
    loop {
        let rows = store.list_unreadable().await.unwrap();
        if rows.len() >= count {
            return rows;
        }
        tokio::task::yield_now().await;
    }
}

async fn lists_leave_out_the_row_that_cannot_be_read(home: &Home) {
    let store = home.open().await;
    let items = [item("spoilt", 1), item("sound", 2)];
    store.insert_items(&items, at(3)).await.unwrap();
    let memories = [lesson("spoilt"), Memory { created_at: at(70), ..lesson("sound") }];
    store.record_memories(&memories).await.unwrap();
    let lines = [line("spoilt"), line("sound")];
    store.enqueue(&lines, at(4)).await.unwrap();
    decided(&store, "m1", &[turn("m1", "vince")]).await;
    for id in ["m2", "m3"] {
        store.claim(&message(id, "and this?", 5), at(5)).await.unwrap();
    }
    let (spoilt_item, spoilt_memory, spoilt_line) = (items[0].id.as_str(), memories[0].id.as_str(), lines[0].id.as_str());
    tamper(home, &format!("UPDATE work_items SET evidence = 'no JSON' WHERE id = '{spoilt_item}'")).await;
    tamper(home, &format!("UPDATE memories SET source = '{{\"comet\":1}}' WHERE id = '{spoilt_memory}'")).await;
    tamper(home, &format!("UPDATE outbox SET message = '{{}}' WHERE id = '{spoilt_line}'")).await;
    tamper(home, "UPDATE inbox SET message = '{}' WHERE id = 'm2'").await;
    tamper(home, "UPDATE turns SET state = 'dreaming' WHERE message = 'm1'").await;

    for _ in 0..2 {
        let cards = store.list_cards_by_rank(WorkStatus::New, &KanbanFilter::default(), 9).await.unwrap();
        assert_eq!(cards.iter().map(|card| card.what.as_str()).collect::<Vec<_>>(), ["sound"]);
        let listed = store.list_items(&ItemFilter::open(9)).await.unwrap();
        assert_eq!(listed, [items[1].clone()]);
        assert_eq!(store.list_lessons(&"vince".into(), 9).await.unwrap(), [memories[1].clone()]);
        // The sound line does not overtake the other one.
        assert!(store.next_pending(&general().id, at(9)).await.is_err());
        let undecided = store.list_undecided(None).await.unwrap();
        assert_eq!(undecided.iter().map(|row| row.message.id.as_str()).collect::<Vec<_>>(), ["m3"]);
        let spoken = store.list_spoken(&general().id, 9).await.unwrap();
        assert!(spoken.iter().any(|line| line.text == "and this?") && spoken.iter().any(|line| line.text == "sound"), "{spoken:?}");
        assert!(store.list_open_turns().await.unwrap().is_empty());
    }
    let row = |table: &str, id: &str| UnreadableRow { table: table.to_owned(), id: id.to_owned() };
    let rows = named(&store, 5).await;
    for expected in [row("work_items", spoilt_item), row("memories", spoilt_memory), row("outbox", spoilt_line), row("inbox", "m2")] {
        assert!(rows.contains(&expected), "{expected:?} in {rows:?}");
    }
    assert_eq!(rows.len(), 5, "each once: {rows:?}");
    // What decides by one row has its error, and the row stays as it is.
    assert!(store.find_item(&items[0].id).await.is_err() && store.find_message(&"m2".into()).await.is_err());
    assert_eq!(count(home, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await, 2);
}

async fn a_row_that_was_repaired_is_no_longer_named(home: &Home) {
    let store = home.open().await;
    decided(&store, "m1", &[]).await;
    store.insert_items(&[item("spoilt", 1)], at(3)).await.unwrap();
    tamper(home, "UPDATE work_items SET urgency = 'someday'").await;
    assert!(store.list_waiting().await.unwrap().is_empty() && store.list_open_items().await.unwrap().is_empty());
    named(&store, 1).await;
    store.close().await;
    tamper(home, "UPDATE work_items SET urgency = 'today'").await;
    let store = home.open().await;
    assert_eq!(store.list_open_items().await.unwrap().len(), 1);
    assert!(store.list_unreadable().await.unwrap().is_empty());
}

async fn a_process_that_changes_nothing_names_no_row(home: &Home) {
    let store = home.open().await;
    store.insert_items(&[item("spoilt", 1)], at(3)).await.unwrap();
    tamper(home, "UPDATE work_items SET urgency = 'someday'").await;
    let look = Store::open_as_it_is(&home.url, at(5)).await.unwrap();
    assert!(look.list_open_items().await.unwrap().is_empty());
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(store.list_unreadable().await.unwrap().is_empty());
}
