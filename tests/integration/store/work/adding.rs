//! The cost of adding an item through the service, and the items that a new one is compared with.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kernel::chat::message::{Channel, Place};
use kernel::commands::Right;
use kernel::ids::WorkItemId;
use kernel::llm::budget::Budgets;
use kernel::memory::Scope;
use kernel::people::People;
use kernel::repository::Repositories;
use kernel::testing::roster::roster;
use kernel::time::ManualClock;
use secrecy::ExposeSecret;
use teamroom::features::backlog::model::{
    Execution, ExecutionKind, ItemChanges, ItemDraft, Owner, Wait, WorkItem, WorkStatus, WorkingHours,
};
use teamroom::features::backlog::service::{AskedIn, Asker, Backlog, Deps, ListQuery};
use teamroom::features::backlog::store::{ItemEdit, Planned};
use teamroom::features::chat::settings::ChatSettings;
use teamroom::store::Store;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{for_persona, insert, item, needing, part_of, plan};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(
    a_part_is_added_and_ranked_with_the_same_statements_whatever_there_is,
    similar_titles_are_found_while_they_are_open,
    what_is_private_is_compared_and_shown_in_its_place_alone,
    an_edit_keeps_a_chosen_kind_and_plans_others_again,
);

/// Names the database for the process that counts.
const DATABASE: &str = "TEAMROOM_TEST_ADDS_TO";

fn backlog(store: &Store) -> Backlog {
    Backlog::new(Deps {
        store: store.clone(),
        roster: Arc::new(roster()),
        people: People::new(store.database(), Vec::new()),
        repositories: Repositories::default(),
        budgets: Budgets::default(),
        zone: chrono_tz::Tz::UTC,
        working_hours: WorkingHours::default(),
        most_rejections: 3,
        chat: ChatSettings::default(),
        is_offline: true,
        kanban: None,
        clock: Arc::new(ManualClock::new(at(100))),
    })
}

fn draft(what: &str) -> ItemDraft {
    ItemDraft { what: what.to_owned(), owner: Some("vince".into()), ..ItemDraft::default() }
}

/// A different word for each number. It has no digits, because digits are compared exactly.
fn word(number: usize) -> String {
    format!("{number:05}").bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}

/// Counts the statements of the whole process, and the rows that they returned or changed.
#[derive(Debug, Default)]
struct Counter {
    statements: AtomicU64,
    rows: AtomicU64,
}

static COUNTER: Counter = Counter { statements: AtomicU64::new(0), rows: AtomicU64::new(0) };

impl Subscriber for &'static Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.statements.fetch_add(1, Ordering::SeqCst);
        event.record(&mut Rows(self));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Rows(&'static Counter);

impl Visit for Rows {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name().starts_with("rows_") {
            self.0.rows.fetch_add(value, Ordering::SeqCst);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Runs in a process of its own, because the counters see all statements of a process.
#[tokio::test]
async fn counting_process() {
    #[expect(clippy::disallowed_methods, reason = "how one process of a test tells another")]
    let Ok(url) = std::env::var(DATABASE) else { return };
    let store = Store::open(&url.into(), at(100)).await.unwrap();
    let backlog = backlog(&store);
    let whole = store.list_unplanned(20_000).await.unwrap().into_iter().find(|item| item.what == "The whole").unwrap();
    tracing::subscriber::set_global_default(&COUNTER).unwrap();
    // The first addition only prepares the connections. The second one is counted.
    for name in ["wonderful", "beautiful"] {
        COUNTER.statements.store(0, Ordering::SeqCst);
        COUNTER.rows.store(0, Ordering::SeqCst);
        let draft = ItemDraft { parent: Some(whole.id.to_string()), ..draft(&format!("Write the chapter about {name}")) };
        let added = backlog.add(&draft, &Asker::CommandLine, AskedIn::default()).await.unwrap();
        assert_eq!((added.status, &added.parent), (WorkStatus::New, &Some(whole.id.clone())));
        assert!(store.rank_items(&[added.id]).await.unwrap() <= 1);
    }
    // A connection logs a statement a moment after its answer.
    tokio::time::sleep(Duration::from_secs(1)).await;
    println!("counted {} {}", COUNTER.statements.load(Ordering::SeqCst), COUNTER.rows.load(Ordering::SeqCst));
    store.close().await;
}

async fn count_addition(home: &Home) -> (u64, u64) {
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::work::adding::counting_process", "--nocapture", "--test-threads", "1"])
        .env(DATABASE, home.url.expose_secret())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let counted = said.lines().find_map(|line| line.split_once("counted ")).map(|(_, counted)| counted.to_owned());
    let counted = counted.unwrap_or_else(|| panic!("{said} {}", String::from_utf8_lossy(&output.stderr)));
    let numbers: Vec<u64> = counted.split(' ').map(|number| number.parse().unwrap()).collect();
    (numbers[0], numbers[1])
}

async fn a_part_is_added_and_ranked_with_the_same_statements_whatever_there_is(home: &Home) {
    let other = home.empty().await;
    let mut counted = Vec::new();
    for (home, parts) in [(&other, 60), (home, 10_000)] {
        let store = home.open().await;
        let whole = WorkItem { what: "The whole".into(), ..item("", -1) };
        let parts: Vec<_> = (0..parts).map(|number| part_of(&whole, &format!("Write the chapter about {}", word(number)))).collect();
        insert(&store, std::slice::from_ref(&whole)).await;
        insert(&store, &parts).await;
        store.close().await;
        counted.push(count_addition(home).await);
    }
    // Sixty parts already reach the limit of items that a new item is compared with.
    let [(few, rows_of_few), (many, rows_of_many)] = counted[..] else { panic!("{counted:?}") };
    assert!(few > 10 && rows_of_few > 50, "{counted:?}");
    assert_eq!((few, rows_of_few), (many, rows_of_many), "statements and rows");
}

async fn similar_titles_are_found_while_they_are_open(home: &Home) {
    let store = home.open().await;
    let find = async |title: &str| {
        let found = store.list_alike(&[title.to_owned()], &Scope::TEAM).await.unwrap();
        let same = store.find_same(title, &Scope::TEAM).await.unwrap().is_some();
        (found.into_iter().map(|(_, what)| what).collect::<Vec<_>>(), same)
    };
    let (login, client) = (item("Fix the flaky login test", 0), item("Fix TestClientHardStop in `client_test.go`", 1));
    let upper = needing("Deploy it", &[&login]);
    plan(&store, &[login.clone(), client.clone(), upper.clone()]).await;
    // Many other items have the same words.
    let crowd: Vec<_> = (0..200).map(|number| item(&format!("Fix the test of the {}", word(number)), 2)).collect();
    insert(&store, &crowd).await;
    assert_eq!(find("Fix flaky login tests in CI").await, (vec![login.what.clone()], false));
    assert_eq!(find("FIX flaky LOGIN test!").await, (vec![login.what.clone()], true));
    assert_eq!(find("Fix TestClientSoftStop in client_test.go").await, (Vec::new(), false));
    assert_eq!(find("fix the TestClientHardStop in client_test.go.").await, (vec![client.what.clone()], true));

    let edit = ItemEdit { what: Some("Fix the slow search"), ..ItemEdit::default() };
    assert!(store.edit_item(&client.id, &edit, "Ada", at(2)).await.unwrap());
    assert_eq!(find("Fix TestClientHardStop in client_test.go").await, (Vec::new(), false));
    assert_eq!(find("fix slow search").await.0, ["Fix the slow search"]);

    assert_eq!(find("deploy it").await.0.len(), 1);
    store.cancel_item(&login.id, "Ada", &[], at(3)).await.unwrap().unwrap();
    assert_eq!((find("Fix the flaky login test").await.0.len(), find("deploy it").await.0.len()), (0, 0), "both ended");
    assert!(store.retry_item(&login.id, "Ada", at(4)).await.unwrap());
    assert_eq!(find("Fix the flaky login test").await.0.len(), 1, "it is open again");

    // Items of an earlier version have no keys until the next start.
    crate::store::opening::tamper(home, "DELETE FROM work_subjects").await;
    assert_eq!(find("Fix the flaky login test").await.0.len(), 0);
    store.enqueue_lost_items(at(5)).await.unwrap();
    assert_eq!(find("Fix the flaky login test").await, (vec![login.what.clone()], true));
    assert_eq!(find("deploy it").await.0.len(), 0);
}

async fn an_edit_keeps_a_chosen_kind_and_plans_others_again(home: &Home) {
    let store = home.open().await;
    let backlog = backlog(&store);
    let add = async |what: &str, kind: Option<ExecutionKind>| {
        let item = backlog.add(&ItemDraft { kind, ..draft(what) }, &Asker::CommandLine, AskedIn::default()).await.unwrap();
        let planned = Planned { execution: Some(Execution::Research), ..for_persona("vince") };
        let planned = if kind.is_some() { Planned { execution: None, ..planned } } else { planned };
        assert!(store.plan_item(&item.id, &planned, at(1)).await.unwrap());
        item.short_id().to_owned()
    };
    let edit = async |id: &str, changes: ItemChanges| backlog.edit(id, &changes, &Asker::CommandLine).await;
    let what = |what: &str| ItemChanges { what: Some(what.to_owned()), ..ItemChanges::default() };

    let planned = add("Compare prices", None).await;
    assert_eq!(edit(&planned, what("Compare all prices")).await.unwrap().execution, None, "the planner decides again");
    let written = add("Describe the move", Some(ExecutionKind::Write)).await;
    let item = edit(&written, what("Describe the way")).await.unwrap();
    assert_eq!((item.status, item.execution), (WorkStatus::New, Some(Execution::Write)));
    let item = edit(&written, ItemChanges { owner: Some("eliza".into()), ..ItemChanges::default() }).await.unwrap();
    assert_eq!(item.execution, Some(Execution::Write), "still new, and of that kind");

    let asked = add("Ask Vince for the port", Some(ExecutionKind::Ask)).await;
    let item = edit(&asked, what("Ask Eliza for the address")).await.unwrap();
    assert_eq!(
        item.execution,
        Some(Execution::ask(Owner::Persona("eliza".into()), "Ask Eliza for the address".into())),
        "asks what it says now"
    );

    // Somebody chooses another kind. Later edits keep it.
    let item = edit(&planned, ItemChanges { kind: Some(ExecutionKind::Build), ..ItemChanges::default() }).await.unwrap();
    assert_eq!(item.execution, Some(Execution::Build));
    let again = edit(&planned, ItemChanges { kind: Some(ExecutionKind::Build), ..ItemChanges::default() }).await.unwrap_err();
    assert!(again.to_string().contains("already has these values"), "{again}");
    assert_eq!(edit(&planned, what("Compare no prices")).await.unwrap().execution, Some(Execution::Build));
    let (ann, _) = person("discord:1", "general", Place::Server, false);
    let mine = ItemChanges { owner: Some("me".into()), ..ItemChanges::default() };
    assert_eq!(backlog.edit(&planned, &mine, &ann).await.unwrap().execution, None, "a person builds nothing for the team");
    let refused = edit(&planned, ItemChanges { kind: Some(ExecutionKind::Build), ..ItemChanges::default() }).await.unwrap_err();
    assert!(refused.to_string().contains("belongs to a person, who can only be reminded or asked"), "{refused}");
}

fn person(id: &str, channel: &str, place: Place, private: bool) -> (Asker, AskedIn) {
    let channel = Channel { id: channel.into(), name: String::new(), place, private, shared: false };
    let private_to = Scope::of(&channel).place().cloned();
    let asked = AskedIn { channel: (channel.place != Place::Direct).then(|| channel.id.clone()), private_to };
    (Asker::Person { id: id.into(), name: "Ann".into(), right: Right::Operator, channel: Some(channel) }, asked)
}

/// The title of an item in a private place. No other place may learn of it.
const SECRET: &str = "Prepare the severance package of Dora";

async fn what_is_private_is_compared_and_shown_in_its_place_alone(home: &Home) {
    let store = home.open().await;
    let backlog = backlog(&store);
    let (ann, there) = person("discord:1", "secret", Place::Server, true);
    let secret = backlog.add(&draft(SECRET), &ann, there.clone()).await.unwrap();
    assert_eq!(secret.private_to, Some("secret".into()));
    let short = secret.short_id().to_owned();
    let all = ListQuery { status: Some("all"), owner: None, limit: 100 };
    let shown = async |asker: &Asker| {
        let listed = backlog.list(&all, asker).await.unwrap();
        let counted: u64 = listed.counts.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, listed.items.len() as u64);
        let is_listed = listed.items.iter().any(|item| item.id == secret.id);
        let found = backlog.get_details(&short, asker).await;
        assert_eq!(found.is_ok(), is_listed);
        if let Err(error) = found {
            assert_eq!(error.to_string(), format!("there is no item #{short}. See the backlog list"));
        }
        is_listed
    };
    let (elsewhere, public) = person("discord:1", "general", Place::Server, false);
    let (other_secret, _) = person("discord:2", "other", Place::Server, true);
    for (asker, sees) in
        [(&ann, true), (&elsewhere, false), (&other_secret, false), (&Asker::CommandLine, true), (&Asker::KanbanPage, true)]
    {
        assert_eq!(shown(asker).await, sees, "{asker:?}");
    }
    for refused in [
        backlog.get_files(&short, &elsewhere).await.map(drop),
        backlog.cancel(&short, true, &elsewhere).await.map(drop),
        backlog.run(&short, &elsewhere).await.map(drop),
        backlog.answer_in_words(&short, "yes", &elsewhere).await.map(drop),
        backlog.add(&ItemDraft { needs: vec![short.clone()], ..draft("Tell it") }, &elsewhere, public.clone()).await.map(drop),
    ] {
        assert!(refused.unwrap_err().to_string().contains(&format!("there is no item #{short}")));
    }

    // A question about the duplicate would quote the title.
    let again = backlog.add(&draft(SECRET), &elsewhere, public.clone()).await.unwrap();
    assert_eq!((again.status, &again.wait), (WorkStatus::New, &None));
    let in_file = backlog.add_all(&[draft(SECRET), draft("Buy milk")], &other_secret, AskedIn::default()).await.unwrap_err();
    assert!(in_file.to_string().contains(&again.short_id().to_owned()), "the public one: {in_file}");
    let twice = backlog.add(&draft(SECRET), &ann, there).await.unwrap();
    let of: Vec<WorkItemId> = vec![secret.id.clone()];
    assert!(matches!(&twice.wait, Some(Wait::Duplicate { of: alike, .. }) if of.contains(alike)), "{twice:?}");
    assert_eq!(twice.owner, Owner::Persona("vince".into()));

    // An item asked for in a direct conversation is found in another direct conversation of the same person.
    let (direct, asked) = person("discord:1", "dm-vince", Place::Direct, true);
    let mine = backlog.add(&draft("Look for another job"), &direct, asked).await.unwrap();
    let (with_another, _) = person("discord:1", "dm-kelly", Place::Direct, true);
    let (somebody, _) = person("discord:2", "dm-kelly", Place::Direct, true);
    assert!(backlog.get_details(mine.short_id(), &with_another).await.is_ok());
    assert!(backlog.get_details(mine.short_id(), &somebody).await.is_err());
    assert!(backlog.get_details(mine.short_id(), &elsewhere).await.is_err());
}
