//! The prompts: templates in the files beside this one, which a person can read and edit (LLM-6).
//!
//! This folder puts values into templates and nothing else. What goes into a turn, how much of it, and what must be kept apart from
//! the instructions is decided by `context`, for standups by `standup`, and for work items by the executor. `system.md.j2` begins with what is the same for all personas and holds nothing that changes
//! between turns, so that providers' caches hit.

use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::persona::Persona;
use crate::persona::roster::Roster;

static SYSTEM: Template = Template::new(include_str!("system.md.j2"));
static TURN: Template = Template::new(include_str!("turn.md.j2"));

/// A template in a file of ours.
pub struct Template {
    source: &'static str,
    parsed: OnceLock<Environment<'static>>,
}

impl Template {
    /// `source` is the text of the file.
    pub const fn new(source: &'static str) -> Self {
        Self { source, parsed: OnceLock::new() }
    }

    /// The text with `values` in it. A value that is missing is a fault of the program, and tests show it.
    pub fn render(&self, values: impl Serialize) -> String {
        let template = self.parsed.get_or_init(|| parse(self.source)).get_template(NAME).expect("it was added when it was parsed");
        template.render(Serde(values)).expect("our own templates render our own types").trim().to_owned()
    }
}

/// Each environment holds one template.
const NAME: &str = "prompt";

fn parse(source: &'static str) -> Environment<'static> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters are valid"));
    templates.add_template(NAME, source).expect("our own templates are well formed");
    templates
}

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
pub struct Turn<'a> {
    pub marker: &'a str,
    pub now: String,
    pub place: String,
    pub blocks: &'a [Block],
    /// Who asks, as a sentence.
    pub asking: String,
    /// Nothing where the question stands in a block, because it comes from outside.
    pub question: Option<String>,
}

/// A part of the prompt that is material and no instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    pub label: String,
    pub text: String,
}

/// The part that stays the same from turn to turn of a persona.
pub fn render_system(team: &str, roster: &Roster, persona: &Persona) -> String {
    let members = roster.personas().iter().map(member).collect();
    SYSTEM.render(System { team, members, persona: member(persona), prompt: persona.prompt.trim() })
}

/// The part that changes.
pub fn render_turn(turn: &Turn<'_>) -> String {
    TURN.render(turn)
}

fn member(persona: &Persona) -> Member<'_> {
    Member { name: &persona.name, role: &persona.role, expertise: &persona.expertise, coordinator: persona.coordinator }
}
