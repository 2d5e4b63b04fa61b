//! The roster: all personas that this team has loaded, and how people call them.

use std::collections::HashMap;

use crate::ids::{PersonaSlug, UserId};
use crate::persona::Persona;
use crate::text::fold_name;

/// All personas of the team, in the order of their slugs, with the coordinator known.
#[derive(Debug, Clone)]
pub struct Roster {
    personas: Vec<Persona>,
    coordinator: usize,
}

/// Why a set of personas is no roster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    #[error("no persona file could be loaded")]
    Empty,
    #[error("no persona is the coordinator; set `coordinator: true` in one file")]
    NoCoordinator,
    #[error("{first} and {second} are both coordinator; keep one")]
    TwoCoordinators { first: PersonaSlug, second: PersonaSlug },
    #[error("{first} and {second} both answer to \"{name}\"; change one of them")]
    SharedName { name: String, first: PersonaSlug, second: PersonaSlug },
}

impl Roster {
    /// Checks that there is one coordinator and that no name is shared.
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
        Ok(Self { personas, coordinator })
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

    /// The display name; the slug where the persona has left the roster.
    pub fn name_of<'a>(&'a self, slug: &'a PersonaSlug) -> &'a str {
        self.find(slug).map_or(slug.as_str(), |persona| &persona.name)
    }

    /// The persona that a whole word names, by name, alias or slug, without regard to case.
    pub fn find_named(&self, word: &str) -> Option<&Persona> {
        let word = fold_name(word);
        self.personas.iter().find(|persona| names_of(persona).any(|name| name == word))
    }

    /// The persona that somebody asks for: a whole name, or the beginning of exactly one.
    ///
    /// # Errors
    /// A sentence for the person, which lists the names there are.
    pub fn resolve(&self, asked: &str) -> Result<&Persona, UnknownPersona> {
        if let Some(persona) = self.find_named(asked) {
            return Ok(persona);
        }
        let prefix = fold_name(asked);
        let mut matching = self.personas.iter().filter(|p| !prefix.is_empty() && names_of(p).any(|name| name.starts_with(&prefix)));
        match (matching.next(), matching.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(UnknownPersona {
                asked: asked.trim().to_owned(),
                known: self.personas.iter().map(|persona| persona.name.clone()).collect(),
            }),
        }
    }
}

/// A name that nobody on the roster answers to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nobody on the team is called \"{asked}\"; there are {}", known.join(", "))]
pub struct UnknownPersona {
    pub asked: String,
    pub known: Vec<String>,
}

fn names_of(persona: &Persona) -> impl Iterator<Item = String> + '_ {
    [persona.name.as_str(), persona.slug.as_str()].into_iter().chain(persona.aliases.iter().map(String::as_str)).map(fold_name)
}

/// Which account belongs to which persona. Filled from READY, never from tokens.
#[derive(Debug, Default, Clone)]
pub struct Accounts {
    by_id: HashMap<UserId, PersonaSlug>,
}

impl Accounts {
    pub fn record(&mut self, id: UserId, slug: PersonaSlug) {
        self.by_id.insert(id, slug);
    }

    pub fn find(&self, id: &UserId) -> Option<&PersonaSlug> {
        self.by_id.get(id)
    }
}
