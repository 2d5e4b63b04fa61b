//! What an endpoint refuses, found out by its errors and remembered as long as the process runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::llm::{ModelMessage, ModelRequest, TOOLLESS};

/// The feature that is missing at an endpoint without tools, for people.
pub(in crate::llm) const TOOL_CALLS: &str = "tool calls";

/// A part of a request that not every endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// All pictures that are not known to be refused. They are left out of one request, and never learnt as something that the endpoint lacks.
    Pictures,
    Tools,
    Schema,
    /// `max_tokens`, or `max_completion_tokens` in its place.
    Limit,
    StreamOptions,
    Stream,
    /// Several messages of one side in a row.
    RepeatedRole,
    SystemRole,
}

impl Part {
    pub(super) const ALL: [Self; 8] =
        [Self::Pictures, Self::Tools, Self::Schema, Self::Limit, Self::StreamOptions, Self::Stream, Self::RepeatedRole, Self::SystemRole];

    /// What the endpoint lacks, for people. None: nobody notices.
    fn lack(self) -> Option<&'static str> {
        match self {
            Self::Tools => Some(TOOL_CALLS),
            Self::Schema => Some("JSON schemas"),
            Self::Stream => Some("streaming"),
            Self::SystemRole => Some("a system role"),
            Self::RepeatedRole => Some("messages of one side in a row"),
            Self::Pictures | Self::Limit | Self::StreamOptions => None,
        }
    }

    /// Whether a request contains this part.
    fn is_in(self, request: &ModelRequest) -> bool {
        let messages = &request.messages;
        match self {
            Self::Pictures => !request.pictures.is_empty(),
            Self::Tools => !request.tools.is_empty(),
            Self::Schema => request.schema.is_some(),
            Self::SystemRole => !request.system.is_empty(),
            Self::RepeatedRole => messages.windows(2).any(|pair| !is_assistant(&pair[0]) && matches!(pair[1], ModelMessage::User(_))),
            Self::Limit | Self::StreamOptions | Self::Stream => true,
        }
    }
}

/// The parts to leave out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Without(Vec<Part>);

impl Without {
    pub(super) fn has(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    pub(super) fn add(&mut self, part: Part) {
        self.0.push(part);
    }

    pub(super) fn remove(&mut self, part: Part) {
        self.0.retain(|known| *known != part);
    }

    pub(super) fn last(&self) -> Option<Part> {
        self.0.last().copied()
    }

    /// What could still be left out of a request.
    pub(super) fn rest(&self, request: &ModelRequest) -> Vec<Part> {
        Part::ALL.into_iter().filter(|part| !self.has(*part) && part.is_in(request)).collect()
    }
}

/// What the process has learnt about an endpoint's model.
#[derive(Debug, Default)]
pub(super) struct Quirks {
    without: Mutex<Without>,
    /// The model thinks aloud, which counts as a part of its answer.
    reasons: AtomicBool,
    /// An error that named nothing was not explained by tools or a schema either.
    is_guessed: AtomicBool,
    /// The context window that an error named. 0: none.
    window: AtomicUsize,
}

/// The tokens for thinking, besides those of the answer.
const REASONING_TOKENS: u32 = 4000;

impl Quirks {
    pub(super) fn without(&self) -> Without {
        self.without.lock().expect("no code panics while it holds the lock").clone()
    }

    /// The endpoint has accepted a request without these parts.
    pub(super) fn learn(&self, without: &Without) {
        let mut known = self.without.lock().expect("no code panics while it holds the lock");
        for part in without.0.iter().filter(|part| **part != Part::Pictures) {
            if !known.has(*part) {
                known.add(*part);
            }
        }
    }

    pub(super) fn learn_that_it_reasons(&self) {
        self.reasons.store(true, Ordering::Relaxed);
    }

    /// Whether to look for the part behind an error that names none. Once is enough.
    pub(super) fn may_guess(&self) -> bool {
        !self.is_guessed.load(Ordering::Relaxed)
    }

    pub(super) fn give_up_guessing(&self) {
        self.is_guessed.store(true, Ordering::Relaxed);
    }

    pub(super) fn learn_window(&self, tokens: usize) {
        self.window.store(tokens, Ordering::Relaxed);
    }

    pub(super) fn window(&self) -> Option<usize> {
        Some(self.window.load(Ordering::Relaxed)).filter(|window| *window > 0)
    }

    pub(super) fn room_for(&self, answer: u32) -> u32 {
        if self.reasons.load(Ordering::Relaxed) { answer.saturating_add(REASONING_TOKENS) } else { answer }
    }

    pub(super) fn lacks(&self) -> Vec<&'static str> {
        let mut without = self.without().0;
        without.sort_unstable();
        without.into_iter().filter_map(Part::lack).collect()
    }
}

/// The request without these parts, as far as they belong to every protocol.
pub(super) fn adapt(request: &ModelRequest, without: &Without) -> ModelRequest {
    let mut adapted = if without.has(Part::Pictures) { request.without_pictures(|_| true) } else { request.clone() };
    if without.has(Part::Schema) {
        // The prompt describes the schema too.
        adapted.schema = None;
    }
    if without.has(Part::Tools) && !request.tools.is_empty() {
        adapted.tools = Vec::new();
        adapted.messages = adapted.messages.into_iter().map(in_plain_words).collect();
        add_to_last(&mut adapted.messages, TOOLLESS);
    }
    if without.has(Part::SystemRole) && !request.system.is_empty() {
        let system = std::mem::take(&mut adapted.system);
        match adapted.messages.first_mut() {
            Some(ModelMessage::User(text)) => *text = format!("{system}\n\n{text}"),
            _ => adapted.messages.insert(0, ModelMessage::User(system)),
        }
    }
    if without.has(Part::RepeatedRole) || without.has(Part::Tools) {
        adapted.messages = joined(adapted.messages);
    }
    adapted
}

fn is_assistant(message: &ModelMessage) -> bool {
    matches!(message, ModelMessage::Assistant { .. })
}

/// Calls and results, which a model without tools could not read.
fn in_plain_words(message: ModelMessage) -> ModelMessage {
    match message {
        ModelMessage::Assistant { text, calls } => {
            let called = calls.iter().map(|call| format!("(I called {}: {})", call.name, call.arguments));
            let text = std::iter::once(text).chain(called).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
            ModelMessage::Assistant { text, calls: Vec::new() }
        }
        ModelMessage::ToolResult { text, .. } => ModelMessage::User(text),
        user @ ModelMessage::User(_) => user,
    }
}

fn add_to_last(messages: &mut Vec<ModelMessage>, note: &str) {
    match messages.last_mut() {
        Some(ModelMessage::User(text)) => {
            text.push_str("\n\n");
            text.push_str(note);
        }
        _ => messages.push(ModelMessage::User(note.to_owned())),
    }
}

/// Joins consecutive messages of one side. A message after tool results becomes a part of the last result.
fn joined(messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    let mut joined: Vec<ModelMessage> = Vec::new();
    for message in messages {
        match (joined.last_mut(), message) {
            (Some(ModelMessage::User(before) | ModelMessage::ToolResult { text: before, .. }), ModelMessage::User(text)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (Some(ModelMessage::Assistant { text: before, calls }), ModelMessage::Assistant { text, calls: more }) if calls.is_empty() => {
                before.push_str("\n\n");
                before.push_str(&text);
                *calls = more;
            }
            (_, message) => joined.push(message),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::{ToolCall, ToolSpec};

    fn user(text: &str) -> ModelMessage {
        ModelMessage::User(text.into())
    }

    fn request() -> ModelRequest {
        let call = ToolCall { id: "c1".into(), name: "look".into(), arguments: json!({"at": "log"}) };
        ModelRequest {
            system: "Be short.".into(),
            messages: vec![
                user("Hello"),
                user("As JSON."),
                ModelMessage::Assistant { text: String::new(), calls: vec![call] },
                ModelMessage::ToolResult { call: "c1".into(), text: "three lines".into() },
                user("Last reply."),
            ],
            tools: vec![ToolSpec { name: "look".into(), description: String::new(), parameters: json!({}) }],
            ..ModelRequest::default()
        }
    }

    fn without(parts: &[Part]) -> Without {
        Without(parts.to_vec())
    }

    #[test]
    fn without_tools_calls_and_results_are_words() {
        let adapted = adapt(&request(), &without(&[Part::Tools]));
        let called = ModelMessage::Assistant { text: "(I called look: {\"at\":\"log\"})".into(), calls: Vec::new() };
        let last = format!("three lines\n\nLast reply.\n\n{TOOLLESS}");
        assert_eq!((adapted.tools.len(), adapted.messages), (0, vec![user("Hello\n\nAs JSON."), called, user(&last)]));
        let plain = ModelRequest { tools: Vec::new(), ..request() };
        assert_eq!(adapt(&plain, &without(&[Part::Schema])), plain, "what is not there is not missed");
    }

    #[test]
    fn without_a_system_role_and_repeated_roles_the_sides_alternate() {
        let adapted = adapt(&request(), &without(&[Part::SystemRole, Part::RepeatedRole]));
        assert_eq!(adapted.system, "");
        assert_eq!(adapted.messages[0], user("Be short.\n\nHello\n\nAs JSON."));
        assert_eq!(adapted.messages[2], ModelMessage::ToolResult { call: "c1".into(), text: "three lines\n\nLast reply.".into() });
        assert_eq!(adapted.messages.len(), 3);
    }

    #[test]
    fn what_is_lacking_is_told_once_and_in_order() {
        let quirks = Quirks::default();
        for parts in [&[Part::Schema, Part::Limit][..], &[Part::Tools, Part::Schema]] {
            quirks.learn(&without(parts));
        }
        assert_eq!(quirks.lacks(), ["tool calls", "JSON schemas"]);
        assert_eq!(quirks.without().rest(&request()), [Part::StreamOptions, Part::Stream, Part::RepeatedRole, Part::SystemRole]);
    }
}
