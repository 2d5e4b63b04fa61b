//! Modals, home tabs and the assistant.

use serde_json::{Value, json};

use super::elements::{action, entered, find_element};
use super::{Interaction, Person, Refused, parse};
use crate::state::{Audience, Author, Change, DeliveryKind, Message, SESSION_STOPPED, Ts};

impl Person {
    /// The open modals, the lowest first.
    pub fn modals(&self) -> Vec<Value> {
        let core = self.core();
        core.world.modals(&self.id).map(|view| core.world.view(view)).collect()
    }

    /// The home tab that an app has published for this person.
    pub fn home(&self, app: &str) -> Option<Value> {
        let core = self.core();
        let app = core.world.find_app(app)?.id.clone();
        core.world.home(&app, &self.id).map(|view| core.world.view(view))
    }

    /// The errors that an app shows at the inputs of a modal.
    pub fn modal_errors(&self, view: &str) -> Value {
        self.core().world.views.get(view).map(|view| view.body["errors"].clone()).unwrap_or_default()
    }

    /// Opens the home tab of an app. The app gets `app_home_opened`.
    ///
    /// # Errors
    /// When there is no such app, or it has no home tab.
    pub fn open_home(&self, app: &str) -> Result<(), Refused> {
        let mut core = self.core();
        let found = core.world.find_app(app).filter(|app| app.config.home_tab).cloned().ok_or(Refused("not_enabled"))?;
        let channel = core.world.open_direct(&[self.id.clone(), found.user.clone()].into()).0;
        let mut body = json!({ "type": "app_home_opened", "user": self.id, "channel": channel, "tab": "home" });
        if let Some(view) = core.world.home(&found.id, &self.id) {
            body["view"] = core.world.view(view);
        }
        core.world.announce("app_home_opened", "", Audience::App { app: found.id, channel: None }, body);
        core.flush();
        Ok(())
    }

    /// Opens the assistant of an app, and returns its channel and thread. The app gets `assistant_thread_started`.
    ///
    /// # Errors
    /// When there is no such app.
    pub fn open_assistant(&self, app: &str) -> Result<(String, String), Refused> {
        let mut core = self.core();
        let found = core.world.find_app(app).cloned().ok_or(Refused("not_enabled"))?;
        let channel = core.world.open_direct(&[self.id.clone(), found.user.clone()].into()).0;
        let thread = core.world.next_ts().to_string();
        let body = json!({
            "type": "assistant_thread_started",
            "assistant_thread": { "user_id": self.id, "context": {}, "channel_id": channel, "thread_ts": thread },
        });
        let audience = Audience::App { app: found.id, channel: Some(channel.clone()) };
        core.world.announce("assistant_thread_started", "assistant:write", audience, body);
        core.flush();
        Ok((channel, thread))
    }

    /// Presses stop in a thread in which an agent is at work. The app gets `agent_session_stopped`.
    ///
    /// # Errors
    /// When no agent that can be stopped is at work there.
    pub fn stop_work(&self, channel: &str, thread: &str) -> Result<(), Refused> {
        let mut core = self.core();
        let ts = parse(thread)?;
        let found = core.world.channels.get(channel).filter(|found| found.has(&self.id)).ok_or(Refused("channel_not_found"))?;
        let app = core.world.find_stoppable(channel, ts).ok_or(Refused("nothing_to_stop"))?.id.clone();
        let is_streamed = |message: &&Message| {
            let is_of = matches!(&message.author, Author::App { id, .. } if *id == app);
            is_of && message.thread == Some(ts) && message.streaming.is_some()
        };
        let streamed: Vec<Ts> = found.messages.values().filter(is_streamed).map(|message| message.ts).collect();
        for message in &streamed {
            core.world.edit(channel, *message, None, |message| message.streaming = None);
        }
        let streamed: Vec<String> = streamed.iter().map(Ts::to_string).collect();
        let body =
            json!({ "type": SESSION_STOPPED, "channel": channel, "thread_ts": thread, "user": self.id, "streaming_message_ts": streamed });
        let audience = Audience::App { app, channel: Some(channel.to_owned()) };
        core.world.announce(SESSION_STOPPED, "assistant:write", audience, body);
        core.flush();
        Ok(())
    }

    /// Presses a button, or chooses values, in a modal or a home tab.
    ///
    /// # Errors
    /// When the view is not open, or has no such element or option.
    pub fn act_in_view(&self, view: &str, action_id: &str, values: &[&str]) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let found = core.world.views.get(view).filter(|view| view.user == self.id).cloned().ok_or(Refused("not_found"))?;
        let element = find_element(&found.body["blocks"], action_id).ok_or(Refused("no_such_element"))?;
        let value = entered(element.element, values).ok_or(Refused("no_such_option"))?;
        if element.element["type"] != "button" {
            core.world.views.entry(view.to_owned()).and_modify(|view| view.values[element.block][action_id] = value.clone());
            core.world.changes.push(Change::View(view.to_owned()));
        }
        let at = core.world.next_ts().to_string();
        let mut payload = core.world.interaction("block_actions", &found.app, &self.id);
        payload["actions"] = json!([action(&element, &value, &at)]);
        payload["container"] = json!({ "type": "view", "view_id": view });
        payload["view"] = core.world.views.get(view).map(|view| core.world.view(view)).unwrap_or_default();
        payload["trigger_id"] = json!(core.world.add_trigger(&found.app, &self.id, Some(view)));
        self.send(&mut core, &found.app, DeliveryKind::Interaction, payload)
    }

    /// Fills in inputs of a modal, given as actions with their values, and submits it.
    ///
    /// # Errors
    /// When the modal is not open, has no such input or option, or a required input is empty.
    pub fn submit(&self, view: &str, inputs: &[(&str, &[&str])]) -> Result<Interaction, Refused> {
        let mut core = self.core();
        let found = core.world.views.get_mut(view).filter(|view| view.user == self.id).ok_or(Refused("not_found"))?;
        for (action_id, values) in inputs {
            let element = find_element(&found.body["blocks"], action_id).ok_or(Refused("no_such_element"))?;
            let value = entered(element.element, values).ok_or(Refused("no_such_option"))?;
            found.values[element.block][*action_id] = value;
        }
        let blocks = found.body["blocks"].as_array().cloned().unwrap_or_default();
        for block in blocks.iter().filter(|block| block["type"] == "input") {
            let (id, element) = (block["block_id"].as_str().unwrap_or_default(), &block["element"]);
            let action_id = element["action_id"].as_str().unwrap_or_default();
            if !found.values[id][action_id].is_null() {
                continue;
            }
            // An input that was not filled in keeps its initial value.
            let initial = element["initial_value"].as_str().or(element["initial_option"]["value"].as_str());
            let values: Vec<&str> = initial.into_iter().collect();
            if values.is_empty() && block["optional"] != true {
                return Err(Refused("required_input_is_empty"));
            }
            found.values[id][action_id] = entered(element, &values).unwrap_or_default();
        }
        found.body["errors"] = Value::Null;
        let app = found.app.clone();
        core.world.changes.push(Change::View(view.to_owned()));
        let mut payload = core.world.interaction("view_submission", &app, &self.id);
        payload["view"] = core.world.views.get(view).map(|view| core.world.view(view)).unwrap_or_default();
        payload["response_urls"] = core.world.response_urls_of(&app, &self.id, view);
        payload["trigger_id"] = json!(core.world.add_trigger(&app, &self.id, Some(view)));
        self.send(&mut core, &app, DeliveryKind::Interaction, payload)
    }

    /// Closes a modal. The app gets `view_closed` if it asked for that.
    ///
    /// # Errors
    /// When the modal is not open.
    pub fn close_modal(&self, view: &str) -> Result<Option<Interaction>, Refused> {
        let mut core = self.core();
        let found = core.world.views.get(view).filter(|view| view.user == self.id).cloned().ok_or(Refused("not_found"))?;
        let shown = core.world.view(&found);
        let clears = found.body["clear_on_close"] == true;
        core.world.close_view(view, clears);
        if found.body["notify_on_close"] != true {
            core.flush();
            return Ok(None);
        }
        let mut payload = core.world.interaction("view_closed", &found.app, &self.id);
        payload["view"] = shown;
        payload["is_cleared"] = json!(clears);
        self.send(&mut core, &found.app, DeliveryKind::Interaction, payload).map(Some)
    }
}
