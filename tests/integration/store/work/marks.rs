//! Texts with marks come back from the database as they went in.

use std::collections::HashMap;

use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;

use super::{insert, item};
use crate::store::{Home, on_both};
use crate::support::long::{amount, random};

on_both!(texts_with_marks_come_back_as_they_went_in);

const MARKS: &str = "abcz09_*~|\\[](){}<>#.=+&$!-'\"`;%@ äß→😀";
const AT_ONCE: usize = 500;

async fn texts_with_marks_come_back_as_they_went_in(home: &Home) {
    let store = home.open().await;
    let (mut chance, marks) = (random(), MARKS.chars().collect::<Vec<_>>());
    let mut text = || -> String {
        let drawn: String = (0..chance.usize(1..60)).map(|_| marks[chance.usize(..marks.len())]).collect();
        format!("a{drawn}z")
    };
    let all = amount("TEAMROOM_TEST_TEXTS", 1000, 10_000);
    let items: Vec<WorkItem> =
        (0..all).map(|_| WorkItem { how: text(), why: text(), said: text(), criteria: vec![text()], ..item(&text(), 0) }).collect();
    for some in items.chunks(AT_ONCE) {
        insert(&store, some).await;
    }
    let filter = ItemFilter { statuses: &WorkStatus::ALL, owner: None, scope: None, limit: u32::MAX / 2 };
    let read = store.list_items(&filter).await.unwrap();
    let read: HashMap<_, _> = read.into_iter().map(|item| (item.id.clone(), item)).collect();
    assert_eq!(read.len(), all);
    for item in &items {
        let read = &read[&item.id];
        assert_eq!((&read.what, &read.how, &read.why), (&item.what, &item.how, &item.why));
        assert_eq!((&read.said, &read.criteria), (&item.said, &item.criteria));
    }
}
