use async_trait::async_trait;
use chrono::{DateTime, Utc};
use reqwest::Url;
use serde_json::Value as Json;

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::web::{Web, render_address};
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

const MOST_BYTES: usize = 1 << 20;

/// Above this, a float cannot represent every integer, so a change of one could be missed.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Unix times above this are milliseconds: in seconds it would be the year 5138.
const MILLISECONDS_FROM: f64 = 1e11;

/// Numbers from a JSON document on the web.
struct HttpJson {
    web: Web,
    url: Url,
    values: Vec<Declared>,
    /// The path of the document's time.
    time: Option<String>,
}

/// A declared number.
struct Declared {
    name: String,
    pointer: String,
    unit: String,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    let url = settings.address("url")?;
    let values = settings.named(
        "values",
        "names with JSON pointers, such as {price: /sol/usd} or {price: {pointer: /sol/usd, unit: $}}",
        parse_declared,
    )?;
    let time = settings.parsed("time", "a JSON pointer, such as /updated_at", |time| parse_pointer(time).map(str::to_owned))?;
    Ok(Box::new(HttpJson { web: sources.web.clone(), url, values, time }))
}

fn parse_declared(name: &str, declared: &Json) -> Option<Declared> {
    let (pointer, unit) = match declared {
        Json::Object(keys) => {
            let known = keys.keys().all(|key| key == "pointer" || key == "unit");
            let unit = keys.get("unit").map_or(Some(""), Json::as_str).filter(|_| known)?;
            (parse_pointer(keys.get("pointer")?)?, unit)
        }
        short => (parse_pointer(short)?, ""),
    };
    (!name.trim().is_empty()).then(|| Declared { name: name.to_owned(), pointer: pointer.to_owned(), unit: unit.to_owned() })
}

fn parse_pointer(pointer: &Json) -> Option<&str> {
    pointer.as_str().filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
}

#[async_trait]
impl Source for HttpJson {
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let page = self.web.get(&self.url, "application/json", MOST_BYTES).await?;
        let document: Json = serde_json::from_slice(&page.bytes).map_err(|error| page.is_no("JSON", &error))?;
        let mut notes = Vec::new();
        let as_of = self.time_of(&document, asked.now, &mut notes);
        let (mut values, mut items) = (Vec::new(), Vec::new());
        for declared in &self.values {
            match declared.look_up(&document, &mut notes) {
                Ok(value) => {
                    items.push(declared.item(&value, as_of));
                    values.push(value);
                }
                Err(reason) => notes.push(format!("{}: {reason}", declared.name)),
            }
        }
        if values.is_empty() {
            return Err(FeedError::Failed(format!("it has no readable values ({})", notes.join("; "))));
        }
        let total = items.len();
        items.truncate(asked.limit);
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(Reading { source: render_address(&self.url), as_of, values, items, total, note, story: Vec::new() })
    }
}

impl HttpJson {
    /// The document's time. If it is missing or invalid, uses the current time and adds a note.
    fn time_of(&self, document: &Json, now: DateTime<Utc>, notes: &mut Vec<String>) -> DateTime<Utc> {
        let Some(pointer) = &self.time else { return now };
        document.pointer(pointer).and_then(parse_time).unwrap_or_else(|| {
            notes.push(format!("no time at {pointer}, so it counts as current"));
            now
        })
    }
}

impl Declared {
    fn look_up(&self, document: &Json, notes: &mut Vec<String>) -> Result<Value, String> {
        let pointer = if self.pointer.is_empty() { "the top" } else { &self.pointer };
        let found = document.pointer(&self.pointer);
        let number = match found {
            None => return Err(format!("there is nothing at {pointer}")),
            Some(Json::Number(number)) => number.as_f64(),
            Some(Json::String(text)) => {
                text.trim().parse().map(Some).map_err(|_| format!("the value at {pointer} is a text, not a number"))?
            }
            Some(other) => return Err(format!("the value at {pointer} is {}, not a number", kind_of(other))),
        };
        let number =
            number.filter(|number| number.abs() <= LARGEST).ok_or_else(|| format!("the number at {pointer} is too large or none"))?;
        if found.is_some_and(Json::is_string) {
            // Many services do this on purpose to avoid rounding, others by mistake.
            notes.push(format!("{} is a number written as text", self.name));
        }
        Ok(Value::new(self.name.clone(), number, self.unit.clone()))
    }

    fn item(&self, value: &Value, at: DateTime<Utc>) -> FeedItem {
        let (what, text, reference) = ("value".into(), value.to_string(), self.pointer.clone());
        FeedItem { at: Some(at), what, by: None, text, reference, values: Vec::new() }
    }
}

fn kind_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// RFC 3339, or Unix time in seconds or milliseconds, as a number or text.
fn parse_time(time: &Json) -> Option<DateTime<Utc>> {
    let unix = match time {
        Json::Number(number) => number.as_f64()?,
        Json::String(text) => match DateTime::parse_from_rfc3339(text.trim()) {
            Ok(time) => return Some(time.to_utc()),
            Err(_) => text.trim().parse().ok()?,
        },
        _ => return None,
    };
    let milliseconds = if unix.abs() < MILLISECONDS_FROM { unix * 1000.0 } else { unix };
    #[expect(clippy::cast_possible_truncation, reason = "parts of a millisecond matter to nobody, and what is out of range is no time")]
    DateTime::from_timestamp_millis(milliseconds as i64).filter(|_| milliseconds.is_finite())
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_read_in_every_usual_form() {
        let noon = Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap();
        let seconds = noon.timestamp();
        for time in [json!("2026-11-21T13:00:00+01:00"), json!(seconds), json!(seconds * 1000), json!(format!(" {seconds} "))] {
            assert_eq!(parse_time(&time), Some(noon), "{time}");
        }
        for no_time in [json!("yesterday"), json!(null), json!(1e300), json!("NaN"), json!("inf"), json!([seconds])] {
            assert_eq!(parse_time(&no_time), None, "{no_time}");
        }
    }

    #[test]
    fn only_what_is_wholly_a_number_of_bearable_size_is_one() {
        let document =
            json!({"n": 12.5, "text": "-3", "ms": "12ms", "nan": "NaN", "inf": "inf", "large": 1e16, "wide": "1e400", "yes": true});
        let look_up = |pointer: &str| {
            let declared = Declared { name: "x".into(), pointer: pointer.into(), unit: "ms".into() };
            declared.look_up(&document, &mut Vec::new()).map(|value| value.to_string())
        };
        assert_eq!(look_up("/n"), Ok("x 12.5 ms".into()));
        assert_eq!(look_up("/text"), Ok("x -3 ms".into()));
        assert_eq!(look_up("/gone"), Err("there is nothing at /gone".into()));
        assert_eq!(look_up("/ms"), Err("the value at /ms is a text, not a number".into()));
        assert_eq!(look_up("/yes"), Err("the value at /yes is true or false, not a number".into()));
        assert_eq!(look_up(""), Err("the value at the top is an object, not a number".into()));
        for pointer in ["/nan", "/inf", "/large", "/wide"] {
            assert_eq!(look_up(pointer), Err(format!("the number at {pointer} is too large or none")));
        }
    }
}
