//! A persona or a person in columns: a key that statements can compare, and beside it the name of a person, who has no file to read it from.

use crate::domain::ids::{PersonaSlug, UserId};
use crate::domain::meeting::Participant;
use crate::domain::work::Owner;

/// The two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Who {
    /// `persona:vince`, `person:1`.
    pub(crate) key: String,
    /// None for a persona.
    pub(crate) name: Option<String>,
}

impl Who {
    /// The key of a person, whatever the name is today.
    pub(crate) fn key_of(person: &UserId) -> String {
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

impl From<&Participant> for Who {
    fn from(participant: &Participant) -> Self {
        match participant {
            Participant::Persona(persona) => Self::persona(persona),
            Participant::Person { id, name } => Self::person(id, name),
        }
    }
}

impl From<Who> for Participant {
    fn from(who: Who) -> Self {
        who.read(Self::Persona, |id, name| Self::Person { id, name })
    }
}

impl From<&Owner> for Who {
    fn from(owner: &Owner) -> Self {
        match owner {
            Owner::Persona(persona) => Self::persona(persona),
            Owner::Person { id, name } => Self::person(id, name),
        }
    }
}

impl From<Who> for Owner {
    fn from(who: Who) -> Self {
        who.read(Self::Persona, |id, name| Self::Person { id, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persona_and_a_person_of_one_id_are_told_apart() {
        let persona = Participant::Persona("7:7".into());
        let person = Participant::Person { id: "7:7".into(), name: "Ada".into() };
        assert_ne!(Who::from(&persona).key, Who::from(&person).key);
        assert_eq!(Participant::from(Who::from(&persona)), persona);
        assert_eq!(Participant::from(Who::from(&person)), person);
    }

    #[test]
    fn an_owner_reads_back_as_it_was_written() {
        for owner in [Owner::Persona("vince".into()), Owner::Person { id: "1".into(), name: String::new() }] {
            assert_eq!(Owner::from(Who::from(&owner)), owner);
        }
    }
}
