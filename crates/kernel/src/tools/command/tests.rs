use crate::tools::command::*;

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

async fn run_unconfinable(command: &[&str], dir: &Path) -> CommandError {
    let unable: Confine = |_| Err("there is no Landlock here".into());
    run_with(unable, &words(command), dir, Duration::from_secs(10), &CancellationToken::new()).await.expect_err("not run")
}

#[tokio::test]
async fn where_nothing_can_be_confined_nothing_is_run() {
    let dir = tempfile::tempdir().expect("a directory");
    let error = run_unconfinable(&["touch", "it-ran"], dir.path()).await;
    assert!(matches!(&error, CommandError::NotConfined(why) if why == "there is no Landlock here"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 0, "neither a file nor the temporary folder is left");
}

#[tokio::test]
async fn a_command_that_is_not_there_is_the_operators_to_correct() {
    let dir = tempfile::tempdir().expect("a directory");
    for command in [&[][..], &[""], &["no-such-program-here"], &["./missing.sh"], &["/no/such/program"]] {
        let error = run_unconfinable(command, dir.path()).await.to_string();
        assert!(error.contains("cannot start") && error.to_lowercase().contains("correct backlog.test_command"), "{command:?}: {error}");
    }
}

#[test]
fn the_environment_holds_no_more_than_a_program_needs() {
    let environment = environment(Path::new("/w"), Path::new("/w/t"), "/usr/bin".into());
    let names: Vec<_> = environment.iter().map(|(name, _)| *name).collect();
    assert_eq!(names[..5], ["PATH", "HOME", "TMPDIR", "LANG", "TERM"]);
    assert!(names[5..].iter().all(|name| *name == "RUSTUP_HOME"), "{names:?}");
}
