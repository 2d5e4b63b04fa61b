//! `api.test`, `auth.test` and `apps.connections.open`.

use serde_json::json;

use super::arguments::Arguments;
use super::{ApiError, Call, Outcome, ok};

pub(crate) fn test(call: &mut Call) -> Outcome {
    answer_test(&call.arguments)
}

/// Answers with the given arguments, or with the error named in them. Needs no token.
pub(crate) fn answer_test(arguments: &Arguments) -> Outcome {
    match arguments.find("error") {
        Some(error) => Err(ApiError::new(&error).with("args", arguments.to_json())),
        None => Ok(json!({ "ok": true, "args": arguments.to_json() })),
    }
}

pub(crate) fn auth_test(call: &mut Call) -> Outcome {
    let (world, app) = (&call.core.world, &call.app);
    ok(json!({
        "url": world.team_url(), "team": world.team.name, "user": world.user_name(&app.user), "team_id": world.team.id,
        "user_id": app.user, "bot_id": app.bot, "is_enterprise_install": false,
    }))
}

pub(crate) fn open_connection(call: &mut Call) -> Outcome {
    let app = call.app.id.clone();
    if !call.app.config.socket_mode {
        return Err(ApiError::new("socket_mode_not_enabled"));
    }
    Ok(json!({ "url": call.core.open_connection(&app) }))
}
