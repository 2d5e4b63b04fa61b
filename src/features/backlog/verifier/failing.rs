//! Which failing tests speak against a change: those that its base passed, and that fail each time.

use std::collections::BTreeSet;

use async_trait::async_trait;

use kernel::repository::{TestRun, Version};

/// How often a test command that failed is run in all, because a test may fail now and then.
const RUNS: usize = 3;

/// The name of everything, where the output names no test.
const COMMAND: &str = "the test command";

/// What test runners print before the name of a test that failed.
const BEFORE: [&str; 13] =
    ["--- FAIL: ", "FAILED ", "FAIL: ", "ERROR: ", "[FAIL] ", "not ok ", "✕ ", "✗ ", "✖ ", "× ", "● ", "rspec ", "(Failed) "];

/// The same behind the name, for runners that begin the line with "test" or with nothing.
const BEHIND: [&str; 3] = [" ... FAILED", " FAILED", " (Failed)"];

/// The tests that failed in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failing {
    /// None: the command passed.
    Known(BTreeSet<String>),
    /// The command failed, and its output names no test.
    Unnamed,
}

impl Failing {
    pub(crate) fn of(run: Option<&TestRun>) -> Self {
        match run {
            None => Self::Known(BTreeSet::new()),
            Some(Ok(ended)) if ended.exit_code == 0 => Self::Known(BTreeSet::new()),
            Some(Ok(ended)) => match names_in(&ended.output) {
                names if names.is_empty() => Self::Unnamed,
                names => Self::Known(names),
            },
            Some(Err(_)) => Self::Unnamed,
        }
    }

    pub(crate) fn passed(&self) -> bool {
        matches!(self, Self::Known(names) if names.is_empty())
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        match self {
            Self::Known(names) => names.clone(),
            Self::Unnamed => BTreeSet::from([COMMAND.to_owned()]),
        }
    }

    /// Whether a test failed here, too.
    pub(crate) fn has(&self, test: &str) -> bool {
        match self {
            Self::Known(names) if test == COMMAND => !names.is_empty(),
            Self::Known(names) => names.contains(test),
            Self::Unnamed => true,
        }
    }

    /// Whether this base failed a test, so that it says nothing about the change. What fails without a name is more than any named test.
    pub(crate) fn excuses(&self, test: &str) -> bool {
        match self {
            Self::Known(names) => names.contains(test),
            Self::Unnamed => true,
        }
    }
}

/// The failures of a change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Failures {
    /// Those that speak against it.
    pub(super) held: BTreeSet<String>,
    /// They fail on the base, too.
    pub(super) on_base: BTreeSet<String>,
    /// They failed, and passed when they were run again.
    pub(super) unsteady: BTreeSet<String>,
    /// The base passed all tests.
    pub(super) base_passed: bool,
}

/// Runs the tests of a change.
#[async_trait]
pub(super) trait RunTests: Sync {
    async fn run(&self, version: Version) -> anyhow::Result<Option<TestRun>>;
}

/// Sorts the failures of a run with the tests of the base. `tests` are run again.
pub(super) async fn sort(failed: &TestRun, tests: &dyn RunTests) -> anyhow::Result<Failures> {
    let base = Failing::of(tests.run(Version::Base).await?.as_ref());
    let (on_base, mut held): (BTreeSet<_>, BTreeSet<_>) =
        Failing::of(Some(failed)).names().into_iter().partition(|test| base.excuses(test));
    let mut unsteady = BTreeSet::new();
    for _ in 1..RUNS {
        if held.is_empty() {
            break;
        }
        let again = Failing::of(tests.run(Version::WithTestsOfBase).await?.as_ref());
        let (still, passed): (BTreeSet<_>, BTreeSet<_>) = held.into_iter().partition(|test| again.has(test));
        held = still;
        unsteady.extend(passed);
    }
    Ok(Failures { held, on_base, unsteady, base_passed: base.passed() })
}

/// The names of failed tests in the output of a test runner.
fn names_in(output: &str) -> BTreeSet<String> {
    output.lines().filter_map(|line| name_in(line.trim())).collect()
}

fn name_in(line: &str) -> Option<String> {
    let behind = || BEHIND.iter().find_map(|end| line.strip_suffix(end)).map(|name| name.strip_prefix("test ").unwrap_or(name));
    let name = BEFORE.iter().find_map(|start| line.strip_prefix(start)).or_else(behind)?;
    // "not ok 3 - name", "FAILED tests/a.py::b - AssertionError: …", "rspec ./a_spec.rb:3 # name"
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([' ', '-']);
    let name = [" - ", " # "].iter().fold(name, |name, end| name.split(end).next().unwrap_or(name));
    // "(0.00s)", "(5 ms)": times differ from run to run.
    let is_time = |text: &str| text.ends_with("s)") && text.starts_with(|c: char| c.is_ascii_digit());
    let name = name.rsplit_once(" (").filter(|(_, text)| is_time(text)).map_or(name, |(name, _)| name).trim();
    name.chars().any(char::is_alphanumeric).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use kernel::tools::command::CommandResult;

    fn ended(output: &str) -> CommandResult {
        CommandResult { exit_code: i32::from(!output.is_empty()), output: output.into() }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Prints this on the base, and these in further runs. Nothing is printed by tests that pass.
    struct Runs {
        base: &'static str,
        again: Mutex<Vec<&'static str>>,
    }

    #[async_trait]
    impl RunTests for Runs {
        async fn run(&self, version: Version) -> anyhow::Result<Option<TestRun>> {
            let again = || self.again.lock().expect("no run panics").remove(0);
            Ok(Some(Ok(ended(if version == Version::Base { self.base } else { again() }))))
        }
    }

    async fn sorted(first: &str, base: &'static str, again: &[&'static str]) -> Failures {
        sort(&Ok(ended(first)), &Runs { base, again: Mutex::new(again.to_vec()) }).await.expect("all runs end")
    }

    #[test]
    fn the_names_of_failed_tests_are_read_from_what_runners_print() {
        for (output, name) in [
            ("test cart::total ... FAILED", "cart::total"),
            ("--- FAIL: TestTotal (0.03s)", "TestTotal"),
            ("FAILED tests/test_cart.py::test_total - AssertionError: 1 != 2", "tests/test_cart.py::test_total"),
            ("FAIL: test_total (cart.CartTest)", "test_total (cart.CartTest)"),
            ("not ok 3 - adds the total", "adds the total"),
            ("  ✕ adds the total (5 ms)", "adds the total"),
            ("CartTest > total() FAILED", "CartTest > total()"),
        ] {
            assert_eq!(names_in(output), set(&[name]), "{output}");
        }
        assert!(
            names_in("FAILED\ntotal: 160 is not 180\ntest result: FAILED. 1 passed; 1 failed").iter().all(|name| name.contains("passed"))
        );
        assert_eq!(Failing::of(Some(&Ok(ended("160 is not 180")))), Failing::Unnamed);
    }

    #[tokio::test]
    async fn a_test_that_fails_on_the_base_too_is_not_held_against_a_change() {
        let (total, mail) = ("--- FAIL: Total", "--- FAIL: Total\n--- FAIL: Mail");
        let found = sorted(total, total, &[]).await;
        assert_eq!((found.held, found.on_base), (set(&[]), set(&["Total"])));
        let found = sorted(mail, total, &[mail, mail]).await;
        assert_eq!((found.held, found.on_base), (set(&["Mail"]), set(&["Total"])), "what the base passed is");
        let found = sorted("it does not compile", total, &["it does not compile"; 2]).await;
        assert_eq!(found.held, set(&[COMMAND]), "more fails than on the base");
        assert_eq!(sorted("180", "160", &[]).await.held, set(&[]), "nothing is known to have passed there");
    }

    #[tokio::test]
    async fn a_test_that_passes_when_it_is_run_again_is_not_held_against_a_change() {
        let found = sorted("--- FAIL: Slow\n--- FAIL: Mail", "", &["--- FAIL: Mail", "--- FAIL: Mail"]).await;
        assert_eq!((found.held, found.unsteady), (set(&["Mail"]), set(&["Slow"])));
        let found = sorted("160 is not 180", "", &["160 is not 180", ""]).await;
        assert_eq!((found.held, found.unsteady, found.base_passed), (set(&[]), set(&[COMMAND]), true));
    }
}
