//! Renders the prompt templates next to this file, which people can edit (LLM-6).
//!
//! `context` decides what a turn contains. `system.md.j2` starts with the text shared by all personas. It is the same for each prompt of a persona of one
//! [`PromptKind`], so that providers can cache it.

use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::persona::Persona;
use crate::persona::roster::Roster;

static SYSTEM: Template = Template::new(include_str!("system.md.j2"));
static TURN: Template = Template::new(include_str!("turn.md.j2"));

/// A template file.
pub struct Template {
    source: &'static str,
    parsed: OnceLock<Environment<'static>>,
}

impl Template {
    /// `source` is the file's text.
    pub const fn new(source: &'static str) -> Self {
        Self { source, parsed: OnceLock::new() }
    }

    /// Renders the template. A missing value is a bug, which tests detect.
    pub fn render(&self, values: impl Serialize) -> String {
        let template = self.parsed.get_or_init(|| parse(self.source)).get_template(NAME).expect("it was added when it was parsed");
        template.render(Serde(values)).expect("our own templates render our own types").trim().to_owned()
    }
}

/// Each environment contains one template.
const NAME: &str = "prompt";

fn parse(source: &'static str) -> Environment<'static> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters are valid"));
    templates.add_template(NAME, source).expect("our own templates are well formed");
    templates
}

/// What a prompt is for, which decides what its constant part says about the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// An answer in the chat.
    Talk,
    /// A report to a meeting.
    Meeting,
    /// A work item.
    Work,
    /// A plan, a position, a judgement or a document, from its material alone.
    Judgement,
}

#[derive(Serialize)]
struct System<'a> {
    kind: PromptKind,
    team: &'a str,
    members: Vec<Member<'a>>,
    persona: Member<'a>,
    prompt: &'a str,
    /// The names of its skills.
    skills: Vec<&'a str>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    role: &'a str,
    expertise: &'a [String],
    coordinator: bool,
}

/// The values that change with each turn. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub struct Turn<'a> {
    pub marker: &'a str,
    pub now: String,
    pub place: String,
    pub blocks: &'a [Block],
    /// A sentence that says who asks.
    pub asking: String,
    /// None if the question comes from outside and is in a data block.
    pub question: Option<String>,
}

/// A data block of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    pub label: String,
    pub text: String,
}

/// Renders the constant part of a persona's prompts of one kind.
pub fn render_system(team: &str, roster: &Roster, persona: &Persona, kind: PromptKind) -> String {
    let members = roster.personas().iter().map(member).collect();
    let skills = roster.skills_of(persona).map(|skill| skill.name.as_str()).collect();
    SYSTEM.render(System { kind, team, members, persona: member(persona), prompt: persona.prompt.trim(), skills })
}

/// Renders the changing part.
pub fn render_turn(turn: &Turn<'_>) -> String {
    TURN.render(turn)
}

fn member(persona: &Persona) -> Member<'_> {
    Member { name: &persona.name, role: &persona.role, expertise: &persona.expertise, coordinator: persona.coordinator }
}
