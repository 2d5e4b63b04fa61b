//! What those at work on a mission tell each other, and the rules for it (OVER-8).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::features::backlog::model::JournalEntry;
use kernel::ids::PersonaSlug;
use kernel::llm::{ToolCall, ToolSpec};
use kernel::persona::roster::Roster;
use kernel::text::{one_line, without_invisible};
use kernel::tools::CallStatus;

/// The name of the tool that sends a message.
pub const TOOL: &str = "message_colleague";

/// The most messages of one run of a step.
const MOST: usize = 3;

/// The most characters of a message.
const TEXT: usize = 1500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// The receiver answers at once.
    Question,
    /// Something that the others should know: a fault, a contradiction, a risk.
    Flag,
    Suggestion,
    /// Something that the receiver's next step needs.
    HandOver,
}

impl MessageKind {
    const ALL: [Self; 4] = [Self::Question, Self::Flag, Self::Suggestion, Self::HandOver];

    /// For people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Flag => "flag",
            Self::Suggestion => "suggestion",
            Self::HandOver => "hand-over",
        }
    }
}

/// A message of a persona at work on a step to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColleagueMessage {
    pub from: PersonaSlug,
    pub to: PersonaSlug,
    pub kind: MessageKind,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    to: String,
    kind: MessageKind,
    text: String,
}

pub fn spec(sender: &PersonaSlug, roster: &Roster) -> ToolSpec {
    let names: Vec<&str> =
        roster.personas().iter().filter(|persona| persona.slug != *sender).map(|persona| persona.name.as_str()).collect();
    ToolSpec {
        name: TOOL.into(),
        description: format!(
            "Sends a message to a colleague on this mission. Use it only for what your own material does not tell you, at most {MOST} times. \
             question: you get the answer at once. flag: something that others should know, such as a fault or a contradiction. suggestion: \
             what could be done in another way. hand_over: what the colleague's next step needs from you."
        ),
        parameters: json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "enum": names},
                "kind": {"type": "string", "enum": MessageKind::ALL},
                "text": {
                    "type": "string",
                    "description": format!("The whole message, at most {TEXT} characters. The colleague does not see your files."),
                },
            },
            "required": ["to", "kind", "text"],
            "additionalProperties": false,
        }),
    }
}

/// Reads a call of the tool. `earlier`: what the run has sent before.
///
/// # Errors
/// Why it is not sent, and what to do, as a sentence for the sender.
pub fn read(arguments: &Value, sender: &PersonaSlug, roster: &Roster, earlier: &[ColleagueMessage]) -> Result<ColleagueMessage, String> {
    let Arguments { to, kind, text } =
        Arguments::deserialize(arguments).map_err(|error| format!("Not sent: {error}. The arguments are `to`, `kind` and `text`."))?;
    let to = roster.resolve(&to).map_err(|unknown| format!("Not sent: {unknown}."))?;
    let text = without_invisible(&text).trim().to_owned();
    if to.slug == *sender {
        return Err("Not sent: that is you. Name a colleague, or go on with what you know.".into());
    }
    if text.is_empty() {
        return Err("Not sent: the text is empty. Say the whole thing.".into());
    }
    if text.chars().count() > TEXT {
        return Err(format!("Not sent: the text is longer than {TEXT} characters. Say it shorter."));
    }
    let is_same = |other: &ColleagueMessage| other.to == to.slug && one_line(&other.text, TEXT) == one_line(&text, TEXT);
    if earlier.iter().any(is_same) {
        return Err(format!("Not sent: {} has this message already. Go on with what came of it.", to.name));
    }
    if earlier.len() >= MOST {
        return Err(format!("Not sent: one run sends at most {MOST} messages. Go on with an assumption, and say so in the result."));
    }
    Ok(ColleagueMessage { from: sender.clone(), to: to.slug.clone(), kind, text })
}

/// What a run has sent, by its journal.
pub fn list_sent(journal: &[JournalEntry], sender: &PersonaSlug, roster: &Roster) -> Vec<ColleagueMessage> {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    let mut sent = Vec::new();
    for entry in journal {
        match entry {
            JournalEntry::Replied { calls: made, .. } => {
                calls.extend(made.iter().filter(|call| call.name == TOOL).map(|call| (call.id.as_str(), call)));
            }
            JournalEntry::Returned { call, status: CallStatus::Ok, .. } => {
                sent.extend(calls.get(call.as_str()).and_then(|call| read(&call.arguments, sender, roster, &[]).ok()));
            }
            _ => {}
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::persona::roster;

    fn refusal(arguments: &Value, earlier: &[ColleagueMessage]) -> String {
        read(arguments, &"vince".into(), &roster(), earlier).expect_err("it is refused")
    }

    fn message(to: &str, text: &str) -> Value {
        json!({"to": to, "kind": "flag", "text": text})
    }

    #[test]
    fn a_message_names_a_colleague_and_says_something_new() {
        let sent = read(&message("kelly", " The sums differ. "), &"vince".into(), &roster(), &[]).expect("it is sent");
        assert_eq!((sent.to.as_str(), sent.kind, sent.text.as_str()), ("kelly", MessageKind::Flag, "The sums differ."));
        for (arguments, why) in [
            (message("Zaphod", "Hello"), "nobody on the team is called \"Zaphod\""),
            (message("vince", "Hello"), "that is you"),
            (message("kelly", " \u{200B}\n"), "the text is empty"),
            (message("kelly", &"x".repeat(TEXT + 1)), "longer than 1500 characters"),
            (json!({"to": "kelly", "kind": "shout", "text": "Hello"}), "unknown variant `shout`"),
        ] {
            assert!(refusal(&arguments, &[]).contains(why), "{}", refusal(&arguments, &[]));
        }
        assert!(refusal(&message("kelly", "The  sums differ."), std::slice::from_ref(&sent)).contains("has this message already"));
        let earlier = vec![sent; MOST];
        assert!(refusal(&message("kelly", "Something else."), &earlier).contains("at most 3 messages"));
    }

    #[test]
    fn only_what_was_sent_counts() {
        let call = |id: &str, text: &str| ToolCall { id: id.into(), name: TOOL.into(), arguments: message("kelly", text) };
        let returned =
            |call: &str, status| JournalEntry::Returned { call: call.into(), text: String::new(), outside: false, status, trace: None };
        let journal = [
            JournalEntry::Replied {
                text: String::new(),
                calls: vec![call("a", "One."), call("b", "Two."), call("c", "Three.")],
                model: String::new(),
            },
            returned("a", CallStatus::Ok),
            returned("b", CallStatus::Refused),
        ];
        let sent = list_sent(&journal, &"vince".into(), &roster());
        assert_eq!(sent.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["One."]);
    }
}
