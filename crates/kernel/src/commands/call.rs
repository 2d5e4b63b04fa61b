use serde_json::Value;

use crate::chat::medium::Medium;
use crate::chat::message::Channel;
use crate::commands::{Arguments, Refused, Right};
use crate::ids::UserId;

/// The most characters of a name in a reply.
const NAME: usize = 40;

/// Who gave a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Person {
        id: UserId,
        /// The display name, for showing only.
        name: String,
        /// Ids of the roles that the person holds on the server.
        roles: Vec<String>,
    },
    /// Whoever may start the program. Always an operator.
    CommandLine,
}

impl Caller {
    /// What is written down: in events, notes and messages to others.
    pub fn name(&self) -> &str {
        match self {
            Self::Person { name, .. } => name,
            Self::CommandLine => "the command line",
        }
    }

    /// The subject of a reply, ready for Markdown: "Ann paused …", "You paused …".
    pub fn subject(&self) -> String {
        match self {
            Self::Person { name, .. } => Medium::Chat.line_within(name, NAME),
            Self::CommandLine => "You".to_owned(),
        }
    }

    pub fn is_command_line(&self) -> bool {
        matches!(self, Self::CommandLine)
    }
}

/// A command or the press of a button, as a surface hands it to the registry.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRequest {
    pub invoked: Invoked,
    pub caller: Caller,
    /// None at the command line.
    pub channel: Option<Channel>,
}

/// What was given.
#[derive(Debug, Clone, PartialEq)]
pub enum Invoked {
    /// The names from the group down, such as `schedule pause`, and the arguments as text.
    Command { path: String, given: Vec<(String, String)> },
    /// The id of the button, which says everything.
    Button(String),
}

/// A request that is permitted, as handlers get it.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandCall {
    /// The path of the command or the id of the button.
    pub name: String,
    pub arguments: Arguments,
    pub caller: Caller,
    pub channel: Option<Channel>,
    /// What the caller may do in this channel.
    pub right: Right,
}

impl CommandCall {
    /// The channel of the call.
    ///
    /// # Errors
    /// It was given at the command line.
    pub fn get_channel(&self) -> Result<&Channel, Refused> {
        self.channel.as_ref().ok_or_else(|| Refused::new("this needs a channel; give the command in the chat"))
    }
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandReply {
    /// Markdown of any length; a platform splits it.
    pub text: String,
    /// The same for programs. None: the text is all there is.
    pub data: Option<Value>,
    /// Only the caller sees it.
    pub ephemeral: bool,
    /// It was not done; the text says why and what to do.
    pub error: bool,
    /// The message that bears the pressed button loses its buttons, because its question is decided.
    pub retire_buttons: bool,
}

impl CommandReply {
    /// For everybody in the channel.
    pub fn public(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: None, ephemeral: false, error: false, retire_buttons: false }
    }

    /// For the caller alone.
    pub fn private(text: impl Into<String>) -> Self {
        Self { ephemeral: true, ..Self::public(text) }
    }

    /// Why it was not done, for the caller alone.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { error: true, ..Self::private(text) }
    }

    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    #[must_use]
    pub fn retiring_buttons(self) -> Self {
        Self { retire_buttons: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_person_formats_nothing() {
        let person = Caller::Person { id: "1".into(), name: "**Ann**".into(), roles: Vec::new() };
        assert_eq!((person.subject().as_str(), person.name()), (r"\*\*Ann\*\*", "**Ann**"));
        assert_eq!(Caller::CommandLine.subject(), "You");
    }
}
