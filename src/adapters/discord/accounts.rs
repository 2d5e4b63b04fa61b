//! Decides who wrote a message. Uses account ids, never display names, which anybody can choose.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

use serenity::model::channel::{Message, MessageType};
use serenity::model::guild::Role;
use serenity::model::id::{ApplicationId, RoleId, UserId as SnowflakeUser, WebhookId};

use crate::adapters::discord::ids::from_discord;
use kernel::chat::message::AuthorKind;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};

/// The accounts and webhooks that the team posts with.
#[derive(Debug)]
pub(crate) struct OwnAccounts {
    roster: Arc<Roster>,
    known: RwLock<Known>,
}

#[derive(Debug)]
struct Known {
    accounts: Accounts,
    webhooks: HashSet<WebhookId>,
    /// The application of each account, which owns the commands and the webhooks. After a restart it identifies messages of webhooks that are not
    /// known yet.
    applications: HashMap<PersonaSlug, ApplicationId>,
    /// The roles that Discord makes for bots. Completion offers them before the bots themselves.
    roles: HashMap<RoleId, SnowflakeUser>,
}

impl OwnAccounts {
    /// Starts with the accounts of earlier runs. Otherwise a persona that is not online yet would count as a foreign bot.
    pub(crate) fn new(roster: Arc<Roster>, accounts: Accounts) -> Self {
        Self {
            roster,
            known: RwLock::new(Known { accounts, webhooks: HashSet::new(), applications: HashMap::new(), roles: HashMap::new() }),
        }
    }

    pub(crate) fn record(&self, persona: &PersonaSlug, account: SnowflakeUser, application: ApplicationId) {
        let mut known = self.write();
        known.accounts.record(from_discord(account), persona.clone());
        known.applications.insert(persona.clone(), application);
    }

    pub(crate) fn record_webhook(&self, webhook: WebhookId) {
        self.write().webhooks.insert(webhook);
    }

    pub(crate) fn record_role(&self, role: &Role) {
        if let Some(bot) = role.tags.bot_id {
            self.write().roles.insert(role.id, bot);
        }
    }

    /// A text in which mentions of the team's roles are replaced by mentions of the accounts that have them.
    pub(crate) fn without_roles<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains("<@&") {
            return Cow::Borrowed(text);
        }
        let known = self.read();
        let ours = known.roles.iter().filter(|(_, bot)| known.accounts.find(&from_discord(**bot)).is_some());
        ours.fold(Cow::Borrowed(text), |text, (role, bot)| Cow::Owned(text.replace(&format!("<@&{role}>"), &format!("<@{bot}>"))))
    }

    /// The application of an account. None before its first login.
    pub(crate) fn find_application(&self, persona: &PersonaSlug) -> Option<ApplicationId> {
        self.read().applications.get(persona).copied()
    }

    /// Whether an application belongs to one of the accounts.
    pub(crate) fn owns_application(&self, id: &str) -> bool {
        self.read().applications.values().any(|application| application.to_string() == id)
    }

    pub(crate) fn owns(&self, account: SnowflakeUser) -> bool {
        let known = self.read();
        known.webhooks.contains(&WebhookId::new(account.get())) || known.accounts.find(&from_discord(account)).is_some()
    }

    pub(crate) fn kind_of(&self, message: &Message) -> AuthorKind {
        if !is_speech(message.kind) {
            return AuthorKind::System;
        }
        let known = self.read();
        if let Some(webhook) = message.webhook_id {
            let by_us = |application: ApplicationId| known.applications.values().any(|ours| *ours == application);
            let ours = known.webhooks.contains(&webhook) || message.application_id.is_some_and(by_us);
            return if ours { AuthorKind::Persona(self.behind_webhook(&message.author.name)) } else { AuthorKind::ForeignBot };
        }
        match known.accounts.find(&from_discord(message.author.id)) {
            Some(persona) => AuthorKind::Persona(persona.clone()),
            None if message.author.bot => AuthorKind::ForeignBot,
            None => AuthorKind::Person,
        }
    }

    /// The persona or expert that posted through one of our webhooks. The name can be trusted, because only the team posts through it.
    fn behind_webhook(&self, name: &str) -> PersonaSlug {
        let speaker = self.roster.personas().iter().chain(self.roster.experts()).find(|speaker| speaker.name == name);
        speaker.unwrap_or_else(|| self.roster.coordinator()).slug.clone()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().expect("no code panics while it holds the accounts")
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Known> {
        self.known.write().expect("no code panics while it holds the accounts")
    }
}

/// Messages, replies and answers to commands are speech. All other types are system messages, which Discord does not mark as bot messages.
fn is_speech(kind: MessageType) -> bool {
    matches!(kind, MessageType::Regular | MessageType::InlineReply | MessageType::ChatInputCommand | MessageType::ContextMenuCommand)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use kernel::persona::{Persona, StandupRole, Tier, Voice};

    fn accounts() -> OwnAccounts {
        let persona = |slug: &str, name: &str| Persona {
            slug: slug.into(),
            name: name.to_owned(),
            aliases: vec![],
            role: String::new(),
            expertise: vec![],
            color: 0,
            avatar: None,
            tier: Tier::T1,
            coordinator: slug == "kelly",
            tools: vec![],
            feeds: vec![],
            channels: std::collections::BTreeMap::new(),
            standup: StandupRole { role: String::new(), cap: 800, duty: None },
            voice: Voice::of(slug),
            prompt: String::new(),
        };
        let roster = Roster::new(vec![persona("kelly", "Kelly"), persona("vince", "Vince")]).unwrap();
        let mut known = Accounts::default();
        known.record("discord:42".into(), "vince".into());
        OwnAccounts::new(Arc::new(roster), known)
    }

    fn kind_of(accounts: &OwnAccounts, kind: u8, author: &Value, webhook: Option<&str>, application: Option<&str>) -> AuthorKind {
        let message = json!({"id": "900", "channel_id": "10", "type": kind, "content": "", "author": author, "tts": false,
            "timestamp": "2026-11-21T08:00:00Z", "edited_timestamp": null, "mention_everyone": false, "mentions": [], "embeds": [],
            "mention_roles": [], "attachments": [], "pinned": false, "webhook_id": webhook, "application_id": application});
        accounts.kind_of(&serde_json::from_value(message).unwrap())
    }

    #[test]
    fn an_author_is_known_by_account_and_never_by_name() {
        let accounts = accounts();
        let of = |kind, author: Value| kind_of(&accounts, kind, &author, None, None);
        assert_eq!(of(0, json!({"id": "42", "username": "anybody", "bot": true})), AuthorKind::Persona("vince".into()));
        assert_eq!(of(0, json!({"id": "5", "username": "Vince"})), AuthorKind::Person);
        assert_eq!(of(19, json!({"id": "6", "username": "Vince", "bot": true})), AuthorKind::ForeignBot);
        for discords_own in [7, 18, 21] {
            assert_eq!(of(discords_own, json!({"id": "5", "username": "Ada"})), AuthorKind::System);
        }
    }

    #[test]
    fn a_webhook_is_the_teams_by_its_id_or_by_the_coordinators_application() {
        let accounts = accounts();
        let vince = json!({"id": "70", "username": "Vince", "bot": true});
        let of = |application| kind_of(&accounts, 0, &vince, Some("70"), application);
        assert_eq!(of(Some("9")), AuthorKind::ForeignBot);
        accounts.record(&"kelly".into(), SnowflakeUser::new(8), ApplicationId::new(9));
        assert_eq!(of(Some("9")), AuthorKind::Persona("vince".into()));
        assert_eq!(of(None), AuthorKind::ForeignBot);
        accounts.record_webhook(WebhookId::new(70));
        assert_eq!(of(None), AuthorKind::Persona("vince".into()));
        assert!(accounts.owns(SnowflakeUser::new(70)) && accounts.owns(SnowflakeUser::new(8)));
    }
}
