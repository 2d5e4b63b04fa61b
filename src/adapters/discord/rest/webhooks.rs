//! Webhooks for personas without an account: one per channel, owned by any of the team's applications.

use std::collections::HashMap;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use serenity::model::id::{ChannelId, WebhookId};
use tokio::sync::Mutex;

use crate::adapters::discord::accounts::OwnAccounts;
use crate::adapters::discord::ids::to_discord;
use crate::adapters::discord::rest::messages::Created;
use crate::adapters::discord::rest::payload::{payload, revision};
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest, code, was_denied};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::ids::MessageId;

/// The permission to list and make webhooks.
const MANAGE: &str = "Manage Webhooks";

/// The team's webhooks, by channel.
#[derive(Default)]
pub(crate) struct Webhooks {
    known: Mutex<HashMap<ChannelId, Webhook>>,
}

#[derive(Clone)]
struct Webhook {
    id: WebhookId,
    token: SecretString,
}

/// The target of a message: a channel, and optionally a thread in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    pub(crate) channel: ChannelId,
    pub(crate) thread: Option<ChannelId>,
}

/// A message of a persona without an account.
pub(crate) struct Speech<'a> {
    pub(crate) destination: Destination,
    pub(crate) name: &'a str,
    /// The address of its picture.
    pub(crate) avatar: Option<String>,
    pub(crate) message: &'a OutboundMessage,
    /// The message to replace. None: posts a new one.
    pub(crate) edited: Option<&'a MessageId>,
}

#[derive(Deserialize)]
struct Listed {
    id: WebhookId,
    application_id: Option<String>,
    token: Option<String>,
}

impl Webhooks {
    /// Posts a message under `name`, or replaces `edited`. Webhooks support neither nonces nor replies, so the relay reads the channel back
    /// before it posts again.
    pub(crate) async fn speak(
        &self,
        rest: &Rest,
        owner: &Credential,
        accounts: &OwnAccounts,
        speech: &Speech<'_>,
    ) -> Result<Posted, Failure> {
        let channel = speech.destination.channel;
        let first = self.get(rest, owner, accounts, channel).await?;
        match speech.through(rest, owner, &first).await {
            // The webhook was deleted. Nothing was posted, so a new one is created and used at once.
            Err(Failure::Refused { code: code::UNKNOWN_WEBHOOK, .. }) => {
                self.known.lock().await.remove(&channel);
                let second = self.get(rest, owner, accounts, channel).await?;
                speech.through(rest, owner, &second).await
            }
            result => result,
        }
    }

    /// The webhook that was used last in a channel.
    pub(crate) async fn find_known(&self, channel: ChannelId) -> Option<WebhookId> {
        self.known.lock().await.get(&channel).map(|webhook| webhook.id)
    }

    /// The webhooks through which the team may have posted in a channel, for reading back.
    pub(crate) async fn list_ids(
        &self,
        rest: &Rest,
        reader: &Credential,
        accounts: &OwnAccounts,
        channel: ChannelId,
    ) -> Result<Vec<WebhookId>, Failure> {
        let listed = self.list_own(rest, reader, accounts, channel).await?;
        Ok(listed.into_iter().map(|webhook| webhook.id).collect())
    }

    /// The team's webhooks of a channel, whichever of its applications made them.
    async fn list_own(&self, rest: &Rest, reader: &Credential, accounts: &OwnAccounts, channel: ChannelId) -> Result<Vec<Listed>, Failure> {
        let path = format!("/channels/{channel}/webhooks");
        let mut listed: Vec<Listed> = rest.fetch(reader, Call::get(path).needs(MANAGE)).await?;
        listed.retain(|listed| listed.application_id.as_deref().is_some_and(|application| accounts.owns_application(application)));
        for webhook in &listed {
            accounts.record_webhook(webhook.id);
        }
        Ok(listed)
    }

    /// The webhook of a channel: cached, found on Discord, or created.
    async fn get(&self, rest: &Rest, owner: &Credential, accounts: &OwnAccounts, channel: ChannelId) -> Result<Webhook, Failure> {
        // Held across the calls, so that two concurrent posts do not create two webhooks.
        let mut known = self.known.lock().await;
        if let Some(webhook) = known.get(&channel) {
            return Ok(webhook.clone());
        }
        // Discord shows its token only to the application that made it.
        let own = self.list_own(rest, owner, accounts, channel).await?.into_iter().find(|listed| listed.token.is_some());
        let webhook = if let Some(own) = own {
            own
        } else {
            let call = Call::post(format!("/channels/{channel}/webhooks")).body(json!({ "name": "Teamroom" }), &[]);
            rest.fetch(owner, call.needs(MANAGE)).await?
        };
        let token = webhook.token.ok_or_else(|| Failure::refused("Discord returned a webhook without a token"))?.into();
        accounts.record_webhook(webhook.id);
        let webhook = Webhook { id: webhook.id, token };
        known.insert(channel, webhook.clone());
        Ok(webhook)
    }
}

/// False if this account was refused the channel's webhooks a short while ago.
pub(crate) fn may_manage_webhooks(credential: &Credential, channel: ChannelId) -> bool {
    !was_denied(credential, &Call::get(format!("/channels/{channel}/webhooks")).needs(MANAGE))
}

impl Speech<'_> {
    async fn through(&self, rest: &Rest, owner: &Credential, webhook: &Webhook) -> Result<Posted, Failure> {
        let thread = |mark: char| self.destination.thread.map(|thread| format!("{mark}thread_id={thread}")).unwrap_or_default();
        let webhook = format!("/webhooks/{}/{}", webhook.id, webhook.token.expose_secret());
        let call = if let Some(edited) = self.edited {
            let path = format!("{webhook}/messages/{}{}", to_discord(edited.as_str())?, thread('?'));
            Call::patch(path).body(revision(self.message), &self.message.files)
        } else {
            let mut payload = payload(self.message);
            payload["username"] = json!(self.name);
            if let Some(avatar) = &self.avatar {
                payload["avatar_url"] = json!(avatar);
            }
            Call::post(format!("{webhook}?wait=true{}", thread('&'))).body(payload, &self.message.files)
        };
        Ok(rest.fetch::<Created>(owner, call.by_path_token()).await?.posted(self.message))
    }
}
