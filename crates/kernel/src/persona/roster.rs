use std::collections::HashMap;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::ids::{PersonaSlug, UserId};
use crate::persona::Persona;
use crate::persona::skill::Skill;
use crate::text::fold_name;
use crate::time::{Today, show_time};

/// The team: its personas, sorted by slug, their skills, the experts who may be guests of a meeting, and the zone in which people read its times.
#[derive(Debug, Clone)]
pub struct Roster {
    personas: Vec<Persona>,
    coordinator: usize,
    skills: Vec<Skill>,
    experts: Vec<Persona>,
    faults: Vec<String>,
    zone: Tz,
}

/// Why personas do not form a roster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    #[error("no persona file could be loaded")]
    Empty,
    #[error("no persona is the coordinator. Set `coordinator: true` in one file")]
    NoCoordinator,
    #[error("{first} and {second} are both coordinator. Keep only one")]
    TwoCoordinators { first: PersonaSlug, second: PersonaSlug },
    #[error("{first} and {second} both use the name \"{name}\". Change one of them")]
    SharedName { name: String, first: PersonaSlug, second: PersonaSlug },
}

impl Roster {
    /// Checks that there is exactly one coordinator and that names are unique.
    pub fn new(mut personas: Vec<Persona>) -> Result<Self, RosterError> {
        personas.sort_by(|a, b| a.slug.cmp(&b.slug));
        if personas.is_empty() {
            return Err(RosterError::Empty);
        }
        let mut names: HashMap<String, &PersonaSlug> = HashMap::new();
        for persona in &personas {
            for name in names_of(persona) {
                if let Some(first) = names.insert(name.clone(), &persona.slug)
                    && *first != persona.slug
                {
                    return Err(RosterError::SharedName { name, first: first.clone(), second: persona.slug.clone() });
                }
            }
        }
        let mut coordinators = personas.iter().enumerate().filter(|(_, persona)| persona.coordinator);
        let (coordinator, first) = coordinators.next().ok_or(RosterError::NoCoordinator)?;
        if let Some((_, second)) = coordinators.next() {
            return Err(RosterError::TwoCoordinators { first: first.slug.clone(), second: second.slug.clone() });
        }
        Ok(Self { personas, coordinator, skills: Vec::new(), experts: Vec::new(), faults: Vec::new(), zone: Tz::UTC })
    }

    /// The same team in another zone.
    #[must_use]
    pub fn in_zone(self, zone: Tz) -> Self {
        Self { zone, ..self }
    }

    /// The same team with these skills.
    #[must_use]
    pub fn with_skills(self, skills: Vec<Skill>) -> Self {
        Self { skills, ..self }
    }

    /// The same team with these experts.
    #[must_use]
    pub fn with_experts(self, experts: Vec<Persona>) -> Self {
        Self { experts, ..self }
    }

    /// The same team, with what is wrong in its files.
    #[must_use]
    pub fn with_faults(self, faults: Vec<String>) -> Self {
        Self { faults, ..self }
    }

    /// What is wrong in the team's files: each with the file, the line and the reason. The rest of the files is used.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Guests of meetings. They are not on the team: they have no account, answer nobody and own no work.
    pub fn experts(&self) -> &[Persona] {
        &self.experts
    }

    pub fn find_expert(&self, slug: &str) -> Option<&Persona> {
        self.experts.iter().find(|expert| expert.slug.as_str() == slug)
    }

    /// The persona or the expert that posts under this slug.
    pub fn find_speaker(&self, slug: &PersonaSlug) -> Option<&Persona> {
        self.find(slug).or_else(|| self.find_expert(slug.as_str()))
    }

    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    pub fn skills_of<'a>(&'a self, persona: &'a Persona) -> impl Iterator<Item = &'a Skill> {
        self.skills.iter().filter(move |skill| skill.is_for(persona))
    }

    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// A time as the team's people read it: `Fri 27 Nov, 09:00`.
    pub fn show_time(&self, at: DateTime<Utc>) -> String {
        show_time(at, self.zone)
    }

    pub fn today(&self, now: DateTime<Utc>) -> Today {
        Today { now, zone: self.zone }
    }

    pub fn coordinator(&self) -> &Persona {
        &self.personas[self.coordinator]
    }

    pub fn personas(&self) -> &[Persona] {
        &self.personas
    }

    pub fn find(&self, slug: &PersonaSlug) -> Option<&Persona> {
        self.personas.iter().find(|persona| persona.slug == *slug)
    }

    /// The display name, also of an expert. The slug if the persona has left.
    pub fn name_of<'a>(&'a self, slug: &'a PersonaSlug) -> &'a str {
        self.find_speaker(slug).map_or(slug.as_str(), |persona| &persona.name)
    }

    /// Finds a persona by name, alias or slug, ignoring case.
    pub fn find_named(&self, word: &str) -> Option<&Persona> {
        let word = fold_name(word);
        self.personas.iter().find(|persona| names_of(persona).any(|name| name == word))
    }

    /// Finds a persona by name or by an unambiguous prefix.
    ///
    /// # Errors
    /// A sentence for the person with the available names.
    pub fn resolve(&self, asked: &str) -> Result<&Persona, UnknownPersona> {
        resolve_among(&self.personas.iter().collect::<Vec<_>>(), asked)
    }

    /// As [`Self::resolve`], among personas and experts.
    ///
    /// # Errors
    /// A sentence for the person with the available names.
    pub fn resolve_speaker(&self, asked: &str) -> Result<&Persona, UnknownPersona> {
        resolve_among(&self.personas.iter().chain(&self.experts).collect::<Vec<_>>(), asked)
    }
}

fn resolve_among<'a>(all: &[&'a Persona], asked: &str) -> Result<&'a Persona, UnknownPersona> {
    let word = fold_name(asked);
    if let Some(named) = all.iter().find(|persona| names_of(persona).any(|name| name == word)) {
        return Ok(named);
    }
    let mut matching = all.iter().filter(|persona| !word.is_empty() && names_of(persona).any(|name| name.starts_with(&word)));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(UnknownPersona { asked: asked.trim().to_owned(), known: all.iter().map(|persona| persona.name.clone()).collect() }),
    }
}

/// No persona has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nobody on the team is called \"{asked}\". The team: {}", known.join(", "))]
pub struct UnknownPersona {
    pub asked: String,
    pub known: Vec<String>,
}

fn names_of(persona: &Persona) -> impl Iterator<Item = String> + '_ {
    [persona.name.as_str(), persona.slug.as_str()].into_iter().chain(persona.aliases.iter().map(String::as_str)).map(fold_name)
}

/// The accounts of the personas, filled from READY, never from tokens, and their names on the server.
#[derive(Debug, Default, Clone)]
pub struct Accounts {
    by_id: HashMap<UserId, PersonaSlug>,
    nicknames: HashMap<PersonaSlug, String>,
}

impl Accounts {
    pub fn record(&mut self, id: UserId, slug: PersonaSlug) {
        self.by_id.insert(id, slug);
    }

    pub fn find(&self, id: &UserId) -> Option<&PersonaSlug> {
        self.by_id.get(id)
    }

    /// None: the persona is called by its own name.
    pub fn record_nickname(&mut self, slug: PersonaSlug, nickname: Option<String>) {
        match nickname {
            Some(nickname) => drop(self.nicknames.insert(slug, nickname)),
            None => drop(self.nicknames.remove(&slug)),
        }
    }

    /// The names of personas on the server.
    pub fn nicknames(&self) -> impl Iterator<Item = (&PersonaSlug, &str)> {
        self.nicknames.iter().map(|(slug, nickname)| (slug, nickname.as_str()))
    }
}
