//! Random graphs of items with random ends, crashes and people: no item runs too early, is lost, ends twice, or ends without a reason.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use teamroom::features::backlog::model::{Judge, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, InsertItemsError, ItemAnswer, ItemEdit, ItemFilter, ItemJudgement, RunEnd};
use teamroom::store::Store;

use super::{Held, claim_at, done, failed, for_persona, item, list_running, no_post, waits};
use crate::store::Home;
use crate::store::sample::at;
use crate::support::{long, postgres};

const PERSONAS: [&str; 3] = ["vince", "solus", "kelly"];

/// An item's dependencies, as indexes.
#[derive(Debug, Clone)]
struct Ties {
    needs: Vec<usize>,
    parent: Option<usize>,
    persona: usize,
}

#[derive(Debug, Clone, Copy)]
enum Deed {
    Plan,
    Claim,
    /// Ends the oldest lease, which may be outdated.
    End(usize),
    Crash,
    Restart,
    Cancel,
    Retry,
    Wake,
    Edit,
    Answer(bool),
    Judge(bool),
}

fn ties(count: usize) -> impl Strategy<Value = Ties> {
    let needs = proptest::collection::vec(0..count, 0..3);
    (needs, proptest::option::weighted(0.3, 0..count), 0..PERSONAS.len()).prop_map(|(needs, parent, persona)| Ties {
        needs,
        parent,
        persona,
    })
}

fn deeds() -> impl Strategy<Value = Vec<(Deed, usize)>> {
    let deed = prop_oneof![
        3 => Just(Deed::Plan),
        6 => Just(Deed::Claim),
        6 => (0_usize..8).prop_map(Deed::End),
        1 => Just(Deed::Crash),
        1 => Just(Deed::Restart),
        1 => Just(Deed::Cancel),
        2 => Just(Deed::Retry),
        1 => Just(Deed::Wake),
        1 => Just(Deed::Edit),
        1 => any::<bool>().prop_map(Deed::Answer),
        2 => any::<bool>().prop_map(Deed::Judge),
    ];
    proptest::collection::vec((deed, 0_usize..8), 0..60)
}

fn graphs() -> impl Strategy<Value = (Vec<Ties>, Vec<(Deed, usize)>)> {
    ((1_usize..8).prop_flat_map(|count| proptest::collection::vec(ties(count), count)), deeds())
}

#[test]
fn no_item_is_lost_or_done_too_early_on_sqlite() {
    check_cases(long::amount("TEAMROOM_TEST_GRAPHS", 48, 2000), || async { Some(Home::sqlite()) });
}

#[test]
fn no_item_is_lost_or_done_too_early_on_postgresql() {
    let runtime = runtime();
    if runtime.block_on(postgres::is_there()) {
        check_cases(long::amount("TEAMROOM_TEST_GRAPHS", 48, 2000) / 4, Home::postgres);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Runs random cases, each in a separate database.
fn check_cases<F: Future<Output = Option<Home>>>(cases: usize, home: impl Fn() -> F) {
    let config = Config { cases: u32::try_from(cases).unwrap(), failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let outcome = TestRunner::new(config).run(&graphs(), |(ties, deeds)| {
        runtime().block_on(async {
            let Some(home) = home().await else { return Ok(()) };
            let store = home.open().await;
            let outcome = play(&store, &ties, &deeds).await;
            store.close().await;
            outcome
        })
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn play(store: &Store, ties: &[Ties], deeds: &[(Deed, usize)]) -> Result<(), TestCaseError> {
    let items = make(ties);
    match store.insert_items(&items, at(0)).await {
        Ok(()) => {}
        Err(InsertItemsError::Graph(_)) => {
            prop_assert!(!can_all_end(&items), "refused without reason");
            prop_assert!(all(store).await.is_empty());
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    }
    prop_assert!(can_all_end(&items), "a circle came in");
    let mut stage = Stage { store, items, ties, leases: Vec::new() };
    for &(deed, place) in deeds {
        stage.act(deed, place % ties.len()).await?;
    }
    stage.finish().await?;
    stage.check_histories().await
}

fn make(ties: &[Ties]) -> Vec<WorkItem> {
    let mut items: Vec<_> = (0..ties.len()).map(|number| item(&format!("item {number}"), 0)).collect();
    let ids: Vec<_> = items.iter().map(|item| item.id.clone()).collect();
    for (item, ties) in items.iter_mut().zip(ties) {
        item.depends_on = ties.needs.iter().map(|&place| ids[place].clone()).collect();
        item.depends_on.sort();
        item.depends_on.dedup();
        item.parent = ties.parent.map(|place| ids[place].clone());
    }
    items
}

/// A simple reference implementation: repeatedly ends items that wait for nothing open.
fn can_all_end(items: &[WorkItem]) -> bool {
    let mut open: Vec<&WorkItem> = items.iter().collect();
    loop {
        let waits =
            |item: &WorkItem| open.iter().any(|other| item.depends_on.contains(&other.id) || other.parent.as_ref() == Some(&item.id));
        let left: Vec<&WorkItem> = open.iter().copied().filter(|item| waits(item)).collect();
        if left.len() == open.len() {
            return open.is_empty();
        }
        open = left;
    }
}

async fn all(store: &Store) -> Vec<WorkItem> {
    store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: 100 }).await.unwrap()
}

struct Stage<'a> {
    store: &'a Store,
    items: Vec<WorkItem>,
    ties: &'a [Ties],
    /// The leases that workers believe to hold, including those of dead workers.
    leases: Vec<Held>,
}

impl Stage<'_> {
    async fn act(&mut self, deed: Deed, place: usize) -> Result<(), TestCaseError> {
        let (store, id) = (self.store, self.items[place].id.clone());
        match deed {
            Deed::Plan => {
                store.plan_item(&id, &for_persona(PERSONAS[self.ties[place].persona]), at(1)).await.unwrap();
            }
            Deed::Claim => {
                self.claim().await?;
            }
            Deed::End(kind) if !self.leases.is_empty() => {
                let claimed = self.leases.remove(0);
                self.end(&claimed, kind).await?;
            }
            Deed::Crash => {
                if let Some(held) = self.leases.get(place % self.leases.len().max(1)) {
                    held.die().await;
                    prop_assert!(!held.is_held(store).await);
                }
            }
            Deed::Restart => {
                self.bury().await;
            }
            Deed::Cancel => {
                store.cancel_item(&id, "Ada", &[], at(5)).await.unwrap();
            }
            Deed::Retry => {
                store.retry_item(&id, "Ada", at(5)).await.unwrap();
            }
            Deed::Wake => {
                store.wake_item(&id, None, at(5)).await.unwrap();
            }
            Deed::Edit => {
                let how = format!("edited, then {}", store.backlog_mark().await.unwrap());
                store.edit_item(&id, &ItemEdit { how: Some(&how), ..ItemEdit::default() }, "Ada", at(5)).await.unwrap();
            }
            Deed::Answer(done) => {
                let answer = ItemAnswer { by: "Ada", done, text: "so it is", memory: None, outbox: &[], at: at(5) };
                store.answer_item(&id, &answer).await.unwrap();
            }
            Deed::Judge(accepted) => self.judge(place, accepted).await,
            Deed::End(_) => {}
        }
        Ok(())
    }

    async fn judge(&self, place: usize, accepted: bool) {
        let by = Judge::Person("Ada".into());
        let judgement = ItemJudgement {
            by: &by,
            job: None,
            accepted,
            needs_person: false,
            note: "so it is",
            account: None,
            findings: &[],
            scores: None,
            evidence: &[],
            amends: false,
            most_rejections: 2,
            memories: &[],
            post: &no_post,
            at: at(5),
        };
        self.store.judge_item(&self.items[place].id, &judgement).await.unwrap();
    }

    /// Claims an item and checks its dependencies.
    async fn claim(&mut self) -> Result<bool, TestCaseError> {
        let Some(claimed) = claim_at(self.store, 2, at(2)).await else { return Ok(false) };
        let now = all(self.store).await;
        let running = list_running(self.store).await;
        for other in &now {
            if claimed.item.depends_on.contains(&other.id) {
                prop_assert_eq!(other.status, WorkStatus::Done, "{} needs {}", claimed.item.what, other.what);
            }
            if other.parent.as_ref() == Some(&claimed.item.id) {
                prop_assert!(other.status.is_over(), "{} has the open part {}", claimed.item.what, other.what);
            }
            if other.id != claimed.item.id && running.contains(&other.id) {
                prop_assert_eq!(other.status, WorkStatus::InProgress);
                prop_assert_ne!(&other.persona, &claimed.item.persona, "a persona does two things");
            }
        }
        prop_assert!(running.len() <= 2);
        self.leases.push(claimed);
        Ok(true)
    }

    /// Ends a run in one of several ways. Succeeds only once, and only with a valid lease.
    async fn end(&self, claimed: &Held, kind: usize) -> Result<(), TestCaseError> {
        let end = match kind {
            0 => failed(),
            1 => End::Review { evidence: vec![], note: "is it good?".into() },
            2 => End::Later { at: at(0), why: "busy".into() },
            3 => waits(Wait::Answer { of: "Ada".into() }),
            4 => End::Again { why: "not proven".into(), at: at(0) },
            5 => End::Released,
            _ => done(),
        };
        let is_held = claimed.is_held(self.store).await;
        let run = RunEnd { job: &claimed.job, end, artefacts: &[], outbox: &[], at: at(3) };
        prop_assert_eq!(self.store.end_run(&run).await.unwrap().is_some(), is_held);
        prop_assert!(self.store.end_run(&run).await.unwrap().is_none(), "ended twice");
        Ok(())
    }

    /// Reclaims everything, as if all workers had died.
    async fn bury(&self) {
        for held in &self.leases {
            held.die().await;
        }
    }

    /// Lets people and workers complete the rest. Fails if an item stays open, because nobody can continue it.
    async fn finish(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..200 {
            self.bury().await;
            let open: Vec<_> = (0..self.items.len()).collect();
            for place in open {
                let item = self.store.find_item(&self.items[place].id).await.unwrap().unwrap();
                match item.status {
                    WorkStatus::New => self.act(Deed::Plan, place).await?,
                    WorkStatus::Waiting => self.act(Deed::Wake, place).await?,
                    WorkStatus::InReview => self.judge(place, true).await,
                    _ => {}
                }
            }
            if self.claim().await? {
                let claimed = self.leases.pop().expect("it was just claimed");
                self.end(&claimed, 6).await?;
            }
            if all(self.store).await.iter().all(|item| item.status.is_over()) {
                return Ok(());
            }
        }
        let left: Vec<_> = all(self.store).await.into_iter().filter(|item| !item.status.is_over()).collect();
        Err(TestCaseError::fail(format!("nobody can take these on: {left:#?}")))
    }

    /// Checks that each change was allowed, and that each end has a reason.
    async fn check_histories(&self) -> Result<(), TestCaseError> {
        let by_id: HashMap<_, _> = all(self.store).await.into_iter().map(|item| (item.id.clone(), item)).collect();
        prop_assert_eq!(by_id.len(), self.items.len());
        for item in by_id.values() {
            prop_assert!(item.outcome.as_ref().is_some_and(|outcome| !outcome.is_empty()), "{} ended without a reason", item.what);
            prop_assert!(item.status != WorkStatus::Done || item.depends_on.iter().all(|needed| by_id[needed].status == WorkStatus::Done));
            let mut last = None;
            for event in self.store.list_events(&item.id).await.unwrap() {
                prop_assert_eq!(event.from, last);
                if let Some(from) = event.from {
                    // An event that does not change the status must have a note.
                    let is_remark = from == event.to && event.note.is_some();
                    prop_assert!(is_remark || from.advance(event.to).is_ok(), "{}: {:?}", item.what, event);
                }
                prop_assert!(!event.to.is_over() || event.note.is_some(), "{}: {:?}", item.what, event);
                last = Some(event.to);
            }
            prop_assert_eq!(last, Some(item.status));
        }
        Ok(())
    }
}
