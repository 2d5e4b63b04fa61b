use crate::features::reminders::model::{Person, Reminder};
use crate::features::reminders::render::name;
use crate::features::reminders::service::{Result, refused};
use kernel::chat::message::{Channel, Place};
use kernel::commands::{Caller, CommandCall, Right};
use kernel::ids::{ChannelId, UserId};

/// The person who asks for a change, and the place.
pub(in crate::features::reminders) struct Asker {
    pub(in crate::features::reminders) person: Option<Person>,
    operates: bool,
    /// The channel, and that of a thread too. Empty: the command line, which sees all channels.
    pub(super) here: Vec<ChannelId>,
}

impl Asker {
    pub(in crate::features::reminders) fn of(call: &CommandCall) -> Self {
        let person = match &call.caller {
            Caller::Person { id, name, .. } => Some(Person { id: id.clone(), name: name.clone() }),
            Caller::CommandLine | Caller::KanbanPage => None,
        };
        let operates = person.is_none() || call.right == Right::Operator;
        Self { person, operates, here: call.channel.as_ref().map_or_else(Vec::new, places_of) }
    }

    /// The command line, which sees all channels.
    pub(in crate::features::reminders) fn at_terminal() -> Self {
        Self { person: None, operates: true, here: Vec::new() }
    }

    pub(in crate::features::reminders) fn id(&self) -> Option<&UserId> {
        self.person.as_ref().map(|person| &person.id)
    }

    /// True for operators, the person who asked for it, and the person who is reminded.
    fn may_change(&self, reminder: &Reminder) -> bool {
        let is = |person: &Person| Some(&person.id) == self.id();
        self.operates || is(&reminder.whom) || reminder.by.as_ref().is_some_and(is)
    }

    /// Checks the right to change a reminder.
    ///
    /// # Errors
    /// The reminder is somebody else's.
    pub(super) fn check(&self, reminder: &Reminder) -> Result<()> {
        if self.may_change(reminder) {
            return Ok(());
        }
        let asked = reminder.by.as_ref().filter(|by| by.id != reminder.whom.id).map_or(String::new(), |by| format!(", {}", name(by)));
        Err(refused(format!("Only {}{asked} or an operator can change this reminder.", name(&reminder.whom))))
    }
}

/// What belongs to a thread belongs to its channel as well.
fn places_of(channel: &Channel) -> Vec<ChannelId> {
    match &channel.place {
        Place::Thread { parent, .. } => vec![channel.id.clone(), parent.clone()],
        Place::Server | Place::Direct => vec![channel.id.clone()],
    }
}
