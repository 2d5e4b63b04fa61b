//! A team in Berlin on a Tuesday morning, with a person called You, who asks, and Ann, who is asked.

use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::time::{Clock, ManualClock};
use serde_json::{Value, json};
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::store::Store;
use tokio_util::task::AbortOnDropHandle;

use crate::support::command::{invoke, sub_command, text};
use crate::support::database::count;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::go_on;

/// The channel in which all of this happens.
pub(super) const HERE: &str = "general";

/// The first person of the sandbox.
pub(super) const YOU: usize = 0;

/// The second one.
pub(super) const ANN: usize = 1;

/// 10:00 in Berlin.
const TUESDAY: &str = "2026-11-24T09:00:00Z";

pub(super) struct Stage {
    pub(super) team: TestTeam,
    pub(super) clock: ManualClock,
    _time: AbortOnDropHandle<()>,
}

/// A team that is not started. Its people are no operators.
pub(super) async fn quiet(backing: Backing, clock: impl Clock) -> TestTeam {
    let people = || ["You", "Ann Lee", "Bob", "Ann Ray"].map(str::to_owned).to_vec();
    let wanted = Wanted::on(backing).clock(clock).without_app().sandbox(move |options| options.people = people());
    let wanted = wanted.configure(|config| {
        config.schedules.zone = Tz::Europe__Berlin;
        config.schedules.jobs.clear();
        config.chat.operators = vec!["somebody-else".into()];
        // The sandbox dates people's messages by its own clock, so no message may count as too old.
        config.chat.max_age = Duration::from_hours(24 * 1000);
    });
    wanted.start().await
}

impl Stage {
    pub(super) async fn start(backing: Backing) -> Self {
        let clock = ManualClock::new(TUESDAY.parse().unwrap());
        let time = go_on(&clock);
        let mut team = quiet(backing, clock.clone()).await;
        team.start_app().await;
        let stage = Self { team, clock, _time: time };
        // After this message the team knows Ann.
        stage.says(ANN, "reading along now").await;
        stage
    }

    /// The clock jumps ahead, in Berlin's time.
    pub(super) fn jump(&self, local: &str) {
        let local = chrono::NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M").unwrap();
        let at = kernel::when::instant(local, Tz::Europe__Berlin).unwrap();
        self.clock.advance((at - self.clock.now()).to_std().expect("it lies ahead"));
    }

    pub(super) async fn ann_says(&self, body: Value) -> Value {
        says(&self.team, ANN, body).await
    }

    /// Ann replies to a message of the team.
    pub(super) async fn ann_replies(&self, to: &Shown, content: &str) -> Value {
        self.ann_says(json!({"content": content, "message_reference": {"message_id": to.raw["id"]}})).await
    }

    /// Ann replies with a file.
    pub(super) async fn ann_gives(&self, to: &Shown, name: &str, contents: &str) {
        gives(&self.team, ANN, to, (name, contents)).await;
    }

    /// You add an item. Returns the answer to the command.
    pub(super) async fn add(&self, options: &[(&str, &str)]) -> String {
        text(&invoke(&self.team, HERE, "backlog", sub_command("add", options)).await).to_owned()
    }

    pub(super) async fn list(&self) -> String {
        text(&invoke(&self.team, HERE, "backlog", sub_command("list", &[])).await).to_owned()
    }

    pub(super) async fn press_as_ann(&self, message: &Shown, label: &str) {
        self.press_as(ANN, message, label).await;
    }

    /// Ann says that her last words are the answer.
    pub(super) async fn ann_confirms(&self) {
        let asked = self.hears("Is that the answer to **").await;
        self.press_as_ann(&asked, "Yes, that's it").await;
    }

    /// A person presses a button of a message.
    pub(super) async fn press_as(&self, person: usize, message: &Shown, label: &str) {
        press_as(&self.team, person, message, label).await;
    }

    /// The messages that mention Ann, oldest first.
    pub(super) async fn told_ann(&self) -> Vec<Shown> {
        told_ann(&self.team).await
    }

    /// Waits until Ann was mentioned this many times.
    pub(super) async fn wait_told(&self, number: usize) -> Vec<Shown> {
        eventually("Ann is told", || async { self.told_ann().await.len() >= number }).await;
        self.rest().await;
        let told = self.told_ann().await;
        assert_eq!(told.len(), number, "one too many: {:#?}", texts(&told));
        told
    }

    /// Waits until all messages are handled, and a little longer for late ones.
    pub(super) async fn rest(&self) {
        tokio::time::sleep(Duration::from_millis(600)).await;
        self.team.settle().await;
    }

    /// Waits for a message of the team that begins with this text.
    pub(super) async fn hears(&self, beginning: &str) -> Shown {
        let find = || async { self.team.answers(HERE).await.into_iter().rfind(|shown| shown.text.starts_with(beginning)) };
        eventually(&format!("{beginning} is said"), || async { find().await.is_some() }).await;
        find().await.expect("it is there")
    }

    pub(super) async fn says(&self, person: usize, content: &str) {
        says(&self.team, person, json!({"content": content})).await;
        let known = format!("SELECT COUNT(*) FROM people WHERE id = 'discord:{}'", self.team.sandbox().people()[person].id);
        eventually("somebody is known", || async { count(&self.team, &known).await > 0 }).await;
        self.team.settle().await;
    }

    pub(super) async fn item(&self) -> WorkItem {
        item(&self.team, self.clock.now()).await
    }

    pub(super) async fn waits_until(&self, status: WorkStatus) -> WorkItem {
        eventually(&format!("it is {status:?}"), || async { self.item().await.status == status }).await;
        self.item().await
    }
}

/// The team's messages that mention Ann, oldest first.
pub(super) async fn told_ann(team: &TestTeam) -> Vec<Shown> {
    let ann = team.sandbox().people()[ANN].id.clone();
    let pings = |shown: &Shown| shown.raw["mentions"].as_array().is_some_and(|mentions| mentions.iter().any(|user| user["id"] == ann));
    team.answers(HERE).await.into_iter().filter(pings).collect()
}

/// The only item.
pub(super) async fn item(team: &TestTeam, now: DateTime<Utc>) -> WorkItem {
    let store = Store::open_shared(&team.config.database_url, now).await.unwrap();
    let mut items = store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: 10 }).await.unwrap();
    store.close().await;
    assert_eq!(items.len(), 1, "{items:#?}");
    items.remove(0)
}

/// A person posts.
pub(super) async fn says(team: &TestTeam, person: usize, body: Value) -> Value {
    posts(team, person, &format!("/channels/{}/messages", team.channel(HERE)), body).await
}

/// The texts of messages, with Ann's mention replaced by her name.
pub(super) fn texts(told: &[Shown]) -> Vec<String> {
    let text = |shown: &Shown| {
        let ann = shown.raw["mentions"][0]["id"].as_str().unwrap_or_default().to_owned();
        let id = shown.text.split("(#").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or("?").to_owned();
        shown.text.replace(&format!("<@{ann}>"), "@Ann").replace(&id, "id")
    };
    told.iter().map(text).collect()
}

/// A person presses a button of a message.
pub(super) async fn press_as(team: &TestTeam, person: usize, message: &Shown, label: &str) {
    let rows = message.raw["components"].as_array().expect("a message with buttons").iter();
    let mut buttons = rows.flat_map(|row| row["components"].as_array().expect("a row of buttons"));
    let button = buttons.find(|button| button["label"] == label).expect("the button");
    let body = json!({ "type": 3, "application_id": message.raw["author"]["id"], "guild_id": team.sandbox().guild_id(),
        "channel_id": team.channel(HERE), "message_id": message.raw["id"], "session_id": "s", "nonce": "1",
        "data": { "component_type": 2, "custom_id": button["custom_id"] } });
    posts(team, person, "/interactions", body).await;
}

/// A person replies with a file and no words.
pub(super) async fn gives(team: &TestTeam, person: usize, to: &Shown, (name, contents): (&str, &str)) {
    let body = json!({"content": "", "attachments": [{"id": 0, "filename": name}], "message_reference": {"message_id": to.raw["id"]}});
    let form = reqwest::multipart::Form::new()
        .text("payload_json", body.to_string())
        .part("files[0]", reqwest::multipart::Part::bytes(contents.as_bytes().to_vec()).file_name(name.to_owned()));
    let url = format!("{}/api/v10/channels/{}/messages", team.sandbox().api_url(), team.channel(HERE));
    let token = &team.sandbox().people()[person].token;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.post(url).header("authorization", token).multipart(form).send().await.unwrap();
    assert!(response.status().is_success(), "{}", response.text().await.unwrap());
}

async fn posts(team: &TestTeam, person: usize, path: &str, body: Value) -> Value {
    let url = format!("{}/api/v10{path}", team.sandbox().api_url());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let token = &team.sandbox().people()[person].token;
    let response = client.post(url).header("authorization", token).json(&body).send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{path}: {status} {text}");
    if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
}
