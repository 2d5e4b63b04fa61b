//! A person uses a button or a select menu.

use serde_json::{Value, json};

use super::parse_id;
use super::resolved::resolve;
use crate::rest::RequestContext;
use crate::rest::errors::ApiError;
use crate::rest::form::{Resolved, parse_required_text};
use crate::snowflake::Snowflake;
use crate::state::{Interaction, Reference};

/// The `data` that the bot gets.
pub(crate) fn parse(call: &mut RequestContext, interaction: &mut Interaction, json: &Value) -> Result<Value, ApiError> {
    let message = call.message(interaction.channel, parse_id(&json["message_id"], "message_id")?)?;
    if !message.is_of(interaction.application) {
        return Err(ApiError::unknown_application());
    }
    interaction.source = Some(Reference { channel: message.channel, message: Some(message.id) });
    let custom_id = parse_required_text(&json["data"]["custom_id"], "data.custom_id", 100)?;
    let component = message.components.iter().find_map(|component| find_component(component, &custom_id));
    let component = component.filter(|component| component["disabled"] != true);
    let component =
        component.ok_or_else(|| ApiError::invalid("data.custom_id", "COMPONENT_VALIDATION_FAILED", "Component validation failed"))?;
    let mut out = json!({ "component_type": component["type"], "custom_id": custom_id });
    if let Some(kind @ 3..=8) = component["type"].as_u64() {
        let values = parse_values(component, &json["data"]["values"])?;
        let ids: Vec<Snowflake> = values.iter().filter_map(|value| value.parse().ok()).collect();
        let wanted = match kind {
            5 | 7 => Resolved { users: ids, ..Resolved::default() },
            6 => Resolved { roles: ids, ..Resolved::default() },
            8 => Resolved { channels: ids, ..Resolved::default() },
            _ => Resolved::default(),
        };
        out["values"] = json!(values);
        let resolved = resolve(call, interaction.channel, &wanted)?;
        if kind != 3 {
            out["resolved"] = Value::Object(resolved);
        }
    }
    Ok(out)
}

/// A component anywhere in a layout, by its custom id.
pub(crate) fn find_component<'a>(component: &'a Value, custom_id: &str) -> Option<&'a Value> {
    if component["custom_id"] == *custom_id {
        return Some(component);
    }
    let nested = component["components"].as_array().into_iter().flatten();
    nested
        .chain([&component["component"], &component["accessory"]].into_iter().filter(|inner| inner.is_object()))
        .find_map(|inner| find_component(inner, custom_id))
}

pub(crate) fn parse_values(component: &Value, values: &Value) -> Result<Vec<String>, ApiError> {
    let wrong = || ApiError::invalid("data.values", "COMPONENT_VALIDATION_FAILED", "Component validation failed");
    let values: Vec<String> = serde_json::from_value(values.clone()).map_err(|_| wrong())?;
    let count = values.len() as u64;
    let in_range = count >= component["min_values"].as_u64().unwrap_or(1) && count <= component["max_values"].as_u64().unwrap_or(1);
    let offered = |value: &String| match component["options"].as_array() {
        Some(options) => options.iter().any(|option| option["value"] == **value),
        None => value.parse::<Snowflake>().is_ok(),
    };
    if in_range && values.iter().all(offered) { Ok(values) } else { Err(wrong()) }
}
