//! Search of messages for the chat page: by words, regardless of case and order.

use serde_json::Value;

/// Messages in one answer.
pub const MOST: usize = 50;

/// The words that a message must have.
#[derive(Debug)]
pub struct Words(Vec<String>);

impl Words {
    /// None if there is no word.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Whether each word is in one of the texts, also as a part of a longer word.
    pub fn are_in(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}

/// The texts for people in cards, blocks and attachments, one in each line. Buttons and menus are left out.
pub fn collect_text(value: &Value) -> String {
    let mut lines = Vec::new();
    collect(value, &mut lines);
    lines.join("\n")
}

fn collect<'a>(value: &'a Value, lines: &mut Vec<&'a str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, lines)),
        Value::Object(fields) if fields.get("type").is_some_and(|kind| kind == "actions") => {}
        Value::Object(fields) => {
            for key in ["title", "text", "description", "name", "value"] {
                lines.extend(fields.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()));
            }
            fields.values().filter(|value| value.is_object() || value.is_array()).for_each(|value| collect(value, lines));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_words_must_be_there_in_any_order_and_case() {
        let words = Words::parse(" Launch  DATE ").unwrap();
        assert!(words.are_in(&["The date of the launch"]) && words.are_in(&["prelaunch", "Update"]));
        assert!(!words.are_in(&["The launch"]) && !words.are_in(&[]));
        assert!(Words::parse(" \n").is_none());
    }

    #[test]
    fn the_texts_of_cards_are_found_and_those_of_buttons_are_not() {
        let card = json!([
            { "title": "Day Report", "description": "All well", "fields": [{ "name": "Call", "value": "up" }], "color": 1 },
            { "type": "section", "text": { "type": "mrkdwn", "text": "Tea" } },
            { "type": "actions", "elements": [{ "type": "button", "value": "work:1", "text": { "text": "Run" } }] },
        ]);
        assert_eq!(collect_text(&card), "Day Report\nAll well\nCall\nup\nTea");
    }
}
