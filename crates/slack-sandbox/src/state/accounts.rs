//! People, bot users and apps.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Audience, Change, World};
use crate::options::{AppConfig, PersonConfig, Role};

/// A person or the bot user of an app.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) id: String,
    /// The handle: lower case, without spaces.
    pub(crate) name: String,
    pub(crate) real_name: String,
    /// The app of a bot user.
    pub(crate) app: Option<String>,
    pub(crate) role: Role,
    pub(crate) time_zone: String,
    pub(crate) deactivated: bool,
    pub(crate) updated: u64,
    /// The token with which a person uses the chat page. Bot users have none.
    pub(crate) token: Option<String>,
}

/// An installed app.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "Slack calls it an app token")]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) config: AppConfig,
    pub(crate) scopes: BTreeSet<String>,
    /// The id of its bot user, `U…`.
    pub(crate) user: String,
    /// The id of its bot, `B…`.
    pub(crate) bot: String,
    pub(crate) bot_token: String,
    pub(crate) app_token: String,
    pub(crate) revoked: bool,
    pub(crate) uninstalled: bool,
}

impl App {
    pub(crate) fn listens_to(&self, event: &str) -> bool {
        self.config.events.iter().any(|subscribed| subscribed == event)
    }

    pub(crate) fn has_scope(&self, scope: &str) -> bool {
        self.scopes.contains(scope)
    }

    /// The scopes as Slack lists them in answers.
    pub(crate) fn provided(&self) -> String {
        self.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(",")
    }
}

/// A handle for a name: `Ann Lee` is `ann.lee`.
fn handle(name: &str) -> String {
    name.to_lowercase().split_whitespace().collect::<Vec<_>>().join(".")
}

impl World {
    pub(crate) fn add_person(&mut self, config: &PersonConfig) -> String {
        let id = self.ids.next("U");
        let user = User {
            // The form of the tokens in Slack's web client.
            token: Some(format!("xoxc-{}-{id}", self.team.id)),
            id: id.clone(),
            name: handle(&config.name),
            real_name: config.name.clone(),
            app: None,
            role: config.role,
            time_zone: config.time_zone.clone(),
            deactivated: false,
            updated: self.now().as_secs(),
        };
        self.users.insert(id.clone(), user);
        self.changes.push(Change::User(id.clone()));
        let body = json!({ "type": "team_join", "user": self.user(&id) });
        self.announce("team_join", "users:read", Audience::Workspace, body);
        id
    }

    pub(crate) fn add_app(&mut self, config: &AppConfig) -> String {
        let id = self.ids.next("A");
        let (user, bot) = (self.ids.next("U"), self.ids.next("B"));
        let account = User {
            id: user.clone(),
            name: config.slug.clone(),
            real_name: config.name.clone(),
            app: Some(id.clone()),
            role: Role::Member,
            time_zone: "America/Los_Angeles".to_owned(),
            deactivated: false,
            updated: self.now().as_secs(),
            token: None,
        };
        self.users.insert(user.clone(), account);
        self.changes.push(Change::User(user.clone()));
        let app = App {
            id: id.clone(),
            scopes: config.scopes.iter().cloned().collect(),
            config: config.clone(),
            bot_token: format!("xoxb-{}-{}", self.team.id, self.ids.next("")),
            app_token: format!("xapp-1-{id}-{}", self.ids.next("")),
            user,
            bot,
            revoked: false,
            uninstalled: false,
        };
        self.apps.insert(id.clone(), app);
        self.changes.push(Change::App(id.clone()));
        id
    }

    pub(crate) fn find_app(&self, slug: &str) -> Option<&App> {
        self.apps.values().find(|app| app.config.slug == slug)
    }

    pub(crate) fn find_bot(&self, bot: &str) -> Option<&App> {
        self.apps.values().find(|app| app.bot == bot)
    }

    /// The app whose bot user this is.
    pub(crate) fn app_of_user(&self, user: &str) -> Option<&App> {
        self.apps.get(self.users.get(user)?.app.as_ref()?)
    }

    pub(crate) fn user_name(&self, id: &str) -> String {
        self.users.get(id).map_or_else(|| id.to_owned(), |user| user.name.clone())
    }

    /// A user as `users.info` shows it.
    pub(crate) fn user(&self, id: &str) -> Value {
        let Some(user) = self.users.get(id) else { return Value::Null };
        let zone_offset = if user.time_zone.starts_with("Europe") { 7_200 } else { -25_200 };
        json!({
            "id": user.id, "team_id": self.team_of(user), "name": user.name, "deleted": user.deactivated, "color": "9f69e7",
            "real_name": user.real_name, "tz": user.time_zone, "tz_label": user.time_zone, "tz_offset": zone_offset,
            "profile": self.profile(id), "is_admin": user.role == Role::Admin, "is_owner": false, "is_primary_owner": false,
            "is_restricted": user.role == Role::Guest, "is_ultra_restricted": false, "is_bot": user.app.is_some(), "is_app_user": false,
            "is_stranger": user.role == Role::Stranger, "updated": user.updated, "has_2fa": false, "locale": "en-US",
        })
    }

    pub(super) fn team_of(&self, user: &User) -> String {
        if user.role == Role::Stranger { super::OTHER_TEAM.to_owned() } else { self.team.id.clone() }
    }

    pub(crate) fn profile(&self, id: &str) -> Value {
        let Some(user) = self.users.get(id) else { return Value::Null };
        let picture = |size: u32| format!("{}/avatars/{}_{size}.png", self.base, user.id);
        let mut profile = json!({
            "title": "", "phone": "", "skype": "", "real_name": user.real_name, "real_name_normalized": user.real_name,
            "display_name": user.real_name, "display_name_normalized": user.real_name, "fields": {},
            "status_text": "", "status_emoji": "", "status_expiration": 0, "avatar_hash": "0",
            "image_24": picture(24), "image_32": picture(32), "image_48": picture(48), "image_72": picture(72),
            "image_192": picture(192), "image_512": picture(512), "team": self.team_of(user),
        });
        match self.app_of_user(id) {
            Some(app) => {
                profile["api_app_id"] = json!(app.id);
                profile["bot_id"] = json!(app.bot);
                profile["always_active"] = json!(true);
            }
            None => profile["email"] = json!(format!("{}@example.com", user.name)),
        }
        profile
    }

    /// A bot as `bots.info` shows it.
    pub(crate) fn bot(&self, app: &App) -> Value {
        let updated = self.users.get(&app.user).map_or(0, |user| user.updated);
        json!({
            "id": app.bot, "deleted": app.uninstalled, "name": app.config.name, "updated": updated, "app_id": app.id,
            "user_id": app.user, "icons": self.bot_icons(),
        })
    }

    /// The bot in a message.
    pub(crate) fn bot_profile(&self, app: &App) -> Value {
        let mut profile = self.bot(app);
        profile["team_id"] = json!(self.team.id);
        profile
    }

    fn bot_icons(&self) -> Value {
        let picture = |size: u32| format!("{}/avatars/bot_{size}.png", self.base);
        json!({ "image_36": picture(36), "image_48": picture(48), "image_72": picture(72) })
    }
}
