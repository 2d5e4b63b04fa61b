//! The tools that need no network, with the built-in personas.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::commands::Services;
use kernel::config::Sources;
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::memory::{MemorySource, Scope};
use kernel::people::People;
use kernel::persona::load;
use kernel::persona::roster::Roster;
use kernel::time::SystemClock;
use kernel::tools::approval::Risk;
use kernel::tools::git::GitFolders;
use kernel::tools::workspace::Workspaces;
use kernel::tools::{AskedBy, FeedReader, Tool, ToolContext, ToolError, ToolOutput, Trace};
use serde_json::{Value, json};
use teamroom::app::{LocalDeps, local_tools};
use teamroom::config;
use teamroom::features::ToolDeps;
use teamroom::store::Store;
use tokio_util::sync::CancellationToken;

use crate::support::migrated;

pub(super) fn now() -> DateTime<Utc> {
    "2026-11-22T06:00:00Z".parse().unwrap()
}

/// A reader with one feed.
struct OneFeed;

#[async_trait]
impl FeedReader for OneFeed {
    fn names(&self) -> Vec<String> {
        vec!["repository".into()]
    }

    async fn read(&self, persona: &PersonaSlug, feed: &str, at: DateTime<Utc>) -> Result<String, String> {
        if feed == "repository" {
            Ok(format!("12 commits, for {persona} at {}", at.format("%H:%M")))
        } else {
            Err("there is no such feed".into())
        }
    }
}

/// The tools, and a run that calls them.
pub(super) struct Bench {
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) item: WorkItemId,
    /// The recorded source. Default: the item.
    pub(super) source: Option<MemorySource>,
    pub(super) scope: Scope,
    pub(super) asked_by: Option<AskedBy>,
    pub(super) tainted: bool,
    pub(super) directory: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new(store: Store) -> Self {
        Self::on(tempfile::tempdir().unwrap(), store)
    }

    pub(super) fn on(directory: tempfile::TempDir, store: Store) -> Self {
        let parts = LocalDeps {
            workspaces: Workspaces::new(directory.path().join("workspaces")),
            git: GitFolders { work: directory.path().join("work"), ..GitFolders::default() },
            feeds: Arc::new(OneFeed),
            features: ToolDeps {
                people: People::new(store.database(), vec![("7".into(), "Ada".into())]),
                store,
                roster: Arc::new(roster()),
                config: config::load(Sources { dir: directory.path().to_owned(), ..Sources::default() }).expect("the defaults are valid"),
                services: Services::new("nobody commands here"),
                clock: Arc::new(SystemClock),
            },
        };
        Self { tools: local_tools(parts), item: "item".into(), source: None, scope: Scope::TEAM, asked_by: None, tainted: false, directory }
    }

    /// Creates a store that no other test uses, for tools that do not need one.
    pub(super) async fn alone() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = migrated::sqlite(&directory.path().join("teamroom.db")).into();
        let store = Store::open(&url, now()).await.unwrap();
        Self::on(directory, store)
    }

    pub(super) async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.with(name, async |tool, context| tool.call(&arguments, context).await).await
    }

    pub(super) async fn with<T>(&self, name: &str, what: impl AsyncFnOnce(&dyn Tool, &ToolContext<'_>) -> T) -> T {
        let tool = self.tools.iter().find(|tool| tool.name() == name).unwrap_or_else(|| panic!("there is no tool {name}"));
        let (persona, cancel) = ("vince".into(), CancellationToken::new());
        let source = self.source.clone().unwrap_or_else(|| MemorySource::WorkItem(self.item.clone()));
        let context = ToolContext {
            persona: &persona,
            workspace: Some(&self.item),
            source: Some(&source),
            scope: &self.scope,
            asked_by: self.asked_by.as_ref(),
            seen: &[],
            tainted: self.tainted,
            now: now(),
            cancel: &cancel,
        };
        what(tool.as_ref(), &context).await
    }

    pub(super) async fn text(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments).await.unwrap_or_else(|error| panic!("{name}: {error}")).text
    }

    pub(super) async fn refusal(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments).await.expect_err("refused").to_string()
    }
}

fn roster() -> Roster {
    load::load(Path::new("/nowhere")).roster.unwrap()
}

#[tokio::test]
async fn every_tool_has_a_strict_schema_and_the_risk_of_what_it_does() {
    let bench = Bench::alone().await;
    let mut risks = Vec::new();
    for tool in &bench.tools {
        let schema = tool.parameters();
        assert!(jsonschema::meta::is_valid(&schema), "{}", tool.name());
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{}", tool.name());
        assert!(tool.description().ends_with('.') && tool.limits().chars > 0, "{}", tool.name());
        risks.push((tool.name(), bench.with(tool.name(), async |tool, context| tool.risk(&json!({}), context)).await));
    }
    risks.sort();
    let expected = [
        ("backlog_add", Risk::Write),
        ("backlog_search", Risk::Read),
        ("board_create", Risk::Write),
        ("git_diff", Risk::Read),
        ("git_log", Risk::Read),
        ("git_show", Risk::Read),
        ("item_read", Risk::Read),
        ("meeting_read", Risk::Read),
        ("memory_forget", Risk::Write),
        ("memory_save", Risk::Write),
        ("memory_search", Risk::Read),
        ("read_feed", Risk::Read),
        ("reminder_set", Risk::Write),
        ("skill_read", Risk::Read),
        ("team_command", Risk::Read),
        ("workspace_list", Risk::Read),
        ("workspace_read", Risk::Read),
        ("workspace_write", Risk::Read),
    ];
    assert_eq!(risks, expected);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_in_words_by_each_tool() {
    let bench = Bench::alone().await;
    for tool in &bench.tools {
        for arguments in
            [json!(null), json!([]), json!("x"), json!({"path": 1, "text": [], "limit": "many", "from": {}, "query": 1, "feed": []})]
        {
            match bench.call(tool.name(), arguments.clone()).await {
                Err(ToolError::Refused(why)) => assert!(why.starts_with("the arguments do not fit: "), "{}: {why}", tool.name()),
                other => assert!(["workspace_list", "backlog_search", "meeting_read"].contains(&tool.name()), "{arguments}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn the_built_in_team_lists_tools_that_there_are() {
    let bench = Bench::alone().await;
    let elsewhere = ["ask_agent", "fetch_page", "http_get", "read_document", "web_search"];
    let known: Vec<_> = bench.tools.iter().map(|tool| tool.name()).chain(elsewhere).collect();
    for persona in roster().personas() {
        for tool in &persona.tools {
            assert!(known.contains(&tool.as_str()), "{} lists {tool}", persona.name);
        }
        assert!(persona.tools.iter().any(|tool| tool == "workspace_write"), "{} can work", persona.name);
    }
}

#[tokio::test]
async fn a_file_is_written_listed_and_read_and_leaves_its_trace() {
    let bench = Bench::alone().await;
    let empty = bench.call("workspace_list", json!({})).await.unwrap();
    assert_eq!((empty.text.as_str(), empty.outside), ("The workspace is empty.", false));
    let written = bench.call("workspace_write", json!({"path": "docs/a.md", "text": "zwölf\n"})).await.unwrap();
    let Some(Trace::Wrote { path, sha256: digest, bytes }) = written.trace else { panic!("{:?}", written.trace) };
    assert_eq!((path.as_str(), digest.len(), bytes, written.outside), ("docs/a.md", 64, 7, false));
    assert_eq!(bench.text("workspace_list", json!({})).await, "docs/a.md (7 bytes)");
    let read = bench.call("workspace_read", json!({"path": "docs/a.md"})).await.unwrap();
    assert_eq!((read.text.as_str(), read.outside), ("zwölf\n", true));
    assert_eq!(
        Workspaces::new(bench.directory.path().join("workspaces"))
            .open(&bench.item)
            .await
            .unwrap()
            .digest("docs/a.md")
            .await
            .unwrap()
            .sha256,
        digest
    );
}

#[tokio::test]
async fn a_long_file_is_shown_in_part_and_one_that_is_no_text_not_at_all() {
    let bench = Bench::alone().await;
    bench.text("workspace_write", json!({"path": "long.txt", "text": format!("x{}", "é".repeat(20_000))})).await;
    let shown = bench.text("workspace_read", json!({"path": "long.txt"})).await;
    assert!(shown.ends_with("é\n[bytes 0 to 32767 of 40001; go on with `from` 32767]"), "{}", &shown[shown.len() - 60..]);
    let rest = bench.text("workspace_read", json!({"path": "long.txt", "from": 32767})).await;
    assert_eq!(rest, format!("{}\n[bytes 32767 to 40001 of 40001]", "é".repeat((40_001 - 32_767) / 2)));
    let workspaces = Workspaces::new(bench.directory.path().join("workspaces"));
    workspaces.open(&bench.item).await.unwrap().write("picture.png", b"\x89PNG\xff").await.unwrap();
    assert_eq!(bench.refusal("workspace_read", json!({"path": "picture.png"})).await, "picture.png is no text in UTF-8");
}

#[tokio::test]
async fn a_run_does_not_get_out_of_its_workspace_by_any_tool() {
    let bench = Bench::alone().await;
    for path in ["../../x", "/etc/passwd", "../other/a.md", "C:\\x", "a/../../x"] {
        for (tool, arguments) in [("workspace_read", json!({"path": path})), ("workspace_write", json!({"path": path, "text": "x"}))] {
            let told = bench.refusal(tool, arguments).await;
            assert!(told.contains("is not allowed as a path"), "{tool} {path}: {told}");
        }
    }
    let written: Vec<_> = std::fs::read_dir(bench.directory.path().join("workspaces")).unwrap().collect();
    assert!(written.len() <= 1, "nothing but the item's own folder: {written:?}");
}

#[tokio::test]
async fn a_feed_is_read_by_name_and_is_text_from_outside() {
    let bench = Bench::alone().await;
    let read = bench.call("read_feed", json!({"feed": "repository"})).await.unwrap();
    assert_eq!((read.text.as_str(), read.outside), ("12 commits, for vince at 06:00", true));
    assert_eq!(bench.refusal("read_feed", json!({"feed": "weather"})).await, "there is no such feed");
    let told = bench.with("read_feed", async |tool, _| tool.description()).await;
    assert!(told.ends_with("The team has: repository."), "{told}");
}
