//! Benchmarks the memory: `cargo bench --bench memory`, or with `-- --short` for a quick run. Target: 95 % of questions under 20 ms at 100,000
//! memories.
//!
//! Words occur as often as in real text: the most frequent one in every tenth place, the tenth in every hundredth. Both sizes and both stores are asked
//! the same questions in one run.

#[path = "../tests/integration/support/port.rs"]
mod port;
#[path = "../tests/integration/support/postgres.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod postgres;
#[path = "../crates/local-server/tests/support/skip.rs"]
mod skip;

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use kernel::ids::MemoryId;
use kernel::memory::{Memory, MemoryKind, MemorySource, Recall, Scope};
use secrecy::SecretString;
use sqlx::{Connection as _, PgConnection};
use teamroom::store::Store;

/// The number of different words, then the number of words in a memory and in a question.
const VOCABULARY: usize = 20_000;
const LONG: usize = 18;
const ASKED: usize = 5;

/// The number of memories that are stored at once.
const CHUNK: usize = 1000;

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (few, many, questions) = if short { (100, 2_000, 50) } else { (1_000, 100_000, 500) };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        for has_postgres in [false, true] {
            let name = if has_postgres { "PostgreSQL" } else { "SQLite" };
            for size in [few, many] {
                let dir = tempfile::tempdir().expect("a directory");
                let url = if has_postgres {
                    let Some(url) = postgres::database().await else { return };
                    url
                } else {
                    format!("sqlite:{}", dir.path().join("team.db").display())
                };
                let store = Store::open_shared(&SecretString::from(url.as_str()), now()).await.expect("the store opens");
                fill(&store, size).await;
                if has_postgres {
                    vacuum(&url).await;
                }
                println!("{name}, {size} memories: {}", spell(&mut ask(&store, questions).await));
            }
        }
    });
}

fn now() -> DateTime<Utc> {
    "2026-11-20T10:00:00Z".parse().expect("a time")
}

/// A random word. Frequent words have low numbers, and each digit is a syllable.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is far below the limits")]
fn word(random: &mut fastrand::Rng) -> String {
    let rank = (VOCABULARY as f64).powf(random.f64()) as usize;
    let syllables = ["ba", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu"];
    rank.to_string().chars().filter_map(|digit| syllables.get(digit.to_digit(10)? as usize)).copied().collect()
}

fn text(random: &mut fastrand::Rng, words: usize) -> String {
    (0..words).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

async fn fill(store: &Store, size: usize) {
    let mut random = fastrand::Rng::with_seed(7);
    let all: Vec<Memory> = (0..size)
        .map(|number| {
            let at = now() - TimeDelta::minutes(i64::try_from(number).unwrap_or(i64::MAX));
            let memory = Memory::new(MemoryKind::Lesson, text(&mut random, LONG), MemorySource::WorkItem("item".into()), at);
            Memory { id: MemoryId::new(format!("m{number}")), significance: random.f64(), ..memory }
        })
        .collect();
    for chunk in all.chunks(CHUNK) {
        store.record_memories(chunk).await.expect("they are stored");
    }
}

/// The tests' server does not vacuum by itself. Other servers do within a minute.
async fn vacuum(url: &str) {
    let mut connection = PgConnection::connect(url).await.expect("the server accepts connections");
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut connection).await.expect("the tables are vacuumed");
}

async fn ask(store: &Store, questions: usize) -> Vec<Duration> {
    let mut random = fastrand::Rng::with_seed(8);
    let mut times = Vec::new();
    for _ in 0..questions {
        let subject = text(&mut random, ASKED);
        let began = Instant::now();
        let vince = "vince".into();
        let asked = Recall::new(&subject, &Scope::TEAM, 5).of(&vince);
        store.recall_for_prompt(&asked).await.expect("the store answers");
        times.push(began.elapsed());
    }
    times
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is far below the limits")]
fn spell(times: &mut [Duration]) -> String {
    // The first question reads all memories into the index.
    let first = times[0].as_secs_f64() * 1000.0;
    let times = &mut times[1..];
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    format!("the first {first:.1} ms, then p50 {:.1} ms, p95 {:.1} ms, worst {:.1} ms", at(0.5), at(0.95), at(1.0))
}
