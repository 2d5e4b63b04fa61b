//! Claims about files and sources.

use kernel::tools::{CallStatus, Trace};
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, WorkItem};
use teamroom::features::backlog::verifier::Verdict;

use super::{evidence, reasons};
use crate::support::skip;
use crate::work::stage::{Stage, called, ended, fetched, fetched_from, file, item, returned};

const REPORT: &str = "# Prices\n\nScanner A asks nine dollars, says https://a.example/x, and scanner B asks four of us.\n";
/// Research with a report that cites fetched pages.
async fn researched(stage: &Stage) -> (WorkItem, Vec<JournalEntry>) {
    let item = item(Execution::Research);
    let journal = vec![fetched("https://a.example/x"), stage.write(&item, "prices.md", REPORT.as_bytes()).await];
    (item, journal)
}

#[tokio::test]
async fn research_with_its_sources_goes_to_review_with_evidence() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    let Verdict::ForReview { evidence, why } = stage.verify(&item, &[file("prices.md")], &journal).await else { panic!("not for review") };
    let [Evidence::File { path, bytes, form, sha256 }, Evidence::Link { url, .. }] = evidence.as_slice() else { panic!("{evidence:?}") };
    assert_eq!((path.as_str(), *bytes, sha256.len()), ("prices.md", REPORT.len() as u64, 64));
    assert_eq!((form.as_str(), url.as_str()), ("Markdown, 3 lines, 1 heading, 14 words", "https://a.example/x"));
    assert_eq!(why, "code cannot judge its quality");
}

#[tokio::test]
async fn files_that_were_not_written_prove_nothing() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    for (path, why) in [
        ("other.md", "\"other.md\" was claimed, but"),
        ("../../x", "\"../../x\" was claimed, but"),
        ("/etc/passwd", "\"/etc/passwd\" was claimed, but"),
        ("", "\"\" was claimed, but"),
    ] {
        let told = reasons(stage.verify(&item, &[file("prices.md"), file(path)], &journal).await);
        assert!(told.contains(why), "{path}: {told}");
    }
    assert_eq!(evidence(stage.verify(&item, &[file("prices.md")], &journal).await).len(), 2, "the twin");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_out_of_the_workspace_proves_nothing() {
    let stage = Stage::on_sqlite().await;
    let (item, mut journal) = researched(&stage).await;
    let outside = stage.directory.path().join("outside.md");
    std::fs::write(&outside, REPORT).unwrap();
    std::os::unix::fs::symlink(&outside, stage.workspaces.open(&item.id).await.unwrap().path().join("link.md")).unwrap();
    // This is refused even if the journal had the same contents under the link's name.
    let Some(JournalEntry::Returned { trace: Some(Trace::Wrote { sha256, bytes, .. }), .. }) = journal.pop() else { panic!("written") };
    journal.push(returned("write", false, Some(Trace::Wrote { path: "link.md".into(), sha256, bytes })));
    assert!(reasons(stage.verify(&item, &[file("link.md")], &journal).await).contains("\"link.md\" was claimed, but"));
}

#[tokio::test]
async fn a_file_proves_nothing_unless_a_run_of_its_item_wrote_it_as_it_is() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    let not_written = "is not as a call of this item wrote it";
    assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal[..1]).await).contains(not_written), "nobody wrote it");
    for status in [CallStatus::Refused, CallStatus::Failed] {
        let not_made = [journal[0].clone(), ended(journal[1].clone(), status)];
        assert!(reasons(stage.verify(&item, &[file("prices.md")], &not_made).await).contains(not_written));
    }
    stage.write(&item, "prices.md", REPORT.replace("nine", "two").as_bytes()).await;
    assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal).await).contains(not_written), "changed since");
}

#[tokio::test]
async fn what_an_earlier_try_has_read_and_written_still_counts() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    let item = WorkItem { run: 1, ..item };
    let found = evidence(stage.verify_again(&item, &[file("prices.md")], &journal, &[]).await);
    assert!(found.iter().any(|found| matches!(found, Evidence::Link { .. })), "{found:?}");
    let mended = stage.write(&item, "prices.md", REPORT.replace("nine", "ten").as_bytes()).await;
    evidence(stage.verify_again(&item, &[file("prices.md")], &journal, &[mended]).await);
}

#[tokio::test]
async fn a_file_has_the_form_that_its_name_promises() {
    let stage = Stage::on_sqlite().await;
    let item = item(Execution::Write);
    for (path, bad, why, good) in [
        ("empty.txt", &b" \n"[..], "\"empty.txt\" is empty", &b"Something."[..]),
        ("a.md", b"# Prices\n\nSoon.", "says nothing below its headings", REPORT.as_bytes()),
        ("a.json", b"{\"a\":", "is no JSON", b"{\"a\": 1}"),
        ("a.csv", b"a,b\n1\n", "is no table", b"a,b\n1,2\n"),
        ("a.toml", b"a = ", "is no TOML", b"a = 1"),
        ("a.yaml", b"a: [", "is no YAML", b"a: [1]"),
        ("a.txt", &[0xff, 0xfe, 0x00], "is no UTF-8 text", "gr\u{fc}n".as_bytes()),
    ] {
        let journal = [fetched("https://a.example/x"), stage.write(&item, path, bad).await];
        let told = reasons(stage.verify(&item, &[file(path)], &journal).await);
        assert!(told.contains(why), "{path}: {told}");
        let journal = [fetched("https://a.example/x"), stage.write(&item, path, good).await];
        evidence(stage.verify(&item, &[file(path)], &journal).await);
    }
}

#[tokio::test]
async fn a_page_that_was_not_fetched_cannot_be_cited() {
    let stage = Stage::on_sqlite().await;
    let item = WorkItem { why: "The list is at https://given.example/list".into(), ..item(Execution::Research) };
    let cites = |links: &str| format!("# Prices\n\nScanner A asks nine dollars a month and scanner B asks four. {links}\n");
    let fetches = [fetched("https://a.example/x#top"), fetched_from("http://b.example/old", "https://b.example/new/")];
    for (links, wrong) in [
        ("https://a.example/x", vec![]),
        ("[A](https://a.example/x#prices) and <HTTPS://A.example:443/x>", vec![]),
        ("[B](https://b.example/new), [B before][1]\n\n[1]: http://b.example/old", vec![]),
        ("Given: https://given.example/list.", vec![]),
        ("[A](https://a.example/y)", vec!["https://a.example/y"]),
        ("<https://c.example> and [d]\n\n[d]: https://d.example/z 'z'", vec!["https://c.example", "https://d.example/z"]),
        ("http://a.example/x", vec!["http://a.example/x"]),
        ("https://a.example/x?page=2", vec!["https://a.example/x?page=2"]),
        ("[hidden](https&colon;//c.example)", vec!["https://c.example"]),
        ("www.c.example", vec!["www.c.example"]),
        ("https://a.example@c.example/x", vec!["https://a.example@c.example/x"]),
    ] {
        let mut journal = fetches.to_vec();
        journal.push(stage.write(&item, "prices.md", cites(links).as_bytes()).await);
        let verdict = stage.verify(&item, &[file("prices.md")], &journal).await;
        if wrong.is_empty() {
            evidence(verdict);
            continue;
        }
        let told = reasons(verdict);
        for address in &wrong {
            assert!(told.contains(&format!("names {address}, which was not fetched for it")), "{links}: {told}");
        }
        assert_eq!(told.lines().count(), wrong.len(), "{told}");
    }
}

#[tokio::test]
async fn a_fetch_that_was_refused_or_failed_is_no_source() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    for status in [CallStatus::Refused, CallStatus::Failed] {
        let journal = [ended(journal[0].clone(), status), journal[1].clone()];
        let told = reasons(stage.verify(&item, &[file("prices.md")], &journal).await);
        assert!(told.contains("https://a.example/x, which was not fetched") && told.contains("it has no source"), "{told}");
    }
}

#[tokio::test]
async fn research_rests_on_something_that_was_read() {
    let stage = Stage::on_sqlite().await;
    let item = item(Execution::Research);
    let text = "# Prices\n\nScanner A asks nine dollars a month and scanner B asks four of us.\n";
    let written = stage.write(&item, "prices.md", text.as_bytes()).await;
    let read = |tool: &str| [called("1", tool), returned("1", true, None), written.clone()];
    for tool in ["read_feed", "git_log", "http_get"] {
        evidence(stage.verify(&item, &[file("prices.md")], &read(tool)).await);
    }
    let ended_read = |status| {
        let [call, result, written] = read("read_feed");
        vec![call, ended(result, status), written]
    };
    // The same call id, used for another tool.
    let renamed = [called("1", "read_feed"), called("1", "memory_search"), returned("1", true, None), written.clone()];
    for journal in [
        vec![written.clone()],
        read("web_search").to_vec(),
        ended_read(CallStatus::Refused),
        ended_read(CallStatus::Failed),
        renamed.to_vec(),
    ] {
        assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal).await).contains("it has no source"), "{journal:?}");
    }
    let written_only = WorkItem { execution: Some(Execution::Write), ..item };
    evidence(stage.verify(&written_only, &[file("prices.md")], &[written]).await);
}

/// An item whose result is tested by this command.
async fn built(command: &[&str], criteria: &[&str]) -> Verdict {
    let mut stage = Stage::on_sqlite().await;
    stage.verifier.settings.test_command = command.iter().map(|word| (*word).to_owned()).collect();
    let criteria = criteria.iter().map(|words| (*words).to_owned()).collect();
    let item = WorkItem { criteria, ..item(Execution::Build) };
    // A picture and an unfetched address: built files need not be text and need no citations.
    let written = stage.write(&item, "src/a.bin", &[0xff, 0x00]).await;
    let documented = stage.write(&item, "src/a.rs", b"// See https://never.example\nfn main() {}\n").await;
    stage.verify(&item, &[file("src/a.bin"), file("src/a.rs")], &[written, documented]).await
}

#[tokio::test]
async fn what_is_built_is_tested_where_that_can_be_confined_and_judged_where_not() {
    let not_tested = "code cannot judge its quality";
    assert!(matches!(built(&[], &[]).await, Verdict::ForReview { why, .. } if why == not_tested));
    let passed = built(&["true"], &[]).await;
    if let Verdict::ForReview { why, .. } = &passed {
        assert!(why.contains("cannot confine") && why.contains(not_tested), "{why}");
        return skip::missing("landlock", why);
    }
    assert!(evidence(passed).iter().any(|found| matches!(found, Evidence::Test { exit_code: 0, .. })));
    assert!(matches!(built(&["true"], &["It is good"]).await, Verdict::ForReview { why, .. } if why == "its criteria are in prose"));
    assert!(reasons(built(&["sh", "-c", "echo 2 tests failed; exit 3"], &[]).await).contains("ended with 3: 2 tests failed"));
    assert!(matches!(built(&["no-such-program-here"], &[]).await, Verdict::ForReview { .. }));
}
