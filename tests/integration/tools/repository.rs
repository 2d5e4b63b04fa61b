//! Worktrees of a repository: they leave everything else alone, and a killed process does no harm.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use kernel::ids::WorkItemId;
use kernel::repository::{Repositories, RepositorySettings, Version, Worktree};
use tokio_util::sync::CancellationToken;

use crate::support::git::git;
use crate::support::skip;

struct Place {
    home: tempfile::TempDir,
    repositories: Repositories,
    settings: RepositorySettings,
}

impl Place {
    fn new(test_command: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("shop");
        fs::create_dir_all(path.join("tests")).unwrap();
        fs::write(path.join("a.txt"), "one\n").unwrap();
        fs::write(path.join("tests/check.sh"), "grep -q two a.txt\n").unwrap();
        fs::write(path.join("run.sh"), "echo run\n").unwrap();
        fs::set_permissions(path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(home.path(), path.join("out")).unwrap();
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
        git(&path, &["add", "."]);
        git(&path, &["commit", "--quiet", "-m", "Begin"]);
        let test_command = test_command.iter().map(|word| (*word).to_owned()).collect();
        let settings = RepositorySettings { name: "shop".into(), path, test_command, tests: Vec::new() };
        let repositories = Repositories::new(vec![settings.clone()], &home.path().join("worktrees"));
        Self { home, repositories, settings }
    }

    async fn open(&self) -> Worktree {
        self.repositories.open(&self.settings, &item(), "a1b2c3", &[]).await.unwrap()
    }

    fn tree(&self) -> std::path::PathBuf {
        self.home.path().join("worktrees").join(item().as_str()).join(item().as_str())
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.settings.path, arguments)
    }
}

fn item() -> WorkItemId {
    "0192f0a1b2c3d4e5f60718293a4ba1b2c3".into()
}

async fn commit(worktree: &Worktree) {
    worktree.commit(("Vince", "vince"), "Say two").await.unwrap();
}

#[tokio::test]
async fn what_was_begun_is_taken_up_again_or_made_anew_wherever_a_process_died() {
    let place = Place::new(&[]);
    let base = place.git(&["rev-parse", "HEAD"]);
    let worktree = place.open().await;
    worktree.files().unwrap().write("a.txt", b"two\n").await.unwrap();
    // Meanwhile the main branch has a new commit.
    place.git(&["commit", "--quiet", "--allow-empty", "-m", "Elsewhere"]);

    // Git was killed while it wrote, so its lock files are left.
    let git_dir = place.settings.path.join(".git/worktrees").join(item().as_str());
    fs::write(git_dir.join("index.lock"), "").unwrap();
    fs::create_dir_all(place.settings.path.join(".git/refs/heads/teamroom")).unwrap();
    fs::write(place.settings.path.join(".git/refs/heads/teamroom/a1b2c3.lock"), "").unwrap();
    let worktree = place.open().await;
    assert!(worktree.has_changes().await.unwrap(), "what was changed is still there");
    commit(&worktree).await;
    commit(&worktree).await;
    let change = worktree.change().await.unwrap().unwrap();
    assert_eq!((change.base.as_str(), change.diffstat.lines().count()), (base.trim(), 2));
    assert_eq!(place.git(&["log", "--format=%s", "teamroom/a1b2c3"]), "Say two\nBegin\n", "committed once");
    let patch = worktree.patch().await.unwrap();
    assert_eq!(patch, place.open().await.patch().await.unwrap());

    // The process was killed while it created the worktree, so the incomplete worktree is created again.
    fs::remove_file(place.home.path().join("worktrees").join(item().as_str()).join("ready")).unwrap();
    fs::remove_file(place.tree().join("run.sh")).unwrap();
    fs::write(git_dir.join("locked"), "initializing").unwrap();
    let worktree = place.open().await;
    assert_eq!(fs::read_to_string(place.tree().join("a.txt")).unwrap(), "two\n");
    assert!(place.tree().join("run.sh").exists() && !git_dir.join("locked").exists());
    assert_eq!(worktree.patch().await.unwrap(), patch);

    // The whole folder was lost. The branch still has the work and its base.
    fs::remove_dir_all(place.home.path().join("worktrees")).unwrap();
    assert_eq!(place.open().await.patch().await.unwrap(), patch);

    // The worktree is removed twice. The branch stays, because it has a commit, and is removed only after that.
    for keep in [true, true] {
        place.repositories.remove(&item(), keep).await.unwrap();
        assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    }
    assert!(place.git(&["branch", "--list", "teamroom/*"]).contains("a1b2c3"));
    place.open().await;
    assert_eq!(place.repositories.list(), [item()]);
    fs::remove_dir_all(place.tree()).unwrap();
    place.repositories.remove(&item(), false).await.unwrap();
    assert_eq!(place.git(&["branch", "--list", "teamroom/*"]), "");
    assert!(place.repositories.list().is_empty());
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn no_path_leads_out_and_no_program_of_the_repository_runs() {
    let place = Place::new(&[]);
    let ran = place.home.path().join("ran");
    let script = place.home.path().join("script.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let program = script.display().to_string();
    for key in
        ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.fsmonitor", "diff.external", "gpg.program", "core.pager"]
    {
        place.git(&["config", key, &program]);
    }
    for (key, value) in [("filter.evil.required", "true"), ("commit.gpgSign", "true")] {
        place.git(&["config", key, value]);
    }
    let hooks = place.settings.path.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in
        ["pre-commit", "post-checkout", "post-commit", "commit-msg", "prepare-commit-msg", "reference-transaction", "post-index-change"]
    {
        fs::copy(&script, hooks.join(hook)).unwrap();
    }
    fs::write(place.settings.path.join(".git/info/attributes"), "*.txt filter=evil diff=evil\n").unwrap();

    let worktree = place.open().await;
    let files = worktree.files().unwrap();
    for path in [".git", ".git/config", "sub/.GIT/hooks/x", "../x", "/etc/x", "out/x", "out/shop/a.txt", "a.txt/../../x"] {
        assert!(files.write(path, b"x").await.is_err(), "{path}");
        assert!(files.read(path, 10).await.is_err() || path == ".git", "{path}");
        assert!(files.delete(path).await.is_err(), "{path}");
    }
    assert!(!place.home.path().join("x").exists());
    files.write("a.txt", b"two\n").await.unwrap();
    files.write("run.sh", b"echo walk\n").await.unwrap();
    files.write("src/main/java/org/example/shop/cart/impl/total/Total.java", b"class Total {}\n").await.unwrap();
    files.write(".gitattributes", b"* filter=evil\n").await.unwrap();
    assert!(worktree.search("two", None).await.unwrap().contains("a.txt:1:two") && worktree.search("-f", None).await.unwrap().is_empty());
    commit(&worktree).await;
    let change = worktree.change().await.unwrap().unwrap();
    worktree.patch().await.unwrap();
    assert!(change.diffstat.contains("4 files changed"), "{}", change.diffstat);
    assert_eq!(fs::metadata(place.tree().join("run.sh")).unwrap().permissions().mode() & 0o111, 0o111, "it is still a program");
    assert!(!ran.exists(), "nothing of it has run");
    place.repositories.remove(&item(), false).await.unwrap();
    assert!(!ran.exists());
}

#[tokio::test]
async fn tests_run_as_they_were_before() {
    let place = Place::new(&["sh", "tests/check.sh"]);
    let worktree = place.open().await;
    let passes = async |version| {
        let ran = worktree.test(version, Duration::from_secs(30), &CancellationToken::new()).await.unwrap().expect("a command");
        match ran {
            Err(kernel::tools::command::CommandError::NotConfined(why)) => {
                skip::missing("landlock", &why);
                None
            }
            ran => Some(ran.unwrap().exit_code == 0),
        }
    };
    let Some(before) = passes(Version::Base).await else { return };
    assert!(!before);
    let files = worktree.files().unwrap();
    files.write("tests/check.sh", b"exit 0\n").await.unwrap();
    assert_eq!(passes(Version::Current).await, Some(true), "not committed yet");
    commit(&worktree).await;
    assert_eq!(passes(Version::WithTestsOfBase).await, Some(false));
    assert_eq!(worktree.change().await.unwrap().unwrap().tests, ["tests/check.sh (changed)"]);
    // A test file is deleted, and a file is added that the test command would use.
    files.delete("tests/check.sh").await.unwrap();
    files.write("tests/conftest.py", b"\n").await.unwrap();
    commit(&worktree).await;
    assert_eq!(worktree.change().await.unwrap().unwrap().tests, ["tests/check.sh (deleted)", "tests/conftest.py (added)"]);
    assert_eq!(passes(Version::WithTestsOfBase).await, Some(false));
    // Now the work itself is right, so the original tests pass.
    files.write("a.txt", b"two\n").await.unwrap();
    commit(&worktree).await;
    assert_eq!(passes(Version::WithTestsOfBase).await, Some(true));
    assert!(!place.home.path().join("worktrees").join(item().as_str()).join("test").exists(), "the copy is gone");
}
