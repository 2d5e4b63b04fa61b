//! The buttons of missions. Their ids say everything.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::ids::WorkItemId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissionButton {
    pub(super) choice: Choice,
    pub(super) mission: WorkItemId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Carries out the plan.
    Start,
    /// Cancels it. If there is work in it, the person is asked first.
    Cancel,
    /// Cancels it, although there is work in it.
    CancelNow,
    /// Does not cancel it.
    Keep,
    /// Takes the cancellation back.
    Restore,
    /// Tries again what failed.
    Retry,
    /// Answers a question about what is assumed with one of the suggestions, by their positions.
    Answer { assumption: usize, suggestion: usize },
    /// Adds the persona that was drafted for a missing role, by its position, or does not.
    Persona { number: usize, adds: bool },
    /// Raises the budget in dollars or in tokens, if it still is as high as `from`.
    Raise { tokens: bool, from: i64 },
}

impl MissionButton {
    pub(super) const PREFIX: &str = "mission";

    pub(super) fn of(choice: Choice, mission: &WorkItemId) -> Self {
        Self { choice, mission: mission.clone() }
    }

    pub(super) fn id(&self) -> String {
        let verb = match self.choice {
            Choice::Start => "start".to_owned(),
            Choice::Cancel => "cancel".to_owned(),
            Choice::CancelNow => "cancel-now".to_owned(),
            Choice::Keep => "keep".to_owned(),
            Choice::Restore => "restore".to_owned(),
            Choice::Retry => "retry".to_owned(),
            Choice::Answer { assumption, suggestion } => format!("answer-{assumption}-{suggestion}"),
            Choice::Persona { number, adds: true } => format!("persona-{number}-add"),
            Choice::Persona { number, adds: false } => format!("persona-{number}-no"),
            Choice::Raise { tokens: false, from } => format!("raise-{from}"),
            Choice::Raise { tokens: true, from } => format!("raise-tokens-{from}"),
        };
        format!("{}:{verb}:{}", Self::PREFIX, self.mission)
    }

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (verb, mission) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let choice = match verb {
            "start" => Choice::Start,
            "cancel" => Choice::Cancel,
            "cancel-now" => Choice::CancelNow,
            "keep" => Choice::Keep,
            "restore" => Choice::Restore,
            "retry" => Choice::Retry,
            _ if verb.starts_with("answer-") => {
                let (assumption, suggestion) = verb.strip_prefix("answer-")?.split_once('-')?;
                Choice::Answer { assumption: assumption.parse().ok()?, suggestion: suggestion.parse().ok()? }
            }
            _ if verb.starts_with("persona-") => {
                let (number, answer) = verb.strip_prefix("persona-")?.split_once('-')?;
                let adds = match answer {
                    "add" => true,
                    "no" => false,
                    _ => return None,
                };
                Choice::Persona { number: number.parse().ok()?, adds }
            }
            _ => {
                let of = verb.strip_prefix("raise-")?;
                let tokens = of.strip_prefix("tokens-");
                Choice::Raise { tokens: tokens.is_some(), from: tokens.unwrap_or(of).parse().ok()? }
            }
        };
        Some(Self { choice, mission: mission.into() })
    }

    pub(super) fn render(&self) -> Button {
        let (label, style) = match self.choice {
            Choice::Start => ("Start", ButtonStyle::Success),
            Choice::Cancel => ("Cancel", ButtonStyle::Secondary),
            Choice::CancelNow => ("Cancel it", ButtonStyle::Danger),
            Choice::Keep => ("Keep it", ButtonStyle::Secondary),
            Choice::Restore => ("Take it back", ButtonStyle::Secondary),
            Choice::Retry => ("Try again", ButtonStyle::Secondary),
            Choice::Answer { .. } => ("Answer", ButtonStyle::Secondary),
            Choice::Persona { adds: true, .. } => ("Add", ButtonStyle::Success),
            Choice::Persona { adds: false, .. } => ("No", ButtonStyle::Secondary),
            Choice::Raise { .. } => ("Raise the budget", ButtonStyle::Success),
        };
        Button { id: self.id(), label: label.to_owned(), style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id_and_those_of_others_are_not_ours() {
        for choice in [
            Choice::Start,
            Choice::Cancel,
            Choice::CancelNow,
            Choice::Keep,
            Choice::Restore,
            Choice::Retry,
            Choice::Answer { assumption: 0, suggestion: 3 },
            Choice::Persona { number: 0, adds: true },
            Choice::Persona { number: 1, adds: false },
            Choice::Raise { tokens: false, from: 0 },
            Choice::Raise { tokens: true, from: 9 },
        ] {
            let button = MissionButton::of(choice, &"0192f0c1".into());
            assert_eq!(MissionButton::parse(&button.id()), Some(button));
        }
        for id in [
            "",
            "mission",
            "mission:start",
            "mission:burn:1",
            "mission:answer-1:1",
            "mission:answer-1-x:1",
            "mission:persona-0:1",
            "mission:persona-x-add:1",
            "mission:persona-0-maybe:1",
            "mission:raise:1",
            "mission:raise-tokens:1",
            "missions:start:1",
            "work:done:1:i",
        ] {
            assert_eq!(MissionButton::parse(id), None, "{id}");
        }
    }
}
