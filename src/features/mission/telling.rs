//! Tells the steps of a mission something on the way: a person's words, an answer to a question about an assumption, or a colleague's message.

use crate::features::backlog::model::Execution;
use crate::features::backlog::service::Asker;
use crate::features::backlog::store::{ItemEdit, Reshaping};
use crate::features::mission::changing::Wish;
use crate::features::mission::model::plan::{GivenAnswer, Plan, Step};
use crate::features::mission::model::{Mission, MissionStatus};
use crate::features::mission::render;
use crate::features::mission::service::{MissionError, Missions, check_may_change, named, refused};
use crate::features::mission::store::MissionChange;
use kernel::chat::medium::Medium;
use kernel::ids::WorkItemId;
use kernel::text::without_invisible;

impl Missions {
    /// Adds a person's words to the instructions of all steps that are not done. A step in progress goes on with them.
    pub(super) async fn tell(&self, mission: &Mission, text: &str, asker: &Asker) -> Result<usize, MissionError> {
        check_may_change(mission, asker)?;
        let (false, Some(plan)) = (mission.status.is_over(), &mission.plan) else {
            return Err(refused(format!("{} has no steps that could be told: it is {}.", named(mission), mission.status.as_str())));
        };
        let added = format!("{} added: {}", asker.name(), without_invisible(text).trim());
        self.add_to_steps(mission, plan.clone(), &added, None, asker).await
    }

    /// Answers a question about what is assumed with one of the suggestions, once. Returns the outcome, for people.
    pub(super) async fn answer(&self, mission: &Mission, (of, suggestion): (usize, usize), asker: &Asker) -> Result<String, MissionError> {
        check_may_change(mission, asker)?;
        let plan = mission.plan.as_ref().filter(|_| !mission.status.is_over());
        let Some(plan) = plan else { return Err(refused(format!("{} is over: it is {}.", named(mission), mission.status.as_str()))) };
        let assumption = plan.assumed.get(of);
        let Some((assumption, text)) = assumption.and_then(|assumption| Some((assumption, assumption.suggestions.get(suggestion)?))) else {
            return Err(refused("This question is not asked any more."));
        };
        if let Some(answer) = &assumption.answer {
            let (by, text) = (Medium::Chat.line_within(&answer.by, 40), Medium::Chat.line_within(&answer.text, 100));
            return Err(refused(format!(
                "{by} has answered it already: {text}. `/mission tell` says something else to those who work on it."
            )));
        }
        let mut answered = plan.clone();
        answered.assumed[of].answer = Some(GivenAnswer { by: asker.name().to_owned(), text: text.clone() });
        // The plan already assumes the first suggestion.
        let told = if suggestion == 0 {
            self.change(mission, &MissionChange { plan: Some(&answered), ..MissionChange::default() }, asker).await?;
            0
        } else {
            let question = assumption.question.as_deref().unwrap_or_default();
            let added =
                format!("{} answered the question \"{question}\": {text}. It was assumed before: {}", asker.name(), assumption.text);
            // The criteria of steps may contradict the answer. A model looks for that.
            let wish = self.agents().map(|_| Wish {
                mission: mission.id.clone(),
                by: asker.name().to_owned(),
                text: added.clone(),
                message: None,
                colleague: None,
                is_told: true,
            });
            self.add_to_steps(mission, answered, &added, wish.as_ref(), asker).await?
        };
        Ok(render::answered(asker.name(), assumption, text, told))
    }

    /// Adds something to the instructions of all steps that are not done, in one transaction. Returns the number of these steps.
    async fn add_to_steps(
        &self,
        mission: &Mission,
        plan: Plan,
        added: &str,
        wish: Option<&Wish>,
        asker: &Asker,
    ) -> Result<usize, MissionError> {
        let items = self.items_of(mission).await?;
        let is_open = |step: &Step| !items.iter().any(|item| item.id == step.item && item.status.is_over());
        let (plan, told) = tell_steps(mission, &plan, added, &is_open);
        let edits: Vec<_> = told.iter().map(ToldStep::edit).collect();
        let reshaping = Reshaping { edits: &edits, by: asker.name(), ..Reshaping::of(&mission.id) };
        let change = MissionChange {
            plan: Some(&plan),
            // A plan that nobody has approved has no items yet.
            reshaping: (mission.status != MissionStatus::Proposed).then_some(&reshaping),
            ..MissionChange::default()
        };
        self.change_and_wish(mission, &change, wish, asker).await?;
        Ok(told.len())
    }
}

/// The changed fields of the item of a step that was told something.
pub(super) struct ToldStep {
    item: WorkItemId,
    instructions: String,
    execution: Execution,
}

impl ToldStep {
    pub(super) fn edit(&self) -> (WorkItemId, ItemEdit<'_>) {
        (self.item.clone(), ItemEdit { how: Some(&self.instructions), execution: Some(&self.execution), ..ItemEdit::default() })
    }
}

/// The plan with something added to the instructions of these steps.
pub(super) fn tell_steps(mission: &Mission, plan: &Plan, added: &str, whom: &dyn Fn(&Step) -> bool) -> (Plan, Vec<ToldStep>) {
    let mut plan = plan.clone();
    let mut told = Vec::new();
    for step in plan.steps.iter_mut().filter(|step| whom(step)) {
        step.instructions = format!("{}\n\n{added}", step.instructions);
        told.push(ToldStep { item: step.item.clone(), instructions: mission.instructions_of(step), execution: step.kind.execution() });
    }
    (plan, told)
}
