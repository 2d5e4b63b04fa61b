//! `views.*`

use serde_json::{Value, json};

use super::blocks::{Surface, check};
use super::{ApiError, Call, Outcome, World, ok};
use crate::state::{STACK_LIMIT, Trigger, View};

const TITLE_LIMIT: usize = 24;
const METADATA_LIMIT: usize = 3_000;
const CALLBACK_LIMIT: usize = 255;

pub(crate) fn open(call: &mut Call) -> Outcome {
    let body = read_view(call, "modal")?;
    let trigger = take_trigger(call)?;
    let app = call.app.id.clone();
    let id = call.world().add_view(&app, &trigger.user, body, None);
    answer(call, &id)
}

/// Puts a modal on top of the one in which the interaction happened.
pub(crate) fn push(call: &mut Call) -> Outcome {
    let body = read_view(call, "modal")?;
    let trigger = take_trigger(call)?;
    let below = trigger.view.ok_or_else(|| ApiError::new("invalid_trigger_id"))?;
    let root = call.core.world.views.get(&below).map(|view| view.root.clone()).ok_or_else(|| ApiError::new("not_found"))?;
    if call.core.world.views.values().filter(|view| view.root == root).count() >= STACK_LIMIT {
        return Err(ApiError::new("push_limit_reached"));
    }
    let app = call.app.id.clone();
    let id = call.world().add_view(&app, &trigger.user, body, Some(&below));
    answer(call, &id)
}

pub(crate) fn update(call: &mut Call) -> Outcome {
    let (id, external) = (call.arguments.find("view_id"), call.arguments.find("external_id"));
    if id.is_none() && external.is_none() {
        return Err(ApiError::missing("view_id"));
    }
    let is_meant = |view: &&View| match (&id, &external) {
        (Some(id), _) => view.id == *id,
        (None, external) => view.body["external_id"].as_str() == external.as_deref(),
    };
    let found = call.core.world.views.values().filter(|view| view.app == call.app.id).find(is_meant);
    let (id, hash, kind) = match found {
        Some(view) => (view.id.clone(), view.hash.clone(), view.body["type"].as_str().unwrap_or_default().to_owned()),
        None => return Err(ApiError::new("not_found")),
    };
    check_hash(call, &hash)?;
    let body = read_view(call, &kind)?;
    call.world().update_view(&id, body);
    answer(call, &id)
}

pub(crate) fn publish(call: &mut Call) -> Outcome {
    let user = call.arguments.text("user_id")?;
    if !call.app.config.home_tab {
        return Err(ApiError::new("not_enabled"));
    }
    if !call.core.world.users.contains_key(&user) {
        return Err(ApiError::arguments("invalid `user_id`"));
    }
    let body = read_view(call, "home")?;
    let app = call.app.id.clone();
    let known = call.core.world.home(&app, &user).map(|view| (view.id.clone(), view.hash.clone()));
    let id = match known {
        Some((id, hash)) => {
            check_hash(call, &hash)?;
            call.world().update_view(&id, body);
            id
        }
        None => call.world().add_view(&app, &user, body, None),
    };
    answer(call, &id)
}

fn answer(call: &Call, id: &str) -> Outcome {
    let world = &call.core.world;
    ok(json!({ "view": world.views.get(id).map(|view| world.view(view)) }))
}

/// Refuses an update that was made for an older version of the view.
fn check_hash(call: &Call, current: &str) -> Result<(), ApiError> {
    if call.arguments.find("hash").is_none_or(|hash| hash == current) { Ok(()) } else { Err(ApiError::new("hash_conflict")) }
}

/// A trigger opens one modal, within three seconds.
fn take_trigger(call: &mut Call) -> Result<Trigger, ApiError> {
    let id = call.arguments.text("trigger_id")?;
    let (now, app) = (call.core.now(), call.app.id.clone());
    let trigger = call.world().triggers.get_mut(&id).filter(|trigger| trigger.app == app);
    let trigger = trigger.ok_or_else(|| ApiError::new("invalid_trigger_id"))?;
    if trigger.used {
        return Err(ApiError::new("exchanged_trigger_id"));
    }
    if now >= trigger.until {
        return Err(ApiError::new("expired_trigger_id"));
    }
    trigger.used = true;
    Ok(trigger.clone())
}

fn read_view(call: &mut Call, kind: &str) -> Result<Value, ApiError> {
    let view = call.arguments.json("view", "invalid_arguments")?.ok_or_else(|| ApiError::missing("view"))?;
    parse_view(call.world(), view, kind)
}

/// Checks a view, and gives ids to its blocks.
pub(crate) fn parse_view(world: &mut World, mut view: Value, kind: &str) -> Result<Value, ApiError> {
    if view["type"] != kind {
        return Err(ApiError::arguments(&format!("expected a view of type {kind} [json-pointer:/view/type]")));
    }
    let mut complaints = Vec::new();
    let mut complain = |what: &str, field: &str| complaints.push(format!("{what} [json-pointer:/view/{field}]"));
    if kind == "modal" && view["title"]["text"].as_str().is_none() {
        complain("missing required field: title", "title");
    }
    for field in ["title", "submit", "close"] {
        if view[field]["text"].as_str().is_some_and(|text| text.chars().count() > TITLE_LIMIT) {
            complain("must be less than 25 characters", &format!("{field}/text"));
        }
    }
    for (field, limit) in [("private_metadata", METADATA_LIMIT), ("callback_id", CALLBACK_LIMIT)] {
        if view[field].as_str().is_some_and(|text| text.chars().count() > limit) {
            complain(&format!("must be less than {} characters", limit + 1), field);
        }
    }
    let has_input = view["blocks"].as_array().into_iter().flatten().any(|block| block["type"] == "input");
    if kind == "modal" && has_input && view["submit"].is_null() {
        complain("`submit` is required when an `input` block is present", "submit");
    }
    if !complaints.is_empty() {
        return Err(ApiError::blocks("invalid_arguments", &complaints));
    }
    let blocks = check(&view["blocks"], Surface::View, || world.ids.next("b"))?;
    view["blocks"] = json!(blocks);
    Ok(view)
}
