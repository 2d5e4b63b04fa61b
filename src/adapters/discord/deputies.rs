//! Identities that act for others: webhooks and posts for a persona whose own account cannot.

use std::sync::Arc;

use serenity::model::id::{ChannelId as SnowflakeChannel, WebhookId};

use crate::adapters::discord::Discord;
use crate::adapters::discord::identity::Identity;
use crate::adapters::discord::markup::TEXT;
use crate::adapters::discord::platform::snowflake;
use crate::adapters::discord::rest::messages::{self, PostedBy};
use crate::adapters::discord::rest::webhooks::{Destination, Speech, may_manage_webhooks};
use crate::adapters::discord::rest::{Credential, Failure, code};
use kernel::chat::SendError;
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::ids::{ChannelId, MessageId, PersonaSlug};

/// How many identities are asked in turn for one message.
const ASKED: usize = 3;

impl Discord {
    /// Posts for a persona whose own account cannot: through a webhook under its name, or else by another persona, which says for whom it speaks.
    pub(super) async fn speak_for(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        let (destination, direct) = self.destination(&message.channel).await?;
        // Only one account is in a direct conversation.
        let mut refusal = if direct.is_none() && self.readers(None).next().is_some() {
            SendError::Denied { needs: "Send Messages".to_owned() }
        } else {
            SendError::Offline(message.persona.clone())
        };
        let is_other = |credential: &Credential| credential.persona != message.persona;
        let may_manage = |credential: &Credential| {
            is_other(credential) && destination.is_some_and(|place| may_manage_webhooks(credential, place.channel))
        };
        for owner in self.acting(may_manage) {
            let Some(destination) = destination else { break };
            let avatar = self.find_avatar(&owner.credential, &message.persona).await;
            let speech = Speech { destination, name: self.roster.name_of(&message.persona), avatar, message, edited: None };
            match self.speak(owner, &speech).await {
                Err(failure) if failure.is_of_account() => refusal = self.of_send(failure, &message.channel),
                spoken => return Ok(spoken?),
            }
        }
        let may_post = |credential: &Credential| {
            let is_there = direct.as_ref().is_none_or(|with| credential.persona == *with);
            is_there && is_other(credential) && messages::may_post(credential, &message.channel)
        };
        let deputies = self.acting(may_post);
        let message = self.spoken_for(message);
        for deputy in deputies {
            match self.rest.post(&deputy.credential, &message).await {
                Err(failure) if failure.is_of_account() => refusal = self.of_send(failure, &message.channel),
                posted => return Ok(posted?),
            }
        }
        Err(refusal)
    }

    /// Replaces a message that was posted by [`Self::speak_for`].
    pub(super) async fn edit_for(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        let (destination, _) = self.destination(&message.channel).await?;
        let may_manage = |credential: &Credential| destination.is_some_and(|place| may_manage_webhooks(credential, place.channel));
        for owner in self.acting(may_manage) {
            let Some(destination) = destination else { break };
            let speech = Speech { destination, name: self.roster.name_of(&message.persona), avatar: None, message, edited: Some(posted) };
            match self.speak(owner, &speech).await {
                Err(failure) if failure.is_of_account() => {}
                // If the message is not the webhook's, the webhook posts it again.
                spoken => return spoken.map_err(Failure::of_edit),
            }
        }
        let message = self.spoken_for(message);
        for deputy in self.readers(None) {
            match self.rest.edit(&deputy.credential, &message, posted).await {
                Err(failure) if failure.is_of_account() || failure.has_code(code::OTHERS_MESSAGE) => {}
                edited => return edited.map_err(Failure::of_edit),
            }
        }
        Err(SendError::Gone("nobody of the team can edit it".to_owned()))
    }

    /// What another persona says in place of one whose account cannot post.
    fn spoken_for(&self, message: &OutboundMessage) -> OutboundMessage {
        let mut spoken = message.clone();
        spoken.text = format!("**For {}:** {}", self.roster.name_of(&message.persona), message.text);
        spoken.fit(&TEXT);
        spoken
    }

    /// The forms in which a message may have been posted, with their authors.
    pub(super) async fn list_possible_posts(&self, message: &OutboundMessage) -> Result<Vec<(PostedBy, OutboundMessage)>, SendError> {
        // Also the account of an identity that is down: it may have posted the message earlier.
        let account = self.identities.get(&message.persona).and_then(|identity| identity.account());
        let mut posts: Vec<_> = account.map(|account| (PostedBy::Account(account.to_string()), message.clone())).into_iter().collect();
        let has_account = self.find_account(&message.persona).is_some();
        if has_account && !self.is_coordinator(&message.persona) {
            return Ok(posts);
        }
        let webhooks = match self.destination(&message.channel).await? {
            (Some(Destination { channel, .. }), _) if has_account => self.webhooks.find_known(channel).await.into_iter().collect(),
            (Some(Destination { channel, .. }), _) => self.list_webhooks(channel).await?,
            (None, _) => Vec::new(),
        };
        let name = self.roster.name_of(&message.persona);
        let by = |id: WebhookId| PostedBy::Webhook { id: id.to_string(), name: name.to_owned() };
        posts.extend(webhooks.into_iter().map(|id| (by(id), message.clone())));
        let others = self.identities.values().filter(|identity| identity.persona != message.persona);
        let accounts = others.filter_map(|identity| identity.account());
        posts.extend(accounts.map(|account| (PostedBy::Account(account.to_string()), self.spoken_for(message))));
        Ok(posts)
    }

    /// The team's webhooks of a channel. Without the permission to list them there are none.
    async fn list_webhooks(&self, channel: SnowflakeChannel) -> Result<Vec<WebhookId>, SendError> {
        for reader in self.acting(|credential| may_manage_webhooks(credential, channel)) {
            match self.webhooks.list_ids(&self.rest, &reader.credential, &self.hub.accounts, channel).await {
                Err(failure) if failure.is_of_account() => {}
                listed => return Ok(listed?),
            }
        }
        Ok(Vec::new())
    }

    /// Identities that may act for the team, without those that were refused a short while ago. Only a few, because each refusal counts towards a
    /// ban.
    pub(super) fn acting(&self, may: impl Fn(&Credential) -> bool) -> Vec<&Arc<Identity>> {
        self.readers(None).filter(|identity| may(&identity.credential)).take(ASKED).collect()
    }

    /// The picture for a persona's messages through webhooks of `owner`.
    async fn find_avatar(&self, owner: &Credential, persona: &PersonaSlug) -> Option<String> {
        let application = self.hub.accounts.find_application(&owner.persona)?;
        self.emojis.find_address(&self.rest, owner, application, self.roster.find_speaker(persona)?).await
    }

    /// Posts through a webhook of `owner`.
    async fn speak(&self, owner: &Identity, speech: &Speech<'_>) -> Result<Posted, Failure> {
        let owner = &owner.credential;
        match self.webhooks.speak(&self.rest, owner, &self.hub.accounts, speech).await {
            Err(failure) if failure.has_code(code::THREAD_ARCHIVED) => {
                self.rest.reopen_thread(owner, &speech.message.channel).await?;
                self.webhooks.speak(&self.rest, owner, &self.hub.accounts, speech).await
            }
            spoken => spoken,
        }
    }

    /// The place where a webhook can post, or the persona of a direct conversation, in which no webhook can post. A webhook belongs to a channel and
    /// can post in its threads. Looks up threads that the gateway has not reported.
    async fn destination(&self, channel: &ChannelId) -> Result<(Option<Destination>, Option<PersonaSlug>), SendError> {
        let id = snowflake(channel)?;
        self.note_channel(self.readers(None).next().ok_or_else(|| self.offline())?, id).await;
        if let Some(with) = self.hub.channels.find_direct(id) {
            return Ok((None, Some(with)));
        }
        let destination = match self.hub.channels.find_parent(id) {
            Some(parent) => Destination { channel: parent, thread: Some(id) },
            None => Destination { channel: id, thread: None },
        };
        Ok((Some(destination), None))
    }

    /// Interprets a failed post. In a thread, Discord asks for another permission.
    pub(super) fn of_send(&self, failure: Failure, channel: &ChannelId) -> SendError {
        match SendError::from(failure) {
            SendError::Denied { needs } if snowflake(channel).is_ok_and(|id| self.hub.channels.find_parent(id).is_some()) => {
                SendError::Denied { needs: needs.replace("Send Messages", "Send Messages in Threads") }
            }
            error => error,
        }
    }
}
