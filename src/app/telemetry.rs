//! Logs and metrics of the process.

use std::io::IsTerminal;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

use crate::adapters::http::settings::{LogFormat, ServerSettings};

/// Starts logging to standard error. Called once, by `main`'s commands that run the team; standard output belongs to a command's result.
pub fn start_logs(settings: &ServerSettings) -> anyhow::Result<()> {
    // serenity prints payloads it cannot parse, with whatever people wrote in them, as warnings (reliability note, section 4).
    let filter = EnvFilter::try_new(format!("{},serenity=error", settings.log))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    let started = match settings.log_format {
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
        LogFormat::Text => subscriber.compact().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging was started before: {error}"))
}

/// Collects metrics for `/metrics`. Works once a process; a second call gives the first collector.
pub fn start_metrics() -> PrometheusHandle {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let handle = recorder.handle();
            // Another recorder is only there when a program around the library brought its own; then ours shows nothing.
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is in place");
            }
            handle
        })
        .clone()
}
