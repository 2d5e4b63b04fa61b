use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Sub};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{ChainId, LedgerId, PersonaSlug, WorkItemId};
use crate::persona::Tier;

/// Millionths of a US dollar. The price of a million tokens in dollars equals the price of one token in this unit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub i64);

impl Money {
    pub const ZERO: Self = Self(0);

    /// Rounds up, so that a reservation is never too small.
    #[expect(clippy::cast_possible_truncation, reason = "a price beyond 9e12 dollars is no price")]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e6).ceil() as i64)
    }

    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 != 0 && self.0.abs() < 10_000 { write!(f, "${:.4}", self.dollars()) } else { write!(f, "${:.2}", self.dollars()) }
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Tokens of one model call, counted by the endpoint.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All tokens of the prompt, including cached ones.
    pub input: u64,
    /// Tokens of `input` from the provider's cache.
    pub cached: u64,
    pub output: u64,
}

impl TokenUsage {
    pub fn total(self) -> u64 {
        self.input + self.output
    }
}

impl Add for TokenUsage {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { input: self.input + other.input, cached: self.cached + other.cached, output: self.output + other.output }
    }
}

/// The purpose of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Chat,
    Ask,
    Standup,
    Step,
    /// Whom a message is for.
    Routing,
    Board,
    Overwatch,
    /// Vectors of what is remembered and asked, and summaries of long channels.
    Memory,
    /// Speech, and what people said.
    Voice,
    Other,
}

impl Purpose {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Ask => "ask",
            Self::Standup => "standup",
            Self::Step => "step",
            Self::Routing => "routing",
            Self::Board => "board",
            Self::Overwatch => "overwatch",
            Self::Memory => "memory",
            Self::Voice => "voice",
            Self::Other => "other",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Not settled yet. After a crash it stays at its worst-case cost.
    Reserved,
    Answered,
    /// Answered, without a count of the tokens.
    Estimated,
    Failed,
    Cancelled,
}

impl CallOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Answered => "answered",
            Self::Estimated => "estimated",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How many model calls a person's message may cause, directly and through agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    pub chain: ChainId,
    /// The most calls of the whole chain, of all who make some.
    pub calls: u32,
}

/// A planned model call with its worst-case cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Reservation {
    pub id: LedgerId,
    pub at: DateTime<Utc>,
    /// None if the caller is not a persona.
    pub persona: Option<PersonaSlug>,
    pub purpose: Purpose,
    /// The id of the turn, ask, meeting or item.
    pub subject: String,
    /// None: only money is a limit.
    pub allowance: Option<Allowance>,
    pub provider: String,
    pub model: String,
    pub tier: Tier,
    /// Worst-case tokens: the estimated prompt and the longest allowed answer.
    pub tokens: u64,
    pub cost: Money,
}

/// The real cost of a model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    pub id: LedgerId,
    pub usage: TokenUsage,
    pub cost: Money,
    pub latency_ms: u64,
    pub outcome: CallOutcome,
}

/// How costs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostGroup {
    /// In UTC.
    Day,
    Persona,
    Purpose,
    Model,
    /// Only calls for work items.
    Item,
}

impl CostGroup {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Persona => "persona",
            Self::Purpose => "purpose",
            Self::Model => "model",
            Self::Item => "item",
        }
    }
}

/// The sums of one group. Unsettled calls count with their worst case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLine {
    /// The day, persona, purpose, model or item. `none` for callers that are not personas.
    pub key: String,
    pub calls: u64,
    /// How many of the calls are estimates, because the endpoint has not counted or the call did not end.
    pub estimated: u64,
    pub usage: TokenUsage,
    pub cost: Money,
}

/// A budget limit (COST-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Day,
    DayTokens,
    PersonaDay(PersonaSlug),
    PersonaDayTokens(PersonaSlug),
    /// Per work item, over all its runs.
    Item(WorkItemId),
    ItemTokens(WorkItemId),
    /// Per mission, with all its steps.
    Mission(WorkItemId),
    MissionTokens(WorkItemId),
}

impl Limit {
    /// Whether it is a daily limit.
    pub fn ends_with_the_day(&self) -> bool {
        match self {
            Self::Day | Self::DayTokens | Self::PersonaDay(_) | Self::PersonaDayTokens(_) => true,
            Self::Item(_) | Self::ItemTokens(_) | Self::Mission(_) | Self::MissionTokens(_) => false,
        }
    }

    /// The key of its setting in `[budgets]`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::DayTokens => "day_tokens",
            Self::PersonaDay(_) => "persona_day",
            Self::PersonaDayTokens(_) => "persona_day_tokens",
            Self::Item(_) => "item",
            Self::ItemTokens(_) => "item_tokens",
            Self::Mission(_) => "mission",
            Self::MissionTokens(_) => "mission_tokens",
        }
    }

    /// The persona, the item or the mission. Empty for the team.
    pub fn whose(&self) -> &str {
        match self {
            Self::Day | Self::DayTokens => "",
            Self::PersonaDay(persona) | Self::PersonaDayTokens(persona) => persona.as_str(),
            Self::Item(id) | Self::ItemTokens(id) | Self::Mission(id) | Self::MissionTokens(id) => id.as_str(),
        }
    }

    /// The mission whose limit it is. It asks for more itself, once for all its steps.
    pub fn mission(&self) -> Option<&WorkItemId> {
        match self {
            Self::Mission(mission) | Self::MissionTokens(mission) => Some(mission),
            _ => None,
        }
    }

    /// The limit with this setting, if it is a daily one.
    pub fn daily(setting: &str, whose: &str) -> Option<Self> {
        match setting {
            "day" => Some(Self::Day),
            "day_tokens" => Some(Self::DayTokens),
            "persona_day" => Some(Self::PersonaDay(whose.into())),
            "persona_day_tokens" => Some(Self::PersonaDayTokens(whose.into())),
            _ => None,
        }
    }

    /// Whether it limits tokens, not money.
    pub fn is_of_tokens(&self) -> bool {
        matches!(self, Self::DayTokens | Self::PersonaDayTokens(_) | Self::ItemTokens(_))
    }

    /// Formats an amount in the limit's unit, millionths of a dollar or tokens, for people.
    pub fn render(&self, amount: i64) -> String {
        match self {
            Self::Day | Self::PersonaDay(_) | Self::Item(_) | Self::Mission(_) => Money(amount).to_string(),
            Self::DayTokens | Self::PersonaDayTokens(_) | Self::ItemTokens(_) | Self::MissionTokens(_) => format!("{amount} tokens"),
        }
    }
}

/// A refused reservation. The text is for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Refused {
    pub limit: Limit,
    /// Includes reservations, in the limit's unit.
    pub spent: i64,
    pub allowed: i64,
}

impl Refused {
    /// As the persona says it that was refused.
    pub fn in_own_words(&self) -> String {
        match &self.limit {
            Limit::PersonaDay(_) | Limit::PersonaDayTokens(_) => self.render("I have", "my"),
            _ => self.to_string(),
        }
    }

    fn render(&self, who_has: &str, whose: &str) -> String {
        let until = if self.limit.ends_with_the_day() { " for today" } else { "" };
        let (spent, allowed) = (self.limit.render(self.spent), self.limit.render(self.allowed));
        format!("{who_has} used {} of {whose} {allowed}{until}", spent.trim_end_matches(" tokens"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match &self.limit {
            Limit::Day | Limit::DayTokens => "the team",
            Limit::PersonaDay(persona) | Limit::PersonaDayTokens(persona) => persona.as_str(),
            Limit::Item(_) | Limit::ItemTokens(_) => "this item",
            Limit::Mission(_) | Limit::MissionTokens(_) => "the mission",
        };
        f.write_str(&self.render(&format!("{who} has"), "its"))
    }
}
