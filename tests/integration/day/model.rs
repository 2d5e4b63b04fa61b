//! A model that answers from its prompt: it says the facts that stand there, and names those that do not.

use serde_json::{Value as Json, json};

use super::data::{Fact, Situation};
use super::purpose::Purpose;
use crate::backlog::part::{finish, write};
use crate::mission::stage::step;
use crate::support::grading::{all_met, not_met};
use crate::support::model::{Asked, Script};

/// Begins the name of a fact that the prompt lacks.
pub(super) const LACKS: &str = "I was not given: ";

/// Text that counts as a document.
const BODY: &str = "Each of these points stands where the task has it, in the order in which it was asked for, with its source named beside it; \
     nothing was added that the material does not say, and nothing that it does say was left out on the way to this page.";

pub(super) fn is_looked_at(situation: &Situation, asked: &Asked) -> bool {
    Purpose::of(asked) == situation.look && text_of(asked).contains(&situation.about)
}

/// Everything that the model is given as text.
pub(super) fn text_of(asked: &Asked) -> String {
    format!("{}\n{}", asked.system, asked.prompt())
}

/// The facts of a situation as far as the prompt has them. A missing one is named by its number, because these words may be in a later prompt.
fn told(situation: &Situation, asked: &Asked) -> String {
    let text = text_of(asked);
    let line = |(number, fact): (usize, &Fact)| match fact.find(&text) {
        Some(words) => format!("It says {words}."),
        None => format!("{LACKS}number {number}."),
    };
    (1..).zip(&situation.needs).map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn answer(situation: &mut Situation, asked: &Asked) -> Script {
    let purpose = Purpose::of(asked);
    let is_looked_at = is_looked_at(situation, asked);
    let done = asked.tool_results();
    if let Some(call) = situation.calls.get(&purpose).and_then(|calls| calls.get(done)) {
        return Script::call(&call.tool, call.arguments.clone());
    }
    if let Some(missing) = situation.sends_back.take_if(|_| purpose == Purpose::Review) {
        return Script::Json(not_met(asked, &missing));
    }
    if let Some(given) = situation.answers.get(&purpose) {
        return given.as_str().map_or_else(|| Script::Json(given.clone()), Script::say);
    }
    let says = if is_looked_at { told(situation, asked) } else { "Nothing to add.".to_owned() };
    match purpose {
        Purpose::Chat | Purpose::Colleague => Script::say(says),
        Purpose::Report => Script::say(format!("{says}\n```signals\n[]\n```")),
        Purpose::Span => Script::say("They talked."),
        Purpose::Work if is_without_result(asked) => write("result.md", &format!("# Result\n\n{says}\n\n{BODY}\n")),
        Purpose::Work => finish("result.md"),
        _ => Script::Json(structured(purpose, asked, &says)),
    }
}

/// Whether nothing was written in this run, or something was said to it since.
fn is_without_result(asked: &Asked) -> bool {
    let last = asked.messages.iter().rposition(|said| said.text.contains("workspace_write\"("));
    last.is_none_or(|last| asked.messages[last..].iter().any(|said| said.text.contains("was changed while you work on it")))
}

fn structured(purpose: Purpose, asked: &Asked, says: &str) -> Json {
    match purpose {
        Purpose::Claims => json!({"acts": []}),
        Purpose::ForWhom => json!({"wants_an_assistant": false, "why": "It is talk."}),
        Purpose::Prepare => json!({"execution": "write", "criteria": ["It has each point", "It can be used as it stands"]}),
        Purpose::Questions => json!({"questions": ["What is it?"]}),
        Purpose::Critique | Purpose::Review => all_met(asked),
        Purpose::AnswerCheck => json!({"verdict": "answers"}),
        Purpose::Classify => json!({"kind": "question", "confidence": 0.9, "why": "They want to know.", "title": "A question"}),
        Purpose::Understand => json!({"title": "A plan", "given": [says], "to_find_out": [], "assumed": []}),
        Purpose::Plan => json!({
            "criteria": ["Every part is served"], "left_out": [],
            "steps": [step("all", "Write it all down", "eliza", &[], &["1"])],
        }),
        Purpose::Feasible => json!({"doubts": []}),
        Purpose::Wish => json!({"kind": "other", "confidence": 0.9, "why": "It is talk."}),
        Purpose::Change => json!({"why": "Nothing has to change."}),
        Purpose::Replan => json!({"possible": false, "why": "Nothing else is known."}),
        Purpose::Restate => {
            json!({"question": "What shall we do about it?", "constraints": [], "answered_by": "Yes or no, with a reason."})
        }
        Purpose::Turn => json!({
            "side": "yes", "position": says, "confidence": 0.7, "would_change": "a measurement", "comments": [],
        }),
        Purpose::Document => json!({
            "title": "What we do", "summary": says, "sections": [], "minority": "", "open_questions": [], "actions": [],
        }),
        Purpose::Call => json!({"answer": "yes", "confidence": 0.7, "reason": says}),
        Purpose::Conclude => json!({"tldr": [says], "actions": [], "lessons": []}),
        Purpose::Look => json!({"insights": []}),
        _ => json!({}),
    }
}
