//! Sends spans to a collector, over HTTP with the OpenTelemetry protocol.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::trace::{
    SpanBuilder, SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer, TracerProvider as _,
};
use opentelemetry::{Context, Value};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SdkTracer, SdkTracerProvider, Span};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tracing::{Level, Metadata, Subscriber};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterFn, filter_fn};
use tracing_subscriber::registry::LookupSpan;

const NAME: &str = "teamroom";

/// The time limit of a request to the collector.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends spans in batches from a thread of its own. Sends the last ones when it is dropped.
pub(super) struct Exporter(SdkTracerProvider);

impl Drop for Exporter {
    fn drop(&mut self) {
        // A collector that is away must not keep the process.
        if let Err(error) = self.0.shutdown_with_timeout(TIMEOUT) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// `endpoint` is the address of the collector without the path. Called within a tokio runtime.
pub(super) fn start<S>(endpoint: &str) -> anyhow::Result<(Exporter, impl Layer<S> + use<S>)>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let http = kernel::network::client().redirect(reqwest::redirect::Policy::none()).timeout(TIMEOUT).build()?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Client { http, runtime: Handle::current(), fails: AtomicBool::new(false) })
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()
        .context("OTEL_EXPORTER_OTLP_ENDPOINT cannot be used")?;
    let provider = SdkTracerProvider::builder()
        .with_resource(Resource::builder().with_service_name(NAME).build())
        .with_id_generator(Ids::default())
        .with_batch_exporter(exporter)
        .build();
    let tracer = MessageTracer(provider.tracer(NAME));
    Ok((Exporter(provider), OpenTelemetryLayer::new(tracer).with_location(false).with_threads(false).with_tracked_inactivity(false)))
}

/// Lets through what this program says itself. Other crates may log what people write.
pub(super) fn filter() -> FilterFn {
    fn is_ours(metadata: &Metadata<'_>) -> bool {
        let crate_name = metadata.target().split(':').next();
        *metadata.level() <= Level::INFO && matches!(crate_name, Some("teamroom" | "kernel"))
    }
    filter_fn(is_ours)
}

/// Sends through the HTTP client of the team, which uses rustls with ring.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last request failed. Only a change is logged.
    fails: AtomicBool,
}

impl Client {
    fn note(&self, failure: Option<String>) {
        match (self.fails.swap(failure.is_some(), Ordering::Relaxed), failure) {
            (false, Some(error)) => tracing::warn!(error, "spans cannot be sent"),
            (true, None) => tracing::info!("spans can be sent again"),
            _ => {}
        }
    }
}

impl HttpClient for Client {
    // As the trait's own macro writes it, which differs from ours in its lifetimes.
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let request = self.http.execute(request.try_into()?);
            // The thread of the exporter has no runtime.
            let sent = self.runtime.spawn(async move {
                let response = request.await?;
                let status = response.status();
                Ok::<_, reqwest::Error>((status, response.bytes().await?))
            });
            let sent = sent.await?;
            self.note(match &sent {
                Ok((status, _)) => (!status.is_success()).then(|| format!("HTTP {}", status.as_u16())),
                Err(error) => Some(error.to_string()),
            });
            let (status, body) = sent?;
            Ok(Response::builder().status(status).body(body)?)
        })
    }
}

/// Makes one tree of the spans of a message. Jobs and deliveries begin in other tasks, sometimes in another process or after a restart, so they cannot
/// be children of the span of the message in memory. Therefore the ids of the trace and of its root are computed from the id of the message, and a
/// span without a parent that names a message becomes a child of that root.
#[derive(Debug)]
struct MessageTracer(SdkTracer);

impl Tracer for MessageTracer {
    type Span = Span;

    fn build_with_context(&self, builder: SpanBuilder, parent: &Context) -> Span {
        if parent.has_active_span() {
            return self.0.build_with_context(builder, parent);
        }
        let Some((trace, root)) = find_message(&builder).map(|message| ids_of(&message)) else {
            return self.0.build_with_context(builder, parent);
        };
        if builder.name == "message" {
            NEXT.set(Some((trace, root)));
            let span = self.0.build_with_context(builder, parent);
            NEXT.set(None);
            return span;
        }
        let root = SpanContext::new(trace, root, TraceFlags::SAMPLED, true, TraceState::default());
        self.0.build_with_context(builder, &parent.with_remote_span_context(root))
    }
}

fn find_message(builder: &SpanBuilder) -> Option<String> {
    let attributes = builder.attributes.as_ref()?;
    attributes.iter().find(|attribute| attribute.key.as_str() == "message").map(|attribute| match &attribute.value {
        Value::String(id) => id.as_str().to_owned(),
        other => other.to_string(),
    })
}

/// The ids of a message's trace and of the root in it.
fn ids_of(message: &str) -> (TraceId, SpanId) {
    let digest = Sha256::digest(message);
    let (mut trace, mut root) = ([0; 16], [0; 8]);
    trace.copy_from_slice(&digest[..16]);
    root.copy_from_slice(&digest[16..24]);
    (TraceId::from_bytes(trace), SpanId::from_bytes(root))
}

thread_local! {
    /// The ids of the span that this thread is building. The tracer of the SDK takes ids only from its generator.
    static NEXT: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// Random ids, except for the roots of messages.
#[derive(Debug, Default)]
struct Ids(RandomIdGenerator);

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        NEXT.get().map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        NEXT.get().map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}
