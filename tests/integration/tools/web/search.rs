use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use kernel::tools::Trace;
use kernel::tools::settings::{SearchEngine, SearchSettings};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Names, Run};
use crate::feeds::web::{Answer, Site};

fn run(engine: SearchEngine, url: String, key: Option<&str>) -> Run {
    let search = SearchSettings { engine, url, key: key.map(Into::into) };
    Run::new(&[], Some(search), Arc::new(Names::default()))
}

fn query() -> Value {
    json!({"query": "ärger & more"})
}

/// A search engine that records requests and finds nothing.
async fn listener() -> (String, Arc<Mutex<Vec<String>>>) {
    async fn note(State(asked): State<Arc<Mutex<Vec<String>>>>, request: Request) -> &'static str {
        let (head, body) = request.into_parts();
        let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        let keys = header("authorization") + &header("x-subscription-token");
        let body = String::from_utf8(to_bytes(body, 10_000).await.unwrap().to_vec()).unwrap();
        asked.lock().unwrap().push(format!("{} {} [{keys}] {body}", head.method, head.uri));
        r#"{"type": "search", "results": []}"#
    }
    let asked = Arc::new(Mutex::new(Vec::new()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(note).with_state(asked.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (base, asked)
}

#[tokio::test]
async fn each_engine_is_asked_in_its_own_way() {
    let (base, asked) = listener().await;
    for (engine, path, key) in [
        (SearchEngine::Brave, "/res/v1/web/search", Some("b-key")),
        (SearchEngine::Tavily, "/search", Some("t-key")),
        (SearchEngine::Searxng, "/searx/", None),
    ] {
        let found = run(engine, format!("{base}{path}"), key).perform("web_search", &query()).await.unwrap();
        assert_eq!((found.text.as_str(), found.outside), ("Nothing was found.", true));
    }
    assert_eq!(
        asked.lock().unwrap().as_slice(),
        [
            "GET /res/v1/web/search?q=%C3%A4rger+%26+more&count=10&text_decorations=false [b-key] ",
            "POST /search [Bearer t-key] {\"max_results\":10,\"query\":\"ärger & more\"}",
            "GET /searx/search?q=%C3%A4rger+%26+more&format=json [] ",
        ]
    );
}

#[tokio::test]
async fn results_are_told_and_may_be_fetched_afterwards() {
    let site = Site::start().await;
    let results: Vec<_> =
        (0..12).map(|n| json!({"title": format!("T{n}"), "url": format!("https://a.org/{n}#x"), "content": "words"})).collect();
    let url = site.tell("/", Answer::Body("application/json", json!({"results": results}).to_string().into()));
    let found = run(SearchEngine::Tavily, url, Some("k")).perform("web_search", &query()).await.unwrap();
    assert!(found.text.starts_with("1. T0\n   https://a.org/0\n   words\n2. T1\n"), "{}", found.text);
    let Some(Trace::Found { urls }) = found.trace else { panic!("no trace") };
    assert_eq!((urls.len(), urls[9].as_str()), (10, "https://a.org/9"));
}

#[tokio::test]
async fn a_search_that_fails_says_why() {
    let site = Site::start().await;
    for (answer, told) in [
        (Answer::Status(401), "the search refused its key; the operator has to look at it"),
        (Answer::Status(429), "the search takes no more queries for now; work with what was found"),
        (Answer::Status(500), "the search failed: it answered 500 Internal Server Error"),
        (Answer::Redirect("http://elsewhere.test/".into()), "the search failed: it answered 302 Found"),
        (Answer::Body("text/html", "<html>".into()), "the search answered with something that is no list of results"),
        (Answer::Body("application/json", "{}".into()), "the search answered with something that is no list of results"),
        (Answer::Broken, "the answer of the search broke off"),
        (Answer::Body("application/json", vec![b' '; (1 << 20) + 1].into()), "the answer of the search is too long"),
    ] {
        let run = run(SearchEngine::Brave, site.tell("/", answer), Some("k"));
        assert_eq!(run.perform("web_search", &query()).await.unwrap_err().to_string(), told);
    }
    let run = run(SearchEngine::Searxng, site.tell("/search", Answer::Status(403)).replace("/search", ""), None);
    let told = run.perform("web_search", &query()).await.unwrap_err().to_string();
    assert_eq!(told, "the search refused to answer; json has to be among search.formats of its settings");
}

#[tokio::test]
async fn a_search_that_hangs_is_given_up() {
    let site = Site::start().await;
    let run = run(SearchEngine::Brave, site.tell("/", Answer::Hangs), Some("k"));
    let run_out = async {
        while site.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        run.clock.advance(Duration::from_secs(20));
    };
    let arguments = query();
    let (told, ()) = tokio::join!(run.perform("web_search", &arguments), run_out);
    assert_eq!(told.unwrap_err().to_string(), "web_search took longer than 20 s");
}
