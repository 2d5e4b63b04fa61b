//! The speech APIs of `OpenAI`, which many other servers support too, and of `ElevenLabs`.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::llm::provider::http::Peer;
use crate::llm::settings::{ProviderKind, ProviderSettings};
use crate::llm::sound::Sound;
use crate::llm::{Counted, FailedAttempt, ModelError, tokens_of};
use crate::money::TokenUsage;
use crate::persona::Voice;

/// `OpenAI`'s voices that all its models have.
const OPENAI_VOICES: [&str; 9] = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

/// Voices that every account of `ElevenLabs` has: Sarah, George, Laura, Charlie, Alice, Brian, Lily, Daniel, Matilda, Will.
const ELEVENLABS_VOICES: [&str; 10] = [
    "EXAVITQu4vr4xnSDxMaL",
    "JBFqnCBsd6RMkjVDRZzb",
    "FGY2WhTYpPnrIDTdsKH5",
    "IKne3meq5aSn9XLyUdCD",
    "Xb7hH8MSUJpSbSDYk0k2",
    "nPczCjzI2devNBz1zQrb",
    "pFZP5JQG7iQjIQuC4Bku",
    "onwK4e9ZLuTAKqWW03F9",
    "XrExE9yKIg1WjnnlVkXv",
    "bIHbv24MWeRgasZH58oo",
];

/// The speeds that `ElevenLabs` takes, in percent.
const ELEVENLABS_SPEEDS: (u16, u16) = (70, 120);
/// The rate of the sound that is asked of `ElevenLabs`.
const ELEVENLABS_RATE: u32 = 24_000;

/// A model that speaks, behind an HTTP endpoint.
pub(in crate::llm) struct HttpSpeech {
    http: reqwest::Client,
    provider: ProviderSettings,
    model: String,
}

impl HttpSpeech {
    pub(in crate::llm) fn new(http: reqwest::Client, provider: ProviderSettings, model: String) -> Self {
        Self { http, provider, model }
    }

    /// The name of a voice at the endpoint.
    pub(in crate::llm) fn name_of<'a>(&self, voice: &'a Voice) -> &'a str {
        match (&voice.name, self.provider.kind) {
            (Some(name), _) => name,
            (None, ProviderKind::ElevenLabs) => ELEVENLABS_VOICES[voice.seed % ELEVENLABS_VOICES.len()],
            (None, _) => OPENAI_VOICES[voice.seed % OPENAI_VOICES.len()],
        }
    }

    /// The directions that are sent besides text and voice.
    pub(in crate::llm) fn directions(&self, voice: &Voice) -> Option<String> {
        // Older models refuse directions or do not know them.
        let takes_any = self.provider.kind == ProviderKind::OpenAi && self.model.starts_with("gpt-");
        takes_any.then(|| {
            let pitch = match voice.pitch {
                0..=40 => "low",
                60.. => "high",
                _ => "middle",
            };
            let tone = voice.tone.as_ref().map_or(String::new(), |tone| format!(" Tone: {tone}."));
            format!("Speak with the accent {} and a {pitch} voice.{tone}", voice.accent)
        })
    }

    /// One attempt within `limit`.
    pub(in crate::llm) async fn speak(&self, text: &str, voice: &Voice, limit: Duration) -> Result<Sound, FailedAttempt> {
        let worst = TokenUsage { input: tokens_of(text.chars().count()), ..TokenUsage::default() };
        let failed = |error, usage| FailedAttempt { error, usage, counted: Counted::default(), written: String::new() };
        let provider = || self.provider.name.clone();
        let Ok(asked) = tokio::time::timeout(limit, self.ask(text, voice, limit)).await else {
            return Err(failed(ModelError::TimedOut { provider: provider() }, worst));
        };
        let (kind, bytes) = asked.map_err(|(error, is_charged)| failed(error, if is_charged { worst } else { TokenUsage::default() }))?;
        let sound = match self.provider.kind {
            // This sound has no header, so an error text must not be taken for sound.
            ProviderKind::ElevenLabs if !kind.starts_with("text/") && !kind.contains("json") => {
                Sound::from_samples(&bytes, ELEVENLABS_RATE)
            }
            ProviderKind::ElevenLabs => Err("it sent text instead of sound".to_owned()),
            _ => Sound::from_wav(&bytes),
        };
        sound.map_err(|reason| failed(ModelError::Garbled { provider: provider(), reason }, worst))
    }

    /// The type and the bytes of the answer, or why there is none, and whether it may be charged.
    async fn ask(&self, text: &str, voice: &Voice, limit: Duration) -> Result<(String, Vec<u8>), (ModelError, bool)> {
        let key = self.provider.key.as_ref().map(ExposeSecret::expose_secret);
        let (base, name) = (self.provider.base_url.trim_end_matches('/'), self.name_of(voice));
        let post = if self.provider.kind == ProviderKind::ElevenLabs {
            let url = format!("{base}/text-to-speech/{name}?output_format=pcm_{ELEVENLABS_RATE}");
            let speed = f64::from(voice.speed.clamp(ELEVENLABS_SPEEDS.0, ELEVENLABS_SPEEDS.1)) / 100.0;
            let post = self.http.post(url).json(&json!({ "text": text, "model_id": self.model, "voice_settings": { "speed": speed } }));
            if let Some(key) = key { post.header("xi-api-key", key) } else { post }
        } else {
            let speed = f64::from(voice.speed) / 100.0;
            let mut body = json!({ "model": self.model, "input": text, "voice": name, "response_format": "wav", "speed": speed });
            if let Some(directions) = self.directions(voice) {
                body["instructions"] = directions.into();
            }
            let post = self.http.post(format!("{base}/audio/speech")).json(&body);
            if let Some(key) = key { post.bearer_auth(key) } else { post }
        };
        let peer = Peer { provider: &self.provider.name, key, first_byte_timeout: limit, idle_timeout: limit };
        let response = peer.open(post).await.map_err(|unopened| (unopened.error, unopened.charged))?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_lowercase();
        Ok((kind, peer.bytes(response).await.map_err(|error| (error, true))?))
    }
}
