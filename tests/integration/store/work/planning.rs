use kernel::chat::outbound::OutboundMessage;
use kernel::db::sql;
use kernel::jobs::Paused;
use kernel::testing::jobs::ManualWorker;
use teamroom::features::backlog::model::{Execution, Urgency, Wait, WorkItem, WorkStatus, graph};
use teamroom::features::backlog::store::{ItemEdit, PLAN, Planned, REVIEW};
use teamroom::store::Store;

use super::{claim, done, end, find, for_persona, insert, item, last_event, needing, outcome, part_of, plan, status, try_claim, waits};
use crate::store::sample::{at, line};
use crate::store::{Home, on_both};

on_both!(
    the_planner_sees_what_is_new_and_decides_once_it_is_nobody_elses,
    what_waits_for_a_model_is_planned_again,
    an_item_that_the_planner_cannot_place_fails_with_those_that_need_it,
    a_parent_whose_parts_ended_before_it_was_planned_is_judged_at_once,
    ranks_are_written_where_they_changed,
    a_planned_item_is_ranked_with_what_it_waits_for_and_without_its_siblings,
    an_old_row_without_a_plan_is_planned,
    what_has_lost_its_job_gets_one,
    a_new_item_wakes_the_planner,
);

fn waiting_for_model() -> Planned<'static> {
    Planned { status: WorkStatus::Waiting, wait: Some(Wait::Model), note: Some("nobody can write it"), ..for_persona("vince") }
}

async fn unplanned(store: &Store) -> Vec<String> {
    store.list_unplanned(9).await.unwrap().into_iter().map(|item| item.what).collect()
}

async fn the_planner_sees_what_is_new_and_decides_once_it_is_nobody_elses(home: &Home) {
    let store = home.open().await;
    let (old, young) = (item("old", 0), item("young", 1));
    let after = needing("after", &[&old]);
    insert(&store, &[young.clone(), old.clone(), after.clone()]).await;
    assert_eq!(unplanned(&store).await.len(), 3);
    assert_eq!(store.list_unplanned(1).await.unwrap().len(), 1);
    let urgent = WorkItem { urgency: Urgency::Now, ..item("urgent", 2) };
    insert(&store, std::slice::from_ref(&urgent)).await;
    assert_eq!(unplanned(&store).await[0], "urgent");
    assert!(store.cancel_item(&urgent.id, "Ada", &[], at(2)).await.unwrap().is_some());
    let planned = Planned { note: Some("by rule"), ..for_persona("vince") };
    assert!(store.plan_item(&old.id, &planned, at(2)).await.unwrap());
    assert!(store.plan_item(&after.id, &planned, at(2)).await.unwrap());
    assert_eq!(unplanned(&store).await, ["young"]);
    let stored = find(&store, &old).await;
    assert_eq!((stored.status, stored.execution, stored.persona), (WorkStatus::Ready, Some(Execution::Research), Some("vince".into())));
    assert_eq!(last_event(&store, &old).await.note.as_deref(), Some("by rule"));
    assert_eq!(status(&store, &after).await, WorkStatus::Blocked);

    assert!(store.plan_item(&old.id, &for_persona("solus"), at(3)).await.unwrap(), "nobody works on it yet");
    let claimed = claim(&store).await;
    assert_eq!(claimed.item.persona, Some("solus".into()));
    assert!(!store.plan_item(&old.id, &for_persona("vince"), at(4)).await.unwrap(), "somebody does");
    end(&store, &claimed.job, waits(Wait::Answer { of: "Ada".into() })).await.unwrap();
    assert!(!store.plan_item(&old.id, &for_persona("vince"), at(4)).await.unwrap(), "it waits for a person");
    assert!(!store.plan_item(&"unknown".into(), &for_persona("vince"), at(4)).await.unwrap());
    for status in [WorkStatus::Done, WorkStatus::InProgress, WorkStatus::Waiting] {
        let impossible = Planned { status, wait: None, ..for_persona("vince") };
        assert!(!store.plan_item(&young.id, &impossible, at(4)).await.unwrap(), "{status:?}");
    }
}

async fn what_waits_for_a_model_is_planned_again(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    insert(&store, std::slice::from_ref(&made)).await;
    assert!(store.plan_item(&made.id, &waiting_for_model(), at(1)).await.unwrap());
    let steps = store.list_events(&made.id).await.unwrap().len();
    assert!(store.plan_item(&made.id, &waiting_for_model(), at(2)).await.unwrap());
    assert_eq!(store.list_events(&made.id).await.unwrap().len(), steps, "it waits on");
    let waiting = store.list_waiting().await.unwrap();
    assert_eq!((waiting.len(), waiting[0].wait.as_ref()), (1, Some(&Wait::Model)));
    assert!(try_claim(&store).await.is_none());
    assert!(store.plan_item(&made.id, &for_persona("vince"), at(3)).await.unwrap());
    assert_eq!(claim(&store).await.item.wait, None);
}

async fn an_item_that_the_planner_cannot_place_fails_with_those_that_need_it(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let top = needing("top", &[&base]);
    insert(&store, &[base.clone(), top.clone()]).await;
    let impossible = Planned { status: WorkStatus::Failed, note: Some("its owner has left"), ..for_persona("vince") };
    assert!(store.plan_item(&base.id, &impossible, at(1)).await.unwrap());
    assert_eq!(outcome(&store, &base).await, (WorkStatus::Failed, "its owner has left".into()));
    assert_eq!(status(&store, &top).await, WorkStatus::Failed);
}

async fn a_parent_whose_parts_ended_before_it_was_planned_is_judged_at_once(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let after = needing("after", &[&whole]);
    insert(&store, std::slice::from_ref(&whole)).await;
    plan(&store, &[part_of(&whole, "part"), after.clone()]).await;
    let claimed = claim(&store).await;
    assert!(end(&store, &claimed.job, done()).await.unwrap().parents.is_empty(), "the planner has not seen it");
    assert!(store.plan_item(&whole.id, &for_persona("vince"), at(30)).await.unwrap());
    assert_eq!(status(&store, &whole).await, WorkStatus::InReview);
    assert_eq!(status(&store, &after).await, WorkStatus::Blocked);
}

async fn ranks_are_written_where_they_changed(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let items = [base.clone(), needing("left", &[&base]), needing("right", &[&base]), item("alone", -3_600 * 24)];
    plan(&store, &items).await;
    let open = store.list_open_items().await.unwrap();
    let by_id = graph::ranks(&open);
    assert_eq!(store.rank_all().await.unwrap(), 0, "they were ranked when they were added");
    let urgent = ItemEdit { urgency: Some(Urgency::Now), ..ItemEdit::default() };
    assert!(store.edit_item(&items[1].id, &urgent, "Ada", at(1)).await.unwrap());
    assert_eq!(store.rank_all().await.unwrap(), 2, "and what it waits for");
    assert_eq!(store.rank_all().await.unwrap(), 0);
    store.set_ranks(&[("unknown".into(), by_id[&base.id])]).await.unwrap();
    assert!(by_id[&items[3].id] < by_id[&base.id], "older by a day");
    assert_eq!(claim(&store).await.item.what, "base", "urgent now");
}

/// The stored ranks by title, without the depth.
async fn ranks_of(store: &Store) -> Vec<(String, String)> {
    sql!(store.db().read(), fetch_all, "SELECT what, substr(rank, 1, length(rank) - 11) FROM work_items ORDER BY what").unwrap()
}

async fn a_planned_item_is_ranked_with_what_it_waits_for_and_without_its_siblings(home: &Home) {
    let store = home.open().await;
    let (whole, base, above) = (item("whole", 0), item("base", 0), item("above", 0));
    let above = WorkItem { depends_on: vec![whole.id.clone()], urgency: Urgency::Today, ..above };
    let mut parts: Vec<WorkItem> = (0..30).map(|number| part_of(&whole, &format!("part {number}"))).collect();
    parts[7].depends_on = vec![base.id.clone()];
    insert(&store, &[vec![whole.clone(), base.clone(), above], parts.clone()].concat()).await;
    store.rank_all().await.unwrap();

    let new = part_of(&whole, "new");
    insert(&store, std::slice::from_ref(&new)).await;
    assert_eq!(store.rank_items(std::slice::from_ref(&new.id)).await.unwrap(), 1, "only its own");
    let before = ranks_of(&store).await;
    store.rank_all().await.unwrap();
    assert_eq!(before, ranks_of(&store).await);

    // An urgent item makes everything urgent that it waits for: a part, and the items that the part needs.
    let urgent = WorkItem { urgency: Urgency::Now, depends_on: vec![parts[7].id.clone()], ..item("urgent", 0) };
    insert(&store, std::slice::from_ref(&urgent)).await;
    assert_eq!(store.rank_items(std::slice::from_ref(&urgent.id)).await.unwrap(), 3);
    let before = ranks_of(&store).await;
    let hurried: Vec<_> = before.iter().filter(|(_, rank)| rank.starts_with('0')).map(|(what, _)| what.as_str()).collect();
    assert_eq!(hurried, ["base", "part 7", "urgent"]);
    store.rank_all().await.unwrap();
    assert_eq!(before, ranks_of(&store).await);
    assert_eq!(store.rank_items(&[]).await.unwrap(), 0);
    assert_eq!(store.rank_items(&["unknown".into()]).await.unwrap(), 0);
}

async fn an_old_row_without_a_plan_is_planned(home: &Home) {
    let store = home.open().await;
    let old =
        "INSERT INTO work_items (id, kind, what, how, why, owner, urgency, priority, criteria, status, attempts, origin, cost, created_at,
                   updated_at)
               VALUES ('0000000000000000000000000000abcd', 'action', 'old', '', '', 'persona:vince', 'today', 2, '[]', 'new', 0,
                   '\"command_line\"', 0, '2026-11-20T12:00:00+00:00', '2026-11-20T12:00:00+00:00')";
    crate::store::opening::tamper(home, old).await;
    let item = store.list_unplanned(9).await.unwrap().remove(0);
    assert_eq!((item.execution.as_ref(), item.persona.as_ref(), item.run, item.evidence.len()), (None, None, 0, 0));
    assert!(store.plan_item(&item.id, &for_persona("vince"), at(1)).await.unwrap());
    assert_eq!(claim(&store).await.item.what, "old");
}

async fn what_has_lost_its_job_gets_one(home: &Home) {
    let store = home.open().await;
    let wait = |wait| WorkItem { status: WorkStatus::Waiting, wait: Some(wait), ..item("waits", 0) };
    let (review, decision) = (WorkItem { status: WorkStatus::InReview, ..item("review", 1) }, wait(Wait::Decision { why: "so".into() }));
    let asked = WorkItem { status: WorkStatus::InReview, ..item("asked", 1) };
    let [ready, running] =
        ["solus", "kelly"].map(|persona| WorkItem { status: WorkStatus::Ready, persona: Some(persona.into()), ..item(persona, 2) });
    let others = [wait(Wait::Answer { of: "decision".into() }), wait(Wait::Model), item("new", 0)];
    insert(&store, &[review.clone(), decision.clone(), asked.clone(), ready.clone(), running.clone()]).await;
    insert(&store, &others).await;
    assert!(store.enqueue_once(&OutboundMessage { id: asked.notice_id(), ..line("?") }, at(2)).await.unwrap());
    assert_eq!(store.enqueue_lost_items(at(3)).await.unwrap(), 0, "each has one");
    // Brings the rows into the state in which an earlier program left them.
    crate::store::opening::tamper(home, "DELETE FROM jobs").await;
    crate::store::opening::tamper(home, "UPDATE work_items SET job = NULL").await;
    let sql = format!("UPDATE work_items SET status = 'in_progress' WHERE id = '{}'", running.id);
    crate::store::opening::tamper(home, &sql).await;
    assert_eq!(store.enqueue_lost_items(at(3)).await.unwrap(), 4, "people were asked about one");
    assert_eq!(store.enqueue_lost_items(at(3)).await.unwrap(), 0);
    let (one, two) = (claim(&store).await, claim(&store).await);
    let mut claimed = [&one, &two].map(|held| (held.item.id.clone(), held.item.status, held.item.attempts));
    claimed.sort_by(|(id, ..), (other, ..)| id.cmp(other));
    assert_eq!(claimed, [(ready.id, WorkStatus::InProgress, 0), (running.id, WorkStatus::InProgress, 0)]);
    let worker = ManualWorker::start(store.database(), at(10)).await.unwrap();
    for _ in 0..2 {
        assert!(worker.claim(REVIEW, 9, &Paused::default(), at(10)).await.unwrap().is_some());
    }
    assert!(worker.claim(PLAN, 9, &Paused::default(), at(10)).await.unwrap().is_some());
}

/// A run that is just ending must not miss what was added meanwhile.
async fn a_new_item_wakes_the_planner(home: &Home) {
    let store = home.open().await;
    insert(&store, &[item("a", 0)]).await;
    let worker = ManualWorker::start(store.database(), at(10)).await.unwrap();
    let claim = async || worker.claim(PLAN, 9, &Paused::default(), at(10)).await.unwrap();
    let job = claim().await.expect("it is awake");
    insert(&store, &[item("b", 1)]).await;
    assert!(claim().await.is_none(), "there is one planner");
    worker.put_to_sleep(&job, at(9_999)).await.unwrap();
    let again = claim().await.expect("it does not sleep");
    worker.put_to_sleep(&again, at(9_999)).await.unwrap();
    assert!(claim().await.is_none());
    insert(&store, &[item("c", 2)]).await;
    assert!(claim().await.is_some());
}
