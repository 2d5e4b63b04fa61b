//! One team on Discord and on Slack at once: one backlog, and each answer where it was asked.

use std::sync::Arc;
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use serde_json::Value;
use slack_sandbox::{ChannelConfig, Workspace};

use super::slack::{Said, TEAM, join, options};
use crate::standup::change;
use crate::support::command::{invoke, sub_command, text};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(each_is_answered_where_it_asked_and_there_is_one_backlog, what_is_private_on_slack_is_not_told_on_discord,);

/// A private channel on Slack.
const BOARD: &str = "board";

pub(crate) struct Both {
    pub(crate) discord: TestTeam,
    pub(crate) slack: Arc<Workspace>,
}

impl Both {
    async fn start(backing: Backing) -> Self {
        let slack = open_workspace().await;
        let workspace = slack.clone();
        let configure = move |config: &mut teamroom::config::Config| {
            join(config, &workspace);
            config.schedules.jobs.clear();
            change(config, |standup| standup.pause = Duration::ZERO);
        };
        let discord = Wanted::on(backing).configure(configure).start().await;
        eventually("all connections are open", || async { slack.connections(TEAM) == 2 }).await;
        Self { discord, slack }
    }

    /// Leaves out the team, which runs in a separate process.
    pub(crate) async fn without_team(backing: Backing) -> Self {
        let discord = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
        // Short leases, so that on PostgreSQL a dead process is noticed soon.
        std::fs::write(discord.dir.path().join("teamroom.toml"), "[jobs]\nheartbeat = \"300ms\"\nlease = \"1s\"\n").expect("it is written");
        Self { discord, slack: open_workspace().await }
    }

    /// Starts a process of the team, and waits until it listens on both.
    pub(crate) async fn run_team(&self) -> TeamProcess {
        let (app, address) = (self.slack.app(TEAM), self.slack.api_url());
        let address = address.trim_end_matches("/api/");
        let slack = [("SLACK_BOT_TOKEN", &*app.bot_token), ("SLACK_APP_TOKEN", &*app.app_token), ("TEAMROOM_SLACK_API_URL", address)];
        TeamProcess::start(&self.discord, &slack).await
    }

    pub(crate) fn say_on_slack(&self, channel: &str, text: &str) {
        self.slack.person("Ann").say(&self.slack.channel(channel), text).expect("it is said");
    }

    /// What the team has said in a channel of Slack.
    pub(crate) fn on_slack(&self, channel: &str) -> Vec<Said> {
        let messages = self.slack.person("Ann").messages(&self.slack.channel(channel)).into_iter();
        messages.filter(|message: &Value| !message["bot_id"].is_null()).map(Said::of).collect()
    }

    async fn hears_on_slack(&self, channel: &str, is_it: impl Fn(&Said) -> bool) {
        eventually("it is posted on Slack", || async { self.on_slack(channel).iter().any(&is_it) }).await;
    }

    async fn settle(&self) {
        eventually("what was reported is acknowledged", || async { self.slack.unacknowledged(TEAM) == 0 }).await;
        self.discord.settle().await;
    }

    async fn stop(mut self) {
        self.discord.stop_app().await;
    }
}

async fn open_workspace() -> Arc<Workspace> {
    let mut options = options();
    options.channels.push(ChannelConfig { private: true, ..ChannelConfig::new(BOARD) });
    options.apps[0].channels.push(BOARD.to_owned());
    Arc::new(Workspace::start(options).await.expect("the workspace starts"))
}

async fn each_is_answered_where_it_asked_and_there_is_one_backlog(backing: Backing) {
    let both = Both::start(backing).await;
    both.discord.say("general", "vince, are you there?").await;
    both.say_on_slack("general", "solus, are you there?");
    both.hears_on_slack("general", |said| said.by == "Solus").await;
    let answer = both.discord.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Vince");
    assert_eq!(both.on_slack("general").len(), 1, "{:#?}", both.on_slack("general"));

    let added = invoke(&both.discord, "general", "backlog", sub_command("add", &[("what", "Sign the contract"), ("owner", "vince")])).await;
    assert!(text(&added).contains("Sign the contract"), "{added}");
    let general = both.slack.channel("general");
    both.slack.person("Ann").command(&general, "/team backlog list").expect("Slack knows the command").ended().await;
    let shown = || both.slack.person("Ann").messages(&general).iter().any(|message| message.to_string().contains("Sign the contract"));
    eventually("the item is in the list on Slack", || async { shown() }).await;

    both.say_on_slack("daily-standup", "let's do a new standup kelly");
    both.hears_on_slack("daily-standup", |said| said.text.contains("Day Report")).await;
    both.settle().await;
    let elsewhere = both.discord.answers("daily-standup").await;
    assert!(elsewhere.is_empty(), "the standup is on Slack alone: {elsewhere:#?}");
    let status = invoke(&both.discord, "general", "status", serde_json::json!([])).await;
    let status = text(&status);
    assert!(status.contains("**Kelly** on discord: online") && status.contains("**Kelly** on slack: online"), "{status}");
    both.stop().await;
}

async fn what_is_private_on_slack_is_not_told_on_discord(backing: Backing) {
    let both = Both::start(backing).await;
    both.say_on_slack(BOARD, "kelly, remember: the merger with the bakery is called Bluebird");
    both.hears_on_slack(BOARD, |said| said.by == "Kelly").await;
    both.settle().await;
    both.discord.say("general", "kelly, what is the merger with the bakery called?").await;
    let told = both.discord.wait_for_answers("general", 1).await.remove(0);
    assert!(!told.raw.to_string().contains("Bluebird"), "{told:#?}");
    both.say_on_slack("general", "kelly, what is the merger with the bakery called?");
    both.hears_on_slack("general", |said| !said.by.is_empty()).await;
    assert!(!both.on_slack("general").iter().any(|said| said.raw.to_string().contains("Bluebird")));
    both.say_on_slack(BOARD, "kelly, what is the merger with the bakery called?");
    both.hears_on_slack(BOARD, |said| said.text.contains("Bluebird") && !said.text.contains("remember")).await;
    both.settle().await;
    both.stop().await;
}
