//! Runs with tools: which calls are executed, and what the model is told about the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use kernel::agent::{Limits, Offer, Prompt, Reply, Run, RunError, Tools};
use kernel::memory::Scope;
use kernel::testing::persona::persona;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};

use super::*;
use crate::support::model::Script;

/// A tool that counts its calls. Its name determines the risk.
struct Counted(&'static str, Arc<AtomicUsize>);

#[async_trait]
impl Tool for Counted {
    fn name(&self) -> &'static str {
        self.0
    }

    fn description(&self) -> String {
        format!("Does {}.", self.0)
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn needs_workspace(&self) -> bool {
        self.0 == "file"
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        if self.0 == "save" { Risk::Write } else { Risk::Read }
    }

    async fn call(&self, _: &Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let earlier = self.1.fetch_add(1, Ordering::Relaxed);
        let text = if self.0 == "save" { format!("It is done, after {earlier} others.") } else { "It is done.".into() };
        Ok(ToolOutput { text, outside: self.0 == "look", trace: None })
    }
}

/// A model with counting tools.
struct Bench {
    server: ScriptedModel,
    desk: Desk,
    calls: Arc<AtomicUsize>,
}

impl Bench {
    async fn new() -> Self {
        let (server, calls) = (ScriptedModel::start().await, Arc::<AtomicUsize>::default());
        let mut desk = Desk::of(&server, ProviderKind::OpenAi);
        let tools = ["look", "save", "file"].map(|name| Arc::new(Counted(name, calls.clone())) as Arc<dyn Tool>);
        desk.runner.tools = Toolbox::new(tools.into(), Arc::new(EagerClock::default()));
        Self { server, desk, calls }
    }

    async fn run(&self, holds_outside: bool) -> Result<Reply, RunError> {
        let vince = persona("Vince", "data", &[]);
        let prompt = Prompt { system: "You are Vince.".into(), message: "What now?".into(), holds_outside, remarks: Vec::new() };
        let tools = Tools {
            listed: ["look", "save", "file"].map(str::to_owned).into(),
            offer: Offer::All,
            own: Vec::new(),
            workspace: None,
            source: None,
            scope: Scope::TEAM,
            asked_by: None,
            addresses: Vec::new(),
            approvals: None,
            in_chat: None,
            limits: Limits::CHAT,
        };
        let cancel = CancellationToken::new();
        let run = Run { tools: Some(tools), ..Run::new(&vince, (Purpose::Chat, "turn-1"), prompt, 100, &cancel) };
        self.desk.runner.run(run).await
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The last message to the model.
    fn told(&self) -> String {
        self.server.requests().pop().expect("a request").last().to_owned()
    }
}

fn call(tool: &str) -> Script {
    Script::call(tool, json!({}))
}

#[tokio::test]
async fn tools_are_called_until_the_model_answers_in_words() {
    let bench = Bench::new().await;
    bench.server.next([call("look"), Script::say("Seen.")]);
    let reply = bench.run(false).await.expect("an answer");
    assert_eq!((reply.text.as_str(), reply.model.as_deref(), bench.calls()), ("Seen.", Some("main/small"), 1));
    assert_eq!(bench.server.requests()[0].tools, ["look", "save"], "there is no workspace to work in");
    assert!(bench.told().contains("| result of look>>\nIt is done."), "text from outside is marked: {}", bench.told());
    bench.desk.meter.assert_balanced();
}

#[tokio::test]
async fn nothing_is_written_once_text_from_outside_was_read_and_nobody_can_be_asked() {
    for (holds_outside, reads_first, writes) in [(false, false, 1), (true, false, 0), (false, true, 0)] {
        let bench = Bench::new().await;
        if reads_first {
            bench.server.next([call("look")]);
        }
        bench.server.next([call("save"), Script::say("Well.")]);
        bench.run(holds_outside).await.expect("an answer");
        assert_eq!(bench.calls(), writes + usize::from(reads_first), "outside {holds_outside}, reads {reads_first}");
        assert_eq!(bench.told().contains("nobody can be asked here"), writes == 0, "{}", bench.told());
    }
}

#[tokio::test]
async fn a_workspace_cannot_be_written_where_there_is_none() {
    let bench = Bench::new().await;
    bench.server.next([call("file"), Script::say("Well.")]);
    bench.run(false).await.expect("an answer");
    assert_eq!((bench.calls(), bench.told().starts_with("Not done: ")), (0, true), "{}", bench.told());
}

#[tokio::test]
async fn a_model_that_learns_nothing_from_its_calls_is_told_and_then_stopped() {
    let bench = Bench::new().await;
    bench.server.on(|_| call("look"));
    let error = bench.run(false).await.expect_err("it goes round in circles");
    assert!(matches!(error, RunError::Stuck { times: 5, .. }), "{error:?}");
    let told: Vec<bool> = bench
        .server
        .requests()
        .iter()
        .map(|asked| asked.last().contains("exactly these calls 3 times now, with the same result"))
        .collect();
    assert_eq!(told, [false, false, false, true, false], "the fourth time it was asked");
    bench.desk.meter.assert_balanced();
}

#[tokio::test]
async fn after_eight_calls_the_model_has_to_answer() {
    let bench = Bench::new().await;
    bench.server.on(|asked| if asked.tool_results() < 9 { call("save") } else { Script::say("Enough.") });
    assert_eq!(bench.run(false).await.expect("an answer").text, "Enough.");
    assert_eq!((bench.calls(), bench.told()), (8, "Not done: a run has 8 calls. Answer now, with what there is.".into()));

    let bench = Bench::new().await;
    bench.server.on(|_| call("save"));
    let error = bench.run(false).await.expect_err("it never answers");
    assert!(matches!(error, RunError::TooManyCalls { .. }), "{error:?}");
    assert_eq!((bench.calls(), bench.server.count()), (8, 10));
}

#[tokio::test]
async fn an_endpoint_that_says_nothing_of_what_it_refuses_is_found_out_once() {
    let bench = Bench::new().await;
    bench.server.on(|asked| if asked.tools.is_empty() { Script::say("Plain.") } else { Script::status(400) });
    for requests in [2, 3] {
        assert_eq!(bench.run(false).await.expect("an answer").text, "Plain.");
        assert_eq!(bench.server.count(), requests);
    }
    assert!(
        bench
            .told()
            .ends_with("What now?\n\n(You cannot call tools here. Answer from what stands above, and say so where that is not enough.)")
    );

    let bench = Bench::new().await;
    bench.server.on(|_| Script::status(400));
    for requests in [2, 3] {
        bench.run(false).await.expect_err("it refuses everything");
        assert_eq!(bench.server.count(), requests, "a guess that explains nothing is not repeated");
    }
    assert!(bench.desk.runner.models.status()[0].lacks.is_empty());
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_shortened_once_by_its_sections() {
    let long = "The dredger moved mud. ".repeat(500);
    let message = format!("Marker of this message: m1\n\n<<data m1 | file a.md>>\n{long}\n<<end m1>>\n\nWhat now?");
    for (most, answers) in [(7000, true), (50, false)] {
        let bench = Bench::new().await;
        bench.server.on(move |asked| {
            let body =
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#;
            if asked.prompt().len() > most {
                Script::Status { code: 400, body: body.into(), headers: Vec::new() }
            } else {
                Script::say("Read.")
            }
        });
        let (vince, cancel) = (persona("Vince", "data", &[]), CancellationToken::new());
        let prompt = Prompt { system: "You are Vince.".into(), message: message.clone(), holds_outside: true, remarks: Vec::new() };
        let reply = bench.desk.runner.run(Run::new(&vince, (Purpose::Chat, "turn-1"), prompt, 100, &cancel)).await;
        assert_eq!((reply.is_ok(), bench.server.count()), (answers, 2), "{reply:?}");
        match reply {
            Ok(reply) => assert!(reply.remarks[0].contains("I have read only parts of it"), "{reply:?}"),
            Err(error) => assert!(error.for_person().contains("more text than the language model at main can read"), "{error}"),
        }
        assert!(bench.told().ends_with("What now?"), "the question stays whole");
    }
}
