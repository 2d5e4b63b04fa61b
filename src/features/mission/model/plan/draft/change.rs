//! Changes of a plan that is being carried out, and the checks of code (OVER-9).

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MOST_STEPS, Setting, StepDraft, check_step, check_step_of, find_doubts, find_loose_ends, key, name_steps, order, read_doers,
    read_numbers, shorten,
};
use crate::features::backlog::model::criteria::{FEWEST, read_draft};
use crate::features::backlog::model::short_id;
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::plan::phase::link_phases;
use crate::features::mission::model::plan::{Assumption, DroppedStep, GivenAnswer, LeftOut, Plan, PlanChange, Served, Step};
use kernel::ids::WorkItemId;
use kernel::text::one_line;

/// How often one plan is changed because of what people say, and as often because of messages between colleagues.
pub const MOST_CHANGES: usize = 5;

/// The most characters of a reason.
const WHY: usize = 300;

/// What changes about a plan, as a model drafts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeDraft {
    /// One sentence: what changes and why, or why nothing has to.
    pub why: String,
    /// Ids of steps that are not done any more.
    #[serde(default)]
    pub drop: Vec<String>,
    #[serde(default)]
    pub edit: Vec<EditDraft>,
    /// New steps.
    #[serde(default)]
    pub add: Vec<StepDraft>,
    /// Steps that are done and no longer right.
    #[serde(default)]
    pub again: Vec<AgainDraft>,
    /// All criteria of the delivery, if some do not fit any more. Otherwise null.
    #[serde(default)]
    pub criteria: Option<Vec<String>>,
    /// Numbers of parts of the directive, or ranges such as "4-9", that are not to be done any more.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// Questions to people that have an answer now.
    #[serde(default)]
    pub answers: Vec<AnswerDraft>,
}

impl ChangeDraft {
    /// The names of those who are to do or review steps.
    pub fn names(&self) -> Vec<&str> {
        let edited = self.edit.iter().flat_map(|edit| [&edit.owner, &edit.reviewer]).filter_map(Option::as_deref);
        edited.chain(self.add.iter().flat_map(StepDraft::names)).collect()
    }
}

/// Another form of a step. What is null stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditDraft {
    /// The id of the step.
    pub step: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub instructions: Option<String>,
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub criteria: Option<Vec<String>>,
    /// Ids of all steps whose result it needs.
    #[serde(default)]
    pub needs: Option<Vec<String>>,
    /// Who reviews it: a member or a person.
    #[serde(default)]
    pub reviewer: Option<String>,
    /// When it is due.
    #[serde(default)]
    pub due: Option<String>,
}

/// A step that is done and goes back to its author, with its files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgainDraft {
    /// The id of the step.
    pub step: String,
    /// What is no longer right about its result, in one sentence.
    pub why: String,
}

/// An answer to a question of the plan, in a person's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerDraft {
    /// The number of the question.
    pub question: usize,
    /// The answer in short.
    pub answer: String,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Open,
    Begun,
    Done,
    /// It failed or was cancelled.
    Lost,
}

impl Standing {
    fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Lost)
    }
}

/// The plan to be changed, and who changes it.
pub struct Change<'a> {
    pub plan: &'a Plan,
    pub setting: Setting<'a>,
    pub standing: &'a (dyn Fn(&WorkItemId) -> Standing + Sync),
    pub by: &'a str,
    /// What the person said. None for a command.
    pub said: Option<&'a str>,
    /// A colleague at work on a step, not a person: only steps that have not begun may change, and no part of the directive may be left out.
    pub by_colleague: bool,
}

/// A plan with its changes. The sets hold the items of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub plan: Plan,
    pub dropped: Vec<WorkItemId>,
    pub added: BTreeSet<WorkItemId>,
    /// Steps with other words or another owner.
    pub edited: BTreeSet<WorkItemId>,
    /// Existing steps with other needs.
    pub rewired: BTreeSet<WorkItemId>,
    /// Steps that were done and are done again, each with the reason.
    pub again: Vec<(WorkItemId, String)>,
}

/// Checks a change and makes it. None if nothing would be different.
///
/// # Errors
/// All faults, for the planner and for people.
pub fn change(of: &Change<'_>, draft: &ChangeDraft) -> Result<Option<Changed>, Vec<String>> {
    let mut faults = Vec::new();
    let why = one_line(&draft.why, WHY);
    let mut work = Work::begin(of, &why);
    let mut ids: HashMap<String, WorkItemId> = of.plan.steps.iter().map(|step| (key(short_id(&step.item)), step.item.clone())).collect();
    name_steps(&draft.add, &mut ids, &mut faults);
    match read_numbers(&draft.leave_out, of.setting.directive) {
        Ok(parts) if of.by_colleague && !parts.is_empty() => faults.push("only people leave parts of the directive out".to_owned()),
        Ok(parts) => work.leave_out(parts),
        Err(fault) => faults.push(format!("left out: {fault}")),
    }
    for again in &draft.again {
        let sent_back = work.find(&ids, &again.step).and_then(|step| work.send_back(&step, &again.why));
        faults.extend(sent_back.err());
    }
    for id in &draft.drop {
        match work.find(&ids, id) {
            // It may have been dropped with its parts.
            Err(_) if ids.get(&key(id)).is_some_and(|item| work.dropped.iter().any(|dropped| dropped.item == *item)) => {}
            Err(fault) => faults.push(fault),
            Ok(step) if (of.standing)(&step.item).is_over() => faults.push(format!("\"{}\" is over already", step.title)),
            Ok(step) if work.has_to_stay(&step) => faults.push(format!("\"{}\" has begun, so it stays as it is", step.title)),
            Ok(step) => work.drop_step(&step),
        }
    }
    ids.retain(|_, item| work.dropped.iter().all(|dropped| dropped.item != *item));
    for edit in &draft.edit {
        let edited = work.find(&ids, &edit.step).map_err(|fault| vec![fault]).and_then(|step| work.edit(&step, edit, &ids));
        faults.extend(edited.err().unwrap_or_default());
    }
    for step in &draft.add {
        match check_step(step, &ids, &of.setting) {
            Ok(checked) => {
                faults.extend(find_doubts(step, &of.setting));
                work.add(checked);
            }
            Err(found) => faults.extend(found.into_iter().map(|fault| format!("new step {}: {fault}", one_line(&step.id, 40)))),
        }
    }
    if !of.by_colleague {
        draft.answers.iter().for_each(|given| work.answer(given));
    }
    match &draft.criteria {
        Some(_) if of.by_colleague => faults.push("only people change what the delivery is judged by".to_owned()),
        Some(criteria) => match read_draft(criteria) {
            Some(criteria) => work.criteria = Some(criteria),
            None => faults.push(format!("the delivery would have fewer than {FEWEST} criteria")),
        },
        None => {}
    }
    if !faults.is_empty() {
        return Err(shorten(faults));
    }
    work.finish()
}

/// Leaves parts out, with the steps that serve nothing else. None if nothing would be different.
///
/// # Errors
/// There are no such parts, or no plan would be left.
pub fn leave_out(of: &Change<'_>, parts: &str, why: &str) -> Result<Option<Changed>, Vec<String>> {
    let parts = read_numbers(&[parts.to_owned()], of.setting.directive).map_err(|fault| vec![fault])?;
    let why = one_line(why, WHY);
    let mut work = Work::begin(of, &why);
    work.leave_out(parts);
    work.finish()
}

/// A plan that is being changed.
struct Work<'a> {
    of: &'a Change<'a>,
    why: &'a str,
    steps: Vec<Step>,
    left_out: Vec<LeftOut>,
    dropped: Vec<DroppedStep>,
    added: BTreeSet<WorkItemId>,
    edited: BTreeSet<WorkItemId>,
    again: Vec<(WorkItemId, String)>,
    /// The new criteria of the delivery.
    criteria: Option<Vec<String>>,
    assumed: Vec<Assumption>,
}

impl<'a> Work<'a> {
    fn begin(of: &'a Change<'a>, why: &'a str) -> Self {
        Self {
            of,
            why,
            steps: of.plan.steps.clone(),
            left_out: of.plan.left_out.clone(),
            dropped: Vec::new(),
            added: BTreeSet::new(),
            edited: BTreeSet::new(),
            again: Vec::new(),
            criteria: None,
            assumed: of.plan.assumed.clone(),
        }
    }

    /// Notes the answer to an open question. One that nobody asks is ignored.
    fn answer(&mut self, given: &AnswerDraft) {
        let is_open = self.of.plan.open_questions().any(|(number, _)| number == given.question);
        let text = one_line(&given.answer, WHY);
        if is_open && !text.is_empty() {
            self.assumed[given.question - 1].answer = Some(GivenAnswer { by: self.of.by.to_owned(), text });
        }
    }

    fn find(&self, ids: &HashMap<String, WorkItemId>, id: &str) -> Result<Step, String> {
        let found = ids.get(&key(id)).and_then(|item| self.steps.iter().find(|step| step.item == *item));
        found.cloned().ok_or_else(|| format!("\"{}\" is no step of the plan", one_line(id, 40)))
    }

    /// Whether the step has begun and the change is a colleague's: then it must stay as it is.
    fn has_to_stay(&self, step: &Step) -> bool {
        self.of.by_colleague && (self.of.standing)(&step.item) == Standing::Begun
    }

    fn send_back(&mut self, step: &Step, why: &str) -> Result<(), String> {
        if self.of.by_colleague {
            return Err(format!("\"{}\" is done, and only people send back what is done", step.title));
        }
        if (self.of.standing)(&step.item) != Standing::Done {
            return Err(format!("\"{}\" is not done, so it cannot be done again", step.title));
        }
        self.again.push((step.item.clone(), format!("{}: {}", self.of.by, one_line(why, WHY))));
        Ok(())
    }

    fn is_done_again(&self, step: &Step) -> bool {
        self.again.iter().any(|(again, _)| *again == step.item)
    }

    /// Drops steps that serve only these parts, and tells the others. Steps that are done stay.
    fn leave_out(&mut self, parts: BTreeSet<usize>) {
        let all_below = |numbers: &BTreeSet<usize>| -> BTreeSet<usize> {
            numbers.iter().flat_map(|number| self.of.setting.directive.with_all_below(*number)).collect()
        };
        let wanted = all_below(&parts);
        let last = self.of.plan.last_step().map(|step| step.item.clone());
        let (mut dropped, mut told) = (Vec::new(), Vec::new());
        for step in self.steps.iter().filter(|step| !(self.of.standing)(&step.item).is_over()) {
            let served = all_below(&step.serves);
            if served.is_disjoint(&wanted) {
                continue;
            }
            if served.is_subset(&wanted) && Some(&step.item) != last.as_ref() {
                dropped.push(step.clone());
            } else {
                told.push(step.item.clone());
            }
        }
        for step in dropped {
            self.drop_step(&step);
        }
        let numbers = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        for step in self.steps.iter_mut().filter(|step| told.contains(&step.item)) {
            step.serves.retain(|number| !wanted.contains(number));
            step.instructions = format!("{}\n\nNot to be done any more: part {numbers}. {}", step.instructions, self.why);
            self.edited.insert(step.item.clone());
        }
        if !parts.is_empty() {
            self.left_out.push(LeftOut { parts, why: self.why.to_owned() });
        }
    }

    /// Drops a step. Steps that needed it now need what it needed.
    fn drop_step(&mut self, step: &Step) {
        let Some(place) = self.steps.iter().position(|known| known.item == step.item) else { return };
        let gone = self.steps.remove(place);
        for other in &mut self.steps {
            if let Some(place) = other.needs.iter().position(|need| *need == gone.item) {
                other.needs.remove(place);
                let more: Vec<_> = gone.needs.iter().filter(|need| !other.needs.contains(need)).cloned().collect();
                other.needs.splice(place..place, more);
            }
        }
        self.edited.remove(&gone.item);
        self.dropped.push(DroppedStep { item: gone.item, title: gone.title });
    }

    fn edit(&mut self, step: &Step, edit: &EditDraft, ids: &HashMap<String, WorkItemId>) -> Result<(), Vec<String>> {
        let named = |fault: String| vec![format!("step \"{}\": {fault}", step.title)];
        let standing = (self.of.standing)(&step.item);
        if standing == Standing::Done && !self.is_done_again(step) {
            return Err(named("it is done already. Name it in `again` too if its result is no longer right".to_owned()));
        }
        if standing == Standing::Lost {
            return Err(named("it is over already".to_owned()));
        }
        if self.has_to_stay(step) {
            return Err(named("it has begun, so it stays as it is".to_owned()));
        }
        let draft = StepDraft {
            id: short_id(&step.item).to_owned(),
            title: edit.title.clone().unwrap_or_else(|| step.title.clone()),
            instructions: edit.instructions.clone().unwrap_or_else(|| step.instructions.clone()),
            kind: step.kind,
            owner: edit.owner.clone().unwrap_or_else(|| step.owner.to_string()),
            criteria: edit.criteria.clone().unwrap_or_else(|| step.criteria.clone()),
            needs: edit.needs.clone().unwrap_or_else(|| step.needs.iter().map(|need| short_id(need).to_owned()).collect()),
            serves: Vec::new(),
            phase: step.phase,
            reviewer: edit.reviewer.clone(),
            due: edit.due.clone(),
        };
        if let doubts = find_doubts(&draft, &self.of.setting)
            && !doubts.is_empty()
        {
            return Err(doubts);
        }
        let doers = match &edit.owner {
            Some(_) => read_doers(&draft, &self.of.setting),
            None => Ok((step.owner.clone(), step.person.clone())),
        };
        let checked = check_step_of(&draft, doers, ids, &self.of.setting);
        let checked = checked.map_err(|found| found.into_iter().flat_map(named).collect::<Vec<_>>())?;
        let edited = Step {
            serves: step.serves.clone(),
            reviewer: checked.reviewer.or_else(|| step.reviewer.clone()),
            due: checked.due.or(step.due),
            ..checked
        };
        if standing == Standing::Begun && (edited.doer(), &edited.needs) != (step.doer(), &step.needs) {
            return Err(named("it has begun, so its owner and what it needs stay as they are".to_owned()));
        }
        let is_reworded = edited != Step { needs: edited.needs.clone(), ..step.clone() };
        if is_reworded {
            self.edited.insert(step.item.clone());
        }
        self.steps.iter_mut().filter(|known| known.item == step.item).for_each(|known| known.clone_from(&edited));
        Ok(())
    }

    fn add(&mut self, step: Step) {
        self.added.insert(step.item.clone());
        self.steps.push(step);
    }

    /// The last step now needs new steps that no other step needs.
    fn join_loose_ends(&mut self) -> Result<(), String> {
        let Some(last) = self.of.plan.last_step().map(|step| step.item.clone()) else { return Ok(()) };
        let is_needed = |item: &WorkItemId| self.steps.iter().any(|other| other.needs.contains(item));
        if is_needed(&last) {
            return Ok(());
        }
        let loose: Vec<WorkItemId> = self.added.iter().filter(|item| !is_needed(item)).cloned().collect();
        let Some(step) = self.steps.iter_mut().find(|step| step.item == last).filter(|_| !loose.is_empty()) else { return Ok(()) };
        if (self.of.standing)(&last) != Standing::Open {
            return Err(format!("\"{}\" is the last step and has begun. What is new must come after it", step.title));
        }
        step.needs.extend(loose);
        Ok(())
    }

    fn finish(mut self) -> Result<Option<Changed>, Vec<String>> {
        let before = self.of.plan;
        link_phases(&mut self.steps, |item| (self.of.standing)(item) == Standing::Open).map_err(shorten)?;
        self.join_loose_ends().map_err(|fault| vec![fault])?;
        let steps = order(self.steps).map_err(|circle| vec![format!("steps wait for each other: {}", circle.join(" → "))])?;
        if steps.is_empty() {
            return Err(vec!["no step would be left. Cancel the mission instead".to_owned()]);
        }
        if steps.len() > MOST_STEPS {
            return Err(vec![format!("the plan would have {} steps. At most {MOST_STEPS} are possible", steps.len())]);
        }
        if let Some(fault) = find_loose_ends(&steps) {
            return Err(vec![fault]);
        }
        let needs_other = |step: &&Step| before.find_step(&step.item).is_some_and(|known| known.needs != step.needs);
        let rewired: BTreeSet<WorkItemId> = steps.iter().filter(needs_other).map(|step| step.item.clone()).collect();
        let criteria = self.criteria.unwrap_or_else(|| before.criteria.clone());
        let mut plan = Plan { steps, left_out: self.left_out, criteria, assumed: self.assumed, ..before.clone() };
        let lost = lost_parts(before, &plan, self.of.setting.directive, self.why);
        if let Some(LeftOut { parts, .. }) = lost.as_ref().filter(|_| self.of.by_colleague) {
            let parts = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(vec![format!("nobody would serve part {parts} any more, and only people leave parts of the directive out")]);
        }
        plan.left_out.extend(lost);
        if plan == *before && self.again.is_empty() {
            return Ok(None);
        }
        let is_only_answers = self.again.is_empty() && Plan { assumed: before.assumed.clone(), ..plan.clone() } == *before;
        let titles = |items: &mut dyn Iterator<Item = &WorkItemId>| -> Vec<String> {
            items.filter_map(|item| plan.find_step(item)).map(|step| step.title.clone()).collect()
        };
        let change = PlanChange {
            by: self.of.by.to_owned(),
            by_colleague: self.of.by_colleague,
            at: self.of.setting.at,
            why: self.why.to_owned(),
            said: self.of.said.map(str::to_owned),
            added: titles(&mut self.added.iter()),
            edited: titles(&mut self.edited.union(&rewired)),
            again: titles(&mut self.again.iter().map(|(item, _)| item)),
            dropped: self.dropped,
            steps: self.added.iter().chain(&self.edited).chain(&rewired).chain(self.again.iter().map(|(item, _)| item)).cloned().collect(),
            is_only_answers,
        };
        let dropped = change.dropped.iter().map(|dropped| dropped.item.clone()).collect();
        plan.changes.push(change);
        Ok(Some(Changed { plan, dropped, added: self.added, edited: self.edited, rewired, again: self.again }))
    }
}

/// Parts that were served before and are served by nobody afterwards.
fn lost_parts(before: &Plan, after: &Plan, directive: &Directive, why: &str) -> Option<LeftOut> {
    let (before, after) = (before.coverage(directive), after.coverage(directive));
    let is_lost = |number: &usize| matches!(before[number], Served::By(_)) && after[number] == Served::Nobody;
    let parts: BTreeSet<usize> = directive.numbers().filter(is_lost).collect();
    (!parts.is_empty()).then(|| LeftOut { parts, why: why.to_owned() })
}
