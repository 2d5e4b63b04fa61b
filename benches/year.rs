//! Benchmarks the lists of a team after a year: `cargo bench --bench year`, or with `-- --short` for a hundredth of it. Each list is read in turns
//! with and without the indexes that keep it from sorting or counting the past.

#[path = "../tests/integration/support/port.rs"]
mod port;
#[path = "../tests/integration/support/postgres.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod postgres;
#[path = "../crates/local-server/tests/support/skip.rs"]
mod skip;

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use kernel::ids::ChannelId;
use kernel::money::CostGroup;
use secrecy::SecretString;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::store::KanbanFilter;
use teamroom::store::Store;

const INDEXES: [(&str, &str); 2] = [
    ("work_items_changed", "work_items (status, updated_at, id)"),
    ("memories_lessons", "memories (kind, place, ended_at, held, forgotten_by) WHERE kind = 'lesson'"),
];

/// How often each list is read.
const ROUNDS: usize = 9;

fn main() {
    let part = if std::env::args().any(|argument| argument == "--short") { 100 } else { 1 };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        for is_sqlite in [true, false] {
            let dir = tempfile::tempdir().expect("a directory");
            let url = if is_sqlite {
                format!("sqlite:{}", dir.path().join("team.db").display())
            } else {
                let Some(url) = postgres::database().await else { return };
                url
            };
            let store = Store::open_shared(&SecretString::from(url.as_str()), now()).await.expect("the store opens");
            let began = Instant::now();
            run(&url, &fill(is_sqlite, part)).await;
            println!("{}: a year in {:.1?}", if is_sqlite { "SQLite" } else { "PostgreSQL" }, began.elapsed());
            for _ in 0..2 {
                let drop: Vec<String> = INDEXES.iter().map(|(name, _)| format!("DROP INDEX {name}")).collect();
                run(&url, &drop.join("; ")).await;
                measure("without", &store).await;
                let create: Vec<String> = INDEXES.iter().map(|(name, on)| format!("CREATE INDEX {name} ON {on}")).collect();
                run(&url, &(create.join("; ") + "; ANALYZE")).await;
                measure("with   ", &store).await;
            }
        }
    });
}

fn now() -> DateTime<Utc> {
    "2026-11-29T00:00:00Z".parse().expect("a time")
}

async fn run(url: &str, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    if url.starts_with("sqlite:") {
        SqliteConnection::connect(url).await.expect("a connection").execute(sql).await.expect("the statements run");
    } else {
        PgConnection::connect(url).await.expect("a connection").execute(sql).await.expect("the statements run");
    }
}

/// 200,000 messages, 60,000 answers with their calls, 50,000 memories and 20,000 items, spread over the year before [`now`], in one transaction.
fn fill(is_sqlite: bool, part: u32) -> String {
    let at = |of: u32| {
        if is_sqlite {
            format!("strftime('%Y-%m-%dT%H:%M:%S+00:00', '2025-11-29', '+' || (i * 31536000 / {of}) || ' seconds')")
        } else {
            format!("timestamptz '2025-11-29 00:00Z' + make_interval(secs => i * 31536000.0 / {of})")
        }
    };
    let rows = |of: u32| {
        if is_sqlite {
            format!("(WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n) AS n", of - 1)
        } else {
            format!("generate_series(0, {}) AS n (i)", of - 1)
        }
    };
    let (messages, answers, memories, items) = (200_000 / part, 60_000 / part, 50_000 / part, 20_000 / part);
    let text = "Latency follows traffic, and the cache was cold after the deployment on Monday.";
    [
        "BEGIN".to_owned(),
        format!(
            "INSERT INTO inbox (id, channel, message, complete, speaker, sent_at, claimed_at, decided_at, burst)
             SELECT 'discord:' || i, 'discord:' || (i % 20), '{{\"text\":\"{text}\"}}', TRUE,
                 '{{\"person\":{{\"id\":\"discord:9\",\"name\":\"Ann\"}}}}', {0}, {0}, {0}, 'discord:' || i FROM {1}",
            at(messages),
            rows(messages)
        ),
        format!(
            "INSERT INTO turns (id, message, chain, channel, persona, trigger, state, attempts, queued_at, finished_at, reply)
             SELECT 't' || i, 'discord:' || (i * 3), 'discord:' || (i * 3), 'discord:' || (i % 20), 'vince', '\"message\"', 'answered', 1, {0}, {0},
                 '{text}' FROM {1}",
            at(answers),
            rows(answers)
        ),
        format!(
            "INSERT INTO outbox (id, channel, turn, cause, kind, message, state, created_at, next_attempt_at, platform_id, sent_at)
             SELECT 'o' || i, 'discord:' || (i % 20), 't' || i, 'discord:' || (i * 3), 'answer',
                 '{{\"persona\":\"vince\",\"text\":\"{text}\"}}', 'sent', {0}, {0}, 'discord:p' || i, {0} FROM {1}",
            at(answers),
            rows(answers)
        ),
        format!(
            "INSERT INTO ledger (id, at, day, persona, purpose, subject, provider, model, tier, reserved_tokens, reserved_cost, input_tokens,
                 cached_tokens, output_tokens, cost, outcome)
             SELECT 'l' || i, {0}, '2026-11-01', 'vince', 'chat', 't' || i, 'openai', 'small', 'T1', 0, 0, 900, 0, 90, 100, 'priced' FROM {1}",
            at(answers),
            rows(answers)
        ),
        format!(
            "INSERT INTO memories (id, kind, text, tags, significance, source, created_at, place, words)
             SELECT 'm' || i, CASE i % 3 WHEN 0 THEN 'conversation' ELSE 'lesson' END, '{text}', '[]', 0.5, '\"command_line\"', {0},
                 CASE i % 4 WHEN 0 THEN 'discord:d' END, 'latency traffic cache' FROM {1}",
            at(memories),
            rows(memories)
        ),
        format!(
            "INSERT INTO work_items (id, kind, what, how, why, owner, urgency, priority, criteria, status, attempts, origin, cost, created_at,
                 updated_at)
             SELECT 'i' || (1000000 + i), 'action', '{text}', '{text}', '{text}', 'persona:vince', 'today', 2, '[]',
                 CASE WHEN i % 10 < 9 THEN 'done' ELSE 'ready' END, 1, '\"command_line\"', 100, {0}, {0} FROM {1}",
            at(items),
            rows(items)
        ),
        "COMMIT".to_owned(),
        "ANALYZE".to_owned(),
    ]
    .join(";\n")
}

/// Prints the median time of each list in milliseconds.
async fn measure(what: &str, store: &Store) {
    let filter = KanbanFilter::default();
    let (mut done, mut lessons, mut costs, mut spoken) = (vec![], vec![], vec![], vec![]);
    let channel = ChannelId::new("discord:7");
    for _ in 0..ROUNDS {
        done.push(time(store.list_cards_by_age(WorkStatus::Done, &filter, 20)).await);
        lessons.push(time(store.count_learnt()).await);
        costs.push(time(store.costs(now() - TimeDelta::days(30), now(), CostGroup::Persona)).await);
        spoken.push(time(store.list_heard(&channel, now() - TimeDelta::hours(1))).await);
    }
    println!(
        "  {what}: kanban's done {}, lessons counted {}, costs of a month {}, an hour of a channel {}",
        median(done),
        median(lessons),
        median(costs),
        median(spoken)
    );
}

async fn time<T>(work: impl Future<Output = kernel::db::Result<T>>) -> Duration {
    let began = Instant::now();
    work.await.expect("it is read");
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("{:.1} ms", times[times.len() / 2].as_secs_f64() * 1000.0)
}
