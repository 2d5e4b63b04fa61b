//! Buttons, selects and slash commands.

use std::sync::Arc;

use serde_json::{Value, json};

use super::elements::{action, entered, find_element};
use super::{Person, Refused, parse};
use crate::options::ShortcutKind;
use crate::server::{Core, Server};
use crate::state::{Author, Delivery, DeliveryKind, Progress, World};

/// An interaction that a person has started and an app has to acknowledge.
pub struct Interaction {
    server: Arc<Server>,
    id: String,
}

impl Interaction {
    pub fn progress(&self) -> Progress {
        self.server.core().world.interactions.get(&self.id).cloned().unwrap_or(Progress::Waiting)
    }

    /// Waits until it is acknowledged or has failed.
    pub async fn ended(&self) -> Progress {
        let mut changes = self.server.core().changes.subscribe();
        loop {
            match self.progress() {
                Progress::Waiting if changes.changed().await.is_ok() => {}
                progress => return progress,
            }
        }
    }
}

/// The app that has a shortcut.
fn find_shortcut(world: &World, kind: ShortcutKind, callback: &str) -> Result<String, Refused> {
    let mut apps = world.apps.values().filter(|app| !app.uninstalled && app.has_scope("commands"));
    let app = apps.find(|app| app.config.shortcuts.iter().any(|known| known.kind == kind && known.callback_id == callback));
    app.map(|app| app.id.clone()).ok_or(Refused("invalid_shortcut"))
}

impl Person {
    /// Presses a button of a message.
    ///
    /// # Errors
    /// When the message has no such element, or its app takes no interactions.
    pub fn press(&self, channel: &str, ts: &str, action_id: &str) -> Result<Interaction, Refused> {
        self.choose(channel, ts, action_id, &[])
    }

    /// Chooses values in a select of a message: values of its options, or ids of users or channels. See [`Person::press`] for errors.
    pub fn choose(&self, channel: &str, ts: &str, action_id: &str, values: &[&str]) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let ts = parse(ts)?;
        let found = core.world.channels.get(channel).filter(|found| found.is_visible_to(&self.id));
        let message = found.and_then(|found| Some((found, found.messages.get(&ts)?)));
        let (found, message) = message.ok_or(Refused("message_not_found"))?;
        let Author::App { id: app, .. } = message.author.clone() else { return Err(Refused("no_such_element")) };
        let is_ephemeral = message.only_for.is_some();
        let (shown, name) = (core.world.message(found, message), found.name.clone());
        let cards = shown["attachments"].as_array().into_iter().flatten();
        let in_card = cards.filter_map(|card| Some((find_element(&card["blocks"], action_id)?, card["id"].clone())));
        let found_at =
            find_element(&shown["blocks"], action_id).map(|element| (element, Value::Null)).or_else(|| in_card.into_iter().next());
        let (element, card) = found_at.ok_or(Refused("no_such_element"))?;
        let value = entered(element.element, values).ok_or(Refused("no_such_option"))?;
        let at = core.world.next_ts().to_string();
        let mut payload = core.world.interaction("block_actions", &app, &self.id);
        payload["actions"] = json!([action(&element, &value, &at)]);
        payload["container"] = json!({ "type": "message", "message_ts": shown["ts"], "channel_id": channel, "is_ephemeral": is_ephemeral });
        if !card.is_null() {
            payload["container"]["type"] = json!("message_attachment");
            payload["container"]["attachment_id"] = card;
        }
        if !shown["thread_ts"].is_null() {
            payload["container"]["thread_ts"] = shown["thread_ts"].clone();
        }
        payload["channel"] = json!({ "id": channel, "name": if name.is_empty() { "directmessage" } else { &name } });
        payload["state"] = json!({ "values": {} });
        if element.element["type"] != "button" {
            payload["state"]["values"][element.block][action_id] = value;
        }
        // An ephemeral message is not in the payload.
        if !is_ephemeral {
            payload["message"] = shown.clone();
        }
        payload["response_url"] = json!(core.world.add_response_url(&app, &self.id, channel, Some(ts)));
        payload["trigger_id"] = json!(core.world.add_trigger(&app, &self.id, None));
        self.send(&mut core, &app, DeliveryKind::Interaction, payload)
    }

    /// Runs a slash command, such as `/status now`.
    ///
    /// # Errors
    /// When no app has the command.
    pub fn command(&self, channel: &str, line: &str) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let (command, text) = line.split_once(' ').unwrap_or((line, ""));
        let has_it = |known: &String| known == command;
        let mut apps = core.world.apps.values().filter(|app| !app.uninstalled && app.has_scope("commands"));
        // If several apps have the command, the one installed last gets it.
        let app = apps.rfind(|app| app.config.commands.iter().any(has_it)).map(|app| app.id.clone());
        let app = app.ok_or(Refused("invalid_command"))?;
        let name = match core.world.channels.get(channel) {
            Some(found) if found.kind.is_direct() => "directmessage".to_owned(),
            Some(found) => found.name.clone(),
            None => return Err(Refused("channel_not_found")),
        };
        let team = core.world.team.clone();
        let payload = json!({
            "token": crate::state::VERIFICATION_TOKEN, "team_id": team.id, "team_domain": team.domain, "channel_id": channel,
            "channel_name": name, "user_id": self.id, "user_name": core.world.user_name(&self.id), "command": command, "text": text,
            "api_app_id": app, "is_enterprise_install": "false",
            "response_url": core.world.add_response_url(&app, &self.id, channel, None),
            "trigger_id": core.world.add_trigger(&app, &self.id, None),
        });
        self.send(&mut core, &app, DeliveryKind::Command, payload)
    }

    /// Uses a shortcut on a message.
    ///
    /// # Errors
    /// When there is no such message, or no app has the shortcut.
    pub fn use_on_message(&self, channel: &str, ts: &str, callback: &str) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let ts = parse(ts)?;
        let app = find_shortcut(&core.world, ShortcutKind::Message, callback)?;
        let found = core.world.channels.get(channel).filter(|found| found.is_visible_to(&self.id));
        let message = found.and_then(|found| Some((found, found.messages.get(&ts)?)));
        let (found, message) = message.ok_or(Refused("message_not_found"))?;
        let (shown, name) = (core.world.message(found, message), found.name.clone());
        let mut payload = core.world.interaction("message_action", &app, &self.id);
        payload["callback_id"] = json!(callback);
        payload["action_ts"] = json!(core.world.next_ts().to_string());
        payload["channel"] = json!({ "id": channel, "name": if name.is_empty() { "directmessage" } else { &name } });
        payload["message_ts"] = shown["ts"].clone();
        payload["message"] = shown;
        payload["response_url"] = json!(core.world.add_response_url(&app, &self.id, channel, None));
        payload["trigger_id"] = json!(core.world.add_trigger(&app, &self.id, None));
        self.send(&mut core, &app, DeliveryKind::Interaction, payload)
    }

    /// Uses a shortcut in the search bar. It has no channel.
    ///
    /// # Errors
    /// When no app has the shortcut.
    pub fn use_shortcut(&self, callback: &str) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let app = find_shortcut(&core.world, ShortcutKind::Global, callback)?;
        let mut payload = core.world.interaction("shortcut", &app, &self.id);
        payload["callback_id"] = json!(callback);
        payload["action_ts"] = json!(core.world.next_ts().to_string());
        payload["trigger_id"] = json!(core.world.add_trigger(&app, &self.id, None));
        self.send(&mut core, &app, DeliveryKind::Interaction, payload)
    }

    pub(super) fn send(&self, core: &mut Core, app: &str, kind: DeliveryKind, payload: Value) -> Result<Interaction, Refused> {
        let takes_it = core.world.apps.get(app).is_some_and(|app| app.config.interactivity || kind == DeliveryKind::Command);
        if !takes_it {
            return Err(Refused("interactivity_not_enabled"));
        }
        let id = core.world.add_interaction();
        core.world.outbox.push(Delivery { app: app.to_owned(), kind, payload, interaction: Some(id.clone()) });
        core.flush();
        Ok(Interaction { server: Arc::clone(&self.server), id })
    }
}
