use std::net::SocketAddr;

/// `[server]`: health and metrics, and how the process logs.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// None: no HTTP server. Loopback by default.
    pub listen: Option<SocketAddr>,
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
