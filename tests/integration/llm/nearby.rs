//! Model servers on this machine.

use kernel::llm::nearby::{NearbyServer, find_server};
use serde_json::json;

use super::{Desk, EagerClock};
use crate::support::model::raw::{Raw, RawServer};
use kernel::llm::settings::ModelSettings;
use kernel::persona::Tier;
use std::sync::Arc;

fn port_of(server: &RawServer) -> u16 {
    let url = server.url();
    url.trim_end_matches("/v1").rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
}

#[tokio::test]
async fn the_first_server_with_a_model_is_found_and_answers() {
    let page = RawServer::start_with_models(|_, _| Raw::json(200, &json!("a page")).labelled("text/html")).await;
    let empty = RawServer::start_with_models(|_, _| Raw::json(200, &json!({"object": "list", "data": []}))).await;
    let ollama = RawServer::start_with_models(|body, _| {
        if body.is_null() {
            Raw::json(200, &json!({"object": "list", "data": [{"id": "nomic-embed-text:latest"}, {"id": "llama3.2:latest"}]}))
        } else {
            Raw::say("All is well.")
        }
    })
    .await;
    let servers = [("nobody", 1), ("page", port_of(&page)), ("vLLM", port_of(&empty)), ("Ollama", port_of(&ollama))];
    let found = find_server(&servers).await.expect("a server");
    assert_eq!(found, NearbyServer { name: "Ollama", base_url: ollama.url(), model: "llama3.2:latest".into() });
    assert_eq!(find_server(&servers[..3]).await, None);

    let mut settings = ModelSettings::default();
    assert!(settings.is_empty());
    settings.use_nearby(&found);
    assert!(!settings.is_empty() && settings.list_unpriced().is_empty());
    let reply = Desk::new(&settings, Arc::new(EagerClock::default())).ask(Tier::T3).await.expect("an answer");
    assert_eq!((reply.full_name().as_str(), reply.text.as_str()), ("ollama/llama3.2:latest", "All is well."));
}
