//! Interactive elements: finds them in blocks, and builds the payload of their use.

use serde_json::{Value, json};

/// An element with the id of its block.
pub(super) struct Element<'a> {
    pub(super) block: &'a str,
    pub(super) element: &'a Value,
}

/// The element with this action, in `actions`, as an accessory, or as an input.
pub(super) fn find_element<'a>(blocks: &'a Value, action: &str) -> Option<Element<'a>> {
    let in_block = |block: &'a Value| {
        let list = block["elements"].as_array().into_iter().flatten();
        let mut all = list.chain([&block["accessory"], &block["element"]]);
        let element = all.find(|element| element["action_id"] == action)?;
        Some(Element { block: block["block_id"].as_str().unwrap_or_default(), element })
    };
    blocks.as_array()?.iter().find_map(in_block)
}

/// The state of an element after these values were entered: its kind, and the values in the field of that kind. `None` if an option is unknown.
pub(super) fn entered(element: &Value, values: &[&str]) -> Option<Value> {
    let kind = element["type"].as_str()?;
    let first = values.first().copied();
    let option = |value: &str| {
        let groups = element["option_groups"].as_array().into_iter().flatten().filter_map(|group| group["options"].as_array());
        let all = element["options"].as_array().into_iter().chain(groups).flatten();
        all.into_iter().find(|option| option["value"] == value).cloned()
    };
    let options = || values.iter().copied().map(option).collect::<Option<Vec<Value>>>();
    let (field, value) = match kind {
        "static_select" | "radio_buttons" | "overflow" => ("selected_option", first.map_or(Some(Value::Null), option)?),
        "multi_static_select" | "checkboxes" => ("selected_options", json!(options()?)),
        "users_select" => ("selected_user", json!(first)),
        "multi_users_select" => ("selected_users", json!(values)),
        "channels_select" => ("selected_channel", json!(first)),
        "multi_channels_select" => ("selected_channels", json!(values)),
        "conversations_select" => ("selected_conversation", json!(first)),
        "multi_conversations_select" => ("selected_conversations", json!(values)),
        "datepicker" => ("selected_date", json!(first)),
        "timepicker" => ("selected_time", json!(first)),
        "datetimepicker" => ("selected_date_time", json!(first?.parse::<u64>().ok()?)),
        "button" => ("value", element["value"].clone()),
        _ => ("value", json!(first)),
    };
    let mut entered = json!({ "type": kind });
    if !(kind == "button" && value.is_null()) {
        entered[field] = value;
    }
    Some(entered)
}

/// The `actions` entry of the payload for a used element.
pub(super) fn action(found: &Element, entered: &Value, at: &str) -> Value {
    let mut action = entered.clone();
    action["action_id"] = found.element["action_id"].clone();
    action["block_id"] = json!(found.block);
    action["action_ts"] = json!(at);
    for field in ["text", "style", "placeholder"] {
        if !found.element[field].is_null() && (field != "text" || found.element["type"] == "button") {
            action[field] = found.element[field].clone();
        }
    }
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_to_be_there() {
        let option = json!({ "text": { "type": "plain_text", "text": "One" }, "value": "1" });
        let select = json!({ "type": "static_select", "action_id": "a", "options": [option] });
        assert_eq!(entered(&select, &["1"]), Some(json!({ "type": "static_select", "selected_option": option })));
        assert_eq!(entered(&select, &["2"]), None);
        let input = json!({ "type": "plain_text_input", "action_id": "a" });
        assert_eq!(entered(&input, &["hi"]), Some(json!({ "type": "plain_text_input", "value": "hi" })));
    }

    #[test]
    fn elements_are_found_where_blocks_have_them() {
        let element = |id: &str| json!({ "type": "button", "action_id": id });
        let blocks = json!([
            { "block_id": "b1", "elements": [element("a")] }, { "block_id": "b2", "accessory": element("b") },
            { "block_id": "b3", "element": element("c") },
        ]);
        for (action, block) in [("a", "b1"), ("b", "b2"), ("c", "b3")] {
            assert_eq!(find_element(&blocks, action).map(|found| found.block), Some(block));
        }
        assert!(find_element(&blocks, "d").is_none());
    }
}
