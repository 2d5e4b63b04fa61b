//! The options and files of a command that a person uses.

use serde_json::{Value, json};

use super::resolved::resolve;
use crate::rest::RequestContext;
use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft, Resolved, parse_options};
use crate::snowflake::Snowflake;
use crate::state::{Interaction, InteractionKind};

/// The `data` that the bot gets.
pub(crate) fn parse(call: &mut RequestContext, interaction: &mut Interaction, data: &Value) -> Result<Value, ApiError> {
    let world = &call.core.world;
    let name = data["name"].as_str().unwrap_or_default();
    let command = world.commands.find(interaction.application, world.guild.id, data["id"].as_str(), name);
    let command = command.cloned().ok_or_else(ApiError::unknown_command)?;
    interaction.command = command["name"].as_str().map(str::to_owned);
    let is_partial = interaction.kind == InteractionKind::Autocomplete;
    let files = store_files(call, interaction.channel, data)?;
    let given = with_file_ids(&data["options"], &files);
    let mut wanted = Resolved::default();
    let options = parse_options(&command["options"], &given, is_partial, &mut wanted)?;
    let mut out = json!({ "id": command["id"], "name": command["name"], "type": command["type"] });
    if !command["guild_id"].is_null() {
        out["guild_id"] = command["guild_id"].clone();
    }
    if !options.is_empty() || is_partial {
        out["options"] = Value::Array(options);
    }
    let resolved = resolve(call, interaction.channel, &wanted)?;
    if !resolved.is_empty() {
        out["resolved"] = Value::Object(resolved);
    }
    Ok(out)
}

/// Stores the files of a command. Options name them by their numbers, as user clients do.
fn store_files(call: &mut RequestContext, channel: Snowflake, data: &Value) -> Result<Vec<(u64, Snowflake)>, ApiError> {
    let draft = Draft::parse_json(&json!({ "attachments": data["attachments"] }), &call.body.uploads, AllowedMentions::users_only())?;
    let numbers: Vec<u64> = draft.files.iter().map(|file| file.upload.number).collect();
    let stored = call.world().store_files(&draft)?;
    let ids = stored.iter().map(|attachment| attachment.id);
    let numbered = numbers.into_iter().zip(ids).collect();
    call.world().interactions.keep_files(channel, stored);
    Ok(numbered)
}

fn with_file_ids(options: &Value, files: &[(u64, Snowflake)]) -> Value {
    let mut options = options.clone();
    for option in options.as_array_mut().into_iter().flatten().filter(|option| option["type"] == 11) {
        let number = option["value"].as_u64().or_else(|| option["value"].as_str()?.parse().ok());
        if let Some((_, id)) = files.iter().find(|(file, _)| Some(*file) == number) {
            option["value"] = json!(id);
        }
    }
    options
}
