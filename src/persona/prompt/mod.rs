//! The prompts: templates in the files beside this one, which a person can read and edit (LLM-6).
//!
//! This folder puts values into templates and nothing else. What goes into a turn, how much of it, and what must be kept apart from
//! the instructions is decided by `context`, for standups by `standup`, and for work items by the executor. `system.md.j2` begins with what is the same for all personas and holds nothing that changes
//! between turns, so that providers' caches hit.

pub(crate) mod standup;
pub(crate) mod work;
pub(crate) mod work_review;

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::domain::persona::Persona;
use crate::domain::roster::Roster;

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters are valid"));
    let sources = [
        ("system", include_str!("system.md.j2")),
        ("turn", include_str!("turn.md.j2")),
        ("standup_report", include_str!("standup_report.md.j2")),
        ("standup_call", include_str!("standup_call.md.j2")),
        ("standup_conclude", include_str!("standup_conclude.md.j2")),
        ("work", include_str!("work.md.j2")),
        ("work_review", include_str!("work_review.md.j2")),
    ];
    for (name, source) in sources {
        templates.add_template(name, source).expect("our own templates are well formed");
    }
    templates
});

#[derive(Serialize)]
struct System<'a> {
    team: &'a str,
    members: Vec<Member<'a>>,
    persona: Member<'a>,
    prompt: &'a str,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    role: &'a str,
    expertise: &'a [String],
    coordinator: bool,
}

/// What changes from turn to turn. All texts are clean already.
#[derive(Debug, Serialize)]
pub(crate) struct Turn<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) place: String,
    pub(crate) blocks: &'a [Block],
    /// Who asks, as a sentence.
    pub(crate) asking: String,
    /// Nothing where the question stands in a block, because it comes from outside.
    pub(crate) question: Option<String>,
}

/// A part of the prompt that is material and no instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) text: String,
}

/// The part that stays the same from turn to turn of a persona.
pub(crate) fn render_system(team: &str, roster: &Roster, persona: &Persona) -> String {
    let members = roster.personas().iter().map(member).collect();
    render("system", System { team, members, persona: member(persona), prompt: persona.prompt.trim() })
}

/// The part that changes.
pub(crate) fn render_turn(turn: &Turn<'_>) -> String {
    render("turn", turn)
}

fn member(persona: &Persona) -> Member<'_> {
    Member { name: &persona.name, role: &persona.role, expertise: &persona.expertise, coordinator: persona.coordinator }
}

fn render(name: &str, values: impl Serialize) -> String {
    let template = TEMPLATES.get_template(name).expect("it was added above");
    // Strict templates fail on a value that is missing, which cannot depend on the values given: the types are fixed.
    let text = template.render(Serde(values)).expect("our own templates render our own types");
    text.trim().to_owned()
}
