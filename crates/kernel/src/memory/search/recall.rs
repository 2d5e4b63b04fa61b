use crate::ids::{MessageId, PersonaSlug, UserId};
use crate::memory::search::{EVERYTHING, LEARNT};
use crate::memory::{MemoryKind, Scope};
use crate::time::Today;

/// A question to the memory.
#[derive(Debug, Clone, Copy)]
pub struct Recall<'a> {
    pub subject: &'a str,
    /// Whose memories are searched besides the team's. None: everybody's.
    pub persona: Option<&'a PersonaSlug>,
    /// The place where the memories are told.
    pub scope: &'a Scope,
    pub kinds: &'static [MemoryKind],
    pub limit: usize,
    /// What comes from these messages is left out.
    pub except: &'a [&'a MessageId],
    /// Whom the question means by "I".
    pub asker: Option<&'a UserId>,
    /// The present, for "last week". None: the question names no time.
    pub today: Option<Today>,
    /// Also finds memories that are only close to the question. For a reader that can judge them: a language model.
    pub is_loose: bool,
}

impl<'a> Recall<'a> {
    /// Asks for what was taught and learnt, without an asker.
    pub fn new(subject: &'a str, scope: &'a Scope, limit: usize) -> Self {
        Self { subject, persona: None, scope, kinds: LEARNT, limit, except: &[], asker: None, today: None, is_loose: false }
    }

    #[must_use]
    pub fn of(self, persona: &'a PersonaSlug) -> Self {
        Self { persona: Some(persona), ..self }
    }

    /// Also asks for memories that are only close to the subject.
    #[must_use]
    pub fn loosely(self) -> Self {
        Self { is_loose: true, ..self }
    }

    /// Also asks for what was said and posted.
    #[must_use]
    pub fn everything(self) -> Self {
        Self { kinds: EVERYTHING, ..self }
    }
}
