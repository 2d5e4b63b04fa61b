//! Runs test programs for `tests/run`, in place of cargo.
//!
//! `run PROGRAM ARGUMENTS` is called by cargo for each test program. A test that fails is run again alone, after the others: if it passes then, the
//! program counts as passed and the test as flaky. `report` prints what was noted meanwhile, and fails if too many tests were flaky.
//! Both use the folder that `TEAMROOM_TEST_REPORT` names.

mod notes;
mod output;
mod program;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use notes::Notes;
use output::Output;
use program::Program;

/// With more failures in one run something is broken, even if each passes alone.
const MOST_FLAKY: usize = 3;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::env::var_os("TEAMROOM_TEST_REPORT").context("TEAMROOM_TEST_REPORT names no folder")?;
    let notes = Notes::in_folder(folder);
    let passed = match arguments.next().as_deref() {
        Some("run") => {
            let program = arguments.next().context("run needs a test program")?;
            run(&Program::new(program, arguments), &notes)?
        }
        Some("report") => report(&notes)?,
        _ => bail!("usage: teamroom-test-runner run PROGRAM ARGUMENTS... | report"),
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether all tests of the program pass, each at the latest when it runs alone.
fn run(program: &Program, notes: &Notes) -> anyhow::Result<bool> {
    let (ended, lines) = program.run_all()?;
    let output = Output::parse(&lines);
    for (test, seconds) in &output.times {
        notes.add_time(test, *seconds)?;
    }
    if ended.is_success() {
        return Ok(true);
    }
    if output.failed.is_empty() {
        println!("{program} ended with {ended} without naming a failed test");
        return Ok(false);
    }
    if output.failed.len() > MOST_FLAKY {
        println!("{} tests failed. They are not run again, because more than {MOST_FLAKY} are too many.", output.failed.len());
        return Ok(false);
    }
    let mut passed = true;
    for test in &output.failed {
        println!("\nRunning {test} again, alone");
        if program.run_alone(test)?.is_success() {
            notes.add_flaky(test, output.failure_of(test))?;
        } else {
            passed = false;
        }
    }
    Ok(passed)
}

/// Whether few enough tests were flaky.
fn report(notes: &Notes) -> anyhow::Result<bool> {
    print!("{}", notes.slowest()?);
    print!("{}", notes.runs()?);
    let flaky = notes.flaky()?;
    for (test, failure) in &flaky {
        println!("\nFLAKY {test}");
        for line in failure {
            println!("    {line}");
        }
    }
    if flaky.len() > MOST_FLAKY {
        println!("\n{} tests were flaky. More than {MOST_FLAKY} are too many.", flaky.len());
    }
    Ok(flaky.len() <= MOST_FLAKY)
}
