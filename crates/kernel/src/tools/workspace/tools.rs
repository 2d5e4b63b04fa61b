//! The workspace tools. They stay inside the workspace, so they are always allowed. What they read counts as text from outside, because an
//! earlier run may have saved outside text there.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::approval::Risk;
use crate::tools::arguments::parse_arguments;
use crate::tools::workspace::{MOST_BYTES, MOST_FILE_BYTES, MOST_FILES, Workspaces};
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput, Trace};

/// The most bytes of a file shown to a model.
const SHOWN: u64 = 32 * 1024;

pub fn workspace_tools(workspaces: &Workspaces) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(List(workspaces.clone())), Arc::new(Read(workspaces.clone())), Arc::new(Write(workspaces.clone()))]
}

struct List(Workspaces);
struct Read(Workspaces);
struct Write(Workspaces);

#[derive(Deserialize)]
struct ReadArguments {
    path: String,
    #[serde(default)]
    from: u64,
}

#[derive(Deserialize)]
struct WriteArguments {
    path: String,
    text: String,
}

#[async_trait]
impl Tool for List {
    fn name(&self) -> &'static str {
        "workspace_list"
    }

    fn description(&self) -> String {
        "Lists the files of your workspace with their sizes.".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn needs_workspace(&self) -> bool {
        true
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, _: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let files = self.0.open(context.get_workspace()?).await?.list().await?;
        let lines: Vec<_> = files.iter().map(|file| format!("{} ({} bytes)", file.path, file.bytes)).collect();
        let text = if lines.is_empty() { "The workspace is empty.".into() } else { lines.join("\n") };
        Ok(ToolOutput { text, outside: !files.is_empty(), trace: None })
    }
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        "workspace_read"
    }

    fn description(&self) -> String {
        format!("Reads a text file of your workspace, up to {} KiB of it at a time.", SHOWN / 1024)
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "As workspace_list shows it."},
                "from": {"type": "integer", "minimum": 0, "description": "The byte to go on from. Default: the beginning."},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: 34_000, ..ToolLimits::default() }
    }

    fn needs_workspace(&self) -> bool {
        true
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let ReadArguments { path, from } = parse_arguments(arguments)?;
        let file = self.0.open(context.get_workspace()?).await?.read(&path, from.saturating_add(SHOWN)).await?;
        let cut = file.bytes > file.head.len() as u64;
        let head = text_of(&file.head, cut).ok_or_else(|| ToolError::Failed(format!("{path} is no text in UTF-8")))?;
        let from = head.ceil_char_boundary(usize::try_from(from).unwrap_or(usize::MAX).min(head.len()));
        let rest = if cut { format!("; go on with `from` {}", head.len()) } else { String::new() };
        let note = if cut || from > 0 { format!("\n[bytes {from} to {} of {}{rest}]", head.len(), file.bytes) } else { String::new() };
        Ok(ToolOutput { text: format!("{}{note}", &head[from..]), outside: true, trace: None })
    }
}

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &'static str {
        "workspace_write"
    }

    fn description(&self) -> String {
        format!(
            "Writes a text file of your workspace, in place of what was there. At most {} KiB a file, {MOST_FILES} files and {} MiB in all.",
            MOST_FILE_BYTES / 1024,
            MOST_BYTES / (1024 * 1024)
        )
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to your workspace, with / between its parts, such as docs/plan.md."},
                "text": {"type": "string", "description": "The whole text of the file."},
            },
            "required": ["path", "text"],
            "additionalProperties": false,
        })
    }

    fn needs_workspace(&self) -> bool {
        true
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let WriteArguments { path, text } = parse_arguments(arguments)?;
        let written = self.0.open(context.get_workspace()?).await?.write(&path, text.as_bytes()).await?;
        let told = format!("Wrote {}, {} bytes.", written.path, written.bytes);
        let trace = Trace::Wrote { path: written.path, sha256: written.sha256, bytes: written.bytes };
        Ok(ToolOutput { text: told, outside: false, trace: Some(trace) })
    }
}

/// Decodes text. If it was cut, drops an incomplete last character.
fn text_of(bytes: &[u8], cut: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if cut && error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}
