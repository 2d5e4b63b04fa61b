//! Block Kit: the limits of blocks and their elements, with Slack's complaints.

mod checker;

use serde_json::{Value, json};

use super::errors::ApiError;
use checker::Checker;

const BLOCKS_IN_MESSAGE: usize = 50;
const BLOCKS_IN_VIEW: usize = 100;
/// The most characters of all texts in a message. Slack does not document this limit; clients measured `msg_blocks_too_long` from about here.
const ALL_TEXTS: usize = 13_200;

/// Where blocks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Message,
    View,
}

/// Checks blocks, and gives ids to those without.
pub(crate) fn check(blocks: &Value, surface: Surface, mut new_id: impl FnMut() -> String) -> Result<Vec<Value>, ApiError> {
    let Value::Array(blocks) = blocks else { return Err(ApiError::new("invalid_blocks_format")) };
    let mut checker = Checker::default();
    let (root, limit) = match surface {
        Surface::Message => ("/blocks", BLOCKS_IN_MESSAGE),
        Surface::View => ("/view/blocks", BLOCKS_IN_VIEW),
    };
    if blocks.len() > limit {
        checker.complain(&format!("no more than {limit} items allowed"), root);
    }
    for (index, block) in blocks.iter().enumerate() {
        checker.block(block, &format!("{root}/{index}"));
    }
    if !checker.complaints.is_empty() {
        let code = if surface == Surface::Message { "invalid_blocks" } else { "invalid_arguments" };
        return Err(ApiError::blocks(code, &checker.complaints));
    }
    if surface == Surface::Message && blocks.iter().map(count_text).sum::<usize>() > ALL_TEXTS {
        return Err(ApiError::new("msg_blocks_too_long"));
    }
    let mut blocks = blocks.clone();
    for block in &mut blocks {
        add_ids(block, &mut new_id);
    }
    Ok(blocks)
}

/// Characters of all texts in a block.
fn count_text(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = fields.get("text").and_then(Value::as_str).map_or(0, |text| text.chars().count());
            own + fields.values().map(count_text).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_text).sum(),
        _ => 0,
    }
}

/// Slack gives a `block_id` to each block and an `action_id` to each interactive element.
fn add_ids(block: &mut Value, new_id: &mut impl FnMut() -> String) {
    if block["block_id"].is_null() {
        block["block_id"] = json!(new_id());
    }
    let is_interactive = block["type"] != "context" && block["type"] != "rich_text";
    let mut name = |element: &mut Value| {
        if element.is_object() && element["type"] != "image" && element["action_id"].is_null() {
            element["action_id"] = json!(new_id());
        }
    };
    if is_interactive {
        block.get_mut("elements").and_then(Value::as_array_mut).into_iter().flatten().for_each(&mut name);
        for place in ["accessory", "element"] {
            if !block[place].is_null() {
                name(&mut block[place]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(blocks: &Value) -> Vec<String> {
        let error = check(blocks, Surface::Message, || "new".to_owned()).expect_err("they are wrong");
        assert_eq!(error.code, "invalid_blocks");
        serde_json::from_value(error.answer()["errors"].clone()).expect("complaints")
    }

    fn section(length: usize) -> Value {
        json!({ "type": "section", "text": { "type": "mrkdwn", "text": "x".repeat(length) } })
    }

    #[test]
    fn each_limit_has_its_complaint() {
        let button = |text: &str| json!({ "type": "button", "action_id": "a", "text": { "type": "plain_text", "text": text } });
        for (blocks, complaint) in [
            (json!([section(3_001)]), "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
            (json!(vec![json!({ "type": "divider" }); 51]), "no more than 50 items allowed [json-pointer:/blocks]"),
            (json!([{ "type": "poem" }]), "unsupported type: poem [json-pointer:/blocks/0/type]"),
            (json!([{ "type": "section" }]), "missing required field: text [json-pointer:/blocks/0]"),
            (json!([section(0)]), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
            (
                json!([{ "type": "actions", "elements": [button(&"x".repeat(76))] }]),
                "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]",
            ),
            (
                json!([{ "type": "actions", "elements": [button("a"), button("b")] }]),
                "`action_id` a already exists [json-pointer:/blocks/0/elements/1/action_id]",
            ),
            (
                json!([{ "type": "header", "text": { "type": "mrkdwn", "text": "x" } }]),
                "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
            ),
            (
                json!([{ "type": "divider", "block_id": "b" }, { "type": "divider", "block_id": "b" }]),
                "`block_id` b already exists [json-pointer:/blocks/1/block_id]",
            ),
        ] {
            assert_eq!(complaints(&blocks), [complaint]);
        }
    }

    #[test]
    fn all_texts_together_have_a_limit_too() {
        let error = check(&json!(vec![section(3_000); 5]), Surface::Message, String::new).expect_err("too long");
        assert_eq!(error.code, "msg_blocks_too_long");
        assert!(check(&json!(vec![section(3_000); 4]), Surface::Message, String::new).is_ok());
        assert!(check(&json!(vec![section(3_000); 5]), Surface::View, String::new).is_ok());
    }

    #[test]
    fn missing_ids_are_made() {
        let blocks = json!([{ "type": "actions", "elements": [{ "type": "button", "text": { "type": "plain_text", "text": "Go" } }] }]);
        let checked = check(&blocks, Surface::Message, || "new".to_owned()).expect("they are right");
        assert_eq!((&checked[0]["block_id"], &checked[0]["elements"][0]["action_id"]), (&json!("new"), &json!("new")));
        assert_eq!(check(&json!({}), Surface::Message, String::new).expect_err("no list").code, "invalid_blocks_format");
    }
}
