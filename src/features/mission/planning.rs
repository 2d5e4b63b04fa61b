//! Plans a mission: a model says what it is about, then divides it into steps; code checks the plan, and a cheap model doubts it (WORK-13, WORK-14).
//! Each answer is a step of the job, so that nothing is paid twice.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::features::backlog::action::KnownOwners;
use crate::features::backlog::model::{Origin, Owner, WorkItem};
use crate::features::mission::follow::{Follower, LONG, SWEEP};
use crate::features::mission::model::plan::{Learnt, LearntDraft, Plan, PlanDraft, Setting, Understanding, check};
use crate::features::mission::model::{Mission, MissionStatus};
use crate::features::mission::prompts::{Frame, RefusedDraft};
use crate::features::mission::store::MissionChange;
use crate::features::mission::{by_rule, picture, prompts, render};
use crate::features::overwatch::model::Insight;
use kernel::agent::prompt::PromptKind;
use kernel::agent::{Prompt, Run, RunError};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::jobs::{JobContext, JobError};
use kernel::llm::structured::Structured;
use kernel::memory::Scope;
use kernel::memory::retrieval::terms_of;
use kernel::money::{Money, Purpose};
use kernel::people::Directory;
use kernel::persona::Tier;
use kernel::text::one_line;

/// Enough for a plan of forty steps.
const PLAN_TOKENS: u32 = 12_000;
const UNDERSTANDING_TOKENS: u32 = 2000;
const DOUBTS_TOKENS: u32 = 1500;

/// The most insights in the prompt of a plan (OVER-6), and the most of which the plan says what they changed.
const INSIGHTS: usize = 20;
const LEARNT: usize = 5;

/// The most tries for a plan, and for a persona.
pub(super) const ROUNDS: u32 = 2;

/// The most assumptions of a plan, and the most questions about them.
const ASSUMED: usize = 8;
const QUESTIONS: usize = 3;

/// The most answers to choose from, and the most characters of one.
const SUGGESTIONS: usize = 4;
const SUGGESTION: usize = 160;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Doubts {
    #[serde(default)]
    doubts: Vec<Doubt>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Doubt {
    /// The step's title.
    step: String,
    /// Why it cannot be done as it stands.
    why: String,
}

/// A question to a model, whose answer is a step of the job.
pub(super) struct Asked<'a> {
    name: &'a str,
    tier: Tier,
    tokens: u32,
    /// Without an answer the job waits. Otherwise it goes on without.
    is_needed: bool,
}

impl<'a> Asked<'a> {
    pub(super) fn plan(name: &'a str, tokens: u32) -> Self {
        Self { name, tier: Tier::T2, tokens, is_needed: true }
    }

    pub(super) fn optional(name: &'a str, tier: Tier, tokens: u32) -> Self {
        Self { name, tier, tokens, is_needed: false }
    }
}

/// A model's answer, or why there is no usable one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer<T> {
    pub(super) value: Option<T>,
    pub(super) model: Option<String>,
    pub(super) fault: Option<String>,
}

impl Follower {
    /// Makes a plan and starts it, or proposes it. Without a valid plan the coordinator gets one item, and the person is told why.
    pub(super) async fn plan(&self, mission: &Mission, job: &JobContext) -> Result<(), JobError> {
        let place = self.find_place(mission, job).await?;
        let planned = if self.agents.is_offline() {
            Ok((mission.title.clone(), by_rule::plan(mission, &self.roster)))
        } else {
            self.plan_with_model(mission, job).await?
        };
        match planned {
            Ok((title, mut plan)) => {
                self.draft_personas(mission, &mut plan, job).await?;
                self.store_plan(mission, &title, &plan, &place, job).await
            }
            Err(faults) => self.leave_to_coordinator(mission, &faults, &place, job).await,
        }
    }

    async fn plan_with_model(&self, mission: &Mission, job: &JobContext) -> Result<Result<(String, Plan), Vec<String>>, JobError> {
        let understood: Answer<Understanding> =
            self.ask(mission, job, Asked::plan("understand", UNDERSTANDING_TOKENS), prompts::understand).await?;
        let understood = tidy(understood.value.unwrap_or_default());
        let title = Some(one_line(&understood.title, 100)).filter(|title| !title.is_empty()).unwrap_or_else(|| mission.title.clone());
        // A step, so that an answer from before a crash is read with the insights of its own prompt.
        let insights: Vec<Insight> = job.step("insights", || async { Ok(self.find_insights(mission).await?) }).await?;
        let mut faults = Vec::new();
        let mut refused: Option<PlanDraft> = None;
        // A plan that passed the checks of code, but that a model doubts.
        let mut doubted: Option<Plan> = None;
        for round in 1..=ROUNDS {
            let last = RefusedDraft { draft: refused.as_ref(), faults: &faults };
            let prompt = |frame: Frame<'_>| prompts::plan(frame, (&understood, &insights), &last, &self.repository);
            let drafted: Answer<PlanDraft> = self.ask(mission, job, Asked::plan(&format!("plan-{round}"), PLAN_TOKENS), prompt).await?;
            let names = drafted.value.as_ref().map(PlanDraft::names).unwrap_or_default();
            let people = self.people.directory_naming(&names, &self.roster).await?;
            let checked = match &drafted.value {
                Some(draft) => check(understood.clone(), draft, &self.setting(mission, &people, mission.created_at)),
                None => Err(vec![format!("the answer was no plan: {}", drafted.fault.as_deref().unwrap_or("it was empty"))]),
            };
            let learnt = drafted.value.as_ref().map_or_else(Vec::new, |draft| read_learnt(&draft.learnt, &insights));
            refused = drafted.value;
            let mut plan = match checked {
                Ok(plan) => Plan { made_by: drafted.model, learnt, ..plan },
                Err(found) => {
                    faults = found;
                    continue;
                }
            };
            let doubts = self.doubt(mission, &plan, round, job).await?;
            plan.warnings.extend(doubts.iter().cloned());
            if doubts.is_empty() || round == ROUNDS {
                return Ok(Ok((title, plan)));
            }
            faults = doubts;
            doubted = Some(plan);
        }
        Ok(doubted.map(|plan| (title, plan)).ok_or(faults))
    }

    /// What drafts of a mission's plan are checked against.
    pub(super) fn setting<'a>(&'a self, mission: &'a Mission, people: &'a Directory, at: DateTime<Utc>) -> Setting<'a> {
        let owners = KnownOwners { roster: &self.roster, people };
        Setting { directive: &mission.directive, owners, closes: self.closes, at }
    }

    /// What personas noticed about earlier missions that shares words with this one, the most fitting first.
    async fn find_insights(&self, mission: &Mission) -> Result<Vec<Insight>, StoreError> {
        let scope = Scope::private(mission.private_to.clone());
        let words: HashSet<String> =
            terms_of(&format!("{} {}", mission.request, mission.directive.render_in_short())).into_iter().collect();
        let known = self.store.list_insights_for_plans(&scope, INSIGHTS * 5).await?;
        let shared = |insight: &Insight| {
            let about = format!("{} {}", insight.title, insight.text);
            terms_of(&about).into_iter().collect::<HashSet<_>>().intersection(&words).count()
        };
        let mut fitting: Vec<(usize, Insight)> =
            known.into_iter().map(|insight| (shared(&insight), insight)).filter(|(shared, _)| *shared > 0).collect();
        fitting.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        Ok(fitting.into_iter().take(INSIGHTS).map(|(_, insight)| insight).collect())
    }

    /// What a cheap model thinks cannot be done. If the model fails, the plan is used all the same.
    async fn doubt(&self, mission: &Mission, plan: &Plan, round: u32, job: &JobContext) -> Result<Vec<String>, JobError> {
        let prompt = |frame: Frame<'_>| prompts::feasible(&frame, plan);
        let name = format!("doubts-{round}");
        let given: Answer<Doubts> = self.ask(mission, job, Asked::optional(&name, Tier::T1, DOUBTS_TOKENS), prompt).await?;
        let named = |doubt: &Doubt| {
            plan.steps.iter().find(|step| one_line(&step.title, 200) == one_line(&doubt.step, 200)).map(|step| step.title.clone())
        };
        let doubts = given.value.unwrap_or_default().doubts;
        // A doubt about a step that does not exist is ignored.
        Ok(doubts.iter().filter_map(|doubt| Some(format!("\"{}\": {}", named(doubt)?, one_line(&doubt.why, 200)))).collect())
    }

    /// One call of the coordinator, as a step of the job.
    pub(super) async fn ask<T: Serialize + DeserializeOwned + JsonSchema + Send>(
        &self,
        mission: &Mission,
        job: &JobContext,
        Asked { name, tier, tokens, is_needed }: Asked<'_>,
        prompt: impl FnOnce(Frame<'_>) -> Prompt + Send,
    ) -> Result<Answer<T>, JobError> {
        let given = job
            .step(name, || async {
                let coordinator = self.roster.coordinator();
                let system = self.agents.system_prompt(coordinator, PromptKind::Judgement);
                let prompt = prompt(Frame { system, roster: &self.roster, mission, tokens: self.agents.prompt_tokens(tier) });
                let run = Run::new(coordinator, (Purpose::Step, mission.id.as_str()), prompt, tokens, job.cancelled());
                match self.agents.run_structured::<T>(Run { tier, ..run }).await {
                    Ok(Structured { value, model }) => Ok(Answer { value: Some(value), model: Some(model), fault: None }),
                    Err(RunError::Cancelled) => Err(JobError::Stopping),
                    Err(error) if !is_needed || matches!(error, RunError::Unusable { .. } | RunError::Nothing) => {
                        tracing::warn!(mission = %mission.id, step = name, %error, "an answer about a mission cannot be used");
                        Ok(Answer { value: None, model: None, fault: Some(error.in_short()) })
                    }
                    Err(error) => Err(self.give_way(mission, error, job).await),
                }
            })
            .await?;
        Ok(given)
    }

    /// What the job does about a call that was not answered. The person is told once.
    async fn give_way(&self, mission: &Mission, error: RunError, job: &JobContext) -> JobError {
        let again = match error {
            RunError::Lost => return JobError::LostLease,
            RunError::Store(error) => return error.into(),
            RunError::OutOfBudget(ref refused) if refused.limit.mission().is_some() => {
                let told = self.tell_used_up(mission, refused, job.now()).await;
                return told.map_or_else(JobError::from, |()| JobError::Sleep(job.now() + LONG));
            }
            RunError::OutOfBudget(_) => JobError::Sleep(job.now() + SWEEP),
            ref error => JobError::retry_later(error.in_short()),
        };
        let text = format!("I cannot go on yet: {}. {} I try again by myself.", error.in_short(), error.remedy());
        let notice = OutboundMessage { id: mission.message_id("delayed"), ..render::say(mission, &self.roster, text) };
        match self.store.enqueue_once(&notice, job.now()).await {
            Ok(_) => again,
            Err(error) => error.into(),
        }
    }

    /// One transaction: the plan, what people see of it, and its items if nobody has to approve it.
    async fn store_plan(&self, mission: &Mission, title: &str, plan: &Plan, place: &ChannelId, job: &JobContext) -> Result<(), JobError> {
        let now = job.now();
        let plan = &Plan { expected: self.expect_cost(plan).await?, ..plan.clone() };
        let planned = Mission { title: title.to_owned(), plan: Some(plan.clone()), ..mission.clone() };
        let approval = self.settings.why_to_approve(plan);
        let start = match &approval {
            Some(why) => render::Start::Approved(why),
            None if self.agents.is_offline() => render::Start::WithModel,
            None => render::Start::Now,
        };
        let card = render::plan_card(&planned, plan, start, &self.roster);
        let card = picture::add_picture(card, plan, &self.roster, &self.agents.runner.redactor).await;
        let mut outbox = vec![card];
        outbox.extend(render::questions(&planned, plan, &self.roster));
        outbox.extend(render::new_personas(&planned, plan, &self.roster));
        let items = if approval.is_some() { Vec::new() } else { planned.items(plan, &self.roster.coordinator().slug, place, now) };
        let change = MissionChange {
            status: Some(if approval.is_some() { MissionStatus::Proposed } else { MissionStatus::Running }),
            title: Some(title),
            plan: Some(plan),
            why: approval.as_deref(),
            items: &items,
            outbox: &outbox,
            ..MissionChange::default()
        };
        self.change(mission, &change, job).await
    }

    /// The expected cost, from the mean cost of recent items. None if there are no figures yet.
    async fn expect_cost(&self, plan: &Plan) -> Result<Option<Money>, JobError> {
        let mean = self.store.mean_cost_of_steps().await?;
        Ok(mean.map(|mean| Money(mean.0.saturating_mul(i64::try_from(plan.steps.len()).unwrap_or(i64::MAX)))))
    }

    async fn leave_to_coordinator(
        &self,
        mission: &Mission,
        faults: &[String],
        place: &ChannelId,
        job: &JobContext,
    ) -> Result<(), JobError> {
        let coordinator = &self.roster.coordinator().slug;
        let why = format!("no valid plan came about: {}", faults.join("; "));
        let origin = match &mission.by {
            Some((id, name)) => Origin::Person { id: id.clone(), name: name.clone(), message: mission.message.clone() },
            None => Origin::CommandLine,
        };
        let item = WorkItem {
            how: mission.request.clone(),
            why: one_line(&why, 600),
            channel: Some(place.clone()),
            private_to: mission.private_to.clone(),
            ..WorkItem::new(format!("Plan by hand: {}", mission.title), Owner::Persona(coordinator.clone()), origin, job.now())
        };
        let message = OutboundMessage {
            // Each failed try is reported.
            id: mission.message_id(&format!("no-plan-{}", job.job().id)),
            ..render::no_plan(mission, faults, &item, &self.roster)
        };
        let change = MissionChange {
            status: Some(MissionStatus::Failed),
            why: Some(&why),
            items: &[item],
            outbox: &[message],
            ..MissionChange::default()
        };
        self.change(mission, &change, job).await
    }
}

/// Shortens the lines, and drops questions over the limit.
fn tidy(understood: Understanding) -> Understanding {
    let lines = |lines: Vec<String>| lines.iter().map(|line| one_line(line, 300)).filter(|line| !line.is_empty()).take(12).collect();
    let mut asked = 0;
    let assumed = understood.assumed.into_iter().take(ASSUMED).map(|mut assumption| {
        assumption.text = one_line(&assumption.text, 300);
        assumption.question =
            assumption.question.map(|question| one_line(&question, 200)).filter(|question| !question.is_empty() && asked < QUESTIONS);
        asked += usize::from(assumption.question.is_some());
        let suggestions = std::mem::take(&mut assumption.suggestions);
        if assumption.question.is_some() {
            let suggestions = suggestions.iter().map(|answer| one_line(answer, SUGGESTION)).filter(|answer| !answer.is_empty());
            assumption.suggestions = suggestions.take(SUGGESTIONS).collect();
        }
        assumption.answer = None;
        assumption
    });
    let assumed = assumed.filter(|assumption| !assumption.text.is_empty()).collect();
    Understanding { given: lines(understood.given), to_find_out: lines(understood.to_find_out), assumed, title: understood.title }
}

/// The entries that name an insight from the plan's prompt.
fn read_learnt(given: &[LearntDraft], insights: &[Insight]) -> Vec<Learnt> {
    let read = |given: &LearntDraft| {
        let number: usize = given.insight.trim().trim_start_matches(['[', 'i']).trim_end_matches(']').parse().ok()?;
        let insight = insights.get(number.checked_sub(1)?)?;
        let change = one_line(&given.change, 200);
        (!change.is_empty()).then(|| Learnt { insight: insight.text.clone(), change })
    };
    given.iter().filter_map(read).take(LEARNT).collect()
}
