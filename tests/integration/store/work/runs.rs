use std::collections::HashSet;

use kernel::agent::halts::HaltScope;
use kernel::ids::ApprovalId;
use kernel::jobs::{JobContext, Paused};
use kernel::testing::jobs::ManualWorker;
use kernel::tools::approval::{Approval, ApprovalState, Risk};
use teamroom::features::backlog::model::{Claim, JournalEntry, Product, Rank, Urgency, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, RUN};
use teamroom::store::Store;

use super::{claim, claim_at, done, end, find, for_persona, insert, item, last_event, plan, posts, try_claim};
use crate::store::sample::{at, line};
use crate::store::{Home, on_both};

on_both!(
    a_claim_takes_the_first_by_rank_and_marks_it,
    a_persona_does_one_thing_at_a_time_and_a_busy_one_is_passed_over,
    no_more_are_in_progress_than_may_be,
    nothing_is_claimed_before_its_time,
    who_is_halted_is_passed_over,
    of_many_workers_at_once_one_claims_each_item,
    an_item_is_taken_back_from_a_dead_worker_once,
    an_item_that_kills_its_workers_waits_for_a_person,
    an_end_that_is_no_crash_forgives_the_crashes,
    of_items_that_ran_together_none_is_to_blame,
    every_write_under_a_lost_job_is_refused,
    a_journal_is_kept_for_each_run,
    a_product_outlives_its_worker,
    items_in_progress_count_as_open_work,
);

async fn a_claim_takes_the_first_by_rank_and_marks_it(home: &Home) {
    let store = home.open().await;
    let items = [item("a", 0), item("b", 0), item("c", 0), item("d", 0), item("e", 0)];
    plan(&store, &items).await;
    let rank = |urgency, day: &str, waited_for, depth| Rank {
        urgency,
        due: Rank::NEVER,
        day: day.parse().unwrap(),
        waited_for: std::cmp::Reverse(waited_for),
        depth,
    };
    let ranks = [
        rank(Urgency::Today, "2026-11-20", 9, 0),
        rank(Urgency::Now, "2026-11-21", 9, 1),
        rank(Urgency::Now, "2026-11-20", 0, 3),
        rank(Urgency::Now, "2026-11-20", 10, 7),
        rank(Urgency::Now, "2026-11-20", 0, 2),
    ];
    let ranked: Vec<_> = items.iter().map(|item| item.id.clone()).zip(ranks).collect();
    store.set_ranks(&ranked).await.unwrap();
    let mut order = Vec::new();
    while order.len() < items.len() {
        let claimed = claim(&store).await;
        order.push(claimed.item.what.clone());
        end(&store, &claimed.job, done()).await.unwrap();
    }
    assert_eq!(order, ["d", "e", "c", "b", "a"]);

    let next = item("f", 0);
    plan(&store, std::slice::from_ref(&next)).await;
    let claimed = claim(&store).await;
    assert_eq!((claimed.item.status, &claimed.product, claimed.job.job().token), (WorkStatus::InProgress, &None, 1));
    assert_eq!(find(&store, &next).await, claimed.item, "as it is after the claim");
    let event = last_event(&store, &next).await;
    assert_eq!((event.from, event.to, event.at), (Some(WorkStatus::Ready), WorkStatus::InProgress, at(10)));
    assert_eq!(event.note, None, "the first try is nothing to note");
}

async fn a_persona_does_one_thing_at_a_time_and_a_busy_one_is_passed_over(home: &Home) {
    let store = home.open().await;
    let (first, second, other) = (item("first", 0), item("second", 1), item("other", 2));
    insert(&store, &[first.clone(), second.clone(), other.clone()]).await;
    for (item, persona) in [(&first, "vince"), (&second, "vince"), (&other, "solus")] {
        assert!(store.plan_item(&item.id, &for_persona(persona), at(1)).await.unwrap());
    }
    let vinces = claim(&store).await;
    assert_eq!(vinces.item.what, "first");
    assert_eq!(claim(&store).await.item.what, "other");
    assert!(try_claim(&store).await.is_none(), "both are busy");
    end(&store, &vinces.job, done()).await.unwrap();
    assert_eq!(claim(&store).await.item.what, "second");
}

async fn no_more_are_in_progress_than_may_be(home: &Home) {
    let store = home.open().await;
    for number in 0..4 {
        let made = item("work", number);
        insert(&store, std::slice::from_ref(&made)).await;
        store.plan_item(&made.id, &for_persona(&format!("persona-{number}")), at(1)).await.unwrap();
    }
    let mut claimed = Vec::new();
    while let Some(next) = claim_at(&store, 2, at(10)).await {
        claimed.push(next);
    }
    assert_eq!(claimed.len(), 2);
}

async fn nothing_is_claimed_before_its_time(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("later", 0), item("now", 1)]).await;
    let later = claim(&store).await;
    end(&store, &later.job, End::Later { at: at(100), why: "not yet".into() }).await.unwrap();
    let now = claim(&store).await;
    assert_eq!(now.item.what, "now");
    end(&store, &now.job, done()).await.unwrap();
    assert!(claim_at(&store, 3, at(99)).await.is_none());
    let claimed = claim_at(&store, 3, at(100)).await.unwrap();
    assert_eq!((claimed.item.what.as_str(), claimed.item.run, claimed.item.attempts, claimed.item.not_before), ("later", 0, 0, None));
}

async fn who_is_halted_is_passed_over(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("first", 0)]).await;
    let other = item("other", 5);
    insert(&store, std::slice::from_ref(&other)).await;
    store.plan_item(&other.id, &for_persona("solus"), at(1)).await.unwrap();
    let paused = HaltScope::Persona("vince".into());
    store.halt(&paused, "Ada", at(2)).await.unwrap();
    store.halt(&HaltScope::All, "Ada", at(2)).await.unwrap();
    assert!(try_claim(&store).await.is_none(), "the team is halted");
    store.resume(&HaltScope::All).await.unwrap();
    assert_eq!(claim(&store).await.item.what, "other");
    store.resume(&paused).await.unwrap();
    assert_eq!(claim(&store).await.item.what, "first");
}

async fn of_many_workers_at_once_one_claims_each_item(home: &Home) {
    let store = home.open().await;
    for number in 0..24 {
        let made = item(&format!("work {number}"), number);
        insert(&store, std::slice::from_ref(&made)).await;
        store.plan_item(&made.id, &for_persona(&format!("persona-{}", number % 12)), at(1)).await.unwrap();
    }
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                while let Some(next) = claim_at(&store, 100, at(10)).await {
                    claimed.push(next);
                }
                claimed
            })
        })
        .collect();
    let mut claimed = Vec::new();
    for worker in workers {
        claimed.extend(worker.await.unwrap());
    }
    let items: HashSet<_> = claimed.iter().map(|claimed| &claimed.item.id).collect();
    let personas: HashSet<_> = claimed.iter().map(|claimed| &claimed.item.persona).collect();
    assert_eq!((claimed.len(), items.len(), personas.len()), (12, 12, 12), "no item twice, and each persona once");
}

async fn an_item_is_taken_back_from_a_dead_worker_once(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("a", 0)]).await;
    let dead = claim(&store).await;
    tokio::join!(dead.die(), dead.die());
    assert!(super::list_running(&store).await.is_empty());
    let again = claim(&store).await;
    let job = again.job.job();
    assert_eq!((job.id, job.token, job.crashes), (dead.job.job().id, dead.job.job().token + 1, 1), "two saw it dead and one took it back");
    assert_eq!((again.item.status, again.item.attempts, again.item.run), (WorkStatus::InProgress, 1, 0), "the same run goes on");
    let returned = super::last_note(&store, &again.item, WorkStatus::Ready).await;
    assert_eq!(returned, "its worker died over it (crash 1)");
}

async fn an_item_that_kills_its_workers_waits_for_a_person(home: &Home) {
    let store = home.open().await;
    let poison = item("poison", 0);
    plan(&store, std::slice::from_ref(&poison)).await;
    for crash in 0..3 {
        let claimed = claim(&store).await;
        assert_eq!(claimed.item.attempts, crash);
        claimed.die().await;
    }
    assert!(try_claim(&store).await.is_none());
    let why = "its worker died over it 3 times in a row".to_owned();
    let aside = find(&store, &poison).await;
    assert_eq!((aside.wait, aside.attempts), (Some(Wait::Decision { why }), 3));
    assert!(store.retry_item(&poison.id, "Ada", at(40)).await.unwrap());
    claim(&store).await.die().await;
    assert_eq!(claim(&store).await.item.status, WorkStatus::InProgress, "it counts from nothing");
}

async fn an_end_that_is_no_crash_forgives_the_crashes(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("a", 0)]).await;
    for _ in 0..3 {
        for _ in 0..2 {
            claim(&store).await.die().await;
        }
        let alive = claim(&store).await;
        end(&store, &alive.job, End::Released).await.unwrap();
    }
}

async fn of_items_that_ran_together_none_is_to_blame(home: &Home) {
    let store = home.open().await;
    let items = ["vince", "solus"].map(|persona| WorkItem { status: WorkStatus::Ready, persona: Some(persona.into()), ..item(persona, 0) });
    insert(&store, &items).await;
    let worker = ManualWorker::start(store.database(), at(10)).await.unwrap();
    for _ in 0..4 {
        for _ in &items {
            let job = worker.claim(RUN, 3, &Paused::default(), at(10)).await.unwrap().expect("it is ready");
            assert_eq!(job.job().crashes, 0);
            assert!(store.start_run(&job, at(10)).await.unwrap().is_some());
        }
        worker.die(at(30)).await.unwrap();
    }
    assert_eq!(super::last_note(&store, &items[0], WorkStatus::Ready).await, "its worker died");
}

fn product() -> Product {
    Product {
        summary: "fast".into(),
        claims: vec![Claim::File { path: "a.md".into() }],
        lesson: Some("measure".into()),
        ..Product::default()
    }
}

fn approval(item: &WorkItem) -> Approval {
    Approval {
        id: ApprovalId::generate(),
        item: item.id.clone(),
        run: item.run,
        tool: "post".into(),
        arguments: serde_json::json!({ "text": "a\0b", "channel": "general" }),
        risk: Risk::ReachOut,
        state: ApprovalState::Asked,
        by: None,
        asked_at: at(11),
        decided_at: None,
    }
}

/// Attempts every write of a worker and returns the names of those that succeeded.
async fn write_all(store: &Store, job: &JobContext, item: &WorkItem) -> Vec<&'static str> {
    let entry = JournalEntry::Began { call: "1".into(), own_words: None };
    let ends = [
        ("done", done()),
        ("failed", super::failed()),
        ("review", End::Review { evidence: vec![], note: String::new() }),
        ("later", End::Later { at: at(0), why: String::new() }),
        ("waits", super::waits(Wait::Model)),
        ("again", End::Again { why: String::new(), at: at(0) }),
        ("released", End::Released),
    ];
    let mut taken = Vec::new();
    taken.extend(store.append_journal(job, item, &[entry], at(40)).await.unwrap().then_some("journal"));
    taken.extend(store.record_product(job, &product(), at(40)).await.unwrap().then_some("product"));
    taken.extend(store.ask_approval(job, &approval(item), &[line("may I?")], at(40)).await.unwrap().then_some("approval"));
    for (name, made) in ends {
        taken.extend(end(store, job, made).await.map(|_| name));
    }
    taken
}

async fn every_write_under_a_lost_job_is_refused(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("a", 0)]).await;
    let stale = claim(&store).await;
    stale.die().await;
    assert!(Box::pin(write_all(&store, &stale.job, &stale.item)).await.is_empty(), "nobody has it");

    let current = claim(&store).await;
    let before = find(&store, &current.item).await;
    assert!(Box::pin(write_all(&store, &stale.job, &stale.item)).await.is_empty(), "another has it");
    assert!(store.start_run(&stale.job, at(40)).await.unwrap().is_none());
    assert_eq!(find(&store, &current.item).await, before);
    assert!(posts(&store).await.is_empty());

    assert_eq!(
        Box::pin(write_all(&store, &current.job, &current.item)).await,
        ["journal", "product", "approval"],
        "the rest comes too late"
    );
    let cancelled = store.cancel_item(&before.id, "Ada", &[], at(50)).await.unwrap().unwrap().item;
    assert!(Box::pin(write_all(&store, &current.job, &current.item)).await.is_empty(), "it is over");
    assert_eq!(find(&store, &current.item).await, cancelled);
}

async fn a_journal_is_kept_for_each_run(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let asked = JournalEntry::Asked { system: "you are\0".into(), message: "do it".into(), tainted: true, remarks: Vec::new() };
    let began = |call: &str| JournalEntry::Began { call: call.into(), own_words: None };
    let first = claim(&store).await;
    assert!(store.append_journal(&first.job, &first.item, &[asked.clone(), began("1")], at(11)).await.unwrap());
    assert!(store.append_journal(&first.job, &first.item, &[began("2")], at(12)).await.unwrap());
    end(&store, &first.job, End::Again { why: "it was not proven".into(), at: at(0) }).await.unwrap();
    let second = claim(&store).await;
    assert_eq!((second.item.run, second.item.attempts), (1, 1));
    assert!(store.list_journal(&made.id, 1).await.unwrap().is_empty(), "another try begins from nothing");
    assert!(store.append_journal(&second.job, &second.item, &[began("3")], at(21)).await.unwrap());
    let journal = store.list_journal(&made.id, 0).await.unwrap();
    assert_eq!(journal, [(asked, at(11)), (began("1"), at(11)), (began("2"), at(12))]);
    assert_eq!(store.list_runs(&made.id).await.unwrap(), [0, 1]);
    assert_eq!(super::last_note(&store, &made, WorkStatus::Ready).await, "it was not proven", "the next run can be told");
}

async fn a_product_outlives_its_worker(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let first = claim(&store).await;
    assert_eq!(store.find_product(&made.id).await.unwrap(), None);
    assert!(store.record_product(&first.job, &product(), at(11)).await.unwrap());
    first.die().await;
    let second = claim(&store).await;
    assert_eq!(second.product, Some(product()), "only to be verified yet");
    end(&store, &second.job, End::Again { why: "no".into(), at: at(0) }).await.unwrap();
    assert_eq!(claim(&store).await.claimed.product, None, "another try makes its own");
}

async fn items_in_progress_count_as_open_work(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("a", 0), item("b", 1)]).await;
    assert_eq!(store.count_open_work().await.unwrap(), 0);
    let claimed = claim(&store).await;
    assert_eq!(store.count_open_work().await.unwrap(), 1);
    end(&store, &claimed.job, super::waits(Wait::Model)).await.unwrap();
    assert_eq!(store.count_open_work().await.unwrap(), 0);
}
