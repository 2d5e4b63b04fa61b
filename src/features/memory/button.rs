//! The buttons about a memory. Each id says everything, so that a button of any age works after any restart.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::ids::MemoryId;
use kernel::memory::short_id;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Forget,
    /// A new fact takes the place of an older one.
    Replace,
    /// A memory from outside text may be told from now on.
    Confirm,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryButton {
    pub(super) choice: Choice,
    pub(super) memory: MemoryId,
    /// The older memory that is replaced.
    pub(super) older: Option<MemoryId>,
}

impl MemoryButton {
    /// How the ids of all of them begin, before the first colon.
    pub(super) const PREFIX: &str = "memory";

    pub(super) fn new(choice: Choice, memory: &MemoryId) -> Self {
        Self { choice, memory: memory.clone(), older: None }
    }

    pub(super) fn replacing(memory: &MemoryId, older: &MemoryId) -> Self {
        Self { choice: Choice::Replace, memory: memory.clone(), older: Some(older.clone()) }
    }

    pub(super) fn id(&self) -> String {
        let verb = match self.choice {
            Choice::Forget => "forget",
            Choice::Replace => "replace",
            Choice::Confirm => "confirm",
        };
        let older = self.older.as_ref().map_or(String::new(), |older| format!(":{older}"));
        format!("{}:{verb}:{}{older}", Self::PREFIX, self.memory)
    }

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (verb, memory) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let choice = match verb {
            "forget" => Choice::Forget,
            "confirm" => Choice::Confirm,
            "replace" => {
                let (newer, older) = memory.split_once(':')?;
                return Some(Self::replacing(&newer.into(), &older.into()));
            }
            _ => return None,
        };
        Some(Self { choice, memory: memory.into(), older: None })
    }

    pub(super) fn render(&self) -> Button {
        let (label, style) = match self.choice {
            Choice::Forget => ("Forget".to_owned(), ButtonStyle::Secondary),
            Choice::Replace => (format!("Replace #{}", self.older.as_ref().map_or(String::new(), short_id)), ButtonStyle::Secondary),
            Choice::Confirm => ("Remember the lesson".to_owned(), ButtonStyle::Primary),
        };
        Button { id: self.id(), label, style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id() {
        for choice in [Choice::Forget, Choice::Confirm] {
            let button = MemoryButton::new(choice, &"learnt-1-0-done".into());
            assert_eq!(MemoryButton::parse(&button.id()), Some(button));
        }
        let button = MemoryButton::replacing(&"newer-1".into(), &"learnt-1-0-done".into());
        assert_eq!(MemoryButton::parse(&button.id()), Some(button));
        for id in ["memory:replace:1", "", "memory", "memory:forget", "memory:burn:1", "remind:forget:1"] {
            assert_eq!(MemoryButton::parse(id), None, "{id}");
        }
    }
}
