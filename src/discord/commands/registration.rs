use poise::serenity_prelude as serenity;
use sha2::{Digest, Sha256};

use super::Counter;
use crate::discord::rest::{Call, Failure};

/// Registers the whole set at once, unless this very set is registered: Discord allows 200 registrations a day, and each of them takes a
/// while to reach people's clients.
pub(super) async fn register(counter: &Counter, application: serenity::ApplicationId, commands: Vec<serenity::CreateCommand>) {
    let payload = match serde_json::to_value(&commands) {
        Ok(payload) => payload,
        Err(error) => return tracing::error!(%error, "the commands cannot be written down"),
    };
    let path = match &counter.server {
        Some(server) => format!("/applications/{application}/guilds/{server}/commands"),
        None => format!("/applications/{application}/commands"),
    };
    let digest = digest(&payload);
    match counter.registrations.find(&path).await {
        Ok(Some(registered)) if registered == digest => return,
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "whether the commands are registered cannot be read; they are registered again"),
    }
    match put(counter, path.clone(), payload).await {
        Ok(()) => {
            tracing::info!(count = commands.len(), "commands registered");
            if let Err(error) = counter.registrations.record(&path, &digest).await {
                tracing::warn!(%error, "that the commands are registered could not be recorded");
            }
        }
        Err(failure) => tracing::error!(%failure, "the commands could not be registered; the old ones stay"),
    }
}

async fn put(counter: &Counter, path: String, payload: serde_json::Value) -> Result<(), Failure> {
    counter.rest.call(&counter.credential, Call::put(path).body(payload, &[])).await?;
    Ok(())
}

fn digest(payload: &serde_json::Value) -> String {
    use std::fmt::Write as _;
    Sha256::digest(payload.to_string()).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_follows_the_set() {
        let set = serde_json::json!([{"name": "ask"}]);
        assert_eq!(digest(&set), digest(&set.clone()));
        assert_ne!(digest(&set), digest(&serde_json::json!([{"name": "ask", "description": "x"}])));
        assert_eq!(digest(&set).len(), 64);
    }
}
