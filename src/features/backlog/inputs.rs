//! What an item builds on: the files of the items that it needs, and of its parts. They lie in its workspace below `inputs/<short id>/`.

use std::collections::HashSet;

use crate::features::backlog::model::{Artefact, WorkItem};
use crate::store::Store;
use kernel::db::StoreError;
use kernel::tools::ToolError;
use kernel::tools::workspace::{INPUTS, Workspaces};

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
