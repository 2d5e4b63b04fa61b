use std::fmt::Write as _;

use chrono::TimeDelta;
use kernel::feeds::{FeedQuery, Reading, Value};
use kernel::time::ManualClock;
use serde_json::json;

use super::web::{Answer, Site};
use super::{build, last_days, now, read};

fn rss(items: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>River</title><link>http://river.example</link>{items}</channel></rss>"
    )
}

fn item(title: &str, date: &str) -> String {
    format!("<item><title>{title}</title><link>http://river.example/{}</link>{date}</item>", title.len())
}

fn dated(days: i64) -> String {
    format!("<pubDate>{}</pubDate>", (now() - TimeDelta::days(days)).to_rfc2822())
}

fn texts(reading: &Reading) -> Vec<&str> {
    reading.items.iter().map(|item| item.text.as_str()).collect()
}

#[tokio::test]
async fn entries_of_the_range_come_newest_first_and_undated_ones_last() {
    let site = Site::start().await;
    let items = [
        item("Two days &amp; more", &dated(2)),
        item("Undated", ""),
        item("Yesterday", &dated(1)),
        item("Last month", &dated(30)),
        item("Tomorrow", &dated(-1)),
        item("Garbled", "<pubDate>soon</pubDate>"),
    ];
    let reading = read("rss", &site.xml("/feed", rss(&items.concat()))).await.unwrap();
    assert_eq!(texts(&reading), ["Yesterday", "Two days & more", "Undated", "Garbled"]);
    assert_eq!(reading.items[0].reference, "http://river.example/9");
    assert_eq!(reading.items[0].at, Some(now() - TimeDelta::days(1)));
    assert_eq!(reading.total, 4);
    assert_eq!(reading.values, [Value::new("entries", 6.0, "")]);
    assert_eq!(reading.note.as_deref(), Some("2 of its 6 entries carry no date"));
    assert_eq!(reading.source, site.shown("/feed"));
}

#[tokio::test]
async fn atom_and_json_feeds_are_read_too() {
    let site = Site::start().await;
    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>River</title><id>r</id><updated>2026-11-21T00:00:00Z</updated>
        <entry><id>urn:1</id><title>Release 2</title><updated>2026-11-21T08:00:00Z</updated><author><name>Ann</name></author>
        <link rel="enclosure" href="http://x.example/a.mp3"/><link href="/r2"/></entry>
        <entry><id>urn:2</id><title></title><published>2026-11-20T08:00:00Z</published><updated>2026-11-20T08:00:00Z</updated></entry></feed>"#;
    let url = site.xml("/atom", atom);
    let reading = read("rss", &url).await.unwrap();
    assert_eq!(texts(&reading), ["Release 2", "(without a title)"]);
    let release = &reading.items[0];
    assert_eq!((release.by.as_deref(), release.reference.as_str()), (Some("Ann"), url.replace("/atom", "/r2").as_str()));
    assert_eq!(reading.items[1].reference, "urn:2");

    let json_feed = r#"{"version": "https://jsonfeed.org/version/1", "title": "River", "home_page_url": "http://r.example",
        "items": [{"id": "1", "url": "http://r.example/1", "title": "One", "content_text": "x", "date_published": "2026-11-21T08:00:00Z"}]}"#;
    let reading = read("rss", &site.json("/json", json_feed)).await.unwrap();
    assert_eq!((texts(&reading), reading.items[0].reference.as_str()), (vec!["One: x"], "http://r.example/1"));
}

#[tokio::test]
async fn an_entry_has_its_headline_and_its_text_without_tags() {
    let site = Site::start().await;
    let described =
        |text: &str| format!("<item><title>Outage</title><link>http://x.example</link><description>{text}</description></item>");
    let html = described("&lt;p&gt;Payments &amp;amp; logins fail.&lt;br/&gt;If a &lt; b, &lt;b&gt;wait&lt;/b&gt;.&lt;/p&gt;");
    let reading = read("rss", &site.xml("/feed", rss(&html))).await.unwrap();
    assert_eq!(texts(&reading), ["Outage: Payments & logins fail. If a < b, wait ."]);
    let long = read("rss", &site.xml("/long", rss(&described(&"word ".repeat(400))))).await.unwrap();
    assert_eq!((long.items[0].text.chars().count(), long.items[0].text.ends_with('…')), ("Outage: ".len() + 395, true));
}

#[tokio::test]
async fn what_is_no_feed_is_told_and_one_without_entries_is_none() {
    let site = Site::start().await;
    let html = site.tell("/html", Answer::Body("text/html", "<html><body>Moved</body></html>".into()));
    assert_eq!(read("rss", &html).await, Err("it returned a web page (text/html) instead of RSS, Atom or JSON feed".into()));
    for (path, body) in [("/broken", "<rss version=\"2.0\"><channel><item><title>Half"), ("/text", "no feed today"), ("/other", "<svg/>")] {
        let error = read("rss", &site.xml(path, body)).await.unwrap_err();
        assert!(error.starts_with("its answer (application/xml) is not RSS, Atom or JSON feed: "), "{path}: {error}");
    }
    let empty = read("rss", &site.xml("/empty", rss(""))).await.unwrap();
    assert_eq!((empty.items.len(), empty.values, empty.note), (0, vec![Value::new("entries", 0.0, "")], None));
    let large = site.xml("/large", vec![b' '; (4 << 20) + 1]);
    assert_eq!(read("rss", &large).await, Err("its answer is longer than 4 MiB".into()));
}

#[tokio::test]
async fn ten_thousand_entries_are_counted_and_the_newest_handed_over() {
    let site = Site::start().await;
    let mut items = String::new();
    for number in 0..10_000 {
        let date = (now() - TimeDelta::minutes(number)).to_rfc2822();
        write!(
            items,
            "<item><title>Entry {number} {}</title><link>http://r.example/{number}</link><pubDate>{date}</pubDate></item>",
            "x".repeat(200)
        )
        .unwrap();
    }
    let feed = build("rss", json!({"url": site.xml("/feed", rss(&items))}), &ManualClock::new(now()));
    let reading = feed.read(&FeedQuery { limit: 20, ..last_days(30) }).await.unwrap();
    assert_eq!((reading.items.len(), reading.total), (20, 10_000));
    assert!(reading.items[0].text.starts_with("Entry 0 ") && reading.items[19].text.starts_with("Entry 19 "));
}

#[tokio::test]
async fn hostile_xml_neither_grows_nor_ends_the_process() {
    let site = Site::start().await;
    let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    let read_bomb = read("rss", &site.xml("/bomb", format!("{bomb}{}", rss(&item("&b;&b;", &dated(1)))))).await;
    assert!(read_bomb.is_err() || texts(&read_bomb.unwrap())[0].len() < 100);
    let deep = format!("{}{}", "<b>".repeat(200_000), "</b>".repeat(200_000));
    let atom = format!("<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><title type=\"xhtml\">{deep}</title></entry></feed>");
    for body in [rss(&item(&deep, &dated(1))), rss(&deep), atom] {
        let _ended = read("rss", &site.xml("/deep", body)).await;
    }
    let long = read("rss", &site.xml("/long", rss(&item(&"ä ".repeat(1000), &dated(1))))).await.unwrap();
    assert_eq!(long.items[0].text.chars().count(), 298);
}
