//! Decides who may see the kanban page and act on it: both need the same.
//!
//! A foreign page in the same browser must not read it. So the `Host` header must be one of our names (a foreign name that resolves to our
//! address is refused) and the origin must be ours. On this machine that is enough. Elsewhere, or once a token is set, the token is
//! required too; without a token the page is not served there. The token comes as a bearer token, or as a cookie from the sign-in page. It
//! is never part of a URL, which histories and logs would record.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, header};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest, Sha256};

use crate::adapters::http::settings::ServerSettings;

const COOKIE: &str = "teamroom_kanban";

/// Set by proxies on forwarded requests. Such a request can arrive with a loopback `Host`, although it comes from elsewhere.
const FORWARDED: [HeaderName; 3] = [header::FORWARDED, header::VIA, HeaderName::from_static("x-forwarded-for")];

/// Says whether the page that sends a request is one of the same origin. Browsers leave it out without TLS, except on this machine.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

pub(super) struct Auth {
    bound: IpAddr,
    /// In lower case.
    hosts: Vec<String>,
    token: Option<SecretString>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The page is not served here.
    Hidden,
    /// The `Host` header is not one of our names.
    ForeignHost,
    /// The request comes from another site's page.
    ForeignOrigin,
    /// The request changes something and does not say which page it comes from.
    UnknownOrigin,
    /// The token is missing or wrong.
    Token,
}

impl Auth {
    pub(super) fn new(settings: &ServerSettings, bound: IpAddr) -> Self {
        let hosts = settings.hosts.iter().map(|host| host.to_lowercase()).collect();
        Self { bound, hosts, token: settings.token.clone() }
    }

    /// Checks a request. `open`: the resource shows nothing of the backlog, so no token is required.
    pub(super) fn check(&self, headers: &HeaderMap, open: bool) -> Result<(), Refusal> {
        if self.token.is_none() && !self.bound.is_loopback() {
            return Err(Refusal::Hidden);
        }
        let host = only(headers, &header::HOST).ok_or(Refusal::ForeignHost)?;
        let name = name_of(host).to_lowercase();
        if !self.knows(&name) {
            return Err(Refusal::ForeignHost);
        }
        if headers.contains_key(header::ORIGIN) && only(headers, &header::ORIGIN).and_then(authority_of) != Some(host) {
            return Err(Refusal::ForeignOrigin);
        }
        let forwarded = FORWARDED.iter().any(|name| headers.contains_key(name));
        match &self.token {
            None if is_loopback(&name) && !forwarded => Ok(()),
            None => Err(Refusal::Hidden),
            Some(_) if open => Ok(()),
            Some(token) => {
                if shows(headers, token) {
                    Ok(())
                } else {
                    Err(Refusal::Token)
                }
            }
        }
    }

    /// The additional check of a request that changes something. Every current browser says where a form comes from, by one of two headers. So a
    /// request without either does not come from our page.
    pub(super) fn check_source(headers: &HeaderMap) -> Result<(), Refusal> {
        if headers.contains_key(&FETCH_SITE) {
            return if only(headers, &FETCH_SITE) == Some("same-origin") { Ok(()) } else { Err(Refusal::ForeignOrigin) };
        }
        if headers.contains_key(header::ORIGIN) { Ok(()) } else { Err(Refusal::UnknownOrigin) }
    }

    /// The cookie to set if the given token is right.
    pub(super) fn sign_in(&self, given: &str) -> Option<String> {
        let token = self.token.as_ref().filter(|token| is_same(given, token.expose_secret()))?;
        // `SameSite=Strict`: the browser sends it only for requests of the page itself. Not `Secure`, because a proxy may or may not add
        // TLS.
        Some(format!("{COOKIE}={}; Path=/backlog; HttpOnly; SameSite=Strict", cookie_of(token)))
    }

    fn knows(&self, name: &str) -> bool {
        is_loopback(name) || address_of(name) == Some(self.bound) || self.hosts.iter().any(|host| host == name)
    }
}

/// Whether the request carries the token.
fn shows(headers: &HeaderMap, token: &SecretString) -> bool {
    let bearer = only(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    if let Some(given) = bearer {
        return is_same(given.trim(), token.expose_secret());
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|line| line.split(';'));
    let ours = cookies.filter_map(|cookie| cookie.trim().split_once('=')).find(|(name, _)| *name == COOKIE);
    ours.is_some_and(|(_, given)| is_same(given, &cookie_of(token)))
}

/// The cookie's value. It gives access to the page but is not the token, because browsers send cookies to every port of a host.
fn cookie_of(token: &SecretString) -> String {
    let digest = Sha256::digest(format!("kanban page\n{}", token.expose_secret()));
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Compares in constant time, using digests.
fn is_same(given: &str, secret: &str) -> bool {
    let (given, secret) = (Sha256::digest(given), Sha256::digest(secret));
    given.iter().zip(&secret).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// The text of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Host and port of an origin. Accepts both schemes, because a proxy may terminate TLS.
fn authority_of(origin: &str) -> Option<&str> {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

fn name_of(host: &str) -> &str {
    host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name)
}

fn address_of(name: &str) -> Option<IpAddr> {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name).parse().ok()
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || address_of(name).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "correct-horse-battery";

    fn auth(bound: &str, hosts: &[&str], token: Option<&str>) -> Auth {
        let settings = ServerSettings {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            token: token.map(SecretString::from),
            ..ServerSettings::default()
        };
        Auth::new(&settings, bound.parse().expect("an address"))
    }

    fn headers(lines: &[(HeaderName, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    fn ask(auth: &Auth, lines: &[(HeaderName, &str)]) -> Result<(), Refusal> {
        auth.check(&headers(lines), false)
    }

    #[test]
    fn this_machine_sees_the_kanban_page_by_its_own_names_only() {
        let auth = auth("127.0.0.1", &[], None);
        for host in ["127.0.0.1:9464", "localhost:9464", "LOCALHOST", "[::1]:9464", "127.0.0.2"] {
            assert_eq!(ask(&auth, &[(header::HOST, host)]), Ok(()), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:9464", "127.0.0.1.evil.example", "10.0.0.1", "", "localhost:99999"] {
            assert_eq!(ask(&auth, &[(header::HOST, host)]), Err(Refusal::ForeignHost), "{host}");
        }
        assert_eq!(ask(&auth, &[]), Err(Refusal::ForeignHost), "no name at all");
        assert_eq!(ask(&auth, &[(header::HOST, "localhost"), (header::HOST, "evil.example")]), Err(Refusal::ForeignHost));
    }

    #[test]
    fn a_page_from_elsewhere_is_refused_even_from_another_port_of_this_machine() {
        let auth = auth("127.0.0.1", &[], None);
        let from = |origin| ask(&auth, &[(header::HOST, "localhost:9464"), (header::ORIGIN, origin)]);
        assert_eq!(from("http://localhost:9464"), Ok(()));
        for origin in ["http://localhost:3000", "http://localhost", "https://evil.example", "null", "http://127.0.0.1:9464"] {
            assert_eq!(from(origin), Err(Refusal::ForeignOrigin), "{origin}");
        }
    }

    #[test]
    fn a_change_says_that_it_comes_from_our_page() {
        let ask = |lines: &[(HeaderName, &str)]| Auth::check_source(&headers(lines));
        assert_eq!(ask(&[]), Err(Refusal::UnknownOrigin));
        assert_eq!(ask(&[(FETCH_SITE, "same-origin")]), Ok(()));
        // Every request is checked against our own names.
        assert_eq!(ask(&[(header::ORIGIN, "http://localhost:9464")]), Ok(()));
        for site in ["cross-site", "same-site", "none", "", "SAME-ORIGIN"] {
            assert_eq!(ask(&[(FETCH_SITE, site), (header::ORIGIN, "http://localhost:9464")]), Err(Refusal::ForeignOrigin), "{site}");
        }
        assert_eq!(ask(&[(FETCH_SITE, "same-origin"), (FETCH_SITE, "cross-site")]), Err(Refusal::ForeignOrigin));
    }

    #[test]
    fn on_another_address_there_is_no_kanban_page_without_a_token() {
        let host = [(header::HOST, "10.0.0.1:9464")];
        assert_eq!(ask(&auth("10.0.0.1", &[], None), &host), Err(Refusal::Hidden));
        let local = [(header::HOST, "127.0.0.1:9464")];
        assert_eq!(ask(&auth("0.0.0.0", &[], None), &local), Err(Refusal::Hidden), "a forged name opens nothing");

        let auth = auth("10.0.0.1", &[], Some(TOKEN));
        assert_eq!(ask(&auth, &host), Err(Refusal::Token));
        assert_eq!(auth.check(&headers(&host), true), Ok(()), "what shows nothing of the backlog");
        let bearer = |token: &str| ask(&auth, &[(header::HOST, "10.0.0.1:9464"), (header::AUTHORIZATION, token)]);
        assert_eq!(bearer(&format!("Bearer {TOKEN}")), Ok(()));
        for wrong in ["Bearer wrong", "Bearer ", TOKEN, "Basic Y29ycmVjdA=="] {
            assert_eq!(bearer(wrong), Err(Refusal::Token), "{wrong}");
        }
    }

    #[test]
    fn behind_a_proxy_there_is_no_kanban_page_without_a_token() {
        let named = [(header::HOST, "team.example.com")];
        assert_eq!(ask(&auth("127.0.0.1", &["team.example.com"], None), &named), Err(Refusal::Hidden));
        assert_eq!(ask(&auth("127.0.0.1", &["Team.Example.com"], Some(TOKEN)), &named), Err(Refusal::Token));
        let forwarded = [(header::HOST, "127.0.0.1:9464"), (HeaderName::from_static("x-forwarded-for"), "203.0.113.7")];
        assert_eq!(ask(&auth("127.0.0.1", &[], None), &forwarded), Err(Refusal::Hidden));
        let signed = [(header::HOST, "team.example.com"), (header::ORIGIN, "https://team.example.com")];
        assert_eq!(ask(&auth("127.0.0.1", &["team.example.com"], Some(TOKEN)), &signed), Err(Refusal::Token), "and not a foreign origin");
    }

    #[test]
    fn whoever_signs_in_gets_a_cookie_that_is_not_the_token() {
        let auth = auth("127.0.0.1", &[], Some(TOKEN));
        assert_eq!(auth.sign_in("wrong"), None);
        assert_eq!(self::auth("127.0.0.1", &[], None).sign_in(""), None);
        let cookie = auth.sign_in(TOKEN).expect("a cookie");
        assert!(!cookie.contains(TOKEN) && cookie.ends_with("HttpOnly; SameSite=Strict"), "{cookie}");
        let value = cookie.split(';').next().expect("a value");
        let ask = |cookies: &str| ask(&auth, &[(header::HOST, "localhost"), (header::COOKIE, cookies)]);
        assert_eq!(ask(&format!("theme=dark; {value}")), Ok(()));
        assert_eq!(ask(&format!("{COOKIE}={TOKEN}")), Err(Refusal::Token));
        assert_eq!(ask(&format!("{value}0")), Err(Refusal::Token));
    }
}
