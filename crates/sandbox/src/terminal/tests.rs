//! Runs scripts of typed lines against a real sandbox with a small bot.

use std::{
    io::Write,
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_tungstenite::{connect_async, tungstenite::Message as Frame};

use super::{Session, client::Rest, console::Console};
use crate::{Bot, BotAccount, Options, Sandbox};

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output {
    fn text(&self) -> String {
        let bytes = self.0.lock().expect("nobody panicked while writing").clone();
        String::from_utf8(bytes).expect("the terminal writes UTF-8")
    }

    async fn wait_for(&self, expected: &str) {
        while !self.text().contains(expected) {
            tokio::task::yield_now().await;
        }
    }
}

struct Stage {
    sandbox: Sandbox,
    _state: tempfile::TempDir,
}

impl Stage {
    async fn set() -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(state.path());
        options.people = vec!["You".to_owned(), "Ada".to_owned()];
        options.bots = vec![BotAccount { slug: "kelly".to_owned(), name: "Kelly".to_owned(), color: None, intents_content: true }];
        Self { sandbox: Sandbox::start(options).await.expect("the sandbox starts"), _state: state }
    }

    /// Runs these lines as the first person. Returns the text in the terminal.
    async fn play(&self, script: &str) -> String {
        let output = Output::default();
        let mut lines = script.lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
        let ended = run_with(self.sandbox.api_url(), self.token(), Console::new(output.clone(), move |_| lines.next())).await;
        ended.expect("the script runs to its end");
        output.text()
    }

    /// A client of the first person that runs the lines which the test sends.
    fn type_lines(&self, output: &Output) -> (Sender<String>, JoinHandle<anyhow::Result<()>>) {
        let (typed, lines) = channel();
        let console = Console::new(output.clone(), move |_| lines.recv().ok());
        (typed, tokio::spawn(run_with(self.sandbox.api_url(), self.token(), console)))
    }

    fn token(&self) -> String {
        self.sandbox.people()[0].token.clone()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let rest = Rest::new(&self.sandbox.api_url(), &self.token()).expect("a client");
        rest.post(path, body).await.expect("the sandbox accepts it")
    }

    fn channel(&self, name: &str) -> String {
        self.sandbox.channels().into_iter().find(|(known, _)| known == name).expect("a known channel").1
    }
}

async fn run_with(api: String, token: String, console: Console) -> anyhow::Result<()> {
    Session::join(&api, &token, console).await?.run().await
}

#[tokio::test]
async fn a_script_says_and_replies_and_mentions() {
    let stage = Stage::set().await;
    let shown = stage.play("hello @Kelly\n/reply 1 again\n/quit").await;
    for expected in ["── #general", "1. You\n     hello @Kelly", "2. You · reply to 1\n     again"] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
    let later = stage.play("/quit").await;
    assert!(later.contains("1. You\n     hello @Kelly"), "the channel opens with its last messages:\n{later}");
}

#[tokio::test]
async fn a_script_goes_to_channels_threads_and_direct_conversations_and_sends_files() {
    let stage = Stage::set().await;
    let file = tempfile::Builder::new().prefix("my ").suffix(".md").tempfile().expect("a file");
    std::fs::write(file.path(), "# Notes\n").expect("the file can be written");
    let ops = format!("/channels/{}/messages", stage.channel("ops"));
    let start = stage.post(&ops, &json!({ "content": "start" })).await;
    stage.post(&format!("{ops}/{}/threads", start["id"].as_str().expect("an id")), &json!({ "name": "Costs" })).await;
    let script =
        format!("/channel\n/channel Costs\ninside\n/channel #ops\n/file \"{}\" look\n/channel @kelly\nhi\n/quit", file.path().display());
    let shown = stage.play(&script).await;
    for expected in [
        "#ops\n#Costs",
        "── #Costs",
        "You\n     inside",
        "── #ops\n  3. You\n     start\n     thread: /channel #Costs",
        "look\n     file my_",
        ".md http://127.0.0.1:",
        "── Kelly (direct)",
        "You\n     hi",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

#[tokio::test]
async fn a_wrong_line_is_explained_and_ends_nothing() {
    let stage = Stage::set().await;
    let long = "x".repeat(2001);
    let shown = stage
        .play(&format!("/reply 9 x\n/reply 1\n/channel nowhere\n/channel @nobody\n/nonsense\n/file /no/such/file\n/press 1\n/press\n{long}\n/wait soon\n/wait 0\nstill here\n/quit"))
        .await;
    for expected in [
        "There is no message “9” in this channel.",
        "There is no channel or member nowhere. /channel lists the channels.",
        "There is no channel or member @nobody.",
        "There is no command /nonsense. Type ? to see what there is.",
        "Not sent: reading /no/such/file",
        "There is no message “1” in this channel.",
        "Type ? to see what /press needs.",
        "Not sent: Must be 2000 or fewer in length.",
        "/wait soon: invalid digit",
        "No answer in that time.",
        "You\n     still here",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

#[tokio::test]
async fn a_wrong_token_and_an_absent_server_are_errors() {
    let stage = Stage::set().await;
    let join = async |api: String, token: &str| run_with(api, token.to_owned(), Console::new(std::io::sink(), |_| None)).await;
    let refused = join(stage.sandbox.api_url(), "sandbox.1.wrong").await.expect_err("nobody has that token");
    assert!(format!("{refused:#}").contains("Authentication failed") || format!("{refused:#}").contains("401"), "{refused:#}");
    let absent = join("http://127.0.0.1:9".to_owned(), "any").await.expect_err("nobody listens there");
    assert!(format!("{absent:#}").contains("the sandbox does not answer"), "{absent:#}");
}

#[tokio::test]
async fn a_closed_connection_ends_the_client_with_the_reason() {
    let stage = Stage::set().await;
    let output = Output::default();
    let (typed, client) = stage.type_lines(&output);
    typed.send("hello".to_owned()).expect("the client reads");
    output.wait_for("hello").await;
    stage.sandbox.stop().await;
    let ended = client.await.expect("no panic").expect_err("the server is gone");
    assert!(ended.to_string().contains("the sandbox closed the connection"), "{ended:#}");
}

#[tokio::test]
async fn messages_elsewhere_and_typing_are_announced() {
    let stage = Stage::set().await;
    let output = Output::default();
    let (typed, client) = stage.type_lines(&output);
    typed.send("hello".to_owned()).expect("the client reads");
    output.wait_for("1. You\n     hello").await;
    let ada = Rest::new(&stage.sandbox.api_url(), &stage.sandbox.people()[1].token).expect("a client");
    ada.post(&format!("/channels/{}/messages", stage.channel("ops")), &json!({ "content": "one" })).await.expect("sent");
    output.wait_for("Ada wrote in #ops.").await;
    ada.post(&format!("/channels/{}/typing", stage.channel("general")), &json!({})).await.expect("sent");
    output.wait_for("Ada is typing…").await;
    // Starting a thread updates the message. It looks the same, so it is not printed again.
    let general = format!("/channels/{}/messages", stage.channel("general"));
    let messages = Rest::new(&stage.sandbox.api_url(), &stage.token()).expect("a client").get(&general).await.expect("messages");
    let hello = messages[0]["id"].as_str().expect("an id");
    ada.post(&format!("{general}/{hello}/threads"), &json!({ "name": "Hi" })).await.expect("sent");
    ada.post(&general, &json!({ "content": "after the thread" })).await.expect("sent");
    output.wait_for("after the thread").await;
    assert_eq!(output.text().matches("You\n     hello").count(), 1, "{}", output.text());
    typed.send("/quit".to_owned()).expect("the client reads");
    client.await.expect("no panic").expect("the client quits");
}

#[tokio::test]
async fn commands_and_buttons_of_the_team_are_used() {
    let stage = Stage::set().await;
    let bot = stage.sandbox.bots().remove(0);
    let serving = tokio::spawn(serve(stage.sandbox.api_url(), stage.sandbox.gateway_url(), stage.sandbox.guild_id(), bot));
    while !commands_are_there(&stage).await {
        tokio::task::yield_now().await;
    }
    let script = "?\n/ask x lines:many\n/ask what about costs?\n/wait 20\n/press 1 5\n/press 1\n/wait 20\n/press 1 4\n/wait 20\n/press 1 2";
    let shown = stage.play(script).await;
    serving.abort();
    for expected in [
        "/quit  Leave.\n/ask question:… [lines:…]  Ask",
        "lines cannot be “many”. Usage: /ask question:… [lines:…]",
        "1. Kelly · /ask\n     You asked: what about costs?\n     [1 Say why] [2 Fill in] [3 How sure?: Very] [4 How sure?: A little]",
        "Message 1 has no button or option “5”.",
        "only you see this\n     Because.",
        "You chose: a little",
        "That opens a form. Use the chat page for it.",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

#[tokio::test]
async fn an_answer_that_is_there_already_is_not_waited_for() {
    let stage = Stage::set().await;
    let bot = stage.sandbox.bots().remove(0);
    let serving = tokio::spawn(serve(stage.sandbox.api_url(), stage.sandbox.gateway_url(), stage.sandbox.guild_id(), bot));
    while !commands_are_there(&stage).await {
        tokio::task::yield_now().await;
    }
    let output = Output::default();
    let (typed, client) = stage.type_lines(&output);
    typed.send("/ask costs?".to_owned()).expect("the client reads");
    output.wait_for("You asked: costs?").await;
    for line in ["/wait 600", "waited", "/quit"] {
        typed.send(line.to_owned()).expect("the client reads");
    }
    client.await.expect("no panic").expect("the client quits");
    serving.abort();
    assert!(output.text().contains("You\n     waited"), "{}", output.text());
}

async fn commands_are_there(stage: &Stage) -> bool {
    let path = format!("/guilds/{}/application-command-index", stage.sandbox.guild_id());
    let rest = Rest::new(&stage.sandbox.api_url(), &stage.token()).expect("a client");
    let index = rest.get(&path).await.expect("the index");
    index["application_commands"].as_array().is_some_and(|commands| !commands.is_empty())
}

/// A bot with one command. Its answer has a menu and two buttons: one answers in private, one opens a modal.
async fn serve(api: String, gateway: String, guild: String, bot: Bot) -> anyhow::Result<()> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let commands = json!([{ "name": "ask", "description": "Ask", "options": [{ "type": 3, "name": "question", "description": "What", "required": true }, { "type": 4, "name": "lines", "description": "How many", "required": false }] }]);
    let (mut socket, _) = connect_async(format!("{gateway}/?v=10&encoding=json")).await?;
    let identify =
        json!({ "op": 2, "d": { "token": bot.token, "intents": 1, "properties": { "os": "test", "browser": "test", "device": "test" } } });
    socket.send(Frame::text(identify.to_string())).await?;
    let path = format!("{api}/api/v10/applications/{}/guilds/{guild}/commands", bot.id);
    http.put(path).header("Authorization", format!("Bot {}", bot.token)).json(&commands).send().await?.error_for_status()?;
    while let Some(frame) = socket.next().await {
        let Frame::Text(text) = frame? else { continue };
        let payload: Value = serde_json::from_str(&text)?;
        if payload["t"] != "INTERACTION_CREATE" {
            continue;
        }
        let interaction = &payload["d"];
        let path = format!(
            "{api}/api/v10/interactions/{}/{}/callback",
            interaction["id"].as_str().unwrap_or_default(),
            interaction["token"].as_str().unwrap_or_default()
        );
        http.post(path).json(&answer(interaction)).send().await?.error_for_status()?;
    }
    Ok(())
}

fn answer(interaction: &Value) -> Value {
    if interaction["type"] == 2 {
        let question = interaction["data"]["options"][0]["value"].as_str().unwrap_or_default();
        let button = |label: &str, id: &str| json!({ "type": 2, "style": 1, "label": label, "custom_id": id });
        let row = json!({ "type": 1, "components": [button("Say why", "why"), button("Fill in", "form")] });
        let options = json!([{ "label": "Very", "value": "very" }, { "label": "A little", "value": "a little" }]);
        let menu = json!({ "type": 1, "components": [{ "type": 3, "custom_id": "sure", "placeholder": "How sure?", "options": options }] });
        return json!({ "type": 4, "data": { "content": format!("You asked: {question}"), "components": [row, menu] } });
    }
    if interaction["data"]["custom_id"] == "form" {
        let field = json!({ "type": 4, "custom_id": "reason", "label": "Reason", "style": 1, "required": true });
        let row = json!({ "type": 1, "components": [field] });
        return json!({ "type": 9, "data": { "custom_id": "reasons", "title": "Why?", "components": [row] } });
    }
    if let Some(chosen) = interaction["data"]["values"][0].as_str() {
        return json!({ "type": 4, "data": { "content": format!("You chose: {chosen}") } });
    }
    json!({ "type": 4, "data": { "content": "Because.", "flags": 64 } })
}
