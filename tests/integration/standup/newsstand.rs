//! Feeds on loopback with changeable content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, TimeDelta, Utc};
use kernel::persona::{FeedSpec, Persona};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

/// The answer of a path.
#[derive(Clone)]
pub(super) enum Paper {
    Json(Json),
    Xml(String),
    Html,
    Down,
    Hangs,
}

/// The server and its requests. Cheap to clone.
#[derive(Clone)]
pub(super) struct Newsstand {
    papers: Arc<Mutex<HashMap<String, Paper>>>,
    asked: Arc<Mutex<Vec<String>>>,
    base: String,
}

impl Newsstand {
    /// A shop, a market and news, all unchanged since yesterday.
    pub(super) async fn open(now: DateTime<Utc>) -> Self {
        let papers = Arc::new(Mutex::new(HashMap::new()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(serve).with_state((papers.clone(), asked.clone()));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let stand = Self { papers, asked, base };
        stand.lay_out("shop", Paper::Json(shop(412, 231)));
        stand.lay_out("market", Paper::Json(json!({"price": 187.25})));
        stand.lay_out("news", Paper::Xml(news(now)));
        stand
    }

    /// Sets the answer of a path.
    pub(super) fn lay_out(&self, path: &str, paper: Paper) {
        self.papers.lock().expect("no test panics with it").insert(format!("/{path}"), paper);
    }

    /// The number of reads of a path.
    pub(super) fn count_reads(&self, path: &str) -> usize {
        self.asked.lock().expect("no test panics with it").iter().filter(|asked| asked.trim_start_matches('/') == path).count()
    }

    /// Declares the shop for Vince, the news for Echo and the market for Oracle.
    pub(super) fn declare(&self, personas: &mut [Persona]) {
        let latency = json!({"pointer": "/latency", "unit": "ms"});
        let shop = json!({"values": {"latency": latency, "orders": "/orders"}, "time": "/at"});
        let market = json!({"values": {"price": {"pointer": "/price", "unit": "$"}}});
        for (slug, kind, name, mut settings) in
            [("vince", "http_json", "shop", shop), ("oracle", "http_json", "market", market), ("echo", "rss", "news", json!({}))]
        {
            let Some(persona) = personas.iter_mut().find(|persona| persona.slug.as_str() == slug) else { continue };
            settings["url"] = format!("{}/{name}", self.base).into();
            let Json::Object(settings) = settings else { unreachable!("settings are an object") };
            persona.feeds.push(FeedSpec { kind: kind.into(), name: name.into(), settings });
        }
    }

    /// Declares a feed of builds for Sentinel, with the expectation that no job fails.
    pub(super) fn declare_builds(&self, personas: &mut [Persona]) {
        let settings = json!({"url": format!("{}/builds", self.base), "values": {"failed jobs": "/failed", "minutes": "/minutes"},
            "expect": {"failed jobs": "== 0"}});
        let Json::Object(settings) = settings else { unreachable!("settings are an object") };
        let sentinel = personas.iter_mut().find(|persona| persona.slug.as_str() == "sentinel").expect("on the team");
        sentinel.feeds.push(FeedSpec { kind: "http_json".into(), name: "builds".into(), settings });
    }
}

/// The figures of a shop, dated now.
pub(super) fn shop(latency: u32, orders: u32) -> Json {
    json!({"latency": latency, "orders": orders})
}

/// News with these titles, so many hours old.
pub(super) fn news_of(now: DateTime<Utc>, titles: &[(&str, i64)]) -> String {
    let entry = |(title, hours): &(&str, i64)| {
        let at = (now - TimeDelta::hours(*hours)).to_rfc2822();
        format!("<item><title>{title}</title><link>http://news.example/{hours}</link><pubDate>{at}</pubDate></item>")
    };
    let entries: String = titles.iter().map(entry).collect();
    format!("<rss version=\"2.0\"><channel><title>News</title>{entries}</channel></rss>")
}

/// Three entries, two of them from the last day.
fn news(now: DateTime<Utc>) -> String {
    news_of(now, &[("Provider reports slow payments", 3), ("Forum praises the new search", 9), ("An old story", 70)])
}

type Stock = (Arc<Mutex<HashMap<String, Paper>>>, Arc<Mutex<Vec<String>>>);

async fn serve(State((papers, asked)): State<Stock>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let paper = papers.lock().expect("no test panics with it").get(&path).cloned();
    asked.lock().expect("no test panics with it").push(path);
    match paper {
        None | Some(Paper::Down) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Some(Paper::Json(json)) => axum::Json(json).into_response(),
        Some(Paper::Xml(text)) => ([(CONTENT_TYPE, "application/rss+xml")], text).into_response(),
        Some(Paper::Html) => ([(CONTENT_TYPE, "text/html")], "<html><body>Please log in</body></html>").into_response(),
        Some(Paper::Hangs) => std::future::pending().await,
    }
}
