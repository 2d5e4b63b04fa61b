//! Slash commands, clicks and submissions until an app acknowledges them, and the triggers and response URLs that the app gets with them.

use std::time::Duration;

use serde_json::{Value, json};

use super::World;
use super::ids::Ts;

/// How long an expired trigger or response URL is kept, so that the error for its use says that it expired.
const KEPT: Duration = Duration::from_mins(10);
/// Older interactions are forgotten.
const INTERACTIONS: usize = 1_000;

/// How far an interaction has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Sent, and not acknowledged yet.
    Waiting,
    /// Acknowledged, with the payload of the acknowledgement (`null` without one).
    Acknowledged(Value),
    /// The person sees an error: `operation_timeout`, or `dispatch_failed` if the app has no connection.
    Failed(&'static str),
}

/// What a trigger id stands for.
#[derive(Clone, Debug)]
pub(crate) struct Trigger {
    pub(crate) app: String,
    pub(crate) user: String,
    pub(crate) until: Duration,
    pub(crate) used: bool,
    /// The view that the interaction happened in.
    pub(crate) view: Option<String>,
}

/// An address for messages in answer to an interaction.
#[derive(Clone, Debug)]
pub(crate) struct ResponseUrl {
    pub(crate) app: String,
    pub(crate) user: String,
    pub(crate) channel: String,
    /// The message with the button.
    pub(crate) message: Option<Ts>,
    pub(crate) until: Duration,
    pub(crate) uses: u32,
}

impl World {
    /// A new trigger, which a modal can be opened with.
    pub(crate) fn add_trigger(&mut self, app: &str, user: &str, view: Option<&str>) -> String {
        let id = format!("{}.{}.{}", self.now().as_secs(), self.team.id, self.ids.next(""));
        let until = self.now() + self.windows.trigger;
        let trigger = Trigger { app: app.to_owned(), user: user.to_owned(), until, used: false, view: view.map(str::to_owned) };
        let now = self.now();
        self.triggers.retain(|_, known| now < known.until + KEPT);
        self.triggers.insert(id.clone(), trigger);
        id
    }

    /// A new response URL.
    pub(crate) fn add_response_url(&mut self, app: &str, user: &str, channel: &str, message: Option<Ts>) -> String {
        let token = self.ids.next("R");
        let url = format!("{}/actions/{}/{token}", self.base, self.team.id);
        let until = self.now() + self.windows.response_url;
        let response = ResponseUrl { app: app.to_owned(), user: user.to_owned(), channel: channel.to_owned(), message, until, uses: 0 };
        let now = self.now();
        self.response_urls.retain(|_, known| now < known.until + KEPT);
        self.response_urls.insert(token, response);
        url
    }

    /// The response URLs of a submitted modal: one for each chosen conversation whose select has `response_url_enabled`.
    pub(crate) fn response_urls_of(&mut self, app: &str, user: &str, view: &str) -> Value {
        let Some(view) = self.views.get(view).cloned() else { return json!([]) };
        let blocks = view.body["blocks"].as_array().into_iter().flatten();
        let asked = blocks.filter(|block| block["element"]["response_url_enabled"] == true);
        let mut urls = Vec::new();
        for block in asked {
            let (id, action) = (block["block_id"].as_str().unwrap_or_default(), block["element"]["action_id"].as_str().unwrap_or_default());
            if let Some(channel) = view.values[id][action]["selected_conversation"].as_str() {
                let url = self.add_response_url(app, user, channel, None);
                urls.push(json!({ "block_id": id, "action_id": action, "channel_id": channel, "response_url": url }));
            }
        }
        json!(urls)
    }

    /// Adds an interaction that no app has acknowledged yet.
    pub(crate) fn add_interaction(&mut self) -> String {
        let id = self.ids.next("I");
        self.interactions.insert(id.clone(), Progress::Waiting);
        while self.interactions.len() > INTERACTIONS {
            self.interactions.pop_first();
        }
        id
    }

    /// The fields that all interactive payloads share.
    pub(crate) fn interaction(&self, kind: &str, app: &str, user: &str) -> Value {
        let name = self.user_name(user);
        json!({
            "type": kind, "api_app_id": app, "token": super::VERIFICATION_TOKEN, "is_enterprise_install": false, "enterprise": null,
            "team": { "id": self.team.id, "domain": self.team.domain },
            "user": { "id": user, "username": name, "name": name, "team_id": self.team.id },
        })
    }
}
