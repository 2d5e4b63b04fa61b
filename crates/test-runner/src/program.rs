use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// How long to wait for what a test program leaves behind: servers that stop once it has ended.
const LEFT_BEHIND: Duration = Duration::from_secs(30);

/// A test program, with the arguments of `tests/run`.
pub(crate) struct Program {
    path: String,
    arguments: Vec<String>,
}

impl Program {
    pub(crate) fn new(path: String, arguments: impl Iterator<Item = String>) -> Self {
        Self { path, arguments: arguments.collect() }
    }

    /// Runs all tests, passes on what they print, and returns its lines.
    pub(crate) fn run_all(&self) -> anyhow::Result<(Ended, Vec<String>)> {
        adopt_orphans()?;
        let mut child = self.command().args(long_form()).args(&self.arguments).stdout(Stdio::piped()).spawn()?;
        let printed = child.stdout.take().map(Printed::read);
        let ended = wait_for(child.id())?;
        wait_for_the_rest();
        Ok((ended, printed.map(Printed::finish).unwrap_or_default()))
    }

    /// Runs one test.
    pub(crate) fn run_alone(&self, test: &str) -> anyhow::Result<Ended> {
        let child = self.command().args(["--include-ignored", "--test-threads", "1", "--exact", test]).spawn()?;
        let ended = wait_for(child.id())?;
        wait_for_the_rest();
        Ok(ended)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        // The standard harness prints times only where unstable options are allowed.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
        command
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// The long form also runs the tests that are marked as too long for every change.
fn long_form() -> Option<&'static str> {
    std::env::var_os("TEAMROOM_TEST_LONG").map(|_| "--include-ignored")
}

/// How a program ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended(WaitStatus);

impl Ended {
    pub(crate) fn is_success(self) -> bool {
        self.0.exit_status() == Some(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.exit_status(), self.0.terminating_signal()) {
            (Some(code), _) => write!(f, "code {code}"),
            (_, Some(signal)) => write!(f, "signal {signal}"),
            _ => f.write_str("no code"),
        }
    }
}

/// Lines of standard output, which are printed as they come.
struct Printed {
    lines: Arc<Mutex<Vec<String>>>,
    reader: JoinHandle<()>,
}

impl Printed {
    fn read(stdout: ChildStdout) -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                // Nobody may be listening any more.
                let _ = writeln!(std::io::stdout(), "{line}");
                kept.lock().expect("nobody panics with the lines").push(line);
            }
        });
        Self { lines, reader }
    }

    /// The lines so far. What was left behind may hold the output open, so the end is not waited for without a limit.
    fn finish(self) -> Vec<String> {
        let latest = Instant::now() + LEFT_BEHIND;
        while !self.reader.is_finished() && Instant::now() < latest {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::mem::take(&mut self.lines.lock().expect("nobody panics with the lines"))
    }
}

/// Makes processes whose parents have ended children of this one. Waiting for them adds their processor time to that of the tests: a database server
/// has a quarter of it.
fn adopt_orphans() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Waits for a child. Others that end meanwhile are buried.
fn wait_for(child: u32) -> anyhow::Result<Ended> {
    let child = Pid::from_raw(child.try_into()?);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if Some(ended) == child => return Ok(Ended(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits until no child is left, or for the time that one may take to stop.
fn wait_for_the_rest() {
    let latest = Instant::now() + LEFT_BEHIND;
    while Instant::now() < latest {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => return,
        }
    }
    println!("processes of the tests are still running after {} seconds", LEFT_BEHIND.as_secs());
}
