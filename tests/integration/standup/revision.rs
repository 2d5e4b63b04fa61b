//! A second standup on the same day revises the report; the next day's standup reports the changes.

use std::time::Duration;

use kernel::time::Clock;
use serde_json::json;
use teamroom::features::backlog::store::ItemFilter;

use super::cast::{Cast, Part, conclusion, find_prompt};
use super::newsstand::{Paper, shop};
use super::stage::{Setting, latency_question};
use crate::standup::change;
use crate::support::team::{Backing, on_one_store};

on_one_store!(the_second_of_a_day_revises_the_report, the_next_day_tells_what_has_changed, the_next_day_is_told_to_a_model,);

const DAY: Duration = Duration::from_hours(24);

async fn the_second_of_a_day_revises_the_report(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| change(config, |standup| standup.question = Some(latency_question())))
        .open()
        .await;
    let action = |what: &str| json!([{"what": what, "how": "So.", "why": "So.", "owner": "Vince", "urgency": "today"}]);
    Cast::default().conclusion(conclusion(&["First."], action("Call the provider"), json!([]))).perform(&stage.team.model);
    let first = stage.hold().await;
    let card = stage.cards().await.swap_remove(0);

    Cast::default().conclusion(conclusion(&["Second."], action("Restart the cache"), json!([]))).perform(&stage.team.model);
    let second = stage.hold().await;
    assert_eq!((first.report.revision, second.report.revision), (1, 2));
    assert_ne!(first.meeting.id, second.meeting.id);
    let cards = stage.cards().await;
    assert_eq!(cards.len(), 1, "{cards:#?}");
    assert_eq!(cards[0].raw["id"], card.raw["id"], "it is the same message");
    let embed = &cards[0].raw["embeds"][0];
    assert_eq!(embed["description"], "Second.");
    let earlier = &embed["fields"][0];
    assert!(earlier["name"].as_str().is_some_and(|name| name.starts_with("Earlier, ")) && earlier["value"] == "First.", "{embed}");
    let embed = embed.to_string();
    assert!(embed.contains("(revision 2)"), "{embed}");
    assert!(!cards[0].raw["edited_timestamp"].is_null());
    let notice = stage.hears("I have revised today's report (revision 2). New since ").await;
    assert!(notice.text.contains("- Second.") && notice.text.ends_with("1 new action."), "{notice:?}");
    let kept: Vec<&str> = second.report.actions.iter().map(|action| action.what.as_str()).collect();
    assert_eq!(kept, ["Call the provider", "Restart the cache"]);
    assert_eq!(stage.store.list_items(&ItemFilter::open(50)).await.expect("the backlog").len(), 2);
    let open = stage.store.list_open_predictions().await.expect("the calls");
    assert!(open.len() == 1 && open[0].meeting == second.meeting.id, "the later call replaces the earlier: {open:?}");
    let file = stage.team.config.data.join(format!("reports/{}.md", second.meeting.day));
    assert!(std::fs::read_to_string(file).expect("a file").contains("revision: 2"));
    let thread = stage.thread(&cards[0]).await.join("\n");
    assert!(thread.contains("Restart the cache"), "the thread goes on: {thread}");
}

async fn the_next_day_tells_what_has_changed(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.feeds.lay_out("market", Paper::Down);
    let first = stage.hold().await;
    assert!(first.report.changes.is_empty(), "{:?}", first.report.changes);
    assert!(stage.hears("First report").await.author == "Eliza");

    stage.feeds.lay_out("shop", Paper::Json(shop(840, 231)));
    let item = stage.store.list_items(&ItemFilter::open(50)).await.expect("the backlog").swap_remove(0);
    stage.pass(DAY).await;
    stage.store.cancel_item(&item.id, "Ada", &[], stage.clock.now()).await.expect("stored").expect("it was open");
    stage.pass(Duration::from_secs(1)).await;
    let second = stage.hold().await;
    assert_eq!((second.report.revision, second.meeting.day), (1, first.meeting.day.succ_opt().expect("a day")));
    let change = second.report.changes.iter().find(|change| change.feed == "shop").expect("latency has changed");
    assert_eq!(
        (change.name.as_str(), [change.before, change.now].map(|value| value.to_string())),
        ("latency", ["412", "840"].map(str::to_owned))
    );
    assert!(second.report.changes.iter().all(|change| change.name != "orders"), "what is as it was has not changed");
    let delta = stage.hears("Against the report of").await;
    assert!(delta.author == "Eliza" && delta.text.contains("shop latency 412 → 840 ms (+428)"), "{delta:?}");
    assert!(delta.text.contains(&item.what) && delta.text.contains("→ cancelled"), "{delta:?}");
    assert!(second.report.moved[0].contains("→ cancelled"), "{:?}", second.report.moved);
    let check = second.report.actions.iter().find(|action| action.what.contains("latency of shop")).expect("more than half is unusual");
    assert_eq!(check.owner, "Vince");
    let own = second.report.actions.iter().filter(|action| action.what.contains("backlog") || action.what.contains("activity"));
    assert_eq!(own.count(), 0, "what the team did itself startles nobody: {:?}", second.report.actions);
    assert_eq!(stage.cards().await.len(), 2, "each day has its card");
    let card = &stage.cards().await[1];
    let thread = stage.thread(card).await.join("\n");
    assert!(thread.contains("+428"), "{thread}");
}

async fn the_next_day_is_told_to_a_model(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| change(config, |standup| standup.question = Some(latency_question())))
        .open()
        .await;
    Cast::default().conclusion(conclusion(&["Checkout was fine."], json!([]), json!([]))).perform(&stage.team.model);
    stage.hold().await;
    stage.feeds.lay_out("shop", Paper::Json(shop(840, 231)));
    stage.pass(DAY).await;
    stage.hold().await;
    let eliza = find_prompt(&stage.team.model, Part::Report, "Eliza").expect("a prompt");
    for told in ["Checkout was fine.", "shop latency 412 → 840 ms (+428)", "call of Solus: yes, 70 %"] {
        assert!(eliza.contains(told), "{told} in\n{eliza}");
    }
    let vince = find_prompt(&stage.team.model, Part::Report, "Vince").expect("a prompt");
    assert!(!vince.contains("Checkout was fine."), "the last report is told to whom the delta is given: {vince}");
}
