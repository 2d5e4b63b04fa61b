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

/// What test runners print, in lower case, if they succeed without running a test.
const RAN_NOTHING: [&str; 8] =
    ["running 0 tests", "ran 0 tests", "no tests to run", "[no test files]", "no tests ran", "no tests found", "0 passing", "0 examples"];

/// Runs the test command, if configured. True if it passed, so that only the item's own criteria are left to judge.
///
/// # Errors
/// The workspace cannot be copied, or it was cancelled.
pub(super) async fn run(
    deps: &VerifierDeps,
    workspace: &Workspace,
    (written, now): (&[&str], DateTime<Utc>),
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let command = &deps.settings.test_command;
    if command.is_empty() {
        return Ok(false);
    }
    if let Some(own) = written.iter().find(|path| is_run_by(command, path)) {
        found.leave_open(format!("the test command runs {own}, which was written in this attempt, so it proves nothing"));
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
            let ran_nothing = ended.exit_code == 0 && ran_nothing(&ended.output);
            if ran_nothing {
                found.refuse(format!("the test command ran no test: {}", tail(&ended.output)));
            } else if ended.exit_code != 0 {
                found.refuse(format!("the test command ended with {}: {}", ended.exit_code, tail(&ended.output)));
            }
            ended.exit_code == 0 && !ran_nothing
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

/// Whether the output reports that no test was run, and does not report any that was.
fn ran_nothing(output: &str) -> bool {
    let output = output.to_lowercase();
    let words: Vec<&str> = output.split(|c: char| c.is_whitespace() || ",;:()".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_count = |pair: &[&str]| {
        pair[0].parse::<u64>().is_ok_and(|count| count > 0)
            && ["test", "pass", "example", "spec"].iter().any(|stem| pair[1].starts_with(stem))
    };
    let of_go = output.lines().any(|line| line.starts_with("ok") && !line.contains("[no tests to run]"));
    RAN_NOTHING.iter().any(|said| output.contains(said)) && !of_go && !words.windows(2).any(is_count)
}

/// Whether a command runs this file: as its program, as the script of an interpreter, or by a tool that reads it.
fn is_run_by(command: &[String], path: &str) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    let is = |other: &str| other.trim_start_matches("./") == path;
    match name {
        "make" | "gmake" => ["Makefile", "makefile", "GNUmakefile"].contains(&path),
        "npm" | "pnpm" | "yarn" | "bun" => path == "package.json",
        "just" => path.eq_ignore_ascii_case("justfile"),
        "sh" | "bash" | "python" | "python3" | "node" | "ruby" | "perl" => {
            arguments.iter().find(|argument| !argument.starts_with('-')).is_some_and(|script| is(script))
        }
        _ => is(program),
    }
}

pub(super) fn tail(output: &str) -> &str {
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
    fn a_command_that_ran_no_test_speaks_against_the_work() {
        for output in
            ["running 0 tests\n\ntest result: ok. 0 passed; 0 failed", "?   shop [no test files]", "No tests found, exiting with code 0"]
        {
            let (passed, verdict) = verdict(Ok(ended(0, output)));
            assert!(
                !passed && matches!(&verdict, Verdict::Unproven { reasons, .. } if reasons[0].contains("ran no test")),
                "{output}: {verdict:?}"
            );
        }
        for output in ["", "all fine", "running 0 tests\nrunning 3 tests\n3 passed", "ok  shop 0.1s\n? shop/x [no test files]"] {
            assert!(verdict(Ok(ended(0, output))).0, "{output}");
        }
    }

    #[test]
    fn what_a_command_runs_is_known() {
        let runs = |command: &str, path: &str| is_run_by(&command.split(' ').map(str::to_owned).collect::<Vec<_>>(), path);
        for (command, path) in
            [("make test", "Makefile"), ("sh -e check.sh", "check.sh"), ("./check x", "check"), ("npm test", "package.json")]
        {
            assert!(runs(command, path), "{command}");
        }
        for (command, path) in
            [("grep -q A table.csv", "table.csv"), ("cargo test", "src/lib.rs"), ("/opt/check.sh", "check.sh"), ("sh -c true", "a.sh")]
        {
            assert!(!runs(command, path), "{command}");
        }
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
