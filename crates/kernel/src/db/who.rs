//! Columns for a persona or a person: a key to compare, and the name of a person, which no file contains.

use crate::actor::Actor;
use crate::ids::{PersonaSlug, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// `persona:vince`, `person:discord:1`.
    pub key: String,
    /// None for a persona.
    pub name: Option<String>,
}

impl Who {
    /// A person's key. It does not depend on the name.
    pub fn key_of(person: &UserId) -> String {
        format!("person:{person}")
    }

    fn persona(persona: &PersonaSlug) -> Self {
        Self { key: format!("persona:{persona}"), name: None }
    }

    fn person(id: &UserId, name: &str) -> Self {
        Self { key: Self::key_of(id), name: Some(super::plain(name).into_owned()) }
    }

    fn read<T>(self, persona: fn(PersonaSlug) -> T, person: fn(UserId, String) -> T) -> T {
        match self.key.split_once(':') {
            Some(("person", id)) => person(id.into(), self.name.unwrap_or_default()),
            Some((_, slug)) => persona(slug.into()),
            None => persona(self.key.into()),
        }
    }
}

impl From<&Actor> for Who {
    fn from(owner: &Actor) -> Self {
        match owner {
            Actor::Persona(persona) => Self::persona(persona),
            Actor::Person { id, name } => Self::person(id, name),
        }
    }
}

impl From<Who> for Actor {
    fn from(who: Who) -> Self {
        who.read(Self::Persona, |id, name| Self::Person { id, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persona_and_a_person_of_one_id_are_told_apart() {
        let (persona, person) = (Actor::Persona("7:7".into()), Actor::Person { id: "7:7".into(), name: "Ada".into() });
        assert_ne!(Who::from(&persona).key, Who::from(&person).key);
        assert_eq!(Actor::from(Who::from(&persona)), persona);
        assert_eq!(Actor::from(Who::from(&person)), person);
    }

    #[test]
    fn an_owner_reads_back_as_it_was_written() {
        for owner in [Actor::Persona("vince".into()), Actor::Person { id: "1".into(), name: String::new() }] {
            assert_eq!(Actor::from(Who::from(&owner)), owner);
        }
    }
}
