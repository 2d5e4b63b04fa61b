use super::*;
use crate::testing::feeds::now;

fn commit(author: &str, subject: &str, files: &[(&str, u64, u64)]) -> Commit {
    let file = |(path, added, removed): &(&str, u64, u64)| FileChange { path: (*path).into(), added: *added, removed: *removed };
    let files = files.iter().map(file).collect();
    Commit { hash: format!("{:07x}", subject.len()), at: Some(now()), author: author.into(), subject: subject.into(), files }
}

fn branch(name: &str, days: i64, commits: Option<u64>) -> Branch {
    Branch { name: name.into(), hash: "abc".into(), at: now() - TimeDelta::days(days), author: "Ann".into(), commits }
}

/// The last day.
fn lately() -> FeedQuery {
    FeedQuery { now: now(), since: now() - TimeDelta::days(1), until: now(), limit: 20 }
}

#[test]
fn a_repository_is_told_by_who_where_what_kind_and_how_large() {
    let commits = [
        commit("Ann", "Retry lost jobs", &[("internal/jobexecutor/executor.go", 40, 9), ("internal/jobexecutor/executor_test.go", 60, 0)]),
        commit("Bob", "Bump pgx", &[("go.mod", 1, 1), ("go.sum", 900, 900)]),
        commit("Ann", "Say how to migrate", &[("docs/migrating.md", 30, 2), ("README.md", 2, 0)]),
        commit("Cid", "Cover snoozing", &[("internal/jobexecutor/snooze_test.go", 25, 0)]),
        commit("Dan", "Merge branch 'x'", &[]),
    ];
    let open = [branch("fix-retry", 2, Some(3)), branch("spike", 0, Some(1)), branch("old-idea", 90, None)];
    let told = tell(&commits, 5, &open, &lately());
    assert_eq!(
        told,
        [
            "5 commits by Ann (2), Bob (1), Cid (1) and 1 other, mostly in internal/jobexecutor (2), the top folder (2), docs (1).",
            "Of them 1 changes code, 1 only tests, 1 only docs, 1 only dependencies.",
            "`000000f` Retry lost jobs (Ann, 2 files, +100 −9)",
            "`0000012` Say how to migrate (Ann, 2 files, +32 −2)",
            "Not merged: fix-retry (3 commits by Ann, 2 days old), spike (1 commit by Ann, today), 1 more.",
        ]
    );
}

#[test]
fn few_commits_are_told_whole_and_none_not_at_all() {
    let empty = [commit("Ann", "Begin", &[])];
    assert_eq!(tell(&empty, 1, &[], &lately()), ["1 commit by Ann.", "`0000005` Begin (Ann)"]);
    assert!(tell(&[], 0, &[], &lately()).is_empty());
    assert!(tell(&[], 0, &[branch("x", 2, None), branch("y", 40, None)], &lately()).is_empty(), "nothing moved");
    assert_eq!(tell(&[], 0, &[branch("x", 0, None)], &lately()), ["Not merged: x (Ann, today)."]);
    let old = tell(&empty, 1, &[branch("y", 40, None)], &lately());
    assert_eq!(old[2], "Not merged: 1 without commits for a month.");
    let lock = [commit("Ann", "Lock", &[("Cargo.lock", 9, 9)])];
    assert_eq!(tell(&lock, 1, &[], &lately()), ["1 commit by Ann, in the top folder.", "`0000004` Lock (Ann, 1 file, +9 −9)"]);
    let wide = [commit("Ann", "Rename", &[("a/x.go", 1, 1), ("b/x.go", 1, 1), ("c/x.go", 1, 1), ("d/x.go", 1, 1)])];
    assert_eq!(tell(&wide, 1, &[], &lately())[0], "1 commit by Ann, in a, b, c and 1 more.");
    let told = tell(&empty, 446, &[], &lately());
    assert_eq!(told[0], "446 commits by Ann (of the newest 1).");
}

#[test]
fn a_file_has_a_kind_by_its_path() {
    for (path, kind) in [
        ("client.go", Kind::Code),
        ("client_test.go", Kind::Tests),
        ("src/features/tests/mod.rs", Kind::Tests),
        ("web/cart.test.ts", Kind::Tests),
        ("README.md", Kind::Docs),
        (".github/workflows/ci.yaml", Kind::Automation),
        ("driver/go.sum", Kind::Dependencies),
        ("contest.rs", Kind::Code),
    ] {
        assert_eq!(Kind::of(path), kind, "{path}");
    }
}

#[test]
fn the_history_counts_commits_at_the_end_of_each_day() {
    let at = |days| now() - TimeDelta::days(days) - TimeDelta::hours(1);
    let counted = count_by_day(5, &[at(0), at(0), at(2), at(3)], now() - TimeDelta::days(4), now());
    let days: Vec<_> = counted.iter().map(|(day, count)| ((now() - *day).num_days(), *count)).collect();
    assert_eq!(days, [(4, 1.0), (3, 2.0), (2, 3.0), (1, 3.0), (0, 5.0)]);
    assert_eq!(count_by_day(1, &[at(0)], now() - TimeDelta::days(30), now()).len(), 1, "nothing is counted before the first commit");
}
