//! Several processes on one backlog, and the items each one holds.

use std::path::PathBuf;
use std::time::Duration;

use teamroom::features::backlog::model::WorkItem;

use crate::support::database;
use crate::support::process::TeamProcess;
use crate::support::team::TestTeam;

/// The polling interval when waiting for a short-lived state.
const MOMENT: Duration = Duration::from_millis(40);

/// How long the database may take for what was sent to it before a process was frozen.
const ON_ITS_WAY: Duration = Duration::from_millis(300);

pub(super) struct Member {
    pub(super) process: TeamProcess,
    log: Log,
}

/// A process's log, shown when the test fails.
struct Log(PathBuf);

impl Log {
    fn read(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap_or_default()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let text = self.read();
            let lines: Vec<_> = text.lines().filter(|line| !line.contains("online")).collect();
            println!("{}:\n{}", self.0.display(), lines[lines.len().saturating_sub(40)..].join("\n"));
        }
    }
}

impl Member {
    pub(super) fn spawn(team: &TestTeam, name: &str) -> Self {
        let log = team.path(&format!("{name}.log"));
        Self { process: TeamProcess::spawn_logging(team, &log), log: Log(log) }
    }

    pub(super) fn log(&self) -> String {
        self.log.read()
    }

    /// How often its write was refused, because the item was reclaimed or the database had ended its transaction.
    pub(super) fn refused_ends(&self) -> usize {
        let refusals = ["this worker no longer holds the item; nothing of it was stored", "the end of a run could not be stored"];
        refusals.iter().map(|refusal| self.log().matches(refusal).count()).sum()
    }

    /// Whether the process knows that it has lost its jobs: its writes were refused, or it stopped all its runs because it was taken for dead.
    pub(super) fn knows_of_its_loss(&self, held: usize) -> bool {
        self.refused_ends() >= held || self.log().contains("this process was taken for dead")
    }

    /// Its current claims.
    pub(super) async fn holds(&self, team: &TestTeam) -> Vec<HeldJob> {
        let mut held = Vec::new();
        for claim in self.claims().into_iter().rev().take(20) {
            if is_held(team, &claim).await {
                held.push(claim);
            }
        }
        held
    }

    fn claims(&self) -> Vec<HeldJob> {
        let log = self.log();
        let field = |line: &str, name: &str| line.split(name).nth(1)?.split_whitespace().next().map(str::to_owned);
        let claimed = log.lines().filter(|line| line.contains("a work item was claimed"));
        claimed
            .filter_map(|line| {
                let number = |name| field(line, name)?.parse().ok();
                Some(HeldJob { item: field(line, "item=")?, job: number("job=")?, token: number("token=")? })
            })
            .collect()
    }

    /// Freezes it while it holds something. Returns what it holds.
    pub(super) async fn freeze_at_work(&self, team: &TestTeam) -> Vec<HeldJob> {
        for _ in 0..2000 {
            let held = self.freeze(team).await;
            if !held.is_empty() {
                return held;
            }
            self.process.thaw();
            tokio::time::sleep(MOMENT).await;
        }
        panic!("it never held anything: {}", self.log());
    }

    /// Freezes it. Returns what it holds.
    pub(super) async fn freeze(&self, team: &TestTeam) -> Vec<HeldJob> {
        self.process.freeze();
        if self.holds(team).await.is_empty() {
            return Vec::new();
        }
        // Waits until the database has stored what was sent to it.
        tokio::time::sleep(ON_ITS_WAY).await;
        self.holds(team).await
    }

    /// Kills it while it holds something. Returns what it held.
    pub(super) async fn kill_at_work(self, team: &TestTeam) -> Vec<HeldJob> {
        let held = self.freeze_at_work(team).await;
        self.process.kill();
        held
    }
}

/// The job of an item's run, as it was claimed.
pub(super) struct HeldJob {
    pub(super) item: String,
    job: i64,
    token: i64,
}

pub(super) async fn is_held(team: &TestTeam, held: &HeldJob) -> bool {
    let HeldJob { item, job, token } = held;
    let sql = format!(
        "SELECT COUNT(*) FROM work_items JOIN jobs ON jobs.id = work_items.job WHERE work_items.id = '{item}' AND work_items.status = 'in_progress'
         AND jobs.id = {job} AND jobs.state = 'running' AND jobs.token = {token}"
    );
    database::count(team, &sql).await == 1
}

/// Whether the job of an item runs for the `token`th time.
pub(super) async fn runs_for_the(team: &TestTeam, item: &WorkItem, token: usize) -> bool {
    let sql = format!(
        "SELECT COUNT(*) FROM work_items JOIN jobs ON jobs.id = work_items.job
         WHERE work_items.id = '{}' AND work_items.status = 'in_progress' AND jobs.state = 'running' AND jobs.token = {token}",
        item.id
    );
    database::count(team, &sql).await == 1
}
