//! The operator's test command, run on what was built.

use anyhow::Context;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::{Findings, VerifierParts};
use crate::domain::work::Evidence;
use crate::tools::command::{CommandError, run_confined};
use crate::tools::workspace::Workspace;

/// How much of what a command said is told, in bytes from its end, where it says what was wrong.
const TAIL: usize = 800;

/// Runs the test command, if there is one. True when it passed, so that nothing but the item's own criteria is left to judge.
///
/// # Errors
/// The workspace could not be copied, or it was cancelled.
pub(super) async fn run(
    parts: &VerifierParts,
    workspace: &Workspace,
    now: DateTime<Utc>,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let command = &parts.settings.test_command;
    if command.is_empty() {
        return Ok(false);
    }
    // What it does to a copy changes nothing of what was looked at.
    let copy = workspace.copy().await.context("cannot copy the workspace to test what is in it")?;
    let ended = run_confined(command, copy.path(), parts.settings.run_timeout, cancel).await;
    anyhow::ensure!(!cancel.is_cancelled(), "cancelled while the test command ran");
    let shown = command.join(" ");
    match ended {
        Ok(ended) => {
            found.prove(Evidence::Test { command: shown, exit_code: ended.exit_code, at: now });
            if ended.exit_code != 0 {
                found.refuse(format!("the test command ended with {}: {}", ended.exit_code, tail(&ended.output)));
            }
            Ok(ended.exit_code == 0)
        }
        Err(CommandError::NotConfined(why)) => {
            found.leave_open(format!("the test command was not run: {why}"));
            Ok(false)
        }
        Err(error) => {
            found.refuse(format!("the test command \"{shown}\" did not pass: {error}"));
            Ok(false)
        }
    }
}

fn tail(output: &str) -> &str {
    let output = output.trim();
    &output[output.ceil_char_boundary(output.len().saturating_sub(TAIL))..]
}
