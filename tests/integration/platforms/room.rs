//! A team on one platform, as a person there sees it. A story that uses this type runs on several platforms.

use std::time::Instant;

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::Value;
use teamroom::config::Config;

use super::corner::{CornerTeam, Note};
use super::slack::{Said, SlackTeam, TEAM};
use crate::support::command;
use crate::support::model::ScriptedModel;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, built_in_roster, pause};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Platform {
    Discord,
    Slack,
    /// In memory: short messages, no threads, no files of people.
    Corner,
}

/// Creates a test for each platform that a story is to run on.
macro_rules! story {
    ($story:ident: $($place:ident),+ $(,)?) => {
        mod $story {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $place() {
                for backing in $crate::support::stores::choose(concat!(module_path!(), "::", stringify!($place))).await {
                    Box::pin(super::$story($crate::platforms::room::Place::$place(backing))).await;
                }
            })+
        }
    };
}
pub(crate) use story;

/// A platform and a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) platform: Platform,
    pub(crate) backing: Backing,
}

impl Place {
    pub(crate) fn discord(backing: Backing) -> Self {
        Self { platform: Platform::Discord, backing }
    }

    pub(crate) fn slack(backing: Backing) -> Self {
        Self { platform: Platform::Slack, backing }
    }

    pub(crate) fn corner(backing: Backing) -> Self {
        Self { platform: Platform::Corner, backing }
    }

    /// A team without a model.
    pub(crate) async fn offline(self) -> Room {
        self.open(false, |_| ()).await
    }

    pub(crate) async fn with_model(self) -> Room {
        self.open(true, |_| ()).await
    }

    pub(crate) async fn open(self, has_model: bool, change: fn(&mut Config)) -> Room {
        match self.platform {
            Platform::Discord => {
                let wanted = Wanted::on(self.backing).configure(change).sandbox(|options| options.people = vec!["Ann".to_owned()]);
                let wanted = if has_model { wanted.model(ProviderKind::OpenAi) } else { wanted };
                Room::Discord(Box::new(wanted.start().await))
            }
            Platform::Slack => {
                let without_model = |config: &mut Config| (config.models.providers, config.models.tiers) = Default::default();
                let change = |config: &mut Config| {
                    if !has_model {
                        without_model(config);
                    }
                    change(config);
                };
                Room::Slack(Box::new(SlackTeam::start_with(self.backing, change, |_| ()).await))
            }
            Platform::Corner => Room::Corner(Box::new(CornerTeam::start_with(self.backing, has_model, change).await)),
        }
    }
}

/// A team and a person called Ann.
pub(crate) enum Room {
    Discord(Box<TestTeam>),
    Slack(Box<SlackTeam>),
    Corner(Box<CornerTeam>),
}

/// A message of the team.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    /// The name of the author that people see.
    pub(crate) by: String,
    /// The text of the message and of its card.
    pub(crate) text: String,
    pub(crate) files: Vec<String>,
    pub(crate) buttons: Vec<String>,
    pub(crate) in_thread: bool,
    from: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Discord(Shown),
    Slack(Said),
    Corner(Note),
}

impl Room {
    pub(crate) fn model(&self) -> &ScriptedModel {
        match self {
            Self::Discord(team) => &team.model,
            Self::Slack(team) => &team.model,
            Self::Corner(team) => &team.model,
        }
    }

    pub(crate) fn config(&self) -> &Config {
        match self {
            Self::Discord(team) => &team.config,
            Self::Slack(team) => &team.config,
            Self::Corner(team) => &team.config,
        }
    }

    /// How Ann is mentioned.
    pub(crate) fn ann(&self) -> String {
        match self {
            Self::Discord(team) => format!("<@{}>", team.sandbox().people()[0].id),
            Self::Slack(team) => format!("<@{}>", team.ann().id()),
            Self::Corner(_) => "{ann}".to_owned(),
        }
    }

    /// How Kelly is mentioned. On Slack she speaks through the app.
    pub(crate) fn kelly(&self) -> String {
        match self {
            Self::Discord(team) => format!("<@{}>", team.account("kelly")),
            Self::Slack(team) => format!("<@{}>", team.workspace.app(TEAM).user),
            Self::Corner(_) => "{kelly}".to_owned(),
        }
    }

    pub(crate) async fn say(&self, channel: &str, text: &str) {
        match self {
            Self::Discord(team) => drop(team.say(channel, text).await),
            Self::Slack(team) => drop(team.say(channel, text)),
            Self::Corner(team) => team.say(channel, text).await,
        }
    }

    pub(crate) async fn upload(&self, channel: &str, name: &str, text: &str, said: &str) {
        let bytes = text.as_bytes().to_vec();
        match self {
            Self::Discord(team) => drop(team.drop_file(channel, name, bytes, said).await),
            Self::Slack(team) => drop(team.ann().upload(&team.channel(channel), None, name, bytes, said).expect("it is uploaded")),
            Self::Corner(_) => unreachable!("there are no files of people in the corner"),
        }
    }

    /// Runs a command, such as `backlog add`. Returns its answer.
    pub(crate) async fn run(&self, channel: &str, path: &str, given: &[(&str, &str)]) -> String {
        match self {
            Self::Discord(team) => {
                let (name, inner) = path.split_once(' ').expect("a group and its command");
                let answer = command::invoke(team, channel, name, command::sub_command(inner, given)).await;
                command::text(&answer).to_owned()
            }
            Self::Slack(team) => {
                let given: Vec<String> = given.iter().map(|(name, value)| format!("--{name} \"{value}\"")).collect();
                team.run(channel, &format!("/team {path} {}", given.join(" "))).await
            }
            Self::Corner(team) => team.run(channel, path, given).await.text,
        }
    }

    /// Presses a button of a message.
    pub(crate) async fn press(&self, channel: &str, post: &Post, label: &str) {
        match (self, &post.from) {
            (Self::Discord(team), Origin::Discord(shown)) => command::press(team, channel, shown, |button| button["label"] == label).await,
            (Self::Slack(team), Origin::Slack(said)) => team.press(channel, said, label).await,
            (Self::Corner(team), Origin::Corner(note)) => drop(team.press(note, label).await),
            _ => unreachable!("a message of another platform"),
        }
    }

    /// What the team has posted in a channel and its threads.
    pub(crate) async fn posts(&self, channel: &str) -> Vec<Post> {
        match self {
            Self::Discord(team) => {
                let mut posts = Vec::new();
                for shown in team.history(channel).await {
                    let thread = shown.raw["thread"]["id"].as_str().map(str::to_owned);
                    posts.extend(shown.is_bot.then(|| Post::of_discord(shown, false)));
                    if let Some(thread) = thread {
                        let page = team.call(Method::GET, &format!("/channels/{thread}/messages?limit=100"), None).await;
                        let said = page.as_array().expect("a list").iter().rev();
                        posts.extend(said.filter(|raw| raw["type"] != 21).map(|raw| Post::of_discord(Shown::of(raw.clone()), true)));
                    }
                }
                posts
            }
            Self::Slack(team) => team.said(channel).into_iter().map(Post::of_slack).collect(),
            Self::Corner(team) => team.notes(channel).into_iter().map(Post::of_corner).collect(),
        }
    }

    /// Waits for a message of the team.
    pub(crate) async fn hears(&self, channel: &str, is_it: impl Fn(&Post) -> bool) -> Post {
        let started = Instant::now();
        loop {
            let looked = Instant::now();
            let posts = self.posts(channel).await;
            if let Some(found) = posts.iter().find(|post| is_it(post)) {
                return found.clone();
            }
            assert!(started.elapsed() < PATIENCE, "it was never posted: {posts:#?}");
            pause(looked).await;
        }
    }

    /// Waits until nothing is open, and returns what the team has posted.
    pub(crate) async fn settled(&self, channel: &str) -> Vec<Post> {
        match self {
            Self::Discord(team) => team.settle().await,
            Self::Slack(team) => team.settle().await,
            Self::Corner(team) => drop(team.settled(channel).await),
        }
        self.posts(channel).await
    }

    pub(crate) async fn stop(self) {
        match self {
            Self::Discord(mut team) => team.stop_app().await,
            Self::Slack(team) => team.stop().await,
            Self::Corner(team) => team.stop().await,
        }
    }
}

impl Post {
    fn of_discord(shown: Shown, in_thread: bool) -> Self {
        let list = |value: &Value, name: &str| {
            let found = value.as_array().into_iter().flatten().filter_map(|entry| entry[name].as_str().map(str::to_owned));
            found.collect::<Vec<_>>()
        };
        let cards = shown.raw["embeds"].as_array().into_iter().flatten();
        let cards = cards.flat_map(|card| [card["title"].as_str(), card["description"].as_str()]).flatten();
        let text = std::iter::once(shown.text.as_str()).chain(cards).collect::<Vec<_>>().join("\n");
        let rows = shown.raw["components"].as_array().into_iter().flatten();
        Self {
            by: shown.author.clone(),
            text: text.trim().to_owned(),
            files: list(&shown.raw["attachments"], "filename"),
            buttons: rows.flat_map(|row| list(&row["components"], "label")).collect(),
            in_thread,
            from: Origin::Discord(shown),
        }
    }

    fn of_slack(said: Said) -> Self {
        Self {
            by: said.by.clone(),
            text: said.text.clone(),
            files: said.files(),
            buttons: said.buttons().into_iter().map(|(label, _)| label).collect(),
            in_thread: said.raw["thread_ts"].is_string() && said.raw["thread_ts"] != said.raw["ts"],
            from: Origin::Slack(said),
        }
    }

    fn of_corner(note: Note) -> Self {
        let text = format!("{}\n{}", note.text, note.card.as_deref().unwrap_or_default());
        Self {
            by: built_in_roster().name_of(&note.author).to_owned(),
            text: text.trim().to_owned(),
            files: note.files.clone(),
            buttons: note.buttons.iter().map(|button| button.label.clone()).collect(),
            in_thread: false,
            from: Origin::Corner(note),
        }
    }
}
