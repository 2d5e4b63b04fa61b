use serde::Serialize;

use kernel::agent::Prompt;
use kernel::agent::context::{Cleaner, flat_name, new_marker};
use kernel::agent::prompt::Template;

static OPEN_QUESTION: Template = Template::new(include_str!("open_question.md.j2"));

/// Maximum length of the message, of a question and of a line before the message.
const TEXT: usize = 1500;
const QUESTION: usize = 600;
const LINE: usize = 200;

/// What somebody says while questions are open. `before`: who said what before it, in the same place.
pub(crate) struct SaidMeanwhile<'a> {
    pub(crate) author: &'a str,
    pub(crate) text: &'a str,
    pub(crate) before: &'a [(String, String)],
    pub(crate) questions: &'a [String],
}

/// The prompt that asks which open question a message answers.
pub(crate) fn ask_open_question(said: &SaidMeanwhile<'_>) -> Prompt {
    #[derive(Serialize)]
    struct OpenQuestion<'a> {
        marker: &'a str,
        author: String,
        before: String,
        text: String,
        questions: String,
    }
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let before = said.before.iter().map(|(name, line)| format!("{}: {}", flat_name(name), cleaner.line(line, LINE)));
    let questions = (1..).zip(said.questions).map(|(number, question)| format!("{number}. {}", cleaner.line(question, QUESTION)));
    let message = OPEN_QUESTION.render(OpenQuestion {
        marker: &marker,
        author: flat_name(said.author),
        before: before.collect::<Vec<_>>().join("\n"),
        text: cleaner.text(said.text, TEXT),
        questions: questions.collect::<Vec<_>>().join("\n"),
    });
    Prompt { system: String::new(), message, holds_outside: true, remarks: Vec::new() }
}
