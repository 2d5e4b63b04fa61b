//! Many new items are planned with a few statements. The result must be the same as planning them one by one.

use kernel::db::sql;
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{ItemEdit, Planned};
use teamroom::store::Store;

use super::{claim, end, failed, for_persona, insert, item, needing, part_of, plan};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(items_planned_together_end_up_as_those_planned_one_by_one);

/// Everything that planning writes, without ids, which differ from store to store.
async fn written(store: &Store) -> Vec<String> {
    type Row = (String, String, Option<String>, Option<String>, String, Option<String>);
    let rows: Vec<Row> = sql!(
        store.db().read(),
        fetch_all,
        "SELECT what, status || ' ' || CAST(criteria_drafted AS TEXT), execution, persona, criteria, wait FROM work_items ORDER BY what"
    )
    .unwrap();
    let jobs: Vec<(String, String, Option<String>, String)> = sql!(
        store.db().read(),
        fetch_all,
        "SELECT work_items.what, jobs.kind || ' ' || jobs.state, jobs.queue, substr(jobs.priority, 1, 40)
         FROM work_items JOIN jobs ON jobs.id = work_items.job ORDER BY work_items.what"
    )
    .unwrap();
    let order: Vec<(String,)> = sql!(
        store.db().read(),
        fetch_all,
        "SELECT work_items.what FROM work_items JOIN jobs ON jobs.id = work_items.job WHERE jobs.kind = 'item.run' ORDER BY jobs.id"
    )
    .unwrap();
    let events: Vec<(String, String, String)> = sql!(
        store.db().read(),
        fetch_all,
        "SELECT work_items.what, events.kind, events.payload FROM events JOIN work_items ON work_items.id = events.subject
         WHERE events.topic = 'item' ORDER BY work_items.what, events.position"
    )
    .unwrap();
    let rows = rows.into_iter().map(|row| format!("{row:?}")).chain(jobs.into_iter().map(|row| format!("{row:?}")));
    rows.chain([format!("{order:?}")]).chain(events.into_iter().map(|row| format!("{row:?}"))).collect()
}

/// All kinds of items that the planner meets, and its decisions on them.
async fn prepared(store: &Store) -> Vec<(WorkItem, Planned<'static>)> {
    let (lost, base) = (item("lost", -9), item("base", -8));
    plan(store, std::slice::from_ref(&lost)).await;
    let claimed = claim(store).await;
    end(store, &claimed.job, failed()).await.expect("it is held");
    insert(store, std::slice::from_ref(&base)).await;
    let (whole, empty) = (item("whole", 0), item("a whole of lost parts", 0));
    let given = WorkItem { criteria: vec!["It is green".into()], execution: Some(Execution::Write), ..item("given", 1) };
    let named = WorkItem { owner: Owner::Person { id: "7".into(), name: "Ann".into() }, ..item("for a person", 2) };
    let edited = item("edited", 3);
    let mut items = vec![
        whole.clone(),
        part_of(&whole, "part one"),
        part_of(&whole, "part two"),
        needing("needs the base", &[&base]),
        empty.clone(),
        given,
        named,
        edited.clone(),
        item("waits for a model", 4),
        item("waits for its kind", 5),
        item("waits for a decision", 6),
        item("unclear", 7),
        item("it's \"quoted\" — 修理\u{0}", 8),
    ];
    items.extend((0..20).map(|number| item(&format!("alone {number:02}"), 30 + number)));
    insert(store, &items).await;
    // This item needs an item that failed, but did not fail with it. Older databases have such items.
    let late = needing("needs what is lost", &[&base]);
    insert(store, std::slice::from_ref(&late)).await;
    let sql = format!("UPDATE work_dependencies SET needs = '{}' WHERE item = '{}'", lost.id, late.id);
    sqlx_raw(store, &sql).await;
    assert!(store.edit_item(&edited.id, &ItemEdit { why: Some("because"), ..ItemEdit::default() }, "Ada", at(2)).await.unwrap());
    items.push(late);
    items.push(base);
    let decided = |item: &WorkItem| {
        let ready =
            Planned { criteria: vec!["It is there".into(), "It is \"good\"".into()], note: Some("by rule"), ..for_persona("vince") };
        let waiting = |wait| Planned { status: WorkStatus::Waiting, wait: Some(wait), execution: None, ..for_persona("solus") };
        match item.what.as_str() {
            "waits for a model" => waiting(Wait::Model),
            "waits for its kind" => waiting(Wait::Kind { of: None }),
            "waits for a decision" => waiting(Wait::Decision { why: "it is unclear".into() }),
            "whole" => Planned { status: WorkStatus::Waiting, wait: Some(Wait::Model), ..ready },
            "unclear" => Planned { status: WorkStatus::Failed, note: Some("nobody can do it"), ..ready },
            "given" => Planned { execution: None, ..ready },
            what if what.starts_with("alone 1") => for_persona("eliza"),
            _ => ready,
        }
    };
    items.into_iter().map(|item| (item.clone(), decided(&item))).collect()
}

async fn sqlx_raw(store: &Store, sql: &str) {
    use kernel::db::Backend;
    use sqlx::{AssertSqlSafe, Executor};
    match store.db().write().unwrap() {
        Backend::Sqlite(pool) => drop(pool.execute(AssertSqlSafe(sql.to_owned())).await.unwrap()),
        Backend::Postgres(pool) => drop(pool.execute(AssertSqlSafe(sql.to_owned())).await.unwrap()),
    }
}

async fn items_planned_together_end_up_as_those_planned_one_by_one(home: &Home) {
    let other = home.empty().await;
    let (one_by_one, together) = (home.open().await, other.open().await);
    // An item that no longer exists does no harm, nor one that is named twice.
    let with_oddities = |plans: Vec<(WorkItem, Planned<'static>)>| {
        let mut plans: Vec<_> = plans.into_iter().map(|(item, plan)| (item.id, plan)).collect();
        let again = plans[20].clone();
        plans.extend([("gone".into(), for_persona("vince")), again]);
        plans
    };
    let mut count = 0;
    for (item, plan) in with_oddities(Box::pin(prepared(&one_by_one)).await) {
        count += usize::from(one_by_one.plan_item(&item, &plan, at(5)).await.unwrap());
    }
    let plans = with_oddities(Box::pin(prepared(&together)).await);
    assert_eq!(together.plan_items(&plans, at(5)).await.unwrap(), count);
    let (one_by_one, together) = (written(&one_by_one).await, written(&together).await);
    assert_eq!(one_by_one.len(), together.len());
    for (one, other) in one_by_one.iter().zip(&together) {
        assert_eq!(one, other);
    }
    let all = one_by_one.join("\n");
    for status in ["ready", "blocked", "waiting", "failed"] {
        assert!(all.contains(&format!(", \"{status} ")), "some are {status}: {all}");
    }
}
