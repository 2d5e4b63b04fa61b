//! The scripted model's answers in a standup, by persona and request.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::support::model::{Asked, Script, ScriptedModel};

/// The kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Report,
    Call,
    Conclusion,
    /// Any other question.
    Talk,
}

impl Part {
    pub(super) fn of(asked: &Asked) -> Self {
        let prompt = asked.prompt();
        if asked.system.contains("You sort the tasks") {
            // The backlog asks how an action is executed.
            Self::Talk
        } else if prompt.contains("## The essential question") && prompt.contains("## Your call") {
            Self::Call
        } else if prompt.contains("## Your report") {
            Self::Report
        } else if asked.schema.is_some() {
            Self::Conclusion
        } else {
            Self::Talk
        }
    }
}

/// The name of the addressed persona.
pub(super) fn who(asked: &Asked) -> &'static str {
    let names = ["Kelly", "Echo", "Eliza", "Oracle", "Sentinel", "Solus", "Vince"];
    names.into_iter().find(|name| asked.system.contains(&format!("You are {name}"))).unwrap_or("nobody")
}

/// The answers of a standup. A persona without an answer has nothing to report.
#[derive(Clone)]
pub(super) struct Cast {
    reports: HashMap<&'static str, Script>,
    call: Script,
    conclusion: Script,
    talk: Script,
}

impl Default for Cast {
    fn default() -> Self {
        Self {
            reports: HashMap::new(),
            call: Script::Json(json!({"answer": "yes", "confidence": 0.7, "reason": "The last five days would do."})),
            conclusion: conclusion(&["All is well."], json!([]), json!([])),
            talk: Script::say("Here I am."),
        }
    }
}

impl Cast {
    pub(super) fn report(mut self, name: &'static str, script: Script) -> Self {
        self.reports.insert(name, script);
        self
    }

    pub(super) fn call(mut self, script: Script) -> Self {
        self.call = script;
        self
    }

    pub(super) fn conclusion(mut self, script: Script) -> Self {
        self.conclusion = script;
        self
    }

    pub(super) fn talk(mut self, script: Script) -> Self {
        self.talk = script;
        self
    }

    /// Uses these answers from now on.
    pub(super) fn perform(self, model: &ScriptedModel) {
        model.on(move |asked| self.answer(asked));
    }

    pub(super) fn answer(&self, asked: &Asked) -> Script {
        match Part::of(asked) {
            Part::Report => self.reports.get(who(asked)).cloned().unwrap_or_else(|| Script::say("Nothing to report.")),
            Part::Call => self.call.clone(),
            Part::Conclusion => self.conclusion.clone(),
            Part::Talk => self.talk.clone(),
        }
    }
}

pub(super) fn conclusion(tldr: &[&str], actions: Json, lessons: Json) -> Script {
    let said = [("tldr", json!(tldr)), ("actions", actions), ("lessons", lessons)];
    Script::Json(said.into_iter().map(|(part, value)| (part.to_owned(), value)).collect::<Json>())
}

/// A report with one signal.
pub(super) fn claiming(text: &str, subject: &str, direction: &str, confidence: f64, feed: &str, value: &str) -> Script {
    let evidence = json!({"feed": feed, "value": value});
    let signals = json!([{"subject": subject, "direction": direction, "confidence": confidence, "evidence": evidence}]);
    Script::say(format!("{text}\n\n```signals\n{signals}\n```"))
}

/// The prompt of a persona's latest report.
pub(super) fn find_prompt(model: &ScriptedModel, part: Part, name: &str) -> Option<String> {
    model.requests().iter().rev().find(|asked| Part::of(asked) == part && who(asked) == name).map(Asked::prompt)
}
