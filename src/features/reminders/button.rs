//! The buttons below a reminder and below a question about one. Each id contains everything needed, so that old buttons work after a restart.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::ids::{MessageId, PersonaSlug, ReminderId};
use kernel::when::{DateOrder, spell_date};

use super::model::Reminder;

/// Maximum length of a button's id on Discord.
const MAX_ID: usize = 100;

/// The choice of a person who presses a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Done,
    /// Once more in an hour.
    Hour,
    /// Once more tomorrow morning.
    Tomorrow,
    Cancel,
}

/// A button of one round of a reminder. After a snooze, buttons of earlier rounds do nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemindButton {
    pub choice: Choice,
    pub reminder: ReminderId,
    pub round: i64,
}

impl RemindButton {
    /// The prefix of all ids, before the first colon.
    pub const PREFIX: &str = "remind";

    pub fn of(choice: Choice, reminder: &Reminder) -> Self {
        Self { choice, reminder: reminder.id.clone(), round: reminder.round }
    }

    /// The id that the platform hands back.
    pub fn id(&self) -> String {
        let verb = match self.choice {
            Choice::Done => "done",
            Choice::Hour => "hour",
            Choice::Tomorrow => "tomorrow",
            Choice::Cancel => "cancel",
        };
        format!("{}:{verb}:{}:{}", Self::PREFIX, self.round, self.reminder)
    }

    /// None for buttons of others.
    pub fn parse(id: &str) -> Option<Self> {
        let mut parts = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.splitn(3, ':');
        let choice = match parts.next()? {
            "done" => Choice::Done,
            "hour" => Choice::Hour,
            "tomorrow" => Choice::Tomorrow,
            "cancel" => Choice::Cancel,
            _ => return None,
        };
        Some(Self { choice, round: parts.next()?.parse().ok()?, reminder: parts.next()?.into() })
    }

    pub(super) fn render(&self) -> Button {
        let (label, style) = match self.choice {
            Choice::Done => ("Done", ButtonStyle::Success),
            Choice::Hour => ("Snooze 1 h", ButtonStyle::Secondary),
            Choice::Tomorrow => ("Tomorrow", ButtonStyle::Secondary),
            Choice::Cancel => ("Cancel", ButtonStyle::Secondary),
        };
        Button { id: self.id(), label: label.to_owned(), style }
    }
}

/// An answer to "Is 10/4 10 April or 4 October?", for the request in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateButton {
    pub order: DateOrder,
    /// The persona that was asked. None: a button of an earlier version, or its name is too long for an id.
    pub persona: Option<PersonaSlug>,
    pub message: MessageId,
}

impl DateButton {
    pub const PREFIX: &str = "remind-date";

    /// Both answers for a date of two numbers.
    pub(super) fn render_both((first, second): (u32, u32), persona: &PersonaSlug, message: &MessageId) -> Vec<Button> {
        let button = |order: &str, label: String| {
            let named = format!("{}:{order}+{persona}:{message}", Self::PREFIX);
            let id = if named.len() <= MAX_ID { named } else { format!("{}:{order}:{message}", Self::PREFIX) };
            Button { id, label, style: ButtonStyle::Secondary }
        };
        vec![button("day", spell_date(second, first)), button("month", spell_date(first, second))]
    }

    /// None for buttons of others.
    pub fn parse(id: &str) -> Option<Self> {
        let (order, message) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let (order, persona) = match order.split_once('+') {
            Some((order, persona)) => (order, Some(persona.into())),
            None => (order, None),
        };
        let order = match order {
            "day" => DateOrder::DayFirst,
            "month" => DateOrder::MonthFirst,
            _ => return None,
        };
        Some(Self { order, persona, message: message.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id() {
        for choice in [Choice::Done, Choice::Hour, Choice::Tomorrow, Choice::Cancel] {
            let button = RemindButton { choice, reminder: "0192f0c1".into(), round: 7 };
            assert_eq!(RemindButton::parse(&button.id()), Some(button));
        }
    }

    #[test]
    fn an_answer_about_a_date_is_read_back_from_its_id() {
        let buttons = DateButton::render_both((10, 4), &"vince".into(), &"discord:7".into());
        let labels: Vec<_> = buttons.iter().map(|button| button.label.as_str()).collect();
        assert_eq!(labels, ["10 April", "4 October"]);
        let orders: Vec<_> = buttons.iter().filter_map(|button| DateButton::parse(&button.id)).collect();
        let button = |order: DateOrder| DateButton { order, persona: Some("vince".into()), message: "discord:7".into() };
        assert_eq!(orders, [button(DateOrder::DayFirst), button(DateOrder::MonthFirst)]);
        let earlier = DateButton { order: DateOrder::DayFirst, persona: None, message: "discord:7".into() };
        assert_eq!(DateButton::parse("remind-date:day:discord:7"), Some(earlier));
    }

    #[test]
    fn an_id_that_would_be_too_long_has_no_persona() {
        let persona = PersonaSlug::new("x".repeat(90));
        let buttons = DateButton::render_both((10, 4), &persona, &"discord:7".into());
        let ids: Vec<_> = buttons.iter().map(|button| button.id.as_str()).collect();
        assert_eq!(ids, ["remind-date:day:discord:7", "remind-date:month:discord:7"]);
    }

    #[test]
    fn buttons_of_others_are_not_ours() {
        for id in ["", "remind", "remind:", "remind:done", "remind:done:x:i", "remind:burn:1:i", "work:done:1:i", "reminder:done:1:i"] {
            assert_eq!(RemindButton::parse(id), None, "{id}");
        }
    }
}
