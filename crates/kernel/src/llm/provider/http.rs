//! HTTP as models need it: bounded in silence, in size, and in what gets into an error.

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, TryStreamExt, try_unfold};
use reqwest::{RequestBuilder, Response};

use crate::llm::ModelError;
use crate::llm::provider::draft::Draft;
use crate::llm::provider::failure::{Complaint, quote};

/// The most bytes of one response. Streams spend up to 300 bytes on a token, so this is far above the limit of the answer itself.
const RESPONSE_BYTES: usize = 8 << 20;
/// The most bytes of an error that are looked at.
const ERROR_BYTES: usize = 16 << 10;

/// One provider as seen from here.
#[derive(Clone, Copy)]
pub(super) struct Peer<'a> {
    pub provider: &'a str,
    /// Only to be kept out of errors.
    pub key: Option<&'a str>,
    /// The longest silence, before the first byte and between any two.
    pub idle_timeout: Duration,
}

/// Why there is no response to read.
pub(super) struct Unopened {
    pub error: ModelError,
    /// Whether the request may have been worked on all the same.
    pub charged: bool,
}

impl Unopened {
    /// The failure, its cost noted in the draft that stays empty.
    pub(super) fn noted_in(self, draft: &mut Draft<'_>) -> ModelError {
        if !self.charged {
            draft.not_charged();
        }
        self.error
    }
}

impl Peer<'_> {
    /// Sends a request and waits for a status of success.
    pub(super) async fn open(&self, request: RequestBuilder) -> Result<Response, Unopened> {
        let sent = self.within(request.send()).await.map_err(|error| Unopened { error, charged: true })?;
        let response = sent.map_err(|error| Unopened { charged: !error.is_connect() && !error.is_builder(), error: self.unsent(error) })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.read_error(response).await;
        Err(Unopened { error: Complaint::parse(&body).with_status(self.provider, status, &headers, self.key), charged: false })
    }

    /// The body as it comes.
    pub(super) fn body(self, response: Response) -> impl Stream<Item = Result<Bytes, ModelError>> {
        try_unfold((response, 0), move |(mut response, read)| async move {
            // A connection that breaks and a body that is shorter than announced are the same to the reader: half an answer.
            let chunk = self.within(response.chunk()).await?.map_err(|_| ModelError::Truncated { provider: self.provider.to_owned() })?;
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

    /// The whole body as text.
    pub(super) async fn text(self, response: Response) -> Result<String, ModelError> {
        let mut bytes = Vec::new();
        let mut body = pin!(self.body(response));
        while let Some(chunk) = body.try_next().await? {
            bytes.extend_from_slice(&chunk);
        }
        String::from_utf8(bytes)
            .map_err(|_| ModelError::Garbled { provider: self.provider.to_owned(), reason: "it is not text".to_owned() })
    }

    /// As much of an error's body as is worth reading. Trouble on the way does not matter: the status already says what happened.
    async fn read_error(&self, mut response: Response) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < ERROR_BYTES
            && let Ok(Ok(Some(chunk))) = self.within(response.chunk()).await
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    async fn within<T>(&self, step: impl Future<Output = T>) -> Result<T, ModelError> {
        tokio::time::timeout(self.idle_timeout, step).await.map_err(|_| ModelError::TimedOut { provider: self.provider.to_owned() })
    }

    /// A request that could not be built will not get better; everything else is connection trouble.
    fn unsent(&self, error: reqwest::Error) -> ModelError {
        let lasting = error.is_builder();
        // The address may hold credentials.
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            reason = format!("{reason}: {deeper}");
            cause = deeper.source();
        }
        let (provider, reason) = (self.provider.to_owned(), quote(&reason, self.key));
        if lasting { ModelError::Refused { provider, reason } } else { ModelError::Busy { provider, reason, retry_after: None } }
    }
}
