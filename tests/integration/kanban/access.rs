//! Unauthorised requests get no data and change nothing (P18).

use reqwest::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use teamroom::adapters::http::settings::ServerSettings;
use teamroom::features::backlog::model::{WorkItem, WorkKind, WorkStatus};

use super::stage::{Stage, TOKEN, item};
use crate::support::team::Backing;

/// Must not appear in any refused response.
const SECRET: &str = "buy the rival";

struct Guarded {
    stage: Stage,
    routes: Vec<String>,
}

impl Guarded {
    async fn on(stage: Stage) -> Self {
        // A mission has two pages.
        let secret = WorkItem { kind: WorkKind::Mission, ..item(SECRET, WorkStatus::Ready, 1) };
        let [page, mission] = ["items", "missions"].map(|kind| format!("/backlog/{kind}/{}", secret.id));
        stage.insert(&[secret]).await;
        Self { stage, routes: ["/backlog", "/backlog.json", &page, &mission, "/backlog/live"].map(str::to_owned).into() }
    }

    fn ask(&self, method: Method, route: &str, lines: &[(HeaderName, &str)]) -> RequestBuilder {
        let request = self.stage.http.request(method, self.stage.url(route));
        lines.iter().fold(request, |request, (name, value)| request.header(name.clone(), *value))
    }

    /// Checks that each route refuses with this status and reveals nothing.
    async fn refuses(&self, expected: StatusCode, lines: &[(HeaderName, &str)], query: &str) {
        for route in &self.routes {
            let response = self.ask(Method::GET, &format!("{route}{query}"), lines).send().await.expect("an answer");
            assert_eq!(response.status(), expected, "{route}{query} with {lines:?}");
            check_headers(&response);
            let body = response.text().await.expect("a text");
            assert!(!body.contains(SECRET) && !body.contains("Vince"), "{route}{query} with {lines:?}: {body}");
        }
    }

    /// Checks that each route answers.
    async fn answers(&self, lines: &[(HeaderName, &str)]) {
        for route in &self.routes {
            let response = self.ask(Method::GET, route, lines).send().await.expect("an answer");
            assert_eq!(response.status(), StatusCode::OK, "{route} with {lines:?}");
            check_headers(&response);
            if route != "/backlog/live" {
                let body = response.text().await.expect("a text");
                assert!(body.contains(SECRET), "{route}: {body}");
            }
        }
    }
}

fn check_headers(response: &Response) {
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().expect("text"));
    assert!(response.headers().keys().all(|name| !name.as_str().starts_with("access-control-")), "{:?}", response.headers());
    assert_eq!(header("x-content-type-options"), Some("nosniff"));
    assert_eq!(header("cache-control"), Some("no-store"));
    assert!(matches!(header("referrer-policy"), Some("no-referrer" | "same-origin")));
    let policy = header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}

#[tokio::test]
async fn on_this_machine_the_board_is_open_by_its_own_names_and_to_its_own_page_only() {
    let guarded = Guarded::on(Stage::start(Backing::Sqlite).await).await;
    let ours = guarded.stage.address.to_string();
    let same_origin = format!("http://{ours}");
    guarded.answers(&[]).await;
    guarded.answers(&[(ORIGIN, &same_origin)]).await;

    guarded.refuses(StatusCode::MISDIRECTED_REQUEST, &[(HOST, "evil.example")], "").await;
    let rebound = format!("evil.example:{}", guarded.stage.address.port());
    guarded.refuses(StatusCode::MISDIRECTED_REQUEST, &[(HOST, &rebound)], "").await;
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        guarded.refuses(StatusCode::FORBIDDEN, &[(ORIGIN, origin)], "").await;
    }
}

#[tokio::test]
async fn on_another_address_there_is_no_board_without_a_token_and_health_stays() {
    let guarded = Guarded::on(Stage::start_with(Backing::Sqlite, "0.0.0.0:0", ServerSettings::default()).await).await;
    guarded.refuses(StatusCode::NOT_FOUND, &[], "").await;
    guarded.refuses(StatusCode::NOT_FOUND, &[(AUTHORIZATION, "Bearer ")], "").await;
    guarded.refuses(StatusCode::NOT_FOUND, &[(AUTHORIZATION, &format!("Bearer {TOKEN}"))], "").await;
    for route in ["/healthz", "/readyz", "/metrics"] {
        let response = guarded.ask(Method::GET, route, &[(HOST, "prometheus.example")]).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{route}");
    }
}

#[tokio::test]
async fn with_a_token_the_board_is_shown_to_whoever_has_it_wherever_it_is() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let guarded = Guarded::on(Stage::start_with_token(listen).await).await;
        let bearer = format!("Bearer {TOKEN}");
        guarded.refuses(StatusCode::UNAUTHORIZED, &[], "").await;
        for wrong in ["Bearer wrong-horse-battery", "Bearer", "Basic Zm9vOmJhcg==", TOKEN] {
            guarded.refuses(StatusCode::UNAUTHORIZED, &[(AUTHORIZATION, wrong)], "").await;
        }
        for name in ["token", "access_token", "authorization"] {
            guarded.refuses(StatusCode::UNAUTHORIZED, &[], &format!("?{name}={TOKEN}")).await;
        }
        guarded.refuses(StatusCode::UNAUTHORIZED, &[(COOKIE, &format!("teamroom_board={TOKEN}"))], "").await;
        // The other checks also apply with a token.
        guarded.refuses(StatusCode::MISDIRECTED_REQUEST, &[(AUTHORIZATION, &bearer), (HOST, "evil.example")], "").await;
        guarded.refuses(StatusCode::FORBIDDEN, &[(AUTHORIZATION, &bearer), (ORIGIN, "https://evil.example")], "").await;
        guarded.answers(&[(AUTHORIZATION, &bearer)]).await;
    }
}

#[tokio::test]
async fn a_listed_name_is_answered_with_the_token() {
    let settings = ServerSettings { hosts: vec!["team.example.com".into()], token: Some(TOKEN.into()), ..ServerSettings::default() };
    let guarded = Guarded::on(Stage::start_with(Backing::Sqlite, "127.0.0.1:0", settings).await).await;
    let bearer = format!("Bearer {TOKEN}");
    guarded.refuses(StatusCode::UNAUTHORIZED, &[(HOST, "team.example.com")], "").await;
    guarded.answers(&[(HOST, "team.example.com"), (AUTHORIZATION, &bearer), (ORIGIN, "https://team.example.com")]).await;
}

#[tokio::test]
async fn only_the_addresses_of_forms_take_changes() {
    let guarded = Guarded::on(Stage::start(Backing::Sqlite).await).await;
    let before = guarded.stage.json("/backlog.json").await;
    let same_origin = format!("http://{}", guarded.stage.address);
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        for route in &guarded.routes {
            let request = guarded.ask(method.clone(), route, &[(ORIGIN, &same_origin)]).body("{\"status\":\"done\"}");
            let response = request.send().await.expect("an answer");
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method} {route}");
            check_headers(&response);
        }
    }
    let head = guarded.ask(Method::HEAD, "/backlog", &[]).send().await.expect("an answer");
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(guarded.stage.json("/backlog.json").await, before);
}

#[tokio::test]
async fn a_person_signs_in_with_the_token_and_only_with_it() {
    let guarded = Guarded::on(Stage::start_with_token("127.0.0.1:0").await).await;
    let sign_in = async |token: &str, lines: &[(HeaderName, &str)]| {
        let form = reqwest::multipart::Form::new().text("token", token.to_owned());
        guarded.ask(Method::POST, "/backlog/sign-in", lines).multipart(form).send().await.expect("an answer")
    };
    let asked = guarded.ask(Method::GET, "/backlog", &[]).send().await.expect("an answer").text().await.expect("a page");
    assert!(asked.contains("action=\"&#x2f;backlog&#x2f;sign-in\"") && asked.contains("method=\"post\""), "{asked}");

    for wrong in ["", "wrong", "correct-horse-batter", &"x".repeat(20_000)] {
        let refused = sign_in(wrong, &[]).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert!(refused.headers().get(SET_COOKIE).is_none());
        assert!(refused.text().await.expect("a page").contains("Wrong token. Try again."));
    }
    assert_eq!(sign_in(TOKEN, &[(ORIGIN, "https://evil.example")]).await.status(), StatusCode::FORBIDDEN);

    let signed = sign_in(TOKEN, &[]).await;
    assert_eq!((signed.status(), signed.headers()[LOCATION].as_bytes()), (StatusCode::SEE_OTHER, &b"/backlog"[..]));
    check_headers(&signed);
    let cookie = signed.headers()[SET_COOKIE].to_str().expect("text").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(TOKEN), "{cookie}");
    guarded.answers(&[(COOKIE, cookie.split(';').next().expect("a value"))]).await;
}
