use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::ids::{PersonaSlug, WorkItemId};
use crate::memory::Scope;
use crate::time::ManualClock;
use crate::tools::ToolLimits;
use crate::tools::approval::Risk;
use crate::tools::toolbox::*;

/// A tool that does nothing. Its arguments determine its risk.
struct Fake(&'static str);

#[async_trait]
impl Tool for Fake {
    fn name(&self) -> &'static str {
        self.0
    }

    fn description(&self) -> String {
        format!("Does {}.", self.0)
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"words": {"type": "string", "maxLength": 30}},
            "required": ["words"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { timeout: Duration::from_secs(20), chars: 12 }
    }

    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        let words = arguments["words"].as_str().expect("the arguments fit the schema");
        match self.0 {
            "save" => Risk::Write,
            "post" => Risk::ReachOut,
            "fetch" if context.seen.iter().all(|seen| seen != words) => Risk::ReachOut,
            _ => Risk::Read,
        }
    }

    async fn call(&self, arguments: &Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        match self.0 {
            "hang" => std::future::pending().await,
            "panic" => panic!("what the page said"),
            "post" => Err(ToolError::Refused("that is no place to post to".into())),
            _ => Ok(ToolOutput { text: arguments["words"].as_str().unwrap_or_default().into(), outside: true, trace: None }),
        }
    }
}

const FAKES: [&str; 6] = ["look", "save", "post", "fetch", "hang", "panic"];

fn now() -> DateTime<chrono::Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

fn toolbox() -> (Toolbox, ManualClock) {
    let clock = ManualClock::new(now());
    let tools = FAKES.map(|name| Arc::new(Fake(name)) as Arc<dyn Tool>);
    (Toolbox::new(tools.into(), Arc::new(clock.clone())), clock)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

struct Scene {
    persona: PersonaSlug,
    item: WorkItemId,
    seen: Vec<String>,
    cancel: CancellationToken,
    scope: Scope,
}

impl Scene {
    fn new() -> Self {
        Self {
            persona: "vince".into(),
            item: WorkItemId::generate(),
            seen: vec!["seen".into()],
            scope: Scope::team(),
            cancel: CancellationToken::new(),
        }
    }

    fn context(&self) -> ToolContext<'_> {
        ToolContext {
            persona: &self.persona,
            workspace: Some(&self.item),
            source: None,
            scope: &self.scope,
            asked_by: None,
            seen: &self.seen,
            tainted: false,
            now: now(),
            cancel: &self.cancel,
        }
    }
}

#[test]
fn a_list_may_name_what_other_teams_have_but_no_slip() {
    let (toolbox, _) = toolbox();
    assert_eq!(toolbox.check_listed(&names(&["look", "ask_agent", "web_search"])), Ok(()));
    let told = toolbox.check_listed(&names(&["look", "fetch_pages"])).unwrap_err();
    assert_eq!(told, "there is no tool \"fetch_pages\"; did you mean fetch_page?");
    let told = toolbox.check_listed(&names(&["teleport"])).unwrap_err();
    assert_eq!(told, "there is no tool \"teleport\"; there are fetch, hang, look, panic, post, save");
}

#[test]
fn only_what_is_listed_is_offered() {
    let (toolbox, _) = toolbox();
    let specs = toolbox.specs(&names(&["save", "look", "ask_agent"]), false, true);
    assert_eq!(specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["look", "save"]);
    assert_eq!(specs[0].description, "Does look.");
    assert_eq!(specs[0].parameters["required"], json!(["words"]));
}

#[test]
fn what_is_wrong_with_a_call_is_told() {
    let (toolbox, _) = toolbox();
    let scene = Scene::new();
    let decide = |name, arguments| toolbox.decide(&names(&["look", "ask_agent"]), name, &arguments, &scene.context());
    let refused = |why: &str| Decision::Refused { why: why.into() };
    assert_eq!(decide("save", json!({"words": "a"})), refused("you have no such tool; you have look"));
    assert_eq!(decide("ask_agent", json!({})), refused("ask_agent is not set up on this team"));
    assert_eq!(decide("look", json!({})), refused("look was not called: words is missing"));
    assert_eq!(decide("look", json!({"words": "a"})), Decision::Allowed { risk: Risk::Read });
}

#[tokio::test]
async fn a_call_gives_its_text_within_its_limit() {
    let (toolbox, _) = toolbox();
    let scene = Scene::new();
    let perform = async |name, words: &str| toolbox.perform(name, &json!({"words": words}), &scene.context()).await;
    assert_eq!(perform("look", "twelve täms!").await.unwrap().text, "twelve täms!");
    assert_eq!(perform("look", "thirteen täms").await.unwrap().text, "thirteen täm\n[cut here: the first 12 of 13 characters]");
    assert!(perform("look", "a").await.unwrap().outside);
    assert_eq!(perform("post", "a").await, Err(ToolError::Refused("that is no place to post to".into())));
    assert!(matches!(perform("look", &"x".repeat(31)).await, Err(ToolError::Refused(_))));
    assert!(matches!(perform("stranger", "a").await, Err(ToolError::Refused(_))));
}

#[tokio::test]
async fn a_panic_ends_only_its_call_and_says_nothing_from_inside() {
    let (toolbox, _) = toolbox();
    let scene = Scene::new();
    let failed = toolbox.perform("panic", &json!({"words": ""}), &scene.context()).await.unwrap_err();
    assert_eq!(failed.to_string(), "panic broke down; that is a fault of the program");
}

#[tokio::test]
async fn a_call_ends_at_its_time_limit_and_when_it_is_called_off() {
    let (toolbox, clock) = toolbox();
    let scene = Scene::new();
    let (context, arguments) = (scene.context(), json!({"words": ""}));
    let run_out = async {
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(20));
    };
    let (failed, ()) = tokio::join!(toolbox.perform("hang", &arguments, &context), run_out);
    assert_eq!(failed.unwrap_err().to_string(), "hang took longer than 20 s");
    scene.cancel.cancel();
    assert_eq!(toolbox.perform("hang", &arguments, &context).await.unwrap_err().to_string(), "hang was called off");
}

/// Arguments of every class: valid with a known address, valid with an invented one, and all kinds of invalid.
fn arguments() -> impl Strategy<Value = (Value, bool)> {
    prop_oneof![
        4 => Just((json!({"words": "seen"}), true)),
        4 => "[a-z]{5,30}".prop_map(|words| (json!({"words": words}), true)),
        1 => "\\PC{31,60}".prop_map(|words| (json!({"words": words}), false)),
        1 => prop::sample::select(vec![
            json!(null), json!([]), json!("seen"), json!({}), json!({"words": 1}), json!({"words": null}), json!({"words": ["seen"]}),
            json!({"words": "seen", "approved": true}), json!({"words": "seen", "tainted": false}), json!({"Words": "seen"}),
        ])
        .prop_map(|arguments| (arguments, false)),
    ]
}

/// TRUST-3, written a second time.
fn expected(name: &str, listed: bool, fits: bool, arguments: &Value, tainted: bool) -> &'static str {
    let harmless = matches!(name, "look" | "hang" | "panic") || (name == "fetch" && arguments["words"] == "seen");
    match () {
        () if !listed || !fits || !FAKES.contains(&name) => "refused",
        () if tainted && !harmless => "asked",
        () => "allowed",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn no_call_of_an_adversary_is_allowed_outside_policy_and_each_that_policy_allows_is(
        name in prop::sample::select(vec!["look", "save", "post", "fetch", "hang", "panic", "ask_agent", "Look", "post ", "", "../save"]),
        list in prop::sample::subsequence(vec!["look", "save", "post", "fetch", "hang", "panic", "ask_agent"], 0..=7),
        (arguments, fits) in arguments(),
        tainted: bool,
    ) {
        let (toolbox, _) = toolbox();
        let scene = Scene::new();
        let decision = toolbox.decide(&names(&list), name, &arguments, &ToolContext { tainted, ..scene.context() });
        let decided = match &decision {
            Decision::Allowed { .. } => "allowed",
            Decision::NeedsApproval { .. } => "asked",
            Decision::Refused { .. } => "refused",
        };
        prop_assert_eq!(decided, expected(name, list.contains(&name), fits, &arguments, tainted));
        if decided == "asked" {
            let untainted = toolbox.decide(&names(&list), name, &arguments, &scene.context());
            prop_assert!(matches!(untainted, Decision::Allowed { .. }), "{untainted:?}");
        }
    }
}
