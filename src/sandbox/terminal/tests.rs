//! Scripts against a real sandbox, with a small bot at the other end.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::{connect_async, tungstenite::Message as Frame};

use super::{Screen, screen::lines::Lines, take_part};
use crate::sandbox::{Bot, BotAccount, Options, Sandbox};

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

    /// What the first person's terminal shows for these lines, with times left out.
    async fn play(&self, script: &str) -> String {
        let output = Output::default();
        let token = self.sandbox.people()[0].token.clone();
        let ended = take_part(&self.sandbox.api_url(), token, Lines::script(script), Screen::plain(output.clone()), Arc::default()).await;
        ended.expect("the script runs to its end");
        let bytes = output.0.lock().expect("nobody panicked while writing").clone();
        let text = String::from_utf8(bytes).expect("the terminal writes UTF-8");
        text.lines().map(without_time).collect::<Vec<_>>().join("\n")
    }
}

/// `  1. 23:59 You` as `1 You`.
fn without_time(line: &str) -> String {
    let head = line.split_once(". ").and_then(|(number, rest)| Some((number.trim().parse::<usize>().ok()?, rest.get(6..)?)));
    head.map_or_else(|| line.to_owned(), |(number, rest)| format!("{number} {rest}"))
}

#[tokio::test]
async fn a_script_writes_replies_reacts_edits_and_deletes() {
    let stage = Stage::set().await;
    let shown = stage.play("hello @Kelly\n/reply 1 again\n/react 1 👍\n/edit 2 once more\n/delete 1\n/quit").await;
    for expected in [
        "── #general",
        "1 You\n     hello @Kelly",
        "2 You · to You: hello @Kelly\n     again",
        "You reacted 👍 to 1",
        "2 You · to You: hello @Kelly · edited\n     once more",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
    let later = stage.play("/history 5\n/quit").await;
    assert!(!later.contains("1 You\n     hello"), "the first message is deleted:\n{later}");
}

#[tokio::test]
async fn a_script_goes_through_channels_threads_files_and_direct_messages() {
    let stage = Stage::set().await;
    let file = tempfile::Builder::new().suffix(".md").tempfile().expect("a file");
    std::fs::write(file.path(), "# Notes\n").expect("the file can be written");
    let script = format!(
        "/channel ops\nstart\n/thread 1 Costs\ninside\n/channel #ops\n/threads\n/file {} look\n/dm kelly\nhi\n/members\n/quit",
        file.path().display()
    );
    let shown = stage.play(&script).await;
    for expected in [
        "── #ops",
        "── Costs",
        "You\n     inside",
        "Costs (1 messages)",
        "look\n     file ",
        ".md (8 B) http://127.0.0.1:",
        "── @Kelly",
        "You\n     hi",
        "Kelly BOT offline",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

#[tokio::test]
async fn bad_input_gets_a_hint_and_ends_nothing() {
    let stage = Stage::set().await;
    let long = "x".repeat(2001);
    let shown = stage.play(&format!("/reply 9 x\n/channel nowhere\n/dm nobody\n/nonsense\n/file /no/such/file\n/press 1\n/thread 1\n{long}\n/react x\n/wait 0\nstill here\n/quit")).await;
    for expected in [
        "there is no message 9 on the screen",
        "there is no channel “nowhere”; /channel lists them",
        "nobody here is called “nobody”; /members lists everybody",
        "there is no command /nonsense; /help lists them",
        "not sent: reading /no/such/file",
        "there is no message 1 on the screen",
        "not sent: Must be 2000 or fewer in length.",
        "write it as /react N EMOJI",
        "nobody answered in that time",
        "You\n     still here",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

#[tokio::test]
async fn a_wrong_token_and_an_absent_server_are_told() {
    let stage = Stage::set().await;
    let join = async |api: String, token: &str| {
        take_part(&api, token.to_owned(), Lines::script(""), Screen::plain(std::io::sink()), Arc::default()).await
    };
    let refused = join(stage.sandbox.api_url(), "sandbox.1.wrong").await.expect_err("nobody has that token");
    assert!(format!("{refused:#}").contains("refused") || format!("{refused:#}").contains("401"), "{refused:#}");
    let absent = join("http://127.0.0.1:9".to_owned(), "any").await.expect_err("nobody listens there");
    assert!(format!("{absent:#}").contains("the sandbox does not answer"), "{absent:#}");
}

#[tokio::test]
async fn commands_buttons_and_modals_of_the_team_are_used() {
    let stage = Stage::set().await;
    let bot = stage.sandbox.bots().remove(0);
    let serving = tokio::spawn(serve(stage.sandbox.api_url(), stage.sandbox.gateway_url(), stage.sandbox.guild_id(), bot));
    while !commands_are_there(&stage).await {
        tokio::task::yield_now().await;
    }
    let shown =
        stage.play("/ask x lines:many\n/ask what about costs?\n/wait 20\n/press 1 2\n/press 1 1\n/wait 20\nbecause\n/wait 20\n/quit").await;
    serving.abort();
    for expected in [
        "“lines” must be a whole number, not “many”; write /ask question:… [lines:…]",
        "1 Kelly BOT · /ask\n     You asked: what about costs?\n     [1 Say why]",
        "message 1 has no button 2",
        "Why? ",
        "only you see this\n     Because: because",
    ] {
        assert!(shown.contains(expected), "“{expected}” is missing in:\n{shown}");
    }
}

async fn commands_are_there(stage: &Stage) -> bool {
    let path = format!("/guilds/{}/application-command-index", stage.sandbox.guild_id());
    let rest = super::Rest::new(&stage.sandbox.api_url(), &stage.sandbox.people()[0].token).expect("a client");
    let index: Value = rest.get(&path).await.expect("the index");
    index["application_commands"].as_array().is_some_and(|commands| !commands.is_empty())
}

/// A bot with one command, which answers with a button, which opens a modal, which is answered in private.
async fn serve(api: String, gateway: String, guild: String, bot: Bot) -> anyhow::Result<()> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let commands = json!([{ "name": "ask", "description": "Ask", "options": [{ "type": 3, "name": "question", "description": "What", "required": true }, { "type": 4, "name": "lines", "description": "How many", "required": false }] }]);
    let (mut socket, _) = connect_async(format!("{gateway}/?v=10&encoding=json")).await?;
    let identify =
        json!({ "op": 2, "d": { "token": bot.token, "intents": 1, "properties": { "os": "test", "browser": "test", "device": "test" } } });
    socket.send(Frame::Text(identify.to_string())).await?;
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
    match interaction["type"].as_u64() {
        Some(2) => {
            let question = interaction["data"]["options"][0]["value"].as_str().unwrap_or_default();
            let button = json!({ "type": 2, "style": 1, "label": "Say why", "custom_id": "why" });
            json!({ "type": 4, "data": { "content": format!("You asked: {question}"), "components": [{ "type": 1, "components": [button] }] } })
        }
        Some(3) => {
            let field = json!({ "type": 4, "custom_id": "reason", "label": "Reason", "style": 1, "required": true });
            json!({ "type": 9, "data": { "custom_id": "reasons", "title": "Why?", "components": [{ "type": 1, "components": [field] }] } })
        }
        _ => {
            let reason = &interaction["data"]["components"][0]["components"][0]["value"];
            json!({ "type": 4, "data": { "content": format!("Because: {}", reason.as_str().unwrap_or_default()), "flags": 64 } })
        }
    }
}
