use serde::de::{DeserializeOwned, IgnoredAny};

use crate::llm::provider::arguments::read_arguments;
use crate::llm::provider::content::{self, WrittenCall};
use crate::llm::provider::failure::quote;
use crate::llm::{Counted, ModelError, ModelReply, ModelRequest, ToolCall, tokens_of};
use crate::money::TokenUsage;
use crate::text::is_invisible;

/// The most bytes of an answer, including tool arguments. A longer one means that the model is stuck in a loop.
const ANSWER_BYTES: usize = 1 << 20;

/// A partially received answer and its usage.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    provider: &'a str,
    request: &'a ModelRequest,
    text: String,
    calls: Vec<DraftCall>,
    size: usize,
    stop: Option<Stop>,
    /// Why the answer was blocked, in the words of the filter or the model.
    objection: String,
    ended: bool,
    /// The usage that the provider has counted so far.
    usage: TokenUsage,
    /// Tokens of the prompt that were written to the provider's cache.
    cache_written: u64,
    charged: bool,
    /// A space if the text ended with one that was trimmed, so that the next word is a new one.
    gap: &'static str,
    /// The model has thought aloud, in a field of its own or in its text.
    reasoned: bool,
}

/// A partially received tool call. Its arguments arrive as parts of a JSON text.
#[derive(Debug, Default)]
struct DraftCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    /// The token limit was reached.
    Length,
    /// Blocked by the provider, or refused by the model.
    Filtered,
}

impl<'a> Draft<'a> {
    pub(super) fn new(provider: &'a str, request: &'a ModelRequest) -> Self {
        Self {
            provider,
            request,
            text: String::new(),
            calls: Vec::new(),
            size: 0,
            stop: None,
            objection: String::new(),
            ended: false,
            usage: TokenUsage::default(),
            cache_written: 0,
            charged: true,
            gap: "",
            reasoned: false,
        }
    }

    pub(super) fn push_text(&mut self, text: &str) -> Result<(), ModelError> {
        self.text.push_str(text);
        self.grow(text.len())
    }

    /// Reasoning counts for the size, and is not kept.
    pub(super) fn push_reasoning(&mut self, text: &str) -> Result<(), ModelError> {
        self.reasoned |= !text.trim().is_empty();
        self.grow(text.len())
    }

    pub(super) fn has_reasoned(&self) -> bool {
        self.reasoned
    }

    /// Whether nothing of an answer has come.
    pub(super) fn is_untouched(&self) -> bool {
        self.size == 0
    }

    /// Takes as the answer what the model wrote in place of a call that the server expected.
    pub(super) fn take_generated(&mut self, text: &str) -> Result<(), ModelError> {
        self.push_text(text)?;
        self.end();
        Ok(())
    }

    /// Adds a part of the tool call with this index. Id and name come once, arguments in parts. Some local servers give every call the same
    /// index, so a different id starts a new call.
    pub(super) fn push_call(&mut self, index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> Result<(), ModelError> {
        let id = id.unwrap_or_default();
        let begun = self.calls.iter().rposition(|call| call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id));
        let position = begun.unwrap_or_else(|| {
            self.calls.push(DraftCall { index, ..DraftCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[position];
        if !id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(arguments);
        self.grow(arguments.len() + size_of::<DraftCall>())
    }

    fn grow(&mut self, by: usize) -> Result<(), ModelError> {
        self.size += by;
        if self.size > ANSWER_BYTES { Err(self.garbled("the answer is longer than 1 MB")) } else { Ok(()) }
    }

    pub(super) fn stop(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// The answer is blocked. `objection` is a part of the reason, if one is given.
    pub(super) fn block(&mut self, objection: &str) -> Result<(), ModelError> {
        self.stop = Some(Stop::Filtered);
        self.objection.push_str(objection);
        self.grow(objection.len())
    }

    /// Whether the model has finished. Later events only contain token counts.
    pub(super) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The stream has ended. A stream that ends regularly without a stop reason is complete.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.stop.get_or_insert(Stop::Done);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn usage_mut(&mut self) -> &mut TokenUsage {
        &mut self.usage
    }

    pub(super) fn cache_written_mut(&mut self) -> &mut u64 {
        &mut self.cache_written
    }

    /// The provider did not accept the request, so it costs nothing.
    pub(super) fn not_charged(&mut self) {
        self.charged = false;
    }

    /// The tokens used: counted by the provider, or estimated. The prompt counts once it was sent and not refused, because providers may
    /// charge even if no answer arrives.
    pub(super) fn usage(&self) -> TokenUsage {
        if !self.charged {
            return TokenUsage::default();
        }
        let input = if self.usage.input == 0 { self.request.estimate_tokens() } else { self.usage.input };
        let output = if self.has_counted_output() { self.usage.output } else { self.usage.output.max(tokens_of(self.size)) };
        TokenUsage { input, cached: self.usage.cached, output }
    }

    fn has_counted_output(&self) -> bool {
        self.has_stopped() && self.usage.output > 0
    }

    pub(super) fn counted(&self) -> Counted {
        let is_estimate = self.charged && (self.usage.input == 0 || !self.has_counted_output());
        Counted { cache_written: self.cache_written, is_estimate }
    }

    pub(super) fn garbled(&self, reason: impl Into<String>) -> ModelError {
        ModelError::Garbled { provider: self.provider.to_owned(), reason: reason.into() }
    }

    /// Parses the data of an event.
    pub(super) fn parse<T: DeserializeOwned>(&self, json: &str) -> Result<T, ModelError> {
        serde_json::from_str(json).map_err(|error| self.garbled(format!("it is not what the protocol has: {error}")))
    }

    /// Parses a complete response. JSON that ends too early was truncated. Events cannot be, because they have an end marker.
    pub(super) fn parse_whole<T: DeserializeOwned>(&self, json: &str) -> Result<T, ModelError> {
        let cut_off = serde_json::from_str::<IgnoredAny>(json).is_err_and(|error| error.is_eof());
        if cut_off { Err(ModelError::Truncated { provider: self.provider.to_owned() }) } else { self.parse(json) }
    }

    /// The received part of an incomplete answer, for people.
    pub(super) fn take_written(&mut self) -> String {
        let mut text = self.read_content().0;
        if !text.is_empty() {
            text.push_str(self.gap);
        }
        text
    }

    /// The text for people, and the calls that the model wrote into it.
    fn read_content(&mut self) -> (String, Vec<WrittenCall>) {
        let raw = std::mem::take(&mut self.text);
        if raw.ends_with(char::is_whitespace) {
            self.gap = " ";
        }
        let ModelRequest { tools, named_tools, .. } = self.request;
        // Without tools, nothing could execute a call.
        let named = named_tools.iter().filter(|_| !tools.is_empty());
        let content = content::read(&raw, &tools.iter().chain(named).cloned().collect::<Vec<_>>());
        self.reasoned |= content.reasoned;
        self.text.clone_from(&content.text);
        (content.text, content.calls)
    }

    /// Takes the answer if it is complete. Otherwise keeps the partial text.
    pub(super) fn take_reply(&mut self, model: &str) -> Result<ModelReply, ModelError> {
        let provider = self.provider.to_owned();
        match self.stop {
            // A call that is cut off is never carried out.
            None => return Err(ModelError::Truncated { provider }),
            Some(Stop::Length) if !self.calls.is_empty() => return Err(ModelError::Truncated { provider }),
            Some(Stop::Filtered) => {
                let said = Some(quote(&self.objection, None)).filter(|said| !said.is_empty());
                return Err(ModelError::Declined { provider, said });
            }
            Some(Stop::Length | Stop::Done) => {}
        }
        let (usage, counted) = (self.usage(), self.counted());
        let mut calls = self.take_calls()?;
        let (text, written) = self.read_content();
        if calls.is_empty() {
            calls = (0..).zip(written).map(|(number, call)| called(number, call)).collect();
        }
        if calls.is_empty() && !shows_something(&text) {
            return Err(ModelError::Empty { provider });
        }
        if self.stop == Some(Stop::Length) {
            return Err(if calls.is_empty() { ModelError::AtLimit { provider } } else { ModelError::Truncated { provider } });
        }
        Ok(ModelReply { text, calls, usage, counted, provider, model: model.to_owned(), remarks: Vec::new() })
    }

    /// The tool calls. A call of the schema's tool becomes the text of the structured answer. Calls of unknown tools are passed on if tools
    /// were offered; the caller refuses them and the model continues.
    fn take_calls(&mut self) -> Result<Vec<ToolCall>, ModelError> {
        let mut calls = Vec::new();
        for (position, draft) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            if self.request.schema.as_ref().is_some_and(|schema| schema.name == draft.name) {
                self.text = draft.arguments;
            } else if !self.request.tools.is_empty() {
                calls.push(read_call(position, draft));
            } else {
                let name: String = draft.name.chars().take(80).collect();
                return Err(self.garbled(format!("it calls the tool {name:?}, and was offered none")));
            }
        }
        Ok(calls)
    }
}

fn read_call(position: usize, draft: DraftCall) -> ToolCall {
    // Some local servers leave out the id, which results need.
    let id = if draft.id.is_empty() { format!("call_{position}") } else { draft.id };
    ToolCall { id, name: draft.name, arguments: read_arguments(&draft.arguments) }
}

fn called(number: usize, call: WrittenCall) -> ToolCall {
    ToolCall { id: format!("call_{number}"), name: call.name, arguments: call.arguments }
}

/// Whether the text contains an answer. Models that want to say nothing reply with a full stop.
fn shows_something(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !is_invisible(c) && !matches!(c, '.' | '…'))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::llm::{AnswerSchema, ToolSpec};

    fn request() -> ModelRequest {
        let tools = vec![ToolSpec { name: "look".into(), description: String::new(), parameters: Value::Null }];
        let schema = Some(AnswerSchema { name: "plan".into(), schema: Value::Null });
        ModelRequest { system: "x".repeat(400), tools, schema, ..ModelRequest::default() }
    }

    fn said(text: &str, stop: Option<Stop>) -> Result<ModelReply, ModelError> {
        let request = request();
        let mut draft = Draft::new("p", &request);
        draft.push_text(text).expect("short enough");
        draft.stop = stop;
        draft.take_reply("m")
    }

    fn called(name: &str, arguments: &str) -> Result<ModelReply, ModelError> {
        let request = request();
        let mut draft = Draft::new("p", &request);
        draft.push_call(0, None, Some(name), arguments).expect("short enough");
        draft.end();
        draft.take_reply("m")
    }

    #[test]
    fn what_shows_nothing_is_empty() {
        for text in ["", " \n", "\u{200B}\u{2060}", ".", "…", "\u{FEFF} ..."] {
            assert_eq!(said(text, Some(Stop::Done)), Err(ModelError::Empty { provider: "p".into() }), "{text:?}");
        }
        assert_eq!(said(" 👍 ", Some(Stop::Done)).expect("an answer").text, "👍");
    }

    #[test]
    fn an_answer_without_its_end_is_truncated() {
        assert_eq!(said("half of", None), Err(ModelError::Truncated { provider: "p".into() }));
        assert_eq!(said("half of", Some(Stop::Length)), Err(ModelError::AtLimit { provider: "p".into() }));
        assert_eq!(said("<think>half of", Some(Stop::Length)), Err(ModelError::Empty { provider: "p".into() }));
        assert_eq!(said("half of", Some(Stop::Filtered)), Err(ModelError::Declined { provider: "p".into(), said: None }));
    }

    #[test]
    fn arguments_that_cannot_be_read_do_not_lose_the_answer() {
        let reply = called("look", "").expect("a call");
        assert_eq!(reply.calls, [ToolCall { id: "call_0".into(), name: "look".into(), arguments: serde_json::json!({}) }]);
        let other = called("delete_all", "{}").expect("a call, which its caller refuses");
        assert_eq!(other.calls[0].name, "delete_all");
        let spoilt = called("look", "{\"a\":").expect("a call, which is refused with the reason");
        assert_eq!(spoilt.calls[0].arguments, serde_json::json!({"not_json": "{\"a\":"}));
    }

    #[test]
    fn a_call_of_the_schemas_name_is_the_answer() {
        let reply = called("plan", "{\"steps\":1}").expect("an answer");
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("{\"steps\":1}", 0));
    }

    #[test]
    fn tokens_are_estimated_where_the_provider_has_not_counted() {
        let request = ModelRequest { system: "x".repeat(400), ..ModelRequest::default() };
        let mut draft = Draft::new("p", &request);
        draft.push_text("12345678").expect("short enough");
        assert_eq!(draft.usage(), TokenUsage { input: 100, cached: 0, output: 2 });
        assert!(draft.counted().is_estimate);
        *draft.usage_mut() = TokenUsage { input: 90, cached: 40, output: 3 };
        draft.end();
        assert_eq!(draft.usage(), TokenUsage { input: 90, cached: 40, output: 3 });
        assert!(!draft.counted().is_estimate);
        draft.not_charged();
        assert_eq!(draft.usage(), TokenUsage::default());
    }

    #[test]
    fn an_endless_answer_is_given_up() {
        let request = ModelRequest::default();
        let mut draft = Draft::new("p", &request);
        assert!(draft.push_text(&"x".repeat(ANSWER_BYTES)).is_ok());
        assert!(matches!(draft.push_text("x"), Err(ModelError::Garbled { .. })));
    }
}
