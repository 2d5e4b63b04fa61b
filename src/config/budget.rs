use super::reader::Section;
use crate::domain::usage::{Limit, Money};

/// `[budgets]`: what may be spent. None: no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Per day (UTC), all personas together.
    pub day: Option<Money>,
    pub day_tokens: Option<u64>,
    /// Per day and persona.
    pub persona_day: Option<Money>,
    pub persona_day_tokens: Option<u64>,
    /// Per work item, however many days and tries it takes.
    pub item: Option<Money>,
    pub item_tokens: Option<u64>,
}

impl Default for Budgets {
    /// Five dollars a day: enough for a team's day of chat on cheap models, and no surprise on a bill. One for a work item, so that none
    /// takes the day from the others.
    fn default() -> Self {
        Self {
            day: Some(Money(5_000_000)),
            day_tokens: None,
            persona_day: None,
            persona_day_tokens: None,
            item: Some(Money(1_000_000)),
            item_tokens: None,
        }
    }
}

impl Budgets {
    /// A limit before anybody raised it, in millionths of a dollar or in tokens.
    pub fn find(&self, limit: &Limit) -> Option<i64> {
        let tokens = |budget: Option<u64>| budget.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        match limit {
            Limit::Day => self.day.map(|money| money.0),
            Limit::DayTokens => tokens(self.day_tokens),
            Limit::PersonaDay(_) => self.persona_day.map(|money| money.0),
            Limit::PersonaDayTokens(_) => tokens(self.persona_day_tokens),
            Limit::Item(_) => self.item.map(|money| money.0),
            Limit::ItemTokens(_) => tokens(self.item_tokens),
        }
    }

    /// By how much a press of the button raises a limit: by what one work item may use; where that is not said, by a dollar, or by the limit.
    pub fn step(&self, limit: &Limit) -> i64 {
        match limit {
            Limit::Day | Limit::PersonaDay(_) | Limit::Item(_) => self.item.map_or(1_000_000, |money| money.0),
            Limit::DayTokens | Limit::PersonaDayTokens(_) | Limit::ItemTokens(_) => {
                let item = self.item_tokens.and_then(|tokens| i64::try_from(tokens).ok());
                item.or_else(|| self.find(limit)).unwrap_or_default()
            }
        }
    }

    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            day: section.read("day", default.day, "Dollars that may be spent in a day (UTC), all personas together."),
            day_tokens: section.read("day_tokens", default.day_tokens, "Tokens that may be used in a day, all personas together."),
            persona_day: section.read("persona_day", default.persona_day, "Dollars that each persona may spend in a day."),
            persona_day_tokens: section.read(
                "persona_day_tokens",
                default.persona_day_tokens,
                "Tokens that each persona may use in a day.",
            ),
            item: section.read("item", default.item, "Dollars that one work item may cost, all its tries together."),
            item_tokens: section.read("item_tokens", default.item_tokens, "Tokens that one work item may use, all its tries together."),
        }
    }
}
