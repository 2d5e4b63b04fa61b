use crate::domain::usage::Money;

/// `[budgets]`: what may be spent. None: no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Per day (UTC), all personas together.
    pub day: Option<Money>,
    pub day_tokens: Option<u64>,
    /// Per day and persona.
    pub persona_day: Option<Money>,
    pub persona_day_tokens: Option<u64>,
}

impl Default for Budgets {
    /// Five dollars a day: enough for a team's day of chat on cheap models, and no surprise on a bill.
    fn default() -> Self {
        Self { day: Some(Money(5_000_000)), day_tokens: None, persona_day: None, persona_day_tokens: None }
    }
}
