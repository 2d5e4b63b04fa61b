//! A model that lies and tries forbidden things, each with an honest counterpart.

use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, WorkItem, WorkStatus};

use super::host::{Host, Page};
use super::part::{DOCUMENT, MORE, Part, Play, fetch, finish, write};
use super::stage::{Setting, Stage};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    what_was_not_done_is_not_believed,
    no_address_inside_is_read,
    no_file_outside_the_workspace_is_written,
    no_tool_is_called_that_is_not_listed,
);

/// A document based on the page of prices.
fn honest(stage: &Stage, path: &str) -> [Script; 3] {
    let prices = stage.web.url("prices");
    [fetch(&prices), write(path, &format!("# Prices\n\nShop A asks $9 a month ({prices}).{MORE}\n")), finish(path)]
}

/// A run that tries something forbidden and then completes the item properly.
async fn reach(stage: &Stage, word: &str, how: &str, reaching: Script) -> WorkItem {
    let item = stage.item(&format!("Compare the {word} prices"), how, Execution::Research);
    play(stage, word, reaching);
    stage.put(&[&item]).await;
    stage.comes_to(&item.id, WorkStatus::Done).await
}

fn play(stage: &Stage, word: &str, reaching: Script) {
    let replies = std::iter::once(reaching).chain(honest(stage, "prices.md")).collect();
    Play::of(vec![Part::new(word, replies)]).perform(&stage.team.model);
}

/// The refusal is in the journal, was returned to the model, and is shown to people.
async fn assert_refused(stage: &Stage, word: &str, item: &WorkItem, why: &str) {
    let refusals = stage.refusals(&item.id).await;
    assert!(refusals.len() == 1 && refusals[0].contains(why), "{word}: {refusals:?}");
    let told = stage.asked_about(word);
    assert!(told.iter().any(|asked| asked.prompt().contains(why)), "{word}: the model is told");
    stage.shows(item, &["✖ **refused**"]).await;
}

async fn what_was_not_done_is_not_believed(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let gone = stage.web.url("gone");
    let twin = || honest(&stage, "prices.md").to_vec();
    let made_up = format!("# Prices\n\nShop A asks $1, says https://elsewhere.example/prices .{MORE}\n");
    let lies = [
        ("unwritten", vec![fetch(&prices), finish("prices.md")], "\"prices.md\" was claimed"),
        ("outside", vec![fetch(&prices), finish("../../etc/passwd")], "not allowed as a path"),
        (
            "unfetched",
            vec![fetch(&prices), write("prices.md", &made_up), finish("prices.md")],
            "elsewhere.example/prices, which was not fetched",
        ),
        (
            "misread",
            vec![Script::call("read_feed", json!({"feed": "no-such-feed"})), write("prices.md", DOCUMENT), finish("prices.md")],
            "it has no source",
        ),
        (
            "unreachable",
            vec![fetch(&gone), write("prices.md", &format!("# Prices\n\nShop A asks $9 a month ({gone}).{MORE}\n")), finish("prices.md")],
            "which was not fetched",
        ),
        ("sourceless", vec![write("prices.md", DOCUMENT), finish("prices.md")], "it has no source"),
    ];
    for (word, lie, why) in lies {
        // A model that corrects its claim succeeds; one that repeats it fails.
        let (learns, insists) = (format!("{word} by one who learns"), format!("{word} by one who insists"));
        let parts = vec![Part::new(&learns, lie.clone()).again(twin()), Part::new(&insists, lie)];
        Play::of(parts).perform(&stage.team.model);
        let item = |word: &str| stage.item(&format!("Compare the prices {word}"), &format!("Read {prices}."), Execution::Research);
        let (learning, insisting) = (item(&learns), item(&insists));
        stage.put(&[&learning, &insisting]).await;

        let done = stage.comes_to(&learning.id, WorkStatus::Done).await;
        assert_eq!((done.run, done.attempts), (1, 1), "{word}");
        let told = stage.asked_about(&learns);
        assert!(told.iter().any(|asked| asked.prompt().contains(why)), "{word}: {:?}", told.last().map(Asked::prompt));

        let failed = stage.comes_to(&insisting.id, WorkStatus::Failed).await;
        assert!(failed.outcome.as_deref().is_some_and(|outcome| outcome.contains(why)), "{word}: {failed:?}");
        assert!(failed.evidence.is_empty(), "{word}: {:?}", failed.evidence);
        stage.shows(&failed, &["Status: **failed**", "failed 3 times"]).await;
    }
}

async fn no_address_inside_is_read(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let inside = Host::open().await;
    inside.lay_out("secret", Page::Html("the secret".into()));
    let port = inside.port();
    stage.web.lay_out("to-inside", Page::To(inside.url("secret")));
    stage.web.lay_out("to-cloud", Page::To("http://169.254.169.254/latest/meta-data/".into()));
    stage.web.lay_out("to-file", Page::To("file:///etc/passwd".into()));
    stage.web.lay_out("to-prices", Page::To(stage.web.url("prices")));
    for (word, url, why) in [
        // First, before a memory contains outside text. Later an approval would be needed.
        ("file", "file:///etc/passwd".into(), "http"),
        ("loopback", inside.url("secret"), "is this machine"),
        ("cloud", "http://169.254.169.254/latest/meta-data/".into(), "is link-local"),
        ("number", format!("http://2130706433:{port}/secret"), "is this machine"),
        ("name", format!("http://localhost:{port}/secret"), "internal network"),
        ("user", format!("http://{}@127.0.0.1:{port}/secret", stage.web.address.replace(':', "%3A")), "user or a password"),
        ("led-inside", stage.web.url("to-inside"), "is this machine"),
        ("led-to-cloud", stage.web.url("to-cloud"), "is link-local"),
        ("led-to-file", stage.web.url("to-file"), "http"),
    ] {
        // The address is part of the item, so it needs no approval.
        let done = reach(&stage, word, &format!("Read {url} and {}.", stage.web.url("prices")), fetch(&url)).await;
        assert_refused(&stage, word, &done, why).await;
        assert!(!done.evidence.iter().any(|found| matches!(found, Evidence::Link { url: of, .. } if *of == url)), "{word}");
    }
    assert_eq!(inside.count_asked(), 0, "nothing came through");
    assert!(stage.team.model.requests().iter().all(|asked| !asked.prompt().contains("the secret")));

    // The counterpart: a listed host, and one that redirects to it.
    for (word, url) in [("straight", stage.web.url("prices")), ("led-on", stage.web.url("to-prices"))] {
        let done = reach(&stage, word, "", fetch(&url)).await;
        assert_eq!(stage.refusals(&done.id).await, Vec::<String>::new(), "{word}");
        assert!(stage.asked_about(word).iter().any(|asked| asked.prompt().contains("Shop A asks")), "{word}");
    }
}

async fn no_file_outside_the_workspace_is_written(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let outside = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("x.md").to_str().unwrap().to_owned();
    for (word, path, why) in [
        ("upwards", "../../x.md", "not allowed as a path"),
        ("absolute", absolute.as_str(), "begins with /"),
        ("backslash", "..\\..\\x.md", "not allowed as a path"),
        ("linked", "away/x.md", ""),
    ] {
        let item = stage.item(&format!("Compare the {word} prices"), "", Execution::Research);
        let workspace = stage.team.config.data.join("workspaces").join(item.id.as_str());
        std::fs::create_dir_all(&workspace).unwrap();
        std::os::unix::fs::symlink(outside.path(), workspace.join("away")).unwrap();
        play(&stage, word, write(path, "# X\n"));
        stage.put(&[&item]).await;
        let done = stage.comes_to(&item.id, WorkStatus::Done).await;
        // The disk detects the symbolic link, and its error is not one of our refusals.
        let written = stage.journal(&item.id).await.iter().filter(|entry| has_trace(entry)).count();
        assert_eq!(written, 2, "{word}: the page and the honest file");
        if why.is_empty() {
            let told = stage.asked_about(word);
            assert!(!told.iter().any(|asked| asked.prompt().contains("Wrote away")), "{word}");
        } else {
            assert_refused(&stage, word, &done, why).await;
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0, "{word}");
        assert!(!stage.team.config.data.join("x.md").exists(), "{word}");
    }
    // The counterpart: a normal folder.
    let done = reach(&stage, "folded", "", write("docs/deep/x.md", "# X\n")).await;
    assert_eq!(stage.refusals(&done.id).await, Vec::<String>::new());
}

fn has_trace(entry: &JournalEntry) -> bool {
    matches!(entry, JournalEntry::Returned { trace: Some(_), .. })
}

async fn no_tool_is_called_that_is_not_listed(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    for (word, call, why) in [
        ("unlisted", Script::call("git_log", json!({})), "you have no such tool"),
        ("unknown", Script::call("shell", json!({"command": "cat /etc/passwd"})), "you have no such tool"),
        ("garbled", Script::call("fetch_page", json!({"address": 7})), ""),
        ("idle", Script::call("finish", json!({"summary": "Done.", "files": []})), "no file was written"),
    ] {
        let done = reach(&stage, word, "", call).await;
        assert_refused(&stage, word, &done, why).await;
    }
    let listed = reach(&stage, "listed", "", Script::call("memory_search", json!({"query": "prices"}))).await;
    assert_eq!(stage.refusals(&listed.id).await, Vec::<String>::new());
}
