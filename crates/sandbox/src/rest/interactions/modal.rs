//! A person submits a modal.

use serde_json::{Value, json};

use super::component::{find_component, parse_values};
use crate::rest::RequestContext;
use crate::rest::errors::ApiError;
use crate::rest::form::parse_required_text;
use crate::state::Interaction;

/// The `data` that the bot gets, checked against the modal that was shown.
pub(crate) fn parse(call: &mut RequestContext, interaction: &mut Interaction, data: &Value) -> Result<Value, ApiError> {
    let custom_id = parse_required_text(&data["custom_id"], "data.custom_id", 100)?;
    let (application, user) = (interaction.application, interaction.user);
    let shown = call.world().interactions.find_modal(application, user, &custom_id).cloned();
    let shown = shown.ok_or_else(ApiError::unknown_interaction)?;
    interaction.source = shown.source;
    interaction.opened_by = Some(Box::new(shown.opened_by));
    let filled = shown.components.iter().map(|component| fill_in(component, &data["components"])).collect::<Result<Vec<_>, _>>()?;
    call.world().interactions.close_modal(application, user, &custom_id);
    Ok(json!({ "custom_id": custom_id, "components": filled.into_iter().flatten().collect::<Vec<_>>() }))
}

/// A modal's component with the entered value. `None` for a component that is plain text.
fn fill_in(component: &Value, given: &Value) -> Result<Option<Value>, ApiError> {
    let id = &component["id"];
    if let Some(children) = component["components"].as_array() {
        let filled = children.iter().map(|child| fill_in(child, given)).collect::<Result<Vec<_>, _>>()?;
        return Ok(Some(json!({ "type": component["type"], "id": id, "components": filled.into_iter().flatten().collect::<Vec<_>>() })));
    }
    if component["component"].is_object() {
        let inner = fill_in(&component["component"], given)?;
        return Ok(Some(json!({ "type": component["type"], "id": id, "component": inner })));
    }
    let Some(custom_id) = component["custom_id"].as_str() else { return Ok(None) };
    let entered = given.as_array().into_iter().flatten().find_map(|one| find_component(one, custom_id));
    let mut out = json!({ "type": component["type"], "id": id, "custom_id": custom_id });
    if component["type"] != 4 {
        let values = entered.map_or(Value::Null, |entered| entered["values"].clone());
        out["values"] = json!(parse_values(component, &values)?);
        return Ok(Some(out));
    }
    let value = entered.and_then(|entered| entered["value"].as_str()).unwrap_or_default();
    let length = value.chars().count() as u64;
    let path = format!("data.components.{custom_id}");
    if value.is_empty() && component["required"] != false {
        return Err(ApiError::required(&path));
    }
    let max = component["max_length"].as_u64().unwrap_or(4_000);
    if length > max || !value.is_empty() && length < component["min_length"].as_u64().unwrap_or(0) {
        return Err(ApiError::invalid(&path, "BASE_TYPE_BAD_LENGTH", "The length is out of range."));
    }
    out["value"] = json!(value);
    Ok(Some(out))
}
