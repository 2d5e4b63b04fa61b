use std::net::{Ipv6Addr, SocketAddr};

use secrecy::{ExposeSecret as _, SecretString};
use tracing_subscriber::EnvFilter;

use super::reader::{Section, choice};

/// Whoever can reach the server may try as many tokens as the network carries; this many characters are out of reach.
const SHORTEST_TOKEN: usize = 16;

const VARIABLE: &str = "TEAMROOM_SERVER_TOKEN";

/// `[server]`: health, metrics and the board of the backlog, and how the process logs.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// None: no HTTP server. Loopback by default.
    pub listen: Option<SocketAddr>,
    /// Names besides the address and those of this machine by which the board may be asked for.
    pub hosts: Vec<String>,
    /// Who shows it may see the board. None: only this machine may. From `TEAMROOM_SERVER_TOKEN`.
    pub token: Option<SecretString>,
    /// A filter as `tracing` has it: `info`, `teamroom=debug,warn`.
    pub log: String,
    pub log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 9464))),
            hosts: Vec::new(),
            token: None,
            log: "info".into(),
            log_format: LogFormat::Text,
        }
    }
}

choice!(LogFormat { "text" => Self::Text, "json" => Self::Json });

impl ServerSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            listen: section.read(
                "listen",
                default.listen,
                "Where health, metrics and the board of the backlog are served. Anybody who can reach it can read the first two; the board needs a token anywhere but on this machine.",
            ),
            hosts: section.read_where(
                "hosts",
                default.hosts,
                "a list of names without scheme and port, such as [\"team.example.com\"]",
                "Names by which the board may be asked for, besides the address itself and localhost: those of a proxy in front.",
                |hosts: &Vec<String>| hosts.iter().all(|host| is_host_name(host)),
            ),
            token: read_token(section),
            log: section.read_where(
                "log",
                default.log,
                "a level (error, warn, info, debug, trace) or a list such as \"warn,teamroom=debug\"",
                "What is logged.",
                |filter: &String| EnvFilter::try_new(filter).is_ok(),
            ),
            log_format: section.read("log_format", default.log_format, "How lines of the log look."),
        }
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets, as browsers write them before the port.
fn is_host_name(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)),
    }
}

fn read_token(section: &mut Section<'_>) -> Option<SecretString> {
    let about = "Who shows this token may see the board of the backlog, as a bearer token or on its sign-in page. Without it the board is shown on this machine only.";
    let token = section.secret(VARIABLE, about)?;
    let length = token.expose_secret().chars().count();
    if length < SHORTEST_TOKEN {
        section.refuse_variable(VARIABLE, format!("has {length} characters; give at least {SHORTEST_TOKEN}, at random"));
        return None;
    }
    Some(token)
}
