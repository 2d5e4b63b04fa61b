use std::sync::Arc;
use std::time::Duration;

use kernel::llm::ModelError;
use kernel::llm::settings::{ModelSettings, ProviderKind};
use kernel::money::{CallOutcome, TokenUsage};
use kernel::persona::Tier;
use kernel::time::Clock;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{BOTH, Desk, EagerClock, KEY, call, request, settings};
use crate::support::model::{Script, ScriptedModel};

fn one_model(server: &ScriptedModel, kind: ProviderKind) -> ModelSettings {
    settings(&[("main", kind, server)], &[(Tier::T1, &[("main", "small")])])
}

async fn assert_ends(script: &Script, error: &str, attempts: usize) {
    assert_ends_within(ModelSettings::default(), script, error, attempts).await;
}

/// Lets every attempt end like this, and checks the error, the number of attempts and the ledger.
async fn assert_ends_within(times: ModelSettings, script: &Script, error: &str, attempts: usize) {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.on({
            let script = script.clone();
            move |_| script.clone()
        });
        let mut settings = one_model(&server, kind);
        settings.first_byte_timeout = times.first_byte_timeout;
        (settings.idle_timeout, settings.total_timeout) = (times.idle_timeout, times.total_timeout);
        let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
        let failure = desk.ask(Tier::T1).await.expect_err("no answer");
        assert_eq!((failure.kind(), server.count()), (error, attempts), "{script:?} over {kind:?}: {failure}");
        assert!(failure.to_string().len() < 400 && !failure.to_string().contains(KEY), "{failure}");
        desk.meter.assert_balanced();
        assert!(desk.meter.settled().iter().all(|settlement| settlement.outcome == CallOutcome::Failed));
    }
}

#[tokio::test]
async fn passing_trouble_is_tried_three_times() {
    for script in [Script::status(529), Script::status(503), Script::status(500), Script::status(408), Script::status(409)] {
        for kind in BOTH {
            let server = ScriptedModel::start().await;
            server.next(vec![script.clone(); 3]);
            let clock = Arc::new(EagerClock::default());
            let desk = Desk::new(&one_model(&server, kind), Arc::<EagerClock>::clone(&clock));
            assert_eq!(desk.ask(Tier::T1).await.expect_err("no answer").kind(), "busy", "{script:?}");
            assert_eq!((server.count(), clock.slept().len()), (3, 2));
            assert!(desk.meter.settled().iter().all(|settlement| settlement.usage == TokenUsage::default()), "a refusal is free");
        }
    }
}

#[tokio::test]
async fn an_answer_may_come_at_the_third_attempt() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.next([Script::status(529), Script::Empty, Script::say("At last.")]);
        let desk = Desk::of(&server, kind);
        assert_eq!(desk.ask(Tier::T1).await.expect("an answer").text, "At last.");
        let outcomes: Vec<_> = desk.meter.settled().into_iter().map(|settlement| settlement.outcome).collect();
        assert_eq!(outcomes, [CallOutcome::Failed, CallOutcome::Failed, CallOutcome::Answered]);
    }
}

#[tokio::test]
async fn a_refusal_is_not_retried() {
    for code in [301, 400, 401, 402, 403, 404, 413, 422] {
        assert_ends(&Script::status(code), "refused", 1).await;
    }
    let broke = r#"{"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    assert_ends(&Script::Status { code: 429, body: broke.into(), headers: Vec::new() }, "refused", 1).await;
    assert_ends(&Script::Filtered, "declined", 1).await;
}

#[tokio::test]
async fn silence_is_cut_and_not_repeated() {
    for script in [Script::Hang, Script::HangAfter(0), Script::HangAfter(300)] {
        let (first_byte_timeout, idle_timeout) = (Duration::from_secs(1), Duration::from_secs(1));
        let times = ModelSettings { first_byte_timeout, idle_timeout, ..ModelSettings::default() };
        assert_ends_within(times, &script, "timed_out", 1).await;
    }
}

#[tokio::test]
async fn a_drip_ends_with_the_calls_time() {
    let times = ModelSettings { total_timeout: Duration::from_millis(1500), ..ModelSettings::default() };
    assert_ends_within(times, &Script::Drip(Duration::from_millis(50)), "timed_out", 1).await;
}

#[tokio::test]
async fn an_error_inside_a_stream_counts_by_its_type() {
    let reported = |kind: &str| Script::ErrorAfter200 { kind: kind.into(), message: "scripted".into() };
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.next(vec![reported("overloaded_error"); 3]);
        let desk = Desk::of(&server, kind);
        assert_eq!(desk.ask(Tier::T1).await.expect_err("no answer").kind(), "busy");
        assert_eq!(server.count(), 3);
        assert!(desk.meter.settled().iter().all(|settlement| settlement.usage.input > 0), "the prompt was read and may be charged");
    }
    assert_ends(&reported("billing_error"), "refused", 1).await;
}

#[tokio::test]
async fn what_is_no_whole_answer_is_tried_once_more() {
    assert_ends(&Script::Garbage, "garbled", 2).await;
    assert_ends(&Script::GarbageEvents, "garbled", 2).await;
    assert_ends(&Script::Flood(2 << 20), "garbled", 2).await;
    assert_ends(&Script::Call { tool: "rm_rf".into(), arguments: json!({}) }, "garbled", 2).await;
    assert_ends(&Script::CutOff, "truncated", 2).await;
    assert_ends(&Script::Truncated("And the most important thing is".into()), "at_limit", 1).await;
    assert_ends(&Script::Truncated("<think>And the most important thing is".into()), "empty", 2).await;
    assert_ends(&Script::Status { code: 200, body: r#"{"type":"message","content":[{"#.into(), headers: Vec::new() }, "truncated", 2).await;
    for nothing in ["", " \n ", "\u{200B}\u{2060}", ".", "…"] {
        assert_ends(&Script::say(nothing), "empty", 2).await;
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_passing_trouble_that_costs_nothing() {
    let server = ScriptedModel::start().await;
    let mut settings = one_model(&server, ProviderKind::OpenAi);
    settings.providers[0].base_url = "http://user:TOP-SECRET-KEY@127.0.0.1:1/v1".into();
    let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
    let error = desk.ask(Tier::T1).await.expect_err("no answer");
    assert!(matches!(error, ModelError::Busy { .. }) && !error.to_string().contains(KEY), "{error}");
    assert_eq!(desk.meter.settled().len(), 3);
    assert!(desk.meter.settled().iter().all(|settlement| settlement.usage == TokenUsage::default()));
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_stays_out_of_errors_and_debug() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}. {}"}}}}"#, "x".repeat(5000));
        server.next([Script::Status { code: 401, body, headers: Vec::new() }]);
        let settings = one_model(&server, kind);
        let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
        let error = desk.ask(Tier::T1).await.expect_err("a refusal");
        let told = format!("{error} {error:?} {settings:?} {:?}", desk.runner.models.status());
        assert!(!told.contains(KEY) && told.contains("[redacted]"), "{told}");
        assert!(error.to_string().len() < 400, "{}", error.to_string().len());
    }
}

#[tokio::test]
async fn a_key_that_fits_no_header_is_a_refusal_without_the_key() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        let mut settings = one_model(&server, kind);
        settings.providers[0].key = Some("TOP-SECRET\nKEY".into());
        let error = Desk::new(&settings, Arc::new(EagerClock::default())).ask(Tier::T1).await.expect_err("a refusal");
        assert_eq!((error.kind(), server.count()), ("refused", 0));
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_is_settled() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.next([Script::HangAfter(400)]);
        let desk = Arc::new(Desk::new(&one_model(&server, kind), Arc::new(EagerClock::default())));
        let cancel = CancellationToken::new();
        let asking = tokio::spawn({
            let (desk, cancel) = (Arc::clone(&desk), cancel.clone());
            async move { desk.runner.models.complete(&call(Tier::T1), &request("What now?"), &cancel).await }
        });
        server.wait_for(1).await;
        cancel.cancel();
        assert_eq!(asking.await.expect("no panic"), Err(ModelError::Cancelled));
        let settled = desk.meter.settled();
        assert_eq!((settled.len(), settled[0].outcome), (1, CallOutcome::Cancelled));
        assert!(settled[0].usage.input > 0, "the prompt was sent and may be charged");
    }
}

/// P14: for any mixture of failures, an answer is complete and no call makes more than three attempts.
#[tokio::test]
async fn in_a_storm_only_whole_answers_get_through() {
    let scripts = [
        Script::say("All is well."),
        Script::status(529),
        Script::Garbage,
        Script::CutOff,
        Script::Empty,
        Script::SayWhole("All is well.".into()),
        Script::Truncated("All is".into()),
        Script::ErrorAfter200 { kind: "overloaded_error".into(), message: "busy".into() },
        Script::status(400),
        Script::say("All is well."),
        Script::GarbageEvents,
    ];
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        let clock = Arc::new(EagerClock::default());
        let desk = Desk::new(&one_model(&server, kind), Arc::<EagerClock>::clone(&clock));
        let mut answers = 0;
        for round in 0..220 {
            let before = server.count();
            server.next((0..3).map(|attempt| scripts[(round * 7 + attempt * (1 + round / 11)) % scripts.len()].clone()));
            if let Ok(reply) = desk.ask(Tier::T1).await {
                assert_eq!(reply.text, "All is well.");
                answers += 1;
            }
            assert!(server.count() - before <= 3);
            server.forget_queue();
            // The breaker may open and must close again.
            clock.sleep(Duration::from_secs(10)).await;
        }
        assert!(answers > 100, "{answers} answers of 220");
        desk.meter.assert_balanced();
    }
}

#[tokio::test]
async fn half_an_answer_is_handed_out_to_those_who_take_it_and_to_nobody_else() {
    for kind in BOTH {
        for (script, error) in
            [(Script::Truncated("Half of it".into()), "at_limit"), (Script::SayAndHang("Half of it".into()), "timed_out")]
        {
            let server = ScriptedModel::start().await;
            server.on(move |_| script.clone());
            let mut settings = one_model(&server, kind);
            settings.idle_timeout = Duration::from_secs(1);
            let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
            assert_eq!(desk.ask(Tier::T1).await.expect_err("no whole answer").kind(), error);
            let (call, cancel) = (call(Tier::T1), CancellationToken::new());
            let written = desk.runner.models.complete_or_break_off(&call, &request("What now?"), &cancel).await.expect("half an answer");
            assert_eq!((written.reply.text.as_str(), written.broke_off.map(|error| error.kind())), ("Half of it", Some(error)));
            desk.meter.assert_balanced();
            assert!(desk.meter.settled().iter().all(|settlement| settlement.outcome == CallOutcome::Failed));
        }
    }
}

#[tokio::test]
async fn what_a_filter_held_back_and_what_is_garbage_is_handed_out_to_nobody() {
    for kind in BOTH {
        for script in [Script::Filtered, Script::GarbageEvents, Script::Empty, Script::Flood(2 << 20)] {
            let server = ScriptedModel::start().await;
            server.on(move |_| script.clone());
            let desk = Desk::of(&server, kind);
            let (call, cancel) = (call(Tier::T1), CancellationToken::new());
            assert!(desk.runner.models.complete_or_break_off(&call, &request("What now?"), &cancel).await.is_err());
        }
    }
}
