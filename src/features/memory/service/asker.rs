use crate::features::memory::service::{Result, refused};
use kernel::chat::medium::Medium;
use kernel::chat::message::InboundMessage;
use kernel::commands::{Caller, CommandCall, Right};
use kernel::memory::{Memory, Scope, Teacher};

/// The most characters of a name.
const NAME: usize = 40;

/// The person who uses the memory, and the place.
pub(in crate::features::memory) struct Asker {
    pub(in crate::features::memory) person: Teacher,
    operates: bool,
    pub(in crate::features::memory) scope: Scope,
}

impl Asker {
    /// Without a channel, as at the command line, only memories that may be told everywhere are seen.
    pub(in crate::features::memory) fn of(call: &CommandCall) -> Self {
        let id = match &call.caller {
            Caller::Person { id, .. } => Some(id.clone()),
            Caller::CommandLine | Caller::KanbanPage => None,
        };
        Self {
            operates: id.is_none() || call.right == Right::Operator,
            person: Teacher { id, name: call.caller.name().to_owned() },
            scope: call.channel.as_ref().map_or(Scope::TEAM, Scope::of),
        }
    }

    pub(in crate::features::memory) fn author(message: &InboundMessage) -> Self {
        let person = Teacher { id: Some(message.author.id.clone()), name: message.author.name.clone() };
        Self { person, operates: false, scope: Scope::of(&message.channel) }
    }

    /// True for operators, and for the person who taught or said it.
    pub(super) fn may_forget(&self, memory: &Memory) -> bool {
        self.operates || memory.person().is_some_and(|by| by.id.is_some() && by.id == self.person.id)
    }

    /// # Errors
    /// It is somebody else's.
    pub(super) fn check(&self, memory: &Memory) -> Result<()> {
        if self.may_forget(memory) {
            return Ok(());
        }
        Err(refused(match memory.person() {
            Some(by) => format!("Only {} or an operator can have this forgotten.", Medium::Chat.line_within(&by.name, NAME)),
            None => "Only an operator can have a lesson of the team forgotten.".to_owned(),
        }))
    }
}
