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

/// The number of worktrees besides the repository itself. Git's own list fails while a worktree is being removed.
pub(crate) fn count_worktrees(repository: &Path) -> usize {
    std::fs::read_dir(repository.join(".git/worktrees")).map_or(0, Iterator::count)
}

/// The bug of the shop: 20 % off instead of 10.
pub(crate) const BUG: &str = "# The total with 10 % off.\necho $(( $1 * 80 / 100 ))\n";
const TEST: &str = "[ \"$(sh src/total.sh 200)\" = 180 ] || { echo 'the total of 200 is not 180'; exit 1; }\n";

/// Makes a repository with a bug and a test that fails because of it: `sh tests/total.sh`.
pub(crate) fn make_shop(home: &Path) {
    for (path, text) in [("src/total.sh", BUG), ("tests/total.sh", TEST)] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    git(home, &["init", "--quiet", "--initial-branch=main"]);
    git(home, &["add", "."]);
    git(home, &["commit", "--quiet", "-m", "Begin"]);
}
