//! `[models]`: endpoints, the models of each tier, and token prices.
//!
//! `known` lists providers that need no address. `read` combines the operator's settings. Nothing here calls an endpoint.

mod known;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::config::{Section, choice, hours, millis, mins, secs, settings};
use crate::persona::Tier;

pub(in crate::llm) use read::SHORT_PATH;
pub use read::is_web_address;

settings! {
    /// `[models]`: providers, tiers and prices. Without a provider the team works offline.
    #[derive(Debug, Clone)]
    pub struct ModelSettings {
        connect_timeout: Duration = secs(5), in millis(100)..=mins(5), "Time limit for connecting to a provider.";
        first_byte_timeout: Duration = mins(2), in secs(1)..=mins(30), "Time limit for the first part of an answer. A local model is loaded first.";
        idle_timeout: Duration = secs(30), in secs(1)..=mins(10), "Time limit between two parts of a streamed answer.";
        total_timeout: Duration = mins(5), in secs(1)..=hours(1), "Time limit of a whole model call.";
        patience: u32 = 5, in 1..=20,
            "How many times as long as with a quick model a decision about a message or a colleague's answer may take, if the model is slow.";
        attempts: u32 = 3, in 1..=10, "Most attempts of a model call, including the first.";
        vision: Vec<String> = Vec::new(),
            "Models that see pictures, by name, besides those that are known to (Claude, GPT-4o and newer, Gemini, Pixtral and others). Put a - before the name of one that does not.";
        max_output_tokens: u32 = 1500, in 16..=200_000, "Most tokens in an answer.";
        embeddings: Option<ModelRef> = None, by read_embeddings;
        embedding_dimensions: Option<u32> = None, only "a whole number from 16 to 4096, or \"none\"",
            |number: &Option<u32>| number.is_none_or(|number| (16..=4096).contains(&number)), "Length of the vectors to ask for, if the embeddings model offers several.";
        embedding_folder: Option<PathBuf> = None,
            "A folder with a sentence model (config.json, tokenizer.json, model.safetensors) that runs in this process instead. Needs a program that was built with `--features sentence-model`.";
        speech: SpeechSetting = SpeechSetting::Auto, by read_speech;
        transcription: Option<ModelRef> = None, by read_transcription;
        providers: Vec<ProviderSettings> = Vec::new();
        /// The models of each tier in order. A missing tier uses the next lower one. `t1` always exists if there is a provider.
        tiers: BTreeMap<Tier, Vec<ModelRef>> = BTreeMap::new();
        prices_file: PathBuf = "prices.toml".into(),
            "A file beside this one with more prices of models. Each has a heading such as [\"example-model\"] and the keys of [models.prices.example-model], which wins.";
        /// By model name. The price of an unlisted model is unknown: it appears with zero in the ledger and is limited by tokens.
        prices: BTreeMap<String, ModelPrice> = BTreeMap::new();
        /// Context windows in tokens by model name, as set by the operator.
        windows: BTreeMap<String, usize> = BTreeMap::new();
    }
}

/// The context window of a model that nothing is known about, in tokens.
pub const UNKNOWN_WINDOW: usize = 32_000;

#[derive(Debug, Clone)]
pub struct ProviderSettings {
    pub name: String,
    pub kind: ProviderKind,
    /// Including the version: `http://127.0.0.1:11434/v1`, `https://api.anthropic.com/v1`.
    pub base_url: String,
    pub key: Option<SecretString>,
    /// The most concurrent calls.
    pub parallel: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    OpenAi,
    Anthropic,
    /// Only for speech.
    ElevenLabs,
}

choice!(ProviderKind { "openai" => Self::OpenAi, "anthropic" => Self::Anthropic, "elevenlabs" => Self::ElevenLabs });

/// The engine that speaks for the personas.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum SpeechSetting {
    /// `espeak-ng`, if it is installed.
    #[default]
    Auto,
    Off,
    EspeakNg,
    Model(ModelRef),
}

impl SpeechSetting {
    pub fn model(&self) -> Option<&ModelRef> {
        if let Self::Model(model) = self { Some(model) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelRef {
    pub provider: String,
    pub model: String,
}

/// Dollars per million tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct ModelPrice {
    /// For a model that speaks: dollars per million characters.
    pub input: f64,
    pub cached: f64,
    pub output: f64,
    /// For a model that transcribes: dollars per minute of sound.
    pub minute: f64,
}

fn read_embeddings(section: &mut Section<'_>) -> Option<ModelRef> {
    let name: Option<String> = section.read_where(
        "embeddings",
        None,
        "\"provider/model\" such as \"openai/text-embedding-3-small\", or \"none\"",
        "A model that finds memories by their meaning, by the embeddings API of an OpenAI-compatible provider. Without it, words and letters serve.",
        |name: &Option<String>| name.as_deref().is_none_or(|name| read::parse_model(name).is_some()),
    );
    read::parse_model(name.as_deref()?)
}

fn read_speech(section: &mut Section<'_>) -> SpeechSetting {
    let parse = |text: &str| match text {
        "auto" => Some(SpeechSetting::Auto),
        "off" => Some(SpeechSetting::Off),
        "espeak-ng" => Some(SpeechSetting::EspeakNg),
        _ => read::parse_model(text).map(SpeechSetting::Model),
    };
    let text: String = section.read_where(
        "speech",
        "auto".to_owned(),
        "\"espeak-ng\", \"off\", \"auto\", or \"provider/model\" such as \"openai/tts-1\" or \"elevenlabs/eleven_multilingual_v2\"",
        "What speaks for the personas: espeak-ng on this machine (free), or a model of an OpenAI-compatible provider or of ElevenLabs. \"auto\": espeak-ng where it is installed.",
        |text: &String| parse(text).is_some(),
    );
    parse(&text).unwrap_or_default()
}

fn read_transcription(section: &mut Section<'_>) -> Option<ModelRef> {
    let name: Option<String> = section.read_where(
        "transcription",
        None,
        "\"provider/model\" such as \"openai/whisper-1\", or \"none\"",
        "A model that turns voice messages into text, by the transcription API of an OpenAI-compatible provider. Without it they are only named.",
        |name: &Option<String>| name.as_deref().is_none_or(|name| read::parse_model(name).is_some()),
    );
    read::parse_model(name.as_deref()?)
}

impl ModelSettings {
    /// The models without a known price, as `provider/model`. What runs on this machine or in its network costs nothing.
    pub fn list_unpriced(&self) -> Vec<String> {
        let is_own = |name: &str| self.providers.iter().any(|provider| provider.name == name && read::is_nearby(&provider.base_url));
        let models = self.tiers.values().flatten().chain(self.speech.model()).chain(&self.transcription);
        let unpriced = models.filter(|model| !self.prices.contains_key(&model.model) && !is_own(&model.provider));
        let mut names: Vec<String> = unpriced.map(|model| format!("{}/{}", model.provider, model.model)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The context window of a model in tokens. None: it is not known.
    pub fn find_window(&self, model: &str) -> Option<usize> {
        self.windows.get(model).copied().or_else(|| known::find_window(model))
    }

    /// Whether a model sees pictures.
    pub fn sees(&self, model: &str) -> bool {
        let is_listed = |listed: &str| self.vision.iter().any(|name| name == listed);
        !is_listed(&format!("-{model}")) && (is_listed(model) || known::sees(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_price_is_unknown_unless_it_runs_nearby() {
        let provider = |name: &str, base_url: &str| ProviderSettings {
            name: name.into(),
            kind: ProviderKind::OpenAi,
            base_url: base_url.into(),
            key: None,
            parallel: 1,
        };
        let model = |provider: &str, model: &str| ModelRef { provider: provider.into(), model: model.into() };
        let far = "https://models.example/v1";
        let settings = ModelSettings {
            providers: vec![
                provider("far", far),
                provider("near", "http://127.0.0.1:11434/v1"),
                provider("home", "http://[::1]:8080/v1"),
                provider("lan", "http://10.0.0.7/v1"),
                provider("box", "http://box.local:1234/v1"),
            ],
            tiers: [
                (Tier::T1, vec![model("far", "known"), model("far", "new"), model("near", "new"), model("home", "new")]),
                (Tier::T2, vec![model("lan", "new"), model("box", "new"), model("far", "new")]),
            ]
            .into(),
            prices: [("known".to_owned(), ModelPrice::default())].into(),
            ..ModelSettings::default()
        };
        assert_eq!(settings.list_unpriced(), ["far/new"]);
    }

    #[test]
    fn a_context_window_is_set_or_known_by_name() {
        let settings = ModelSettings { windows: [("gpt-4o".to_owned(), 16_000)].into(), ..ModelSettings::default() };
        for (model, window) in [
            ("gpt-4o", Some(16_000)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4.1-mini", Some(1_000_000)),
            ("anthropic/claude-sonnet-4.5", Some(200_000)),
            ("Gemini-2.5-pro", Some(1_000_000)),
            // A local server gives it as little as it likes.
            ("llama3.2", None),
        ] {
            assert_eq!(settings.find_window(model), window, "{model}");
        }
    }

    #[test]
    fn a_model_sees_if_it_is_known_to_or_listed() {
        let settings = ModelSettings { vision: vec!["house-eyes".into(), "-gpt-4.1".into()], ..ModelSettings::default() };
        for (model, sees) in [
            ("claude-haiku-4-5", true),
            ("anthropic/claude-sonnet-4.5", true),
            ("gpt-4.1-mini", true),
            ("gpt-4.1", false),
            ("gpt-3.5-turbo", false),
            ("llama3.2", false),
            ("llama3.2-vision:11b", true),
            ("house-eyes", true),
            ("scripted-1", false),
        ] {
            assert_eq!(settings.sees(model), sees, "{model}");
        }
    }
}
