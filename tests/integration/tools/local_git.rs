//! The git tools, also with a malicious repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernel::tools::ToolError;
use kernel::tools::git::{GitFolders, git_tools};
use serde_json::json;

use super::local::Bench;
use crate::support::git::git;

/// A repository of three commits whose configuration runs programs wherever possible.
async fn bench() -> (Bench, PathBuf) {
    let bench = Bench::alone().await;
    let work = bench.directory.path().join("work");
    fs::create_dir(&work).unwrap();
    git(&work, &["init", "--quiet", "--initial-branch=main"]);
    for (number, path) in [(1, "a.txt"), (2, "docs/b.txt"), (3, "a.txt")] {
        fs::create_dir_all(work.join("docs")).unwrap();
        fs::write(work.join(path), format!("line {number}\n")).unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "--quiet", "-m", &format!("Change number {number}")]);
    }
    git(&work, &["tag", "v1", "HEAD~1"]);
    (bench, work)
}

#[tokio::test]
async fn the_newest_commits_are_listed_also_of_one_path() {
    let (bench, _work) = bench().await;
    let log = bench.call("git_log", json!({})).await.unwrap();
    let subjects: Vec<_> = log.text.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!((subjects, log.outside), (vec!["Change number 3", "Change number 2", "Change number 1"], true));
    assert!(log.text.lines().all(|line| line.contains(" Ada: ")), "{}", log.text);
    assert_eq!(bench.text("git_log", json!({"limit": 1})).await.lines().count(), 1);
    assert_eq!(bench.text("git_log", json!({"limit": 4_000_000})).await.lines().count(), 3);
    assert_eq!(bench.text("git_log", json!({"path": "docs"})).await.lines().count(), 1);
    assert_eq!(bench.text("git_log", json!({"path": "none"})).await, "There are no such commits.");
}

#[tokio::test]
async fn what_changed_between_two_commits_is_shown() {
    let (bench, _work) = bench().await;
    let diff = bench.call("git_diff", json!({"from": "HEAD~2"})).await.unwrap();
    assert!(diff.outside && diff.text.contains("-line 1\n+line 3") && diff.text.contains("+line 2"), "{}", diff.text);
    let earlier = bench.text("git_diff", json!({"from": "HEAD~2", "to": "v1"})).await;
    assert!(earlier.contains("+line 2") && !earlier.contains("line 3"), "{earlier}");
    let one = bench.text("git_diff", json!({"from": "HEAD~2", "path": "docs"})).await;
    assert!(one.contains("+line 2") && !one.contains("a.txt"), "{one}");
    assert_eq!(bench.text("git_diff", json!({"from": "main"})).await, "There is no difference.");
}

#[tokio::test]
async fn nothing_that_a_model_names_becomes_an_option_or_leaves_the_repository() {
    let (bench, _work) = bench().await;
    let target = bench.directory.path().join("written");
    let output = format!("--output={}", target.display());
    for from in [
        "--help",
        "-p",
        &output,
        "--no-index",
        "",
        "HEAD -p",
        "HEAD\n--output=x",
        "HEAD:a.txt",
        "no-such-branch",
        "--end-of-options",
        "HEAD\0",
    ] {
        let told = bench.refusal("git_diff", json!({"from": from})).await;
        assert!(told.ends_with("names no commit"), "{from:?}: {told}");
        assert!(bench.refusal("git_diff", json!({"from": "HEAD", "to": from})).await.ends_with("names no commit"), "{from:?}");
    }
    // After `--` they are file names, and no such files exist.
    for path in ["--output=x", &output, "-p", ":(top)", ":!a.txt", "*"] {
        assert_eq!(bench.text("git_diff", json!({"from": "HEAD~2", "path": path})).await, "There is no difference.", "{path}");
        assert_eq!(bench.text("git_log", json!({"path": path})).await, "There are no such commits.", "{path}");
    }
    for path in ["/etc/passwd", "../../x", "../written"] {
        let told = bench.refusal("git_log", json!({"path": path})).await;
        assert!(told.starts_with("git said: fatal: ") && told.contains("outside repository"), "{told}");
    }
    assert_eq!(bench.refusal("git_log", json!({"path": "a\0b"})).await, "a path holds no NUL");
    assert!(!target.exists() && !Path::new("x").exists());
}

#[tokio::test]
async fn programs_that_a_repository_names_are_not_run() {
    let (bench, work) = bench().await;
    let ran = bench.directory.path().join("ran");
    let script = bench.directory.path().join("script.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat \"$1\"\n", ran.display())).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = script.display().to_string();
    for key in
        ["diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager", "core.fsmonitor", "gpg.program", "core.sshCommand"]
    {
        git(&work, &["config", key, &program]);
    }
    git(&work, &["config", "log.showSignature", "true"]);
    fs::write(work.join(".git/info/attributes"), "* diff=evil\n").unwrap();
    let hooks = work.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        fs::copy(&script, hooks.join(hook)).unwrap();
    }
    assert!(bench.text("git_diff", json!({"from": "HEAD~2"})).await.contains("-line 1\n+line 3"));
    assert_eq!(bench.text("git_log", json!({})).await.lines().count(), 3);
    assert!(!ran.exists());
    // For comparison: plain git runs these programs.
    Command::new("git").arg("-C").arg(&work).args(["--no-pager", "diff", "HEAD~2", "HEAD"]).output().unwrap();
    assert!(ran.exists(), "the trap is set rightly");
}

#[tokio::test]
async fn a_difference_of_any_size_is_taken_only_so_far() {
    let (bench, work) = bench().await;
    fs::write(work.join("large.txt"), "another line of a very long file\n".repeat(400_000)).unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", "Add what is large"]);
    let diff =
        tokio::time::timeout(std::time::Duration::from_mins(1), bench.text("git_diff", json!({"from": "HEAD~1"}))).await.expect("in time");
    assert!((200_000..=256 * 1024).contains(&diff.len()), "{}", diff.len());
}

#[tokio::test]
async fn a_folder_without_a_repository_and_one_without_commits_are_told() {
    let bench = Bench::alone().await;
    let work = bench.directory.path().join("work");
    assert!(matches!(bench.call("git_log", json!({})).await, Err(ToolError::Failed(_))), "there is no such folder");
    fs::create_dir(&work).unwrap();
    assert!(bench.refusal("git_log", json!({})).await.contains("not a git repository"));
    git(&work, &["init", "--quiet"]);
    assert!(bench.refusal("git_log", json!({})).await.starts_with("git said: fatal: "));
    assert_eq!(bench.refusal("git_diff", json!({"from": "HEAD"})).await, "\"HEAD\" names no commit");
}

#[tokio::test]
async fn a_commit_is_shown_with_its_message_and_what_it_changed() {
    let (bench, _work) = bench().await;
    let shown = bench.call("git_show", json!({"commit": "v1"})).await.unwrap();
    assert!(
        shown.outside && shown.text.contains("Author: Ada\n") && shown.text.contains("Change number 2") && shown.text.contains("+line 2")
    );
    assert_eq!(bench.text("git_show", json!({"commit": "v1", "path": "a.txt"})).await, "It changed nothing there.");
    for commit in ["--help", "--output=x", "HEAD:a.txt", ""] {
        assert!(bench.refusal("git_show", json!({"commit": commit})).await.ends_with("names no commit"), "{commit}");
    }
}

#[tokio::test]
async fn a_persona_reads_the_repository_of_its_own_feed() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["work", "feed", "second", "configured"] {
        let work = directory.path().join(name);
        fs::create_dir(&work).unwrap();
        git(&work, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(work.join("a.txt"), name).unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "--quiet", "-m", &format!("Begin {name}")]);
    }
    let at = |name: &str| (name.to_owned(), directory.path().join(name));
    let folders = |feeds: Vec<(String, PathBuf)>, configured| GitFolders {
        work: directory.path().join("work"),
        of_persona: [("vince".into(), feeds)].into(),
        configured,
    };
    let bench = async |folders| Bench { tools: git_tools(folders).into(), ..Bench::alone().await };
    let own = bench(folders(vec![at("feed"), at("second")], vec![at("configured")])).await;
    for (named, found) in [(None, "feed"), (Some("second"), "second"), (Some("configured"), "configured")] {
        assert!(own.text("git_log", json!({"repository": named.unwrap_or("feed")})).await.ends_with(&format!("Begin {found}")));
        if named.is_none() {
            assert!(own.text("git_log", json!({})).await.ends_with("Begin feed"));
            assert!(own.text("git_show", json!({"commit": "HEAD"})).await.contains("Begin feed"));
        }
    }
    let told = own.refusal("git_diff", json!({"from": "HEAD", "repository": "../../x"})).await;
    assert_eq!(told, "there is no repository \"../../x\"; there are feed, second, configured");
    let without = bench(folders(Vec::new(), vec![at("configured")])).await;
    assert!(without.text("git_log", json!({})).await.ends_with("Begin configured"));
    let alone = bench(folders(Vec::new(), Vec::new())).await;
    assert!(alone.text("git_log", json!({})).await.ends_with("Begin work"));
}
