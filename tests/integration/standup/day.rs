//! From a standup's Day Report to completed items with evidence.

use std::time::Duration;

use serde_json::json;
use teamroom::config::Config;
use teamroom::features::backlog::model::{Evidence, Execution, Judge, Wait, WorkStatus};

use super::stage::PERSON;
use crate::backlog::host::Page;
use crate::backlog::part::{MORE, Part, Play, fetch, finish, write};
use crate::backlog::stage::{HERE, Setting, Stage};
use crate::standup::change;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_a_standup_decides_offline_is_watched_asked_and_brought_to_mind,
    what_a_standup_decides_is_researched_written_and_built,
    from_a_report_to_what_came_of_each_item,
);

/// The text of an item. The worker must get it unchanged.
const LETTER: &str = "One page, as in `letters_of/ann_2.md` [draft] for @ann, ~3 lines.";

const START: &str = "let's do a new standup kelly";

async fn what_a_standup_decides_offline_is_watched_asked_and_brought_to_mind(backing: Backing) {
    let stage = Setting::on(backing)
        .configure(|config| change(config, |standup| standup.pause = Duration::ZERO))
        .with_person(|config, person| change(config, |standup| standup.humans = vec![(PERSON.to_owned(), person.id.as_str().into())]))
        .open()
        .await;
    stage.web.lay_out("market", Page::Down);
    hold(&stage).await;

    // A failed feed is watched until it has data.
    let repair = stage.find("Repair the feed market").await;
    let waiting = stage.until(&repair.id, "put off", |item| item.status == WorkStatus::Ready && item.not_before.is_some()).await;
    assert_eq!(waiting.attempts, 0, "nobody's fault");
    stage.web.lay_out("market", Page::Json(json!({"price": 187.25}).to_string()));
    stage.pass(Duration::from_mins(5)).await;
    let repaired = stage.comes_to(&repair.id, WorkStatus::Done).await;
    assert!(matches!(repaired.evidence.as_slice(), [Evidence::Reading { feed, .. }] if feed == "market"), "{:?}", repaired.evidence);
    stage.hears("✔ Oracle: Repair the feed market").await;

    // A person is reminded and answers with a button.
    let added = stage.backlog("add", &[("what", "Sign the contract"), ("owner", "me")]).await;
    assert!(added.contains("Sign the contract"), "{added}");
    let contract = stage.find("Sign the contract").await;
    stage.comes_to(&contract.id, WorkStatus::Waiting).await;
    stage.press("Reminder for", "Done").await;
    let signed = stage.read(&contract.id).await;
    assert_eq!(signed.status, WorkStatus::Done);
    assert!(matches!(signed.evidence.as_slice(), [Evidence::Delivered { .. }, Evidence::Answer { .. }]), "{:?}", signed.evidence);
    let announced =
        async || stage.team.answers(HERE).await.iter().any(|said| said.text.starts_with('✔') && said.text.contains("Sign the contract"));
    eventually("the channel hears of it", || async { announced().await }).await;

    // A day later the report asks about changed items.
    stage.web.lay_out("shop", Page::Json(json!({"latency": 940}).to_string()));
    stage.pass(Duration::from_hours(24)).await;
    hold(&stage).await;
    let moved = stage.find("Look into latency of shop").await;
    // Without a model Vince finds no reason, so a person is asked and gives it.
    let unknown = stage.comes_to(&moved.id, WorkStatus::Waiting).await;
    assert!(matches!(&unknown.wait, Some(Wait::Help { of: Some(_) })), "{unknown:?}");
    stage.hears("nobody on the team knows the answer to **Look into latency of shop").await;
    stage.backlog("answer", &[("id", moved.short_id()), ("text", "A latency test ran all night.")]).await;
    let told = stage.comes_to(&moved.id, WorkStatus::Done).await;
    assert!(matches!(told.evidence.as_slice(), [Evidence::Answer { by, .. }] if by != "Vince"), "{:?}", told.evidence);

    stage.shows(&repaired, &["Status: **done**", "market", "Evidence"]).await;
    let learnt = || stage.learnings();
    eventually("the lessons are written", || async {
        ["Repair the feed market", "Sign the contract", "latency"].iter().all(|text| learnt().contains(text))
    })
    .await;
}

async fn what_a_standup_decides_is_researched_written_and_built(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| change(config, |standup| standup.pause = Duration::ZERO))
        .configure(|config| config.backlog.test_command = ["grep", "-q", "A,9", "table.csv"].map(str::to_owned).into())
        .open()
        .await;
    let prices = stage.web.url("prices");
    let action = |what: &str, how: &str, owner: &str, kind: &str| json!({"what": what, "how": how, "why": "The bill rose.", "owner": owner, "urgency": "today", "execution": kind});
    let actions = json!([
        action("Compare the costs of hosting", &format!("Read {prices}."), "Eliza", "research"),
        action("Draft a letter to the landlord", LETTER, "Solus", "write"),
        action("Build the table of all shops", "As CSV.", "Sentinel", "build"),
        action("Paint the old fence green", "With a brush.", "Nobody Special", "build"),
        action("Sweep every floor of the house", "With a broom.", "", "build"),
    ]);
    let researched = vec![
        fetch(&prices),
        write("costs.md", &format!("# Costs\n\nShop A asks $9 a month ({prices}).{MORE}\n")),
        Script::call("finish", json!({"summary": "Shop A asks $9.", "files": ["costs.md"], "lesson": "Shop B hides its price."})),
    ];
    let parts = vec![
        Part::new("of hosting", researched),
        Part::new("landlord", vec![Script::say(format!("# Letter\n\nDear landlord, the heating is cold.{MORE}\n"))]),
        Part::new("of all shops", vec![write("table.csv", "shop,price\nA,9\n"), finish("table.csv")]),
    ];
    Play::of(parts).actions(actions).perform(&stage.team.model);
    stage.team.say(HERE, START).await;

    let hosting = stage.find("Compare the costs of hosting").await;
    let hosting = stage.comes_to(&hosting.id, WorkStatus::Done).await;
    let has = |found: &[Evidence], which: fn(&Evidence) -> bool| found.iter().any(which);
    assert!(has(&hosting.evidence, |found| matches!(found, Evidence::File { path, .. } if path == "costs.md")), "{:?}", hosting.evidence);
    assert!(hosting.evidence.iter().any(|found| matches!(found, Evidence::Link { url, .. } if *url == prices)), "{:?}", hosting.evidence);
    let by_another = |found: &Evidence| matches!(found, Evidence::Review { by: Judge::Persona(by), .. } if by.as_str() != "eliza");
    assert!(has(&hosting.evidence, by_another), "{:?}", hosting.evidence);
    let letter = stage.find("Draft a letter to the landlord").await;
    let letter = stage.comes_to(&letter.id, WorkStatus::Done).await;
    assert!(
        has(
            &letter.evidence,
            |found| matches!(found, Evidence::File { path, .. } if std::path::Path::new(path).extension().is_some_and(|form| form == "md"))
        ),
        "{:?}",
        letter.evidence
    );
    assert!(stage.asked_about("landlord")[0].prompt().contains(LETTER), "{}", stage.asked_about("landlord")[0].prompt());
    let table = stage.find("Build the table of all shops").await;
    let table = stage.comes_to(&table.id, WorkStatus::Done).await;
    // Where the sandbox is not supported, somebody reviews the item instead of a test.
    let tested = |found: &Evidence| matches!(found, Evidence::Test { exit_code: 0, .. } | Evidence::Review { .. });
    assert!(has(&table.evidence, tested), "{:?}", table.evidence);
    assert_eq!(stage.list().await.len(), 3, "what nobody owns is no item");

    stage.hears("✔ Eliza: Compare the costs of hosting").await;
    stage.hears("✔ Solus: Draft a letter to the landlord").await;
    stage.hears("✔ Sentinel: Build the table of all shops").await;
    stage.shows(&hosting, &["Status: **done**", "costs.md", "Shop A asks $9"]).await;
    let learnt = || stage.learnings();
    // The item's run has read a page, so its lesson is not used before somebody confirms it.
    stage.hears("Shop B hides its price.").await;
    assert!(!learnt().contains("Shop B hides its price."), "{}", learnt());
    stage.press("✔ Eliza: Compare the costs of hosting", "Remember the lesson").await;

    // The next item on the subject gets the lesson.
    let next = stage.item("Compare the costs of hosting again", &format!("See {prices}."), Execution::Research);
    stage.put(&[&next]).await;
    stage.comes_to(&next.id, WorkStatus::Done).await;
    let asked = stage.asked_about("hosting again");
    assert!(asked[0].prompt().contains("Shop B hides its price."), "{}", asked[0].prompt());
    eventually("the lesson is written", || async { learnt().contains("Shop B hides its price.") }).await;
}

/// Each item of a report ends with the required evidence, or waits for a named person who was told how to help. Prints each as `/backlog show` does,
/// for people who read it: `cargo test --test integration from_a_report -- --nocapture`.
async fn from_a_report_to_what_came_of_each_item(backing: Backing) {
    let configure = |config: &mut Config| config.backlog.test_command = ["grep", "-q", "A,9", "table.csv"].map(str::to_owned).into();
    let stage = Setting::on(backing).with_model().configure(configure).open().await;
    let prices = stage.web.url("prices");
    let person = stage.team.sandbox().people()[0].name.clone();
    let action = |what: &str, how: &str, owner: &str, kind: &str| json!({"what": what, "how": how, "why": "The bill rose by a third.", "owner": owner, "urgency": "today", "execution": kind});
    let actions = json!([
        action("Compare the costs of hosting", &format!("Read {prices}."), "Eliza", "research"),
        action("Draft a letter to the landlord", LETTER, "Solus", "write"),
        action("Build the table of all shops", "As CSV, with the price of each.", "Sentinel", "build"),
        action("Estimate the odds of a higher rent", "In percent.", "Oracle", "ask"),
        action("Sign the new contract", "It is on the desk.", &person, "remind"),
        action("List the meters of the cellar", "Read them all.", "Echo", "write"),
    ]);
    let researched = vec![
        fetch(&prices),
        write("costs.md", &format!("# Costs\n\nShop A asks $9 a month ({prices}).{MORE}\n")),
        Script::call("finish", json!({"summary": "Shop A asks $9.", "files": ["costs.md"]})),
    ];
    // Each try claims a file that does not exist, also when it is told so.
    let claim = Script::call("finish", json!({"summary": "All meters are listed.", "files": ["meters.md"]}));
    let lie = vec![claim.clone(), claim, Script::say("It is done, believe me.")];
    let parts = vec![
        Part::new("of hosting", researched),
        Part::new("landlord", vec![Script::say(format!("# Letter\n\nDear landlord, the heating is cold.{MORE}\n"))]),
        Part::new("of all shops", vec![write("table.csv", "shop,price\nA,9\n"), finish("table.csv")]),
        Part::new("meters", lie),
    ];
    Play::of(parts).actions(actions).not_knowing("odds").perform(&stage.team.model);
    stage.team.say(HERE, START).await;
    let find = async |what: &str| stage.find(what).await;
    for what in ["Compare the costs of hosting", "Draft a letter to the landlord", "Build the table of all shops"] {
        stage.comes_to(&find(what).await.id, WorkStatus::Done).await;
    }
    let odds = stage.comes_to(&find("Estimate the odds").await.id, WorkStatus::Waiting).await;
    let contract = stage.comes_to(&find("Sign the new contract").await.id, WorkStatus::Waiting).await;
    let meters = stage.until(&find("List the meters").await.id, "given up", |item| item.status == WorkStatus::Failed).await;
    let items = stage.list().await;
    for item in &items {
        println!("{}\n", stage.backlog("show", &[("id", item.short_id())]).await);
    }
    assert_eq!(items.len(), 6);
    for item in &items {
        let waits_for = item.wait.as_ref().map(Wait::describe).unwrap_or_default();
        let is_waiting = item.status == WorkStatus::Waiting && waits_for.contains(&person);
        assert!(
            is_waiting || item.status == WorkStatus::Failed || (item.status == WorkStatus::Done && !item.evidence.is_empty()),
            "{item:#?}"
        );
    }
    // Each item that could not be done names a person and says how they can help.
    let asked = stage.hears("Help needed from").await.text;
    assert!(asked.contains(&format!("/backlog answer id:{}", odds.short_id())) && asked.contains("- Oracle: "), "{asked}");
    assert!(stage.hears("Reminder for").await.text.contains(contract.short_id()));
    let failed = stage.hears("Echo failed: List the meters of the cellar").await;
    let how = format!(", can you help? `/backlog show id:{}` says what was tried.", meters.short_id());
    assert!(failed.text.contains(&format!("<@{}>{how}", stage.team.sandbox().people()[0].id)), "{}", failed.text);
    assert!(failed.text.contains("meters.md") && failed.raw["components"][0]["components"][0]["label"] == "Try again", "{}", failed.text);
    assert!(meters.outcome.is_some_and(|why| why.contains("meters.md")));

    // The people do their part.
    stage.press("Reminder for", "Done").await;
    stage.backlog("answer", &[("id", odds.short_id()), ("text", "One in five, says the union.")]).await;
    for item in [&odds, &contract] {
        let done = stage.comes_to(&item.id, WorkStatus::Done).await;
        assert!(done.evidence.iter().any(|found| matches!(found, Evidence::Answer { by, .. } if *by == person)), "{done:#?}");
        println!("{}\n", stage.backlog("show", &[("id", item.short_id())]).await);
    }
}

/// A person calls a standup and reports nothing.
async fn hold(stage: &Stage) {
    let invited = async || stage.team.answers(HERE).await.iter().filter(|shown| shown.text.contains("your report, please")).count();
    let reported = async || {
        let is_card = |shown: &&crate::support::team::Shown| {
            shown.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report"))
        };
        stage.team.answers(HERE).await.iter().filter(is_card).count()
    };
    let (invitations, reports) = (invited().await, reported().await);
    stage.team.say(HERE, START).await;
    eventually(&format!("{PERSON} is asked"), || async { invited().await > invitations }).await;
    let reports_of_people = async || count(&stage.team, "SELECT COUNT(*) FROM seats WHERE who LIKE 'person:%' AND state = 'quiet'").await;
    let before = reports_of_people().await;
    stage.team.say(HERE, "Nothing from me.").await;
    eventually("the report is stored", || async { reports_of_people().await > before }).await;
    // The time in which a person may add to it.
    stage.pass(Duration::from_secs(20)).await;
    eventually("the report is posted", || async { reported().await > reports }).await;
}
