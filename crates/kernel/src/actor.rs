use serde::{Deserialize, Serialize};

use crate::ids::{PersonaSlug, UserId};

/// A persona of the team, or a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    Persona(PersonaSlug),
    Person { id: UserId, name: String },
}
