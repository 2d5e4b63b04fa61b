//! The voice of personas without an account: one webhook per channel, owned by the coordinator's application.

use std::collections::HashMap;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use serenity::model::id::{ChannelId, WebhookId};
use tokio::sync::Mutex;

use super::messages::{Created, payload};
use super::{Call, Credential, Failure, Rest, code};
use crate::discord::accounts::OwnAccounts;
use crate::domain::outbound::{OutboundMessage, Posted};

/// The team's webhooks, by the channel they post in.
#[derive(Default)]
pub(crate) struct Webhooks {
    known: Mutex<HashMap<ChannelId, Webhook>>,
}

#[derive(Clone)]
struct Webhook {
    id: WebhookId,
    token: SecretString,
}

/// Where a message goes: a channel, and the thread below it where there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    pub(crate) channel: ChannelId,
    pub(crate) thread: Option<ChannelId>,
}

#[derive(Deserialize)]
struct Listed {
    id: WebhookId,
    application_id: Option<String>,
    token: Option<String>,
}

impl Webhooks {
    /// Posts a message under `name`. Webhooks know no nonce and no reply: the relay reads back before it tries again.
    pub(crate) async fn post(
        &self,
        rest: &Rest,
        owner: &Credential,
        accounts: &OwnAccounts,
        destination: Destination,
        name: &str,
        message: &OutboundMessage,
    ) -> Result<Posted, Failure> {
        let first = self.get(rest, owner, accounts, destination.channel).await?;
        match execute(rest, owner, &first, destination, name, message).await {
            // Somebody deleted it. Nothing was posted, so a new one may be made and used at once.
            Err(Failure::Refused { code: code::UNKNOWN_WEBHOOK, .. }) => {
                self.known.lock().await.remove(&destination.channel);
                let second = self.get(rest, owner, accounts, destination.channel).await?;
                execute(rest, owner, &second, destination, name, message).await
            }
            result => result,
        }
    }

    /// The id of the webhook of a channel, for reading back what it posted.
    pub(crate) async fn get_id(
        &self,
        rest: &Rest,
        owner: &Credential,
        accounts: &OwnAccounts,
        channel: ChannelId,
    ) -> Result<WebhookId, Failure> {
        Ok(self.get(rest, owner, accounts, channel).await?.id)
    }

    /// The webhook of a channel: known, or there from an earlier run, or made now.
    async fn get(&self, rest: &Rest, owner: &Credential, accounts: &OwnAccounts, channel: ChannelId) -> Result<Webhook, Failure> {
        // Held across the calls, so that two personas that speak at once do not make two.
        let mut known = self.known.lock().await;
        if let Some(webhook) = known.get(&channel) {
            return Ok(webhook.clone());
        }
        let application = accounts.find_coordinator().map(|coordinator| coordinator.application.to_string());
        let path = format!("/channels/{channel}/webhooks");
        let listed: Vec<Listed> = rest.fetch(owner, Call::get(path.clone()).needs("Manage Webhooks")).await?;
        let own = listed.into_iter().find(|listed| listed.token.is_some() && listed.application_id == application);
        let webhook = match own {
            Some(own) => own,
            None => rest.fetch(owner, Call::post(path).body(json!({ "name": "Teamroom" }), &[]).needs("Manage Webhooks")).await?,
        };
        let token = webhook.token.ok_or_else(|| Failure::refused("Discord gave a webhook without its token"))?.into();
        accounts.record_webhook(webhook.id);
        let webhook = Webhook { id: webhook.id, token };
        known.insert(channel, webhook.clone());
        Ok(webhook)
    }
}

async fn execute(
    rest: &Rest,
    owner: &Credential,
    webhook: &Webhook,
    destination: Destination,
    name: &str,
    message: &OutboundMessage,
) -> Result<Posted, Failure> {
    let thread = destination.thread.map(|thread| format!("&thread_id={thread}")).unwrap_or_default();
    let mut payload = payload(message);
    payload["username"] = json!(name);
    let path = format!("/webhooks/{}/{}?wait=true{thread}", webhook.id, webhook.token.expose_secret());
    let created: Created = rest.fetch(owner, Call::post(path).body(payload, &message.files).by_path_token()).await?;
    Ok(created.into())
}
