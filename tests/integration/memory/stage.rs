//! A team with two people who are no operators, a private channel that only Ann, Kelly and Vince see, and Ann's conversation with Kelly.

use kernel::llm::settings::ProviderKind;
use kernel::time::ManualClock;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::support::command::{invoke, sub_command, text};
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::go_on;

/// The channel that everybody reads.
pub(super) const HERE: &str = "general";

/// The private channel.
pub(super) const BOARD: &str = "board";

/// Permission to see a channel, as Discord numbers it.
const VIEW: &str = "1024";

pub(super) struct Stage {
    pub(super) team: TestTeam,
    /// Ann's conversation with Kelly.
    pub(super) direct: String,
    pub(super) clock: ManualClock,
    _time: AbortOnDropHandle<()>,
}

pub(super) fn wanted(backing: Backing) -> Wanted {
    let people = || vec!["Ann".to_owned(), "Bob".to_owned()];
    Wanted::on(backing).sandbox(move |options| options.people = people()).configure(|config| {
        config.schedules.jobs.clear();
        config.chat.operators = vec!["somebody-else".into()];
        config.chat.direct_messages = true;
        // The sandbox dates messages of people by its own clock.
        config.chat.max_age = std::time::Duration::from_hours(24 * 1000);
    })
}

impl Stage {
    pub(super) async fn start(backing: Backing, model: Option<ProviderKind>) -> Self {
        let wanted = wanted(backing);
        Self::start_as(if let Some(kind) = model { wanted.model(kind) } else { wanted }).await
    }

    pub(super) async fn start_as(wanted: Wanted) -> Self {
        let clock = ManualClock::new("2026-03-02T09:00:00Z".parse().unwrap());
        let time = go_on(&clock);
        let mut team = wanted.clock(clock.clone()).without_app().start().await;
        open_board(&team).await;
        team.start_app().await;
        let recipient = json!({ "recipient_id": team.account("kelly") });
        let direct = team.call(Method::POST, "/users/@me/channels", Some(recipient)).await["id"].as_str().unwrap().to_owned();
        Self { team, direct, clock, _time: time }
    }

    /// Ann says something in her conversation with Kelly.
    pub(super) async fn say_in_private(&self, text: &str) {
        self.team.call(Method::POST, &format!("/channels/{}/messages", self.direct), Some(json!({ "content": text }))).await;
    }

    /// What Kelly said in the conversation.
    pub(super) async fn told_in_private(&self) -> Vec<String> {
        let said = self.team.call(Method::GET, &format!("/channels/{}/messages?limit=100", self.direct), None).await;
        let by_bots = said.as_array().unwrap().iter().rev().filter(|message| message["author"]["bot"] == json!(true));
        by_bots.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Kelly's answer to what Ann says in the conversation.
    pub(super) async fn private_answer_to(&self, text: &str) -> String {
        let before = self.told_in_private().await.len();
        self.say_in_private(text).await;
        eventually("Kelly answers", || async { self.told_in_private().await.len() > before }).await;
        self.told_in_private().await.remove(before)
    }

    /// The next thing that the team says in a channel after Ann has said something.
    pub(super) async fn answer_in(&self, channel: &str, text: &str) -> Shown {
        // An earlier answer may still be on its way.
        self.team.settle().await;
        let said = self.team.say(channel, text).await;
        eventually("it is answered", || async { !self.team.answers_after(channel, &said).await.is_empty() }).await;
        self.team.answers_after(channel, &said).await.remove(0)
    }

    /// Ann replies to a message, once the team knows that it was posted.
    pub(super) async fn reply_to(&self, channel: &str, message: &str, text: &str) {
        self.team.settle().await;
        let body = json!({ "content": text, "message_reference": { "message_id": message } });
        self.team.call(Method::POST, &format!("/channels/{}/messages", self.team.channel(channel)), Some(body)).await;
    }

    pub(super) async fn answer_to(&self, text: &str) -> String {
        self.answer_in(HERE, text).await.text
    }

    /// Ann uses `/memory` in a channel.
    pub(super) async fn command_in(&self, channel: &str, name: &str, options: &[(&str, &str)]) -> String {
        text(&invoke(&self.team, channel, "memory", sub_command(name, options)).await).to_owned()
    }

    pub(super) async fn command(&self, name: &str, options: &[(&str, &str)]) -> String {
        self.command_in(HERE, name, options).await
    }

    /// Bob says something in the channel.
    pub(super) async fn say_as_bob(&self, text: &str) {
        self.call_as_bob(&format!("/channels/{}/messages", self.team.channel(HERE)), json!({ "content": text })).await;
    }

    /// Bob presses the first button of a message.
    pub(super) async fn press_as_bob(&self, message: &Shown) {
        let body = json!({ "type": 3, "application_id": message.raw["author"]["id"], "guild_id": self.team.sandbox().guild_id(),
            "channel_id": self.team.channel(HERE), "message_id": message.raw["id"], "session_id": "s", "nonce": "1",
            "data": { "component_type": 2, "custom_id": message.raw["components"][0]["components"][0]["custom_id"] } });
        self.call_as_bob("/interactions", body).await;
    }

    async fn call_as_bob(&self, path: &str, body: Value) {
        let url = format!("{}/api/v10{path}", self.team.sandbox().api_url());
        let token = &self.team.sandbox().people()[1].token;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let response = client.post(url).header("authorization", token).json(&body).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
    }
}

/// A channel that not everybody sees.
async fn open_board(team: &TestTeam) {
    let mut overwrites = vec![json!({ "id": team.sandbox().guild_id(), "type": 0, "allow": "0", "deny": VIEW })];
    for slug in ["kelly", "vince"] {
        overwrites.push(json!({ "id": team.account(slug), "type": 1, "allow": VIEW, "deny": "0" }));
    }
    let body = json!({ "name": BOARD, "type": 0, "permission_overwrites": overwrites });
    team.call(Method::POST, &format!("/guilds/{}/channels", team.sandbox().guild_id()), Some(body)).await;
}

/// The id in an answer: "… (`k3m9xz`)."
pub(super) fn id_in(answer: &str) -> String {
    answer.rsplit('`').nth(1).unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}
