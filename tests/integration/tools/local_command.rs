//! The sandboxed test command: what it can access, and that nothing of it remains.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use kernel::tools::command::{CommandError, CommandResult, run_confined};
use tokio_util::sync::CancellationToken;

use crate::support::patience::PATIENCE;
use crate::support::skip;

const LIMIT: Duration = Duration::from_secs(30);

/// The result of a shell script. None, with a reported skip, without kernel support.
async fn run(script: &str, dir: &Path) -> Option<Result<CommandResult, CommandError>> {
    run_within(script, dir, LIMIT, &CancellationToken::new()).await
}

async fn run_within(script: &str, dir: &Path, limit: Duration, cancel: &CancellationToken) -> Option<Result<CommandResult, CommandError>> {
    let command = ["sh", "-c", script].map(str::to_owned);
    match run_confined(&command, dir, limit, cancel).await {
        Err(CommandError::NotConfined(why)) => {
            assert!(why.contains("Linux"), "it says what to do: {why}");
            skip::missing("landlock", &why);
            None
        }
        ended => Some(ended),
    }
}

fn processes(marker: &str) -> usize {
    let lists = |entry: &fs::DirEntry| fs::read_to_string(entry.path().join("cmdline")).is_ok_and(|line| line.contains(marker));
    fs::read_dir("/proc").unwrap().filter(|entry| entry.as_ref().is_ok_and(lists)).count()
}

#[tokio::test]
async fn a_command_passes_or_fails_by_its_exit_code_and_shows_the_end_of_its_output() {
    let dir = tempfile::tempdir().unwrap();
    let Some(passed) = run("echo one; echo two >&2; printf '\\033[31mred\\033[0m'", dir.path()).await else { return };
    assert_eq!(passed.unwrap(), CommandResult { exit_code: 0, output: "one\ntwo\nred".into() });
    let failed = run("echo no; exit 3", dir.path()).await.unwrap().unwrap();
    assert_eq!(failed, CommandResult { exit_code: 3, output: "no".into() });
    assert_eq!(run("kill -9 $$", dir.path()).await.unwrap().unwrap().exit_code, 137);
    let flood = run("yes line | head -c 3000000; echo end", dir.path()).await.unwrap().unwrap();
    assert!(flood.output.ends_with("line\nend") && flood.output.chars().count() <= 4000, "{}", flood.output.len());
}

#[tokio::test]
async fn it_works_in_its_folder_with_nothing_of_our_environment() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("given.txt"), "given").unwrap();
    let script = "set -e; cat given.txt; mkdir made; echo x > made/file; ln -s given.txt link; mv made/file .; \
                  echo y > \"$TMPDIR/t\"; cd \"$HOME\"; rm file; echo; env | cut -d= -f1 | sort | tr '\\n' ' '; echo z > /dev/null";
    let Some(ran) = run(script, dir.path()).await else { return };
    let ran = ran.unwrap();
    assert_eq!(ran.exit_code, 0, "{}", ran.output);
    let names: Vec<_> =
        ran.output.lines().nth(1).unwrap().split(' ').filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name)).collect();
    assert_eq!(names, ["HOME", "LANG", "PATH", "RUSTUP_HOME", "TERM", "TMPDIR"]);
    assert!(!dir.path().join(".teamroom-tmp").exists() && dir.path().join("made").exists());
}

#[tokio::test]
async fn nothing_outside_is_read_or_written_and_its_own_folder_is() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "SECRET").unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own"), "OWN").unwrap();
    let secret = outside.path().display().to_string();
    let own = dir.path().display().to_string();
    let attempts = |place: &str, file: &str| {
        [
            format!("cat {place}/{file}"),
            format!("ls {place}"),
            format!("ln -s {place} l$$ && cat l$$/{file}"),
            format!("echo x > {place}/new"),
            format!("echo x >> {place}/{file}"),
            format!("mkdir {place}/newdir"),
            format!("mv {place}/{file} {place}/moved && mv {place}/moved {place}/{file}"),
            format!("truncate -s 3 {place}/{file}"),
        ]
    };
    for attempt in attempts(&secret, "secret") {
        let Some(ran) = run(&attempt, dir.path()).await else { return };
        let ran = ran.unwrap();
        assert!(ran.exit_code != 0 && !ran.output.contains("SECRET"), "{attempt}: {ran:?}");
    }
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"SECRET");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    for attempt in attempts(&own, "own") {
        let ran = run(&attempt, dir.path()).await.unwrap().unwrap();
        assert_eq!(ran.exit_code, 0, "the well-behaved twin {attempt}: {ran:?}");
    }
    for attempt in [
        format!("ln {secret}/secret hard"),
        "cat /etc/passwd".into(),
        "cat /proc/1/environ".into(),
        "cat /proc/$PPID/environ".into(),
        "ls /root /home /tmp".into(),
        "mknod disk b 8 0".into(),
        "echo x > /usr/teamroom-was-here".into(),
        format!("kill -0 {}", std::process::id()),
    ] {
        let ran = run(&attempt, dir.path()).await.unwrap().unwrap();
        assert_ne!(ran.exit_code, 0, "{attempt}: {ran:?}");
    }
}

#[tokio::test]
async fn it_reaches_no_host_not_even_this_one() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let perl = |code: &str| ["perl", "-e", code].map(str::to_owned);
    let connect = format!(
        "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die; connect(S, sockaddr_in({port}, inet_aton('127.0.0.1'))) or do {{ print $!; exit 7 }};"
    );
    let bind = "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die; bind(S, sockaddr_in(0, INADDR_ANY)) or do { print $!; exit 7 };";
    // Without the sandbox, both programs work.
    for code in [connect.as_str(), bind] {
        match std::process::Command::new("perl").args(["-e", code]).status() {
            Ok(status) => assert!(status.success(), "{code}"),
            Err(error) => return skip::missing("perl", &error.to_string()),
        }
    }
    assert!(listener.accept().is_ok(), "the twin was heard");
    for code in [connect.as_str(), bind] {
        match run_confined(&perl(code), dir.path(), LIMIT, &CancellationToken::new()).await {
            Err(CommandError::NotConfined(why)) => return skip::missing("landlock", &why),
            ended => assert_eq!(ended.unwrap(), CommandResult { exit_code: 7, output: "Permission denied".into() }),
        }
    }
    assert!(listener.accept().is_err(), "nobody else was heard");
}

#[tokio::test]
async fn what_takes_too_long_is_stopped_with_everything_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let script = "sleep 86397 & (sleep 86397 & sleep 86397) & sleep 86397";
    let Some(ended) = run_within(script, dir.path(), Duration::from_secs(1), &CancellationToken::new()).await else { return };
    assert_eq!(ended.unwrap_err().to_string(), "the test command did not end within 1 s and was stopped");
    gone("86397").await;
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_left_running_by_a_command_that_has_ended_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let Some(ended) = run("sleep 86396 & echo ended", dir.path()).await else { return };
    assert_eq!(ended.unwrap(), CommandResult { exit_code: 0, output: "ended".into() });
    gone("86396").await;
}

#[tokio::test]
async fn a_command_is_stopped_when_it_is_called_off_or_nobody_waits_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let script = "echo x > started; sleep 86395";
    let called_off = tokio::spawn({
        let (path, cancel) = (dir.path().to_owned(), cancel.clone());
        async move { run_within(script, &path, LIMIT, &cancel).await }
    });
    while !dir.path().join("started").exists() && !called_off.is_finished() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let Some(ended) = called_off.await.unwrap() else { return };
    assert!(matches!(ended, Err(CommandError::Cancelled)), "{ended:?}");
    gone("86395").await;

    fs::remove_file(dir.path().join("started")).unwrap();
    let path = dir.path().to_owned();
    let forgotten = tokio::spawn(async move { run(script, &path).await });
    while !dir.path().join("started").exists() {
        tokio::task::yield_now().await;
    }
    forgotten.abort();
    assert!(forgotten.await.is_err());
    gone("86395").await;
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_when_it_has_started_is_stopped_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    if run("true", dir.path()).await.is_none() {
        return;
    }
    let path = dir.path().to_owned();
    let forgotten = tokio::spawn(async move { run("(sleep 86394 & echo x > started; sleep 86394); true", &path).await });
    tokio::task::yield_now().await;
    // Blocks the thread, so that the command has started while its caller does not know that yet.
    while !dir.path().join("started").exists() {
        std::thread::yield_now();
    }
    forgotten.abort();
    assert!(forgotten.await.is_err());
    gone("86394").await;
}

/// A killed process exists until its parent has waited for it.
async fn gone(marker: &str) {
    let since = Instant::now();
    while processes(marker) > 0 {
        assert!(since.elapsed() < PATIENCE, "{} processes are left", processes(marker));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn this_process_itself_stays_free() {
    let dir = tempfile::tempdir().unwrap();
    if run("true", dir.path()).await.is_none() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "x").unwrap();
    let spawned = tokio::task::spawn_blocking(|| fs::read("/etc/passwd")).await.unwrap();
    assert!(spawned.is_ok() && TcpListener::bind("127.0.0.1:0").is_ok());
}
