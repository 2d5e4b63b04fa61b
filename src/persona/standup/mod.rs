//! What a persona says in a standup: its report, its call on the essential question, and the conclusion of everybody's reports.
//!
//! Each is a method of [`Performer`](super::turn::Performer): a model writes it where one is configured, and `by_rule` puts it together
//! from the shared page where none is, or where the model's answer is of no use for a call or a conclusion. `material` makes the data
//! blocks of the prompts. Nothing here reads a feed, decides who speaks, stores or posts anything, and nothing here decides what becomes
//! a work item: proposed actions are proposals until the meeting has checked them.

mod by_rule;
mod call;
mod conclude;
mod figures;
mod material;
mod report;

#[cfg(test)]
mod fixture;

use chrono::{DateTime, Utc};

use crate::domain::ids::PersonaSlug;
use crate::domain::meeting::{Meeting, Seat};
use crate::domain::memory::Memory;
use crate::domain::page::SharedPage;
use crate::domain::prediction::{self, Call, Prediction, Scoreboard, SettlingRule};
use crate::domain::report::DayReport;
use crate::domain::tension::{CrossCheck, Hint};
use crate::domain::work::{ProposedAction, WorkItem};

/// What a speaker is given for its report (STAND-4).
#[derive(Debug, Clone, Copy)]
pub struct ReportAsked<'a> {
    pub persona: &'a PersonaSlug,
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    /// The seats before this one in the round, in speaking order.
    pub before: &'a [Seat],
    pub hints: &'a [Hint],
    /// The speaker's own open items.
    pub items: &'a [WorkItem],
    pub lessons: &'a [Memory],
    /// The essential question; none where there is none or its feed gives no value. Told to the persona that makes the call.
    pub question: Option<QuestionAsked<'a>>,
    /// Calls that are not settled yet. The persona that reports the delta says whether they are on track.
    pub open_calls: &'a [Prediction],
    pub scoreboard: &'a Scoreboard,
    /// The Day Report before today's.
    pub last_report: Option<&'a DayReport>,
    /// What became of actions since then, one line each.
    pub moved: &'a [String],
    /// How often people rated the speaker's insights useful, and how often not.
    pub rated: (u64, u64),
    /// Send only what is new to this speaker; else everything.
    pub delta_context: bool,
}

/// The essential question with the terms on which code will settle a call.
#[derive(Debug, Clone, Copy)]
pub struct QuestionAsked<'a> {
    pub text: &'a str,
    pub rule: &'a SettlingRule,
    /// The value now.
    pub base: f64,
    /// Earlier values, oldest first.
    pub history: &'a [(DateTime<Utc>, f64)],
    pub expires_at: DateTime<Utc>,
}

impl QuestionAsked<'_> {
    /// The position that the arithmetic of the value takes.
    fn call_by_rule(&self, made_at: DateTime<Utc>, by: &PersonaSlug) -> Call {
        prediction::call_by_rule(self.rule, self.base, self.history, made_at, self.expires_at, by)
    }
}

/// What a persona is given for its call (STAND-11).
#[derive(Debug, Clone, Copy)]
pub struct CallAsked<'a> {
    pub persona: &'a PersonaSlug,
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    /// Of the round, in speaking order.
    pub seats: &'a [Seat],
    pub cross_check: &'a CrossCheck,
    pub question: QuestionAsked<'a>,
    pub scoreboard: &'a Scoreboard,
}

/// What the facilitator is given to conclude a standup.
#[derive(Debug, Clone, Copy)]
pub struct ConcludeAsked<'a> {
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    pub seats: &'a [Seat],
    pub cross_check: &'a CrossCheck,
    pub call: Option<&'a Call>,
    /// What the call is about.
    pub question: Option<QuestionAsked<'a>>,
    pub last_report: Option<&'a DayReport>,
    /// What became of actions since then, one line each.
    pub moved: &'a [String],
    /// Everybody's open items.
    pub open: &'a [WorkItem],
    /// The names of people that an action may be given to.
    pub people: &'a [String],
}

/// What a standup comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// At most 3 lines.
    pub tldr: Vec<String>,
    /// Unchecked: their owners are names and nothing more.
    pub actions: Vec<ProposedAction>,
    /// What was learnt, and by whom; none for the whole team.
    pub lessons: Vec<(Option<PersonaSlug>, String)>,
    /// `provider/model`; none when it was put together by rule.
    pub model: Option<String>,
    /// What was wrong with the model's answer, for operators.
    pub problems: Vec<String>,
}
