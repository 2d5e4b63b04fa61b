//! Benchmarks the backlog: `cargo bench --bench backlog`, or with `-- --short` for a quick run, with `-- --planning` for adding and
//! planning alone.
//!
//! Planning goes through the planner's job, adding through the service. Pick-up time is measured in a running team with a chain of items, each of which becomes ready when the one before ends. Claims are
//! measured on the store alone. Both sides of a ratio come from the same run, in turns.

#[path = "../tests/integration/support/nobody.rs"]
mod nobody;
#[path = "stage/planner.rs"]
mod planner;
#[path = "../tests/integration/support/port.rs"]
mod port;
#[path = "../tests/integration/support/postgres.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod postgres;
#[path = "../crates/local-server/tests/support/skip.rs"]
mod skip;
#[path = "stage/mod.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod stage;

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use kernel::chat::message::{Author, AuthorKind, Channel, Place};
use kernel::ids::UserId;
use kernel::jobs::Paused;
use kernel::people::Seen;
use kernel::testing::jobs::ManualWorker;
use kernel::time::{Clock as _, SystemClock};
use planner::Planner;
use secrecy::SecretString;
use serde_json::json;
use stage::{PROGRAM, Sandbox, Team, command, millis};
use teamroom::features::backlog::model::{Execution, ItemDraft, Origin, Owner, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, ItemFilter, RUN, RunEnd};
use teamroom::store::Store;

const WORKERS: u32 = 8;
const BLOCKED: usize = 10_000;

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let only_planning = std::env::args().any(|argument| argument == "--planning");
    let count = if short { 40 } else { 200 };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        for has_postgres in [false, true] {
            let name = if has_postgres { "PostgreSQL" } else { "SQLite" };
            let Some(database) = database(has_postgres).await else { return };
            time_planning(name, &database).await;
            let Some(database) = self::database(has_postgres).await else { return };
            time_additions(name, &database).await;
            if only_planning {
                continue;
            }
            let Some(database) = self::database(has_postgres).await else { return };
            time_pick_up(name, &database, count).await;
            let Some(database) = self::database(has_postgres).await else { return };
            count_claims(name, &database, count * 5).await;
            let (Some(empty), Some(full)) = (self::database(has_postgres).await, self::database(has_postgres).await) else { return };
            hold_claims_against_each_other(name, &empty, &full, count).await;
        }
    });
}

/// A separate database and its folder.
struct Database {
    url: String,
    dir: tempfile::TempDir,
}

async fn database(has_postgres: bool) -> Option<Database> {
    let dir = tempfile::tempdir().expect("a directory");
    let url = if has_postgres { postgres::database().await? } else { format!("sqlite:{}", dir.path().join("team.db").display()) };
    Some(Database { url, dir })
}

impl Database {
    async fn open(&self) -> Store {
        Store::open_shared(&SecretString::from(self.url.clone()), now()).await.expect("the store opens")
    }
}

/// Plans ten thousand items that were added at once: unrelated ones, parts of one item, and a chain. The directory has a thousand people.
async fn time_planning(name: &str, database: &Database) {
    type Draft = fn(usize) -> ItemDraft;
    let store = database.open().await;
    for number in 0..1000 {
        let author = Author {
            id: UserId::new(format!("discord:{number}")),
            name: format!("Person {}", word(number)),
            aliases: Vec::new(),
            kind: AuthorKind::Person,
            roles: Vec::new(),
        };
        let channel = Channel { id: "10".into(), name: "general".into(), place: Place::Server, private: false, shared: false };
        store.database().record_seen(&Seen { author: &author, channel: &channel, at: now() }).await.expect("the store answers");
    }
    let planner = Planner::start(&store, database.dir.path()).await;
    // The first round of a process looks at everything.
    planner.add(&[tell("the first")]).await;
    planner.plan().await;
    let shapes: [(&str, Draft); 3] = [
        ("alone", |number| tell(&word(number))),
        ("parts", |number| ItemDraft {
            parent: (number > 0).then(|| "0".into()),
            key: Some(number.to_string()),
            ..tell(&format!("a part {}", word(number)))
        }),
        ("chain", |number| {
            let needs = number.checked_sub(1).map(|before| before.to_string());
            ItemDraft { needs: needs.into_iter().collect(), key: Some(number.to_string()), ..tell(&format!("a link {}", word(number))) }
        }),
    ];
    for (shape, draft) in shapes {
        let drafts: Vec<_> = (0..BLOCKED).map(draft).collect();
        let began = Instant::now();
        planner.add(&drafts).await;
        let added = began.elapsed();
        let taken = planner.plan().await;
        assert!(store.list_unplanned(1).await.expect("the store answers").is_empty(), "all are planned");
        println!("{name:<10} | {BLOCKED} items ({shape}): planned in {:.0} ms (aim 3000), added in {:.0} ms", millis(taken), millis(added));
    }
}

/// Compares adding a part to an item with ten open parts and to one with ten thousand, in turns. Each addition includes its planning.
async fn time_additions(name: &str, database: &Database) {
    let store = database.open().await;
    let planner = Planner::start(&store, database.dir.path()).await;
    let parents = planner.add(&[tell("a small thing"), tell("a large matter")]).await;
    let part = |parent: &WorkItem, what: &str| ItemDraft { parent: Some(parent.id.to_string()), ..tell(what) };
    for (parent, count) in parents.iter().zip([10, BLOCKED]) {
        planner
            .add(
                &(0..count)
                    .map(|number| part(parent, &format!("{} {} {}", word(number), word(20_000 + number), parent.short_id())))
                    .collect::<Vec<_>>(),
            )
            .await;
    }
    planner.plan().await;
    let (mut to_few, mut to_many) = (Vec::new(), Vec::new());
    for number in 0..100 {
        for (parent, times) in parents.iter().zip([&mut to_few, &mut to_many]) {
            let began = Instant::now();
            planner.add(&[part(parent, &format!("{} {} {}", word(40_000 + number), word(60_000 + number), parent.short_id()))]).await;
            let added = began.elapsed();
            times.push((added, added + planner.plan().await));
        }
    }
    let [(few, few_planned), (many, many_planned)] = [to_few, to_many].map(|times| {
        let (added, both): (Vec<Duration>, Vec<Duration>) = times.into_iter().unzip();
        (median(added), median(both))
    });
    println!(
        "{name:<10} | a part is added to {BLOCKED} in {many:.2} ms, to ten in {few:.2} ms: {:.2} times; with its planning {:.2} times",
        many / few,
        many_planned / few_planned
    );
}

fn tell(what: &str) -> ItemDraft {
    ItemDraft { what: format!("Tell everybody about {what}"), owner: Some("vince".into()), ..ItemDraft::default() }
}

/// A different word for each number. It has no digits, because digits are compared exactly.
fn word(number: usize) -> String {
    format!("{number:05}").bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    millis(times[times.len() / 2])
}

/// Measures the time from ready to claimed, and from item to item. The items are a chain of reads of a feed by one persona, offline.
async fn time_pick_up(name: &str, database: &Database, count: usize) {
    let dir = database.dir.path();
    let sandbox = Sandbox::start(dir, &["general".into(), "daily-standup".into(), "ops".into()]);
    let team =
        Team::start(PROGRAM, dir, &sandbox, &[("DATABASE_URL", database.url.clone()), ("TEAMROOM_BACKLOG_CHANNEL", "ops".into())]).await;
    let item = |number: usize| {
        let needs: Vec<_> = number.checked_sub(1).map(|before| format!("q{before}")).into_iter().collect();
        let watch = json!({"feed": "ledger", "until": now() + chrono::TimeDelta::days(1)});
        let what = format!("Look at the ledger for subject {number}");
        json!({"key": format!("q{number}"), "what": what, "owner": "vince", "kind": "watch", "watch": watch, "needs": needs})
    };
    let file = dir.join("items.json");
    std::fs::write(&file, json!((0..count).map(item).collect::<Vec<_>>()).to_string()).expect("a file");
    let added = command(PROGRAM, dir)
        .args(["backlog", "add", "--file"])
        .arg(&file)
        .env("DATABASE_URL", &database.url)
        .output()
        .expect("the binary starts");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));

    let store = database.open().await;
    let done = ItemFilter { statuses: &[WorkStatus::Done], owner: None, scope: None, limit: u32::MAX };
    let started = Instant::now();
    let items = loop {
        let items = store.list_items(&done).await.expect("the store answers");
        if items.len() == count {
            break items;
        }
        assert!(started.elapsed() < Duration::from_mins(5), "{} of {count} are done", items.len());
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let (mut picked_up, mut ended) = (Vec::new(), Vec::new());
    for item in &items {
        let events = store.list_events(&item.id).await.expect("the store answers");
        let at = |status| events.iter().rfind(|event| event.to == status).map(|event| event.at).expect("it went there");
        picked_up.push((at(WorkStatus::InProgress) - at(WorkStatus::Ready)).to_std().unwrap_or_default());
        ended.push(at(WorkStatus::Done));
    }
    ended.sort();
    let steps = ended.windows(2).map(|pair| (pair[1] - pair[0]).to_std().unwrap_or_default()).collect();
    println!(
        "{name:<10} | pick-up of {count}: p50, p99, worst {} ms (aims 5, 25) | one item to the next {} ms | idle {:.1} MB, peak {:.1} MB",
        spread(picked_up),
        spread(steps),
        team.idle,
        team.peak_memory()
    );
}

/// Claims and ends by eight concurrent workers.
async fn count_claims(name: &str, database: &Database, count: usize) {
    let store = database.open().await;
    store.insert_items(&ready(count), now()).await.expect("the items are good");
    let started = Instant::now();
    let worker = async || {
        let worker = ManualWorker::start(store.database(), now()).await.expect("the store answers");
        let mut times = Vec::new();
        loop {
            match claim(&store, &worker).await {
                Some(time) => times.push(time),
                // A claim also finds nothing while its persona works on another item, so this ends only when all items are over.
                None if store.count_items(now()).await.expect("the store answers").by_status.iter().all(|(status, _)| status.is_over()) => {
                    return times;
                }
                None => tokio::task::yield_now().await,
            }
        }
    };
    let times: Vec<Duration> = futures_util::future::join_all((0..WORKERS).map(|_| worker())).await.concat();
    let elapsed = started.elapsed();
    assert_eq!(times.len(), count, "each is claimed once");
    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    let rate = count as f64 / elapsed.as_secs_f64();
    println!("{name:<10} | {rate:.0} claims and ends a second by {WORKERS} workers; a claim among them {} ms", spread(times));
}

/// Compares a claim in an empty backlog with one behind ten thousand blocked items, in turns.
async fn hold_claims_against_each_other(name: &str, empty: &Database, full: &Database, count: usize) {
    let (empty, full) = (empty.open().await, full.open().await);
    let blocked: Vec<_> = ready(BLOCKED).into_iter().map(|item| WorkItem { status: WorkStatus::Blocked, ..item }).collect();
    full.insert_items(&blocked, now()).await.expect("the items are good");
    let [of_empty, of_full] = [&empty, &full].map(|store| ManualWorker::start(store.database(), now()));
    let (of_empty, of_full) = (of_empty.await.expect("the store answers"), of_full.await.expect("the store answers"));
    let (mut alone, mut behind) = (Vec::new(), Vec::new());
    for store in [&empty, &full] {
        store.insert_items(&ready(count), now()).await.expect("the items are good");
    }
    for _ in 0..count {
        alone.push(claim(&empty, &of_empty).await.expect("there is one"));
        behind.push(claim(&full, &of_full).await.expect("there is one"));
    }
    alone.sort();
    behind.sort();
    let ratio = millis(behind[count / 2]) / millis(alone[count / 2]);
    println!(
        "{name:<10} | a claim alone {} ms, behind {BLOCKED} blocked {} ms: {ratio:.2} times the median",
        spread(alone),
        spread(behind)
    );
}

/// Claims an item and ends it. Only the claim is timed. None if there is nothing to claim.
async fn claim(store: &Store, worker: &ManualWorker) -> Option<Duration> {
    let started = Instant::now();
    let job = worker.claim(RUN, WORKERS, &Paused::default(), now()).await.expect("the store answers")?;
    let claimed = store.start_run(&job, now()).await.expect("the store answers").expect("its item needs it");
    let time = started.elapsed();
    let end = End::Done { outcome: "done".into(), evidence: Vec::new(), memories: Vec::new() };
    store
        .end_run(&RunEnd { job: &claimed.job, end, artefacts: &[], outbox: &[], at: now() })
        .await
        .expect("the store answers")
        .expect("the job is held");
    Some(time)
}

/// Ready items, spread over eight personas.
fn ready(count: usize) -> Vec<WorkItem> {
    let item = |number: usize| {
        let persona = format!("p{}", number % WORKERS as usize);
        WorkItem {
            status: WorkStatus::Ready,
            execution: Some(Execution::Remind { whom: None }),
            persona: Some(persona.as_str().into()),
            ..WorkItem::new(format!("Do {number}"), Owner::Persona(persona.as_str().into()), Origin::CommandLine, now())
        }
    };
    (0..count).map(item).collect()
}

fn now() -> DateTime<Utc> {
    SystemClock.now()
}

/// Median, 99th percentile and maximum in milliseconds.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let last = times.len() - 1;
    [times.len() / 2, times.len() * 99 / 100, last].map(|at| format!("{:.1}", millis(times[at.min(last)]))).join(", ")
}
