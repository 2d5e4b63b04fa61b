//! The programs that feeds and items run.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::config::Config;
use kernel::finding::Finding;
use kernel::persona::roster::Roster;
use kernel::program::find_program;

pub(super) async fn check(config: &Config, roster: &Roster) -> Vec<Finding> {
    let reads_git = roster.personas().iter().flat_map(|persona| &persona.feeds).any(|feed| feed.kind == "git");
    let mut findings = Vec::new();
    if reads_git || !config.repositories.is_empty() {
        findings.push(if run("git", &["--version"], Path::new(".")).await {
            Finding::good("git: runs")
        } else {
            Finding::fault("git: cannot be started", "Install git.")
        });
    }
    for repository in &config.repositories {
        let name = format!("repository {}", repository.name);
        if !run("git", &["rev-parse", "--git-dir"], &repository.path).await {
            let text = format!("{name}: {} is no git repository", repository.path.display());
            findings.push(Finding::fault(text, format!("Correct repositories.{}.path.", repository.name)));
            continue;
        }
        findings.push(match repository.test_command.first() {
            None => Finding::warning(
                format!("{name}: no test command, so changes are judged by reading them"),
                format!("Set repositories.{}.test_command.", repository.name),
            ),
            Some(program) if is_there(program, &repository.path) => Finding::good(format!("{name}: its test command {program} is there")),
            Some(program) => Finding::fault(
                format!("{name}: its test command {program} is not there"),
                format!("Install it, or correct repositories.{}.test_command.", repository.name),
            ),
        });
    }
    findings
}

async fn run(program: &str, arguments: &[&str], dir: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}

/// Whether a program is on the search path, or at its place in the repository.
fn is_there(program: &str, repository: &Path) -> bool {
    if program.contains('/') {
        return repository.join(program).is_file();
    }
    std::env::var_os("PATH").is_some_and(|search| find_program(program, &search).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_command_is_found_on_the_path_or_in_the_repository() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("check.sh"), "").expect("written");
        let found = ["sh", "./check.sh", "no-such-program", "./no-such.sh"].map(|program| is_there(program, dir.path()));
        assert_eq!(found, [true, true, false, false]);
    }
}
