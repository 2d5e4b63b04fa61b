//! Registration of commands, and their list for people's clients.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::rest::errors::ApiError;
use crate::rest::form::parse_command;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Record, Scope};

/// "An app can have 100 global `CHAT_INPUT` commands", and as many in each guild.
const LIMIT: usize = 100;

/// The scope of a request. Only the bot itself has access.
pub(crate) fn own_scope(call: &RequestContext, application: Snowflake, guild: Option<Snowflake>) -> Result<Scope, ApiError> {
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

pub(crate) fn list(call: &mut RequestContext, scope: Scope) -> ApiResult {
    ok(call.core.world.commands.list(scope).to_vec().into())
}

pub(crate) fn get(call: &mut RequestContext, scope: Scope, command: Snowflake) -> ApiResult {
    let found = find(call, scope, command)?;
    ok(found)
}

fn find(call: &RequestContext, scope: Scope, command: Snowflake) -> Result<Value, ApiError> {
    let id = command.to_string();
    let found = call.core.world.commands.list(scope).iter().find(|command| command["id"] == *id);
    found.cloned().ok_or_else(ApiError::unknown_command)
}

/// Replaces all commands. A command with the same name keeps its id and does not count towards the daily limit.
pub(crate) fn replace_all(call: &mut RequestContext, scope: Scope) -> ApiResult {
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

pub(crate) fn create(call: &mut RequestContext, scope: Scope) -> ApiResult {
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

pub(crate) fn update(call: &mut RequestContext, scope: Scope, id: Snowflake) -> ApiResult {
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

pub(crate) fn delete(call: &mut RequestContext, scope: Scope, id: Snowflake) -> ApiResult {
    let removed = find(call, scope, id)?;
    let commands = call.core.world.commands.list(scope).iter().filter(|command| command["id"] != removed["id"]).cloned().collect();
    call.world().commit(Record::Commands { scope, commands });
    Ok(Reply::Empty)
}

fn find_named<'a>(known: &'a [Value], command: &Map<String, Value>) -> Option<&'a Value> {
    known.iter().find(|other| other["name"] == command["name"] && other["type"] == command["type"])
}

fn check_creates(call: &mut RequestContext, scope: Scope, count: usize) -> Result<(), ApiError> {
    if call.world().commands.may_create(scope, count) {
        return Ok(());
    }
    Err(ApiError::new(400, 30034, "Max number of daily application command creates has been reached (200)"))
}

/// Adds the ids. The version changes only when the command does.
fn complete(call: &mut RequestContext, scope: Scope, known: &[Value], mut command: Map<String, Value>) -> Value {
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

/// For completion in a person's client: every command that can be used here, with its application.
pub(crate) fn index(call: &mut RequestContext) -> ApiResult {
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
