//! The GitHub feed against a server that answers in the shapes of GitHub's REST API.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, TimeDelta, Utc};
use kernel::feeds::{self, Feed, FeedQuery, FeedSources, Reading, Services};
use kernel::time::ManualClock;
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

use super::{last_days, now, sources, spec};

const TOKEN: &str = "github_pat_1";

type Told = (u16, Json, HeaderMap);

/// Status, answer and headers by path and query. Answers have an `ETag` of their content.
#[derive(Clone, Default)]
struct Hub {
    answers: Arc<Mutex<HashMap<String, Told>>>,
    /// Path and status of each answer.
    log: Arc<Mutex<Vec<(String, u16)>>>,
    base: String,
}

impl Hub {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hub = Self { base: format!("http://{}/api/v3", listener.local_addr().unwrap()), ..Self::default() };
        let router = Router::new().fallback(answer).with_state(hub.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        hub
    }

    fn tell(&self, path: &str, answer: Json) {
        self.tell_with(path, 200, answer, &[]);
    }

    fn tell_with(&self, path: &str, status: u16, answer: Json, headers: &[(&'static str, String)]) {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        self.answers.lock().unwrap().insert(path.to_owned(), (status, answer, headers.collect()));
    }

    /// A repository with three pull requests, three issues, and a failing build.
    fn tell_usual(&self) {
        self.tell("", json!({"full_name": "acme/shop", "default_branch": "main", "open_issues_count": 12, "private": true}));
        let pulls = json!([
            pull(15, "Speed up the cart", 1, false, &["ann", "bob"], &["core"]),
            pull(14, "Try another cache", 2, true, &["ann"], &[]),
            pull(12, "Fix the retry", 4, false, &["ann"], &[]),
        ]);
        self.tell("/pulls?state=open&sort=updated&direction=desc&per_page=100&page=1", pulls);
        let merged = json!({"url": "x", "merged_at": ago(1)});
        self.tell(
            &issues(1),
            json!([
                issue(20, "Crash at start", 1, None, Json::Null),
                issue(19, "Old typo", 400, Some(2), Json::Null),
                issue(18, "Only commented", 90, None, Json::Null),
                issue(11, "Count orders once", 9, Some(1), merged),
            ]),
        );
        let run = |name: &str, conclusion: Json| json!({"id": 1, "name": name, "status": "completed", "conclusion": conclusion});
        for (head, runs) in [
            ("main", json!([run("test", json!("failure")), run("lint", json!("success")), run("deploy", Json::Null)])),
            ("sha15", json!([run("lint", json!("timed_out")), run("docs", json!("skipped"))])),
            ("sha12", json!([])),
        ] {
            let count = runs.as_array().unwrap().len();
            self.tell(&format!("/commits/{head}/check-runs?per_page=100"), json!({"total_count": count, "check_runs": runs}));
            let statuses = if head == "main" { json!([{"context": "ci/jenkins", "state": "error"}]) } else { json!([]) };
            self.tell(&format!("/commits/{head}/status"), json!({"state": "pending", "statuses": statuses}));
        }
    }

    fn feed(&self, token: Option<&str>, settings: Json) -> Feed {
        let services = Services { github_url: self.base.clone(), github_token: token.map(Into::into), search: None };
        let sources = FeedSources { services, ..sources(Path::new("/nowhere"), &ManualClock::new(now())) };
        feeds::build(&spec("github", "shop", settings), &sources).unwrap()
    }

    fn usual(&self) -> Feed {
        self.feed(Some(TOKEN), json!({"repo": "acme/shop"}))
    }

    fn count(&self, status: u16) -> usize {
        self.log.lock().unwrap().iter().filter(|(_, answered)| *answered == status).count()
    }
}

async fn answer(State(hub): State<Hub>, request: Request) -> Response {
    let asked = request.uri().path_and_query().unwrap().as_str().to_owned();
    let path = asked.strip_prefix("/api/v3/repos/acme/shop").map(str::to_owned);
    let sent = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let found = path.and_then(|path| hub.answers.lock().unwrap().get(&path).cloned());
    let (status, body, headers) = match (sent(AUTHORIZATION) == format!("Bearer {TOKEN}"), found) {
        (false, _) if !sent(AUTHORIZATION).is_empty() => (401, json!({"message": "Bad credentials"}), HeaderMap::new()),
        (true, Some(found)) => found,
        // GitHub hides private repositories.
        _ => (404, json!({"message": "Not Found"}), HeaderMap::new()),
    };
    let etag = format!("W/\"{}\"", body.to_string().len());
    let status = if status == 200 && sent(IF_NONE_MATCH) == etag { 304 } else { status };
    hub.log.lock().unwrap().push((asked, status));
    let body = if status == 304 { String::new() } else { body.to_string() };
    (StatusCode::from_u16(status).unwrap(), headers, [(ETAG, etag)], body).into_response()
}

fn issues(page: u32) -> String {
    let since = (now() - TimeDelta::days(7)).format("%Y-%m-%dT%H:%M:%SZ");
    format!("/issues?state=all&sort=updated&since={since}&per_page=100&page={page}")
}

fn ago(days: i64) -> String {
    (now() - TimeDelta::days(days)).to_rfc3339()
}

fn pull(number: u32, title: &str, days: i64, draft: bool, people: &[&str], teams: &[&str]) -> Json {
    let people: Vec<Json> = people.iter().map(|login| json!({"login": login, "id": 1})).collect();
    let teams: Vec<Json> = teams.iter().map(|name| json!({"name": name, "slug": name})).collect();
    json!({"number": number, "title": title, "user": {"login": "cid"}, "created_at": ago(days), "updated_at": ago(0), "draft": draft,
        "requested_reviewers": people, "requested_teams": teams, "head": {"ref": "x", "sha": format!("sha{number}")}})
}

fn issue(number: u32, title: &str, days: i64, closed: Option<i64>, pull: Json) -> Json {
    let mut issue = json!({"number": number, "title": title, "user": {"login": "dan"}, "html_url": format!("https://github.example/{number}"),
        "created_at": ago(days), "closed_at": closed.map(ago)});
    if !pull.is_null() {
        issue["pull_request"] = pull;
    }
    issue
}

fn query(now: DateTime<Utc>) -> FeedQuery {
    FeedQuery { now, ..last_days(7) }
}

async fn fails(feed: &Feed) -> String {
    feed.read(&last_days(7)).await.unwrap_err().to_string()
}

fn values(reading: &Reading) -> Vec<String> {
    reading.values.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn it_counts_what_waits_and_tells_for_whom_and_how_long() {
    let hub = Hub::start().await;
    hub.tell_usual();
    let reading = hub.usual().read(&last_days(7)).await.unwrap();
    assert_eq!(reading.source, "GitHub repository acme/shop");
    assert_eq!(values(&reading), ["open pull requests 3", "reviews waiting 2", "open issues 9", "failing checks 2"]);
    let story = [
        "Failing on main: ci/jenkins, test.",
        "#12 \"Fix the retry\" (cid) waits for a review by ann, open for 4 days.",
        "#15 \"Speed up the cart\" (cid) waits for a review by ann, bob, core, open for 1 day.",
        "#15 \"Speed up the cart\" (cid) fails: lint.",
        "Issues: 1 opened (#20 \"Crash at start\"), 1 closed (#19 \"Old typo\"). Pull requests: 1 merged (#11 \"Count orders once\").",
    ];
    assert_eq!(reading.story, story);
    let items: Vec<_> = reading.items.iter().map(|item| (item.what.as_ref(), item.text.as_str())).collect();
    let told =
        [("issue", "opened #20: Crash at start"), ("pull request", "merged #11: Count orders once"), ("issue", "closed #19: Old typo")];
    assert_eq!(items, told);
    assert_eq!((reading.items[0].reference.as_str(), reading.note), ("https://github.example/20", None));
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let hub = Hub::start().await;
    hub.tell_usual();
    let feed = hub.usual();
    let first = feed.read(&last_days(7)).await.unwrap();
    let sent = hub.count(200);
    assert_eq!(feed.read(&last_days(7)).await.unwrap(), first);
    assert_eq!((hub.count(200), hub.count(304)), (sent, sent), "each is asked for under its ETag");
}

#[tokio::test]
async fn long_lists_are_read_page_by_page_up_to_a_limit() {
    let hub = Hub::start().await;
    hub.tell_usual();
    let path = |page: u32| format!("/pulls?state=open&sort=updated&direction=desc&per_page=100&page={page}");
    let next = [("link", "<https://api.github.example/x?page=2>; rel=\"next\", <https://x>; rel=\"last\"".to_owned())];
    hub.tell_with(&path(1), 200, json!([pull(1, "One", 1, true, &[], &[])]), &next);
    hub.tell_with(&path(2), 200, json!([pull(2, "Two", 1, true, &[], &[])]), &[]);
    let reading = hub.usual().read(&last_days(7)).await.unwrap();
    assert_eq!(reading.find_value("open pull requests").unwrap().number.to_string(), "2");

    hub.tell_with(&path(2), 200, json!([pull(2, "Two", 1, true, &[], &[])]), &next);
    hub.tell_with(&path(3), 200, json!([pull(3, "Three", 1, true, &[], &[])]), &next);
    let cut = hub.usual().read(&last_days(7)).await.unwrap();
    assert!(cut.find_value("open pull requests").is_none(), "what is not known is not counted");
    assert_eq!(cut.note.as_deref(), Some("only the newest 300 pull requests and issues were read"));
}

#[tokio::test]
async fn a_wrong_token_and_a_missing_repository_say_what_to_do() {
    let hub = Hub::start().await;
    hub.tell_usual();
    assert_eq!(
        fails(&hub.feed(Some("wrong"), json!({"repo": "acme/shop"}))).await,
        "GitHub refused the token in GITHUB_TOKEN. Create a new one"
    );
    assert_eq!(
        fails(&hub.feed(Some(TOKEN), json!({"repo": "acme/shpo"}))).await,
        "GitHub has no repository acme/shpo, or the token in GITHUB_TOKEN may not read it"
    );
    assert_eq!(
        fails(&hub.feed(None, json!({"repo": "acme/shop"}))).await,
        "GitHub has no repository acme/shop. If it is private, set GITHUB_TOKEN"
    );
    hub.tell("", json!(["something else"]));
    let error = fails(&hub.usual()).await;
    assert!(error.starts_with("GitHub answered with something else than expected"), "{error}");
    for repo in ["shop", "acme/shop/x", "../shop", "acme/", "acme/sh op", "acme/shop?x=1"] {
        let wrong = spec("github", "shop", json!({"repo": repo}));
        let refused = feeds::build(&wrong, &sources(Path::new("/nowhere"), &ManualClock::new(now()))).err().unwrap().to_string();
        assert_eq!(refused, "feed \"shop\": repo must be a repository such as \"riverqueue/river\"", "{repo}");
    }
}

#[tokio::test]
async fn checks_that_may_not_be_read_are_noted_and_the_rest_is_told() {
    let hub = Hub::start().await;
    hub.tell_usual();
    hub.tell_with("/commits/main/check-runs?per_page=100", 403, json!({"message": "Resource not accessible"}), &[]);
    let reading = hub.usual().read(&last_days(7)).await.unwrap();
    let note = "some checks could not be read: the token in GITHUB_TOKEN may not read this of acme/shop. Give it read access";
    assert_eq!(reading.note.as_deref(), Some(note));
    assert!(reading.find_value("failing checks").is_none() && reading.find_value("reviews waiting").is_some());
}

#[tokio::test]
async fn while_the_limit_is_reached_nothing_is_asked() {
    let hub = Hub::start().await;
    let reset = (now() + TimeDelta::minutes(12)).timestamp().to_string();
    let limited = [("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", reset)];
    hub.tell_with("", 403, json!({"message": "API rate limit exceeded"}), &limited);
    let feed = hub.usual();
    let told = "GitHub takes no more requests for 12 min, because its limit is reached";
    assert_eq!(fails(&feed).await, told);
    let asked = hub.log.lock().unwrap().len();
    assert_eq!(fails(&feed).await, told);
    assert_eq!(hub.log.lock().unwrap().len(), asked, "no request is sent");

    hub.tell_usual();
    let later = feed.read(&query(now() + TimeDelta::minutes(13))).await.expect("the limit is over");
    assert_eq!(later.find_value("reviews waiting").unwrap().number.to_string(), "2");

    hub.tell_with("", 429, json!({"message": "secondary rate limit"}), &[("retry-after", "90".to_owned())]);
    assert_eq!(fails(&hub.usual()).await, "GitHub takes no more requests for 2 min, because its limit is reached");
}
