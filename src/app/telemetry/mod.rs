//! Logs, traces and metrics of the process.

#[cfg(feature = "otel")]
mod otel;

use std::fs::File;
use std::io::IsTerminal;
use std::sync::Mutex;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing::Level;
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt, registry};

use crate::adapters::http::settings::{LogFormat, ServerSettings};

/// Sends the last spans when it is dropped.
#[must_use]
pub struct Telemetry {
    #[cfg(feature = "otel")]
    _exporter: Option<otel::Exporter>,
}

/// Starts logs and traces. Logs go to standard error if there is no `file`. `main`'s commands that run the team call it once. Standard output is for a
/// command's result.
pub fn start(settings: &ServerSettings, file: Option<File>) -> anyhow::Result<Telemetry> {
    // serenity logs payloads it cannot parse as warnings, including people's messages (reliability note, section 4).
    let filter = EnvFilter::try_new(format!("{},serenity=error", settings.log))?;
    // Spans are on at every level, so that a warning has the id of its message too.
    let filter = filter.or(filter_fn(|metadata| metadata.is_span() && *metadata.level() <= Level::INFO));
    let lines = fmt::layer()
        .with_ansi(file.is_none() && std::io::stderr().is_terminal())
        .with_writer(file.map_or_else(|| BoxMakeWriter::new(std::io::stderr), |file| BoxMakeWriter::new(Mutex::new(file))))
        .with_target(false);
    let lines = match settings.log_format {
        // The list of spans contains the current one.
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed(),
        LogFormat::Text => lines.compact().boxed(),
    };
    let subscriber = registry().with(lines.with_filter(filter));
    #[cfg(feature = "otel")]
    let (exporter, spans) = settings.otlp_endpoint.as_deref().map(otel::start).transpose()?.unzip();
    #[cfg(feature = "otel")]
    let subscriber = subscriber.with(spans.map(|spans| spans.with_filter(otel::filter())));
    subscriber.try_init().map_err(|error| anyhow::anyhow!("logging was started before: {error}"))?;
    #[cfg(not(feature = "otel"))]
    if settings.otlp_endpoint.is_some() {
        tracing::warn!("OTEL_EXPORTER_OTLP_ENDPOINT is ignored: this program was built without the cargo feature `otel`");
    }
    Ok(Telemetry {
        #[cfg(feature = "otel")]
        _exporter: exporter,
    })
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
