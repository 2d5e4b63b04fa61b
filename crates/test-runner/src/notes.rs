use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

/// How many of the slowest tests the report names.
const SLOWEST: usize = 20;

/// What was noted about the test programs, a file a kind.
pub(crate) struct Notes {
    folder: PathBuf,
}

impl Notes {
    pub(crate) fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub(crate) fn add_time(&self, test: &str, seconds: f64) -> anyhow::Result<()> {
        self.add("times", &format!("{seconds} {test}\n"))
    }

    /// Notes a test that failed, with its failure, and then passed alone.
    pub(crate) fn add_flaky(&self, test: &str, failure: &[String]) -> anyhow::Result<()> {
        let lines: Vec<&str> = std::iter::once(test).chain(failure.iter().map(String::as_str)).collect();
        self.add("flaky", &format!("{}\n", lines.join("\n\t")))
    }

    /// The flaky tests with their failures.
    pub(crate) fn flaky(&self) -> anyhow::Result<Vec<(String, Vec<String>)>> {
        let mut flaky: Vec<(String, Vec<String>)> = Vec::new();
        for line in self.read("flaky")?.lines() {
            match (line.strip_prefix('\t'), flaky.last_mut()) {
                (Some(line), Some((_, failure))) => failure.push(line.to_owned()),
                _ => flaky.push((line.to_owned(), Vec::new())),
            }
        }
        Ok(flaky)
    }

    /// The tests that took longest, as text.
    pub(crate) fn slowest(&self) -> anyhow::Result<String> {
        let times = self.read("times")?;
        let mut times: Vec<(f64, &str)> =
            times.lines().filter_map(|line| line.split_once(' ')).filter_map(|(time, test)| Some((time.parse().ok()?, test))).collect();
        times.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut text = format!("\nThe slowest of {} tests, in seconds, with others running:\n", times.len());
        for (seconds, test) in times.iter().take(SLOWEST) {
            writeln!(text, "{seconds:8.1}  {test}")?;
        }
        Ok(text)
    }

    /// How many runs there were on each store and platform, as text. The tests note them, a line each.
    pub(crate) fn runs(&self) -> anyhow::Result<String> {
        let mut counts = BTreeMap::new();
        let runs = self.read("runs")?;
        if runs.is_empty() {
            return Ok(String::new());
        }
        for run in runs.lines() {
            *counts.entry(run).or_insert(0) += 1;
        }
        let mut text = "\nRuns of a team, by store and platform:\n".to_owned();
        for (run, count) in counts {
            writeln!(text, "{count:8}  {run}")?;
        }
        Ok(text)
    }

    fn add(&self, kind: &str, text: &str) -> anyhow::Result<()> {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(self.folder.join(kind))?;
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Empty if nothing was noted.
    fn read(&self, kind: &str) -> anyhow::Result<String> {
        match std::fs::read_to_string(self.folder.join(kind)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            read => Ok(read?),
        }
    }
}
