use serde_json::Value;

use crate::chat::medium::Medium;
use crate::chat::message::Channel;
use crate::chat::outbound::OutboundFile;
use crate::commands::{Arguments, Refused, Right};
use crate::ids::UserId;

/// The longest name shown in a reply.
const NAME: usize = 40;

/// The name of a person who acts on the kanban page, for events, notes and messages to others.
pub const KANBAN_PAGE: &str = "the operator (kanban page)";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Person {
        id: UserId,
        /// For display only.
        name: String,
        /// Ids of the person's roles on the server.
        roles: Vec<String>,
    },
    /// Anybody who can run the program. Always an operator.
    CommandLine,
    /// Anybody who may see the kanban page. Always an operator.
    KanbanPage,
}

impl Caller {
    /// The name stored in events, notes and messages to others.
    pub fn name(&self) -> &str {
        match self {
            Self::Person { name, .. } => name,
            Self::CommandLine => "the command line",
            Self::KanbanPage => KANBAN_PAGE,
        }
    }

    /// The subject of a reply, escaped for Markdown: "Ann paused …", "You paused …".
    pub fn subject(&self) -> String {
        match self {
            Self::Person { name, .. } => Medium::Chat.line_within(name, NAME),
            Self::CommandLine | Self::KanbanPage => "You".to_owned(),
        }
    }

    pub fn is_command_line(&self) -> bool {
        matches!(self, Self::CommandLine)
    }
}

/// A command or a button click, as a surface passes it to the registry.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRequest {
    pub invoked: Invoked,
    pub caller: Caller,
    /// None at the command line.
    pub channel: Option<Channel>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Invoked {
    /// Group and name, such as `schedule pause`, and the arguments as text.
    Command { path: String, given: Vec<(String, String)> },
    /// The button's id, which contains the whole command.
    Button(String),
}

/// An authorised request, as handlers receive it.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandCall {
    /// The path of the command or the id of the button.
    pub name: String,
    pub arguments: Arguments,
    pub caller: Caller,
    pub channel: Option<Channel>,
    /// The caller's permission in this channel.
    pub right: Right,
}

impl CommandCall {
    /// The channel of the call.
    ///
    /// # Errors
    /// The command was run at the command line.
    pub fn get_channel(&self) -> Result<&Channel, Refused> {
        self.channel.as_ref().ok_or_else(|| Refused::new("this needs a channel. Use the command in the chat"))
    }
}

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct CommandReply {
    /// Markdown of any length. The platform splits it.
    pub text: String,
    /// Posted with the text in a chat. The command line saves them in its own way.
    pub files: Vec<OutboundFile>,
    /// The text is a document, such as JSON. A terminal prints it as it is.
    pub is_document: bool,
    /// The reply as JSON, for programs. None if there is only text.
    pub data: Option<Value>,
    /// Visible to the caller only.
    pub ephemeral: bool,
    /// The command failed. The text says why and what to do.
    pub error: bool,
    /// Removes the buttons of the clicked message, because its question is decided.
    pub retire_buttons: bool,
    /// The running team does the rest. The command line says so if none is running.
    pub left_to_team: bool,
}

impl CommandReply {
    /// Visible to everybody in the channel.
    pub fn public(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            files: Vec::new(),
            is_document: false,
            data: None,
            ephemeral: false,
            error: false,
            retire_buttons: false,
            left_to_team: false,
        }
    }

    /// Visible to the caller only.
    pub fn private(text: impl Into<String>) -> Self {
        Self { ephemeral: true, ..Self::public(text) }
    }

    /// A failure, visible to the caller only.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { error: true, ..Self::private(text) }
    }

    /// A document, visible to the caller only.
    pub fn document(text: impl Into<String>) -> Self {
        Self { is_document: true, ..Self::private(text) }
    }

    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    #[must_use]
    pub fn with_files(self, files: Vec<OutboundFile>) -> Self {
        Self { files, ..self }
    }

    #[must_use]
    pub fn retiring_buttons(self) -> Self {
        Self { retire_buttons: true, ..self }
    }

    #[must_use]
    pub fn left_to_team(self) -> Self {
        Self { left_to_team: true, ..self }
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
