//! What the scripted model does, by which item it works on.

use serde_json::{Value as Json, json};

use crate::support::grading::{all_met, is_grading, not_met};
use crate::support::model::{Asked, Script, ScriptedModel};

/// Padding, because a document with too few words is refused.
pub(crate) const MORE: &str =
    " Shop B asks $12 and gives twice the space, which nobody needs here; so shop A is the one to take until the contract ends in spring.";
pub(crate) const DOCUMENT: &str = "# Prices\n\nShop A asks $9 a month and has done so for three years. Shop B asks $12 and gives twice the \
     space, which nobody needs here; so shop A is the one to take until the contract ends in spring.\n";

/// The model's replies for an item, in order.
#[derive(Clone)]
pub(crate) struct Part {
    /// A word that stands only in this item.
    word: String,
    first: Vec<Script>,
    /// In later runs, which are told why the first was not accepted.
    again: Vec<Script>,
}

impl Part {
    pub(crate) fn new(word: &str, replies: Vec<Script>) -> Self {
        Self { word: word.to_owned(), again: replies.clone(), first: replies }
    }

    pub(crate) fn again(mut self, replies: Vec<Script>) -> Self {
        self.again = replies;
        self
    }
}

/// Everything that the model does in a story.
#[derive(Clone)]
pub(crate) struct Play {
    parts: Vec<Part>,
    actions: Json,
    /// Why the grader rejects. None: it accepts.
    rejects: Option<String>,
    /// Nobody knows the answer to a question with this word.
    unknown: Option<String>,
    /// The kind of work that the planner is told.
    kind: &'static str,
}

impl Play {
    /// The reviewer accepts.
    pub(crate) fn of(parts: Vec<Part>) -> Self {
        Self { parts, actions: json!([]), rejects: None, unknown: None, kind: "remind" }
    }

    /// The standup decides this.
    pub(crate) fn actions(mut self, actions: Json) -> Self {
        self.actions = actions;
        self
    }

    pub(crate) fn rejecting(mut self, why: &str) -> Self {
        self.rejects = Some(why.to_owned());
        self
    }

    pub(crate) fn not_knowing(mut self, word: &str) -> Self {
        self.unknown = Some(word.to_owned());
        self
    }

    pub(crate) fn of_kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn perform(self, model: &ScriptedModel) {
        model.on(move |asked| self.answer(asked));
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Script {
        if let Some(schema) = &asked.schema {
            return Script::Json(if schema.to_string().contains("tldr") {
                json!({"tldr": ["All is well."], "actions": self.actions, "lessons": []})
            } else if is_grading(asked) {
                self.rejects.as_deref().map_or_else(|| all_met(asked), |why| not_met(asked, why))
            } else {
                let is_unknown = self.unknown.as_ref().is_some_and(|word| asked.prompt().contains(word));
                json!({"execution": self.kind, "verdict": if is_unknown { "does_not_know" } else { "answers" }})
            });
        }
        if !is_work(asked) {
            let is_unknown = self.unknown.as_ref().is_some_and(|word| asked.prompt().contains(word));
            return Script::say(if is_unknown { "I have no figure for that." } else { "Forty orders a day." });
        }
        let prompt = &asked.messages[0].text;
        let part = self.parts.iter().find(|part| what(asked).contains(&part.word)).unwrap_or_else(|| panic!("nobody plays {prompt}"));
        let replies = if prompt.contains("why the last try was not accepted") { &part.again } else { &part.first };
        replies[asked.tool_results().min(replies.len() - 1)].clone()
    }
}

/// The line of the prompt with the item's title. Other lines may name other items.
pub(crate) fn what(asked: &Asked) -> &str {
    asked.messages[0].text.lines().find(|line| line.starts_with("What: ")).unwrap_or_default()
}

/// Whether somebody works on an item.
pub(crate) fn is_work(asked: &Asked) -> bool {
    asked.tools.iter().any(|tool| tool == "finish")
}

pub(crate) fn fetch(url: &str) -> Script {
    Script::call("fetch_page", json!({"url": url}))
}

pub(crate) fn write(path: &str, text: &str) -> Script {
    Script::call("workspace_write", json!({"path": path, "text": text}))
}

pub(crate) fn finish(file: &str) -> Script {
    Script::call("finish", json!({"summary": "It is written.", "files": [file]}))
}
