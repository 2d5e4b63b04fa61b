use std::sync::Arc;
use std::time::Duration;

use crate::finding::Finding;
use crate::ids::PersonaSlug;
use crate::llm::endpoint::{Endpoint, Planned};
use crate::llm::espeak::{self, Espeak};
use crate::llm::provider::HttpSpeech;
use crate::llm::settings::{ModelSettings, SpeechSetting};
use crate::llm::sound::Sound;
use crate::llm::{Meter, ModelError, UnknownProvider, tokens_of};
use crate::money::{Purpose, TokenUsage};
use crate::persona::Voice;
use crate::time::SharedClock;

/// The engine that speaks for the personas. Calls of an endpoint are in the ledger, within the budgets.
pub struct Speech {
    engine: Engine,
    /// `espeak-ng` or `provider/model`.
    name: String,
    /// How long an utterance may take.
    limit: Duration,
}

enum Engine {
    Espeak(Espeak),
    Http { adapter: HttpSpeech, endpoint: Box<Endpoint> },
}

/// A text to be spoken.
#[derive(Debug, Clone, Copy)]
pub struct Utterance<'a> {
    /// At most [`Speech::CHARACTERS`].
    pub text: &'a str,
    pub voice: &'a Voice,
    /// The persona whose voice it is. None: the voice is not one of a persona.
    pub persona: Option<&'a PersonaSlug>,
    /// The subject of the call in the ledger.
    pub subject: &'a str,
}

impl Speech {
    /// The most characters of an utterance. About 80 seconds: all providers take it, and its sound is below the limit of an answer.
    pub const CHARACTERS: usize = 1200;

    /// None if nothing can speak: it is switched off, or `espeak-ng` is not installed.
    ///
    /// # Errors
    /// The provider is unknown.
    pub fn new(
        settings: &ModelSettings,
        http: &reqwest::Client,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<Option<Self>, UnknownProvider> {
        let limit = settings.first_byte_timeout;
        let model = match &settings.speech {
            SpeechSetting::Off => return Ok(None),
            SpeechSetting::Auto | SpeechSetting::EspeakNg => {
                let found = Espeak::find();
                return Ok(found.map(|espeak| Self { engine: Engine::Espeak(espeak), name: espeak::NAME.to_owned(), limit }));
            }
            SpeechSetting::Model(model) => model.clone(),
        };
        let (endpoint, provider) = Endpoint::new(model, "speech", settings, meter, clock)?;
        let name = format!("{}/{}", endpoint.model.provider, endpoint.model.model);
        let adapter = HttpSpeech::new(http.clone(), provider, endpoint.model.model.clone());
        Ok(Some(Self { engine: Engine::Http { adapter, endpoint: Box::new(endpoint) }, name, limit }))
    }

    /// `espeak-ng` or `provider/model`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that the engine makes of a voice. The same text with the same description sounds the same.
    pub fn describe(&self, voice: &Voice) -> String {
        match &self.engine {
            Engine::Espeak(_) => Espeak::describe(voice),
            Engine::Http { adapter, .. } => {
                format!("{} {} {}", adapter.name_of(voice), voice.speed, adapter.directions(voice).unwrap_or_default())
            }
        }
    }

    /// One attempt.
    pub async fn speak(&self, utterance: &Utterance<'_>) -> Result<Sound, ModelError> {
        let Utterance { text, voice, persona, subject } = *utterance;
        let (adapter, endpoint) = match &self.engine {
            Engine::Espeak(espeak) => return espeak.speak(text, voice, self.limit).await,
            Engine::Http { adapter, endpoint } => (adapter, endpoint),
        };
        let characters = text.chars().count();
        let usage = TokenUsage { input: tokens_of(characters), ..TokenUsage::default() };
        let cost = endpoint.prices.cost_of_speech(&endpoint.model.model, characters as u64);
        let planned = Planned { purpose: Purpose::Voice, subject, persona, tokens: usage.input, cost, patience: self.limit };
        endpoint.call(planned, adapter.speak(text, voice, self.limit), |_| (usage, cost)).await
    }

    /// Says one word, for `teamroom doctor`.
    pub async fn try_once(&self) -> Finding {
        let voice = Voice::of("doctor");
        let said = self.speak(&Utterance { text: "Hello.", voice: &voice, persona: None, subject: "doctor" }).await;
        match said {
            Ok(_) => Finding::good(format!("speech {}: speaks", self.name)),
            Err(error) => Finding::fault(
                format!("speech {}: {error}", self.name),
                "Correct models.speech or the provider's key, or set it to \"off\".",
            ),
        }
    }
}
