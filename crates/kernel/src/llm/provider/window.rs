//! The context window of a model, as its endpoint lists it or as an error names it.

use std::time::Duration;

use serde_json::Value;

/// A list that takes longer is not waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Where servers say it: vLLM; `OpenRouter` and Together; Groq; LM Studio; Gemini.
const FIELDS: [&str; 5] = ["max_model_len", "context_length", "context_window", "max_context_length", "inputTokenLimit"];

/// A smaller number is something else.
const LEAST: u64 = 1024;

/// The words before the number of tokens in an error: `OpenAI` and vLLM, LM Studio, Anthropic.
const WORDS: [&str; 4] = ["maximum context length", "context length of", "context window of", "tokens >"];

/// The window of a model in an endpoint's list of models.
pub(super) fn find(listed: &Value, model: &str) -> Option<usize> {
    let entry = listed.get("data")?.as_array()?.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model))?;
    read_tokens(FIELDS.iter().find_map(|field| entry.get(field)?.as_u64())?)
}

/// The window that an error names in words.
pub(super) fn find_in_words(message: &str) -> Option<u64> {
    let said = message.to_lowercase();
    let after = WORDS.iter().find_map(|words| said.split_once(words))?.1;
    let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split(|c: char| !(c.is_ascii_digit() || c == ',')).next()?.replace(',', "").parse().ok()
}

pub(super) fn read_tokens(tokens: u64) -> Option<usize> {
    usize::try_from(tokens).ok().filter(|_| tokens >= LEAST)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_window_is_found_where_servers_say_it() {
        let listed = json!({"data": [
            {"id": "other", "max_model_len": 4096},
            {"id": "org/qwen", "object": "model", "max_model_len": 32_768},
            {"id": "groq", "context_window": 131_072},
            {"id": "odd", "context_length": 8},
            {"id": "silent"},
        ]});
        let found = ["org/qwen", "groq", "odd", "silent", "missing"].map(|model| find(&listed, model));
        assert_eq!(found, [Some(32_768), Some(131_072), None, None, None]);
        assert_eq!(find(&json!({"error": "no"}), "groq"), None);
    }
}
