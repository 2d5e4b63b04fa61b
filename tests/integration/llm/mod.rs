//! Models over HTTP, with a scripted server.

mod answers;
mod failures;
mod fallback;
mod nearby;
mod runs;
mod structured;
mod trial;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::agent::Runner;
use kernel::chat::redact::Redactor;
use kernel::llm::settings::{ModelPrice, ModelRef, ModelSettings, ProviderKind, ProviderSettings};
use kernel::llm::{Call, Meter, ModelError, ModelMessage, ModelReply, ModelRequest, Models};
use kernel::money::{Allowance, Purpose, Reservation, Settlement};
use kernel::persona::Tier;
use kernel::time::{Clock, SharedClock};
use kernel::tools::Toolbox;
use tokio_util::sync::CancellationToken;

use crate::support::model::ScriptedModel;

const KEY: &str = "TOP-SECRET-KEY";
const BOTH: [ProviderKind; 2] = [ProviderKind::OpenAi, ProviderKind::Anthropic];

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while holding it")
}

/// A meter that records its calls.
#[derive(Default)]
struct RecordingMeter {
    reserved: Mutex<Vec<Reservation>>,
    settled: Mutex<Vec<Settlement>>,
    refuses: Mutex<Option<ModelError>>,
    loses_settlements: bool,
    resting: Mutex<Vec<(ModelRef, DateTime<Utc>)>>,
}

impl RecordingMeter {
    fn reserved(&self) -> Vec<Reservation> {
        lock(&self.reserved).clone()
    }

    fn settled(&self) -> Vec<Settlement> {
        lock(&self.settled).clone()
    }

    /// Checks that every reservation was settled once, in order.
    fn assert_balanced(&self) {
        let reserved: Vec<_> = self.reserved().into_iter().map(|reservation| reservation.id).collect();
        let settled: Vec<_> = self.settled().into_iter().map(|settlement| settlement.id).collect();
        assert_eq!(reserved, settled);
    }
}

#[async_trait]
impl Meter for RecordingMeter {
    async fn reserve(&self, reservation: &Reservation) -> Result<(), ModelError> {
        if let Some(error) = lock(&self.refuses).clone() {
            return Err(error);
        }
        lock(&self.reserved).push(reservation.clone());
        Ok(())
    }

    async fn settle(&self, settlement: &Settlement) -> Result<(), ModelError> {
        if self.loses_settlements {
            return Err(ModelError::Ledger("the disk is full".into()));
        }
        lock(&self.settled).push(settlement.clone());
        Ok(())
    }

    async fn calls_left(&self, allowance: &Allowance) -> Result<u32, ModelError> {
        let used = lock(&self.reserved).iter().filter(|reserved| reserved.allowance.as_ref() == Some(allowance)).count();
        Ok(allowance.calls.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX)))
    }

    async fn rest(&self, model: &ModelRef, until: Option<DateTime<Utc>>) -> Result<(), ModelError> {
        let mut resting = lock(&self.resting);
        resting.retain(|(known, _)| known != model);
        resting.extend(until.map(|until| (model.clone(), until)));
        Ok(())
    }

    async fn list_resting(&self, now: DateTime<Utc>) -> Result<Vec<(ModelRef, DateTime<Utc>)>, ModelError> {
        Ok(lock(&self.resting).iter().filter(|(_, until)| *until > now).cloned().collect())
    }
}

/// A clock on which every sleep ends at once.
#[derive(Default)]
struct EagerClock {
    slept: Mutex<Vec<Duration>>,
}

impl EagerClock {
    fn slept(&self) -> Vec<Duration> {
        lock(&self.slept).clone()
    }
}

#[async_trait]
impl Clock for EagerClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + self.slept().iter().sum::<Duration>()
    }

    async fn sleep(&self, duration: Duration) {
        lock(&self.slept).push(duration);
    }
}

/// Models with a scripted server, and their ledger.
struct Desk {
    runner: Runner,
    meter: Arc<RecordingMeter>,
}

impl Desk {
    fn new(settings: &ModelSettings, clock: SharedClock) -> Self {
        Self::with_meter(settings, clock, RecordingMeter::default())
    }

    fn with_meter(settings: &ModelSettings, clock: SharedClock, meter: RecordingMeter) -> Self {
        let meter = Arc::new(meter);
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout)
            .build()
            .expect("a client");
        let models = Models::new(settings, &http, Arc::<RecordingMeter>::clone(&meter), clock.clone());
        let models = models.expect("every tier names a known provider");
        let (tools, redactor) = (Toolbox::new(Vec::new(), clock.clone()), Redactor::new(&[]));
        Self { runner: Runner { models, tools, redactor, clock }, meter }
    }

    /// One model of this protocol at t1, with a clock that never waits.
    fn of(server: &ScriptedModel, kind: ProviderKind) -> Self {
        Self::new(&settings(&[("main", kind, server)], &[(Tier::T1, &[("main", "small")])]), Arc::new(EagerClock::default()))
    }

    async fn ask(&self, tier: Tier) -> Result<ModelReply, ModelError> {
        self.runner.models.complete(&call(tier), &request("What now?"), &CancellationToken::new()).await
    }
}

fn call(tier: Tier) -> Call {
    Call { persona: Some("vince".into()), purpose: Purpose::Chat, subject: "turn-1".into(), tier, allowance: None }
}

fn request(text: &str) -> ModelRequest {
    ModelRequest {
        system: "You are Vince.\nBe short.".into(),
        messages: vec![ModelMessage::User(text.into())],
        max_output_tokens: 100,
        ..ModelRequest::default()
    }
}

/// Settings with these providers and tiers. Default time-outs, so that a busy machine causes no failures; some tests shorten them.
fn settings(providers: &[(&str, ProviderKind, &ScriptedModel)], tiers: &[(Tier, &[(&str, &str)])]) -> ModelSettings {
    let name = |(provider, model): &(&str, &str)| ModelRef { provider: (*provider).into(), model: (*model).into() };
    ModelSettings {
        providers: providers
            .iter()
            .map(|(name, kind, server)| ProviderSettings {
                name: (*name).into(),
                kind: *kind,
                base_url: server.base_url(),
                key: Some(KEY.into()),
                parallel: 4,
            })
            .collect(),
        tiers: tiers.iter().map(|(tier, models)| (*tier, models.iter().map(name).collect())).collect(),
        prices: BTreeMap::from([("small".to_owned(), ModelPrice { input: 1.0, cached: 0.1, output: 2.0, minute: 0.0 })]),
        ..ModelSettings::default()
    }
}
