use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::backlog::model::{Claim, Product};
use crate::features::backlog::review::Critic;
use kernel::agent::{CallError, OwnTool, Progress};
use kernel::ids::WorkItemId;
use kernel::llm::ToolSpec;
use kernel::memory::retrieval::cut;
use kernel::text::without_invisible;
use kernel::tools::workspace::Workspaces;
use kernel::tools::{ToolError, ToolOutput};

const NAME: &str = "finish";

/// The description of an argument of `finish`.
pub(super) const BLOCKED: &str = "If a part of the item cannot be done by anybody on the team, because a person has to say or approve something or \
    a tool is missing: what and why, in one sentence. Do everything else first. A person is asked then. Leave it out otherwise, and call `wait_for` \
    for what has only not come yet.";

/// The most characters of a summary sentence.
const SENTENCE: usize = 300;
/// The most files in a result. The workspace holds 200.
const FILES: usize = 200;

/// The tool that ends a run. It has no effects.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a> {
    /// Must approve the result. None: the result is handed in without a critique.
    pub(super) critic: Option<&'a Critic<'a>>,
    /// The most calls of the run.
    pub(super) calls: usize,
    pub(super) workspaces: &'a Workspaces,
    pub(super) item: &'a WorkItemId,
}

impl Finish<'_> {
    /// How many calls the run has made, and how many it has left after this one.
    pub(super) fn calls_of(&self, progress: &Progress) -> (usize, usize) {
        (progress.calls(), self.calls.saturating_sub(progress.counted_calls() + 1))
    }

    /// The first file of a result that is not there, told once. After that the verifier judges what is claimed.
    async fn find_missing<'p>(&self, product: &'p Product, progress: &Progress) -> Result<Option<&'p str>, ToolError> {
        if progress.list_calls().filter(|call| call.name == NAME).count() > 1 {
            return Ok(None);
        }
        let files = self.workspaces.open(self.item).await?.list().await?;
        let is_there = |path: &str| files.iter().any(|file| file.path == path) || progress.written.iter().any(|written| written == path);
        Ok(product.files().into_iter().find(|path| !is_there(path)))
    }
}

#[async_trait]
impl OwnTool for Finish<'_> {
    fn ends_run(&self) -> bool {
        true
    }

    async fn call(&self, arguments: &Value, progress: &Progress) -> Result<ToolOutput, CallError> {
        let product = read_product(arguments, &progress.written, None).map_err(ToolError::Refused)?;
        if let Some(path) = self.find_missing(&product, progress).await? {
            return Err(ToolError::Refused(format!(
                "Not finished: there is no file {path:?}. Only what a call of `workspace_write` has written is there. Write it, or name the files \
                 that are there."
            ))
            .into());
        }
        // What is blocked cannot be improved by its author.
        if let Some(critic) = self.critic.filter(|_| product.blocked.is_none()) {
            critic.look(&product.files(), self.calls_of(progress)).await.map_err(ToolError::Refused)?;
        }
        Ok(ToolOutput { text: String::new(), outside: false, trace: None })
    }

    fn spec(&self) -> ToolSpec {
        spec()
    }
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        description: "Ends your work on the item. Call it once, when everything is written; code then looks at the files that you name."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "summary": {"type": "string", "description": "What came out, in one sentence."},
                "files": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The paths of the files that are the result, as you gave them to workspace_write.",
                },
                "lesson": {"type": "string", "description": "What to remember for the next time, in one sentence. Leave it out if there is nothing."},
                "blocked": {"type": "string", "description": BLOCKED},
            },
            "required": ["summary", "files"],
            "additionalProperties": false,
        }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    summary: String,
    files: Vec<String>,
    lesson: Option<String>,
    blocked: Option<String>,
}

/// Parses the files the model claims. Claims of files it did not write are kept, because the verifier checks all claims.
///
/// # Errors
/// The problem with the arguments, for the model.
pub(super) fn read_product(arguments: &Value, written: &[String], model: Option<&str>) -> Result<Product, String> {
    let arguments = Arguments::deserialize(arguments).map_err(|error| {
        format!("Not finished: {error}. The arguments are `summary`, a text, `files`, a list of paths, and if you like `lesson` and `blocked`, texts.")
    })?;
    let summary = sentence(&arguments.summary).ok_or("Not finished: the summary is empty.")?;
    let named: Vec<String> = arguments.files.iter().map(|path| without_invisible(path.trim())).filter(|path| !path.is_empty()).collect();
    let files = if named.is_empty() { written.to_vec() } else { named };
    let blocked = arguments.blocked.as_deref().and_then(sentence);
    if files.is_empty() && blocked.is_none() {
        return Err("Not finished: no file was written. Write the result with `workspace_write` and name it in `files`.".into());
    }
    if files.len() > FILES {
        return Err(format!("Not finished: {} files are too many; name at most {FILES}.", files.len()));
    }
    Ok(Product {
        summary,
        claims: claims(files),
        lesson: arguments.lesson.as_deref().and_then(sentence),
        model: model.map(str::to_owned),
        blocked,
        ..Product::default()
    })
}

/// What is said of a result that is not named by its files.
///
/// # Errors
/// The problem with the arguments, for the model.
pub(super) fn read_summary(arguments: &Value) -> Result<Product, String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).and_then(sentence);
    let summary = text("summary")
        .ok_or("Not finished: the summary is empty. The arguments are `summary`, a text, and if you like `lesson`, a text.")?;
    Ok(Product { summary, lesson: text("lesson"), blocked: text("blocked"), ..Product::default() })
}

/// A result with these files, and the model's last text as summary.
pub(super) fn product_of(text: &str, files: Vec<String>) -> Product {
    // Skips headings, which name a document and not its result.
    let prose = text.lines().find_map(|line| sentence(line).filter(|line| !line.starts_with('#')));
    let summary = prose.or_else(|| sentence(text)).unwrap_or_else(|| "It is written.".into());
    Product { summary, claims: claims(files), ..Product::default() }
}

fn claims(files: Vec<String>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::with_capacity(files.len());
    for path in files {
        let claim = Claim::File { path };
        if !claims.contains(&claim) {
            claims.push(claim);
        }
    }
    claims
}

/// One line without invisible characters. None if empty.
fn sentence(text: &str) -> Option<String> {
    let line = without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| cut(&line, SENTENCE))
}

/// The file name for a document without one.
pub(super) fn file_name(what: &str) -> String {
    let words = what.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        // Fits every file system, even with letters of four bytes.
        if name.chars().count() + word.chars().count() > 50 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word.to_lowercase());
    }
    if name.is_empty() { "result.md".into() } else { format!("{name}.md") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrote(files: &[&str]) -> Vec<String> {
        files.iter().map(|path| (*path).to_owned()).collect()
    }

    fn files(product: &Product) -> Vec<&str> {
        fn path(claim: &Claim) -> &str {
            let Claim::File { path } = claim else { panic!("a file: {claim:?}") };
            path
        }
        product.claims.iter().map(path).collect()
    }

    #[test]
    fn what_is_named_is_claimed_whether_it_was_written_or_not() {
        let arguments = json!({"summary": " Two\nfiles. ", "files": ["a.md", " ../../x ", "a.md"], "lesson": "Ask\u{200B} first."});
        let product = read_product(&arguments, &wrote(&["b.md"]), Some("main/large")).expect("a product");
        assert_eq!(files(&product), ["a.md", "../../x"]);
        assert_eq!((product.summary.as_str(), product.lesson.as_deref()), ("Two files.", Some("Ask first.")));
        assert_eq!(product.model.as_deref(), Some("main/large"));
    }

    #[test]
    fn where_none_is_named_those_that_were_written_are_claimed() {
        let product = read_product(&json!({"summary": "Done.", "files": [], "lesson": " "}), &wrote(&["b.md", "c.md"]), Some("main/large"))
            .expect("a product");
        assert_eq!((files(&product), product.lesson.as_deref()), (vec!["b.md", "c.md"], None));
    }

    #[test]
    fn garbage_finishes_nothing_and_says_what_is_wrong() {
        let many: Vec<_> = (0..=FILES).map(|n| format!("{n}.md")).collect();
        for (arguments, problem) in [
            (json!(null), "invalid type"),
            (json!("done"), "invalid type"),
            (json!({"summary": "Done."}), "missing field `files`"),
            (json!({"summary": 7, "files": ["a.md"]}), "invalid type"),
            (json!({"summary": "Done.", "files": "a.md"}), "invalid type"),
            (json!({"summary": "Done.", "files": ["a.md"], "verified": true}), "unknown field `verified`"),
            (json!({"summary": " \u{200B}\n", "files": ["a.md"]}), "the summary is empty"),
            (json!({"summary": "Done.", "files": many}), "too many"),
            (json!({"summary": "Done.", "files": []}), "no file was written"),
            (json!({"summary": "Done.", "files": ["  "]}), "no file was written"),
        ] {
            let error = read_product(&arguments, &wrote(&[]), Some("main/large")).expect_err("it is garbage");
            assert!(error.starts_with("Not finished: ") && error.contains(problem), "{arguments}: {error}");
        }
    }

    #[test]
    fn what_nobody_can_do_is_said_and_needs_no_file() {
        let product = read_product(&json!({"summary": "Asked.", "files": [], "blocked": " Ann has to approve\nthe text. "}), &[], None);
        let product = product.expect("a product");
        assert_eq!((product.blocked.as_deref(), product.claims.len()), (Some("Ann has to approve the text."), 0));
        assert!(read_product(&json!({"summary": "Asked.", "files": [], "blocked": " "}), &[], None).is_err());
    }

    #[test]
    fn a_document_is_summed_up_by_its_first_line_of_prose() {
        let product = product_of("# Prices\n\nThey rose by 4 %.\nMore.", vec!["prices.md".into()]);
        assert_eq!((product.summary.as_str(), files(&product)), ("They rose by 4 %.", vec!["prices.md"]));
        assert_eq!(product_of("# Prices", vec![]).summary, "# Prices");
    }

    #[test]
    fn a_document_is_named_after_what_it_is_about() {
        for (what, name) in [
            ("Compare the prices of A/B hosting!", "compare-the-prices-of-a-b-hosting.md"),
            ("../../etc/passwd", "etc-passwd.md"),
            ("Übersicht erstellen", "übersicht-erstellen.md"),
            ("???", "result.md"),
        ] {
            assert_eq!(file_name(what), name);
        }
        assert!(file_name(&"long ".repeat(40)).chars().count() <= 53 + 10);
        assert_eq!(file_name(&"x".repeat(300)), "result.md");
    }
}
