//! Registering commands, and the list of them for people's clients.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::sandbox::rest::errors::ApiError;
use crate::sandbox::rest::form::parse_command;
use crate::sandbox::rest::{Answered, Call, Reply, ok};
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::state::{Record, Scope};

/// "An app can have 100 global `CHAT_INPUT` commands", and as many in each guild.
const LIMIT: usize = 100;

/// The scope of a request, which only the bot itself may touch.
pub(crate) fn own_scope(call: &Call, application: Snowflake, guild: Option<Snowflake>) -> Result<Scope, ApiError> {
    let caller = call.caller()?;
    if call.core.world.accounts.get(application).is_none_or(|account| !account.is_bot()) {
        return Err(ApiError::unknown_application());
    }
    if caller.id != application {
        return Err(ApiError::new(403, 20012, "You are not authorized to perform this action on this application"));
    }
    if let Some(guild) = guild {
        call.guild(guild)?;
    }
    Ok(Scope { application, guild })
}

pub(crate) fn list(call: &mut Call, scope: Scope) -> Answered {
    ok(call.core.world.commands.list(scope).to_vec().into())
}

pub(crate) fn get(call: &mut Call, scope: Scope, command: Snowflake) -> Answered {
    let found = find(call, scope, command)?;
    ok(found)
}

fn find(call: &Call, scope: Scope, command: Snowflake) -> Result<Value, ApiError> {
    let id = command.to_string();
    let found = call.core.world.commands.list(scope).iter().find(|command| command["id"] == *id);
    found.cloned().ok_or_else(ApiError::unknown_command)
}

/// Replaces all commands. Those that keep their name keep their id, and cost nothing of the day's limit.
pub(crate) fn replace_all(call: &mut Call, scope: Scope) -> Answered {
    let Value::Array(given) = call.body.json.clone() else {
        return Err(ApiError::invalid("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType."));
    };
    if given.len() > LIMIT {
        return Err(ApiError::new(400, 30032, "Maximum number of application commands reached (100)."));
    }
    let parsed: Vec<_> =
        given.iter().enumerate().map(|(index, command)| parse_command(command, &index.to_string())).collect::<Result<_, _>>()?;
    let names: BTreeSet<String> = parsed.iter().map(|command| format!("{}/{}", command["type"], command["name"])).collect();
    if names.len() < parsed.len() {
        let text = "Application command names must be unique";
        return Err(ApiError::invalid("", "APPLICATION_COMMANDS_DUPLICATE_NAME", text));
    }
    let known = call.core.world.commands.list(scope).to_vec();
    let created = parsed.iter().filter(|command| find_named(&known, command).is_none()).count();
    check_creates(call, scope, created)?;
    let commands: Vec<Value> = parsed.into_iter().map(|command| complete(call, scope, &known, command)).collect();
    call.world().commit(Record::Commands { scope, commands: commands.clone() });
    ok(commands.into())
}

pub(crate) fn create(call: &mut Call, scope: Scope) -> Answered {
    let command = parse_command(&call.body.json, "")?;
    let mut known = call.core.world.commands.list(scope).to_vec();
    let is_new = find_named(&known, &command).is_none();
    if is_new && known.len() >= LIMIT {
        return Err(ApiError::new(400, 30032, "Maximum number of application commands reached (100)."));
    }
    check_creates(call, scope, usize::from(is_new))?;
    let command = complete(call, scope, &known, command);
    known.retain(|other| other["id"] != command["id"]);
    known.push(command.clone());
    call.world().commit(Record::Commands { scope, commands: known });
    Ok(Reply::Json(if is_new { 201 } else { 200 }, command))
}

pub(crate) fn update(call: &mut Call, scope: Scope, id: Snowflake) -> Answered {
    let current = find(call, scope, id)?;
    let mut merged = current.clone();
    if let (Some(merged), Some(changes)) = (merged.as_object_mut(), call.body.json.as_object()) {
        merged.extend(changes.clone());
    }
    let mut known = call.core.world.commands.list(scope).to_vec();
    let mut command = complete(call, scope, &[], parse_command(&merged, "")?);
    command["id"] = current["id"].clone();
    if let Some(place) = known.iter_mut().find(|other| other["id"] == current["id"]) {
        *place = command.clone();
    }
    call.world().commit(Record::Commands { scope, commands: known });
    ok(command)
}

pub(crate) fn delete(call: &mut Call, scope: Scope, id: Snowflake) -> Answered {
    let gone = find(call, scope, id)?;
    let commands = call.core.world.commands.list(scope).iter().filter(|command| command["id"] != gone["id"]).cloned().collect();
    call.world().commit(Record::Commands { scope, commands });
    Ok(Reply::Empty)
}

fn find_named<'a>(known: &'a [Value], command: &Map<String, Value>) -> Option<&'a Value> {
    known.iter().find(|other| other["name"] == command["name"] && other["type"] == command["type"])
}

fn check_creates(call: &mut Call, scope: Scope, count: usize) -> Result<(), ApiError> {
    if call.world().commands.may_create(scope, count) {
        return Ok(());
    }
    Err(ApiError::new(400, 30034, "Max number of daily application command creates has been reached (200)"))
}

/// Adds the ids. The version changes only when the command does.
fn complete(call: &mut Call, scope: Scope, known: &[Value], mut command: Map<String, Value>) -> Value {
    let former = find_named(known, &command);
    let fresh = json!(call.world().next_id());
    command.insert("id".to_owned(), former.map_or_else(|| fresh.clone(), |former| former["id"].clone()));
    command.insert("application_id".to_owned(), json!(scope.application));
    if let Some(guild) = scope.guild {
        command.insert("guild_id".to_owned(), json!(guild));
    }
    let unchanged = former.filter(|former| command.iter().all(|(key, value)| former[key] == *value));
    command.insert("version".to_owned(), unchanged.map_or(fresh, |former| former["version"].clone()));
    Value::Object(command)
}

/// What a person's client needs for completion: every command that can be used here, and whose it is.
pub(crate) fn index(call: &mut Call) -> Answered {
    let world = &call.core.world;
    let usable = world.commands.iter().filter(|(scope, _)| world.accounts.get(scope.application).is_some_and(|a| a.active));
    let (mut applications, mut commands) = (Vec::new(), Vec::new());
    for (scope, listed) in usable.filter(|(_, listed)| !listed.is_empty()) {
        if !applications.iter().any(|application: &Value| application["id"] == json!(scope.application)) {
            let name = world.accounts.get(scope.application).map(|account| account.name.as_str());
            applications.push(json!({
                "id": scope.application, "name": name, "description": "", "icon": null,
                "bot_id": scope.application, "flags": 0, "bot": world.user(scope.application),
            }));
        }
        commands.extend(listed.iter().cloned());
    }
    ok(json!({ "applications": applications, "application_commands": commands }))
}
