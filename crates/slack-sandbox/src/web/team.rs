//! `team.info` and `emoji.list`.

use serde_json::json;

use super::{Call, Outcome, ok};

pub(crate) fn info(call: &mut Call) -> Outcome {
    let team = &call.core.world.team;
    let team = json!({
        "id": team.id, "name": team.name, "url": call.core.world.team_url(), "domain": team.domain, "email_domain": "example.com",
        "icon": { "image_default": true },
    });
    ok(json!({ "team": team }))
}

/// Emojis of the workspace. Slack's own are not in the list.
pub(crate) fn emoji(_call: &mut Call) -> Outcome {
    ok(
        json!({ "emoji": { "shipit": "https://emoji.slack-edge.com/shipit.png", "squirrel": "alias:shipit" }, "cache_ts": "1790812800.000000" }),
    )
}
