use crate::persona::Tier;

use crate::llm::settings::{ModelPrice, ProviderKind};

/// A provider that needs no settings besides its key.
pub(super) struct KnownProvider {
    pub name: &'static str,
    pub kind: ProviderKind,
    pub base_url: &'static str,
    pub needs_key: bool,
    /// The models used if only the key is set. Empty: the operator must name models.
    pub models: &'static [(Tier, &'static str)],
}

const OPENAI_MODELS: &[(Tier, &str)] = &[(Tier::T1, "gpt-4.1-mini"), (Tier::T2, "gpt-4.1")];
const ANTHROPIC_MODELS: &[(Tier, &str)] = &[(Tier::T1, "claude-haiku-4-5"), (Tier::T2, "claude-sonnet-4-6"), (Tier::T3, "claude-opus-4-6")];

pub(super) const PROVIDERS: [KnownProvider; 8] = [
    provider("anthropic", ProviderKind::Anthropic, "https://api.anthropic.com/v1", ANTHROPIC_MODELS),
    provider("openai", ProviderKind::OpenAi, "https://api.openai.com/v1", OPENAI_MODELS),
    provider("openrouter", ProviderKind::OpenAi, "https://openrouter.ai/api/v1", &[]),
    provider("deepseek", ProviderKind::OpenAi, "https://api.deepseek.com/v1", &[]),
    provider("groq", ProviderKind::OpenAi, "https://api.groq.com/openai/v1", &[]),
    provider("elevenlabs", ProviderKind::ElevenLabs, "https://api.elevenlabs.io/v1", &[]),
    // Its OpenAI-compatible endpoint.
    provider("gemini", ProviderKind::OpenAi, "https://generativelanguage.googleapis.com/v1beta/openai", &[]),
    KnownProvider { needs_key: false, ..provider("ollama", ProviderKind::OpenAi, "http://127.0.0.1:11434/v1", &[]) },
];

const fn provider(
    name: &'static str,
    kind: ProviderKind,
    base_url: &'static str,
    models: &'static [(Tier, &'static str)],
) -> KnownProvider {
    KnownProvider { name, kind, base_url, needs_key: true, models }
}

pub(super) fn find_provider(name: &str) -> Option<&'static KnownProvider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// Prices of these models from the providers' price lists of June 2026. The file overrides them.
pub(super) const PRICES: [(&str, ModelPrice); 12] = [
    ("gpt-4.1-mini", ModelPrice { input: 0.4, cached: 0.1, output: 1.6, minute: 0.0 }),
    ("gpt-4.1", ModelPrice { input: 2.0, cached: 0.5, output: 8.0, minute: 0.0 }),
    ("text-embedding-3-small", ModelPrice { input: 0.02, cached: 0.02, output: 0.0, minute: 0.0 }),
    ("text-embedding-3-large", ModelPrice { input: 0.13, cached: 0.13, output: 0.0, minute: 0.0 }),
    ("claude-haiku-4-5", ModelPrice { input: 1.0, cached: 0.1, output: 5.0, minute: 0.0 }),
    ("claude-sonnet-4-6", ModelPrice { input: 3.0, cached: 0.3, output: 15.0, minute: 0.0 }),
    ("claude-opus-4-6", ModelPrice { input: 5.0, cached: 0.5, output: 25.0, minute: 0.0 }),
    ("tts-1", ModelPrice { input: 15.0, cached: 0.0, output: 0.0, minute: 0.0 }),
    ("tts-1-hd", ModelPrice { input: 30.0, cached: 0.0, output: 0.0, minute: 0.0 }),
    ("whisper-1", ModelPrice { input: 0.0, cached: 0.0, output: 0.0, minute: 0.006 }),
    ("gpt-4o-transcribe", ModelPrice { input: 0.0, cached: 0.0, output: 0.0, minute: 0.006 }),
    ("gpt-4o-mini-transcribe", ModelPrice { input: 0.0, cached: 0.0, output: 0.0, minute: 0.003 }),
];

/// The beginnings of the names of models that see pictures, as of June 2026.
const SEEING: [&str; 22] = [
    "claude-3",
    "claude-haiku",
    "claude-sonnet",
    "claude-opus",
    "gpt-4o",
    "gpt-4.1",
    "gpt-5",
    "o3",
    "o4",
    "gemini",
    "pixtral",
    "llava",
    "bakllava",
    "llama3.2-vision",
    "llama-3.2-11b-vision",
    "llama-3.2-90b-vision",
    "llama-4",
    "qwen2-vl",
    "qwen2.5vl",
    "qwen2.5-vl",
    "gemma3",
    "minicpm-v",
];

/// Routers put the maker before the name: `anthropic/claude-sonnet-4.5`.
pub(super) fn sees(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    SEEING.iter().any(|seeing| name.starts_with(seeing))
}

/// The beginnings of the names of models, with their context windows in tokens, as of June 2026. The first one that fits counts. Models that people run
/// themselves are missing, because their servers decide.
const WINDOWS: [(&str, usize); 16] = [
    ("claude", 200_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8000),
    ("gpt-3.5", 16_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini", 1_000_000),
    ("deepseek-chat", 128_000),
    ("deepseek-reasoner", 128_000),
    ("mistral-large", 128_000),
    ("grok", 128_000),
    ("kimi", 128_000),
];

pub(super) fn find_window(model: &str) -> Option<usize> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    WINDOWS.iter().find(|(known, _)| name.starts_with(known)).map(|(_, window)| *window)
}
