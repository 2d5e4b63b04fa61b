//! Embeds.

use serde_json::{Map, Value, json};

use super::{copy_known, parse_list, parse_text};
use crate::rest::errors::ApiError;

const PER_MESSAGE: usize = 10;
/// "The combined sum of characters … across all embeds must not exceed 6000 characters."
const TOTAL: usize = 6_000;
const FIELDS: usize = 25;

pub(crate) fn parse_embeds(value: &Value) -> Result<Vec<Value>, ApiError> {
    let mut total = 0;
    let embeds: Result<Vec<Value>, ApiError> = parse_list(value, "embeds", PER_MESSAGE)?
        .iter()
        .enumerate()
        .map(|(index, embed)| Counted { total: &mut total, path: format!("embeds.{index}") }.parse(embed))
        .collect();
    if total > TOTAL {
        let text = "Embed size exceeds maximum size of 6000";
        return Err(ApiError::invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", text));
    }
    embeds
}

/// Reads one embed and counts its characters.
struct Counted<'a> {
    total: &'a mut usize,
    path: String,
}

impl Counted<'_> {
    fn parse(mut self, embed: &Value) -> Result<Value, ApiError> {
        if !embed.is_object() {
            return Err(ApiError::invalid(&self.path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType"));
        }
        let mut out = Map::from_iter([("type".to_owned(), json!("rich"))]);
        self.copy_text(embed, &mut out, "", "title", 256)?;
        self.copy_text(embed, &mut out, "", "description", 4_096)?;
        out.extend(copy_known(embed, &["url", "color", "timestamp"]));
        if let Some(color) = embed["color"].as_u64().filter(|color| *color > 0xff_ffff) {
            let text = format!("int value should be less than or equal to 16777215, not {color}.");
            return Err(ApiError::invalid(&format!("{}.color", self.path), "NUMBER_TYPE_MAX", &text));
        }
        for (part, text, limit, others) in [
            ("author", "name", 256, &["url", "icon_url"][..]),
            ("footer", "text", 2_048, &["icon_url"]),
            ("image", "", 0, &["url"]),
            ("thumbnail", "", 0, &["url"]),
        ] {
            let given = &embed[part];
            if given.is_object() {
                let mut inner = copy_known(given, others);
                if !text.is_empty() {
                    self.copy_text(given, &mut inner, part, text, limit)?;
                }
                out.insert(part.to_owned(), Value::Object(inner));
            }
        }
        let fields = self.parse_fields(&embed["fields"])?;
        if !fields.is_empty() {
            out.insert("fields".to_owned(), Value::Array(fields));
        }
        Ok(Value::Object(out))
    }

    fn parse_fields(&mut self, fields: &Value) -> Result<Vec<Value>, ApiError> {
        let mut out = Vec::new();
        for (index, field) in parse_list(fields, &format!("{}.fields", self.path), FIELDS)?.iter().enumerate() {
            let part = format!("fields.{index}");
            let mut inner = Map::new();
            for (key, limit) in [("name", 256), ("value", 1_024)] {
                self.copy_text(field, &mut inner, &part, key, limit)?;
                if !inner.contains_key(key) {
                    return Err(ApiError::required(&format!("{}.{part}.{key}", self.path)));
                }
            }
            inner.insert("inline".to_owned(), json!(field["inline"].as_bool().unwrap_or(false)));
            out.push(Value::Object(inner));
        }
        Ok(out)
    }

    fn copy_text(&mut self, from: &Value, to: &mut Map<String, Value>, part: &str, key: &str, max: usize) -> Result<(), ApiError> {
        let path = [self.path.as_str(), part, key].into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(".");
        if let Some(text) = parse_text(&from[key], &path, max)? {
            *self.total += text.chars().count();
            to.insert(key.to_owned(), Value::String(text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_embeds_are_kept() {
        let long = |n: usize| "x".repeat(n);
        for (embeds, ok) in [
            (json!([{ "title": long(256), "description": long(4_096) }]), true),
            (json!([{ "title": long(257) }]), false),
            (json!([{ "description": long(4_097) }]), false),
            (json!([{ "description": long(3_001) }, { "description": long(3_000) }]), false),
            (json!(vec![json!({ "title": "t" }); 11]), false),
            (json!([{ "fields": [{ "name": "n" }] }]), false),
            (json!([{ "fields": vec![json!({ "name": "n", "value": "v" }); 26] }]), false),
            (json!([{ "color": 0x0100_0000 }]), false),
            (json!(["x"]), false),
            (json!({}), false),
        ] {
            assert_eq!(parse_embeds(&embeds).is_ok(), ok, "{:.80}", embeds.to_string());
        }
    }

    #[test]
    fn unknown_keys_are_not_echoed() {
        let read = parse_embeds(&json!([{ "title": "t", "video": 1, "footer": { "text": "f", "x": 1 } }])).expect("valid");
        assert_eq!(read, [json!({ "type": "rich", "title": "t", "footer": { "text": "f" } })]);
    }
}
