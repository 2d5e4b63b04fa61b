//! Web feeds that answer after a delay.

use std::time::{Duration, Instant};

use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use chrono::TimeDelta;
use kernel::commands::Services;
use kernel::config::Sources;
use kernel::feeds::FeedQuery;
use kernel::persona::roster::Roster;
use kernel::persona::{file, load};
use kernel::time::{Clock as _, SharedClock, SystemClock};
use serde_json::json;
use teamroom::store::Store;
use teamroom::{app, config};

use crate::stage::millis;

/// The delays of the second measurement, in milliseconds.
const DELAYS: [u64; 8] = [100, 200, 300, 400, 500, 600, 700, 800];

/// A web server on loopback, stopped on drop.
pub(crate) struct FeedServer {
    address: std::net::SocketAddr,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for FeedServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl FeedServer {
    pub(crate) async fn start() -> Self {
        let app = Router::new().route("/figures/{delay}", get(figures)).route("/news", get(news));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let server = tokio::spawn(async move { axum::serve(listener, app).await.expect("the server runs until it is dropped") });
        Self { address, server }
    }

    /// Two personas with three feeds each.
    pub(crate) fn personas(&self) -> [(String, String); 2] {
        let figures = |name: &str, values: &str| {
            format!("  - {{kind: http_json, name: {name}, url: \"http://{}/figures/0\", values: {values}, time: /at}}\n", self.address)
        };
        let bruno = figures("checkout", "{p50: {pointer: /p50, unit: ms}, p99: {pointer: /p99, unit: ms}, errors: /errors}")
            + &figures("jobs", "{waiting: /waiting, failed: /failed}")
            + &figures("hosts", "{up: /up, down: /down, disk: {pointer: /disk, unit: \"%\"}}");
        let clara = figures("sales", "{orders: /orders, revenue: {pointer: /revenue, unit: $}}")
            + &figures("support", "{open: /open, unanswered: /unanswered}")
            + &format!("  - {{kind: rss, name: industry, url: \"http://{}/news\"}}\n", self.address);
        [("bruno.md".into(), persona("Bruno", &bruno)), ("clara.md".into(), persona("Clara", &clara))]
    }
}

fn persona(name: &str, feeds: &str) -> String {
    format!(
        "---\nname: {name}\nrole: extra\ncolor: \"#336699\"\nfeeds:\n{feeds}standup:\n  role: Report what your figures did since the last report.\n  \
         cap: 600\n---\nYou are {name}. You watch figures and say what changed, with units, and nothing else.\n"
    )
}

async fn figures(Path(delay): Path<u64>) -> impl IntoResponse {
    tokio::time::sleep(Duration::from_millis(delay)).await;
    Json(json!({
        "at": SystemClock.now().to_rfc3339(), "p50": 120, "p99": 840, "errors": 3, "waiting": 17, "failed": 2, "up": 41, "down": 1, "disk": 71,
        "orders": 1204, "revenue": 48_211.5, "open": 63, "unanswered": 9,
    }))
}

async fn news() -> impl IntoResponse {
    let item = |number: i64| {
        let at = (SystemClock.now() - TimeDelta::hours(number)).to_rfc2822();
        format!(
            "<item><title>Notice {number} of the trade on prices and delays</title><guid>n{number}</guid><pubDate>{at}</pubDate></item>"
        )
    };
    let items: String = (1..=10).map(item).collect();
    let text = format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Trade</title>{items}</channel></rss>");
    ([(header::CONTENT_TYPE, "application/rss+xml")], text)
}

/// Reads feeds with [`DELAYS`] as the standup does, each time over new connections.
pub(crate) async fn time_reading(count: usize) {
    println!("\n{} feeds of {DELAYS:?} ms, read side by side; aim: as long as the slowest", DELAYS.len());
    let server = FeedServer::start().await;
    let feed = |delay: &u64| {
        let url = format!("http://{}/figures/{delay}", server.address);
        format!("  - {{kind: http_json, name: f{delay}, url: \"{url}\", values: {{p50: /p50}}}}\n")
    };
    let feeds = DELAYS.iter().map(feed).collect::<Vec<_>>().concat();
    let slowest = Duration::from_millis(DELAYS[DELAYS.len() - 1]);
    for _ in 0..count {
        let took = read(&persona("Bruno", &feeds)).await;
        println!("{:.1} ms, {:.3} of the slowest", millis(took), took.as_secs_f64() / slowest.as_secs_f64());
    }
}

async fn read(bruno: &str) -> Duration {
    let dir = tempfile::tempdir().expect("a directory");
    let config = config::load(Sources { dir: dir.path().into(), ..Sources::default() }).expect("the defaults are valid");
    let (_, kelly) = load::BUILT_IN.iter().find(|(name, _)| *name == "kelly.md").expect("the coordinator");
    let personas = [("kelly", *kelly), ("bruno", bruno)].map(|(slug, text)| file::parse(slug, text.as_bytes()).expect("a persona"));
    let roster = Roster::new(personas.into()).expect("a roster").into();
    let clock: SharedClock = std::sync::Arc::new(SystemClock);
    let url = format!("sqlite:{}", dir.path().join("teamroom.db").display()).into();
    let store = Store::open(&url, clock.now()).await.expect("the store opens");
    let agents = app::agents(&config, &roster, &store, &clock, &Services::new("nobody commands here")).expect("the agents").agents;
    let now = clock.now();
    let started = Instant::now();
    let page = agents.readings.read_page(&FeedQuery { now, since: now - TimeDelta::days(1), until: now, limit: 12 }).await;
    let took = started.elapsed();
    let read = page.iter().filter(|entry| entry.kind == "http_json" && entry.outcome.is_ok()).count();
    assert_eq!(read, DELAYS.len(), "a feed failed: {page:?}");
    took
}
