//! HTTP for model providers, with limits for idle time and size.

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, TryStreamExt, try_unfold};
use reqwest::{RequestBuilder, Response};

use crate::llm::provider::draft::Draft;
use crate::llm::provider::failure::{ProviderError, quote};
use crate::llm::{Cause, ModelError};

/// The most bytes of a response. Streams use up to 300 bytes per token, so this is far above the limit of an answer.
const RESPONSE_BYTES: usize = 8 << 20;
/// The most bytes read of an error response.
const ERROR_BYTES: usize = 16 << 10;

/// One provider's connection settings.
#[derive(Clone, Copy)]
pub(super) struct Peer<'a> {
    pub provider: &'a str,
    /// Only for removing it from errors.
    pub key: Option<&'a str>,
    /// The longest wait for the first byte. A local model is loaded first.
    pub first_byte_timeout: Duration,
    /// The longest wait between two reads.
    pub idle_timeout: Duration,
}

/// A request that got no usable response.
pub(super) struct Unopened {
    pub error: ModelError,
    /// Whether the request may have been processed and charged.
    pub charged: bool,
    /// The status and the message of the endpoint. None in a stream.
    pub reported: Option<(Option<u16>, ProviderError)>,
}

impl Unopened {
    /// Records the cost in the empty draft and returns the error.
    pub(super) fn noted_in(self, draft: &mut Draft<'_>) -> ModelError {
        if !self.charged {
            draft.not_charged();
        }
        self.error
    }
}

impl Peer<'_> {
    /// Sends a request and waits for a success status.
    pub(super) async fn open(&self, request: RequestBuilder) -> Result<Response, Unopened> {
        let sent = self.within(self.first_byte_timeout, request.send()).await;
        let sent = sent.map_err(|error| Unopened { error, charged: true, reported: None })?;
        let response = sent.map_err(|error| Unopened {
            charged: !error.is_connect() && !error.is_builder(),
            error: self.unsent(error),
            reported: None,
        })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.read_error(response).await;
        let reported = ProviderError::parse(&body);
        let error = reported.with_status(self.provider, status, &headers, self.key);
        Err(Unopened { error, charged: false, reported: Some((Some(status.as_u16()), reported)) })
    }

    /// The body as a stream.
    pub(super) fn body(self, response: Response) -> impl Stream<Item = Result<Bytes, ModelError>> {
        try_unfold((response, 0), move |(mut response, read)| async move {
            // A broken connection and a body shorter than announced are the same error: a partial answer.
            // Some servers send their headers at once and the first byte when the model is loaded.
            let patience = if read == 0 { self.first_byte_timeout } else { self.idle_timeout };
            let chunk =
                self.within(patience, response.chunk()).await?.map_err(|_| ModelError::Truncated { provider: self.provider.to_owned() })?;
            let Some(chunk) = chunk else { return Ok(None) };
            let read = read + chunk.len();
            if read > RESPONSE_BYTES {
                return Err(ModelError::Garbled {
                    provider: self.provider.to_owned(),
                    reason: "the response is longer than 8 MB".to_owned(),
                });
            }
            Ok(Some((chunk, (response, read))))
        })
    }

    /// The whole body.
    pub(super) async fn bytes(self, response: Response) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        let mut body = pin!(self.body(response));
        while let Some(chunk) = body.try_next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The whole body as text.
    pub(super) async fn text(self, response: Response) -> Result<String, ModelError> {
        String::from_utf8(self.bytes(response).await?)
            .map_err(|_| ModelError::Garbled { provider: self.provider.to_owned(), reason: "it is not text".to_owned() })
    }

    /// The beginning of an error's body. Read errors are ignored, because the status already tells what happened.
    async fn read_error(&self, mut response: Response) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < ERROR_BYTES
            && let Ok(Ok(Some(chunk))) = self.within(self.idle_timeout, response.chunk()).await
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    async fn within<T>(&self, patience: Duration, step: impl Future<Output = T>) -> Result<T, ModelError> {
        tokio::time::timeout(patience, step).await.map_err(|_| ModelError::TimedOut { provider: self.provider.to_owned() })
    }

    /// A request that cannot be built is a permanent error. Everything else is a connection problem.
    fn unsent(&self, error: reqwest::Error) -> ModelError {
        let lasting = error.is_builder();
        let cause = if error.is_connect() { Cause::Unreachable } else { Cause::Other };
        // The address may contain credentials.
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(deeper) = source {
            reason = format!("{reason}: {deeper}");
            source = deeper.source();
        }
        let (provider, reason) = (self.provider.to_owned(), quote(&reason, self.key));
        if lasting {
            ModelError::Refused { provider, reason, cause }
        } else {
            ModelError::Busy { provider, reason, cause, retry_after: None }
        }
    }
}
