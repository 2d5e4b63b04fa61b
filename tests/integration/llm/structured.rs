use kernel::agent::{Prompt, Run, RunError};
use kernel::money::Purpose;
use kernel::persona::Tier;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{BOTH, Desk};
use crate::support::model::{Script, ScriptedModel};

/// A structured answer.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Verdict {
    fair: bool,
    confidence: f64,
}

const FAIR: Verdict = Verdict { fair: true, confidence: 0.5 };

async fn judge(desk: &Desk) -> Result<Verdict, RunError> {
    let prompt = Prompt { system: "You judge.".into(), message: "Is it fair?".into(), holds_outside: false, remarks: Vec::new() };
    let run = Run {
        persona: None,
        purpose: Purpose::Other,
        subject: "verdict",
        tier: Tier::T1,
        pictures: Vec::new(),
        prompt: Box::pin(std::future::ready(Ok(prompt))),
        max_output_tokens: 100,
        keep_partial: false,
        allowance: None,
        tools: None,
        journal: None,
        cancel: &CancellationToken::new(),
    };
    let given = desk.runner.run_structured(run).await?;
    assert_eq!(given.model, "main/small");
    Ok(given.value)
}

#[tokio::test]
async fn the_schema_is_asked_for_by_the_means_of_the_provider() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.next([Script::Json(json!({"fair": true, "confidence": 0.5}))]);
        assert_eq!(judge(&Desk::of(&server, kind)).await.expect("a verdict"), FAIR);
        let asked = server.requests().remove(0);
        let schema = asked.schema.expect("a schema");
        assert_eq!(schema["properties"]["fair"]["type"], "boolean");
        assert!(asked.messages.iter().any(|said| said.text.contains("Is it fair?")));
    }
}

#[tokio::test]
async fn an_answer_is_read_raw_in_a_fence_and_in_prose() {
    for kind in BOTH {
        for text in [
            r#"{"fair": true, "confidence": 0.5}"#,
            "```json\n{\"fair\": true, \"confidence\": 0.5}\n```",
            r#"Certainly! {"fair": true, "confidence": 0.5} Let me know [1] if you need more."#,
        ] {
            let server = ScriptedModel::start().await;
            server.next([Script::say(text)]);
            assert_eq!(judge(&Desk::of(&server, kind)).await.expect("a verdict"), FAIR, "{text}");
            assert_eq!(server.count(), 1);
        }
    }
}

#[tokio::test]
async fn an_unusable_answer_is_asked_for_once_more_with_the_reason() {
    for kind in BOTH {
        for (bad, reason) in [
            ("I would say so.", "there is no complete JSON value in it"),
            (r#"{"fair": true, "confidence": 1} {"fair": false, "confidence": 1}"#, "there are 2 JSON values in it"),
            (r#"{"fair": "very", "confidence": 1}"#, "expected a boolean"),
            (r#"{"fair": true}"#, "missing field `confidence`"),
        ] {
            let server = ScriptedModel::start().await;
            server.next([Script::say(bad), Script::say(r#"{"fair": true, "confidence": 0.5}"#)]);
            assert_eq!(judge(&Desk::of(&server, kind)).await.expect("a verdict"), FAIR, "{bad}");
            let again = server.requests().remove(1);
            assert!(again.last().contains(reason), "{}", again.last());
            assert!(again.messages.iter().any(|said| said.role == "assistant" && said.text == bad));
        }
    }
}

#[tokio::test]
async fn two_unusable_answers_are_an_error_and_not_a_value() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.on(|_| Script::say("No."));
        let desk = Desk::of(&server, kind);
        let error = judge(&desk).await.expect_err("no value");
        assert_eq!(error.to_string(), "main gave no usable value in two answers: there is no complete JSON value in it");
        assert_eq!(server.count(), 2);
        desk.meter.assert_balanced();
    }
}

#[tokio::test]
async fn a_cut_off_value_is_a_failure_even_if_it_could_be_read() {
    let server = ScriptedModel::start().await;
    server.on(|_| Script::Truncated(r#"{"fair": true, "confidence": 0.5}"#.into()));
    let error = judge(&Desk::of(&server, BOTH[0])).await.expect_err("cut off");
    assert_eq!(error.in_short(), "the answer of the language model was cut off at its limit of length");
    assert!(matches!(error, RunError::Model(error) if error.kind() == "at_limit"));
}

#[tokio::test]
async fn an_endpoint_with_strict_turns_is_asked_in_turns_from_then_on() {
    let server = ScriptedModel::start().await;
    server.on(|asked| {
        let repeated = asked.messages.windows(2).any(|pair| pair[0].role == pair[1].role);
        let body =
            r#"{"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate user/assistant","type":"server_error"}}"#;
        if repeated {
            Script::Status { code: 500, body: body.into(), headers: Vec::new() }
        } else {
            Script::Json(json!({"fair": true, "confidence": 0.5}))
        }
    });
    let desk = Desk::of(&server, BOTH[0]);
    assert_eq!((judge(&desk).await.expect("a verdict"), server.count()), (FAIR, 2));
    assert_eq!((judge(&desk).await.expect("a verdict"), server.count()), (FAIR, 3));
    assert_eq!(desk.runner.models.status()[0].lacks, [("small".to_owned(), vec!["messages of one side in a row"])]);
}

#[tokio::test]
async fn an_endpoint_that_refuses_schemas_is_asked_without_from_then_on() {
    for kind in BOTH {
        let server = ScriptedModel::start().await;
        server.on(|asked| match asked.schema {
            Some(_) => Script::Status { code: 400, body: "response_format / input_schema is not supported".into(), headers: Vec::new() },
            None => Script::Json(json!({"fair": true, "confidence": 0.5})),
        });
        let desk = Desk::of(&server, kind);
        assert_eq!((judge(&desk).await.expect("a verdict"), server.count()), (FAIR, 2));
        assert_eq!((judge(&desk).await.expect("a verdict"), server.count()), (FAIR, 3));
        assert_eq!(desk.meter.reserved().len(), 2, "a refused schema is no attempt of its own");
    }
}
