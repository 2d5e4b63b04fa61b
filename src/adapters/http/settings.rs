use std::net::{Ipv6Addr, SocketAddr};

use secrecy::{ExposeSecret as _, SecretString};
use tracing_subscriber::EnvFilter;

use kernel::config::{Section, choice, settings};

/// An attacker can try as many tokens as the network carries. Guessing this many characters is not feasible.
const SHORTEST_TOKEN: usize = 16;

const VARIABLE: &str = "TEAMROOM_SERVER_TOKEN";

const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

settings! {
    /// `[server]`: health, metrics, the kanban page and logging.
    #[derive(Debug, Clone)]
    pub struct ServerSettings {
        /// None: no HTTP server.
        listen: Option<SocketAddr> = Some(SocketAddr::from(([127, 0, 0, 1], 9464))),
            "Address for health, metrics and the backlog page. Health and metrics are open to anyone who can reach it. The backlog page needs a token, except on this machine.";
        hosts: Vec<String> = Vec::new(),
            only "a list of names without scheme and port, such as [\"team.example.com\"]", |hosts| hosts.iter().all(|host| is_host_name(host)),
            "Extra host names for the backlog page, such as the name of a reverse proxy. The address itself and localhost always work.";
        /// Gives access to the kanban page. None: only from this machine. From `TEAMROOM_SERVER_TOKEN`.
        token: Option<SecretString> = None, by read_token;
        log: String = "info".into(), only "a level (error, warn, info, debug, trace) or a list such as \"warn,teamroom=debug\"",
            |filter| EnvFilter::try_new(filter).is_ok(), "Which messages are logged.";
        log_format: LogFormat = LogFormat::Text, "The format of the log.";
        /// The collector of spans. None: spans are only in the log. From `OTEL_EXPORTER_OTLP_ENDPOINT`.
        otlp_endpoint: Option<String> = None, by read_otlp_endpoint;
    }
}

impl ServerSettings {
    /// The address of the kanban page for people, if it is served at `bound` and its name is known.
    pub fn kanban_url(&self, bound: SocketAddr) -> Option<String> {
        match (&self.token, self.hosts.first()) {
            (None, _) if !bound.ip().is_loopback() => None,
            // A configured name is that of a proxy in front of the server.
            (Some(_), Some(host)) => Some(format!("https://{host}/backlog")),
            _ if bound.ip().is_unspecified() => None,
            _ => Some(format!("http://{bound}/backlog")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

choice!(LogFormat { "text" => Self::Text, "json" => Self::Json });

/// A name, an IPv4 address, or an IPv6 address in brackets, as in a `Host` header without the port.
fn is_host_name(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)),
    }
}

fn read_otlp_endpoint(section: &mut Section<'_>) -> Option<String> {
    let about =
        "Address of an OpenTelemetry collector that gets all spans, over HTTP. Needs a program that was built with `--features otel`.";
    let endpoint = section.variable(OTLP_ENDPOINT, "http://127.0.0.1:4318", about)?;
    if reqwest::Url::parse(&endpoint).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
        return Some(endpoint);
    }
    section.refuse_variable(OTLP_ENDPOINT, "is no address; give one that begins with http:// or https://");
    None
}

fn read_token(section: &mut Section<'_>) -> Option<SecretString> {
    let about =
        "Password for the backlog page, for its sign-in form or as a bearer token. Without it the page is available on this machine only.";
    let token = section.secret(VARIABLE, about)?;
    let length = token.expose_secret().chars().count();
    if length < SHORTEST_TOKEN {
        section.refuse_variable(VARIABLE, format!("has {length} characters; give at least {SHORTEST_TOKEN}, at random"));
        return None;
    }
    Some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_page_is_told_where_it_can_be_opened() {
        let url = |bound: &str, hosts: &[&str], token: Option<&str>| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let settings = ServerSettings { hosts, token: token.map(SecretString::from), ..ServerSettings::default() };
            settings.kanban_url(bound.parse().expect("an address"))
        };
        let token = Some("correct-horse-battery");
        assert_eq!(url("127.0.0.1:9464", &[], None).as_deref(), Some("http://127.0.0.1:9464/backlog"));
        assert_eq!(url("127.0.0.1:9464", &["team.example.com"], None).as_deref(), Some("http://127.0.0.1:9464/backlog"));
        assert_eq!(url("127.0.0.1:9464", &["team.example.com"], token).as_deref(), Some("https://team.example.com/backlog"));
        assert_eq!(url("10.0.0.1:9464", &[], token).as_deref(), Some("http://10.0.0.1:9464/backlog"));
        assert_eq!((url("10.0.0.1:9464", &[], None), url("0.0.0.0:9464", &[], token)), (None, None));
    }
}
