//! Model servers as they are: what the chat shows for each. With `--nocapture` it prints a table.

use std::fmt::Write as _;
use std::time::Duration;

use futures_util::StreamExt;
use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};

use crate::support::command;
use crate::support::model::raw::{Raw, RawServer};
use crate::support::team::{Backing, Wanted};

type Behaviour = fn(&Value, usize) -> Raw;

/// A model server, a question, and what the chat shows.
struct Endpoint {
    name: &'static str,
    kind: ProviderKind,
    behaviour: Behaviour,
    question: &'static str,
    /// Texts that the answer contains, in this order.
    shown: &'static [&'static str],
    /// The number of requests for one answer.
    requests: usize,
    /// The text in `/status` about the model's missing abilities.
    lacks: &'static str,
}

const ANSWER: &str = "The harbour silts up from the north.";
const QUESTION: &str = "vince, why does the harbour silt up?";
const WITHOUT_TOOLS: &str = "works without tool calls";
const SHOWN: &[&str] = &[ANSWER];

fn endpoint(name: &'static str, behaviour: Behaviour) -> Endpoint {
    Endpoint { name, kind: ProviderKind::OpenAi, behaviour, question: QUESTION, shown: SHOWN, requests: 1, lacks: "" }
}

/// Texts that no answer may contain.
const NEVER: [&str; 12] =
    ["think>", "<|", "tool_call", "read_feed", "[TOOL", "I wonder", "sk-", "assistant", "Error", "registry.ollama", "jinja", "</s>"];

fn has_tools(body: &Value) -> bool {
    !body["tools"].is_null()
}

fn results(body: &Value) -> usize {
    body["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "tool").count()
}

fn error(status: u16, message: &str, kind: &str) -> Raw {
    Raw::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": null}}))
}

fn said(content: &Value, usage: &Value) -> Raw {
    Raw::json(200, &json!({"choices": [{"index": 0, "message": content, "finish_reason": "stop"}], "usage": usage}))
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn endpoints() -> Vec<Endpoint> {
    let mut all = vec![
        Endpoint {
            requests: 2,
            ..endpoint("Ollama, a model with tools", |body, _| match results(body) {
                0 => {
                    let call = json!({"id": "call_8", "index": 0, "type": "function", "function": {"name": "read_feed", "arguments": "{\"feed\":\"team activity\"}"}});
                    let delta = json!({"role": "assistant", "content": "", "tool_calls": [call]});
                    Raw::events(&[json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]})])
                }
                _ => Raw::say(ANSWER),
            })
        },
        Endpoint {
            requests: 2,
            lacks: WITHOUT_TOOLS,
            ..endpoint("Ollama, a model without tools", |body, _| {
                if has_tools(body) {
                    return error(400, "registry.ollama.ai/library/gemma3:4b does not support tools", "api_error");
                }
                Raw::say(ANSWER)
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("Ollama, a call written as JSON", |_, number| match number {
                0 => Raw::say(r#"{"name": "read_feed", "parameters": {"feed": "team activity"}}"#),
                _ => Raw::say(ANSWER),
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("Ollama, a call written as <tool_call>", |_, number| match number {
                0 => Raw::say(
                    "I look it up.\n<tool_call>\n{\"name\": \"read_feed\", \"arguments\": {\"feed\": \"team activity\"}}\n</tool_call>",
                ),
                _ => Raw::say(ANSWER),
            })
        },
        Endpoint {
            requests: 2,
            lacks: WITHOUT_TOOLS,
            ..endpoint("llama.cpp without --jinja", |body, _| {
                if has_tools(body) {
                    let body = json!({"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}});
                    return Raw::json(500, &body);
                }
                Raw::say("The harbour silts up from the north.<|im_end|>\n<|im_start|>user\nAnd then?")
            })
        },
        Endpoint {
            requests: 2,
            lacks: "works without a system role",
            ..endpoint("llama.cpp, a template without system role", |body, _| {
                if body["messages"][0]["role"] == "system" {
                    let message = "\n------------\nWhile executing CallExpression at line 1, column 67 in source:\nError: Jinja Exception: System role not supported";
                    return error(500, message, "server_error");
                }
                Raw::say(ANSWER)
            })
        },
        Endpoint {
            shown: &["No answer this time: llama.cpp could not be reached. An operator can check its address"],
            requests: 0,
            ..endpoint("llama.cpp, nobody at the address", |_, _| unreachable!("nobody is there"))
        },
        Endpoint {
            requests: 2,
            shown: &[ANSWER, "I have read only parts of it"],
            question: "vince, why does the harbour silt up? LONG",
            ..endpoint("LM Studio, a context of 4096", |body, _| {
                if body["messages"].to_string().contains("note 2:") {
                    let message = "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input";
                    return Raw::events(&[json!({"error": {"message": message}})]);
                }
                Raw::say(ANSWER)
            })
        },
        Endpoint {
            requests: 2,
            lacks: WITHOUT_TOOLS,
            ..endpoint("vLLM without a tool parser, usage as floats", |body, _| {
                if has_tools(body) {
                    let message = "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set";
                    return Raw::json(
                        400,
                        &json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": 400}),
                    );
                }
                let usage = json!({"prompt_tokens": 812.0, "completion_tokens": "17", "prompt_tokens_details": "none"});
                Raw::events(&[
                    json!({"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "I wonder."}}]}),
                    json!({"choices": [{"index": 0, "delta": {"content": ANSWER}, "finish_reason": "stop"}]}),
                    json!({"choices": [], "usage": usage}),
                ])
            })
        },
        Endpoint {
            requests: 2,
            lacks: WITHOUT_TOOLS,
            ..endpoint("OpenRouter, no host with tools", |body, _| {
                if has_tools(body) {
                    let message = "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection";
                    return Raw::json(404, &json!({"error": {"message": message, "code": 404}}));
                }
                Raw::events(&[
                    json!({"choices": [{"index": 0, "delta": {"content": "", "reasoning": "I wonder."}}]}),
                    json!({"choices": [{"index": 0, "delta": {"content": ANSWER}, "finish_reason": "stop"}]}),
                ])
                .with_body(|body| format!(": OPENROUTER PROCESSING\n\n{body}"))
            })
        },
        Endpoint {
            shown: &["No answer this time: the account at openrouter has no credit left. An operator can add credit there"],
            ..endpoint("OpenRouter, no credit", |_, _| {
                Raw::json(
                    402,
                    &json!({"error": {"message": "Insufficient credits. Add more using https://openrouter.ai/settings/credits", "code": 402}}),
                )
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("Azure, max_completion_tokens", |body, _| {
                if !body["max_tokens"].is_null() {
                    let message =
                        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
                    return Raw::json(
                        400,
                        &json!({"error": {"message": message, "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}}),
                    );
                }
                Raw::say(ANSWER)
            })
        },
        Endpoint {
            shown: &[
                "No answer this time: the model declined to answer this; the reason given by azure is “violence”. Please put it in other words.",
            ],
            ..endpoint("Azure, content filter", |_, _| {
                let message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.";
                Raw::json(
                    400,
                    &json!({"error": {"message": message, "type": null, "param": "prompt", "code": "content_filter", "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": false}, "violence": {"filtered": true, "severity": "medium"}}}}}),
                )
            })
        },
        Endpoint {
            shown: &[
                "No answer this time: the model declined to answer this; the content filter of azure blocked it. Please put it in other words.",
            ],
            ..endpoint("Azure, an answer that is filtered", |_, _| Raw::say_until("content_filter", "The harbour"))
        },
        Endpoint {
            shown: &[
                "No answer this time: the model declined to answer this; the reason given by openai is “I can't help with that”. Please put it in other words.",
            ],
            ..endpoint("OpenAI, a refusal", |_, _| {
                said(&json!({"role": "assistant", "content": null, "refusal": "I can't help with that."}), &Value::Null)
            })
        },
        Endpoint {
            shown: &["No answer this time: the model declined to answer this; the reason given by gemini is “prohibited content”."],
            ..endpoint("Gemini, a blocked prompt", |_, _| {
                Raw::json(200, &json!({"choices": null, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
            })
        },
        Endpoint {
            shown: &["No answer this time: the model declined to answer this; the reason given by gemini is “safety”."],
            ..endpoint("Gemini, a blocked answer", |_, _| Raw::say_until("SAFETY", "The harbour"))
        },
        Endpoint {
            kind: ProviderKind::Anthropic,
            shown: &[
                "No answer this time: the model declined to answer this; the reason given by anthropic is “This is about cyber security”.",
            ],
            ..endpoint("Anthropic, a refusal", |_, _| {
                let details = json!({"type": "refusal", "category": "cyber", "explanation": "This is about cyber security."});
                let usage = json!({"input_tokens": 12, "output_tokens": 1});
                Raw::json(
                    200,
                    &json!({"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal", "stop_details": details, "usage": usage}),
                )
            })
        },
        endpoint("DeepSeek, reasoning_content", |_, _| {
            Raw::events(&[
                json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "reasoning_content": "I wonder."}}]}),
                json!({"choices": [{"index": 0, "delta": {"content": ANSWER, "reasoning_content": null}}]}),
                json!({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 9, "prompt_cache_hit_tokens": 4}}),
            ])
        }),
        Endpoint {
            shown: &["No answer this time: the account at deepseek has no credit left."],
            ..endpoint("DeepSeek, no balance", |_, _| error(402, "Insufficient Balance", "unknown_error"))
        },
        Endpoint {
            requests: 2,
            ..endpoint("Groq, a call that failed", |_, number| match number {
                0 => Raw::json(
                    400,
                    &json!({"error": {"message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", "type": "invalid_request_error",
                        "code": "tool_use_failed", "failed_generation": "<function=read_feed>{\"feed\": \"team activity\"}</function>"}}),
                ),
                _ => Raw::say(ANSWER),
            })
        },
        Endpoint {
            shown: &["No answer this time: groq limits how often it may be asked. Please ask again in a few minutes."],
            requests: 3,
            ..endpoint("Groq, rate limit", |_, _| {
                Raw::json(
                    429,
                    &json!({"error": {"message": "Rate limit reached for model in organization on tokens per minute (TPM)", "type": "tokens", "code": "rate_limit_exceeded"}}),
                )
            })
        },
        endpoint("a gateway, <think> closed", |_, _| Raw::say("<think>\nI wonder.\n</think>\n\nThe harbour silts up from the north.")),
        endpoint("a gateway, <think> opened by the template", |_, _| {
            Raw::say("I wonder.\n</think>\n\nThe harbour silts up from the north.")
        }),
        Endpoint {
            requests: 2,
            ..endpoint("a gateway, thinking used up the limit", |body, _| match body["max_tokens"].as_u64() {
                Some(limit) if limit > 4000 => Raw::say("<think>I wonder.</think>The harbour silts up from the north."),
                _ => Raw::say_until("length", "<think>I wonder and wonder"),
            })
        },
        endpoint("gpt-oss behind a plain server", |_, _| {
            Raw::say(
                "<|channel|>analysis<|message|>I wonder.<|end|><|start|>assistant<|channel|>final<|message|>The harbour silts up from the north.<|return|>",
            )
        }),
        Endpoint {
            shown: &["No answer this time: gemini does not accept the team's key. An operator can renew the key"],
            ..endpoint("Gemini, a wrong key", |_, _| {
                Raw::json(
                    400,
                    &json!([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}]),
                )
            })
        },
        Endpoint {
            shown: &["No answer this time: the limit at gemini for this period is used up."],
            requests: 3,
            ..endpoint("Gemini, quota", |_, _| {
                let message = "You exceeded your current quota. Quota exceeded for metric: generate_content_free_tier_requests, limit: 20";
                Raw::json(429, &json!([{"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}}]))
            })
        },
        Endpoint {
            kind: ProviderKind::Anthropic,
            ..endpoint("Anthropic, plain JSON", |_, _| {
                let content = json!([{"type": "thinking", "thinking": "I wonder.", "signature": "x"}, {"type": "text", "text": ANSWER}]);
                Raw::json(
                    200,
                    &json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", "usage": {"input_tokens": 12.0, "output_tokens": null}}),
                )
            })
        },
        Endpoint {
            kind: ProviderKind::Anthropic,
            shown: &["No answer this time: the account at anthropic has no credit left."],
            ..endpoint("Anthropic, no credit", |_, _| {
                let message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";
                Raw::json(400, &json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("llama.cpp, loading at first", |_, number| match number {
                0 => Raw::json(503, &json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})),
                _ => Raw::say(ANSWER),
            })
        },
        Endpoint {
            shown: &["No answer this time: the language model at llama.cpp is still loading. Please ask again in a minute."],
            requests: 3,
            ..endpoint("llama.cpp, still loading", |_, _| {
                Raw::json(503, &json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}))
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("vLLM, cut off once", |_, number| match number {
                0 => Raw::say_until("length", "The harbour silts up "),
                _ => Raw::say("harbour silts up from the north."),
            })
        },
        Endpoint {
            shown: &["The harbour silts …", "Cut off at the length limit of one answer."],
            requests: 2,
            ..endpoint("Gemini, cut off twice", |_, _| Raw::say_until("MAX_TOKENS", "The harbour silts"))
        },
        Endpoint {
            kind: ProviderKind::Anthropic,
            shown: &["The harbour silts …", "Cut off at the length limit of one answer."],
            requests: 2,
            ..endpoint("Anthropic, cut off twice", |_, _| {
                let (content, usage) =
                    (json!([{"type": "text", "text": "The harbour silts"}]), json!({"input_tokens": 12, "output_tokens": 3}));
                Raw::json(
                    200,
                    &json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "max_tokens", "usage": usage}),
                )
            })
        },
        Endpoint {
            shown: &["The harbour silts up and up …", "Cut off at the length limit of one answer."],
            requests: 2,
            ..endpoint("vLLM, cut off again", |_, number| match number {
                0 => Raw::say_until("length", "The harbour silts up"),
                _ => Raw::say_until("length", "silts up and up"),
            })
        },
        Endpoint {
            requests: 2,
            ..endpoint("Ollama, empty at first", |_, number| if number == 0 { Raw::say("") } else { Raw::say(ANSWER) })
        },
        Endpoint {
            shown: &["No answer this time: the language model took too long. Please ask again in a few minutes."],
            ..endpoint("one that hangs", |_, _| Raw::say("").after(Duration::from_hours(1)))
        },
        Endpoint {
            shown: &["No answer this time: the language model took too long."],
            ..endpoint("one that hangs in the middle", |_, _| {
                Raw::events(&[json!({"choices": [{"delta": {"content": "I wonder"}}]})])
                    .with_body(|body| body.replace("data: [DONE]\n\n", ""))
                    .hanging()
            })
        },
        Endpoint {
            shown: &["No answer this time: ollama does not have the configured model. An operator can correct the model's name"],
            ..endpoint("Ollama, a model that is not there", |_, _| {
                error(404, "model \"llama9\" not found, try pulling it first", "api_error")
            })
        },
        endpoint("a proxy, plain JSON as a stream", |_, _| {
            said(&json!({"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "tool_calls": null}), &json!(null))
                .labelled("text/event-stream")
        }),
        endpoint("a proxy, a stream as plain text", |_, _| Raw::say(ANSWER).labelled("text/plain")),
        Endpoint {
            requests: 2,
            lacks: "works without streaming",
            ..endpoint("a proxy that does not stream", |body, _| {
                if body["stream"] == true {
                    return Raw::json(400, &json!({"detail": "Streaming is not supported"}));
                }
                said(&json!({"role": "assistant", "content": format!("Assistant: {ANSWER}</s>")}), &json!({"prompt_tokens": -1}))
            })
        },
        Endpoint {
            question: "vince, what is new in team activity?",
            shown: &[
                "the team's own activity",
                "from feeds and files, generated without AI",
                "No language model answered: openai reported an error.",
            ],
            requests: 3,
            ..endpoint("OpenAI is down, asked for a feed", |_, _| {
                Raw::json(500, &json!({"error": {"message": "The server had an error", "type": "server_error"}}))
            })
        },
    ];
    // This server refuses `stream_options`, and answers a second request without them.
    all.push(Endpoint {
        requests: 2,
        ..endpoint("an old server, no stream_options", |body, _| {
            if !body["stream_options"].is_null() {
                return Raw::json(422, &json!({"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]}));
            }
            Raw::say(ANSWER)
        })
    });
    all
}

/// The provider's name in the settings: the first word of the endpoint.
fn provider_of(name: &str) -> String {
    name.split([' ', ',']).next().unwrap_or_default().to_lowercase()
}

/// Asks the question. Returns what the chat shows, the number of requests, and what `/status` says.
async fn ask(endpoint: &Endpoint) -> (String, usize, String) {
    let server = RawServer::start(endpoint.behaviour).await;
    let (name, kind, url) = (provider_of(endpoint.name), endpoint.kind, server.url());
    let hangs = endpoint.name.starts_with("one that hangs");
    let url = if endpoint.requests == 0 { "http://127.0.0.1:1/v1".to_owned() } else { url };
    let team = Wanted::on(Backing::Sqlite)
        .model(kind)
        .configure(move |config| {
            let models = &mut config.models;
            if hangs {
                (models.first_byte_timeout, models.idle_timeout) = (Duration::from_secs(2), Duration::from_secs(1));
            }
            models.max_output_tokens = 1000;
            (models.providers[0].name, models.providers[0].base_url) = (name.clone(), url.clone());
            models.tiers.values_mut().flatten().for_each(|model| model.provider.clone_from(&name));
        })
        .start()
        .await;
    if endpoint.question.ends_with("LONG") {
        for number in 0..8 {
            team.say("general", &format!("note {number}: {}", "the dredger moved mud today. ".repeat(20))).await;
        }
        team.settle().await;
    }
    let (before, asked_before) = (team.answers("general").await.len(), server.requests().len());
    team.say("general", endpoint.question).await;
    let answers = team.wait_for_answers("general", before + 1).await;
    let asked = server.requests().len() - asked_before;
    let status = command::invoke(&team, "general", "status", json!([])).await.to_string();
    (answers[before].text.clone(), asked, status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_server_gets_an_answer_or_a_reason_into_the_chat() {
    let all = endpoints();
    let asked: Vec<_> = futures_util::stream::iter(&all).map(ask).buffered(4).collect().await;
    let mut table = String::new();
    let mut faults = Vec::new();
    for (endpoint, (text, requests, status)) in all.iter().zip(&asked) {
        let shown = text.replace('\n', " ⏎ ");
        writeln!(table, "{:<46} | {requests} | {shown}", endpoint.name).expect("a String takes everything");
        let mut rest = text.as_str();
        for part in endpoint.shown {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => faults.push(format!("{}: {part:?} is missing in {text:?}", endpoint.name)),
            }
        }
        faults
            .extend(NEVER.iter().filter(|never| text.contains(**never)).map(|never| format!("{}: shows {never}: {text:?}", endpoint.name)));
        if endpoint.shown == SHOWN && text != ANSWER {
            faults.push(format!("{}: {text:?}", endpoint.name));
        }
        if *requests != endpoint.requests {
            faults.push(format!("{}: {requests} requests instead of {}", endpoint.name, endpoint.requests));
        }
        let is_told = if endpoint.lacks.is_empty() { !status.contains("works without") } else { status.contains(endpoint.lacks) };
        if !is_told {
            faults.push(format!("{}: status {status}", endpoint.name));
        }
    }
    println!("{:<46} | requests | what the chat shows\n{table}", "server");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_without_a_known_price_is_told_and_limited_by_tokens() {
    let team = Wanted::on(Backing::Sqlite)
        .model(ProviderKind::OpenAi)
        .configure(|config| config.models.providers[0].base_url = "http://192.0.2.1/v1".into())
        .start()
        .await;
    for name in ["status", "costs"] {
        let shown = command::invoke(&team, "general", name, json!([])).await;
        assert!(command::text(&shown).contains("The price of scripted/scripted-1 is not known"), "{shown}");
    }
}
