//! The team as a separate process that can be killed.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chrono_tz::Tz;
use secrecy::ExposeSecret;
use teamroom::features;

use super::database::count;
use super::patience::PATIENCE;
use super::port::free_port;
use super::team::{TestTeam, eventually};

/// A running `teamroom run`. Killed on drop.
pub(crate) struct TeamProcess {
    child: Child,
    /// The address of health and metrics.
    pub(crate) http: String,
}

impl TeamProcess {
    /// Starts the team with the sandbox, model and database of `team`, and waits until all identities are online.
    pub(crate) async fn start(team: &TestTeam, extra: &[(&str, &str)]) -> Self {
        let process = Self::spawn(team, extra);
        process.wait_until_ready().await;
        process
    }

    /// Waits until all identities are online.
    pub(crate) async fn wait_until_ready(&self) {
        let started = Instant::now();
        while !reqwest::get(format!("{}/readyz", self.http)).await.is_ok_and(|response| response.status().is_success()) {
            assert!(started.elapsed() < PATIENCE, "the team did not become ready");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Like `start`, without waiting.
    pub(crate) fn spawn(team: &TestTeam, extra: &[(&str, &str)]) -> Self {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = Self::command(team, &listen);
        command.envs(extra.iter().copied());
        Self { child: command.spawn().expect("the binary starts"), http: format!("http://{listen}") }
    }

    /// Like `spawn`, with the log in a file.
    pub(crate) fn spawn_logging(team: &TestTeam, log: &Path) -> Self {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = Self::command(team, &listen);
        command.stderr(File::create(log).expect("a file for the log"));
        Self { child: command.spawn().expect("the binary starts"), http: format!("http://{listen}") }
    }

    fn command(team: &TestTeam, listen: &str) -> Command {
        turn_off_schedule(&team.dir.path().join("teamroom.toml"));
        // Ignores the signal for exceeding the file size limit, so that writes fail like on a full disk.
        let mut command = Command::new("sh");
        command
            .args(["-c", "trap '' XFSZ; exec \"$0\" run", env!("CARGO_BIN_EXE_teamroom")])
            .current_dir(team.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DISCORD_API_URL", team.sandbox().api_url())
            .env("DISCORD_GATEWAY_URL", team.sandbox().gateway_url())
            .env("TEAMROOM_DISCORD_GUILD", team.sandbox().guild_id())
            .env("DATABASE_URL", team.config.database_url.expose_secret())
            .env("TEAMROOM_MODEL_URL", team.model.base_url())
            .env("TEAMROOM_MODEL", "scripted-1")
            .env("TEAMROOM_CHAT_COALESCE_MS", "0")
            // On a busy machine the message that an answer takes longer would come between the answers.
            .env("TEAMROOM_CHAT_STILL_THINKING_AFTER", "1h")
            .env("TEAMROOM_SERVER_LISTEN", listen)
            // Whether this machine has a speech program must not change what is posted.
            .env("TEAMROOM_MODELS_SPEECH", "off")
            .stdout(Stdio::null())
            .stderr(if std::env::var_os("TEAMROOM_TEST_LOGS").is_some() { Stdio::inherit() } else { Stdio::null() });
        for bot in team.sandbox().bots() {
            command.env(format!("DISCORD_TOKEN_{}", bot.slug.to_uppercase()), bot.token);
        }
        command
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Runs the team until it ends by itself.
    pub(crate) fn run_to_end(team: &TestTeam) -> std::process::Output {
        Self::command(team, "127.0.0.1:0").stderr(Stdio::piped()).output().expect("the binary starts")
    }

    /// Makes the process read its settings again.
    pub(crate) fn hang_up(&self) {
        self.signal("-HUP");
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ends");
    }

    /// `kill -9` while exactly one job runs. Among several running jobs, each would only be suspected of the crash.
    pub(crate) async fn kill_with_one_job(self, team: &TestTeam) {
        eventually("one job runs alone", || async {
            self.freeze();
            let is_alone = count(team, "SELECT COUNT(*) FROM jobs WHERE state = 'running'").await == 1;
            if !is_alone {
                self.thaw();
            }
            is_alone
        })
        .await;
        self.kill();
    }

    /// Suspends all threads without notice, like a sleeping machine.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Resumes after `freeze`.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Prevents its files from growing, like a full disk. Linux only.
    pub(crate) fn fill_disk(&self) {
        self.limit_files("1:unlimited");
    }

    pub(crate) fn free_disk(&self) {
        self.limit_files("unlimited:unlimited");
    }

    fn limit_files(&self, limit: &str) {
        let pid = self.child.id().to_string();
        let limited = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={limit}")]).status().expect("prlimit runs");
        assert!(limited.success());
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Stops it like an operator. Returns whether it ended cleanly.
    pub(crate) fn terminate(mut self) -> bool {
        self.signal("-TERM");
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for TeamProcess {
    fn drop(&mut self) {
        // Usually gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Turns off built-in jobs that start at fixed hours, such as nine o'clock, because a test may run then. Keeps those that the settings name.
fn turn_off_schedule(file: &Path) {
    let mut settings = std::fs::read_to_string(file).unwrap_or_default();
    for job in features::actions().built_in(Tz::UTC).iter().filter(|job| job.channel.is_some()) {
        let heading = format!("[schedules.{}]", job.name);
        if !settings.contains(&heading) {
            settings = format!("{settings}\n{heading}\nenabled = false\n");
        }
    }
    std::fs::write(file, settings).expect("it can be written");
}
