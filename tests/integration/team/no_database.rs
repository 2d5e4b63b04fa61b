//! Commands that read, in a folder without a database, and who may read the files of one.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::team::{Backing, Wanted};

/// `teamroom` in a directory.
fn teamroom(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_teamroom")).args(args).current_dir(dir).env_clear().output().expect("the binary runs")
}

#[test]
fn what_reads_makes_no_database_and_says_where_it_looked() {
    let dir = tempfile::tempdir().expect("a directory");
    for args in [
        &["status"][..],
        &["team", "list"],
        &["backlog", "list"],
        &["schedule", "list"],
        &["remind", "list"],
        &["costs"],
        &["report"],
        &["db"],
        &["trace", "123456"],
        &["export"],
        &["person", "export", "Ann"],
    ] {
        let output = teamroom(dir.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        let place = dir.path().join(".teamroom/teamroom.db");
        assert!(said.contains(&format!("there is no database at {}", place.display())), "{args:?}: {said}");
        assert!(said.contains("`teamroom run` and `teamroom sandbox` make one"), "{args:?}: {said}");
        assert!(!dir.path().join(".teamroom").exists(), "{args:?}");
    }
}

#[test]
fn doctor_makes_no_database() {
    let dir = tempfile::tempdir().expect("a directory");
    let said = String::from_utf8_lossy(&teamroom(dir.path(), &["doctor"]).stdout).into_owned();
    assert!(said.contains("there is no database at ") && said.contains("models: none is connected"), "{said}");
    assert!(!dir.path().join(".teamroom/teamroom.db").exists());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_on_the_machine_reads_the_files_of_a_database() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::ExposeSecret as _;

    let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let assert_private = |dir: &Path| {
        let files = std::fs::read_dir(dir).expect("a folder").map(|file| file.expect("a file").path());
        let files: Vec<_> = files
            .filter(|file| file.is_file() && file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("teamroom")))
            .collect();
        let is_lock = |file: &Path| file.extension().is_some_and(|ending| ending == "lock" || ending == "toml");
        for file in files.iter().filter(|file| !is_lock(file)) {
            assert_eq!(mode(file), 0o600, "{}", file.display());
        }
        assert!(!files.is_empty());
    };
    let mut team = Wanted::on(Backing::Sqlite).start().await;
    let file = std::path::PathBuf::from(team.config.database_url.expose_secret().trim_start_matches("sqlite:"));
    let dir = file.parent().expect("a folder").to_path_buf();
    assert!(dir.join("teamroom.db-wal").exists());
    assert_private(&dir);
    team.stop_app().await;
    set_permissions(&file, Permissions::from_mode(0o644)).expect("changed");
    team.start_app().await;
    assert_private(&dir);
    team.stop_app().await;

    let beside = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
        command.args(args).current_dir(&dir).env_clear().env("DATABASE_URL", team.config.database_url.expose_secret());
        assert!(command.status().expect("the binary runs").success(), "{args:?}");
    };
    beside(&["backup", "teamroom-copy.db"]);
    assert_private(&dir);
    for file in ["teamroom-copy.db", "teamroom.db"] {
        set_permissions(dir.join(file), Permissions::from_mode(0o644)).expect("changed");
    }
    beside(&["restore", "teamroom-copy.db"]);
    set_permissions(dir.join("teamroom-copy.db"), Permissions::from_mode(0o600)).expect("changed");
    assert_private(&dir);
}
