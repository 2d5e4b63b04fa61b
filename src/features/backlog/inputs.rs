//! What an item builds on: the files of the items that it needs, and of its parts. They lie in its workspace below `inputs/<short id>/`. Files of the
//! message that asked for it lie in `inputs/message/`.

use std::collections::HashSet;

use crate::features::backlog::given::name_files;
use crate::features::backlog::model::{Artefact, WorkItem};
use crate::features::backlog::verifier::sha256_of;
use crate::store::Store;
use kernel::db::StoreError;
use kernel::tools::ToolError;
use kernel::tools::workspace::{INPUTS, Workspaces};

/// The folder for the files of the message. No short id is called like this.
const MESSAGE: &str = "message";

/// The files of one item that another one builds on.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(crate) of: WorkItem,
    /// Below `inputs/`: the short id.
    folder: String,
    pub(crate) files: Vec<Artefact>,
}

impl Inputs {
    /// Where a file lies in the workspace.
    pub(crate) fn path(&self, file: &Artefact) -> String {
        format!("{INPUTS}/{}/{}", self.folder, file.facts.name)
    }
}

/// The inputs of an item, without items that made no files.
pub(crate) async fn list_inputs(store: &Store, item: &WorkItem) -> Result<Vec<Inputs>, StoreError> {
    let (mut inputs, mut folders) = (Vec::new(), HashSet::new());
    let parts = store.list_parts(&item.id).await?;
    for id in item.depends_on.iter().chain(parts.iter().map(|part| &part.id)) {
        let files = store.read_artefacts(id).await?;
        let Some(of) = store.find_item(id).await?.filter(|_| !files.is_empty()) else { continue };
        let short = of.short_id().to_owned();
        let folder = if folders.insert(short.clone()) { short } else { id.to_string() };
        inputs.push(Inputs { of, folder, files });
    }
    Ok(inputs)
}

/// A file of the message in which an item was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenFile {
    /// Where it lies in the workspace.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) by: String,
    /// What the reader must know, such as that it was cut.
    pub(crate) note: Option<String>,
}

/// The files with text of the message in which an item was asked for, and of the message that it replies to.
pub(crate) async fn list_given(store: &Store, item: &WorkItem) -> Result<Vec<GivenFile>, StoreError> {
    let Some(message) = store.find_request(item).await? else { return Ok(Vec::new()) };
    let reply = store.find_message(&message).await?.and_then(|row| row.message.reply_to).map(|reply| reply.message);
    let mut files = Vec::new();
    for message in std::iter::once(message).chain(reply) {
        for file in store.list_message_files(&message, None).await?.into_iter().filter(|file| file.is_readable) {
            files.extend(store.find_file(&file.id).await?);
        }
    }
    let named = name_files(&files).into_iter().zip(files.iter().filter(|file| file.text.is_some()));
    let given = named.map(|((name, text), file)| GivenFile {
        path: format!("{INPUTS}/{MESSAGE}/{name}"),
        text: text.to_owned(),
        by: file.by.clone(),
        note: file.note.clone(),
    });
    Ok(given.collect())
}

/// Puts the files of the message into the item's workspace.
///
/// # Errors
/// The disk.
pub(super) async fn lay_out_given(workspaces: &Workspaces, item: &WorkItem, given: &[GivenFile]) -> Result<(), ToolError> {
    if given.is_empty() {
        return Ok(());
    }
    let workspace = workspaces.open(&item.id).await?;
    for GivenFile { path, text, .. } in given {
        let below = path.strip_prefix(INPUTS).unwrap_or(path).trim_start_matches('/');
        workspace.put_input(below, text.as_bytes(), &sha256_of(text.as_bytes())).await?;
    }
    Ok(())
}

/// Puts the files into the item's workspace.
///
/// # Errors
/// The disk.
pub(super) async fn lay_out(workspaces: &Workspaces, item: &WorkItem, inputs: &[Inputs]) -> Result<(), ToolError> {
    if inputs.is_empty() {
        return Ok(());
    }
    let workspace = workspaces.open(&item.id).await?;
    for input in inputs {
        for file in &input.files {
            workspace.put_input(&format!("{}/{}", input.folder, file.facts.name), &file.content, &file.facts.sha256).await?;
        }
    }
    Ok(())
}
