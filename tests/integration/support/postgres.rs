//! A PostgreSQL server for the tests, started at first use, with a new database per test.
//!
//! Its data is in the folder that `TEAMROOM_TEST_POSTGRES` names, else in a temporary one. A small shell watches this process and stops the server when the process ends, however it ends. The server runs without fsync, because
//! its data is not needed afterwards.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};

use super::port::free_port;
use super::skip;

/// The server's superuser.
const USER: &str = "teamroom";

/// Starting takes about a second, and far longer on a busy machine.
const STARTING: Duration = Duration::from_mins(1);

/// The address of a new empty database. None, with a reported skip, without a server.
pub(crate) async fn database() -> Option<String> {
    if is_there().await { Some(create(&next_name(), None).await) } else { None }
}

/// The address of a new database copied from this one, which must have no connections.
#[cfg(test)]
pub(crate) async fn copy(template: &str) -> String {
    create(&next_name(), Some(template)).await
}

fn next_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Creates a database, empty or as a copy. Returns its address.
pub(crate) async fn create(name: &str, template: Option<&str>) -> String {
    let server = server().await.expect("there is a server");
    let mut admin = PgConnection::connect(&server.url("postgres")).await.expect("the server accepts connections");
    let mut statement = format!("CREATE DATABASE {name}");
    if let Some(template) = template {
        write!(statement, " TEMPLATE {template}").expect("a string is written");
    }
    // Copies the files as they are, in a third of the time of the log. Before PostgreSQL 15 there is no other way, and no word for it.
    if admin.server_version_num() >= Some(150_000) {
        statement.push_str(" STRATEGY FILE_COPY");
    }
    sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut admin).await.expect("a database is created");
    server.url(name)
}

/// Whether there is a server. Reports a skip if not.
pub(crate) async fn is_there() -> bool {
    match server().await {
        Ok(_) => true,
        Err(why) => {
            skip::missing("postgres", why);
            false
        }
    }
}

struct Server {
    port: u16,
    /// Stops the server when this process ends.
    _watchdog: std::process::Child,
}

impl Server {
    fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }
}

/// The server of this test process.
async fn server() -> Result<&'static Server, &'static str> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    // The first caller starts it, the others wait.
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(start)).await.expect("starting does not panic");
    server.as_ref().map_err(String::as_str)
}

fn start() -> Result<Server, String> {
    let binaries = find_binaries().ok_or("neither PATH nor /usr/lib/postgresql has initdb and postgres")?;
    let place = std::env::var_os("TEAMROOM_TEST_POSTGRES").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::Builder::new().prefix("teamroom-postgres-").tempdir_in(place).map_err(|error| error.to_string())?.keep();
    let outcome = start_in(&binaries, &directory);
    if outcome.is_err() {
        let _ = std::fs::remove_dir_all(&directory);
    }
    outcome
}

fn start_in(binaries: &Path, directory: &Path) -> Result<Server, String> {
    let account = Account::choose()?;
    account.own(directory)?;
    let data = directory.join("data");
    let initialised = account
        .command(binaries.join("initdb"))
        .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER, "--pgdata"])
        .arg(&data)
        .output()
        .map_err(|error| format!("initdb could not be run: {error}"))?;
    if !initialised.status.success() {
        return Err(format!("initdb failed: {}", String::from_utf8_lossy(&initialised.stderr)));
    }
    let port = free_port();
    let log = std::fs::File::create(directory.join("log")).map_err(|error| error.to_string())?;
    // The shell reads standard input, which this process keeps open, so the shell notices when the process ends.
    let script = r#""$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$TEAMROOM_DIRECTORY""#;
    let watchdog = account
        .command("sh")
        // A separate process group, so that an interrupt ends the tests first.
        .process_group(0)
        .args(["-c", script, "watchdog"])
        .arg(binaries.join("postgres"))
        .arg("-D")
        .arg(&data)
        .args(["-p", &port.to_string(), "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
        .args(["-c", "max_connections=400", "-c", "shared_buffers=32MB", "-c", "full_page_writes=off"])
        // With hundreds of databases, autovacuum would start a process several times a second.
        .args(["-c", "autovacuum=off", "-c", "jit=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0"])
        .env("TEAMROOM_DIRECTORY", directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("postgres could not be started: {error}"))?;
    let server = Server { port, _watchdog: watchdog };
    let deadline = Instant::now() + STARTING;
    while !is_ready(binaries, port) {
        if Instant::now() > deadline {
            let log = std::fs::read_to_string(directory.join("log")).unwrap_or_default();
            return Err(format!("postgres did not come up: {log}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

fn is_ready(binaries: &Path, port: u16) -> bool {
    let probe = Command::new(binaries.join("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]).status();
    probe.is_ok_and(|status| status.success())
}

/// The directory of the newest server version.
fn find_binaries() -> Option<PathBuf> {
    let complete = |directory: &PathBuf| ["initdb", "postgres", "pg_isready"].iter().all(|name| directory.join(name).is_file());
    let mut installed: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, directory)| complete(directory))
        .collect();
    installed.sort();
    let newest = installed.pop().map(|(_, directory)| directory);
    newest.or_else(|| std::env::split_paths(&std::env::var_os("PATH")?).find(complete))
}

/// The account of the server, because PostgreSQL refuses root.
enum Account {
    Own,
    Other { user: u32, group: u32 },
}

impl Account {
    fn choose() -> Result<Self, String> {
        if id(&["-u"])? != 0 {
            return Ok(Self::Own);
        }
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Some(Self::Other { user: id(&["-u", name]).ok()?, group: id(&["-g", name]).ok()? }))
            .ok_or_else(|| "root may not run PostgreSQL, and there is neither a user postgres nor nobody".to_owned())
    }

    fn own(&self, directory: &Path) -> Result<(), String> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group } => {
                std::os::unix::fs::chown(directory, Some(*user), Some(*group)).map_err(|error| format!("{}: {error}", directory.display()))
            }
        }
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        // A directory that every account can access.
        command.current_dir("/").env_remove("PGDATA");
        if let Self::Other { user, group } = self {
            command.uid(*user).gid(*group);
        }
        command
    }
}

fn id(arguments: &[&str]) -> Result<u32, String> {
    let output = Command::new("id").args(arguments).output().map_err(|error| format!("id could not be run: {error}"))?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| format!("there is no such account: {arguments:?}"))
}
