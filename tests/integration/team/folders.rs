//! What `teamroom run` says, and with which exit code it ends, where only a person can help.

use std::path::Path;
use std::process::{Command, Output};

/// `teamroom run` in a directory.
fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.arg("run").current_dir(dir).env_clear();
    command
}

/// Asserts that the service manager does not start the program again. Returns what was said.
fn ends_for_good(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{said}");
    said
}

#[test]
fn wrong_settings_end_the_service_for_good() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("teamroom.toml"), "[chat]\nmax_responders = \"many\"\n").expect("a file");
    assert!(ends_for_good(&command(dir.path()).output().expect("it runs")).contains("max_responders"));
    let unit = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/teamroom.service")).expect("the unit");
    assert!(unit.contains("\nRestartPreventExitStatus=78\n"));
}

#[test]
fn reports_that_are_no_folder_end_the_service_for_good() {
    let dir = tempfile::tempdir().expect("a directory");
    let reports = dir.path().join(".teamroom/reports");
    std::fs::create_dir_all(reports.parent().expect("a folder")).expect("made");
    std::fs::write(&reports, "").expect("a file");
    let said = ends_for_good(&command(dir.path()).output().expect("it runs"));
    assert!(said.contains(&format!("the folder {} cannot be written; make it writable for this user", reports.display())), "{said}");
    assert!(!dir.path().join(".teamroom/teamroom.db").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_of_somebody_else_is_told_with_its_owner_and_what_to_do() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    let dir = tempfile::tempdir().expect("a directory");
    let data = dir.path().join(".teamroom");
    std::fs::create_dir(&data).expect("made");
    let own = std::fs::metadata(&data).expect("a folder").uid();
    for folder in [dir.path(), &data] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).expect("changed");
    }
    let mut run = command(dir.path());
    // Root writes everywhere, so that a root who runs the tests starts the program as somebody else.
    if own == 0 {
        run.uid(65534).gid(65534);
    }
    let Ok(output) = run.output() else { return };
    let said = ends_for_good(&output);
    assert!(said.contains(&format!("the folder {}", data.display())), "{said}");
    let remedy = if own == 0 { "belongs to user 0, and this process is user 65534" } else { "make it writable for this user" };
    assert!(said.contains(remedy) && said.lines().count() == 1, "{said}");
}
