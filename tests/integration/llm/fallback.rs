use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use kernel::llm::settings::{ModelRef, ModelSettings, ProviderKind};
use kernel::llm::{BreakerState, ModelError, Models};
use kernel::money::{Limit, Refused};
use kernel::persona::Tier;
use kernel::time::{Clock as _, ManualClock, SystemClock};
use tokio_util::sync::CancellationToken;

use super::{Desk, EagerClock, call, request, settings};
use crate::support::model::{Asked, Script, ScriptedModel};

fn three_tiers(first: &ScriptedModel, second: &ScriptedModel) -> ModelSettings {
    settings(
        &[("first", ProviderKind::OpenAi, first), ("second", ProviderKind::Anthropic, second)],
        &[
            (Tier::T3, &[("first", "best"), ("second", "also-best")]),
            (Tier::T2, &[("first", "strong")]),
            (Tier::T1, &[("second", "small"), ("first", "best")]),
        ],
    )
}

fn models_asked(server: &ScriptedModel) -> Vec<String> {
    server.requests().into_iter().map(|asked| asked.model).collect()
}

fn refuse(_: &Asked) -> Script {
    Script::status(400)
}

#[tokio::test]
async fn a_call_falls_from_model_to_model_and_from_tier_to_tier() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(refuse);
    second.on(|asked| if asked.model == "small" { Script::say("From below.") } else { Script::status(404) });
    let desk = Desk::new(&three_tiers(&first, &second), Arc::new(EagerClock::default()));
    let reply = desk.ask(Tier::T3).await.expect("an answer");
    assert_eq!((reply.text.as_str(), reply.provider.as_str(), reply.model.as_str()), ("From below.", "second", "small"));
    assert_eq!(
        (models_asked(&first), models_asked(&second)),
        (vec!["best".to_owned(), "strong".into()], vec!["also-best".into(), "small".into()])
    );
    let tiers: Vec<_> = desk.meter.reserved().into_iter().map(|reservation| reservation.tier).collect();
    assert_eq!(tiers, [Tier::T3, Tier::T3, Tier::T2, Tier::T1]);
}

#[tokio::test]
async fn a_model_that_declines_is_asked_once_and_its_reason_outlives_the_failures_of_others() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(|_| Script::Filtered);
    second.next([Script::say("From another one.")]);
    let settings = settings(
        &[("first", ProviderKind::OpenAi, &first), ("second", ProviderKind::Anthropic, &second)],
        &[(Tier::T1, &[("first", "small"), ("second", "small")])],
    );
    let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
    assert_eq!(desk.ask(Tier::T1).await.expect("an answer").provider, "second");
    assert_eq!((first.count(), second.count()), (1, 1));
    second.on(|_| Script::status(404));
    assert_eq!(desk.ask(Tier::T1).await, Err(ModelError::Declined { provider: "first".into(), said: None }));
    assert_eq!((first.count(), second.count()), (2, 2));
}

#[tokio::test]
async fn a_call_never_climbs_and_asks_no_model_twice_for_standing_in_two_tiers() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(refuse);
    second.on(refuse);
    let desk = Desk::new(&three_tiers(&first, &second), Arc::new(EagerClock::default()));
    assert_eq!(desk.ask(Tier::T1).await.expect_err("no answer").kind(), "refused");
    assert_eq!((models_asked(&first), models_asked(&second)), (vec!["best".to_owned()], vec!["small".into()]));
    desk.ask(Tier::T3).await.expect_err("no answer");
    assert_eq!(models_asked(&first)[1..], ["best", "strong"]);
}

#[tokio::test]
async fn three_attempts_are_all_that_one_call_makes_over_one_provider() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(|_| Script::status(529));
    let desk = Desk::new(&three_tiers(&first, &second), Arc::new(EagerClock::default()));
    assert_eq!(desk.ask(Tier::T3).await.expect("an answer").model, "also-best");
    assert_eq!(first.count(), 3);
    let desk = Desk::new(
        &settings(&[("only", ProviderKind::OpenAi, &first)], &[(Tier::T1, &[("only", "a"), ("only", "b")])]),
        Arc::new(EagerClock::default()),
    );
    desk.ask(Tier::T1).await.expect_err("no answer");
    assert_eq!(first.count(), 6);
}

#[tokio::test]
async fn the_breaker_keeps_calls_away_until_a_probe_succeeds() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(|_| Script::Garbage);
    let settings = settings(
        &[("first", ProviderKind::OpenAi, &first), ("second", ProviderKind::Anthropic, &second)],
        &[(Tier::T1, &[("first", "small"), ("second", "small")])],
    );
    let clock = ManualClock::new(DateTime::UNIX_EPOCH);
    let desk = Desk::new(&settings, Arc::new(clock.clone()));
    for _ in 0..4 {
        assert_eq!(desk.ask(Tier::T1).await.expect("an answer").provider, "second");
    }
    assert_eq!(first.count(), 5, "two attempts a call, and none after the fifth failure");
    let status = &desk.runner.models.status()[0];
    assert!(matches!(status.breaker, BreakerState::Open { .. }) && status.last_error.is_some(), "{status:?}");

    clock.advance(Duration::from_secs(31));
    desk.ask(Tier::T1).await.expect("an answer");
    assert_eq!(first.count(), 6, "one probe");
    first.on(|_| Script::say("Back again."));
    clock.advance(Duration::from_secs(31));
    for _ in 0..2 {
        assert_eq!(desk.ask(Tier::T1).await.expect("an answer").provider, "first");
    }
    let status = &desk.runner.models.status()[0];
    assert_eq!((status.breaker, &status.last_error), (BreakerState::Closed { failures: 0 }, &None));
}

fn busy_for(seconds: u32) -> Script {
    Script::Status { code: 429, body: "slow down".into(), headers: vec![("retry-after", seconds.to_string())] }
}

#[tokio::test]
async fn the_pause_that_a_provider_asks_for_is_kept() {
    let server = ScriptedModel::start().await;
    server.next([busy_for(7)]);
    let settings = settings(&[("main", ProviderKind::OpenAi, &server)], &[(Tier::T1, &[("main", "small")])]);
    let clock = ManualClock::new(DateTime::UNIX_EPOCH);
    let desk = Arc::new(Desk::new(&settings, Arc::new(clock.clone())));
    let asking = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move { desk.ask(Tier::T1).await }
    });
    while clock.sleepers() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.runner.models.status()[0].in_flight, 0, "nobody holds a slot while it waits");
    clock.advance(Duration::from_millis(6999));
    assert_eq!((clock.sleepers(), server.count()), (1, 1));
    clock.advance(Duration::from_millis(1));
    assert!(asking.await.expect("no panic").is_ok());
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_pause_longer_than_the_calls_time_means_the_next_model_at_once() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.on(|_| busy_for(600));
    let clock = Arc::new(EagerClock::default());
    let desk = Desk::new(&three_tiers(&first, &second), Arc::<EagerClock>::clone(&clock));
    assert_eq!(desk.ask(Tier::T3).await.expect("an answer").model, "also-best");
    assert_eq!((first.count(), clock.slept().len()), (1, 0));
}

#[tokio::test]
async fn a_model_that_is_used_up_for_hours_is_not_asked_before_its_time_and_another_one_is() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    first.next([busy_for(2 * 3600)]);
    first.on(|_| Script::say("Back again."));
    let mut settings = settings(
        &[("first", ProviderKind::OpenAi, &first), ("second", ProviderKind::Anthropic, &second)],
        &[(Tier::T1, &[("first", "small"), ("second", "small")])],
    );
    let clock = ManualClock::new(DateTime::UNIX_EPOCH);
    let desk = Desk::new(&settings, Arc::new(clock.clone()));
    for _ in 0..3 {
        assert_eq!(desk.ask(Tier::T1).await.expect("an answer").provider, "second");
        clock.advance(Duration::from_mins(39));
    }
    assert_eq!(first.count(), 1);
    clock.advance(Duration::from_mins(3));
    assert_eq!(desk.ask(Tier::T1).await.expect("an answer").provider, "first");

    // Alone it fails at once, with the time.
    settings.tiers.insert(Tier::T1, vec![ModelRef { provider: "first".into(), model: "small".into() }]);
    let desk = Desk::new(&settings, Arc::new(clock.clone()));
    first.next([busy_for(2 * 3600)]);
    let until = clock.now() + Duration::from_hours(2);
    for _ in 0..2 {
        assert_eq!(desk.ask(Tier::T1).await, Err(ModelError::UsedUp { provider: "first".into(), until }));
    }
    assert_eq!(first.count(), 3);
    desk.runner.models.try_each().await;
    assert!(desk.ask(Tier::T1).await.is_ok(), "the doctor has found that it answers again");
}

#[tokio::test]
async fn a_call_that_waits_for_its_next_attempt_can_be_cancelled() {
    let server = ScriptedModel::start().await;
    server.next([busy_for(60)]);
    let settings = settings(&[("main", ProviderKind::OpenAi, &server)], &[(Tier::T1, &[("main", "small")])]);
    let clock = ManualClock::new(DateTime::UNIX_EPOCH);
    let desk = Desk::new(&settings, Arc::new(clock.clone()));
    let cancel = CancellationToken::new();
    let (call, request) = (call(Tier::T1), request("What now?"));
    let (result, ()) = tokio::join!(desk.runner.models.complete(&call, &request, &cancel), async {
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(result, Err(ModelError::Cancelled));
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_their_turn_in_order() {
    let server = ScriptedModel::start().await;
    server.on(|asked| Script::SaySlowly { text: asked.last().to_owned(), pause: Duration::from_millis(20) });
    let mut settings = settings(&[("main", ProviderKind::OpenAi, &server)], &[(Tier::T1, &[("main", "small")])]);
    settings.providers[0].parallel = 1;
    let desk = Desk::new(&settings, Arc::new(SystemClock));
    let texts: Vec<String> = (0..5).map(|number| format!("call {number}")).collect();
    let calls = texts.iter().map(|text| {
        let desk = &desk;
        async move { desk.runner.models.complete(&call(Tier::T1), &request(text), &CancellationToken::new()).await.expect("an answer").text }
    });
    assert_eq!(futures_util::future::join_all(calls).await, texts);
    let arrived: Vec<_> = server.requests().into_iter().map(|asked| asked.last().to_owned()).collect();
    assert_eq!(arrived, texts);
}

#[tokio::test]
async fn waiting_for_a_slot_ends_with_the_calls_time() {
    let server = ScriptedModel::start().await;
    server.on(|_| Script::Hang);
    let mut settings = settings(&[("main", ProviderKind::OpenAi, &server)], &[(Tier::T1, &[("main", "small")])]);
    settings.providers[0].parallel = 1;
    settings.total_timeout = Duration::from_millis(200);
    let desk = Desk::new(&settings, Arc::new(SystemClock));
    let (first, second) = tokio::join!(desk.ask(Tier::T1), desk.ask(Tier::T1));
    assert_eq!(first.expect_err("silence").kind(), "timed_out");
    assert!(matches!(second.expect_err("no slot").kind(), "busy" | "timed_out"));
}

#[tokio::test]
async fn a_used_up_budget_ends_the_call_before_it_is_made() {
    let (first, second) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let desk = Desk::new(&three_tiers(&first, &second), Arc::new(EagerClock::default()));
    let over_budget = Refused { limit: Limit::Day, spent: 5_000_000, allowed: 5_000_000 };
    for error in [ModelError::OutOfBudget(over_budget), ModelError::Ledger("the disk is full".into())] {
        *super::lock(&desk.meter.refuses) = Some(error.clone());
        assert_eq!(desk.ask(Tier::T3).await, Err(error));
    }
    assert_eq!((first.count(), second.count()), (0, 0));
}

#[tokio::test]
async fn without_a_model_the_team_is_offline() {
    let desk = Desk::new(&ModelSettings::default(), Arc::new(EagerClock::default()));
    assert!(desk.runner.models.is_offline() && desk.runner.models.status().is_empty());
    assert_eq!(desk.ask(Tier::T3).await, Err(ModelError::NoModel));
}

#[tokio::test]
async fn a_tier_that_names_an_unknown_provider_is_refused() {
    let server = ScriptedModel::start().await;
    let mut settings = settings(&[("main", ProviderKind::OpenAi, &server)], &[]);
    settings.tiers.insert(Tier::T2, vec![ModelRef { provider: "mian".into(), model: "m".into() }]);
    let meter = Arc::new(super::RecordingMeter::default());
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let error = Models::new(&settings, &http, meter, Arc::new(SystemClock)).err().expect("an unknown provider");
    assert_eq!(error.to_string(), "tier t2 uses the provider \"mian\", which is not configured");
}

#[tokio::test]
async fn calls_tokens_and_latency_are_counted() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _installed = metrics::set_default_local_recorder(&recorder);
    let server = ScriptedModel::start().await;
    server.next([Script::status(529)]);
    Desk::of(&server, ProviderKind::OpenAi).ask(Tier::T1).await.expect("an answer");
    let page = handle.render();
    for line in [
        r#"teamroom_model_calls_total{provider="main",model="small",outcome="busy"} 1"#,
        r#"teamroom_model_calls_total{provider="main",model="small",outcome="answered"} 1"#,
        r#"teamroom_model_latency_seconds_count{provider="main",model="small"} 2"#,
        r#"teamroom_model_tokens_total{kind="input"}"#,
    ] {
        assert!(page.contains(line), "{line} is missing in\n{page}");
    }
}
