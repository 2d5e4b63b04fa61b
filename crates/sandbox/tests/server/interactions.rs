//! Commands, buttons and modals between a person and a bot.

use std::time::Duration;

use serde_json::{Value, json};

use super::harness::{Answer, Api, Gateway, World, start, start_with};

struct Scene {
    world: World,
    kelly: Api,
    person: Api,
    general: String,
    bot_gateway: Gateway,
    person_gateway: Gateway,
}

impl Scene {
    /// A bot with a command `ask` that has one required option.
    async fn new(world: World) -> Self {
        let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
        let option = json!({ "type": 3, "name": "question", "description": "what", "required": true, "autocomplete": true });
        let ask = json!({ "name": "ask", "description": "ask", "options": [option] });
        kelly.call("PUT", &format!("/applications/{}/commands", kelly.id), json!([ask])).await.ok();
        let (bot_gateway, person_gateway) = (world.connect(&kelly).await, world.connect(&person).await);
        Self { world, kelly, person, general, bot_gateway, person_gateway }
    }

    async fn try_use(&self, kind: u64, rest: Value) -> Answer {
        let mut request = json!({
            "type": kind, "application_id": self.kelly.id, "channel_id": self.general,
            "guild_id": self.world.sandbox.guild_id(), "nonce": "n1",
        });
        request.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        self.person.call("POST", "/interactions", request).await
    }

    /// The person uses a command or component. Returns the interaction that the bot receives.
    async fn act(&mut self, kind: u64, rest: Value) -> Value {
        let sent = self.try_use(kind, rest).await;
        assert_eq!(sent.status, 204, "{sent:?}");
        let mark = self.person_gateway.event("INTERACTION_CREATE").await;
        let received = self.bot_gateway.event("INTERACTION_CREATE").await;
        assert_eq!((&mark["id"], &mark["nonce"]), (&received["id"], &json!("n1")));
        received
    }

    async fn ask(&mut self) -> Value {
        let data = json!({ "name": "ask", "options": [{ "type": 3, "name": "question", "value": "why?" }] });
        self.act(2, json!({ "data": data })).await
    }

    async fn answer(&self, interaction: &Value, body: Value) -> Answer {
        let path = format!("/interactions/{}/{}/callback", text(&interaction["id"]), text(&interaction["token"]));
        self.kelly.call("POST", &path, body).await
    }

    fn hook(&self, interaction: &Value) -> String {
        format!("/webhooks/{}/{}", self.kelly.id, text(&interaction["token"]))
    }

    async fn history(&self, api: &Api) -> Vec<Value> {
        api.get(&format!("/channels/{}/messages", self.general)).await.ok().as_array().cloned().unwrap_or_default()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[tokio::test]
async fn a_command_is_answered_and_the_person_sees_it() {
    let mut scene = Scene::new(start().await).await;
    let interaction = scene.ask().await;
    assert_eq!(interaction["data"]["options"][0]["value"], "why?");
    assert_eq!(interaction["member"]["user"]["id"], scene.person.id);
    scene.answer(&interaction, json!({ "type": 4, "data": { "content": "because" } })).await.ok();
    let received = scene.person_gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&received["content"], &received["type"]), (&json!("because"), &json!(20)));
    assert_eq!(received["interaction_metadata"]["user"]["id"], scene.person.id);
    assert_eq!(scene.person_gateway.event("INTERACTION_SUCCESS").await["nonce"], "n1");
    assert_eq!(scene.answer(&interaction, json!({ "type": 4, "data": { "content": "again" } })).await.refusal(), (400, 40060));
}

#[tokio::test]
async fn the_first_follow_up_replaces_thinking() {
    let mut scene = Scene::new(start().await).await;
    let interaction = scene.ask().await;
    let hook = scene.hook(&interaction);
    let early = scene.kelly.call("POST", &hook, json!({ "content": "too early" })).await;
    assert_eq!(early.refusal(), (404, 10015));
    scene.answer(&interaction, json!({ "type": 5 })).await.ok();
    let thinking = scene.person_gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&thinking["content"], &thinking["flags"]), (&json!(""), &json!(128)));
    let first = scene.kelly.call("POST", &hook, json!({ "content": "because" })).await.ok();
    assert_eq!((&first["id"], &first["flags"], &first["edited_timestamp"]), (&thinking["id"], &json!(0), &Value::Null));
    let second = scene.kelly.call("POST", &hook, json!({ "content": "and more" })).await.ok();
    assert_ne!(second["id"], first["id"]);
    let original = format!("{hook}/messages/@original");
    scene.kelly.call("PATCH", &original, json!({ "content": "on reflection" })).await.ok();
    assert_eq!(scene.kelly.get(&original).await.ok()["content"], "on reflection");
    scene.kelly.delete(&original).await.ok();
    assert_eq!(scene.kelly.get(&original).await.refusal(), (404, 10008));
}

#[tokio::test]
async fn an_interaction_that_nobody_answers_fails_in_time() {
    let world = start_with(|options| options.windows.interaction_ack = Duration::from_millis(150)).await;
    let mut scene = Scene::new(world).await;
    let interaction = scene.ask().await;
    let failure = scene.person_gateway.event("INTERACTION_FAILURE").await;
    assert_eq!((&failure["id"], &failure["nonce"]), (&interaction["id"], &json!("n1")));
    assert_eq!(scene.answer(&interaction, json!({ "type": 5 })).await.refusal(), (404, 10062));
}

#[tokio::test]
async fn a_token_is_good_for_its_window_only() {
    let world = start_with(|options| options.windows.interaction_token = Duration::from_secs(1)).await;
    let mut scene = Scene::new(world).await;
    let interaction = scene.ask().await;
    scene.answer(&interaction, json!({ "type": 5 })).await.ok();
    tokio::time::sleep(Duration::from_millis(1050)).await;
    let late = scene.kelly.call("POST", &scene.hook(&interaction), json!({ "content": "late" })).await;
    assert_eq!(late.refusal(), (401, 50027));
}

#[tokio::test]
async fn an_ephemeral_answer_is_for_one_person_only() {
    let mut scene = Scene::new(start().await).await;
    let vince = scene.world.bot("vince");
    let mut other = scene.world.connect(&vince).await;
    let interaction = scene.ask().await;
    scene.answer(&interaction, json!({ "type": 4, "data": { "content": "secret", "flags": 64 } })).await.ok();
    let received = scene.person_gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&received["content"], &received["flags"]), (&json!("secret"), &json!(64)));
    assert!(other.is_silent_for(Duration::from_millis(50)).await);
    assert_eq!(scene.history(&vince).await.len(), 0);
    assert_eq!(scene.history(&scene.person).await.len(), 1);
    let path = format!("/channels/{}/messages/{}", scene.general, text(&received["id"]));
    assert_eq!(vince.get(&path).await.refusal(), (404, 10008));
    scene.person.delete(&path).await.ok();
    assert_eq!(scene.history(&scene.person).await.len(), 0);
}

#[tokio::test]
async fn completion_goes_to_the_person_who_types() {
    let mut scene = Scene::new(start().await).await;
    let data = json!({ "name": "ask", "options": [{ "type": 3, "name": "question", "value": "w", "focused": true }] });
    let interaction = scene.act(4, json!({ "data": data })).await;
    assert_eq!(interaction["data"]["options"][0]["focused"], true);
    let wrong = scene.answer(&interaction, json!({ "type": 4, "data": { "content": "x" } })).await;
    assert_eq!(wrong.refusal(), (400, 50035));
    let choices = json!([{ "name": "Why?", "value": "why" }]);
    scene.answer(&interaction, json!({ "type": 8, "data": { "choices": choices } })).await.ok();
    let received = scene.person_gateway.event("APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE").await;
    assert_eq!((&received["choices"], &received["nonce"]), (&choices, &json!("n1")));
}

#[tokio::test]
async fn a_button_updates_its_message_or_opens_a_modal() {
    let mut scene = Scene::new(start().await).await;
    let button = |id: &str, disabled: bool| json!({ "type": 2, "style": 1, "custom_id": id, "label": id, "disabled": disabled });
    let row = json!([{ "type": 1, "components": [button("go", false), button("off", true)] }]);
    let path = format!("/channels/{}/messages", scene.general);
    let message = scene.kelly.call("POST", &path, json!({ "content": "press", "components": row })).await.ok();
    let press = |id: &str| json!({ "message_id": message["id"], "data": { "component_type": 2, "custom_id": id } });
    for wrong in ["off", "missing"] {
        assert_eq!(scene.try_use(3, press(wrong)).await.refusal(), (400, 50035), "{wrong}");
    }
    let pressed = scene.act(3, press("go")).await;
    assert_eq!(pressed["message"]["id"], message["id"]);
    scene.answer(&pressed, json!({ "type": 7, "data": { "content": "pressed", "components": [] } })).await.ok();
    let updated = scene.person_gateway.event("MESSAGE_UPDATE").await;
    assert_eq!((&updated["id"], &updated["content"]), (&message["id"], &json!("pressed")));
}

#[tokio::test]
async fn a_modal_is_shown_filled_in_and_checked() {
    let mut scene = Scene::new(start().await).await;
    let interaction = scene.ask().await;
    let input = json!({ "type": 4, "custom_id": "reason", "label": "Reason", "style": 1, "min_length": 3 });
    let modal = json!({ "custom_id": "form", "title": "Why", "components": [{ "type": 1, "components": [input] }] });
    scene.answer(&interaction, json!({ "type": 9, "data": modal })).await.ok();
    let shown = scene.person_gateway.event("INTERACTION_MODAL_CREATE").await;
    assert_eq!((&shown["title"], &shown["application"]["id"]), (&json!("Why"), &json!(scene.kelly.id)));
    let fill = |value: &str| {
        let field = json!({ "type": 4, "custom_id": "reason", "value": value });
        json!({ "data": { "custom_id": "form", "components": [{ "type": 1, "components": [field] }] } })
    };
    for wrong in ["", "no"] {
        assert_eq!(scene.try_use(5, fill(wrong)).await.refusal(), (400, 50035), "{wrong:?}");
    }
    let submitted = scene.act(5, fill("because")).await;
    assert_eq!(submitted["data"]["components"][0]["components"][0]["value"], "because");
    scene.answer(&submitted, json!({ "type": 4, "data": { "content": "thanks" } })).await.ok();
    assert_eq!(scene.try_use(5, fill("because")).await.refusal(), (404, 10062), "it was closed");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused() {
    let scene = Scene::new(start().await).await;
    let option = |name: &str, value: Value| json!({ "name": "ask", "options": [{ "type": 3, "name": name, "value": value }] });
    for (kind, data, expected) in [
        (2, json!({ "name": "nothing" }), (404, 10063)),
        (2, json!({ "name": "ask" }), (400, 50035)),
        (2, option("question", json!(7)), (400, 50035)),
        (2, option("other", json!("x")), (400, 50035)),
        (9, json!({}), (400, 50035)),
        (5, json!({ "custom_id": "never shown" }), (404, 10062)),
    ] {
        assert_eq!(scene.try_use(kind, json!({ "data": data })).await.refusal(), expected, "{kind} {data}");
    }
    let by_bot = scene.kelly.call("POST", "/interactions", json!({ "type": 2 })).await;
    assert_eq!(by_bot.refusal(), (403, 20001));
}
