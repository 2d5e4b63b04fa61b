//! The log of a real process as JSON: the id of a message finds each stage from the gateway to the post.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::llm::settings::ProviderKind;
use serde_json::Value;

use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(the_id_of_a_message_finds_every_stage_of_it);

const KEY: &str = "sk-scripted-0123456789abcdef";

/// The stages of an answered message, in their order.
const STAGES: [&str; 6] = ["heard", "decided", "turn begun", "model call", "turn over", "sent"];

/// Starts the team as a process that logs JSON into a file, with this line in its `.env`.
async fn start(team: &TestTeam, variable: &str) -> (TeamProcess, PathBuf) {
    let write = |name: &str, text: String| fs::write(team.dir.path().join(name), text).expect("a file");
    write("teamroom.toml", "[server]\nlog_format = \"json\"\n".to_owned());
    write(".env", format!("TEAMROOM_MODEL_KEY={KEY}\n{variable}\n"));
    let log = team.dir.path().join("log.json");
    let process = TeamProcess::spawn_logging(team, &log);
    process.wait_until_ready().await;
    (process, log)
}

async fn wait_for_answers(team: &TestTeam, channel: &str, count: usize) -> Vec<Shown> {
    eventually("it is answered", || async { team.answers(channel).await.len() >= count }).await;
    team.answers(channel).await
}

/// What `grep` finds.
fn find(log: &Path, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(log).expect("a log");
    let lines = text.lines().filter(|line| line.contains(id));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn texts(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["message"].as_str().expect("a text")).collect()
}

fn assert_stages(lines: &[Value], stages: &[&str]) {
    let told = texts(lines);
    let mut rest = told.iter();
    for stage in stages {
        assert!(rest.any(|text| text == stage), "{stage} is missing, or not in this order: {told:?}");
    }
}

async fn the_id_of_a_message_finds_every_stage_of_it(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(|_| Script::say("Answered with plums."));
    let (process, log) = start(&team, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9").await;
    let plain = team.say("general", "vince, how much marmalade is left?").await;
    let answer = wait_for_answers(&team, "general", 1).await;
    let ask = team.say("ops", "ask vince what he thinks about marmalade").await;
    wait_for_answers(&team, "ops", 1).await;
    let command = team.say("general", "kelly, what is the status?").await;
    wait_for_answers(&team, "general", 2).await;
    assert!(process.terminate(), "it ends in peace");

    let lines = find(&log, &format!("discord:{plain}"));
    assert_stages(&lines, &STAGES);
    assert!(lines.len() <= STAGES.len() + 2, "about one line for each stage: {lines:#?}");
    let of = |stage: &str| lines.iter().find(|line| line["message"] == stage).unwrap_or_else(|| panic!("{stage}"));
    assert_eq!(of("decided")["responders"], "[\"vince\"]");
    assert!(of("decided")["reason"].is_string());
    let call = of("model call");
    assert_eq!((&call["model"], &call["outcome"]), (&"scripted-1".into(), &"answered".into()));
    assert!(call["input"].is_u64() && call["output"].is_u64() && call["seconds"].is_f64() && call["cost"].is_string(), "{call}");
    let posted = answer[0].raw["id"].as_str().expect("an id");
    assert_eq!(of("sent")["platform_id"], format!("discord:{posted}"));
    assert_stages(&find(&log, &format!("discord:{ask}")), &STAGES);
    assert_stages(&find(&log, &format!("discord:{command}")), &["heard", "decided", "sent"]);

    let all = fs::read_to_string(&log).expect("a log");
    assert_eq!(find(&log, "").len(), all.lines().count(), "each line is JSON");
    let tokens = team.sandbox().bots().into_iter().map(|bot| bot.token);
    for secret in tokens.chain([KEY, "marmalade", "plums"].map(str::to_owned)) {
        assert!(!all.contains(&secret), "{secret} is in the log:\n{all}");
    }
    let ignored = find(&log, "OTEL_EXPORTER_OTLP_ENDPOINT is ignored").len();
    assert_eq!(ignored, usize::from(!cfg!(feature = "otel")));
}

#[cfg(feature = "otel")]
mod otel {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::body::Bytes;
    use axum::extract::State;
    use axum::routing::post;

    use super::*;

    on_one_store!(a_message_is_one_tree_at_the_collector);

    type Received = Arc<Mutex<Vec<Bytes>>>;

    #[derive(Debug)]
    struct Span {
        trace: Vec<u8>,
        id: Vec<u8>,
        parent: Vec<u8>,
        name: String,
        attributes: BTreeMap<String, String>,
    }

    /// A collector, and what it gets.
    async fn collect() -> (String, Received) {
        let received = Received::default();
        let take = async |State(received): State<Received>, body: Bytes| received.lock().expect("no test panics here").push(body);
        let router = Router::new().route("/v1/traces", post(take)).with_state(received.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        (format!("http://{address}"), received)
    }

    /// The number and content of each field of a protobuf message. Numbers are left out.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
        fn number(bytes: &mut &[u8]) -> u64 {
            let mut number = 0;
            for place in 0.. {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                number |= u64::from(byte & 0x7f) << (7 * place);
                if byte < 0x80 {
                    break;
                }
            }
            number
        }
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let tag = number(&mut bytes);
            let length = match tag & 7 {
                0 => {
                    number(&mut bytes);
                    continue;
                }
                1 => 8,
                5 => 4,
                _ => usize::try_from(number(&mut bytes)).expect("a length"),
            };
            let (content, rest) = bytes.split_at(length);
            bytes = rest;
            all.push((tag >> 3, content));
        }
        all
    }

    fn find_all(bytes: &[u8], path: &[u64]) -> Vec<Vec<u8>> {
        let Some((first, rest)) = path.split_first() else { return vec![bytes.to_vec()] };
        fields(bytes).into_iter().filter(|(field, _)| field == first).flat_map(|(_, content)| find_all(content, rest)).collect()
    }

    /// The numbers are those of `opentelemetry/proto/trace/v1/trace.proto`.
    fn read(span: &[u8]) -> Span {
        let one = |path: &[u64]| find_all(span, path).pop().unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let pair = |pair: Vec<u8>| {
            let one = |path: &[u64]| text(&find_all(&pair, path).pop().unwrap_or_default());
            (one(&[1]), one(&[2, 1]))
        };
        let attributes = find_all(span, &[9]).into_iter().map(pair).collect();
        Span { trace: one(&[1]), id: one(&[2]), parent: one(&[4]), name: text(&one(&[5])), attributes }
    }

    async fn a_message_is_one_tree_at_the_collector(backing: Backing) {
        let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
        team.model.on(|_| Script::say("Answered with plums."));
        let (endpoint, received) = collect().await;
        let (process, _log) = start(&team, &format!("OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}")).await;
        let plain = team.say("general", "vince, how much marmalade is left?").await;
        let ask = team.say("ops", "ask vince what he thinks about marmalade").await;
        wait_for_answers(&team, "general", 1).await;
        wait_for_answers(&team, "ops", 1).await;
        assert!(process.terminate(), "it ends in peace");

        let bodies = received.lock().expect("no test panics here").clone();
        let spans: Vec<Span> = bodies.iter().flat_map(|body| find_all(body, &[1, 2, 2])).map(|span| read(&span)).collect();
        for id in [plain, ask] {
            let id = format!("discord:{id}");
            let root = spans.iter().find(|span| span.name == "message" && span.attributes.get("message") == Some(&id)).expect("a root");
            let tree: Vec<&Span> = spans.iter().filter(|span| span.trace == root.trace).collect();
            let ids: BTreeSet<&[u8]> = tree.iter().map(|span| &*span.id).collect();
            assert_eq!(ids.len(), tree.len(), "no id twice");
            for span in &tree {
                let is_root = span.id == root.id;
                assert_eq!(span.parent.is_empty(), is_root, "{span:?}");
                assert!(is_root || ids.contains(&*span.parent), "{span:?} hangs on nothing in {tree:#?}");
            }
            let names: BTreeSet<&str> = tree.iter().map(|span| &*span.name).collect();
            for name in ["message", "decision", "job", "turn", "model_call", "delivery", "platform_call"] {
                assert!(names.contains(name), "{name} is missing in {names:?}");
            }
            let named = spans.iter().filter(|span| span.attributes.get("message") == Some(&id));
            assert!(named.clone().all(|span| span.trace == root.trace), "all that name it are in its tree");
        }
        let sent = bodies.concat();
        for text in ["marmalade", "plums"] {
            assert!(!sent.windows(text.len()).any(|window| window == text.as_bytes()), "{text} left the process");
        }
    }
}
