//! The runner with a shell script for a test program.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests")]

use std::process::{Command, Output};

/// A folder that says what the tests of `program.sh` do.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn with_tests(tests: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(place.folder.path().join("tests"), tests).unwrap();
        place
    }

    fn mark(&self, name: &str) {
        std::fs::write(self.folder.path().join(name), "").unwrap();
    }

    fn run(&self) -> Output {
        self.call(&["run", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program.sh"), "--quiet"])
    }

    fn report(&self) -> (bool, String) {
        let output = self.call(&["report"]);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom-test-runner"));
        command.args(arguments).env("TEAMROOM_TEST_REPORT", self.folder.path()).env("PLACE", self.folder.path()).output().unwrap()
    }

    /// The tests that ran alone.
    fn ran_alone(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("alone")).unwrap_or_default()
    }
}

#[test]
fn what_passes_is_not_run_again() {
    let place = Place::with_tests("one two");
    assert!(place.run().status.success());
    assert_eq!(place.ran_alone(), "");
    let (passed, report) = place.report();
    assert!(passed && !report.contains("FLAKY"), "{report}");
    assert!(report.contains("of 2 tests") && report.contains("1.5  one"), "{report}");
}

#[test]
fn a_test_that_passes_alone_is_flaky_and_listed_with_its_failure() {
    let place = Place::with_tests("one two three");
    place.mark("once.two");
    assert!(place.run().status.success());
    assert_eq!(place.ran_alone(), "two\n");
    let (passed, report) = place.report();
    assert!(passed, "{report}");
    assert!(report.contains("FLAKY two\n    panicked at here:\n    two is wrong"), "{report}");
}

#[test]
fn a_test_that_fails_alone_too_fails_the_run() {
    let place = Place::with_tests("one two");
    place.mark("once.one");
    place.mark("fails.two");
    assert!(!place.run().status.success());
    assert_eq!(place.ran_alone(), "one\ntwo\n");
}

#[test]
fn more_than_three_failures_fail_the_run_and_the_report() {
    let place = Place::with_tests("a b c d");
    for test in ["a", "b", "c", "d"] {
        place.mark(&format!("once.{test}"));
    }
    assert!(!place.run().status.success());
    assert_eq!(place.ran_alone(), "");

    // Each program may have few, and all together too many.
    let place = Place::with_tests("a b");
    for _ in 0..2 {
        place.mark("once.a");
        place.mark("once.b");
        assert!(place.run().status.success());
    }
    let (passed, report) = place.report();
    assert!(!passed && report.contains("4 tests were flaky"), "{report}");
}

#[test]
fn a_program_that_ends_without_naming_a_test_fails_the_run() {
    let place = Place::with_tests("one");
    place.mark("dies");
    let output = place.run();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("ended with signal 9 without naming a failed test"), "{said}");
}

#[test]
fn runs_are_counted_by_store_and_platform() {
    let place = Place::with_tests("one");
    std::fs::write(place.folder.path().join("runs"), "Sqlite, Slack\nPostgres, Discord\nSqlite, Slack\n").unwrap();
    let (_, report) = place.report();
    assert!(report.contains("       1  Postgres, Discord\n       2  Sqlite, Slack\n"), "{report}");
}
