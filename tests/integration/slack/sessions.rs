//! The team as an agent of Slack: threads show that it works, with a button to stop it.

use serde_json::{Value, json};
use slack_sandbox::{ApiFault, Options, Switch};
use teamroom::adapters::slack::manifest::AppKind;
use tokio::sync::watch;

use crate::platforms::slack::{SlackTeam, TEAM, app_of_kind};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(a_thread_shows_work_until_the_answer, a_person_stops_it_and_goes_on_later, nobody_seems_to_work_once_the_team_has_stopped,);

/// A conversation of Ann with the team, in which it was asked something in a thread, and thinks until it may answer.
struct Thinking {
    team: SlackTeam,
    direct: String,
    thread: String,
    asked: String,
    may_answer: watch::Sender<bool>,
}

impl Thinking {
    async fn start(backing: Backing) -> Self {
        let thinking = Self::ask(backing, &[]).await;
        thinking.shows("processing").await;
        thinking
    }

    async fn ask(backing: Backing, faults: &[Switch]) -> Self {
        let agent = |options: &mut Options| options.apps = vec![app_of_kind(TEAM, "Teamroom", AppKind::Agent)];
        let team = SlackTeam::start_with(backing, |_| (), agent).await;
        for fault in faults {
            team.misbehave(fault.clone());
        }
        let (may_answer, waits) = watch::channel(false);
        team.model.on(move |asked| {
            if asked.prompt().contains("and why?") { Script::say("Because of the cache.").when(&waits) } else { Script::say("It is slow.") }
        });
        let direct = team.ann().open_direct(&[&team.workspace.app(TEAM).user]);
        let thread = team.ann().say(&direct, "how is the build?").unwrap();
        team.hears(&direct, |said| said.text == "It is slow.").await;
        let asked = team.ann().reply(&direct, &thread, "and why?").unwrap();
        Self { team, direct, thread, asked, may_answer }
    }

    fn shown(&self) -> Value {
        self.team.workspace.assistant(&self.direct, &self.thread).unwrap_or_default()
    }

    async fn shows(&self, session: &str) {
        eventually(&format!("the session is {session}"), || async { self.shown()["session"] == session }).await;
    }

    fn count_answers(&self) -> usize {
        self.team.said_in(&self.direct).iter().filter(|said| said.text == "Because of the cache.").count()
    }
}

async fn a_thread_shows_work_until_the_answer(backing: Backing) {
    let thinking = Thinking::start(backing).await;
    assert_eq!(thinking.shown()["username"], "Kelly");
    thinking.may_answer.send(true).unwrap();
    thinking.team.hears(&thinking.direct, |said| said.text == "Because of the cache.").await;
    thinking.shows("active").await;
    thinking.team.settle().await;
    thinking.team.stop().await;
}

async fn a_person_stops_it_and_goes_on_later(backing: Backing) {
    let thinking = Thinking::start(backing).await;
    let Thinking { team, direct, thread, .. } = &thinking;
    team.ann().stop_work(direct, thread).expect("somebody works");
    let told = team.hears(direct, |said| said.text.starts_with("Stopped.")).await;
    assert_eq!((told.by.as_str(), &told.raw["thread_ts"]), ("Kelly", &json!(thread)));
    thinking.shows("active").await;
    thinking.may_answer.send(true).unwrap();
    team.settle().await;
    assert_eq!(thinking.count_answers(), 0, "{:#?}", team.said_in(direct));
    assert!(team.ann().stop_work(direct, thread).is_err(), "nobody works any more");
    team.ann().reply(direct, thread, "and why? I want to know after all").unwrap();
    team.hears(direct, |said| said.text == "Because of the cache.").await;
    team.settle().await;
    let told = team.said_in(direct).iter().filter(|said| said.text.starts_with("Stopped.")).count();
    assert_eq!((told, thinking.count_answers()), (1, 1));
    thinking.team.stop().await;
}

async fn nobody_seems_to_work_once_the_team_has_stopped(backing: Backing) {
    let mut thinking = Thinking::start(backing).await;
    let general = thinking.team.channel("general");
    let elsewhere = thinking.team.say("general", "Bob, the build is slow.");
    thinking.team.ann().reply(&general, &elsewhere, "vince, and why?").unwrap();
    let shown = |thinking: &Thinking| thinking.team.workspace.assistant(&general, &elsewhere).unwrap_or_default()["session"].clone();
    eventually("both are shown", || async { shown(&thinking) == "processing" }).await;
    thinking.team.stop_app().await;
    assert_eq!((&thinking.shown()["session"], shown(&thinking)), (&json!("active"), json!("active")));
    thinking.may_answer.send(true).unwrap();
    thinking.team.start_app().await;
    thinking.team.hears(&thinking.direct, |said| said.text == "Because of the cache.").await;
    thinking.team.hears("general", |said| said.text == "Because of the cache.").await;
    thinking.team.settle().await;
    assert_eq!(thinking.count_answers(), 1);
    thinking.team.stop().await;
}

/// Nothing is posted that would end it.
#[tokio::test]
async fn it_ends_with_a_turn_that_says_nothing() {
    let thinking = Thinking::start(Backing::Sqlite).await;
    thinking.team.ann().delete(&thinking.direct, &thinking.asked).unwrap();
    thinking.shows("active").await;
    thinking.team.settle().await;
    assert_eq!(thinking.count_answers(), 0);
    thinking.team.stop().await;
}

#[tokio::test]
async fn where_slack_takes_no_sessions_the_thread_says_who_thinks() {
    let refused = ApiFault::Error("feature_not_enabled".to_owned());
    let fault = Switch::Api { app: None, method: "agents.".to_owned(), times: 100, with: refused };
    let thinking = Thinking::ask(Backing::Sqlite, &[fault]).await;
    eventually("it shows who is thinking", || async { thinking.shown()["status"] == "is thinking, as Kelly…" }).await;
    thinking.may_answer.send(true).unwrap();
    thinking.team.hears(&thinking.direct, |said| said.text == "Because of the cache.").await;
    thinking.team.settle().await;
    assert_eq!(thinking.shown()["status"], "");
    thinking.team.stop().await;
}
