//! Modals and home tabs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Change, World};

/// "A modal can hold up to 3 views at a time."
pub(crate) const STACK_LIMIT: usize = 3;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) id: String,
    pub(crate) app: String,
    /// Who sees it.
    pub(crate) user: String,
    /// The view as the app sent it, with ids added where they were missing.
    pub(crate) body: Value,
    pub(crate) hash: String,
    /// What is entered, by block and action.
    pub(crate) values: Value,
    pub(crate) root: String,
    pub(crate) previous: Option<String>,
}

impl World {
    /// Opens a view, on top of another one or as the first.
    pub(crate) fn add_view(&mut self, app: &str, user: &str, body: Value, below: Option<&str>) -> String {
        let id = self.ids.next("V");
        let root = below.and_then(|below| self.views.get(below)).map_or_else(|| id.clone(), |below| below.root.clone());
        let view = View {
            id: id.clone(),
            app: app.to_owned(),
            user: user.to_owned(),
            body,
            hash: self.view_hash(),
            values: json!({}),
            root,
            previous: below.map(str::to_owned),
        };
        self.views.insert(id.clone(), view);
        self.changes.push(Change::View(id.clone()));
        id
    }

    /// Replaces the content of a view. Blocks that the new content has too keep their entered values.
    pub(crate) fn update_view(&mut self, id: &str, body: Value) {
        let hash = self.view_hash();
        let Some(view) = self.views.get_mut(id) else { return };
        let kept: Vec<&str> = body["blocks"].as_array().into_iter().flatten().filter_map(|block| block["block_id"].as_str()).collect();
        if let Some(values) = view.values.as_object_mut() {
            values.retain(|block, _| kept.contains(&block.as_str()));
        }
        (view.body, view.hash) = (body, hash);
        self.changes.push(Change::View(id.to_owned()));
    }

    fn view_hash(&mut self) -> String {
        format!("{}.{}", self.now().as_secs(), self.ids.next("h"))
    }

    /// The modals that are open for a user, the lowest first.
    pub(crate) fn modals(&self, user: &str) -> impl Iterator<Item = &View> {
        self.views.values().filter(move |view| view.user == user && view.body["type"] == "modal")
    }

    /// The published home tab of an app for a user.
    pub(crate) fn home(&self, app: &str, user: &str) -> Option<&View> {
        self.views.values().find(|view| view.app == app && view.user == user && view.body["type"] == "home")
    }

    /// Closes a modal, or all of its stack.
    pub(crate) fn close_view(&mut self, id: &str, whole_stack: bool) {
        let Some(closed) = self.views.remove(id) else { return };
        self.changes.push(Change::View(id.to_owned()));
        if whole_stack {
            let stack = self.views.extract_if(.., |_, view| view.root == closed.root && view.user == closed.user);
            self.changes.extend(stack.map(|(id, _)| Change::View(id)));
        }
    }

    /// A view as answers and payloads show it.
    pub(crate) fn view(&self, view: &View) -> Value {
        let body = &view.body;
        let or = |key: &str, default: Value| if body[key].is_null() { default } else { body[key].clone() };
        let bot = self.apps.get(&view.app).map(|app| app.bot.clone());
        json!({
            "id": view.id, "team_id": self.team.id, "type": body["type"], "title": or("title", Value::Null),
            "close": or("close", Value::Null), "submit": or("submit", Value::Null), "blocks": body["blocks"],
            "private_metadata": or("private_metadata", json!("")), "callback_id": or("callback_id", json!("")),
            "external_id": or("external_id", json!("")), "clear_on_close": or("clear_on_close", json!(false)),
            "notify_on_close": or("notify_on_close", json!(false)), "state": { "values": view.values }, "hash": view.hash,
            "root_view_id": view.root, "previous_view_id": view.previous, "app_id": view.app,
            "app_installed_team_id": self.team.id, "bot_id": bot,
        })
    }
}
