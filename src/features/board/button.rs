//! The buttons of board meetings. An id holds what the click does and to which meeting.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::ids::MeetingId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Pause,
    Resume,
    /// Two more rounds.
    Extend,
    /// End it with a document.
    Stop,
    /// Put what follows into the backlog.
    Actions,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoardButton {
    pub(super) choice: Choice,
    pub(super) meeting: MeetingId,
}

impl BoardButton {
    pub(super) const PREFIX: &str = "board";

    pub(super) fn id(&self) -> String {
        let verb = match self.choice {
            Choice::Pause => "pause",
            Choice::Resume => "resume",
            Choice::Extend => "extend",
            Choice::Stop => "stop",
            Choice::Actions => "actions",
        };
        format!("{}:{verb}:{}", Self::PREFIX, self.meeting)
    }

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (verb, meeting) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let choice = match verb {
            "pause" => Choice::Pause,
            "resume" => Choice::Resume,
            "extend" => Choice::Extend,
            "stop" => Choice::Stop,
            "actions" => Choice::Actions,
            _ => return None,
        };
        Some(Self { choice, meeting: MeetingId::new(meeting) })
    }

    pub(super) fn render(&self) -> Button {
        let (label, style) = match self.choice {
            Choice::Pause => ("Pause", ButtonStyle::Secondary),
            Choice::Resume => ("Go on", ButtonStyle::Success),
            Choice::Extend => ("2 more rounds", ButtonStyle::Secondary),
            Choice::Stop => ("Stop and write it down", ButtonStyle::Secondary),
            Choice::Actions => ("Add to the backlog", ButtonStyle::Success),
        };
        Button { id: self.id(), label: label.to_owned(), style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id_and_those_of_others_are_not_ours() {
        for choice in [Choice::Pause, Choice::Resume, Choice::Extend, Choice::Stop, Choice::Actions] {
            let button = BoardButton { choice, meeting: "0192f0c1".into() };
            assert_eq!(BoardButton::parse(&button.id()), Some(button));
        }
        for id in ["", "board", "board:stop", "board:burn:1", "boards:stop:1", "mission:start:1"] {
            assert_eq!(BoardButton::parse(id), None, "{id}");
        }
    }
}
