//! A standup without a model on a repository with a real history: posts, authors, and the source of every figure.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::json;
use teamroom::features::backlog::model::{MeetingOrigin, Origin, Owner};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::meeting::model::SeatState;
use teamroom::features::standup::model::report::DayReport;

use super::newsstand::{Paper, shop};
use super::stage::{CHANNEL, Held, SPEAKERS, START, Setting, Stage};
use crate::support::history::{self, Commit};
use crate::support::team::{Backing, Shown, on_one_store};

on_one_store!(
    a_standup_is_opened_reported_and_closed_in_order,
    every_number_of_the_report_comes_from_somewhere,
    actions_are_rows_of_the_backlog_and_the_report_is_shown_any_time,
    a_feed_that_hangs_does_not_keep_the_kickoff_waiting,
);

/// A standup on real commits, with one failed feed. None if the history is missing.
async fn held(backing: Backing) -> Option<(Stage, Held, Vec<Commit>)> {
    let mut commits = None;
    let stage = Setting::on(backing).open_after(|work, now| commits = history::make_repository(work, 200, now)).await;
    let commits = commits?;
    // Oracle's market fails, so that there is an action.
    stage.feeds.lay_out("market", Paper::Down);
    let held = stage.hold().await;
    Some((stage, held, commits))
}

async fn a_standup_is_opened_reported_and_closed_in_order(backing: Backing) {
    let Some((stage, held, _)) = held(backing).await else { return };
    let said = stage.said().await;
    let kickoff = &said[0];
    assert!(kickoff.author == "Kelly" && kickoff.text.contains(&SPEAKERS.join(" → ")), "{kickoff:?}");
    assert!(kickoff.text.contains("Essential question") && kickoff.text.contains("too few to judge"), "{kickoff:?}");
    assert!(kickoff.text.contains("No model is configured"), "{kickoff:?}");
    let page = &said[1];
    assert!(page.author == "Kelly" && page.text.contains("market"), "{page:?}");
    assert!(stage.thread(page).await.iter().any(|text| text.contains("latency: 412 ms")), "the page in full");

    // Each persona posts once, in order, from its own account.
    let reports: Vec<&Shown> = said[2..].iter().take(6).collect();
    assert_eq!(reports.iter().map(|shown| shown.author.as_str()).collect::<Vec<_>>(), SPEAKERS, "{said:#?}");
    for (shown, name) in reports.iter().zip(SPEAKERS) {
        assert_eq!(shown.raw["author"]["id"], stage.team.account(&name.to_lowercase()), "{name}");
    }
    // A generated report includes the call.
    assert!(reports[5].text.contains(" %**: commits went from ") && !reports[5].text.contains("uncertain"), "{:?}", reports[5]);
    let card = &said[8];
    assert_eq!(card.author, "Kelly");
    assert!(card.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report")), "{card:?}");
    assert_eq!(said.len(), 9, "{said:#?}");
    assert!(!stage.thread(card).await.is_empty());
    assert!(held.states().iter().all(|state| matches!(state, SeatState::Spoke | SeatState::Quiet)), "{:?}", held.seats);

    for shown in &said {
        assert_eq!(shown.raw["mentions"], json!([]), "nobody is pinged: {shown:?}");
        assert_eq!(shown.raw["mention_everyone"], json!(false), "{shown:?}");
    }
    for extension in ["md", "json"] {
        let path = stage.team.config.data.join(format!("reports/{}.{extension}", held.meeting.day));
        assert!(path.exists(), "{}", path.display());
    }
}

async fn every_number_of_the_report_comes_from_somewhere(backing: Backing) {
    let Some((stage, first, commits)) = held(backing).await else { return };
    // The data of the feeds, read from the shared page.
    let told = pages(&stage).await;
    for known in ["latency: 412 ms", "orders: 231", "entries: 3", &format!("commits: {}", commits.len())] {
        assert!(told.contains(known), "{known} in\n{told}");
    }
    assert_traced(&stage, &first, &commits).await;

    stage.feeds.lay_out("shop", Paper::Json(shop(840, 229)));
    stage.feeds.lay_out("market", Paper::Json(json!({"price": 187.25})));
    stage.pass(Duration::from_hours(24)).await;
    let second = stage.hold().await;
    let told = pages(&stage).await;
    for known in ["latency: 840 ms", "orders: 229", "price: $187.25"] {
        assert!(told.contains(known), "{known} in\n{told}");
    }
    assert!(second.report.changes.len() >= 2, "{:?}", second.report.changes);
    assert_traced(&stage, &second, &commits).await;
}

/// Checks that every number in the embed, thread and file comes from a feed, the ledger, an earlier report or a count.
async fn assert_traced(stage: &Stage, held: &Held, commits: &[Commit]) {
    let report = &held.report;
    let file = |extension: &str| {
        let path = stage.team.config.data.join(format!("reports/{}.{extension}", held.meeting.day));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let stored: DayReport = serde_json::from_str(&file("json")).expect("a report");
    assert_eq!(stored, *report, "the file is the stored report");

    let mut known = numbers(&pages(stage).await);
    known.extend(commits.iter().flat_map(|commit| numbers(&commit.subject).into_iter().chain(numbers(&commit.author))));
    let yesterday = held.meeting.day.pred_opt().expect("a day");
    if let Some(last) = stage.store.find_last_report(&held.meeting.channel.id, yesterday).await.expect("the store answers") {
        known.extend(numbers(&serde_json::to_string(&last.report).expect("plain data")));
    }
    // Differences between listed values.
    for change in &report.changes {
        assert!([change.before, change.now].iter().all(|value| known.contains(&value.to_string())), "{change:?} in {known:?}");
        known.insert((change.now - change.before).abs().to_string());
    }
    // The trend of the repository's own history, which has tests of its own.
    known.extend(report.call.iter().flat_map(|made| numbers(&made.call.reason)));
    // The question's threshold, the distance to it, and the time left.
    known.extend(["10".to_owned(), (commits.len() + 10).to_string()]);
    let open = stage.store.list_predictions(10).await.expect("the calls");
    for left in open.iter().map(|call| call.expires_at - held.meeting.called_at) {
        // In hours on the last day. Some of it passes before the report is written.
        known.extend([left.num_days(), left.num_days() - 1, left.num_hours(), left.num_hours() - 1].map(|number| number.to_string()));
    }
    // The ledger: nothing was spent.
    let (cost, usage) = stage.store.spent_on(held.meeting.id.as_str()).await.expect("the ledger");
    assert_eq!((cost.0, usage.total()), (0, 0));
    known.extend(["0", "0.00"].map(str::to_owned));
    // Counts of actions and lists, and durations.
    known.extend((0..=report.actions.len()).map(|number| number.to_string()));
    known.extend(report.feeds.iter().filter_map(|feed| Some(feed.outcome.as_ref().ok()?.items.to_string())));
    known.extend([report.seconds, report.seconds / 60, report.seconds % 60].map(|number| number.to_string()));
    known.insert(report.feeds.len().to_string());
    // Confidences, which come from no feed.
    let sure = report.cross_check.findings.iter().flat_map(|finding| &finding.claims).map(|claim| claim.signal.confidence);
    let sure = sure.chain(report.cross_check.findings.iter().map(|finding| finding.confidence));
    known.extend(sure.chain(report.call.iter().map(|made| made.call.confidence)).map(|share| format!("{:.0}", share * 100.0)));

    // The call in Solus' report may include one more sample, because a work item watches that feed.
    let told = stage.said().await;
    let sure = told.iter().filter(|shown| shown.author == "Solus").flat_map(|shown| shown.text.split(" %").collect::<Vec<_>>());
    known.extend(sure.filter_map(|before| before.split_whitespace().last()).map(str::to_owned));

    let card = stage.cards().await.pop().expect("a card");
    let thread = stage.thread(&card).await.join("\n");
    for (place, text) in [("card", card.raw["embeds"][0].to_string()), ("thread", thread), ("file", file("md"))] {
        let text = without_own_marks(&text, held);
        let unknown: Vec<String> = numbers(&text).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "{unknown:?} in the {place} come from nowhere:\n{text}");
    }
}

/// The posts with the shared page of feeds, and their threads.
async fn pages(stage: &Stage) -> String {
    let mut told = String::new();
    for page in stage.said().await.iter().filter(|shown| shown.text.starts_with("**Shared page**")) {
        let detail = stage.thread(page).await.join("\n");
        writeln!(told, "{}\n{detail}", page.text).expect("a String takes everything");
    }
    told
}

async fn actions_are_rows_of_the_backlog_and_the_report_is_shown_any_time(backing: Backing) {
    let Some((stage, held, _)) = held(backing).await else { return };
    let report = &held.report;
    assert!(!report.actions.is_empty() && report.refused.is_empty(), "{report:#?}");
    let repair = report.actions.iter().find(|action| action.what.contains("market")).expect("a feed is to be repaired");
    assert_eq!(repair.owner, "Oracle");
    // The backlog may have completed some of them.
    let every = ItemFilter { statuses: &[], owner: None, scope: None, limit: 50 };
    let items = stage.store.list_items(&every).await.expect("the backlog");
    assert_eq!(items.len(), report.actions.len());
    let called_by = Some((stage.team.person_id(0), stage.team.sandbox().people()[0].name.clone()));
    let origin = Origin::Meeting(MeetingOrigin { id: held.meeting.id.clone(), called_by });
    for action in &report.actions {
        let item = items.iter().find(|item| item.id == action.item).expect("a row");
        assert_eq!((&item.what, item.urgency), (&action.what, action.urgency));
        assert_eq!(item.origin, origin, "who called the standup is asked about it");
        assert!(matches!(&item.owner, Owner::Persona(slug) if slug.as_str() == action.owner.to_lowercase()), "{item:?}");
    }
    let noted = stage.store.list_items_changed(held.meeting.called_at, stage.now()).await.expect("the events");
    assert_eq!(noted.len(), items.len(), "each was recorded as an event: {noted:?}");

    let title = held.meeting.day.format("%a %-d %b %Y").to_string();
    assert!(stage.subcommand("report", "today", json!([])).await.contains(&title));
    stage.team.say(CHANNEL, "day report").await;
    let shown = stage.hears("No standup is running. Today's report").await;
    assert!(shown.text.contains(&held.report.tldr[0]), "{shown:?}");
    assert_eq!(stage.cards().await.len(), 1, "showing it posts no other");
}

async fn a_feed_that_hangs_does_not_keep_the_kickoff_waiting(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.feeds.lay_out("shop", Paper::Hangs);
    stage.team.say(CHANNEL, START).await;
    let kickoff = stage.hears("Standup ·").await;
    assert_eq!(kickoff.author, "Kelly");
    assert_eq!(stage.said().await.len(), 1, "the page is still being read");
    stage.jump(Duration::from_secs(10));
    let held = stage.over().await;
    let shop = held.report.feeds.iter().find(|feed| feed.feed == "shop").expect("it is told");
    assert!(shop.outcome.as_ref().is_err_and(|reason| reason.contains("10 s")), "{shop:?}");
    assert_eq!(held.seat("vince").state, SeatState::Spoke, "a feed that fails is a report");
}

/// The text without dates, places and ids, which are not figures.
fn without_own_marks(text: &str, held: &Held) -> String {
    let mut text = text.replace(held.meeting.id.as_str(), "").replace(held.meeting.channel.id.as_str(), "");
    for action in &held.report.actions {
        text = text.replace(action.item.as_str(), "");
    }
    text
}

/// Patterns of texts that have digits but are no figures.
const MARKS: [&str; 9] = [
    r"\d{4}-\d{2}-\d{2}T?",
    r"\d{1,2}:\d{2}(:\d{2})?(\.\d+)?",
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}( \d{4})?",
    r"\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)( \d{4})?",
    r"(https?://)?(127\.0\.0\.1|news\.example)[^\s,)>`]*",
    // Durations in a trend.
    r"\bin \d+(\.\d+)? h\b",
    // Commit hashes and ids of items.
    r"\b[0-9a-f]{7,40}\b",
    r"#[0-9a-f]{6}\b",
    r#""(color|type)":\d+"#,
];

/// The numbers in a text, without dates, times, addresses and hashes.
fn numbers(text: &str) -> BTreeSet<String> {
    // Compiled once, because compiling takes far longer than matching.
    static PATTERNS: LazyLock<(Vec<Regex>, Regex)> = LazyLock::new(|| {
        let compile = |pattern: &str| Regex::new(pattern).expect("a pattern");
        (MARKS.map(compile).to_vec(), compile(r"\d+(,\d{3})*(\.\d+)?"))
    });
    let mut text = text.to_owned();
    let (marks, number) = &*PATTERNS;
    for mark in marks {
        text = mark.replace_all(&text, " ").into_owned();
    }
    number.find_iter(&text).map(|found| found.as_str().replace(',', "")).collect()
}
