//! Protection from foreign web pages. They could send requests through the browser, directly or with DNS rebinding.
//! Both are visible in the headers.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Rejects requests that were not sent to a loopback name, or that come from a page of another origin.
pub async fn reject_foreign_requests(request: Request, next: Next) -> Response {
    if is_from_here(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "The sandbox answers to this machine only; open it as http://127.0.0.1.\n").into_response()
}

fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    let host_is_local = text(header::HOST).is_some_and(is_loopback);
    // The same origin is required: another port of this machine is not trusted.
    let same_origin =
        text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(|host| Some(host) == text(header::HOST)));
    host_is_local && same_origin
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str, origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        headers
    }

    #[test]
    fn only_this_machine_and_the_own_page_are_answered() {
        for (host, origin, expected) in [
            ("127.0.0.1:8080", None, true),
            ("localhost", None, true),
            ("[::1]:9", None, true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:8080"), true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:9999"), false),
            ("127.0.0.1:8080", Some("https://example.com"), false),
            ("127.0.0.1:8080", Some("null"), false),
            ("evil.example:8080", None, false),
            ("127.0.0.1.evil.example", None, false),
        ] {
            assert_eq!(is_from_here(&headers(host, origin)), expected, "{host} {origin:?}");
        }
        assert!(!is_from_here(&HeaderMap::new()));
    }
}
