//! A persona's contributions to a standup: its report, its call on the essential question, and the conclusion.
//!
//! Each is a method of [`Turns`]. A model writes it if one is configured. Otherwise, or if the call or conclusion is invalid, `by_rule`
//! generates it from the shared page. `material` creates the prompts' data blocks. This module does not read feeds, choose speakers, store
//! or post. Proposed actions become work items only after a check.

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
use kernel::memory::retrieval::Quote;
use kernel::money::Purpose;
use kernel::persona::Persona;
use tokio_util::sync::CancellationToken;

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

    /// Feeds and people's reports may contain secrets.
    fn redact(&self, text: String, meeting: &Meeting) -> String {
        self.agents.runner.redact(text, meeting.id.as_str())
    }
}

/// Asks a persona within this meeting's budget.
fn run<'a>(persona: &'a Persona, meeting: &'a Meeting, prompt: Prompt, tokens: u32, cancel: &'a CancellationToken) -> Run<'a> {
    Run::new(persona, (Purpose::Standup, meeting.id.as_str()), prompt, tokens, cancel)
}

/// The input of a report (STAND-4).
#[derive(Debug, Clone, Copy)]
pub struct ReportAsked<'a> {
    pub persona: &'a PersonaSlug,
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    /// The earlier seats of the round, in order.
    pub before: &'a [Seat],
    pub hints: &'a [Hint],
    /// The speaker's open items.
    pub items: &'a [WorkItem],
    pub lessons: &'a [Memory],
    /// What the team has found out since the last report, the newest first.
    pub findings: &'a [Quote],
    /// What people said in the channels meanwhile, the newest first.
    pub told: &'a [Quote],
    /// The essential question, for the persona that makes the call. None if not configured, or if its feed has no value.
    pub question: Option<QuestionAsked<'a>>,
    /// Open calls. The persona that reports the delta says whether they are on track.
    pub open_calls: &'a [Prediction],
    pub scoreboard: &'a Scoreboard,
    /// The last Day Report before today.
    pub last_report: Option<&'a DayReport>,
    /// Changed actions since then, one line each.
    pub moved: &'a [String],
    /// How often people rated the speaker's insights as useful and not useful.
    pub rated: (u64, u64),
    /// Include only what is new to this speaker.
    pub delta_context: bool,
}

/// The essential question with its settling condition.
#[derive(Debug, Clone, Copy)]
pub struct QuestionAsked<'a> {
    pub text: &'a str,
    pub rule: &'a SettlingRule,
    /// The current value.
    pub base: f64,
    /// Earlier values, oldest first.
    pub history: &'a [(DateTime<Utc>, f64)],
    pub expires_at: DateTime<Utc>,
    /// The value can never fall.
    pub only_rises: bool,
}

impl QuestionAsked<'_> {
    /// The computed call, which is certain once nothing can change the result any more.
    fn call_by_rule(&self, made_at: DateTime<Utc>, by: &PersonaSlug) -> Call {
        let decided = prediction::find_decision(self.rule, self.base, self.only_rises, by);
        decided.unwrap_or_else(|| prediction::call_by_rule(self.rule, self.base, self.history, made_at, self.expires_at, by))
    }

    /// Whether the value has passed the threshold for good.
    pub fn is_decided(&self) -> bool {
        prediction::is_decided(self.rule, self.base, self.only_rises)
    }
}

/// The input of a call (STAND-11).
#[derive(Debug, Clone, Copy)]
pub struct CallAsked<'a> {
    pub persona: &'a PersonaSlug,
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    /// All seats of the round, in order.
    pub seats: &'a [Seat],
    pub cross_check: &'a CrossCheck,
    pub question: QuestionAsked<'a>,
    pub scoreboard: &'a Scoreboard,
}

/// The input of the conclusion.
#[derive(Debug, Clone, Copy)]
pub struct ConcludeAsked<'a> {
    pub meeting: &'a Meeting,
    pub page: &'a SharedPage,
    pub seats: &'a [Seat],
    pub cross_check: &'a CrossCheck,
    pub call: Option<&'a Call>,
    /// The subject of the call.
    pub question: Option<QuestionAsked<'a>>,
    pub last_report: Option<&'a DayReport>,
    /// Changed actions since then, one line each.
    pub moved: &'a [String],
    /// All open items.
    pub open: &'a [WorkItem],
    /// What people said in the channels meanwhile, the newest first.
    pub told: &'a [Quote],
    /// People who may own actions.
    pub people: &'a [String],
}

/// The conclusion of a standup.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// At most 3 lines.
    pub tldr: Vec<String>,
    /// Unchecked: the owner may not exist.
    pub actions: Vec<ProposedAction>,
    /// Lessons with their persona. None: the whole team.
    pub lessons: Vec<(Option<PersonaSlug>, String)>,
    /// `provider/model`. None if it was generated without a model.
    pub model: Option<String>,
    /// Problems with the model's answer, for operators.
    pub problems: Vec<String>,
}
