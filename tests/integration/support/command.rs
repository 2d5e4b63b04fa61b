//! Slash commands and button clicks of a person.

use serde_json::{Value, json};

use super::team::{Shown, TestTeam, eventually};

/// Uses a command in a channel. Returns the answer after the deferral.
pub(crate) async fn invoke(team: &TestTeam, channel: &str, name: &str, options: Value) -> Value {
    // Takes only answers to commands, not other messages of the channel or the late answer to a button.
    let answers = || async {
        let newest = team.newest(channel).await.into_iter();
        newest.filter(|shown| shown.raw["interaction_metadata"]["type"] == 2 && !shown.text.is_empty()).collect::<Vec<_>>()
    };
    let before: Vec<Value> = answers().await.into_iter().map(|shown| shown.raw["id"].clone()).collect();
    give(team, channel, name, options).await;
    let answered = || async { answers().await.into_iter().rfind(|shown| !before.contains(&shown.raw["id"])) };
    eventually("the command is answered", || async { answered().await.is_some() }).await;
    answered().await.expect("an answer").raw
}

/// Uses a command without waiting for its answer.
pub(crate) async fn give(team: &TestTeam, channel: &str, name: &str, options: Value) {
    give_in(team, &team.channel(channel), name, options).await;
}

/// The same in a channel or thread with this id.
pub(crate) async fn give_in(team: &TestTeam, channel: &str, name: &str, options: Value) {
    let guild = team.sandbox().guild_id();
    let find = || async {
        let index = team.call(reqwest::Method::GET, &format!("/guilds/{guild}/application-command-index"), None).await;
        let commands = index["application_commands"].as_array().cloned().unwrap_or_default();
        commands.into_iter().find(|command| command["name"] == name)
    };
    eventually("the command is registered", || async { find().await.is_some() }).await;
    let command = find().await.expect("it is registered");
    let body = json!({
        "type": 2, "application_id": command["application_id"], "guild_id": guild, "channel_id": channel,
        "data": {"id": command["id"], "name": name, "type": 1, "version": command["version"], "options": options},
    });
    team.call(reqwest::Method::POST, "/interactions", Some(body)).await;
}

/// Clicks the button of a message that `is_it` selects.
pub(crate) async fn press(team: &TestTeam, channel: &str, message: &Shown, is_it: impl Fn(&Value) -> bool) {
    press_as(team, 0, channel, message, is_it).await;
}

/// A person other than the first clicks.
pub(crate) async fn press_as(team: &TestTeam, person: usize, channel: &str, message: &Shown, is_it: impl Fn(&Value) -> bool) {
    let rows = message.raw["components"].as_array().expect("a message with buttons").iter();
    let mut buttons = rows.flat_map(|row| row["components"].as_array().expect("a row of buttons"));
    let button = buttons.find(|button| is_it(button)).expect("the button");
    let body = json!({
        "type": 3, "application_id": message.raw["author"]["id"], "guild_id": team.sandbox().guild_id(),
        "channel_id": team.channel(channel), "message_id": message.raw["id"], "session_id": "s", "nonce": "1",
        "data": {"component_type": 2, "custom_id": button["custom_id"]},
    });
    team.call_as(person, reqwest::Method::POST, "/interactions", Some(body)).await;
}

/// The options of a subcommand, all of type text.
pub(crate) fn sub_command(name: &str, options: &[(&str, &str)]) -> Value {
    let options: Vec<_> = options.iter().map(|(name, value)| json!({"type": 3, "name": name, "value": value})).collect();
    json!([{"type": 1, "name": name, "options": options}])
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["content"].as_str().expect("a text")
}

pub(crate) fn is_ephemeral(answer: &Value) -> bool {
    answer["flags"].as_u64().unwrap_or_default() & 64 != 0
}
