//! Model servers on this machine, found at the ports that they use by default.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;

use crate::llm::settings::{ModelRef, ModelSettings, ProviderKind, ProviderSettings};
use crate::persona::Tier;

/// Servers with `OpenAI`'s API, and where each listens by default.
pub const SERVERS: [(&str, u16); 4] = [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

/// A server that is there answers at once.
const PATIENCE: Duration = Duration::from_millis(500);

/// One machine serves one answer after the other, as a rule.
const PARALLEL: usize = 2;

/// A model server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearbyServer {
    pub name: &'static str,
    pub base_url: String,
    /// The first model that is not for embeddings.
    pub model: String,
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// The first of these servers that runs on this machine and has a model. Other programs at their ports are passed over.
pub async fn find_server(servers: &[(&'static str, u16)]) -> Option<NearbyServer> {
    // Requests to this machine never go through a proxy.
    let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(PATIENCE).build().ok()?;
    let found = servers.iter().map(|(name, port)| ask(&http, name, *port));
    join_all(found).await.into_iter().flatten().next()
}

async fn ask(http: &reqwest::Client, name: &'static str, port: u16) -> Option<NearbyServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let listed: Listed = http.get(format!("{base_url}/models")).send().await.ok()?.error_for_status().ok()?.json().await.ok()?;
    let mut models = listed.data.into_iter().map(|model| model.id);
    let model = models.find(|id| !id.is_empty() && !id.to_lowercase().contains("embed"))?;
    Some(NearbyServer { name, base_url, model })
}

impl ModelSettings {
    /// Uses a server that was found, for everything.
    pub fn use_nearby(&mut self, found: &NearbyServer) {
        let provider = found.name.to_lowercase();
        self.tiers = [(Tier::T1, vec![ModelRef { provider: provider.clone(), model: found.model.clone() }])].into();
        let (base_url, kind) = (found.base_url.clone(), ProviderKind::OpenAi);
        self.providers.push(ProviderSettings { name: provider, kind, base_url, key: None, parallel: PARALLEL });
    }

    /// Whether nothing is configured that could answer.
    pub fn is_empty(&self) -> bool {
        self.tiers.is_empty() && self.providers.is_empty()
    }
}
