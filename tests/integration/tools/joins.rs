//! Work that builds on the work of others: their branches are joined, own changes are told from theirs, and a killed process does no harm.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use futures_util::future::join_all;
use kernel::ids::WorkItemId;
use kernel::repository::{Needed, Repositories, RepositoryError, RepositorySettings, Version, Worktree};
use kernel::tools::command::CommandError;
use tokio_util::sync::CancellationToken;

use crate::support::git::git;
use crate::support::skip;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

struct Place {
    home: tempfile::TempDir,
    repositories: Repositories,
    settings: RepositorySettings,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("shop");
        fs::create_dir_all(path.join("tests")).unwrap();
        for (name, text) in [
            ("a.txt", LINES),
            ("gone.txt", "old\n"),
            ("notes.md", "Notes\n=======\nnone\n"),
            ("tests/run.sh", "for test in tests/*_test.sh; do sh $test || exit 1; done\n"),
            ("tests/nine_test.sh", "grep -q 9 a.txt\n"),
        ] {
            fs::write(path.join(name), text).unwrap();
        }
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
        git(&path, &["add", "."]);
        git(&path, &["commit", "--quiet", "-m", "Begin"]);
        let test_command = ["sh", "tests/run.sh"].map(str::to_owned).into();
        let settings = RepositorySettings { name: "shop".into(), path, test_command, tests: Vec::new() };
        let repositories = Repositories::new(vec![settings.clone()], &home.path().join("worktrees"));
        Self { home, repositories, settings }
    }

    async fn try_open(&self, item: &str, needs: &[&Needed]) -> Result<Worktree, RepositoryError> {
        let needs: Vec<Needed> = needs.iter().map(|need| (*need).clone()).collect();
        self.repositories.open(&self.settings, &id(item), item, &needs).await
    }

    async fn open(&self, item: &str, needs: &[&Needed]) -> Worktree {
        self.try_open(item, needs).await.unwrap()
    }

    /// Does an item: writes these files, commits them and removes the worktree.
    async fn done(&self, item: &str, needs: &[&Needed], files: &[(&str, &str)]) -> Needed {
        let worktree = self.open(item, needs).await;
        for (path, text) in files {
            worktree.files().unwrap().write(path, text.as_bytes()).await.unwrap();
        }
        let done = commit(&worktree, item).await;
        self.repositories.remove(&id(item), true).await.unwrap();
        done
    }

    fn home_of(&self, item: &str) -> PathBuf {
        self.home.path().join("worktrees").join(id(item).as_str())
    }

    fn read(&self, item: &str, path: &str) -> String {
        fs::read_to_string(self.home_of(item).join(id(item).as_str()).join(path)).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.settings.path, arguments)
    }

    fn tip(&self, item: &str) -> String {
        self.git(&["rev-parse", &format!("teamroom/{item}")]).trim().to_owned()
    }

    fn branches(&self) -> String {
        self.git(&["branch", "--list", "--format=%(refname:short)", "teamroom/*"])
    }

    /// Applies a patch to a copy of the main branch. Returns its folder.
    fn apply(&self, patch: &[u8]) -> PathBuf {
        let copy = self.home.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        fs::write(self.home.path().join("change.patch"), patch).unwrap();
        git(self.home.path(), &["clone", "--quiet", "shop", "copy"]);
        git(&copy, &["apply", "../change.patch"]);
        copy
    }
}

fn id(item: &str) -> WorkItemId {
    format!("0192f0a1b2c3d4e5f60718293a4b{item}").into()
}

async fn commit(worktree: &Worktree, item: &str) -> Needed {
    worktree.commit(("Vince", "vince"), item).await.unwrap();
    let commit = worktree.change().await.unwrap().expect("a change").commit;
    Needed { title: format!("Do {item}"), branch: worktree.branch().to_owned(), commit }
}

/// The lines with some of them replaced.
fn with(lines: &[(&str, &str)]) -> String {
    lines.iter().fold(LINES.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// Whether the tests pass. None where they cannot be confined.
async fn passes(worktree: &Worktree, version: Version) -> Option<bool> {
    match worktree.test(version, Duration::from_secs(30), &CancellationToken::new()).await.unwrap().expect("a command") {
        Err(CommandError::NotConfined(why)) => {
            skip::missing("landlock", &why);
            None
        }
        ran => Some(ran.unwrap().exit_code == 0),
    }
}

fn run_tests(folder: &Path) -> bool {
    Command::new("sh").arg("tests/run.sh").current_dir(folder).status().unwrap().success()
}

#[tokio::test]
async fn branches_are_joined_and_the_patch_has_all_of_it() {
    let place = Place::new();
    // A person's own git settings do not keep others from applying a patch.
    place.git(&["config", "diff.noprefix", "true"]);
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one")])), ("tests/one_test.sh", "grep -q one a.txt\n")]).await;
    let nine = place.done("0000a2", &[], &[("a.txt", &with(&[("9", "nine, not 9")])), ("b.txt", "new\n")]).await;
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1, "only the branches are left");

    let both = place.open("0000b1", &[&one, &nine]).await;
    assert_eq!(place.read("0000b1", "a.txt"), with(&[("1", "one"), ("9", "nine, not 9")]));
    assert!(both.builds_on_others() && both.conflicts().is_empty());
    assert!(both.has_changes().await.unwrap(), "a join is a change");
    let change = both.change().await.unwrap().unwrap();
    assert_eq!(change.base, place.git(&["rev-parse", "main"]).trim());
    assert!(change.diffstat.contains("3 files changed") && change.tests.is_empty(), "the tests of others were judged: {change:?}");
    let copy = place.apply(&both.patch().await.unwrap());
    assert_eq!(fs::read_to_string(copy.join("a.txt")).unwrap(), place.read("0000b1", "a.txt"));
    assert!(copy.join("b.txt").exists() && run_tests(&copy));

    // The tests that the needed items added count, and cannot be changed.
    let Some(before) = passes(&both, Version::Base).await else { return };
    assert!(before && passes(&both, Version::WithTestsOfBase).await == Some(true));
    let files = both.files().unwrap();
    files.write("a.txt", with(&[("9", "nine, not 9")]).as_bytes()).await.unwrap();
    files.write("tests/one_test.sh", b"exit 0\n").await.unwrap();
    commit(&both, "0000b1").await;
    assert_eq!(passes(&both, Version::Current).await, Some(true));
    assert_eq!(passes(&both, Version::WithTestsOfBase).await, Some(false));
    assert_eq!(passes(&both, Version::WithTestsOfOthers).await, Some(false));
    assert_eq!(both.change().await.unwrap().unwrap().tests, ["tests/one_test.sh (changed)"]);

    // A test that the repository had before may be changed. A reviewer judges the change.
    files.write("a.txt", with(&[("1", "one"), ("9", "nine")]).as_bytes()).await.unwrap();
    files.write("tests/one_test.sh", b"grep -q one a.txt\n").await.unwrap();
    files.write("tests/nine_test.sh", b"grep -q nine a.txt\n").await.unwrap();
    commit(&both, "0000b1").await;
    assert_eq!(passes(&both, Version::WithTestsOfBase).await, Some(false));
    assert_eq!(passes(&both, Version::WithTestsOfOthers).await, Some(true));
}

#[tokio::test]
async fn only_what_is_not_contained_is_joined_and_an_idle_item_leaves_no_branch() {
    let place = Place::new();
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one")]))]).await;
    let nine = place.done("0000a2", &[], &[("a.txt", &with(&[("9", "nine")]))]).await;
    let both = place.done("0000b1", &[&one, &nine], &[]).await;
    assert_eq!(place.tip("0000b1"), both.commit, "the join is kept");
    assert_eq!(place.git(&["log", "--format=%P", "-1", &both.commit]).trim(), format!("{} {}", one.commit, nine.commit));

    let idle = place.open("0000c1", &[&one, &both, &nine, &one]).await;
    assert_eq!(place.tip("0000c1"), both.commit, "nothing is left to join");
    assert!(!idle.has_changes().await.unwrap() && idle.change().await.unwrap().is_none(), "it has done nothing itself");
    place.repositories.remove(&id("0000c1"), true).await.unwrap();
    assert_eq!(place.branches(), "teamroom/0000a1\nteamroom/0000a2\nteamroom/0000b1\n");

    let next = place.open("0000c2", &[&one, &both]).await;
    next.files().unwrap().write("b.txt", b"new\n").await.unwrap();
    commit(&next, "0000c2").await;
    let change = next.change().await.unwrap().unwrap();
    assert!(change.diffstat.contains("2 files changed"), "with all below it: {}", change.diffstat);
    assert!(place.apply(&next.patch().await.unwrap()).join("b.txt").exists());
    place.repositories.remove(&id("0000c2"), false).await.unwrap();
    assert!(!place.branches().contains("0000c2"), "cancelled");
}

#[tokio::test]
async fn a_conflict_is_stored_with_marks_and_told() {
    let place = Place::new();
    let notes = |word: &str| format!("Notes\n=======\n{word}\n");
    let (upper, lower) = ("grep -q 9 a.txt # upper\n", "grep -q 9 a.txt # lower\n");
    let (text, notes_of_one) = (with(&[("1", "one"), ("5", "five")]), notes("one"));
    let one = [("a.txt", &*text), ("notes.md", &notes_of_one), ("tests/nine_test.sh", upper), ("gone.txt", "changed\n")];
    let one = place.done("0000a1", &[], &one).await;
    let worktree = place.open("0000a2", &[]).await;
    worktree.files().unwrap().delete("gone.txt").await.unwrap();
    let texts = [("a.txt", with(&[("5", "V"), ("9", "nine: 9")])), ("notes.md", notes("two")), ("tests/nine_test.sh", lower.to_owned())];
    for (path, text) in texts {
        worktree.files().unwrap().write(path, text.as_bytes()).await.unwrap();
    }
    let two = commit(&worktree, "0000a2").await;
    let three = place.done("0000a3", &[], &[("b.txt", "new\n")]).await;

    let all = place.open("0000b1", &[&three, &one, &two]).await;
    let found = all.conflicts().iter().map(|found| (&*found.path, &*found.above, &*found.below, found.is_marked)).collect::<Vec<_>>();
    let first = ["Do 0000a1".to_owned()];
    let expected = [("a.txt", true), ("gone.txt", false), ("notes.md", true), ("tests/nine_test.sh", true)];
    assert_eq!(found, expected.map(|(path, is_marked)| (path, &first[..], "Do 0000a2", is_marked)), "the third has no part in it");
    let text = place.read("0000b1", "a.txt");
    assert!(text.starts_with("one\n2\n") && text.ends_with("8\nnine: 9\n"), "what does not contradict itself is joined: {text}");
    assert!(text.contains("five\n=======\nV\n"), "both are there: {text}");
    let marks = ["a.txt:5", "a.txt:7", "a.txt:9", "notes.md:3", "notes.md:5", "notes.md:7", "tests/nine_test.sh:1"];
    let left = all.list_marks(None).await.unwrap();
    assert_eq!(left[..7], marks, "an underlined heading is no mark");
    assert!(all.has_changes().await.unwrap());
    let change = all.change().await.unwrap().unwrap();
    assert_eq!(all.list_marks(Some(&change.commit)).await.unwrap(), left);

    let files = all.files().unwrap();
    files.write("a.txt", with(&[("1", "one"), ("5", "five, V"), ("9", "nine: 9")]).as_bytes()).await.unwrap();
    files.write("notes.md", notes("one and two").as_bytes()).await.unwrap();
    files.write("tests/nine_test.sh", b"grep -q 'nine: 9' a.txt\n").await.unwrap();
    assert!(all.list_marks(None).await.unwrap().is_empty());
    assert_eq!(all.list_marks(Some("HEAD")).await.unwrap(), left, "not committed yet");
    let done = commit(&all, "0000b1").await;
    assert!(all.list_marks(Some(&done.commit)).await.unwrap().is_empty());
    assert_eq!(all.change().await.unwrap().unwrap().tests, ["tests/nine_test.sh (conflict resolved)"]);
    assert!(run_tests(&place.apply(&all.patch().await.unwrap())));
    let Some(as_resolved) = passes(&all, Version::WithTestsOfBase).await else { return };
    assert!(as_resolved, "a reviewer judges it, with the marks it would fail");
    // An item that builds on this one does not have to resolve the conflict again.
    let next = place.open("0000c1", &[&one, &two, &done]).await;
    assert!(next.conflicts().is_empty());
}

#[tokio::test]
async fn a_join_is_made_again_wherever_a_process_died() {
    let place = Place::new();
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one"), ("5", "five")]))]).await;
    let two = place.done("0000a2", &[], &[("a.txt", &with(&[("5", "V")]))]).await;
    let needs = [&one, &two];
    let join = place.open("0000b1", &needs).await;
    let (tip, conflicts, text) = (place.tip("0000b1"), join.conflicts().to_vec(), place.read("0000b1", "a.txt"));
    let is_same = async || {
        let again = place.open("0000b1", &needs).await;
        assert_eq!((place.tip("0000b1"), again.conflicts(), place.read("0000b1", "a.txt")), (tip.clone(), &conflicts[..], text.clone()));
    };
    // Killed before the worktree was complete, and before anything was recorded, with and without a branch.
    fs::remove_file(place.home_of("0000b1").join("ready")).unwrap();
    fs::remove_file(place.home_of("0000b1").join(id("0000b1").as_str()).join("a.txt")).unwrap();
    is_same().await;
    for lost in ["record.json", "ready"] {
        fs::remove_file(place.home_of("0000b1").join(lost)).unwrap();
    }
    is_same().await;
    place.repositories.remove(&id("0000b1"), false).await.unwrap();
    is_same().await;

    // When everything but the branch is lost, the commits on it and the needed items are still known.
    let again = place.open("0000b1", &needs).await;
    again.files().unwrap().write("a.txt", with(&[("1", "one"), ("5", "five, V")]).as_bytes()).await.unwrap();
    let done = commit(&again, "0000b1").await;
    let patch = again.patch().await.unwrap();
    fs::remove_dir_all(place.home.path().join("worktrees")).unwrap();
    place.git(&["commit", "--quiet", "--allow-empty", "-m", "Elsewhere"]);
    let again = place.open("0000b1", &needs).await;
    assert_eq!((place.tip("0000b1"), again.patch().await.unwrap()), (done.commit.clone(), patch));
    assert_eq!(again.conflicts(), conflicts);

    // A needed item was done again. Its new commit is joined to the work.
    place.repositories.remove(&id("0000b1"), true).await.unwrap();
    let more = place.done("0000a1", &[], &[("b.txt", "new\n")]).await;
    let again = place.open("0000b1", &[&more, &two]).await;
    assert_eq!(place.git(&["merge-base", &done.commit, "teamroom/0000b1"]).trim(), done.commit);
    assert_eq!(place.git(&["merge-base", &more.commit, "teamroom/0000b1"]).trim(), more.commit);
    assert_eq!(place.read("0000b1", "b.txt"), "new\n");
    assert!(place.read("0000b1", "a.txt").contains("five, V") || !again.list_marks(None).await.unwrap().is_empty(), "nothing is lost");
}

#[tokio::test]
async fn a_branch_that_is_gone_is_named_and_one_that_was_merged_is_not_missed() {
    let place = Place::new();
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one")]))]).await;
    let two = place.done("0000a2", &[], &[("a.txt", &with(&[("9", "nine")]))]).await;
    place.git(&["branch", "--quiet", "-D", "teamroom/0000a2"]);
    let error = place.try_open("0000b1", &[&one, &two]).await.expect_err("it is gone").to_string();
    let restore = format!("git branch --force teamroom/0000a2 {}", &two.commit[..12]);
    assert!(error.contains("teamroom/0000a2 of \"Do 0000a2\" is gone") && error.contains(&restore), "{error}");
    // The branch was moved.
    place.git(&["branch", "teamroom/0000a2", "main"]);
    assert_eq!(place.try_open("0000b1", &[&one, &two]).await.expect_err("it was moved").to_string(), error);
    // The commit no longer exists either.
    let lost = Needed { commit: "1234567890".repeat(4), ..two.clone() };
    let told = place.try_open("0000b1", &[&lost]).await.expect_err("it is lost").to_string();
    assert!(told.contains("has to be done again"), "{told}");

    // A person merged the branch and deleted it.
    place.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", &two.commit]);
    place.git(&["branch", "--quiet", "-D", "teamroom/0000a2"]);
    let both = place.open("0000b1", &[&one, &two]).await;
    assert_eq!(place.read("0000b1", "a.txt"), with(&[("1", "one"), ("9", "nine")]));
    let change = both.change().await.unwrap().unwrap();
    assert_eq!(change.base, place.git(&["rev-parse", "main"]).trim(), "only the rest is to be merged");
    place.apply(&both.patch().await.unwrap());
    let alone = place.open("0000b2", &[&two]).await;
    assert!(!alone.builds_on_others() && !alone.has_changes().await.unwrap(), "HEAD has it");
    assert_eq!(place.tip("0000b2"), change.base);
}

#[tokio::test]
async fn where_the_main_branch_moved_the_patch_is_against_what_both_have() {
    let place = Place::new();
    let elsewhere = |name: &str| {
        fs::write(place.settings.path.join(name), "by a person\n").unwrap();
        place.git(&["add", name]);
        place.git(&["commit", "--quiet", "-m", name]);
        place.git(&["rev-parse", "HEAD"]).trim().to_owned()
    };
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one")]))]).await;
    let second = elsewhere("x.txt");
    let two = place.done("0000a2", &[], &[("a.txt", &with(&[("9", "nine")]))]).await;
    elsewhere("y.txt");
    let both = place.open("0000b1", &[&one, &two]).await;
    let change = both.change().await.unwrap().unwrap();
    assert_eq!(change.base, second);
    assert!(change.diffstat.contains("1 file changed"), "nothing of people's work: {}", change.diffstat);
    let copy = place.apply(&both.patch().await.unwrap());
    assert!(copy.join("y.txt").exists());
    assert_eq!(fs::read_to_string(copy.join("a.txt")).unwrap(), with(&[("1", "one"), ("9", "nine")]));
}

#[tokio::test]
async fn work_on_top_of_another_item_shows_the_patch_of_each() {
    let place = Place::new();
    let one = place.done("0000a1", &[], &[("a.txt", &with(&[("1", "one")]))]).await;
    let next = place.open("0000b1", &[&one]).await;
    let both = with(&[("1", "one"), ("9", "nine")]);
    next.files().unwrap().write("a.txt", both.as_bytes()).await.unwrap();
    commit(&next, "0000b1").await;
    let patch = next.patch().await.unwrap();
    let text = String::from_utf8_lossy(&patch);
    let subjects: Vec<&str> = text.lines().filter(|line| line.starts_with("Subject: ")).collect();
    assert_eq!(subjects, ["Subject: [PATCH 1/2] 0000a1", "Subject: [PATCH 2/2] 0000b1"]);
    assert_eq!(fs::read_to_string(place.apply(&patch).join("a.txt")).unwrap(), both);
}

#[tokio::test]
async fn no_program_of_the_repository_joins() {
    let place = Place::new();
    let ran = place.home.path().join("ran");
    let script = place.home.path().join("script.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let program = script.display().to_string();
    for key in ["merge.evil.driver", "filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "gpg.program"] {
        place.git(&["config", key, &program]);
    }
    place.git(&["config", "merge.default", "evil"]);
    place.git(&["config", "merge.conflictStyle", "diff3"]);
    let hooks = place.settings.path.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-checkout", "post-commit", "post-merge", "pre-merge-commit", "reference-transaction"] {
        fs::copy(&script, hooks.join(hook)).unwrap();
    }
    let attributes = "* merge=evil filter=evil\n";
    fs::write(place.settings.path.join(".git/info/attributes"), attributes).unwrap();
    let text = with(&[("1", "one"), ("5", "five")]);
    let one = place.done("0000a1", &[], &[("a.txt", &text), (".gitattributes", attributes)]).await;
    let two = place.done("0000a2", &[], &[("a.txt", &with(&[("5", "V"), ("9", "nine")]))]).await;
    let both = place.open("0000b1", &[&one, &two]).await;
    let text = place.read("0000b1", "a.txt");
    assert!(text.starts_with("one\n") && text.ends_with("nine\n") && text.contains("five\n=======\nV\n"), "{text}");
    assert_eq!(both.list_marks(None).await.unwrap().len(), 3);
    assert!(!ran.exists(), "nothing of it has run");
    let others = fs::read_dir(place.home_of("0000b1")).unwrap().count();
    assert_eq!(others, 3, "the record, the mark and the tree");
    assert_eq!(fs::read_to_string(place.settings.path.join("a.txt")).unwrap(), LINES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktrees_are_made_and_removed_at_the_same_moment() {
    let place = Place::new();
    for round in 0..3 {
        let items: Vec<String> = (0..12).map(|number| format!("r{round}n{number:02}")).collect();
        let opened = join_all(items.iter().map(|item| place.try_open(item, &[]))).await;
        assert!(opened.iter().all(Result::is_ok), "{opened:#?}");
        let ids: Vec<WorkItemId> = items.iter().map(|item| id(item)).collect();
        let removed = join_all(ids.iter().map(|item| place.repositories.remove(item, false))).await;
        assert!(removed.iter().all(Result::is_ok), "{removed:#?}");
    }
    assert_eq!(place.git(&["branch", "--list", "teamroom/*"]), "");
}
