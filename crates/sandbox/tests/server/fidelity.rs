//! Responses and frames of the sandbox, checked against Discord's description of its API and a schema of its gateway.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::{Registry, Validator};
use sandbox::{Direction, Exchange, FrameExchange, Sandbox};
use serde::Deserialize;
use serde_json::{Value, json};

use super::descriptions::{explain, find_operation, read};
use super::harness::start_with;

/// The sandbox's operations, with Discord's names. Each must be run and checked at least once.
const OPERATIONS: &str = include_str!("operations.txt");
/// Known errors in the descriptions.
const ALLOWED: &str = include_str!("allowed.json");

/// One known deviation.
#[derive(Deserialize)]
struct Allowed {
    /// Operation or event.
    at: String,
    /// A part of the validator's message.
    complaint: String,
    /// For readers of the file only.
    #[expect(dead_code, reason = "the reason is for the reader of the file")]
    reason: String,
}

#[tokio::test]
async fn all_answers_and_frames_are_as_discord_describes_them() {
    let (Some(api), Some(sent), Some(received)) =
        (read("openapi.json"), read("gateway-receive.schema.json"), read("gateway-send.schema.json"))
    else {
        return;
    };
    let world = start_with(|options| options.journal = true).await;
    Box::pin(super::all_operations::run_all_operations(&world)).await;
    let journal = world.sandbox.journal();
    let mut findings = Findings::new();
    let seen = check_answers(&api, &journal, &mut findings);
    check_frames(&world.sandbox, &sent, &received, &journal, &mut findings);
    findings.assert_none();
    let expected: BTreeSet<&str> = OPERATIONS.lines().collect();
    let missing: Vec<&&str> = expected.iter().filter(|name| !seen.contains(**name)).collect();
    assert!(missing.is_empty(), "these operations were not answered with success: {missing:?}");
    println!("{} operations, {} exchanges checked", seen.len(), journal.len());
}

/// Validation errors that are not known deviations.
struct Findings {
    allowed: Vec<Allowed>,
    used: BTreeSet<usize>,
    found: BTreeMap<String, String>,
}

impl Findings {
    fn new() -> Self {
        let allowed = serde_json::from_str(ALLOWED).expect("the list of deviations is valid");
        Self { allowed, used: BTreeSet::new(), found: BTreeMap::new() }
    }

    fn add(&mut self, at: &str, complaint: &str, instance: &Value) {
        let known = |allowed: &Allowed| (allowed.at == at || allowed.at == "*") && complaint.contains(&allowed.complaint);
        match self.allowed.iter().position(known) {
            Some(index) => {
                self.used.insert(index);
            }
            None => {
                self.found.entry(format!("{at}: {complaint}")).or_insert_with(|| format!("{instance:.900}"));
            }
        }
    }

    fn assert_none(&self) {
        let report: Vec<String> = self.found.iter().map(|(finding, instance)| format!("{finding}\n    in {instance}")).collect();
        assert!(report.is_empty(), "{} findings:\n{}", report.len(), report.join("\n"));
        let unused: Vec<&str> = (0..self.allowed.len())
            .filter(|index| !self.used.contains(index))
            .map(|index| self.allowed[index].complaint.as_str())
            .collect();
        assert!(unused.is_empty(), "these deviations are no longer there: {unused:?}");
    }
}

/// Checks all responses. Returns the successful operations.
fn check_answers(api: &Value, journal: &[Exchange], findings: &mut Findings) -> BTreeSet<String> {
    let registry = Registry::new().add("https://discord/api.json", api).expect("a resource").prepare().expect("references");
    let mut validators: BTreeMap<String, Validator> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for exchange in journal {
        let Exchange::Rest(exchange) = exchange else { continue };
        let Some((path, operation)) = find_operation(api, exchange) else { continue };
        let name = operation["operationId"].as_str().expect("a name");
        let Some((status, schema)) = find_response(operation, exchange.status) else {
            findings.add(name, &format!("status {} is not described", exchange.status), &exchange.response);
            continue;
        };
        if exchange.status < 300 {
            seen.insert(name.to_owned());
        }
        let Some(pointer) = schema else {
            if !exchange.response.is_null() {
                findings.add(name, "a body where none is described", &exchange.response);
            }
            continue;
        };
        let method = exchange.method.to_lowercase();
        let escaped = path.replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
        let reference = match pointer {
            Some(shared) => format!("https://discord/api.json{shared}/content/application~1json/schema"),
            None => format!("https://discord/api.json#/paths/{escaped}/{method}/responses/{status}/content/application~1json/schema"),
        };
        let validator = validators.entry(reference.clone()).or_insert_with(|| {
            jsonschema::options().with_registry(&registry).build(&json!({ "$ref": reference })).expect("the schema compiles")
        });
        for error in validator.iter_errors(&exchange.response) {
            findings.add(name, &explain(&error), &exchange.response);
        }
    }
    seen
}

/// The status in the description, and its body: `None` without one, `Some(Some(reference))` for a shared one.
#[expect(clippy::option_option, reason = "described or not, with a body or not, shared or its own")]
fn find_response(operation: &Value, status: u16) -> Option<(String, Option<Option<String>>)> {
    let class = format!("{}XX", status / 100);
    let key = [status.to_string(), class].into_iter().find(|key| operation["responses"][key].is_object())?;
    let response = &operation["responses"][&key];
    if let Some(shared) = response["$ref"].as_str() {
        return Some((key, Some(Some(shared.to_owned()))));
    }
    let has_body = response["content"]["application/json"].is_object();
    Some((key, has_body.then_some(None)))
}

fn check_frames(sandbox: &Sandbox, sent: &Value, received: &Value, journal: &[Exchange], findings: &mut Findings) {
    let bots: BTreeSet<String> = sandbox.bots().into_iter().map(|bot| bot.id).collect();
    let sent = Frames::new(sent);
    let received = Frames::new(received);
    for exchange in journal {
        let Exchange::Frame(FrameExchange { user, direction, payload }) = exchange else { continue };
        // Only frames for bots are described, not those for people's clients.
        if user.as_ref().is_some_and(|user| !bots.contains(user)) {
            continue;
        }
        let frames = if *direction == Direction::Sent { &sent } else { &received };
        frames.check(payload, findings);
    }
}

/// A schema of frames, a union of many forms. For a readable error, a wrong frame is checked again with the forms of its event only.
struct Frames<'a> {
    schema: &'a Value,
    whole: Validator,
}

impl<'a> Frames<'a> {
    fn new(schema: &'a Value) -> Self {
        Self { schema, whole: jsonschema::validator_for(schema).expect("the schema compiles") }
    }

    fn check(&self, payload: &Value, findings: &mut Findings) {
        if self.whole.is_valid(payload) {
            return;
        }
        let name = payload["t"].as_str().map_or_else(|| format!("op {}", payload["op"]), str::to_owned);
        let definitions = self.schema["definitions"].as_object().expect("definitions");
        let event = |definition: &Value| {
            let reference = definition["properties"]["t"]["$ref"].as_str()?.strip_prefix("#/definitions/")?;
            definitions.get(reference)?["const"].as_str()
        };
        let wanted = payload["t"].as_str();
        let is_for = |definition: &&Value| wanted.is_some() && event(definition) == wanted;
        let forms: Vec<String> = definitions.iter().filter(|(_, d)| is_for(d)).map(|(name, _)| encode(name)).collect();
        if forms.is_empty() {
            findings.add(&name, "no form of the schema matches", payload);
        }
        for form in forms {
            let mut schema = self.schema.clone();
            schema["$ref"] = json!(format!("#/definitions/{form}"));
            let validator = jsonschema::validator_for(&schema).expect("the schema compiles");
            for error in validator.iter_errors(payload) {
                findings.add(&name, &explain(&error), payload);
            }
        }
    }
}

/// Escapes the characters of a definition's name that a reference must not contain.
fn encode(name: &str) -> String {
    name.replace('<', "%3C").replace('>', "%3E").replace(',', "%2C").replace(' ', "%20")
}
