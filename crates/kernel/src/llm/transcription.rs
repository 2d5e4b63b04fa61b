use std::sync::Arc;
use std::time::Duration;

use crate::finding::Finding;
use crate::llm::endpoint::{Endpoint, Planned};
use crate::llm::provider::{Heard, HttpTranscription};
use crate::llm::settings::ModelSettings;
use crate::llm::spoken::spoken;
use crate::llm::{Meter, ModelError, Sound, UnknownProvider};
use crate::money::{Money, Purpose, TokenUsage};
use crate::time::SharedClock;

/// Turns what people say into text, by the configured model of an endpoint. Every call is in the ledger, within the budgets.
pub struct Transcription {
    name: String,
    adapter: HttpTranscription,
    endpoint: Endpoint,
    limit: Duration,
}

/// The fewest bytes per second of speech: 16 kbit/s. Gives the longest that a recording can be.
const BYTES_PER_SECOND: u64 = 2_000;
/// The most tokens per second of sound. Providers count fewer tokens than that.
const TOKENS_PER_SECOND: u64 = 20;

impl Transcription {
    /// None if no endpoint is configured.
    ///
    /// # Errors
    /// The provider is unknown.
    pub fn new(
        settings: &ModelSettings,
        http: &reqwest::Client,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<Option<Self>, UnknownProvider> {
        let Some(model) = settings.transcription.clone() else { return Ok(None) };
        let (endpoint, provider) = Endpoint::new(model, "transcription", settings, meter, clock)?;
        Ok(Some(Self {
            name: format!("{}/{}", endpoint.model.provider, endpoint.model.model),
            adapter: HttpTranscription::new(http.clone(), provider, endpoint.model.model.clone()),
            endpoint,
            limit: settings.first_byte_timeout,
        }))
    }

    /// `provider/model`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Listens to half a second of silence, for `teamroom doctor`.
    pub async fn try_once(&self) -> Finding {
        match self.ask("silence.wav", Sound { rate: 16_000, samples: vec![0; 8_000] }.to_wav(), "doctor").await {
            Ok(_) => Finding::good(format!("transcription {}: listens", self.name)),
            Err(error) => Finding::fault(
                format!("transcription {}: {error}", self.name),
                "Correct models.transcription or the provider's key, or remove it.",
            ),
        }
    }

    /// The words of a recording, as far as somebody spoke. One attempt, and none for a recording in which nothing is heard. `name`: of its file.
    /// `sound`: what is in it, if it is known. `subject`: the message that it came with.
    ///
    /// # Errors
    /// [`ModelError::Empty`]: nobody speaks in it.
    pub async fn transcribe(&self, name: &str, bytes: Vec<u8>, sound: Option<Sound>, subject: &str) -> Result<String, ModelError> {
        let empty = || ModelError::Empty { provider: self.endpoint.model.provider.clone() };
        let sound = sound.or_else(|| Sound::from_wav(&bytes).ok());
        if sound.as_ref().is_some_and(|sound| !sound.may_be_speech()) {
            return Err(empty());
        }
        let heard = self.ask(name, bytes, subject).await?;
        let words = spoken(&heard, sound.is_some());
        if words.is_empty() { Err(empty()) } else { Ok(words) }
    }

    async fn ask(&self, name: &str, bytes: Vec<u8>, subject: &str) -> Result<Heard, ModelError> {
        let Endpoint { model, prices, .. } = &self.endpoint;
        let longest = (bytes.len() as u64).div_ceil(BYTES_PER_SECOND).max(1);
        let worst = TokenUsage { input: longest * TOKENS_PER_SECOND, ..TokenUsage::default() };
        let worst_cost = prices.cost_of_sound(&model.model, Duration::from_secs(longest)) + prices.cost(&model.model, worst);
        let planned =
            Planned { purpose: Purpose::Voice, subject, persona: None, tokens: worst.total(), cost: worst_cost, patience: self.limit };
        let bill = |heard: &Heard| -> (TokenUsage, Money) {
            let length = heard.length.unwrap_or(Duration::from_secs(longest));
            (heard.usage, prices.cost_of_sound(&model.model, length) + prices.cost(&model.model, heard.usage))
        };
        self.endpoint.call(planned, self.adapter.transcribe((name, bytes), worst, self.limit), bill).await
    }
}
