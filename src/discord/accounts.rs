//! Who wrote a message: decided by account, never by a name that anybody can take.

use std::collections::HashSet;
use std::sync::{Arc, RwLock};

use serenity::model::channel::{Message, MessageType};
use serenity::model::id::{ApplicationId, UserId as SnowflakeUser, WebhookId};

use crate::domain::ids::{PersonaSlug, UserId};
use crate::domain::message::AuthorKind;
use crate::domain::roster::{Accounts, Roster};

/// What Discord told the coordinator's identity about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coordinator {
    pub(crate) account: SnowflakeUser,
    /// Owns the commands and the webhooks. After a restart the messages of webhooks are known by it before the webhooks are.
    pub(crate) application: ApplicationId,
}

/// The accounts and webhooks through which the team speaks.
#[derive(Debug)]
pub(crate) struct OwnAccounts {
    roster: Arc<Roster>,
    known: RwLock<Known>,
}

#[derive(Debug)]
struct Known {
    accounts: Accounts,
    webhooks: HashSet<WebhookId>,
    coordinator: Option<Coordinator>,
}

impl OwnAccounts {
    /// Starts with the accounts of earlier runs, so that a persona that is not online yet is no foreign bot.
    pub(crate) fn new(roster: Arc<Roster>, accounts: Accounts) -> Self {
        Self { roster, known: RwLock::new(Known { accounts, webhooks: HashSet::new(), coordinator: None }) }
    }

    pub(crate) fn record(&self, persona: &PersonaSlug, account: SnowflakeUser, application: ApplicationId) {
        let mut known = self.write();
        known.accounts.record(UserId::new(account.to_string()), persona.clone());
        if self.roster.coordinator().slug == *persona {
            known.coordinator = Some(Coordinator { account, application });
        }
    }

    pub(crate) fn record_webhook(&self, webhook: WebhookId) {
        self.write().webhooks.insert(webhook);
    }

    /// The coordinator's own ids, once it has been online.
    pub(crate) fn find_coordinator(&self) -> Option<Coordinator> {
        self.read().coordinator
    }

    /// Whether an account is one of the team's.
    pub(crate) fn owns(&self, account: SnowflakeUser) -> bool {
        let known = self.read();
        known.webhooks.contains(&WebhookId::new(account.get())) || known.accounts.find(&UserId::new(account.to_string())).is_some()
    }

    pub(crate) fn kind_of(&self, message: &Message) -> AuthorKind {
        if !is_speech(message.kind) {
            return AuthorKind::System;
        }
        let known = self.read();
        if let Some(webhook) = message.webhook_id {
            let by_us = |coordinator: Coordinator| message.application_id == Some(coordinator.application);
            let ours = known.webhooks.contains(&webhook) || known.coordinator.is_some_and(by_us);
            return if ours { AuthorKind::Persona(self.behind_webhook(&message.author.name)) } else { AuthorKind::ForeignBot };
        }
        match known.accounts.find(&UserId::new(message.author.id.to_string())) {
            Some(persona) => AuthorKind::Persona(persona.clone()),
            None if message.author.bot => AuthorKind::ForeignBot,
            None => AuthorKind::Person,
        }
    }

    /// Which persona spoke through a webhook of ours. Its name can be trusted there: only the team posts through it.
    fn behind_webhook(&self, name: &str) -> PersonaSlug {
        let speaker = self.roster.personas().iter().find(|persona| persona.name == name);
        speaker.unwrap_or_else(|| self.roster.coordinator()).slug.clone()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().expect("no code panics while it holds the accounts")
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Known> {
        self.known.write().expect("no code panics while it holds the accounts")
    }
}

/// Somebody says something: a message, a reply, or the answer to a command. All other types are Discord's own lines, whose author is not
/// even marked as a bot.
fn is_speech(kind: MessageType) -> bool {
    matches!(kind, MessageType::Regular | MessageType::InlineReply | MessageType::ChatInputCommand | MessageType::ContextMenuCommand)
}
