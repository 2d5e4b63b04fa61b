use std::net::SocketAddr;

use tracing_subscriber::EnvFilter;

use super::reader::{Section, choice};

/// `[server]`: health and metrics, and how the process logs.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// None: no HTTP server. Loopback by default.
    pub listen: Option<SocketAddr>,
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
        Self { listen: Some(SocketAddr::from(([127, 0, 0, 1], 9464))), log: "info".into(), log_format: LogFormat::Text }
    }
}

choice!(LogFormat { "text" => Self::Text, "json" => Self::Json });

impl ServerSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            listen: section.read("listen", default.listen, "Where health and metrics are served. Anybody who can reach it can read them."),
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
