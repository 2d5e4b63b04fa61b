//! The routes for people, which the chat page uses.

use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use slack_sandbox::Clock;

use super::harness::{World, start, start_with, within};

/// The chat page of one person: the person's token, and the address of the workspace.
struct Page {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Page {
    fn of(world: &World, name: &str) -> Self {
        let info = world.slack.info();
        let person = info["people"].as_array().expect("people").iter().find(|person| person["name"] == name).expect("the person").clone();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let base = world.slack.page_url().trim_end_matches('/').to_owned();
        Self { http, base, token: person["token"].as_str().expect("a token").to_owned() }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}/people{path}", self.base)).bearer_auth(&self.token)
    }

    async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = within(request.send()).await.expect("an answer");
        let status = response.status().as_u16();
        let text = response.text().await.expect("a text");
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        Self::answer(self.request(Method::GET, path)).await
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        Self::answer(self.request(method, path).json(&body)).await
    }

    /// The texts of a history.
    async fn texts(&self, path: &str) -> Vec<String> {
        let (status, answer) = self.get(path).await;
        assert_eq!(status, 200, "{answer}");
        let messages = answer["messages"].as_array().expect("messages").iter();
        messages.map(|message| message["text"].as_str().expect("a text").to_owned()).collect()
    }
}

#[tokio::test]
async fn a_person_writes_edits_reacts_and_deletes() {
    let world = start().await;
    let (page, general) = (Page::of(&world, "Ann"), &world.general);
    let messages = format!("/channels/{general}/messages");
    let (status, said) = page.send(Method::POST, &messages, json!({ "text": "hello <b>" })).await;
    assert_eq!((status, &said["text"], &said["channel"]), (200, &json!("hello &lt;b&gt;"), &json!(general)));
    let own = format!("{messages}/{}", said["ts"].as_str().expect("a timestamp"));
    let (_, edited) = page.send(Method::PUT, &own, json!({ "text": "hello all" })).await;
    assert_eq!(edited["edited"]["user"], world.ann().id());
    assert_eq!(page.send(Method::PUT, &format!("{own}/reactions/tada"), json!({})).await.0, 200);
    let (status, again) = page.send(Method::PUT, &format!("{own}/reactions/tada"), json!({})).await;
    assert_eq!((status, &again["error"]), (400, &json!("already_reacted")));
    // Somebody else may read the message, but not change it.
    let ben = Page::of(&world, "Ben");
    assert_eq!(ben.texts(&messages).await, ["hello all"]);
    let (status, refused) = ben.send(Method::PUT, &own, json!({ "text": "mine" })).await;
    assert_eq!((status, &refused["error"]), (400, &json!("cant_update_message")));
    assert_eq!(page.send(Method::DELETE, &own, json!({})).await.0, 200);
    assert_eq!(page.texts(&messages).await, [""; 0]);
    let (status, gone) = page.send(Method::DELETE, &own, json!({})).await;
    assert_eq!((status, &gone["error"]), (404, &json!("message_not_found")));
}

#[tokio::test]
async fn history_is_read_in_parts_and_threads_apart() {
    let world = start().await;
    let (page, ann, general) = (Page::of(&world, "Ann"), world.ann(), &world.general);
    let stamps: Vec<String> = (0..5).map(|number| ann.say(general, &format!("n{number}")).expect("posted")).collect();
    ann.reply(general, &stamps[1], "a reply").expect("posted");
    let path = |query: &str| format!("/channels/{general}/messages?{query}");
    assert_eq!(page.texts(&path("limit=2")).await, ["n3", "n4"]);
    assert_eq!(page.texts(&path(&format!("limit=2&before={}", stamps[3]))).await, ["n1", "n2"]);
    assert_eq!(page.texts(&path(&format!("limit=2&after={}", stamps[0]))).await, ["n1", "n2"]);
    assert_eq!(page.texts(&path(&format!("limit=3&around={}", stamps[2]))).await, ["n1", "n2", "n3"]);
    assert_eq!(page.texts(&path(&format!("thread={}", stamps[1]))).await, ["n1", "a reply"]);
    let overview = page.get("/overview").await.1;
    let thread = &overview["threads"][0];
    assert_eq!((&thread["ts"], &thread["reply_count"], &thread["text"]), (&json!(stamps[1]), &json!(1), &json!("n1")));
    for wrong in ["before=yesterday", "thread=1.1", "limit=many", "page=2"] {
        let (status, refused) = page.get(&path(wrong)).await;
        assert!((400..500).contains(&status) && refused["message"].is_string(), "{wrong}: {status} {refused}");
    }
}

#[tokio::test]
async fn words_are_found_in_channels_threads_and_files_but_not_in_what_others_say_in_private() {
    let world = start().await;
    let (page, ann, general) = (Page::of(&world, "Ann"), world.ann(), &world.general);
    let first = ann.say(general, "We launch in MARCH").expect("posted");
    ann.reply(general, &first, "the launch is late").expect("posted");
    ann.upload(general, None, "launch-plan.md", "plan", "see").expect("posted");
    let find = async |page: &Page, words: &str| page.get(&format!("/search?text={words}")).await.1;
    let found = find(&page, "LAUNCH").await;
    let texts: Vec<_> = found["found"].as_array().expect("messages").iter().map(|found| found["text"].as_str().expect("a text")).collect();
    assert_eq!((&found["count"], texts), (&json!(3), vec!["see\n\nlaunch-plan.md", "the launch is late", "We launch in MARCH"]));
    assert_eq!(found["found"][1]["message"]["thread_ts"], json!(first), "the page knows the thread");
    assert_eq!(find(&page, "march+ann").await["count"], 1, "the author's name counts");

    let (_, direct) = page.send(Method::POST, "/direct", json!({ "users": [world.slack.info()["apps"][0]["user"]] })).await;
    ann.say(direct["id"].as_str().unwrap_or_else(|| panic!("{direct}")), "a secret").expect("posted");
    assert_eq!((&find(&page, "secret").await["count"], &find(&Page::of(&world, "Ben"), "secret").await["count"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn a_file_is_uploaded_and_read_by_the_page() {
    let world = start().await;
    let (page, general) = (Page::of(&world, "Ann"), &world.general);
    let path = format!("/channels/{general}/files");
    let part = reqwest::multipart::Part::bytes(b"<b>all</b>".to_vec()).file_name("../x.html");
    let form = reqwest::multipart::Form::new().text("text", "see").part("file", part);
    let (status, sent) = Page::answer(page.request(Method::POST, &path).multipart(form)).await;
    assert_eq!((status, &sent["text"], &sent["files"][0]["size"]), (200, &json!("see"), &json!(10)));
    let id = sent["files"][0]["id"].as_str().expect("an id");
    let file = page.http.get(format!("{}/people/files/{id}/x.html", page.base)).send().await.expect("an answer");
    assert_eq!(file.headers()["content-security-policy"], "default-src 'none'; sandbox");
    assert_eq!(file.headers()["content-type"], "application/octet-stream");
    assert_eq!(file.text().await.expect("a text"), "<b>all</b>");
    let without_file = Page::answer(page.request(Method::POST, &path).multipart(reqwest::multipart::Form::new().text("text", "x"))).await;
    assert_eq!((without_file.0, &without_file.1["error"]), (400, &json!("no_text")));
    let other = Page::answer(page.request(Method::POST, &path).multipart(reqwest::multipart::Form::new().text("texts", "x"))).await;
    assert_eq!(other.0, 400, "{other:?}");
}

#[tokio::test]
async fn buttons_and_commands_wait_for_their_app() {
    let world = start_with(|options| options.clock = Clock::system()).await;
    let (page, general) = (Page::of(&world, "Ann"), &world.general);
    let button = json!({ "type": "button", "action_id": "go", "text": { "type": "plain_text", "text": "Go" } });
    let message = json!({ "channel": general, "text": "x", "blocks": [{ "type": "actions", "elements": [button] }] });
    let posted = world.kelly().json("chat.postMessage", &message).await.ok();
    let actions = format!("/channels/{general}/messages/{}/actions", posted["ts"].as_str().expect("a timestamp"));
    // A click fails while the app has no connection.
    let (status, refused) = page.send(Method::POST, &actions, json!({ "action": "go" })).await;
    assert_eq!((status, &refused["error"]), (504, &json!("dispatch_failed")));
    let mut socket = world.connect("kelly").await;
    let pressed = page.send(Method::POST, &actions, json!({ "action": "go" }));
    let taken = async {
        let envelope = socket.envelope("interactive").await;
        assert_eq!(envelope["payload"]["actions"][0]["action_id"], "go");
    };
    let ((status, answer), ()) = tokio::join!(pressed, taken);
    assert_eq!((status, answer), (200, json!({})));
    for (path, body, error) in [
        (actions.clone(), json!({ "action": "stop" }), "no_such_element"),
        (actions.clone(), json!({ "press": "go" }), "invalid_input"),
        (format!("/channels/{general}/commands"), json!({ "line": "/unknown" }), "invalid_command"),
        (format!("/channels/{general}/commands"), json!("x"), "invalid_input"),
        ("/channels/C0/messages".to_owned(), json!({ "text": "x" }), "channel_not_found"),
        (format!("/channels/{general}/messages"), json!({ "text": " " }), "no_text"),
        (format!("/channels/{general}/messages"), json!({ "text": "x", "thread": "1.1" }), "thread_not_found"),
        ("/direct".to_owned(), json!({ "users": ["U0"] }), "user_not_found"),
        ("/views/V0".to_owned(), json!({ "inputs": [] }), "not_found"),
        ("/homes/nobody".to_owned(), json!({}), "not_enabled"),
    ] {
        let (status, refused) = page.send(Method::POST, &path, body).await;
        assert!((400..500).contains(&status), "{path}: {status}");
        assert_eq!(refused["error"], error, "{path}: {refused}");
        assert!(refused["message"].as_str().is_some_and(|text| text.len() > 10), "{refused}");
    }
}

#[tokio::test]
async fn only_people_with_a_token_and_pages_of_this_server_are_answered() {
    let world = start().await;
    let page = Page::of(&world, "Ann");
    let unknown = Page { token: "xoxc-nobody".to_owned(), ..Page::of(&world, "Ann") };
    assert_eq!(unknown.get("/overview").await.1["error"], "invalid_auth");
    let without = page.http.get(format!("{}/people/overview", page.base)).send().await.expect("an answer");
    assert_eq!(without.status(), 401);
    // The token of an app is not that of a person.
    let app = Page { token: world.slack.app("kelly").bot_token, ..Page::of(&world, "Ann") };
    assert_eq!(app.get("/overview").await.0, 401);
    for (name, value) in [("origin", "https://example.com"), ("host", "evil.example")] {
        let (status, _) = Page::answer(page.request(Method::GET, "/overview").header(name, value)).await;
        assert_eq!(status, 403, "{name}");
    }
    let (status, _) = Page::answer(page.request(Method::GET, "/overview").header("origin", page.base.clone())).await;
    assert_eq!(status, 200, "the page itself");
    let index = page.http.get(format!("{}/", page.base)).send().await.expect("an answer").text().await.expect("a text");
    assert!(index.contains("<title>Teamroom</title>"), "{index}");
}

#[tokio::test]
async fn a_page_is_told_what_it_may_know() {
    let world = start().await;
    let ann = Page::of(&world, "Ann");
    let url = format!("{}/people/live?token={}", ann.base.replace("http", "ws"), ann.token);
    let (mut live, _) = within(Box::pin(tokio_tungstenite::connect_async(url))).await.expect("a connection");
    let mut next = async || -> Value {
        let frame = within(live.next()).await.expect("a frame").expect("no error");
        serde_json::from_str(frame.to_text().expect("a text")).expect("JSON")
    };
    let ready = next().await;
    assert_eq!((&ready["type"], &ready["me"]), (&json!("ready"), &json!(world.ann().id())));
    assert_eq!(ready["channels"].as_array().map(Vec::len), Some(2));
    let online = ready["users"].as_array().expect("users").iter().filter(|user| user["is_online"] == true);
    assert_eq!(online.map(|user| &user["name"]).collect::<Vec<_>>(), ["Ann"], "who has a page open");
    // Ann gets no message that only Ben sees, and none of a conversation that she is not in.
    let ben = world.slack.person("Ben");
    let direct = ben.open_direct(&[&world.slack.app("kelly").user]);
    ben.say(&direct, "a secret").expect("posted");
    let hidden = json!({ "channel": world.general, "user": ben.id(), "text": "for Ben" });
    world.kelly().json("chat.postEphemeral", &hidden).await.ok();
    let ts = ben.say(&world.general, "for all").expect("posted");
    let mut told = next().await;
    while told["type"] == "channel" {
        assert_ne!(told["channel"]["is_member"], true, "{told}");
        told = next().await;
    }
    assert_eq!((&told["type"], &told["is_new"], &told["message"]["text"]), (&json!("message"), &json!(true), &json!("for all")));
    ben.react(&world.general, &ts, "tada").expect("reacted");
    let changed = next().await;
    assert_eq!((&changed["is_new"], &changed["message"]["reactions"][0]["name"]), (&json!(false), &json!("tada")));
    ben.delete(&world.general, &ts).expect("deleted");
    assert_eq!(next().await, json!({ "type": "message_gone", "channel": world.general, "ts": ts }));
    world.slack.stop().await;
}
