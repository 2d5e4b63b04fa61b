//! Renders the prompt templates next to this file, which people can edit (LLM-6).
//!
//! `context` decides what a turn contains. `system.md.j2` starts with the text shared by all personas and contains nothing that changes
//! between turns, so that providers can cache it.

use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::persona::Persona;
use crate::persona::roster::Roster;
use crate::persona::skill::Skill;

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

#[derive(Serialize)]
struct System<'a> {
    team: &'a str,
    members: Vec<Member<'a>>,
    persona: Member<'a>,
    prompt: &'a str,
    skills: Vec<ShortSkill<'a>>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    role: &'a str,
    expertise: &'a [String],
    coordinator: bool,
}

#[derive(Serialize)]
struct ShortSkill<'a> {
    name: &'a str,
    summary: &'a str,
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

/// Renders the constant part of a persona's prompt.
pub fn render_system(team: &str, roster: &Roster, persona: &Persona) -> String {
    let members = roster.personas().iter().map(member).collect();
    let skills = roster.skills_of(persona).map(|Skill { name, summary, .. }| ShortSkill { name, summary }).collect();
    SYSTEM.render(System { team, members, persona: member(persona), prompt: persona.prompt.trim(), skills })
}

/// Renders the changing part.
pub fn render_turn(turn: &Turn<'_>) -> String {
    TURN.render(turn)
}

fn member(persona: &Persona) -> Member<'_> {
    Member { name: &persona.name, role: &persona.role, expertise: &persona.expertise, coordinator: persona.coordinator }
}
