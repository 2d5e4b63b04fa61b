//! The HTTP server on a store without the rest of the team, so that items keep their state.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use kernel::commands::{Registry, Services};
use kernel::llm::budget::Budgets;
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::persona::{file, load};
use kernel::repository::Repositories;
use kernel::time::{ManualClock, SharedClock};
use secrecy::SecretString;
use teamroom::adapters::http;
use teamroom::adapters::http::Shown;
use teamroom::adapters::http::settings::ServerSettings;
use teamroom::app::telemetry;
use teamroom::config::PLATFORM;
use teamroom::features;
use teamroom::features::backlog::model::{Origin, Owner, WorkItem, WorkStatus, WorkingHours};
use teamroom::features::backlog::service::{self, Backlog};
use teamroom::features::chat::commands::authorizer;
use teamroom::features::chat::settings::ChatSettings;
use teamroom::store::Store;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::migrated;
use crate::support::nobody::Nobody;
use crate::support::team::Backing;

pub(crate) const TOKEN: &str = "correct-horse-battery";

pub(crate) fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).single().expect("a time")
}

/// An item of Vince with a status and an age in minutes.
pub(crate) fn item(what: &str, status: WorkStatus, minutes: i64) -> WorkItem {
    let at = noon() - TimeDelta::minutes(minutes);
    WorkItem { status, ..WorkItem::new(what, Owner::Persona("vince".into()), Origin::CommandLine, at) }
}

pub(crate) struct Stage {
    /// The database.
    pub(crate) database: SecretString,
    pub(crate) store: Store,
    pub(crate) address: SocketAddr,
    pub(crate) clock: ManualClock,
    pub(crate) commands: Arc<Registry>,
    pub(crate) http: reqwest::Client,
    /// Whether the fake team reports that it receives all messages.
    pub(crate) listening: Arc<AtomicBool>,
    stop: CancellationToken,
    _services: Services,
    _directory: tempfile::TempDir,
}

impl Stage {
    /// A server for this machine only.
    pub(crate) async fn start(backing: Backing) -> Self {
        Self::start_with(backing, "127.0.0.1:0", ServerSettings::default()).await
    }

    /// A server that asks for a token.
    pub(crate) async fn start_with_token(listen: &str) -> Self {
        let settings = ServerSettings { token: Some(SecretString::from(TOKEN)), ..ServerSettings::default() };
        Self::start_with(Backing::Sqlite, listen, settings).await
    }

    pub(crate) async fn start_with(backing: Backing, listen: &str, settings: ServerSettings) -> Self {
        let clock = ManualClock::new(noon());
        Self::start_by(backing, listen, settings, clock.clone(), Arc::new(clock)).await
    }

    /// A server with real time, for a browser.
    pub(crate) async fn start_in_time(settings: ServerSettings) -> Self {
        Self::start_by(Backing::Sqlite, "127.0.0.1:0", settings, ManualClock::new(noon()), Arc::new(kernel::time::SystemClock)).await
    }

    async fn start_by(backing: Backing, listen: &str, settings: ServerSettings, clock: ManualClock, shared: SharedClock) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = migrated::on(backing, &directory.path().join("teamroom.db"), "no platform").await;
        let database = SecretString::from(url);
        let store = Store::open(&database, noon()).await.expect("the store opens");
        let listener = TcpListener::bind(listen).await.expect("a free port");
        let listening = Arc::new(AtomicBool::new(true));
        let ears = listening.clone();
        let roster = Arc::new(roster());
        let services = Services::new("not here");
        let commands = Arc::new(features::registry(PLATFORM, &services, authorizer(ChatSettings::default(), &services)));
        services.provide(Arc::new(Backlog::new(service::Deps {
            store: store.clone(),
            roster: roster.clone(),
            people: People::new(store.database(), vec![("discord:7".into(), "Ben".into())]),
            repositories: Repositories::new(Vec::new(), directory.path()),
            budgets: Budgets::default(),
            zone: chrono_tz::Tz::UTC,
            working_hours: WorkingHours::default(),
            most_rejections: 3,
            chat: ChatSettings::default(),
            is_offline: true,
            kanban: Some("http://127.0.0.1:9464/backlog".into()),
            clock: shared.clone(),
        })));
        let shown = Shown {
            team: "Night <shift>".into(),
            settings,
            roster,
            store: store.clone(),
            zone: chrono_tz::Tz::UTC,
            platform: Arc::new(Nobody),
            is_listening: Arc::new(move || ears.load(Ordering::Relaxed)),
            metrics: telemetry::start_metrics(),
            commands: commands.clone(),
            budgets: Budgets::default(),
            clock: shared,
        };
        let stop = CancellationToken::new();
        let address = http::serve(listener, shown, stop.clone()).expect("the server starts");
        // A server bound to all addresses is requested at loopback.
        let address = SocketAddr::from(([127, 0, 0, 1], address.port()));
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_mins(1))
            .build()
            .expect("a client");
        Self { database, store, address, clock, http, listening, stop, commands, _services: services, _directory: directory }
    }

    pub(crate) async fn insert(&self, items: &[WorkItem]) {
        self.store.insert_items(items, noon()).await.expect("the items are inserted");
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, path: &str) -> String {
        let response = self.http.get(self.url(path)).send().await.expect("an answer");
        assert!(response.status().is_success(), "{path}: {}", response.status());
        response.text().await.expect("a text")
    }

    pub(crate) async fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&self.get(path).await).expect("JSON")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn roster() -> Roster {
    let personas = load::BUILT_IN.iter().map(|(name, text)| file::parse(name.trim_end_matches(".md"), text.as_bytes()).expect("a persona"));
    Roster::new(personas.collect()).expect("a roster")
}
