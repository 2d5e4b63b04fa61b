//! Runs the operator's test command on the result.

use anyhow::Context;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::Evidence;
use crate::features::backlog::verifier::{Findings, VerifierDeps};
use kernel::tools::command::{CommandError, CommandResult, run_confined};
use kernel::tools::workspace::Workspace;

/// The bytes kept of the command's output: the end, where it reports failures.
const TAIL: usize = 800;

/// Runs the test command, if configured. True if it passed, so that only the item's own criteria are left to judge.
///
/// # Errors
/// The workspace cannot be copied, or it was cancelled.
pub(super) async fn run(
    deps: &VerifierDeps,
    workspace: &Workspace,
    now: DateTime<Utc>,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let command = &deps.settings.test_command;
    if command.is_empty() {
        return Ok(false);
    }
    // The command runs on a copy, so that it cannot change the verified files.
    let copy = workspace.copy().await.context("cannot copy the workspace to test what is in it")?;
    let ended = run_confined(command, copy.path(), deps.settings.run_timeout, cancel).await;
    anyhow::ensure!(!cancel.is_cancelled(), "cancelled while the test command ran");
    Ok(judge(&command.join(" "), ended, now, found))
}

/// Interprets the end of the command. True if it passed.
fn judge(command: &str, ended: Result<CommandResult, CommandError>, now: DateTime<Utc>, found: &mut Findings) -> bool {
    match ended {
        Ok(ended) => {
            found.prove(Evidence::Test { command: command.to_owned(), exit_code: ended.exit_code, at: now });
            if ended.exit_code != 0 {
                found.refuse(format!("the test command ended with {}: {}", ended.exit_code, tail(&ended.output)));
            }
            ended.exit_code == 0
        }
        // The failure is not about the work, so another attempt is useless.
        Err(error @ (CommandError::NotConfined(_) | CommandError::NotStarted(_))) => {
            found.leave_open(error.to_string());
            false
        }
        Err(error) => {
            found.refuse(error.to_string());
            false
        }
    }
}

fn tail(output: &str) -> &str {
    let output = output.trim();
    &output[output.ceil_char_boundary(output.len().saturating_sub(TAIL))..]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Verdict;
    use super::*;
    use kernel::testing::feeds::now;

    fn verdict(ended: Result<CommandResult, CommandError>) -> (bool, Verdict) {
        let mut found = Findings::default();
        let passed = judge("make test", ended, now(), &mut found);
        (passed, found.conclude())
    }

    fn ended(exit_code: i32, output: &str) -> CommandResult {
        CommandResult { exit_code, output: output.into() }
    }

    fn evidence(exit_code: i32) -> Evidence {
        Evidence::Test { command: "make test".into(), exit_code, at: now() }
    }

    #[test]
    fn only_the_exit_code_0_proves_anything() {
        assert_eq!(verdict(Ok(ended(0, "all fine"))), (true, Verdict::Proven(vec![evidence(0)])));
        let reasons = vec!["the test command ended with 1: 2 tests failed".to_owned()];
        assert_eq!(verdict(Ok(ended(1, "2 tests failed\n"))), (false, Verdict::Unproven { reasons, evidence: vec![evidence(1)] }));
    }

    #[test]
    fn a_command_that_does_not_end_speaks_against_the_work_and_one_that_was_not_run_does_not() {
        let (passed, timed_out) = verdict(Err(CommandError::TimedOut(Duration::from_secs(9))));
        assert!(!passed && matches!(timed_out, Verdict::Unproven { .. }));
        for not_run in [CommandError::NotConfined("no Landlock".into()), CommandError::NotStarted("no make".into())] {
            let mut found = Findings { evidence: vec![evidence(0)], ..Findings::default() };
            assert!(!judge("make test", Err(not_run), now(), &mut found));
            assert!(matches!(found.conclude(), Verdict::ForReview { why, .. } if why.contains("the test command")));
        }
    }

    #[test]
    fn of_what_a_failing_command_said_the_end_is_told() {
        let (_, verdict) = verdict(Ok(ended(1, &format!("{}assertion failed", "\u{fc} ".repeat(5000)))));
        let Verdict::Unproven { reasons, .. } = verdict else { panic!("it passed") };
        assert!(reasons[0].len() < TAIL + 100 && reasons[0].ends_with("assertion failed"));
    }
}
