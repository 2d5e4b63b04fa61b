//! The state of a workspace, in memory. A change queues a [`Delivery`] for each app that gets an event of it, and a [`Change`] for the state file and
//! the chat page.

mod accounts;
mod changes;
mod channels;
mod contents;
mod files;
mod ids;
mod interactions;
mod messages;
mod reactions;
mod render;
mod rich_text;
mod views;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use accounts::{App, User};
pub(crate) use changes::{Change, Storage};
pub(crate) use channels::{Channel, ChannelKind};
pub(crate) use contents::Contents;
pub(crate) use files::File;
use ids::Ids;
pub(crate) use ids::Ts;
pub use interactions::Progress;
pub(crate) use interactions::{ResponseUrl, Trigger};
pub(crate) use messages::{Author, CustomIdentity, Message, replies};
pub(crate) use rich_text::{normalize, rich_text};
pub(crate) use views::{STACK_LIMIT, View};

use super::clock::Clock;
use super::options::{AppConfig, ChannelConfig, Options, Role, Windows};

/// The workspace that strangers come from.
pub(crate) const OTHER_TEAM: &str = "T0STRANGERS";
/// Deprecated by Slack, and still in each payload.
pub(crate) const VERIFICATION_TOKEN: &str = "sandbox-verification-token";

#[derive(Clone, Debug)]
pub(crate) struct Team {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) domain: String,
}

/// The kinds of envelopes of Socket Mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryKind {
    Event,
    Command,
    Interaction,
}

/// Something to send to an app.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) app: String,
    pub(crate) kind: DeliveryKind,
    pub(crate) payload: Value,
    /// The key of its [`Progress`], unless it is an event.
    pub(crate) interaction: Option<String>,
}

/// A person pressed stop while an agent worked.
pub(crate) const SESSION_STOPPED: &str = "agent_session_stopped";

/// Which apps get an event.
pub(crate) enum Audience {
    Workspace,
    /// Apps whose bot is in the channel.
    Channel(String),
    /// This app, if its bot is in the channel.
    App {
        app: String,
        channel: Option<String>,
    },
}

pub(crate) struct World {
    pub(crate) team: Team,
    /// `http://127.0.0.1:PORT`
    pub(crate) base: String,
    pub(crate) windows: Windows,
    pub(crate) users: BTreeMap<String, User>,
    pub(crate) apps: BTreeMap<String, App>,
    pub(crate) channels: BTreeMap<String, Channel>,
    pub(crate) files: BTreeMap<String, File>,
    pub(crate) views: BTreeMap<String, View>,
    pub(crate) triggers: HashMap<String, Trigger>,
    pub(crate) response_urls: HashMap<String, ResponseUrl>,
    pub(crate) interactions: BTreeMap<String, Progress>,
    /// The status, title and prompts that apps have set, by channel and thread.
    pub(crate) assistants: HashMap<(String, Ts), Value>,
    pub(crate) outbox: Vec<Delivery>,
    /// Changes since the last [`crate::server::Core::flush`].
    pub(crate) changes: Vec<Change>,
    /// The bytes of files.
    pub(crate) contents: Contents,
    pub(crate) ids: Ids,
    clock: Clock,
}

impl World {
    /// An empty workspace.
    pub(crate) fn new(options: &Options) -> Self {
        let mut ids = Ids::default();
        let team = Team { id: ids.next("T"), name: options.team.clone(), domain: options.team.to_lowercase().replace(' ', "-") };
        Self {
            team,
            base: format!("http://{}", options.addr),
            windows: options.windows.clone(),
            users: BTreeMap::new(),
            apps: BTreeMap::new(),
            channels: BTreeMap::new(),
            files: BTreeMap::new(),
            views: BTreeMap::new(),
            triggers: HashMap::new(),
            response_urls: HashMap::new(),
            interactions: BTreeMap::new(),
            assistants: HashMap::new(),
            outbox: Vec::new(),
            changes: Vec::new(),
            contents: Contents::default(),
            ids,
            clock: options.clock.clone(),
        }
    }

    /// Adds the people, channels and apps of the options that are missing. An app that is known keeps its ids and tokens.
    pub(crate) fn furnish(&mut self, options: &Options) {
        for person in &options.people {
            let is_known = self.users.values().any(|user| user.app.is_none() && user.real_name == person.name);
            if !is_known {
                let id = self.add_person(person);
                self.admit(&id, person.role);
            }
        }
        let mut added = Vec::new();
        for channel in &options.channels {
            if self.find_channel(&channel.name).is_none() {
                added.push(self.add_configured_channel(channel));
            }
        }
        for config in &options.apps {
            let known = self.find_app(&config.slug).map(|app| app.id.clone());
            let channels = if known.is_some() { added.clone() } else { self.channels.keys().cloned().collect() };
            let id = match known {
                Some(id) => self.configure_app(&id, config),
                None => self.add_app(config),
            };
            self.invite_to_configured(&id, &channels);
        }
    }

    /// Adds a new person to the public channels. Guests and strangers get only the shared ones.
    fn admit(&mut self, user: &str, role: Role) {
        for channel in self.channels.values_mut().filter(|channel| channel.kind == ChannelKind::Public) {
            if channel.shared || matches!(role, Role::Member | Role::Admin) {
                channel.members.insert(user.to_owned());
                self.changes.push(Change::Channel(channel.id.clone()));
            }
        }
    }

    fn configure_app(&mut self, id: &str, config: &AppConfig) -> String {
        if let Some(app) = self.apps.get_mut(id) {
            app.scopes = config.scopes.iter().cloned().collect();
            (app.revoked, app.uninstalled) = (false, false);
            app.config = config.clone();
            self.users.entry(app.user.clone()).and_modify(|user| config.name.clone_into(&mut user.real_name));
            self.changes.extend([Change::App(id.to_owned()), Change::User(app.user.clone())]);
        }
        id.to_owned()
    }

    /// Adds a channel with its members, without messages that they joined.
    pub(crate) fn add_configured_channel(&mut self, config: &ChannelConfig) -> String {
        let kind = if config.private { ChannelKind::Private } else { ChannelKind::Public };
        let belongs = |user: &&User| user.app.is_none() && (config.shared || matches!(user.role, Role::Member | Role::Admin));
        let members: BTreeSet<String> = self.users.values().filter(belongs).map(|user| user.id.clone()).collect();
        let creator = members.first().cloned().unwrap_or_default();
        let id = self.add_channel(kind, &config.name, &creator, config.shared);
        self.channels.entry(id.clone()).and_modify(|channel| channel.members = members);
        self.changes.push(Change::Channel(id.clone()));
        id
    }

    /// Adds an app's bot to those of `channels` that the app's settings name.
    pub(crate) fn invite_to_configured(&mut self, app: &str, channels: &[String]) {
        let Some(app) = self.apps.get(app).cloned() else { return };
        for id in channels {
            let channel = self.channels.get_mut(id).filter(|channel| app.config.channels.contains(&channel.name));
            if let Some(channel) = channel {
                channel.members.insert(app.user.clone());
                self.changes.push(Change::Channel(id.clone()));
            }
        }
    }

    /// The app that is at work in a thread, if it is an agent that can be stopped.
    pub(crate) fn find_stoppable(&self, channel: &str, thread: Ts) -> Option<&App> {
        let shown = self.assistants.get(&(channel.to_owned(), thread)).filter(|shown| shown["session"] == "processing")?;
        self.apps.get(shown["app"].as_str()?).filter(|app| app.listens_to(SESSION_STOPPED))
    }

    /// What people see of an app's work in a thread; empty if it does nothing.
    pub(crate) fn doing(&self, channel: &str, thread: Ts) -> String {
        let Some(shown) = self.assistants.get(&(channel.to_owned(), thread)) else { return String::new() };
        let name = shown["app"].as_str().and_then(|app| self.apps.get(app)).map_or("", |app| app.config.name.as_str());
        match shown["status"].as_str().unwrap_or_default() {
            _ if shown["session"] == "processing" => format!("{} is working…", shown["username"].as_str().unwrap_or(name)),
            "" => String::new(),
            status => format!("{name} {status}"),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    pub(crate) fn next_ts(&mut self) -> Ts {
        let now = self.now();
        self.ids.ts(now)
    }

    pub(crate) fn team_url(&self) -> String {
        format!("https://{}.slack.com/", self.team.domain)
    }

    /// Queues an event for the apps that subscribed to it, have its scope and may see it.
    pub(crate) fn announce(&mut self, event: &str, scope: &str, audience: Audience, mut body: Value) {
        if body["event_ts"].is_null() {
            body["event_ts"] = json!(self.next_ts().to_string());
        }
        let (channel, only) = match audience {
            Audience::Workspace => (None, None),
            Audience::Channel(channel) => (Some(channel), None),
            Audience::App { app, channel } => (channel, Some(app)),
        };
        let is_shared = channel.as_ref().and_then(|channel| self.channels.get(channel)).is_some_and(|channel| channel.shared);
        let is_meant = |app: &&App| {
            let is_member = |channel: &String| self.channels.get(channel).is_some_and(|found| found.has(&app.user));
            app.listens_to(event)
                && (scope.is_empty() || app.has_scope(scope))
                && !app.uninstalled
                && (!app.revoked || event == "tokens_revoked")
                && only.as_ref().is_none_or(|only| *only == app.id)
                && channel.as_ref().is_none_or(is_member)
        };
        let receivers: Vec<App> = self.apps.values().filter(is_meant).cloned().collect();
        for app in receivers {
            let payload = json!({
                "token": VERIFICATION_TOKEN, "team_id": self.team.id, "context_team_id": self.team.id, "context_enterprise_id": null,
                "api_app_id": app.id, "event": body, "type": "event_callback", "event_id": self.ids.next("Ev"),
                "event_time": self.now().as_secs(), "is_ext_shared_channel": is_shared,
                "authorizations": [{
                    "enterprise_id": null, "team_id": self.team.id, "user_id": app.user, "is_bot": true, "is_enterprise_install": false,
                }],
                "event_context": format!("4-{}", self.ids.next("")),
            });
            self.outbox.push(Delivery { app: app.id, kind: DeliveryKind::Event, payload, interaction: None });
        }
    }
}
