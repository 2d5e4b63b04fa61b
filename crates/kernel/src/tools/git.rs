//! Read-only access to the history of repositories: that of a persona's git feed, or of the team.
//!
//! A model's arguments never become options: revisions are resolved to hashes, and paths come after `--` and are literal. Git runs without
//! hooks, filters, pagers and other programs from the configuration.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::ids::PersonaSlug;
use crate::repository::{ALONE, command};
use crate::text::{is_invisible, without_invisible};
use crate::tools::approval::Risk;
use crate::tools::arguments::parse_arguments;
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput};

/// The most commits in a log.
const MOST_COMMITS: u32 = 50;
const USUAL_COMMITS: u32 = 20;

/// The most bytes read of git's output. A diff can have any length.
const TAKEN: u64 = 256 * 1024;

/// The most characters of a diff for the model.
const TOLD: usize = 24_000;

/// The repositories that the tools read.
#[derive(Debug, Clone, Default)]
pub struct GitFolders {
    /// The repository that is used if there is no other one.
    pub work: PathBuf,
    /// By persona: the folders of its git feeds, by the names of the feeds.
    pub of_persona: HashMap<PersonaSlug, Vec<(String, PathBuf)>>,
    /// The configured repositories, by name.
    pub configured: Vec<(String, PathBuf)>,
}

pub fn git_tools(folders: GitFolders) -> [Arc<dyn Tool>; 3] {
    let folders = Arc::new(folders);
    [Arc::new(Log(folders.clone())), Arc::new(Diff(folders.clone())), Arc::new(Show(folders))]
}

struct Log(Arc<GitFolders>);
struct Diff(Arc<GitFolders>);
struct Show(Arc<GitFolders>);

impl GitFolders {
    /// The repository that a persona names, or its first: that of its own feed, a configured one, or the folder that the team works on.
    fn find(&self, persona: &PersonaSlug, named: Option<&str>) -> Result<Git, ToolError> {
        let own = self.of_persona.get(persona).into_iter().flatten();
        let known: Vec<&(String, PathBuf)> = own.chain(&self.configured).collect();
        let Some(asked) = named else {
            return Ok(Git { work: known.first().map_or(&self.work, |(_, folder)| folder).clone() });
        };
        if let Some((_, folder)) = known.iter().find(|(name, _)| name == asked) {
            return Ok(Git { work: folder.clone() });
        }
        let there: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
        let there = if there.is_empty() { "leave it out".to_owned() } else { format!("there are {}", there.join(", ")) };
        let shown: String = asked.chars().take(80).flat_map(char::escape_debug).collect();
        Err(ToolError::Refused(format!("there is no repository \"{shown}\"; {there}")))
    }
}

/// The argument that all git tools have.
fn repository() -> Value {
    json!({"type": "string", "description": "The name of your git feed or of a configured repository; your first if left out."})
}

#[derive(Deserialize)]
struct ShowArguments {
    commit: String,
    path: Option<String>,
    repository: Option<String>,
}

#[derive(Deserialize)]
struct LogArguments {
    repository: Option<String>,
    limit: Option<u32>,
    path: Option<String>,
}

#[derive(Deserialize)]
struct DiffArguments {
    repository: Option<String>,
    from: String,
    to: Option<String>,
    path: Option<String>,
}

#[async_trait]
impl Tool for Log {
    fn name(&self) -> &'static str {
        "git_log"
    }

    fn description(&self) -> String {
        "Lists the newest commits of the team's repository: hash, day, author, subject.".into()
    }

    fn asked_by(&self) -> &'static str {
        "commits commit history changes changed code repository branch merged pushed release author Änderungen geändert Verlauf"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_COMMITS, "description": "How many; 20 if left out."},
                "path": {"type": "string", "description": "Only commits that changed this file or folder."},
                "repository": repository(),
            },
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let LogArguments { limit, path, repository } = parse_arguments(arguments)?;
        let git = self.0.find(context.persona, repository.as_deref())?;
        let most = format!("--max-count={}", limit.unwrap_or(USUAL_COMMITS).clamp(1, MOST_COMMITS));
        let fixed = ["log", "--no-show-signature", "--no-color", "--no-decorate", "--format=%h %cs %an: %s", &most, "HEAD"];
        let listed = git.run(&fixed, path.as_deref()).await?;
        Ok(told(&listed, "There are no such commits."))
    }
}

#[async_trait]
impl Tool for Diff {
    fn name(&self) -> &'static str {
        "git_diff"
    }

    fn description(&self) -> String {
        "Shows what changed in the team's repository between two commits.".into()
    }

    fn asked_by(&self) -> &'static str {
        "difference differences changed changes between commits commit code patch release Unterschied Änderung geändert"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "from": {"type": "string", "description": "A hash, tag or branch, or one with ~1 behind it for the commit before."},
                "to": {"type": "string", "description": "The same; HEAD if left out."},
                "path": {"type": "string", "description": "Only this file or folder."},
                "repository": repository(),
            },
            "required": ["from"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: TOLD, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let DiffArguments { from, to, path, repository } = parse_arguments(arguments)?;
        let git = self.0.find(context.persona, repository.as_deref())?;
        let (from, to) = (git.resolve(&from).await?, git.resolve(to.as_deref().unwrap_or("HEAD")).await?);
        let fixed = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--stat", "--patch", &from, &to];
        let difference = git.run(&fixed, path.as_deref()).await?;
        Ok(told(&difference, "There is no difference."))
    }
}

#[async_trait]
impl Tool for Show {
    fn name(&self) -> &'static str {
        "git_show"
    }

    fn description(&self) -> String {
        "Shows a commit of the team's repository: its message and what it changed.".into()
    }

    fn asked_by(&self) -> &'static str {
        "commit patch hash code change Änderung"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "commit": {"type": "string", "description": "A hash, tag or branch, or one with ~1 behind it for the commit before."},
                "path": {"type": "string", "description": "Only this file or folder."},
                "repository": repository(),
            },
            "required": ["commit"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: TOLD, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let ShowArguments { commit, path, repository } = parse_arguments(arguments)?;
        let git = self.0.find(context.persona, repository.as_deref())?;
        let commit = git.resolve(&commit).await?;
        let format = "--format=commit %H%nAuthor: %an%nDate: %cI%n%n%B";
        let fixed = [
            "show",
            "--no-show-signature",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-decorate",
            "--submodule=short",
            "--stat",
            "--patch",
            format,
            &commit,
        ];
        let shown = git.run(&fixed, path.as_deref()).await?;
        Ok(told(&shown, "It changed nothing there."))
    }
}

fn told(said: &str, nothing: &str) -> ToolOutput {
    let text = without_invisible(said.trim_end());
    ToolOutput { text: if text.is_empty() { nothing.to_owned() } else { text }, outside: true, trace: None }
}

#[derive(Clone)]
struct Git {
    work: PathBuf,
}

impl Git {
    /// Resolves a model's revision to a hash.
    async fn resolve(&self, named: &str) -> Result<String, ToolError> {
        let shown: String = named.chars().take(80).flat_map(char::escape_debug).collect();
        let refuse = || ToolError::Refused(format!("\"{shown}\" names no commit"));
        if named.is_empty() || named.starts_with('-') || named.len() > 200 || named.contains(|c: char| c.is_whitespace() || is_invisible(c))
        {
            return Err(refuse());
        }
        let commit = format!("{named}^{{commit}}");
        match self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit], None).await {
            Ok(hash) if hash.trim().len() >= 40 && hash.trim().chars().all(|c| c.is_ascii_hexdigit()) => Ok(hash.trim().to_owned()),
            Ok(_) => Err(refuse()),
            // Git is silent only for an unknown revision.
            Err(ToolError::Failed(why)) if why == SILENT => Err(refuse()),
            Err(error) => Err(error),
        }
    }

    /// Runs git without a shell and without this process's environment, which contains tokens. Killed on drop.
    async fn run(&self, fixed: &[&str], path: Option<&str>) -> Result<String, ToolError> {
        if path.is_some_and(|path| path.contains('\0')) {
            return Err(ToolError::Refused("a path holds no NUL".into()));
        }
        let mut command = command();
        command.arg("-C").arg(&self.work).arg("--no-pager").args(ALONE.iter().flat_map(|setting| ["-c", setting])).args(fixed);
        if let Some(path) = path {
            command.args(["--", path]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        read_output(command).await
    }
}

/// The error if git prints nothing.
const SILENT: &str = "git failed without a message";

async fn read_output(mut command: Command) -> Result<String, ToolError> {
    let not_run = |error: std::io::Error| ToolError::Failed(format!("cannot run git ({error}). Is it installed?"));
    let mut child = command.spawn().map_err(not_run)?;
    let (out, err) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    let complaint = tokio::spawn(read_some(err));
    let said = read_some(out).await.map_err(not_run)?;
    let cut = said.len() as u64 == TAKEN;
    if cut {
        // Git would block on its full output pipe.
        child.start_kill().map_err(not_run)?;
    }
    let complaint = complaint.await.ok().and_then(Result::ok).unwrap_or_default();
    if child.wait().await.map_err(not_run)?.success() || cut {
        return Ok(String::from_utf8_lossy(&said).into_owned());
    }
    let complaint = without_invisible(&String::from_utf8_lossy(&complaint));
    Err(ToolError::Failed(complaint.lines().next().map_or_else(|| SILENT.to_owned(), |line| format!("git said: {line}"))))
}

async fn read_some(from: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    from.take(TAKEN).read_to_end(&mut read).await?;
    Ok(read)
}
