//! A team that speaks and hears by a scripted endpoint.

use std::io::Cursor;
use std::time::Duration;

use kernel::llm::settings::{ModelRef, ProviderKind, SpeechSetting};
use kernel::time::ManualClock;
use opus_pure::OggOpusReader;
use reqwest::Method;
use serde_json::Value;

use crate::standup::change;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};

pub(super) const STANDUP: &str = "daily-standup";
pub(super) const START: &str = "let's do a new standup kelly";

/// The speakers of a standup. Its facilitator speaks first and last.
pub(super) const CHAPTERS: [&str; 8] = ["Kelly", "Echo", "Eliza", "Oracle", "Sentinel", "Vince", "Solus", "Kelly"];

pub(super) fn named(model: &str) -> ModelRef {
    ModelRef { provider: "scripted".into(), model: model.into() }
}

/// Answers are composed without a model, so only voices cost something.
pub(super) fn wanted(backing: Backing) -> Wanted {
    Wanted::on(backing).model(ProviderKind::OpenAi).configure(|config| {
        config.models.tiers.clear();
        config.models.speech = SpeechSetting::Model(named("tts-1"));
        change(config, |standup| standup.pause = Duration::ZERO);
    })
}

/// Holds a standup. Returns its report.
pub(super) async fn hold_standup(team: &TestTeam) -> Shown {
    team.say(STANDUP, START).await;
    eventually("the report is posted", || async { find_report(team).await.is_some() }).await;
    find_report(team).await.unwrap()
}

async fn find_report(team: &TestTeam) -> Option<Shown> {
    let is_report = |shown: &Shown| shown.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report"));
    team.answers(STANDUP).await.into_iter().find(is_report)
}

pub(super) fn is_play(button: &Value) -> bool {
    button["custom_id"].as_str().is_some_and(|id| id.starts_with("play:"))
}

/// The button of a message, if it has one.
pub(super) fn find_play(shown: &Shown) -> Option<Value> {
    let rows = shown.raw["components"].as_array()?;
    rows.iter().flat_map(|row| row["components"].as_array().cloned().unwrap_or_default()).find(is_play)
}

/// The messages of the thread below one, oldest first. A thread has the id of its message.
pub(super) async fn thread(team: &TestTeam, message: &Shown) -> Vec<Value> {
    let id = message.raw["id"].as_str().unwrap();
    let path = format!("/channels/{id}/messages?limit=100");
    let said = team.try_call_as(0, Method::GET, &path, None).await.unwrap_or(Value::Null);
    let mut said = said.as_array().cloned().unwrap_or_default();
    said.reverse();
    said
}

/// The messages that carry an audio file.
pub(super) fn sounds(messages: &[Value]) -> Vec<Value> {
    let is_sound =
        |message: &&Value| message["attachments"][0]["filename"].as_str().is_some_and(|name| name.rsplit('.').next() == Some("ogg"));
    messages.iter().filter(is_sound).cloned().collect()
}

pub(super) async fn wait_for_sound(team: &TestTeam, report: &Shown) -> Value {
    eventually("the audio is in the thread", || async { !sounds(&thread(team, report).await).is_empty() }).await;
    sounds(&thread(team, report).await).remove(0)
}

pub(super) async fn download(message: &Value) -> Vec<u8> {
    let url = message["attachments"][0]["url"].as_str().unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.get(url).send().await.unwrap().bytes().await.unwrap().to_vec()
}

/// When each chapter of a file begins, and its title.
pub(super) fn chapters(file: &[u8]) -> Vec<(String, String)> {
    let reader = OggOpusReader::new(Cursor::new(file)).expect("an audio file");
    let tag = |name: String| reader.tags().get(&name).map(str::to_owned);
    let chapter = |number: usize| Some((tag(format!("CHAPTER{number:03}"))?, tag(format!("CHAPTER{number:03}NAME"))?));
    (0..1000).map_while(chapter).collect()
}

pub(super) fn titles(file: &[u8]) -> Vec<String> {
    chapters(file).into_iter().map(|(_, title)| title).collect()
}

/// A clock that begins now. Tests advance it past the pauses between attempts.
pub(super) fn clock() -> ManualClock {
    ManualClock::new(kernel::time::Clock::now(&kernel::time::SystemClock))
}
