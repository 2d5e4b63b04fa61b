//! Git on a repository of a test.

use std::path::Path;
use std::process::Command;

/// Runs git in a repository as Ada, and returns what it says.
pub(crate) fn git(repository: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments);
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
