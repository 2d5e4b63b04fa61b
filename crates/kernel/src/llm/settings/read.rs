use std::collections::BTreeMap;
use std::net::IpAddr;

use reqwest::Url;

use crate::config::{Section, find_nearest};
use crate::llm::settings::known::{KnownProvider, find_provider};
use crate::llm::settings::{ModelPrice, ModelRef, ModelSettings, ProviderKind, ProviderSettings, UNKNOWN_WINDOW, known};
use crate::persona::Tier;

/// The provider defined by `TEAMROOM_MODEL_URL`.
pub(in crate::llm) const SHORT_PATH: &str = "model";
const WEB: &[&str] = &["http", "https"];
const WEB_ADDRESS: &str = "an address that begins with http:// or https://, without user and password";
const PARALLEL: usize = 4;

impl ModelSettings {
    /// Reads the whole section: the table, and how providers, tiers and prices fit together.
    pub fn read_all(section: &mut Section<'_>) -> Self {
        let mut models = Self::read(section);
        let short_path = read_short_path(section);
        models.tiers = read_tiers(&mut section.section("tiers"));
        models.providers = read_providers(section, &models);
        let is_asked_for = models.prices_file != Self::default().prices_file;
        models.prices_file = section.include("prices", &models.prices_file, is_asked_for);
        models.prices = read_prices(section);
        models.windows = read_windows(section);
        match short_path {
            Some((provider, model)) => {
                models.tiers = [(Tier::T1, vec![ModelRef { provider: provider.name.clone(), model }])].into();
                models.providers.push(provider);
            }
            None if models.tiers.is_empty() => models.tiers = default_tiers(&models.providers),
            None => {}
        }
        models.check(section);
        models
    }

    /// Checks that every tier's provider exists.
    fn check(&self, section: &mut Section<'_>) {
        let names: Vec<_> = self.providers.iter().map(|provider| provider.name.as_str()).collect();
        for (tier, models) in &self.tiers {
            for ModelRef { provider, .. } in models.iter().filter(|model| !names.contains(&model.provider.as_str())) {
                let known = names.iter().copied().chain(known::PROVIDERS.iter().map(|provider| provider.name));
                let meant = find_nearest(provider, known).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                let problem = format!("uses the provider {provider}, which is not configured{meant} Add [models.providers.{provider}]");
                section.section("tiers").refuse(tier.as_str(), problem);
            }
        }
        let is_for_voices =
            |name: &str| self.providers.iter().any(|provider| provider.name == name && provider.kind == ProviderKind::ElevenLabs);
        for (tier, model) in self.tiers.iter().flat_map(|(tier, models)| models.iter().map(move |model| (tier, model))) {
            if is_for_voices(&model.provider) {
                section.section("tiers").refuse(tier.as_str(), format!("uses the provider {}, which only speaks", model.provider));
            }
        }
        self.check_embeddings(section);
        let without_key =
            |provider: &ProviderSettings| provider.key.is_none() && find_provider(&provider.name).is_some_and(|p| p.needs_key);
        for provider in self.providers.iter().filter(|provider| without_key(provider)) {
            section.refuse_variable(&key_variable(&provider.name), format!("is missing; {} needs a key", provider.name));
        }
        self.check_voice(section);
        let for_talk = |provider: &&ProviderSettings| {
            provider.kind != ProviderKind::ElevenLabs && self.beside_tiers().all(|model| model.provider != provider.name)
        };
        let is_used = !self.tiers.is_empty() || self.providers.iter().any(|provider| for_talk(&provider));
        if is_used && !self.tiers.contains_key(&Tier::T1) {
            let example = self.providers.first().map_or("", |provider| &provider.name);
            section
                .section("tiers")
                .refuse("t1", format!("is missing, and the other tiers fall back to it. Give a list such as [\"{example}/a-model\"]"));
        }
    }
}

impl ModelSettings {
    /// Models that no tier has.
    fn beside_tiers(&self) -> impl Iterator<Item = &ModelRef> {
        self.embeddings.iter().chain(self.speech.model()).chain(&self.transcription)
    }

    fn check_voice(&self, section: &mut Section<'_>) {
        let kind_of =
            |model: &ModelRef| self.providers.iter().find(|provider| provider.name == model.provider).map(|provider| provider.kind);
        let used = [("speech", self.speech.model()), ("transcription", self.transcription.as_ref())];
        for (key, model) in used.into_iter().filter_map(|(key, model)| Some((key, model?))) {
            let name = &model.provider;
            match kind_of(model) {
                None => section.refuse(key, format!("uses the provider {name}, which is not configured. Add [models.providers.{name}]")),
                Some(ProviderKind::OpenAi) => {}
                Some(ProviderKind::ElevenLabs) if key == "speech" => {}
                Some(_) => section.refuse(key, format!("uses the provider {name}, whose API has no {key}")),
            }
        }
    }

    fn check_embeddings(&self, section: &mut Section<'_>) {
        if self.embedding_folder.is_some() && !cfg!(feature = "sentence-model") {
            section.refuse("embedding_folder", "needs a program that was built with `--features sentence-model`");
        }
        let Some(named) = &self.embeddings else { return };
        match self.providers.iter().find(|provider| provider.name == named.provider) {
            None => {
                let name = &named.provider;
                section.refuse("embeddings", format!("uses the provider {name}, which is not configured. Add [models.providers.{name}]"));
            }
            Some(provider) if provider.kind != ProviderKind::OpenAi => {
                section.refuse("embeddings", format!("uses the provider {}, whose API has no embeddings", named.provider));
            }
            Some(_) => {}
        }
        if self.embedding_folder.is_some() {
            section.refuse("embedding_folder", "cannot be set together with `embeddings`. Keep one of them");
        }
    }
}

fn read_tiers(tiers: &mut Section<'_>) -> BTreeMap<Tier, Vec<ModelRef>> {
    let about = [
        (
            Tier::T1,
            "Models of the cheap tier (chat, standups), tried in order. Empty: the default models of the provider whose key is set.",
        ),
        (Tier::T2, "Models of the strong tier. Empty: those of t1."),
        (Tier::T3, "Models of the strongest tier. Empty: those of t2."),
    ];
    let allowed = "a list (in a variable: with commas), each \"provider/model\" such as \"openai/gpt-4.1-mini\"";
    let read = about.map(|(tier, about)| {
        let fits = |models: &Vec<String>| models.iter().all(|model| parse_model(model).is_some());
        let models = tiers.read_where(tier.as_str(), Vec::new(), allowed, about, fits);
        (tier, models.iter().filter_map(|model| parse_model(model)).collect::<Vec<_>>())
    });
    read.into_iter().filter(|(_, models)| !models.is_empty()).collect()
}

/// Model names may contain slashes.
pub(super) fn parse_model(text: &str) -> Option<ModelRef> {
    let (provider, model) = text.split_once('/')?;
    (!provider.is_empty() && !model.is_empty()).then(|| ModelRef { provider: provider.into(), model: model.into() })
}

/// Providers added by a key or a tier, and those of the file.
fn read_providers(section: &mut Section<'_>, models: &ModelSettings) -> Vec<ProviderSettings> {
    let configured = section.list_entries("providers", "local");
    let known = known::PROVIDERS.iter().filter(|known| !configured.iter().any(|name| name == known.name));
    let mut providers: Vec<_> = known.filter_map(|known| read_known_provider(section, known, models)).collect();
    providers.extend(configured.iter().filter_map(|name| read_provider(section, name)));
    providers
}

/// A key adds its provider only if no tiers are set, because it may be in the environment for another program.
fn read_known_provider(section: &mut Section<'_>, known: &KnownProvider, models: &ModelSettings) -> Option<ProviderSettings> {
    let about = "API keys of model providers. One of the first two is enough. The others also need a tier that uses them.";
    let key = if known.needs_key { section.secret(&key_variable(known.name), about) } else { None };
    let mut named = models.tiers.values().flatten().chain(models.beside_tiers());
    let named = named.any(|model| model.provider == known.name);
    let enough = key.is_some() && models.tiers.is_empty() && !known.models.is_empty();
    (named || enough).then(|| ProviderSettings {
        name: known.name.into(),
        kind: known.kind,
        base_url: known.base_url.into(),
        key,
        parallel: PARALLEL,
    })
}

fn read_provider(section: &mut Section<'_>, name: &str) -> Option<ProviderSettings> {
    let known = find_provider(name);
    let about = "API keys of providers from teamroom.toml, as NAME_API_KEY (this one is for [models.providers.local]).";
    let key = section.secret(&key_variable(name), about);
    let mut entry = section.entry("providers", name);
    let kind = entry.read("kind", known.map_or(ProviderKind::OpenAi, |known| known.kind), "The protocol of the API.");
    let about = "Address of the API, including the version.";
    let fits = |url: &String| is_web_address(url, WEB);
    let base_url = match known {
        Some(known) => Some(entry.read_where("base_url", known.base_url.to_owned(), WEB_ADDRESS, about, fits)),
        None => entry.require_where("base_url", "http://127.0.0.1:8080/v1".to_owned(), WEB_ADDRESS, about, fits),
    };
    let parallel = entry.read_within("parallel", PARALLEL, 1..=256, "Most calls at the same time.");
    Some(ProviderSettings { name: name.into(), kind, base_url: base_url?.trim_end_matches('/').into(), key, parallel })
}

fn read_prices(section: &mut Section<'_>) -> BTreeMap<String, ModelPrice> {
    let mut prices: BTreeMap<_, _> = known::PRICES.iter().map(|(model, price)| ((*model).to_owned(), *price)).collect();
    for model in section.list_entries("prices", "example-model") {
        let mut entry = section.entry("prices", &model);
        let input = entry.read_within(
            "input",
            0.0,
            0.0..=10_000.0,
            "Dollars per million prompt tokens; of a model that speaks, per million characters.",
        );
        let cached = entry.read_within("cached", input, 0.0..=10_000.0, "Dollars per million cached prompt tokens. Default: as input.");
        let output = entry.read_within("output", 0.0, 0.0..=10_000.0, "Dollars per million answer tokens.");
        let minute = entry.read_within("minute", 0.0, 0.0..=100.0, "Dollars per minute of sound, of a model that transcribes.");
        prices.insert(model, ModelPrice { input, cached, output, minute });
    }
    prices
}

fn read_windows(section: &mut Section<'_>) -> BTreeMap<String, usize> {
    let mut windows = BTreeMap::new();
    for model in section.list_entries("windows", "example-model") {
        let about =
            "Context window of a model in tokens, if it is not known by name (Claude, GPT, Gemini and others are). Otherwise 32000.";
        let tokens = section.entry("windows", &model).read_within("tokens", UNKNOWN_WINDOW, 1024..=10_000_000, about);
        windows.insert(model, tokens);
    }
    windows
}

/// One endpoint and model from variables alone, for trying a local model server. Overrides the file.
fn read_short_path(section: &mut Section<'_>) -> Option<(ProviderSettings, String)> {
    let about = "The quickest way to connect a model: the address of an OpenAI-compatible or Anthropic API, and one model for \
                 everything. The kind is openai (default) or anthropic. A local server may not need a key.";
    let url = section.variable("TEAMROOM_MODEL_URL", "http://127.0.0.1:11434/v1", about);
    let model = section.variable("TEAMROOM_MODEL", "llama3.2", about);
    let kind = section.variable("TEAMROOM_MODEL_KIND", "openai", about);
    let key = section.secret("TEAMROOM_MODEL_KEY", about);
    let kind = match kind.as_deref() {
        None | Some("openai") => ProviderKind::OpenAi,
        Some("anthropic") => ProviderKind::Anthropic,
        Some(_) => {
            section.refuse_variable("TEAMROOM_MODEL_KIND", "is not allowed. Give openai or anthropic");
            return None;
        }
    };
    let (base_url, model) = match (url, model) {
        (Some(url), Some(model)) if is_web_address(&url, WEB) => (url.trim_end_matches('/').to_owned(), model),
        (Some(_), Some(_)) => {
            section.refuse_variable("TEAMROOM_MODEL_URL", format!("is not allowed. Give {WEB_ADDRESS}"));
            return None;
        }
        (Some(_), None) => {
            section.refuse_variable("TEAMROOM_MODEL", "is missing. TEAMROOM_MODEL_URL needs a model name, too");
            return None;
        }
        (None, Some(_)) => {
            section.refuse_variable("TEAMROOM_MODEL_URL", "is missing. TEAMROOM_MODEL needs an address, too");
            return None;
        }
        (None, None) => return None,
    };
    Some((ProviderSettings { name: SHORT_PATH.into(), kind, base_url, key, parallel: PARALLEL }, model))
}

/// The tiers if only keys are set: each tier tries every provider with a model for it.
fn default_tiers(providers: &[ProviderSettings]) -> BTreeMap<Tier, Vec<ModelRef>> {
    let mut tiers: BTreeMap<Tier, Vec<ModelRef>> = BTreeMap::new();
    for provider in providers {
        for (tier, model) in find_provider(&provider.name).map_or(&[][..], |known| known.models) {
            tiers.entry(*tier).or_default().push(ModelRef { provider: provider.name.clone(), model: (*model).into() });
        }
    }
    tiers
}

/// `openai` → `OPENAI_API_KEY`.
fn key_variable(provider: &str) -> String {
    format!("{}_API_KEY", provider.to_uppercase().replace(['-', '.', ' '], "_"))
}

/// Whether an address is on this machine or in a private network.
pub(super) fn is_nearby(base_url: &str) -> bool {
    let Some(host) = Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_owned)) else { return false };
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => host == "localhost" || [".local", ".internal"].iter().any(|end| host.ends_with(end)),
    }
}

/// Whether a text is an address with one of the schemes and a host. Rejects passwords, which belong into secrets.
pub fn is_web_address(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text)
        .is_ok_and(|url| schemes.contains(&url.scheme()) && url.has_host() && url.username().is_empty() && url.password().is_none())
}
