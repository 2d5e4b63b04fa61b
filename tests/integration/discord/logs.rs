//! The adapter's log output.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kernel::chat::ChatPlatform;
use sandbox::{Cut, Exchange, RestFault, Switch};
use serde_json::json;

use super::stage::{Setting, row, until};

/// The log of all threads.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_gets_into_the_log_whatever_fails() {
    let log = Log::default();
    let writer = log.clone();
    // Global, because gateways have their own threads. Other tests of this binary may log too, including tokens.
    tracing_subscriber::fmt()
        .with_env_filter("teamroom::adapters::discord=trace,serenity=warn")
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .init();
    let mut setting = Setting::new();
    setting.mute = vec!["echo"];
    setting.timing.call = Duration::from_secs(4);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    stage.discord.send(&row("echo", &general, "through a webhook")).await.unwrap();
    for fault in [RestFault::ResetBefore, RestFault::Hang, RestFault::BadGateway, RestFault::Status(401)] {
        for path in ["/webhooks", "/interactions/", "/channels"] {
            stage.misbehave(Switch::Rest { bot: None, method: Some("POST".to_owned()), path: path.to_owned(), times: 1, with: fault });
        }
        // The person's own requests come after the faults have hit the team's.
        let _ = stage.discord.send(&row("echo", &general, "lost")).await;
        let _ = stage.discord.send(&row("vince", &general, "lost")).await;
        let body = json!({ "type": 2, "application_id": stage.bot_id("kelly"), "guild_id": stage.sandbox.guild_id(),
            "channel_id": general, "session_id": "s", "data": { "name": "status", "type": 1 } });
        stage.person("POST", "/interactions", body).await;
    }
    until(|| stage.memory.calls.lock().unwrap().len() == 4, || "not all commands were run".to_owned()).await;
    stage.misbehave(Switch::Drop { bot: None, how: Cut::Reset });
    stage.misbehave(Switch::RevokeToken { bot: "solus".to_owned(), on: true });
    stage.events.trouble().await;

    let mut secrets: Vec<String> = stage.sandbox.bots().into_iter().map(|bot| bot.token).collect();
    for exchange in stage.sandbox.journal() {
        match exchange {
            Exchange::Rest(rest) => secrets.extend(rest.response["token"].as_str().map(str::to_owned)),
            Exchange::Frame(frame) => secrets.extend(frame.payload["d"]["token"].as_str().map(str::to_owned)),
        }
    }
    assert!(secrets.len() > 11, "tokens of bots, of the webhook and of four interactions");
    let written = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(written.contains("could not be"), "the faults are in the log: {written}");
    for secret in secrets {
        assert!(!written.contains(&secret), "{secret} is in the log:\n{written}");
    }
    assert!(!written.contains("panicked"), "{written}");
}
