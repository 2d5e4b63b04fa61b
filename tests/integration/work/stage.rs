//! A store, a workspace, two feeds, a team and a scripted model.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kernel::agent::{Agents, Readings, Runner};
use kernel::chat::redact::Redactor;
use kernel::feeds;
use kernel::feeds::Feed;
use kernel::llm::budget::Budgets;
use kernel::llm::settings::{ModelRef, ModelSettings, ProviderKind, ProviderSettings};
use kernel::llm::{LedgerMeter, Models};
use kernel::persona::roster::Roster;
use kernel::persona::{FeedSpec, Tier, file, load};
use kernel::repository::Repositories;
use kernel::time::ManualClock;
use kernel::tools::workspace::Workspaces;
use kernel::tools::{CallStatus, Toolbox, Trace};
use serde_json::json;
use teamroom::features::backlog::model::{Claim, Execution, JournalEntry, Origin, Owner, Product, ToolCall, WorkItem};
use teamroom::features::backlog::review::ReviewDeps;
use teamroom::features::backlog::settings::BacklogSettings;
use teamroom::features::backlog::verifier::{Submitted, Verdict, VerifierDeps, verify};
use teamroom::store::Store;
use tokio_util::sync::CancellationToken;

use crate::store::Home;
use crate::support::model::ScriptedModel;
use crate::support::nothing;

/// Must not appear in any output.
pub(super) const SECRET: &str = "TOP-SECRET-KEY";

pub(super) struct Stage {
    pub(super) store: Store,
    pub(super) verifier: VerifierDeps,
    pub(super) workspaces: Workspaces,
    pub(super) readings: Readings,
    pub(super) directory: tempfile::TempDir,
    /// Keeps the database alive.
    #[expect(dead_code, reason = "held, not read")]
    home: Option<Home>,
}

impl Stage {
    /// Uses SQLite, for tests that do not depend on the database.
    pub(super) async fn on_sqlite() -> Self {
        let home = Home::sqlite();
        let stage = Self::new(&home).await;
        Self { home: Some(home), ..stage }
    }

    pub(super) async fn new(home: &Home) -> Self {
        let store = home.open().await;
        let directory = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::new(directory.path().join("work"));
        let readings = readings(&directory);
        let verifier = VerifierDeps {
            store: store.clone(),
            workspaces: workspaces.clone(),
            readings: readings.clone(),
            settings: BacklogSettings::default(),
            repositories: Repositories::default(),
            zone: chrono_tz::Tz::Europe__Berlin,
        };
        Self { store, verifier, workspaces, readings, directory, home: None }
    }

    pub(super) async fn verify(&self, item: &WorkItem, claims: &[Claim], journal: &[JournalEntry]) -> Verdict {
        self.try_verify(item, claims, journal).await.unwrap()
    }

    pub(super) async fn try_verify(&self, item: &WorkItem, claims: &[Claim], journal: &[JournalEntry]) -> anyhow::Result<Verdict> {
        let product = product(claims);
        verify(&self.verifier, &Submitted { item, product: &product, journal, earlier: &[], now: now() }, &CancellationToken::new()).await
    }

    /// As [`Self::verify`], for a run after another one.
    pub(super) async fn verify_again(
        &self,
        item: &WorkItem,
        claims: &[Claim],
        earlier: &[JournalEntry],
        journal: &[JournalEntry],
    ) -> Verdict {
        let product = product(claims);
        let submitted = Submitted { item, product: &product, journal, earlier, now: now() };
        verify(&self.verifier, &submitted, &CancellationToken::new()).await.unwrap()
    }

    /// Writes a file like the tool does. Returns the journal entry.
    pub(super) async fn write(&self, item: &WorkItem, path: &str, contents: &[u8]) -> JournalEntry {
        let written = self.workspaces.open(&item.id).await.unwrap().write(path, contents).await.unwrap();
        returned("write", false, Some(Trace::Wrote { path: written.path, sha256: written.sha256, bytes: written.bytes }))
    }

    /// A reviewer with this model and budget.
    pub(super) fn reviewer(&self, model: Option<&ScriptedModel>, budgets: Budgets) -> ReviewDeps {
        let agents = Arc::new(self.agents(model, budgets));
        ReviewDeps { store: self.store.clone(), agents, workspaces: self.workspaces.clone(), reviewer: None }
    }

    pub(super) fn agents(&self, model: Option<&ScriptedModel>, budgets: Budgets) -> Agents {
        let clock = Arc::new(ManualClock::new(now()));
        let (meter, _) = LedgerMeter::new(self.store.database(), budgets, clock.clone());
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let models = Models::new(&model.map(settings).unwrap_or_default(), &http, meter, clock.clone()).unwrap();
        let tools = Toolbox::new(Vec::new(), clock.clone());
        Agents {
            runner: Runner { models, tools, redactor: Redactor::new(&[SECRET.into()]), clock },
            roster: Arc::new(roster()),
            team: "Teamroom".into(),
            store: self.store.database(),
            readings: self.readings.clone(),
            speech: None,
            transcription: None,
            max_output_tokens: 500,
        }
    }
}

pub(super) fn now() -> DateTime<Utc> {
    "2026-11-22T10:00:00Z".parse().unwrap()
}

pub(super) fn roster() -> Roster {
    let personas = load::BUILT_IN.iter().map(|(name, text)| file::parse(name.trim_end_matches(".md"), text.as_bytes()).unwrap());
    Roster::new(personas.collect()).unwrap()
}

/// A model with one attempt per call.
fn settings(model: &ScriptedModel) -> ModelSettings {
    ModelSettings {
        providers: vec![ProviderSettings {
            name: "main".into(),
            kind: ProviderKind::OpenAi,
            base_url: model.base_url(),
            key: Some("key".into()),
            parallel: 4,
        }],
        tiers: [(Tier::T1, vec![ModelRef { provider: "main".into(), model: "small".into() }])].into(),
        attempts: 1,
        ..ModelSettings::default()
    }
}

/// `shop` and `docs`. Nobody reads them here; their data is in the store or a journal.
fn readings(directory: &tempfile::TempDir) -> Readings {
    let clock = Arc::new(ManualClock::new(now()));
    let sources = nothing::feed_sources(directory.path(), clock.clone());
    let build = |kind: &str, name: &str, settings: serde_json::Value| -> Feed {
        let serde_json::Value::Object(settings) = settings else { panic!("settings are an object") };
        feeds::build(&FeedSpec { kind: kind.into(), name: name.into(), settings }, &sources).unwrap()
    };
    let shop = build("http_json", "shop", json!({"url": "http://127.0.0.1:9/", "values": {"p95": "/p95"}}));
    let docs = build("files", "docs", json!({}));
    Readings::new(HashMap::from([("vince".into(), vec![shop, docs])]), clock)
}

/// An item of Vince.
pub(super) fn item(execution: Execution) -> WorkItem {
    WorkItem {
        execution: Some(execution),
        persona: Some("vince".into()),
        ..WorkItem::new("Compare prices of scanners", Owner::Persona("vince".into()), Origin::CommandLine, now())
    }
}

pub(super) fn product(claims: &[Claim]) -> Product {
    Product { summary: "All is well, believe me.".into(), claims: claims.to_vec(), ..Product::default() }
}

pub(super) fn file(path: &str) -> Claim {
    Claim::File { path: path.into() }
}

pub(super) fn returned(call: &str, outside: bool, trace: Option<Trace>) -> JournalEntry {
    JournalEntry::Returned { call: call.into(), text: "What it gave.".into(), outside, status: CallStatus::Ok, trace }
}

/// The entry of a fetched page without redirects.
pub(super) fn fetched(url: &str) -> JournalEntry {
    fetched_from(url, url)
}

pub(super) fn fetched_from(url: &str, from: &str) -> JournalEntry {
    let trace = Trace::Fetched { url: url.into(), from: from.into(), sha256: "aa".into(), at: now(), links: Vec::new() };
    returned("fetch", true, Some(trace))
}

pub(super) fn refused(entry: JournalEntry) -> JournalEntry {
    ended(entry, CallStatus::Refused)
}

/// The entry of the same call with this status as its end.
pub(super) fn ended(entry: JournalEntry, status: CallStatus) -> JournalEntry {
    match entry {
        JournalEntry::Returned { call, text, outside, trace, .. } => JournalEntry::Returned { call, text, outside, status, trace },
        other => other,
    }
}

/// The entry of a tool call.
pub(super) fn called(id: &str, tool: &str) -> JournalEntry {
    let call = ToolCall { id: id.into(), name: tool.into(), arguments: json!({}) };
    JournalEntry::Replied { text: String::new(), calls: vec![call], model: "main/small".into() }
}
