//! The buttons of insights. An id holds what the click does and to which insight.

use kernel::chat::outbound::{Button, ButtonStyle};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Useful,
    NotUseful,
    /// Make it a work item.
    Item,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InsightButton {
    pub(super) choice: Choice,
    pub(super) insight: String,
}

impl InsightButton {
    pub(super) const PREFIX: &str = "insight";

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (verb, insight) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let choice = match verb {
            "useful" => Choice::Useful,
            "useless" => Choice::NotUseful,
            "item" => Choice::Item,
            _ => return None,
        };
        Some(Self { choice, insight: insight.to_owned() })
    }

    pub(super) fn render(&self) -> Button {
        let (verb, label, style) = match self.choice {
            Choice::Useful => ("useful", "Useful", ButtonStyle::Secondary),
            Choice::NotUseful => ("useless", "Not useful", ButtonStyle::Secondary),
            Choice::Item => ("item", "Make it a work item", ButtonStyle::Success),
        };
        Button { id: format!("{}:{verb}:{}", Self::PREFIX, self.insight), label: label.to_owned(), style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id_and_those_of_others_are_not_ours() {
        for choice in [Choice::Useful, Choice::NotUseful, Choice::Item] {
            let button = InsightButton { choice, insight: "m-vince-0".to_owned() };
            assert_eq!(InsightButton::parse(&button.render().id), Some(button));
        }
        for id in ["", "insight", "insight:useful", "insight:burn:1", "board:stop:1"] {
            assert_eq!(InsightButton::parse(id), None, "{id}");
        }
    }
}
