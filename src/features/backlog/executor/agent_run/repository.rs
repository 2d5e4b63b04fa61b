//! The tools of a run that works in a repository, and its result: a commit on the item's branch, and the patch of it.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::executor::agent_run::finish::{BLOCKED, Finish, product_of, read_summary};
use crate::features::backlog::model::{Claim, Product, WorkItem};
use crate::features::backlog::verifier::failing::Failing;
use kernel::agent::{CallError, OwnTool, Progress};
use kernel::llm::ToolSpec;
use kernel::memory::retrieval::cut;
use kernel::persona::Persona;
use kernel::repository::{RepositoryError, Version, Worktree};
use kernel::tools::command::CommandResult;
use kernel::tools::workspace::MOST_FILE_BYTES;
use kernel::tools::{ToolError, ToolOutput, Trace};

/// The most files in a list, and the most characters of a tool's output.
const LISTED: usize = 600;
const SHOWN: usize = 24_000;
/// The most bytes of test output that the author sees in its own critique.
const TAIL: usize = 4000;
/// Maximum length of a commit's subject.
const SUBJECT: usize = 72;

/// What a run with a worktree works on.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) worktree: &'a Worktree,
    /// The time limit of the test command.
    pub(crate) limit: Duration,
}

/// The tools for the files of a repository. They stay inside the worktree, so they are always allowed.
pub(super) fn tools<'a>(site: Site<'a>, finish: Finish<'a>, cancel: &'a CancellationToken) -> Vec<Box<dyn OwnTool + 'a>> {
    let mut kinds = vec![Kind::List, Kind::Search, Kind::Read, Kind::Edit, Kind::Write, Kind::Delete, Kind::Finish];
    kinds.extend((!site.worktree.settings.test_command.is_empty()).then_some(Kind::Test));
    kinds
        .into_iter()
        .map(|kind| Box::new(RepositoryTool { kind, site, finish, cancel, base: OnceLock::new() }) as Box<dyn OwnTool + 'a>)
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Search,
    Read,
    Edit,
    Write,
    Delete,
    Test,
    Finish,
}

struct RepositoryTool<'a> {
    kind: Kind,
    site: Site<'a>,
    finish: Finish<'a>,
    cancel: &'a CancellationToken,
    /// The tests that fail without the change. They are run when a test fails with it.
    base: OnceLock<Failing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    text: String,
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    path: String,
    from_line: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    path: String,
    old: String,
    new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    path: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathArguments {
    path: String,
}

#[async_trait]
impl OwnTool for RepositoryTool<'_> {
    fn ends_run(&self) -> bool {
        self.kind == Kind::Finish
    }

    fn spec(&self) -> ToolSpec {
        let text = |about: &str| json!({"type": "string", "description": about});
        let path = || text("From the top of the repository, with / between its parts, such as src/main.rs.");
        let (name, description, properties, required): (_, &str, _, &[&str]) = match self.kind {
            Kind::List => ("repo_list", "Lists the files of the repository.", json!({"path": text("Only below this folder.")}), &[]),
            Kind::Search => (
                "repo_search",
                "Finds the lines that contain a text, as path:line:text.",
                json!({"text": text("Exactly as it stands in the file."), "path": text("Only below this file or folder.")}),
                &["text"],
            ),
            Kind::Read => (
                "repo_read",
                "Reads a text file of the repository.",
                json!({"path": path(), "from_line": {"type": "integer", "minimum": 1, "description": "1 if left out."}}),
                &["path"],
            ),
            Kind::Edit => (
                "repo_edit",
                "Replaces a piece of text in a file. It must occur exactly once.",
                json!({"path": path(), "old": text("The text as it stands, with enough around it to occur once."), "new": text("What stands there then.")}),
                &["path", "old", "new"],
            ),
            Kind::Write => ("repo_write", "Writes a whole file.", json!({"path": path(), "text": text("All of it.")}), &["path", "text"]),
            Kind::Delete => ("repo_delete", "Deletes a file.", json!({"path": path()}), &["path"]),
            Kind::Test => ("repo_test", "Runs the test command of the repository on the files as they are now.", json!({}), &[]),
            Kind::Finish => (
                "finish",
                "Ends your work on the item. Call it once, when the change is complete. It is committed then, and code looks at it.",
                json!({
                    "summary": text("What was changed and why, in one sentence."),
                    "lesson": text("What to remember for the next time, in one sentence. Leave it out if there is nothing."),
                    "blocked": text(BLOCKED),
                }),
                &["summary"],
            ),
        };
        let parameters = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        ToolSpec { name: name.into(), description: description.into(), parameters }
    }

    async fn call(&self, arguments: &Value, progress: &Progress) -> Result<ToolOutput, CallError> {
        let done = self.perform(arguments).await?;
        if self.kind == Kind::Finish {
            self.look(progress).await?;
        }
        Ok(done)
    }
}

impl RepositoryTool<'_> {
    async fn perform(&self, arguments: &Value) -> Result<ToolOutput, ToolError> {
        let worktree = self.site.worktree;
        match self.kind {
            Kind::List => {
                let ListArguments { path } = read(arguments)?;
                let below =
                    |file: &&String| path.as_deref().is_none_or(|path| std::path::Path::new(file).starts_with(path.trim_matches('/')));
                let files = worktree.list().await.map_err(failed)?;
                let found: Vec<&str> = files.iter().filter(below).map(String::as_str).collect();
                let more =
                    if found.len() > LISTED { format!("\n[and {} more; give a folder]", found.len() - LISTED) } else { String::new() };
                Ok(outside(format!("{}{more}", found[..found.len().min(LISTED)].join("\n")), "There are no such files."))
            }
            Kind::Search => {
                let SearchArguments { text, path } = read(arguments)?;
                if text.trim().is_empty() || text.contains(['\n', '\0']) {
                    return Err(ToolError::Refused("Give one line of text to search for.".into()));
                }
                Ok(outside(worktree.search(&text, path.as_deref()).await.map_err(failed)?, "Nothing was found."))
            }
            Kind::Read => {
                let ReadArguments { path, from_line } = read(arguments)?;
                let text = self.text_of(&path).await?;
                let from = from_line.unwrap_or(1).saturating_sub(1);
                let part: Vec<&str> = text.split_inclusive('\n').skip(from).collect();
                Ok(outside(part.concat(), "There is nothing."))
            }
            Kind::Edit => {
                let EditArguments { path, old, new } = read(arguments)?;
                let text = self.text_of(&path).await?;
                match text.matches(&old).count() {
                    _ if old.is_empty() => Err(ToolError::Refused("`old` is empty. Use repo_write for a new file.".into())),
                    1 => self.write(&path, &text.replacen(&old, &new, 1)).await,
                    // The process may have died after this edit, and the resumed run repeats it.
                    0 if !new.is_empty() && text.contains(&new) => Ok(told(format!("{path} has that text already."))),
                    0 => Err(ToolError::Failed(format!("{path} does not contain `old`. Read it again."))),
                    many => Err(ToolError::Failed(format!("{path} contains `old` {many} times. Give more around it."))),
                }
            }
            Kind::Write => {
                let WriteArguments { path, text } = read(arguments)?;
                self.write(&path, &text).await
            }
            Kind::Delete => {
                let PathArguments { path } = read(arguments)?;
                worktree.files().map_err(failed)?.delete(&path).await?;
                Ok(told(format!("Deleted {path}.")))
            }
            Kind::Test => {
                let ran = worktree.test(Version::Current, self.site.limit, self.cancel).await.map_err(failed)?;
                match ran {
                    Some(Ok(ended)) => Ok(outside(self.describe_tests(&ended, &ended.output).await?, "")),
                    Some(Err(error)) => Err(ToolError::Failed(error.to_string())),
                    None => Err(ToolError::Refused("there is no test command".into())),
                }
            }
            Kind::Finish => {
                read_summary(arguments).map_err(ToolError::Refused)?;
                let marks = worktree.list_marks(None).await.map_err(failed)?;
                if !marks.is_empty() {
                    let marks = marks.join(", ");
                    return Err(ToolError::Refused(format!(
                        "Not finished: git's conflict marks are left in {marks}. Resolve these conflicts."
                    )));
                }
                if worktree.has_changes().await.map_err(failed)? {
                    Ok(told(String::new()))
                } else {
                    Err(ToolError::Refused("Not finished: nothing in the repository was changed.".into()))
                }
            }
        }
    }

    /// How the tests ended, and which of them are not the author's to mend.
    async fn describe_tests(&self, ended: &CommandResult, output: &str) -> Result<String, ToolError> {
        let mut text = format!("The test command ended with {}.\n{output}", ended.exit_code);
        if ended.exit_code != 0 {
            let base = if let Some(base) = self.base.get() {
                base
            } else {
                let ran = self.site.worktree.test(Version::Base, self.site.limit, self.cancel).await.map_err(failed)?;
                self.base.get_or_init(|| Failing::of(ran.as_ref()))
            };
            let named = base.names().into_iter().collect::<Vec<_>>().join(", ");
            if !base.passed() {
                let _ = write!(text, "\n\nThese tests fail without your change, too, and are not held against it: {named}.");
            }
        }
        Ok(text)
    }

    /// Lets the author judge the whole change and the output of the tests before it hands them in (WORK-17).
    async fn look(&self, progress: &Progress) -> Result<(), ToolError> {
        let (Some(critic), worktree) = (self.finish.critic, self.site.worktree) else { return Ok(()) };
        let mut shown = vec![("change.patch".to_owned(), worktree.diff().await.map_err(failed)?)];
        // If the tests cannot be run, the verifier reports it.
        if let Some(Ok(ended)) = worktree.test(Version::Current, self.site.limit, self.cancel).await.map_err(failed)? {
            shown.push(("output of the tests".to_owned(), self.describe_tests(&ended, tail_of(&ended.output)).await?));
        }
        critic.look_at(shown, self.finish.calls_of(progress)).await.map_err(ToolError::Refused)
    }

    async fn text_of(&self, path: &str) -> Result<String, ToolError> {
        let file = self.site.worktree.files().map_err(failed)?.read(path, MOST_FILE_BYTES).await?;
        if file.bytes > file.head.len() as u64 {
            return Err(ToolError::Refused(format!("{path} has {} bytes, and a file may have {MOST_FILE_BYTES} here", file.bytes)));
        }
        String::from_utf8(file.head).map_err(|_| ToolError::Failed(format!("{path} is no text in UTF-8")))
    }

    async fn write(&self, path: &str, text: &str) -> Result<ToolOutput, ToolError> {
        let written = self.site.worktree.files().map_err(failed)?.write(path, text.as_bytes()).await?;
        let told = format!("Wrote {}, {} bytes.", written.path, written.bytes);
        let trace = Trace::Wrote { path: written.path, sha256: written.sha256, bytes: written.bytes };
        Ok(ToolOutput { text: told, outside: false, trace: Some(trace) })
    }
}

/// Commits the changes with the persona as author. Idempotent. None if nothing was changed.
///
/// # Errors
/// Git or the repository fails.
pub(super) async fn conclude(
    worktree: &Worktree,
    item: &WorkItem,
    persona: &Persona,
    finish: Option<&Value>,
    text: &str,
) -> Result<Option<(Product, Vec<u8>)>, RepositoryError> {
    let said = finish.and_then(|arguments| read_summary(arguments).ok());
    let product = said.unwrap_or_else(|| product_of(text, Vec::new()));
    let message = commit_message(&product.summary, item);
    worktree.commit((&persona.name, persona.slug.as_str()), &message).await?;
    let Some(change) = worktree.change().await? else { return Ok(None) };
    let patch = worktree.patch().await?;
    let repository = worktree.settings.name.clone();
    let claims = vec![Claim::Branch { repository, branch: change.branch, commit: change.commit }, Claim::File { path: patch_name(item) }];
    Ok(Some((Product { claims, ..product }, patch)))
}

/// The subject says what the change does. The words that asked for it are in the body.
fn commit_message(summary: &str, item: &WorkItem) -> String {
    let subject = cut(summary.trim_end_matches('.'), SUBJECT);
    let whole = if subject == summary.trim_end_matches('.') { String::new() } else { format!("{summary}\n\n") };
    let what = item.what.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{subject}\n\n{whole}Asked for: {what}\nWork item: #{} ({})", item.short_id(), item.id)
}

/// The file of the patch in the item's workspace.
pub(crate) fn patch_name(item: &WorkItem) -> String {
    format!("{}.patch", item.short_id())
}

fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::Refused(format!("Not called: {error}.")))
}

fn failed(error: RepositoryError) -> ToolError {
    ToolError::Failed(error.0)
}

/// The end of an output, where tests say what failed.
fn tail_of(output: &str) -> &str {
    let from = output.len().saturating_sub(TAIL);
    &output[output.ceil_char_boundary(from)..]
}

fn told(text: String) -> ToolOutput {
    ToolOutput { text, outside: false, trace: None }
}

/// Text in a repository counts as text from outside.
fn outside(mut text: String, nothing: &str) -> ToolOutput {
    if text.trim().is_empty() {
        return told(nothing.to_owned());
    }
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        let _ = write!(text, "\n[cut here; ask for less, or from a later line]");
    }
    ToolOutput { text, outside: true, trace: None }
}
