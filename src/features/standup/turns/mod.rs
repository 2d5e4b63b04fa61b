//! What a persona says in a standup: its report, its call on the essential question, and the conclusion of everybody's reports.
//!
//! Each is a method of [`Turns`]. A model writes it where one is configured. Where none is, or where its call or conclusion cannot be used,
//! `by_rule` generates it from the shared page. `material` makes the data blocks of the prompts. Nothing here reads a feed, decides who speaks,
//! stores or posts anything. Proposed actions become work items only after the meeting has checked them.

mod by_rule;
mod call;
mod conclude;
mod figures;
mod material;
mod report;

#[cfg(test)]
mod fixture;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{ProposedAction, WorkItem};
use crate::features::meeting::model::{Meeting, Seat};
use crate::features::standup::model::page::SharedPage;
use crate::features::standup::model::prediction;
use crate::features::standup::model::prediction::{Call, Prediction, Scoreboard};
use crate::features::standup::model::report::DayReport;
use crate::features::standup::model::tension::{CrossCheck, Hint};
use kernel::agent::{Agents, Prompt, Run};
use kernel::feeds::condition::SettlingRule;
use kernel::ids::PersonaSlug;
use kernel::memory::Memory;
use kernel::money::Purpose;
use kernel::persona::Persona;
use tokio_util::sync::CancellationToken;

/// The turns of a standup.
pub struct Turns<'a> {
    agents: &'a Agents,
}

impl<'a> Turns<'a> {
    pub fn new(agents: &'a Agents) -> Self {
        Self { agents }
    }

    fn now(&self) -> DateTime<Utc> {
        self.agents.runner.clock.now()
    }

    /// Secrets may have come with a feed or a person's report.
    fn redact(&self, text: String, meeting: &Meeting) -> String {
        self.agents.runner.redact(text, meeting.id.as_str())
    }
}

/// A question of this meeting to a persona. The meeting pays.
fn run<'a>(persona: &'a Persona, meeting: &'a Meeting, prompt: Prompt, tokens: u32, cancel: &'a CancellationToken) -> Run<'a> {
    Run::new(persona, (Purpose::Standup, meeting.id.as_str()), prompt, tokens, cancel)
}

/// What a speaker is told for its report (STAND-4).
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

/// What a persona is told for its call (STAND-11).
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

/// What the facilitator is told to conclude a standup.
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

/// The result of a standup.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// At most 3 lines.
    pub tldr: Vec<String>,
    /// Unchecked: an owner is a name that may belong to nobody.
    pub actions: Vec<ProposedAction>,
    /// What was learnt, and by whom; none for the whole team.
    pub lessons: Vec<(Option<PersonaSlug>, String)>,
    /// `provider/model`; none when it was generated by rule.
    pub model: Option<String>,
    /// What was wrong with the model's answer, for operators.
    pub problems: Vec<String>,
}
