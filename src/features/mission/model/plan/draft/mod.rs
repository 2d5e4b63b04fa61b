//! Plans as a model drafts them, and the checks of code (WORK-13, WORK-14). Nothing of a draft is used before it is checked.

mod change;
mod missing;

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::action::KnownOwners;
use crate::features::backlog::model::Owner;
use crate::features::backlog::model::criteria::{FEWEST, MOST, read_draft};
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::plan::phase::link_phases;
use crate::features::mission::model::plan::{Assumption, LeftOut, Phase, Plan, Served, Step, StepKind, count_parts};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::text::{one_line, without_invisible};
use kernel::when::parse_instant;

pub use change::{AgainDraft, Change, ChangeDraft, Changed, EditDraft, MOST_CHANGES, Standing, change, leave_out};
use missing::check_missing;
pub use missing::{MOST_MISSING, MissingDraft};

/// The most steps of a plan.
pub const MOST_STEPS: usize = 40;

/// The most characters of a title, and of instructions.
pub const TITLE: usize = 120;
const INSTRUCTIONS: usize = 4000;

/// The most faults that are told to the planner.
const FAULTS: usize = 12;

/// The most parts that a warning names.
const NAMED: usize = 3;

/// People wait this long for a delivery without wondering.
const SOON: TimeDelta = TimeDelta::days(14);

/// What the request is about, before it is divided into steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Understanding {
    /// The mission in a few words.
    pub title: String,
    /// What is given.
    #[serde(default)]
    pub given: Vec<String>,
    /// What has to be found out.
    #[serde(default)]
    pub to_find_out: Vec<String>,
    /// What is assumed.
    #[serde(default)]
    pub assumed: Vec<Assumption>,
}

/// A plan as a model drafts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDraft {
    /// Two to five observable criteria for the whole delivery.
    #[serde(default)]
    pub criteria: Vec<String>,
    #[serde(default)]
    pub steps: Vec<StepDraft>,
    /// Parts that no step serves, with the reason.
    #[serde(default)]
    pub left_out: Vec<LeftOutDraft>,
    /// Roles that nobody on the team fills, two at most. Usually none.
    #[serde(default)]
    pub missing: Vec<MissingDraft>,
    /// Which insights of earlier missions changed the plan, and what about it. Usually none.
    #[serde(default)]
    pub learnt: Vec<LearntDraft>,
}

impl PlanDraft {
    /// The names of those who are to do or review steps.
    pub fn names(&self) -> Vec<&str> {
        self.steps.iter().flat_map(StepDraft::names).collect()
    }
}

impl StepDraft {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.reviewer.as_deref().into_iter().chain((self.kind == StepKind::Person).then_some(&*self.owner))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LearntDraft {
    /// The mark of the insight, such as "i2".
    pub insight: String,
    /// What is different because of it, in one sentence.
    pub change: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepDraft {
    /// A short name, by which other steps refer to it.
    pub id: String,
    pub title: String,
    pub instructions: String,
    pub kind: StepKind,
    /// The persona that does it. For the kind `person`: that person, by name.
    pub owner: String,
    /// Two to five observable criteria. None for the kind `person`.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// Ids of steps whose result it needs.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Numbers of parts, or ranges such as "4-9". A heading stands for everything below it.
    #[serde(default)]
    pub serves: Vec<String>,
    /// Only if a product is to be made: its phase. A phase begins when the one before is finished, with its results.
    #[serde(default)]
    pub phase: Option<Phase>,
    /// Only if the directive or a person says who reviews it: that member or person, by name.
    #[serde(default)]
    pub reviewer: Option<String>,
    /// Only if the directive or a person says when it is due: that time, such as "2026-12-04" or "2026-12-04 15:00".
    #[serde(default)]
    pub due: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutDraft {
    /// Numbers of parts, or ranges.
    pub parts: Vec<String>,
    pub why: String,
}

/// What a draft is checked against.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub directive: &'a Directive,
    pub owners: KnownOwners<'a>,
    /// When a day without a time ends.
    pub closes: NaiveTime,
    pub at: DateTime<Utc>,
}

/// Checks a draft and makes a plan of it.
///
/// # Errors
/// All faults, for the planner and for people.
pub fn check(understanding: Understanding, draft: &PlanDraft, of: &Setting<'_>) -> Result<Plan, Vec<String>> {
    let Setting { directive, owners: KnownOwners { roster, .. }, .. } = *of;
    let mut faults = Vec::new();
    match draft.steps.len() {
        0 => return Err(vec!["the plan has no steps".to_owned()]),
        many if many > MOST_STEPS => return Err(vec![format!("the plan has {many} steps. At most {MOST_STEPS} are possible")]),
        _ => {}
    }
    let mut ids: HashMap<String, WorkItemId> = HashMap::new();
    name_steps(&draft.steps, &mut ids, &mut faults);
    let mut steps = Vec::with_capacity(draft.steps.len());
    for step in &draft.steps {
        match check_step(step, &ids, of) {
            Ok(checked) => steps.push(checked),
            Err(found) => faults.extend(found.into_iter().map(|fault| format!("step {}: {fault}", one_line(&step.id, 40)))),
        }
    }
    let Some(criteria) = read_draft(&draft.criteria) else {
        faults.push(format!("the plan as a whole has fewer than {FEWEST} criteria"));
        return Err(shorten(faults));
    };
    let mut left_out = Vec::new();
    for given in &draft.left_out {
        match read_numbers(&given.parts, directive) {
            Ok(_) if given.why.trim().is_empty() => faults.push(format!("parts {} are left out without a reason", given.parts.join(", "))),
            Ok(parts) => left_out.push(LeftOut { parts, why: one_line(&given.why, 200) }),
            Err(fault) => faults.push(format!("left out: {fault}")),
        }
    }
    if !faults.is_empty() {
        return Err(shorten(faults));
    }
    link_phases(&mut steps, |_| true).map_err(shorten)?;
    match order(steps) {
        Ok(steps) => {
            if let Some(fault) = find_loose_ends(&steps) {
                return Err(vec![fault]);
            }
            let (missing, not_missing) = check_missing(&draft.missing, &ids, roster);
            let Understanding { given, to_find_out, assumed, .. } = understanding;
            let mut plan = Plan {
                given,
                to_find_out,
                assumed,
                criteria,
                steps,
                left_out,
                warnings: Vec::new(),
                made_by: None,
                expected: None,
                changes: Vec::new(),
                missing,
                learnt: Vec::new(),
            };
            plan.warnings = warnings(&plan, directive);
            plan.warnings.extend(not_missing);
            plan.warnings.extend(late_delivery(&plan, of));
            plan.warnings.extend(draft.steps.iter().flat_map(|step| find_doubts(step, of)));
            Ok(plan)
        }
        Err(circle) => Err(vec![format!("steps wait for each other: {}", circle.join(" → "))]),
    }
}

/// Gives new steps their items, by the ids of the steps.
fn name_steps(steps: &[StepDraft], ids: &mut HashMap<String, WorkItemId>, faults: &mut Vec<String>) {
    for step in steps {
        match key(&step.id) {
            id if id.is_empty() => faults.push(format!("the step \"{}\" has no id", one_line(&step.title, 60))),
            id if ids.contains_key(&id) => faults.push(format!("two steps have the id {id}")),
            id => _ = ids.insert(id, WorkItemId::generate()),
        }
    }
}

/// Who does a step: the persona, and the person whom it asks.
type Doers = (PersonaSlug, Option<Owner>);

fn check_step(draft: &StepDraft, ids: &HashMap<String, WorkItemId>, of: &Setting<'_>) -> Result<Step, Vec<String>> {
    check_step_of(draft, read_doers(draft, of), ids, of)
}

fn check_step_of(
    draft: &StepDraft,
    doers: Result<Doers, String>,
    ids: &HashMap<String, WorkItemId>,
    of: &Setting<'_>,
) -> Result<Step, Vec<String>> {
    let mut faults = Vec::new();
    let title = one_line(&without_invisible(&draft.title), TITLE);
    let instructions = without_invisible(&draft.instructions).trim().to_owned();
    if title.is_empty() || instructions.is_empty() {
        faults.push("it has no title or no instructions".to_owned());
    }
    if instructions.chars().count() > INSTRUCTIONS {
        faults.push(format!("its instructions have more than {INSTRUCTIONS} characters"));
    }
    faults.extend(doers.as_ref().err().cloned());
    let criteria = read_draft(&draft.criteria).filter(|criteria| criteria.iter().all(|criterion| can_be_checked(criterion)));
    // The person says when it is done.
    let criteria = if draft.kind == StepKind::Person { Some(Vec::new()) } else { criteria };
    if criteria.is_none() || (draft.criteria.len() > MOST && draft.kind != StepKind::Person) {
        faults.push(format!("it needs {FEWEST} to {MOST} criteria that somebody can check by looking at the result"));
    }
    let mut needs = Vec::new();
    for need in &draft.needs {
        match ids.get(&key(need)) {
            Some(_) if key(need) == key(&draft.id) => faults.push("it needs itself".to_owned()),
            Some(id) if needs.contains(id) => faults.push(format!("it needs {} twice", one_line(need, 40))),
            Some(id) => needs.push(id.clone()),
            None => faults.push(format!("it needs \"{}\", which is no step", one_line(need, 40))),
        }
    }
    let serves = read_numbers(&draft.serves, of.directive).unwrap_or_else(|fault| {
        faults.push(fault);
        BTreeSet::new()
    });
    match (ids.get(&key(&draft.id)), doers, criteria) {
        (Some(item), Ok((owner, person)), Some(criteria)) if faults.is_empty() => {
            let (reviewer, due) = (read_reviewer(draft, of).unwrap_or_default(), read_due(draft, of).unwrap_or_default());
            let (item, kind, phase) = (item.clone(), draft.kind, draft.phase);
            Ok(Step { item, title, instructions, kind, owner, person, criteria, needs, serves, phase, reviewer, due })
        }
        _ => Err(faults),
    }
}

fn read_doers(draft: &StepDraft, of: &Setting<'_>) -> Result<Doers, String> {
    let KnownOwners { roster, .. } = of.owners;
    if draft.kind != StepKind::Person {
        let owner = roster.resolve(&draft.owner).map(|persona| (persona.slug.clone(), None));
        return owner.map_err(|_| format!("nobody on the team is called \"{}\"", one_line(&draft.owner, 40)));
    }
    match of.owners.resolve(&draft.owner) {
        Ok(person @ Owner::Person { .. }) => Ok((roster.coordinator().slug.clone(), Some(person))),
        Ok(Owner::Persona(slug)) => Err(format!("{} is no person, so it cannot be of the kind `person`", roster.name_of(&slug))),
        Err(why) => Err(format!("\"{}\" is to do it, but {why}", one_line(&draft.owner, 40))),
    }
}

/// A step with other words, and maybe another owner. Its needs, the parts that it serves, its reviewer and its due date stay.
///
/// # Errors
/// All faults of the draft.
pub fn revise(step: &Step, draft: &StepDraft, of: &Setting<'_>) -> Result<Step, Vec<String>> {
    let ids = HashMap::from([(key(&draft.id), step.item.clone())]);
    let revised = check_step(draft, &ids, &Setting { directive: &Directive::default(), ..*of })?;
    let Step { needs, serves, reviewer, due, .. } = step.clone();
    Ok(Step { needs, serves, reviewer, due, ..revised })
}

/// The named reviewer of a step. None if nobody is named.
fn read_reviewer(draft: &StepDraft, of: &Setting<'_>) -> Result<Option<Owner>, String> {
    let Some(named) = draft.reviewer.as_deref().filter(|named| !named.trim().is_empty()) else { return Ok(None) };
    let title = one_line(&draft.title, TITLE);
    let reviewer =
        of.owners.resolve(named).map_err(|why| format!("\"{title}\" is to be reviewed by {}, but {why}", one_line(named, 60)))?;
    let owner = of.owners.roster.resolve(&draft.owner).ok().map(|persona| Owner::Persona(persona.slug.clone()));
    if owner.as_ref() == Some(&reviewer) {
        return Err(format!("\"{title}\" is to be reviewed by {}, who does it, so a colleague reviews it", one_line(named, 60)));
    }
    Ok(Some(reviewer))
}

fn read_due(draft: &StepDraft, of: &Setting<'_>) -> Result<Option<DateTime<Utc>>, String> {
    let Some(due) = draft.due.as_deref().filter(|due| !due.trim().is_empty()) else { return Ok(None) };
    let read = parse_instant(due, of.at, of.owners.roster.zone(), of.closes);
    read.map(Some).map_err(|why| format!("\"{}\" has no due date that I can read. {why}", one_line(&draft.title, TITLE)))
}

/// What is wrong with the reviewer and the due date of a step. The step is done all the same.
fn find_doubts(draft: &StepDraft, of: &Setting<'_>) -> Vec<String> {
    [read_reviewer(draft, of).err(), read_due(draft, of).err()].into_iter().flatten().collect()
}

fn key(id: &str) -> String {
    without_invisible(id).trim().trim_start_matches('#').to_lowercase()
}

/// Whether a criterion says enough to check a result by it. A single word does not.
fn can_be_checked(criterion: &str) -> bool {
    criterion.chars().filter(|c| c.is_alphanumeric()).count() >= 8
}

/// Numbers and ranges of parts, all of which exist.
fn read_numbers(given: &[String], directive: &Directive) -> Result<BTreeSet<usize>, String> {
    let mut numbers = BTreeSet::new();
    for text in given.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|text| !text.is_empty()) {
        let bare = text.trim_matches(['[', ']', '#', ' ']);
        let (from, to) = bare.split_once(['-', '–']).unwrap_or((bare, bare));
        let (Ok(from), Ok(to)) = (from.trim().parse::<usize>(), to.trim().parse::<usize>()) else {
            return Err(format!("\"{}\" is no number of a part", one_line(text, 40)));
        };
        if from > to || directive.find(from).is_none() || directive.find(to).is_none() {
            return Err(format!("there is no part {bare}: the directive has {}", directive.parts.len()));
        }
        numbers.extend(from..=to);
    }
    Ok(numbers)
}

/// Sorts steps so that each comes after those that it needs. In a cycle, the error has the titles of its steps, with the first one again at the end.
fn order(steps: Vec<Step>) -> Result<Vec<Step>, Vec<String>> {
    let mut left = steps;
    let mut ordered: Vec<Step> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |step: &Step| step.needs.iter().all(|need| ordered.iter().any(|done| done.item == *need));
        match left.iter().position(is_free) {
            Some(place) => ordered.push(left.remove(place)),
            None => return Err(find_circle(&left)),
        }
    }
    Ok(ordered)
}

/// Each step waits for another one of them, so following their needs leads into a cycle.
fn find_circle(waiting: &[Step]) -> Vec<String> {
    let mut path: Vec<&Step> = vec![&waiting[0]];
    loop {
        let last = path[path.len() - 1];
        let Some(next) = waiting.iter().find(|step| last.needs.contains(&step.item)) else { return vec![last.title.clone()] };
        if let Some(start) = path.iter().position(|step| step.item == next.item) {
            return path[start..].iter().chain([&next]).map(|step| step.title.clone()).collect();
        }
        path.push(next);
    }
}

/// The error if no single final step brings everything together.
fn find_loose_ends(steps: &[Step]) -> Option<String> {
    let is_last = |step: &&Step| !steps.iter().any(|other| other.needs.contains(&step.item));
    let ends: Vec<String> = steps.iter().filter(is_last).map(|step| format!("\"{}\"", step.title)).collect();
    (ends.len() > 1)
        .then(|| format!("there is no final step: {} lead to nothing. One last step has to bring everything together", ends.join(", ")))
}

fn warnings(plan: &Plan, directive: &Directive) -> Vec<String> {
    let mut warnings = Vec::new();
    let coverage = plan.coverage(directive);
    let open: Vec<usize> = coverage.into_iter().filter(|(_, served)| *served == Served::Nobody).map(|(number, _)| number).collect();
    if !open.is_empty() {
        let first =
            open.iter().take(NAMED).filter_map(|number| Some(format!("[{number}] {}", one_line(&directive.find(*number)?.text, 40))));
        let more = if open.len() > NAMED { ", …" } else { "" };
        warnings.push(format!(
            "{} of the directive {} not served by any step: {}{more}",
            count_parts(open.len()),
            if open.len() == 1 { "is" } else { "are" },
            first.collect::<Vec<_>>().join(", ")
        ));
    }
    warnings
}

/// Says that the delivery waits for a step that is due in weeks.
fn late_delivery(plan: &Plan, of: &Setting<'_>) -> Option<String> {
    let last = plan.last_step()?;
    let others = plan.steps.iter().filter(|step| step.item != last.item);
    let (due, step) = others.filter_map(|step| Some((step.due?, step))).max_by_key(|(due, _)| *due)?;
    let day = due.with_timezone(&of.owners.roster.zone()).format("%-d %B %Y");
    (due - of.at > SOON).then(|| {
        format!(
            "the delivery waits for \"{}\", which is due on {day}. If you want the rest earlier, say so here",
            one_line(&step.title, 60)
        )
    })
}

fn shorten(mut faults: Vec<String>) -> Vec<String> {
    if faults.len() > FAULTS {
        let more = faults.len() - FAULTS;
        faults.truncate(FAULTS);
        faults.push(format!("and {more} more"));
    }
    faults
}

#[cfg(test)]
mod tests;
