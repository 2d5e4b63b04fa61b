//! Faulty feeds during a standup.

use chrono::TimeDelta;
use serde_json::json;
use teamroom::features::standup::model::report::FeedRead;

use super::newsstand::Paper;
use super::stage::{Held, Setting};
use crate::support::team::{Backing, on_one_store};

on_one_store!(what_a_feed_gives_badly_is_told, a_feed_that_goes_back_in_time_is_told);

fn read<'a>(held: &'a Held, feed: &str) -> Result<&'a FeedRead, &'a str> {
    let line = held.report.feeds.iter().find(|line| line.feed == feed).unwrap_or_else(|| panic!("no feed {feed}"));
    line.outcome.as_ref().map_err(String::as_str)
}

async fn what_a_feed_gives_badly_is_told(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.feeds.lay_out("news", Paper::Html);
    stage.feeds.lay_out("market", Paper::Json(json!({"price": "187.25"})));
    stage.feeds.lay_out("shop", Paper::Json(json!({"latency": "slow", "orders": null})));
    let held = stage.hold().await;
    let news = read(&held, "news").expect_err("a web page is no news");
    assert!(news.contains("RSS"), "{news}");
    let shop = read(&held, "shop").expect_err("words are no numbers");
    assert!(
        shop.contains("latency: the value at /latency is a text, not a number") && shop.contains("orders: the value at /orders is null"),
        "{shop}"
    );
    let market = read(&held, "market").expect("a number all the same");
    assert_eq!(market.values, ["price $187.25"]);
    assert_eq!(market.note.as_deref(), Some("price is a number written as text"));
    let page = stage.said().await.swap_remove(1);
    for told in ["news", "shop"] {
        assert!(page.text.contains(told), "{told}: {page:?}");
    }
    let repairs: Vec<&str> = held.report.actions.iter().map(|action| action.what.as_str()).collect();
    assert_eq!(repairs, ["Repair the feed news", "Repair the feed shop"]);
    let card = stage.cards().await[0].raw["embeds"][0].to_string();
    assert!(card.contains("Feed news failed") && card.contains("Feed shop failed"), "{card}");
}

async fn a_feed_that_goes_back_in_time_is_told(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let shop = |hours: i64| Paper::Json(json!({"latency": 412, "orders": 231, "at": (stage.now() - TimeDelta::hours(hours)).to_rfc3339()}));
    stage.feeds.lay_out("shop", shop(1));
    let held = stage.hold().await;
    assert_eq!(read(&held, "shop").expect("data").note, None);
    stage.feeds.lay_out("shop", shop(3));
    let held = stage.hold().await;
    let note = read(&held, "shop").expect("data").note.clone().unwrap_or_default();
    assert!(note.contains("went back in time"), "{note}");
    // Data from two days ago is too old.
    stage.feeds.lay_out("shop", shop(49));
    let held = stage.hold().await;
    assert!(read(&held, "shop").expect_err("too old").contains("too old"));
}
