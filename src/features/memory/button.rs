//! The buttons about a memory. Each id says everything, so that a button of any age works after any restart.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::ids::MemoryId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Forget,
    /// What comes from text from outside may be told from now on.
    Confirm,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryButton {
    pub(super) press: Press,
    pub(super) memory: MemoryId,
}

impl MemoryButton {
    /// How the ids of all of them begin, before the first colon.
    pub(super) const PREFIX: &str = "memory";

    pub(super) fn new(press: Press, memory: &MemoryId) -> Self {
        Self { press, memory: memory.clone() }
    }

    pub(super) fn id(&self) -> String {
        let verb = match self.press {
            Press::Forget => "forget",
            Press::Confirm => "confirm",
        };
        format!("{}:{verb}:{}", Self::PREFIX, self.memory)
    }

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (verb, memory) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let press = match verb {
            "forget" => Press::Forget,
            "confirm" => Press::Confirm,
            _ => return None,
        };
        Some(Self { press, memory: memory.into() })
    }

    pub(super) fn render(&self) -> Button {
        let (label, style) = match self.press {
            Press::Forget => ("Forget", ButtonStyle::Secondary),
            Press::Confirm => ("Remember the lesson", ButtonStyle::Primary),
        };
        Button { id: self.id(), label: label.to_owned(), style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id() {
        for press in [Press::Forget, Press::Confirm] {
            let button = MemoryButton::new(press, &"learnt-1-0-done".into());
            assert_eq!(MemoryButton::parse(&button.id()), Some(button));
        }
        for id in ["", "memory", "memory:forget", "memory:burn:1", "remind:forget:1"] {
            assert_eq!(MemoryButton::parse(id), None, "{id}");
        }
    }
}
