//! A team in Berlin on a Tuesday afternoon, with two people who are no operators, and a clock that tests can move ahead.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use kernel::time::{Clock, ManualClock};
use reqwest::Method;
use serde_json::{Value, json};
use teamroom::store::Store;
use tokio_util::task::AbortOnDropHandle;

use crate::support::database::count;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::go_on;

/// The channel in which all of this happens.
pub(super) const HERE: &str = "general";

/// The beginning of each reminder that the team tells.
pub(super) const TOLD: &str = "Reminder for ";

const TUESDAY: &str = "2026-11-24T14:30:00Z";

pub(super) fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(super) struct Stage {
    pub(super) team: TestTeam,
    pub(super) clock: ManualClock,
    time: AbortOnDropHandle<()>,
}

/// A team that is not started.
pub(super) async fn quiet(backing: Backing, clock: impl Clock) -> TestTeam {
    let people = || vec!["Ann".to_owned(), "Bob".to_owned()];
    let wanted = Wanted::on(backing).clock(clock).without_app().sandbox(move |options| options.people = people());
    let wanted = wanted.configure(|config| {
        config.schedules.zone = Tz::Europe__Berlin;
        config.schedules.jobs.clear();
        config.chat.operators = vec!["somebody-else".into()];
        config.chat.direct_messages = true;
        // The sandbox dates people's messages by its own clock, so no message may count as too old.
        config.chat.max_age = std::time::Duration::from_hours(24 * 1000);
    });
    wanted.start().await
}

impl Stage {
    pub(super) async fn start(backing: Backing) -> Self {
        let clock = ManualClock::new(utc(TUESDAY));
        let time = go_on(&clock);
        let mut team = quiet(backing, clock.clone()).await;
        team.start_app().await;
        Self { team, clock, time }
    }

    /// Restarts the team with its clock at `time`, which may be earlier.
    pub(super) async fn restart_at(&mut self, time: &str) {
        self.team.stop_app().await;
        self.clock = ManualClock::new(utc(time));
        self.time = go_on(&self.clock);
        self.team.clock = Arc::new(self.clock.clone());
        self.team.start_app().await;
    }

    /// The clock jumps ahead to `time`.
    pub(super) fn jump(&self, time: &str) {
        self.clock.advance((utc(time) - self.clock.now()).to_std().expect("it lies ahead"));
    }

    pub(super) fn id_of(&self, person: usize) -> String {
        self.team.sandbox().people()[person].id.clone()
    }

    /// Bob says something in the channel.
    pub(super) async fn say_as_bob(&self, text: &str) {
        self.call_as_bob(&format!("/channels/{}/messages", self.team.channel(HERE)), json!({ "content": text })).await;
    }

    pub(super) async fn call_as_bob(&self, path: &str, body: Value) -> Value {
        let url = format!("{}/api/v10{path}", self.team.sandbox().api_url());
        let token = &self.team.sandbox().people()[1].token;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let response = client.post(url).header("authorization", token).json(&body).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
        response.json().await.unwrap_or(Value::Null)
    }

    /// Waits until this many reminders were told. Returns all of them, oldest first.
    pub(super) async fn told(&self, number: usize) -> Vec<Shown> {
        told(&self.team, number).await
    }

    /// Waits until only this many reminders are still to be told.
    pub(super) async fn waits(&self, waiting: i64) {
        let open = async || count(&self.team, "SELECT COUNT(*) FROM jobs WHERE kind = 'reminder' AND finished_at IS NULL").await;
        eventually("what is due was told", || async { open().await == waiting }).await;
    }

    /// Posts `ask`. Returns the team's next message.
    pub(super) async fn answer_to(&self, ask: &str) -> Shown {
        let before = self.team.answers(HERE).await.len();
        self.team.say(HERE, ask).await;
        self.team.wait_for_answers(HERE, before + 1).await.remove(before)
    }

    /// Ann presses a button of a message. Returns the answer.
    pub(super) async fn press(&self, message: &Shown, label: &str) -> Value {
        let rows = message.raw["components"].as_array().expect("a message with buttons").iter();
        let mut buttons = rows.flat_map(|row| row["components"].as_array().expect("a row of buttons"));
        let button = buttons.find(|button| button["label"] == label).expect("the button");
        self.press_id(message, button["custom_id"].as_str().expect("an id")).await
    }

    /// Ann presses a button by its id, as on a client that still shows an old message.
    pub(super) async fn press_stale(&self, id: &str) -> Value {
        let store = Store::open_shared(&self.team.config.database_url, self.clock.now()).await.unwrap();
        let asked = OutboundMessage::new(&"kelly".into(), &self.team.channel_id(HERE), OutboundKind::Notice, format!("Old: {id}"));
        let text = asked.text.clone();
        let button = Button { id: id.to_owned(), label: "Choice".to_owned(), style: ButtonStyle::Primary };
        store.enqueue(&[OutboundMessage { buttons: vec![button], ..asked }], self.clock.now()).await.unwrap();
        store.close().await;
        let find = || async { self.team.answers(HERE).await.into_iter().rfind(|shown| shown.text == text) };
        eventually("the old message is posted", || async { find().await.is_some() }).await;
        self.press_id(&find().await.expect("it is there"), id).await
    }

    async fn press_id(&self, message: &Shown, button: &str) -> Value {
        let before: Vec<Value> = self.team.history(HERE).await.into_iter().map(|shown| shown.raw["id"].clone()).collect();
        let body = json!({ "type": 3, "application_id": message.raw["author"]["id"], "guild_id": self.team.sandbox().guild_id(),
            "channel_id": self.team.channel(HERE), "message_id": message.raw["id"], "session_id": "s", "nonce": "1",
            "data": { "component_type": 2, "custom_id": button } });
        self.team.call(Method::POST, "/interactions", Some(body)).await;
        let answers =
            |raw: &Value| raw["message_reference"]["message_id"] == message.raw["id"] && raw.get("interaction_metadata").is_some();
        let answer = || async {
            let history = self.team.history(HERE).await.into_iter();
            history.map(|shown| shown.raw).find(|raw| !before.contains(&raw["id"]) && answers(raw))
        };
        eventually("the press is answered", || async { answer().await.is_some() }).await;
        answer().await.expect("an answer")
    }

    /// Whether a message still has buttons.
    pub(super) async fn has_buttons(&self, message: &Shown) -> bool {
        self.has_buttons_in(HERE, message).await
    }

    pub(super) async fn has_buttons_in(&self, channel: &str, message: &Shown) -> bool {
        let shown = self.team.history(channel).await.into_iter().find(|shown| shown.raw["id"] == message.raw["id"]).expect("it is there");
        shown.raw["components"].as_array().is_some_and(|rows| !rows.is_empty())
    }
}

/// Waits until this many reminders were told in the channel. Returns all of them, oldest first.
pub(super) async fn told(team: &TestTeam, number: usize) -> Vec<Shown> {
    let find = || async { team.answers(HERE).await.into_iter().filter(|shown| shown.text.starts_with(TOLD)).collect::<Vec<_>>() };
    eventually("the reminder is told", || async { find().await.len() >= number }).await;
    let found = find().await;
    assert_eq!(found.len(), number, "one too many: {found:#?}");
    found
}
