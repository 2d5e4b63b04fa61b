use std::net::{Ipv6Addr, SocketAddr};

use secrecy::{ExposeSecret as _, SecretString};
use tracing_subscriber::EnvFilter;

use kernel::config::{Section, choice, settings};

/// Whoever can reach the server may try as many tokens as the network carries; this many characters are out of reach.
const SHORTEST_TOKEN: usize = 16;

const VARIABLE: &str = "TEAMROOM_SERVER_TOKEN";

settings! {
    /// `[server]`: health, metrics and the board of the backlog, and how the process logs.
    #[derive(Debug, Clone)]
    pub struct ServerSettings {
        /// None: no HTTP server.
        listen: Option<SocketAddr> = Some(SocketAddr::from(([127, 0, 0, 1], 9464))),
            "Where health, metrics and the board of the backlog are served. Anybody who can reach it can read the first two; the board needs a token anywhere but on this machine.";
        hosts: Vec<String> = Vec::new(),
            only "a list of names without scheme and port, such as [\"team.example.com\"]", |hosts| hosts.iter().all(|host| is_host_name(host)),
            "Names by which the board may be asked for, besides the address itself and localhost: those of a proxy in front.";
        /// Who shows it may see the board. None: only this machine may. From `TEAMROOM_SERVER_TOKEN`.
        token: Option<SecretString> = None, by read_token;
        log: String = "info".into(), only "a level (error, warn, info, debug, trace) or a list such as \"warn,teamroom=debug\"",
            |filter| EnvFilter::try_new(filter).is_ok(), "What is logged.";
        log_format: LogFormat = LogFormat::Text, "How lines of the log look.";
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

choice!(LogFormat { "text" => Self::Text, "json" => Self::Json });

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
