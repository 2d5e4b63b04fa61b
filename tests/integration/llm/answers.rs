use std::sync::Arc;
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::llm::{ModelMessage, ModelRequest, ToolCall, ToolSpec};
use kernel::money::{CallOutcome, Money, TokenUsage};
use kernel::persona::Tier;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{BOTH, Desk, EagerClock, KEY, RecordingMeter, call, request, settings};
use crate::support::model::{Counted, Script, ScriptedModel};

#[tokio::test]
async fn an_answer_comes_in_a_stream_slowly_or_in_one_piece() {
    let server = ScriptedModel::start().await;
    let text = "All is well, says Ærø 👍.";
    for kind in BOTH {
        let desk = Desk::of(&server, kind);
        let slowly = Script::SaySlowly { text: text.into(), pause: Duration::from_millis(5) };
        server.next([Script::say(text), slowly, Script::SayWhole(text.into())]);
        for _ in 0..3 {
            let reply = desk.ask(Tier::T1).await.expect("an answer");
            assert_eq!((reply.text.as_str(), reply.provider.as_str(), reply.model.as_str()), (text, "main", "small"));
            assert!(reply.usage.input > 0 && reply.usage.output > 0, "{:?}", reply.usage);
        }
        desk.meter.assert_balanced();
    }
}

#[tokio::test]
async fn the_server_is_asked_as_its_protocol_wants_it() {
    let server = ScriptedModel::start().await;
    for kind in BOTH {
        let reply = Desk::of(&server, kind).ask(Tier::T1).await.expect("an answer");
        assert_eq!(reply.text, "[You are Vince.] What now?");
        let asked = server.requests().pop().expect("a request");
        assert_eq!(asked.protocol, kind);
        assert_eq!((asked.model.as_str(), asked.system.as_str(), asked.last()), ("small", "You are Vince.\nBe short.", "What now?"));
        assert_eq!(asked.key.as_deref(), Some(KEY));
        assert!(asked.stream && asked.tools.is_empty() && asked.schema.is_none());
        assert_eq!(asked.body["max_tokens"], 100);
    }
    assert_eq!(server.requests()[1].body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
}

#[tokio::test]
async fn tools_are_called_and_their_results_go_back() {
    let server = ScriptedModel::start().await;
    for kind in BOTH {
        let desk = Desk::of(&server, kind);
        let (tool, arguments) = ("look".to_owned(), json!({"at": "the \"log\"", "lines": [1, 2]}));
        server.next([Script::Call { tool, arguments: arguments.clone() }]);
        let tools = vec![ToolSpec { name: "look".into(), description: "Looks.".into(), parameters: json!({"type": "object"}) }];
        let mut request = ModelRequest { tools, ..request("Look!") };
        let reply = desk.runner.models.complete(&call(Tier::T1), &request, &CancellationToken::new()).await.expect("a call");
        let id = reply.calls[0].id.clone();
        assert_eq!(reply.calls, [ToolCall { id: id.clone(), name: "look".into(), arguments }]);

        request.messages.push(ModelMessage::Assistant { text: reply.text, calls: reply.calls });
        request.messages.push(ModelMessage::ToolResult { call: id, text: "three lines".into() });
        let reply = desk.runner.models.complete(&call(Tier::T1), &request, &CancellationToken::new()).await.expect("an answer");
        assert_eq!(reply.text, "[You are Vince.] three lines");
        let asked = server.requests().pop().expect("a request");
        assert_eq!(asked.tools, ["look"]);
        assert!(asked.messages[1].text.contains("look"), "{:?}", asked.messages);
    }
}

#[tokio::test]
async fn tokens_and_money_are_what_the_provider_counted() {
    let server = ScriptedModel::start().await;
    for kind in BOTH {
        let desk = Desk::of(&server, kind);
        server.next([Script::SayCounted("Yes.".into(), Counted { input: 1000, cached: 600, cache_written: 100, output: 50 })]);
        let reply = desk.ask(Tier::T1).await.expect("an answer");
        assert_eq!(reply.usage, TokenUsage { input: 1000, cached: 600, output: 50 });
        let settled = desk.meter.settled();
        // Only Anthropic names the tokens that were written to its cache, and charges a quarter more for them.
        let premium = if kind == ProviderKind::Anthropic { 25 } else { 0 };
        assert_eq!((settled[0].cost, settled[0].outcome), (Money(400 + 60 + 100 + premium), CallOutcome::Answered));
        assert_eq!(settled[0].usage, reply.usage);
    }
}

#[tokio::test]
async fn an_answer_that_nobody_counted_is_an_estimate() {
    let server = ScriptedModel::start().await;
    for kind in BOTH {
        let desk = Desk::of(&server, kind);
        server.next([Script::SayCounted("Yes.".into(), Counted::default())]);
        let reply = desk.ask(Tier::T1).await.expect("an answer");
        assert!(reply.usage.input > 0 && reply.usage.output > 0, "{:?}", reply.usage);
        assert_eq!(desk.meter.settled()[0].outcome, CallOutcome::Estimated);
    }
}

#[tokio::test]
async fn the_worst_case_is_reserved_before_the_call() {
    let server = ScriptedModel::start().await;
    let desk = Desk::of(&server, BOTH[0]);
    desk.ask(Tier::T2).await.expect("an answer of the tier below");
    let reserved = &desk.meter.reserved()[0];
    let prompt = "You are Vince.\nBe short.What now?".len().div_ceil(4) as u64;
    assert_eq!((reserved.tokens, reserved.cost), (prompt + 100, Money(i64::try_from(prompt).unwrap() + 200)));
    assert_eq!((reserved.tier, reserved.subject.as_str(), reserved.persona.as_ref().unwrap().as_str()), (Tier::T1, "turn-1", "vince"));
}

#[tokio::test]
async fn an_answer_whose_settlement_is_lost_is_kept() {
    let server = ScriptedModel::start().await;
    let settings = settings(&[("main", BOTH[0], &server)], &[(Tier::T1, &[("main", "small")])]);
    let meter = RecordingMeter { loses_settlements: true, ..RecordingMeter::default() };
    let desk = Desk::with_meter(&settings, Arc::new(EagerClock::default()), meter);
    assert!(desk.ask(Tier::T1).await.is_ok());
}

#[tokio::test]
async fn one_connection_serves_call_after_call() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        let desk = Desk::of(&server, kind);
        for _ in 0..20 {
            desk.ask(Tier::T1).await.expect("an answer");
        }
        assert_eq!((server.count(), server.connections()), (20, 1));
    }
}
