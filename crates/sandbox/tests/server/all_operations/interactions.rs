//! Commands, and the buttons, selects and forms of messages.

use serde_json::{Value, json};

use super::super::harness::Gateway;
use super::Operations;

impl Operations<'_> {
    pub(super) async fn commands(&self, kelly: &mut Gateway, person: &mut Gateway) {
        let commands = format!("/applications/{}/commands", self.kelly.id);
        let in_guild = format!("/applications/{}/guilds/{}/commands", self.kelly.id, self.guild);
        let ask = json!({
            "name": "ask", "description": "ask somebody", "options": [
                { "type": 3, "name": "question", "description": "what", "required": true, "autocomplete": true, "max_length": null },
                { "type": 6, "name": "who", "description": "whom" },
                { "type": 7, "name": "where", "description": "where" },
                { "type": 11, "name": "file", "description": "a file" },
                { "type": 4, "name": "times", "description": "n", "choices": [{ "name": "one", "value": 1 }] },
            ],
        });
        let set = self.kelly.call("PUT", &commands, json!([ask])).await.ok();
        let id = Self::id(&set[0]);
        self.kelly.get(&commands).await.ok();
        self.kelly.get(&format!("{commands}/{id}")).await.ok();
        self.kelly.call("PATCH", &format!("{commands}/{id}"), json!({ "description": "ask anybody" })).await.ok();
        let extra = self.kelly.call("POST", &commands, json!({ "name": "extra", "description": "d" })).await.ok();
        self.kelly.delete(&format!("{commands}/{}", Self::id(&extra))).await.ok();
        let local = self.kelly.call("PUT", &in_guild, json!([{ "name": "local", "description": "d" }])).await.ok();
        let local = format!("{in_guild}/{}", Self::id(&local[0]));
        self.kelly.get(&in_guild).await.ok();
        self.kelly.get(&local).await.ok();
        self.kelly.call("PATCH", &local, json!({ "description": "e" })).await.ok();
        self.kelly.delete(&local).await.ok();
        self.kelly.call("POST", &in_guild, json!({ "name": "local", "description": "d" })).await.ok();
        self.person.get(&format!("/guilds/{}/application-command-index", self.guild)).await.ok();

        let typing = json!({ "name": "ask", "options": [{ "type": 3, "name": "question", "value": "wh", "focused": true }] });
        let interaction = self.interact(kelly, 4, json!({ "data": typing })).await;
        let choices = json!({ "type": 8, "data": { "choices": [{ "name": "why?", "value": "why?" }] } });
        self.answer(&interaction, "", choices).await;
        person.event("APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE").await;

        let filled = json!({ "name": "ask", "attachments": [{ "id": "0", "filename": "x.txt" }], "options": [
            { "type": 3, "name": "question", "value": "why?" }, { "type": 6, "name": "who", "value": self.vince.id },
            { "type": 7, "name": "where", "value": self.general }, { "type": 11, "name": "file", "value": 0 },
        ] });
        let request = json!({ "type": 2, "application_id": self.kelly.id, "channel_id": self.general, "guild_id": self.guild, "nonce": "1", "data": filled });
        let invoked = self.person.upload("/interactions", &request, &[("x.txt", b"hello".to_vec())], true).await;
        assert_eq!(invoked.status, 204, "{invoked:?}");
        let interaction = kelly.event("INTERACTION_CREATE").await;
        let url = interaction["data"]["resolved"]["attachments"].as_object().and_then(|files| files.values().next()?["url"].as_str());
        assert_eq!(self.kelly.fetch(url.expect("a file")).await.1, b"hello");
        self.answer(&interaction, "?with_response=true", json!({ "type": 5 })).await;
        let hook = format!("/webhooks/{}/{}", self.kelly.id, interaction["token"].as_str().expect("a token"));
        let first = self.kelly.call("POST", &hook, json!({ "content": "because" })).await.ok();
        let original = format!("{hook}/messages/@original");
        assert_eq!(self.kelly.get(&original).await.ok()["id"], first["id"]);
        let buttons = json!([{ "type": 1, "components": [
            { "type": 2, "style": 1, "custom_id": "more", "label": "More" }, { "type": 2, "style": 2, "custom_id": "form", "label": "Form" },
        ] }, { "type": 1, "components": [{ "type": 3, "custom_id": "s", "options": [{ "label": "A", "value": "a" }] }] },
            { "type": 1, "components": [{ "type": 5, "custom_id": "u" }] }]);
        self.kelly.call("PATCH", &original, json!({ "content": "because!", "components": buttons })).await.ok();
        let more = self.kelly.call("POST", &hook, json!({ "content": "only for you", "flags": 64 })).await.ok();
        let more = format!("{hook}/messages/{}", Self::id(&more));
        self.kelly.get(&more).await.ok();
        self.kelly.call("PATCH", &more, json!({ "content": "still" })).await.ok();
        self.kelly.delete(&more).await.ok();
        self.components(kelly, person, &Self::id(&first)).await;
        self.kelly.delete(&original).await.ok();
    }

    async fn components(&self, kelly: &mut Gateway, person: &mut Gateway, message: &str) {
        let button = |custom_id: &str| json!({ "message_id": message, "data": { "component_type": 2, "custom_id": custom_id } });
        let pressed = self.interact(kelly, 3, button("more")).await;
        self.answer(&pressed, "?with_response=true", json!({ "type": 7, "data": { "content": "updated" } })).await;
        let pressed = self.interact(kelly, 3, button("more")).await;
        self.answer(&pressed, "?with_response=true", json!({ "type": 4, "data": { "content": "hidden", "flags": 64 } })).await;
        let picked = json!({ "message_id": message, "data": { "component_type": 3, "custom_id": "s", "values": ["a"] } });
        let picked = self.interact(kelly, 3, picked).await;
        self.answer(&picked, "", json!({ "type": 6, "data": null })).await;
        let picked = json!({ "message_id": message, "data": { "component_type": 5, "custom_id": "u", "values": [self.vince.id] } });
        let picked = self.interact(kelly, 3, picked).await;
        self.answer(&picked, "", json!({ "type": 6 })).await;

        let pressed = self.interact(kelly, 3, button("form")).await;
        let modal = json!({ "custom_id": "m", "title": "A form", "components": [
            { "type": 1, "components": [{ "type": 4, "custom_id": "text", "label": "Text", "style": 1, "required": true }] },
        ] });
        self.answer(&pressed, "", json!({ "type": 9, "data": modal })).await;
        person.event("INTERACTION_MODAL_CREATE").await;
        let filled =
            json!({ "custom_id": "m", "components": [{ "type": 1, "components": [{ "type": 4, "custom_id": "text", "value": "v" }] }] });
        let submitted = self.interact(kelly, 5, json!({ "data": filled })).await;
        self.answer(&submitted, "?with_response=true", json!({ "type": 4, "data": { "content": "thank you" } })).await;
    }

    /// The person uses a command or component. Returns the interaction that the bot receives.
    async fn interact(&self, kelly: &mut Gateway, kind: u64, rest: Value) -> Value {
        let mut request = json!({ "type": kind, "application_id": self.kelly.id, "channel_id": self.general, "guild_id": self.guild });
        request.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        let sent = self.person.call("POST", "/interactions", request).await;
        assert_eq!(sent.status, 204, "{sent:?}");
        kelly.event("INTERACTION_CREATE").await
    }

    async fn answer(&self, interaction: &Value, query: &str, body: Value) {
        let token = interaction["token"].as_str().expect("a token");
        self.kelly.call("POST", &format!("/interactions/{}/{token}/callback{query}", Self::id(interaction)), body).await.ok();
    }
}
