//! Turns the result of a run into artefacts: the verified files, and an answer that is too long for a line.

use crate::features::backlog::model::{Artefact, ArtefactFacts, Evidence, WorkItem, media_type_of};
use crate::features::backlog::verifier::sha256_of;
use anyhow::Context;
use kernel::agent::Runner;
use kernel::tools::workspace::{MOST_FILE_BYTES, Workspaces};

/// A longer answer becomes a file. A shorter one is only in the item's outcome.
const ANSWER: usize = 240;

/// The file of a long answer.
const ANSWER_FILE: &str = "answer.md";

/// The artefacts that this evidence proves, without secrets.
///
/// # Errors
/// A file cannot be read, or has changed since it was verified.
pub(super) async fn collect(
    runner: &Runner,
    workspaces: &Workspaces,
    item: &WorkItem,
    evidence: &[Evidence],
) -> anyhow::Result<Vec<Artefact>> {
    let workspace = workspaces.open(&item.id).await.context("cannot open the workspace to store what was made")?;
    let mut artefacts: Vec<Artefact> = Vec::new();
    for found in evidence {
        let (name, content) = match found {
            Evidence::File { path, sha256, .. } => {
                let content = workspace.read(path, MOST_FILE_BYTES).await?.head;
                anyhow::ensure!(sha256_of(&content) == *sha256, "the file {path:?} has changed since it was verified");
                (path.as_str(), content)
            }
            Evidence::Answer { text, .. } if text.chars().count() > ANSWER => (ANSWER_FILE, text.clone().into_bytes()),
            _ => continue,
        };
        if artefacts.iter().all(|made| made.facts.name != name) {
            artefacts.push(artefact(runner, item, name, content));
        }
    }
    Ok(artefacts)
}

fn artefact(runner: &Runner, item: &WorkItem, name: &str, content: Vec<u8>) -> Artefact {
    let content = match String::from_utf8(content) {
        Ok(text) => runner.redact(text, item.id.as_str()).into_bytes(),
        Err(binary) => binary.into_bytes(),
    };
    let facts = ArtefactFacts {
        name: name.to_owned(),
        media_type: media_type_of(name, &content).to_owned(),
        bytes: content.len() as u64,
        sha256: sha256_of(&content),
    };
    Artefact { facts, content }
}
