use chrono::{DateTime, TimeDelta, Utc};
use kernel::feeds;
use kernel::feeds::{FeedError, Reading};
use kernel::time::ManualClock;
use serde_json::json;

use super::web::{Answer, Site};
use super::{build, last_days, now, read, run_out, sources, spec};

fn values(reading: &Reading) -> Vec<String> {
    reading.values.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn declared_numbers_are_read_with_their_units_and_the_time_of_the_data() {
    let site = Site::start().await;
    let body = r#"{"sol": {"usd": 212.5, "list": [1, {"n": 7}]}, "at": "2026-11-21T22:40:00Z"}"#;
    let url = site.json("/prices", body);
    let settings = json!({"url": format!("{url}?key=secret"), "time": "/at", "values": {
        "price": {"pointer": "/sol/usd", "unit": "$"},
        "second": "/sol/list/1/n",
    }});
    let reading = build("http_json", settings, &ManualClock::new(now())).read(&last_days(1)).await.unwrap();
    assert_eq!(values(&reading), ["price $212.5", "second 7"]);
    assert_eq!(reading.as_of, now() - TimeDelta::minutes(10));
    assert_eq!(reading.source, site.shown("/prices"), "the query may hold a key and is not shown");
    assert_eq!((reading.note, reading.total), (None, 2));
    let told: Vec<_> = reading.items.iter().map(|item| (item.reference.as_str(), item.text.as_str())).collect();
    assert_eq!(told, [("/sol/usd", "price $212.5"), ("/sol/list/1/n", "second 7")]);
}

#[tokio::test]
async fn a_number_as_text_is_taken_and_told_and_a_value_that_is_none_fails_alone() {
    let site = Site::start().await;
    let url = site.json("/x", r#"{"text": "12.5", "words": "many", "null": null, "huge": 1e300, "nan": "NaN"}"#);
    let names = ["gone", "huge", "nan", "null", "text", "words"];
    let pointers: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!(format!("/{name}")))).collect();
    let settings = json!({"url": url, "time": "/gone", "values": pointers});
    let reading = build("http_json", settings, &ManualClock::new(now())).read(&last_days(1)).await.unwrap();
    assert_eq!(values(&reading), ["text 12.5"]);
    assert_eq!(reading.as_of, now());
    let notes: Vec<_> = reading.note.as_deref().unwrap().split("; ").collect();
    assert_eq!(
        notes,
        [
            "no time at /gone, so it counts as current",
            "gone: there is nothing at /gone",
            "huge: the number at /huge is too large or none",
            "nan: the number at /nan is too large or none",
            "null: the value at /null is null, not a number",
            "text is a number written as text",
            "words: the value at /words is a text, not a number",
        ]
    );
}

#[tokio::test]
async fn a_bad_answer_is_told_in_plain_words() {
    let site = Site::start().await;
    let html = site.tell("/html", Answer::Body("text/html; charset=utf-8", "<!DOCTYPE html><h1>Sign in</h1>".into()));
    let large = site.tell("/large", Answer::Body("application/json", vec![b' '; 2 << 20].into()));
    let around = site.tell("/around", Answer::Redirect("/around".into()));
    let away = site.tell("/away", Answer::Redirect("http://localhost:9/secret?token=x".into()));
    let cases = [
        (html, "it returned a web page (text/html; charset=utf-8) instead of JSON"),
        (
            site.tell("/lying", Answer::Body("application/json", "  <HTML></HTML>".into())),
            "it returned a web page (application/json) instead of JSON",
        ),
        (large, "its answer is longer than 1 MiB"),
        (around, "it redirected more than 3 times"),
        (away, "it redirects to another host, localhost:9/secret. If that is right, use that address"),
        (site.tell("/500", Answer::Status(500)), "it answered 500 Internal Server Error"),
        (site.tell("/204", Answer::Status(204)), "its answer is empty"),
        (site.tell("/304", Answer::Status(304)), "it answered 304 Not Modified"),
        (site.json("/empty", "\n"), "its answer is empty"),
        (
            site.json("/half", r#"{"queue": 1"#),
            "its answer (application/json) is not JSON: EOF while parsing an object at line 1 column 11",
        ),
        (site.json("/missing", r#"{"tail": 1}"#), "it has no readable values (queue: there is nothing at /queue)"),
        (site.tell("/broken", Answer::Broken), "its answer was cut off"),
    ];
    for (url, expected) in cases {
        assert_eq!(read("http_json", &url).await, Err(expected.into()), "{url}");
    }
    let deep: &'static str = "[".repeat(100_000).leak();
    let error = read("http_json", &site.json("/deep", deep)).await.unwrap_err();
    assert!(error.contains("recursion limit exceeded"), "{error}");
}

#[tokio::test]
async fn nobody_at_the_address_is_told_without_the_address() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:secret@{}/x?key=secret", listener.local_addr().unwrap());
    drop(listener);
    let error = read("http_json", &url).await.unwrap_err();
    assert!(error.starts_with("cannot connect: ") && error.contains("refused") && !error.contains("secret"), "{error}");
}

#[tokio::test]
async fn an_answer_in_pieces_and_a_way_round_within_the_host_are_read() {
    let site = Site::start().await;
    let pieces = site.tell("/pieces", Answer::Pieces(vec!["{\"que", "ue\"", ": 1", "2}"]));
    assert_eq!(values(&read("http_json", &pieces).await.unwrap()), ["queue 12"]);
    site.tell("/second", Answer::Redirect("/third".into()));
    site.tell("/third", Answer::Redirect("/pieces".into()));
    let first = site.tell("/first", Answer::Redirect("/second".into()));
    assert_eq!(values(&read("http_json", &first).await.unwrap()), ["queue 12"]);
}

#[tokio::test]
async fn an_answer_that_hangs_before_or_in_the_middle_of_its_body_is_given_up() {
    let site = Site::start().await;
    for answer in [Answer::Hangs, Answer::Stalls(vec!["{\"queue\"", ": 1"])] {
        let clock = ManualClock::new(now());
        let url = site.tell("/slow", answer);
        let feed = build("http_json", json!({"url": url, "values": {"queue": "/queue"}}), &clock);
        let before = site.asked().len();
        let reading = tokio::spawn(async move { feed.read(&last_days(1)).await });
        while site.asked().len() == before {
            tokio::task::yield_now().await;
        }
        run_out(&clock, 1).await;
        assert_eq!(reading.await.unwrap().unwrap_err().to_string(), "it did not respond within 10 s");
    }
}

#[tokio::test]
async fn data_that_stands_still_goes_stale_and_data_that_goes_back_is_told() {
    let site = Site::start().await;
    let url = site.json("/x", r#"{"n": 1, "at": "2026-11-21T22:40:00Z"}"#);
    let settings = json!({"url": url, "time": "/at", "max_age_min": 60, "values": {"n": "/n"}});
    let feed = build("http_json", settings, &ManualClock::new(now()));
    assert_eq!(feed.read(&last_days(1)).await.unwrap().note, None);

    site.json("/x", r#"{"n": 2, "at": "2026-11-21T22:00:00Z"}"#);
    let back = feed.read(&last_days(1)).await.unwrap();
    assert_eq!(back.as_of, now() - TimeDelta::minutes(50));
    let told = "its data went back in time: it is of Sat 21 Nov, 22:00, and was of Sat 21 Nov, 22:40 before";
    assert_eq!(back.note.as_deref(), Some(told));

    site.json("/x", r#"{"n": 2, "at": 1763754000}"#);
    let since: DateTime<Utc> = DateTime::from_timestamp(1_763_754_000, 0).unwrap();
    let stale = feed.read(&last_days(1)).await.unwrap_err();
    assert_eq!(stale, FeedError::NoDataSince { since, reason: "its newest data is too old".into() });
}

#[test]
fn a_wrong_declaration_says_what_is_allowed() {
    let refusal = |settings| {
        let sources = sources("/nowhere".as_ref(), &ManualClock::new(now()));
        feeds::build(&spec("http_json", "prices", settings), &sources).err().unwrap().to_string()
    };
    let address = "feed \"prices\": url must be an address that begins with http:// or https://";
    assert_eq!(refusal(json!({"values": {"x": "/x"}})), address);
    for url in ["ftp://example.org/x", "example.org/x", "http://", ""] {
        assert_eq!(refusal(json!({"url": url, "values": {"x": "/x"}})), address, "{url}");
    }
    let names =
        "feed \"prices\": values must be names with JSON pointers, such as {price: /sol/usd} or {price: {pointer: /sol/usd, unit: $}}";
    let wrong = [
        json!({}),
        json!({"x": "usd"}),
        json!({"x": 1}),
        json!({" ": "/x"}),
        json!({"x": {"pointer": "/x", "units": "s"}}),
        json!({"x": {"unit": "s"}}),
        json!([]),
    ];
    for values in wrong {
        assert_eq!(refusal(json!({"url": "http://127.0.0.1/x", "values": values})), names, "{values}");
    }
    assert_eq!(
        refusal(json!({"url": "http://127.0.0.1/x", "values": {"x": "/x"}, "time": "at"})),
        "feed \"prices\": time must be a JSON pointer, such as /updated_at"
    );
    assert_eq!(
        refusal(json!({"url": "http://127.0.0.1/x", "values": {"x": "/x"}, "headers": {}})),
        "feed \"prices\" has no setting \"headers\". Available: timeout_s, max_age_min, expect, url, values, time"
    );
}
