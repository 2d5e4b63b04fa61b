use crate::config::settings;
use crate::money::{Limit, Money};

settings! {
    /// `[budgets]`: spending limits. None: no limit.
    ///
    /// The default of five dollars a day covers a team's chat on cheap models without a surprising bill. The defaults of one dollar per work
    /// item and three per mission keep one of them from using up the day.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Budgets {
        day: Option<Money> = Some(Money(5_000_000)), "Daily spending limit in dollars for the whole team. A day is in UTC.";
        day_tokens: Option<u64> = None, "Daily token limit for the whole team.";
        persona_day: Option<Money> = None, "Daily spending limit in dollars for each persona.";
        persona_day_tokens: Option<u64> = None, "Daily token limit for each persona.";
        item: Option<Money> = Some(Money(1_000_000)), "Spending limit in dollars for a work item, over all attempts.";
        item_tokens: Option<u64> = None, "Token limit for a work item, over all attempts.";
        mission: Option<Money> = Some(Money(3_000_000)), "Spending limit in dollars for a mission: its planning and all its steps.";
        mission_tokens: Option<u64> = None, "Token limit for a mission.";
        meeting: Option<Money> = None, "Spending limit in dollars for a meeting. When it is used up, the meeting closes.";
    }
}

/// The tokens a day where a model has no known price, so that money cannot limit it.
const UNPRICED_DAY_TOKENS: u64 = 2_000_000;

impl Budgets {
    /// The budgets of a team that uses models without a known price.
    #[must_use]
    pub fn without_prices(self) -> Self {
        Self { day_tokens: self.day_tokens.or(Some(UNPRICED_DAY_TOKENS)), ..self }
    }

    /// The configured limit, in millionths of a dollar or in tokens.
    pub fn find(&self, limit: &Limit) -> Option<i64> {
        let tokens = |budget: Option<u64>| budget.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        match limit {
            Limit::Day => self.day.map(|money| money.0),
            Limit::DayTokens => tokens(self.day_tokens),
            Limit::PersonaDay(_) => self.persona_day.map(|money| money.0),
            Limit::PersonaDayTokens(_) => tokens(self.persona_day_tokens),
            Limit::Item(_) => self.item.map(|money| money.0),
            Limit::ItemTokens(_) => tokens(self.item_tokens),
            Limit::Mission(_) => self.mission.map(|money| money.0),
            Limit::MissionTokens(_) => tokens(self.mission_tokens),
        }
    }

    /// How much the button raises a limit: by the budget of one work item, or else by a dollar, or else by the limit itself.
    pub fn step(&self, limit: &Limit) -> i64 {
        match limit {
            Limit::Day | Limit::PersonaDay(_) | Limit::Item(_) | Limit::Mission(_) => self.item.map_or(1_000_000, |money| money.0),
            Limit::DayTokens | Limit::PersonaDayTokens(_) | Limit::ItemTokens(_) | Limit::MissionTokens(_) => {
                let item = self.item_tokens.and_then(|tokens| i64::try_from(tokens).ok());
                item.or_else(|| self.find(limit)).unwrap_or_default()
            }
        }
    }
}
