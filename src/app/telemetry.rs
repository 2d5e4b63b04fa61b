//! Logs and metrics of the process.

use std::fs::File;
use std::io::IsTerminal;
use std::sync::Mutex;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::adapters::http::settings::{LogFormat, ServerSettings};

/// Starts logging, to standard error if there is no `file`. `main`'s commands that run the team call it once. Standard output is for a command's result.
pub fn start_logs(settings: &ServerSettings, file: Option<File>) -> anyhow::Result<()> {
    // serenity logs payloads it cannot parse as warnings, including people's messages (reliability note, section 4).
    let filter = EnvFilter::try_new(format!("{},serenity=error", settings.log))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(file.is_none() && std::io::stderr().is_terminal())
        .with_writer(file.map_or_else(|| BoxMakeWriter::new(std::io::stderr), |file| BoxMakeWriter::new(Mutex::new(file))))
        .with_target(false);
    let started = match settings.log_format {
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
        LogFormat::Text => subscriber.compact().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging was started before: {error}"))
}

/// Collects metrics for `/metrics`. Works once per process. A second call returns the first collector.
pub fn start_metrics() -> PrometheusHandle {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let handle = recorder.handle();
            // A program that uses this library may have installed its own recorder. Then this one shows nothing.
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is in place");
            }
            handle
        })
        .clone()
}
