use crate::config::settings;
use crate::money::{Limit, Money};

settings! {
    /// `[budgets]`: spending limits. None: no limit.
    ///
    /// The default of five dollars a day covers a team's chat on cheap models without a surprising bill. The default of one dollar per work
    /// item keeps one item from using up the day.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Budgets {
        day: Option<Money> = Some(Money(5_000_000)), "Dollars that may be spent in a day (UTC), all personas together.";
        day_tokens: Option<u64> = None, "Tokens that may be used in a day, all personas together.";
        persona_day: Option<Money> = None, "Dollars that each persona may spend in a day.";
        persona_day_tokens: Option<u64> = None, "Tokens that each persona may use in a day.";
        item: Option<Money> = Some(Money(1_000_000)), "Dollars that one work item may cost, all its tries together.";
        item_tokens: Option<u64> = None, "Tokens that one work item may use, all its tries together.";
        meeting: Option<Money> = None, "Dollars that one meeting may cost. Once they are spent it comes to its end.";
    }
}

impl Budgets {
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
        }
    }

    /// How much the button raises a limit: by the budget of one work item, or else by a dollar, or else by the limit itself.
    pub fn step(&self, limit: &Limit) -> i64 {
        match limit {
            Limit::Day | Limit::PersonaDay(_) | Limit::Item(_) => self.item.map_or(1_000_000, |money| money.0),
            Limit::DayTokens | Limit::PersonaDayTokens(_) | Limit::ItemTokens(_) => {
                let item = self.item_tokens.and_then(|tokens| i64::try_from(tokens).ok());
                item.or_else(|| self.find(limit)).unwrap_or_default()
            }
        }
    }
}
