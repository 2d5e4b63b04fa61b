//! The prompts of missions. All texts in blocks are sanitised by the functions here.

use std::fmt::Write as _;

use serde::Serialize;

use crate::features::backlog::model::{Artefact, WorkItem, short_id};
use crate::features::mission::changing::Wish;
use crate::features::mission::model::Mission;
use crate::features::mission::model::message::ColleagueMessage;
use crate::features::mission::model::plan::{MOST_MISSING, MOST_STEPS, MissingRole, Plan, Step, Understanding};
use crate::features::overwatch::model::Insight;
use kernel::agent::context::{Cleaner, feed_blocks, flat_name, new_marker, passage_blocks};
use kernel::agent::prompt::{Block, Template};
use kernel::agent::{Limits, Prompt};
use kernel::feeds::FeedReport;
use kernel::ids::WorkItemId;
use kernel::memory::retrieval::Quote;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::tools::RESEARCH;

static UNDERSTAND: Template = Template::new(include_str!("understand.md.j2"));
static PLAN: Template = Template::new(include_str!("plan.md.j2"));
static FEASIBLE: Template = Template::new(include_str!("feasible.md.j2"));
static REPLAN: Template = Template::new(include_str!("replan.md.j2"));
static COLLEAGUE: Template = Template::new(include_str!("colleague.md.j2"));
static CHANGE: Template = Template::new(include_str!("change.md.j2"));
static PERSONA: Template = Template::new(include_str!("persona.md.j2"));
static WISH: Template = Template::new(include_str!("wish.md.j2"));
static CLASSIFY: Template = Template::new(include_str!("classify.md.j2"));

/// The most bytes of a request, and of a text about one step.
const REQUEST: usize = 4000;
const TEXT: usize = 6000;
/// The most tokens of all feeds together.
const FEEDS: usize = 700;
/// The same for all passages of documents.
const PASSAGES: usize = 1000;
/// The most bytes of one of many steps.
const STEP: usize = 2500;
/// The most bytes of all parts. Leaves room for a whole directive, which limits itself.
const PARTS: usize = 400_000;

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    slug: &'a str,
    role: &'a str,
    expertise: String,
    tools: String,
    feeds: String,
    cannot: String,
}

#[derive(Serialize)]
struct Values<'a> {
    marker: &'a str,
    asker: String,
    blocks: Vec<Block>,
    team: Vec<Member<'a>>,
    limits: String,
    most: usize,
    most_missing: usize,
    faults: Vec<String>,
    plan: String,
    /// A colleague at work on a step wants the change, not a person.
    by_colleague: bool,
    /// The repository that steps of the kind `build` work in. Empty: none.
    repository: &'a str,
}

/// What each persona can do, and what it cannot (WORK-13).
fn members(roster: &Roster) -> Vec<Member<'_>> {
    roster.personas().iter().map(member).collect()
}

fn member(persona: &Persona) -> Member<'_> {
    let has = |tool: &str| persona.tools.iter().any(|known| known == tool);
    let mut cannot = Vec::new();
    if !has("web_search") {
        cannot.push("search the web");
    }
    if !has("fetch_page") && !has("http_get") {
        cannot.push("fetch pages");
    }
    if !has("git_log") {
        cannot.push("read the history of a repository");
    }
    Member {
        name: &persona.name,
        slug: persona.slug.as_str(),
        role: &persona.role,
        expertise: persona.expertise.join(", "),
        tools: persona.tools.join(", "),
        feeds: persona.feeds.iter().map(|feed| feed.name.as_str()).collect::<Vec<_>>().join(", "),
        cannot: cannot.join(" or "),
    }
}

fn limits() -> String {
    format!("{} calls, {}", Limits::WORK.calls, RESEARCH.describe())
}

fn values<'a>(roster: &'a Roster, marker: &'a str, mission: &Mission, blocks: Vec<Block>) -> Values<'a> {
    Values {
        marker,
        asker: mission.by.as_ref().map_or("Somebody".to_owned(), |(_, name)| flat_name(name)),
        blocks,
        team: members(roster),
        limits: limits(),
        most: MOST_STEPS,
        most_missing: MOST_MISSING,
        faults: Vec::new(),
        plan: String::new(),
        by_colleague: false,
        repository: "",
    }
}

fn prompt(system: String, message: String) -> Prompt {
    Prompt { system, message, holds_outside: true, remarks: Vec::new() }
}

/// The request and the parts of the directive.
fn asked(mission: &Mission, cleaner: Cleaner<'_>) -> Vec<Block> {
    vec![
        Block { label: "request".into(), text: cleaner.text(&mission.request, REQUEST) },
        Block { label: "directive, in numbered parts".into(), text: cleaner.text(&mission.directive.render_for_prompt(), PARTS) },
    ]
}

pub(super) fn understand(system: String, roster: &Roster, mission: &Mission) -> Prompt {
    let marker = new_marker();
    let blocks = asked(mission, Cleaner { marker: &marker });
    prompt(system, UNDERSTAND.render(values(roster, &marker, mission, blocks)))
}

/// `faults`: why the last plan was refused. `repository`: the one that files are built in.
pub(super) fn plan(
    system: String,
    roster: &Roster,
    mission: &Mission,
    (understood, insights): (&Understanding, &[Insight]),
    faults: &[String],
    repository: &str,
) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let mut blocks = asked(mission, cleaner);
    let Understanding { given, to_find_out, assumed, .. } = understood;
    let assumed: Vec<String> = assumed.iter().map(|assumption| assumption.text.clone()).collect();
    for (label, lines) in [("what is given", given), ("what has to be found out", to_find_out), ("what is assumed", &assumed)] {
        let lines: Vec<String> = lines.iter().map(|line| format!("- {}", cleaner.line(line, 300))).collect();
        if !lines.is_empty() {
            blocks.push(Block { label: label.into(), text: lines.join("\n") });
        }
    }
    let noticed = (1..).zip(insights).map(|(number, insight)| format!("[i{number}] {}", cleaner.line(&insight.text, 300)));
    let noticed: Vec<String> = noticed.collect();
    if !noticed.is_empty() {
        blocks.push(Block { label: "what colleagues noticed in earlier missions".into(), text: noticed.join("\n") });
    }
    let faults = faults.iter().map(|fault| cleaner.line(fault, 300)).collect();
    prompt(system, PLAN.render(Values { faults, repository, ..values(roster, &marker, mission, blocks) }))
}

pub(super) fn feasible(roster: &Roster, mission: &Mission, plan: &Plan) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let steps: Vec<String> = plan.steps.iter().map(|step| describe(step, roster)).collect();
    let values = Values { plan: cleaner.text(&steps.join("\n\n"), PARTS), ..values(roster, &marker, mission, Vec::new()) };
    prompt(String::new(), FEASIBLE.render(values))
}

/// `learnt`: why the step failed, and why its results were not accepted.
pub(super) fn replan(system: String, roster: &Roster, mission: &Mission, step: &Step, steps: &[WorkItem], learnt: &str) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let state = |item: &WorkItem| {
        let outcome = item.outcome.as_deref().map_or(String::new(), |outcome| format!(": {}", cleaner.line(outcome, 200)));
        format!("- {} ({}){outcome}", cleaner.line(&item.what, 120), item.status.as_str().replace('_', " "))
    };
    let blocks = vec![
        Block { label: "mission".into(), text: cleaner.text(&format!("{}\n{}", mission.title, mission.request), REQUEST) },
        Block { label: "the step that failed".into(), text: cleaner.text(&describe(step, roster), TEXT) },
        Block { label: "what was learnt".into(), text: cleaner.text(learnt, TEXT) },
        Block { label: "all steps".into(), text: steps.iter().map(state).collect::<Vec<_>>().join("\n") },
    ];
    prompt(system, REPLAN.render(values(roster, &marker, mission, blocks)))
}

/// What the colleague who is asked knows.
pub(super) struct Known<'a> {
    /// The step of the one who asks.
    pub(super) step: &'a WorkItem,
    /// The colleague's own finished steps, with their files.
    pub(super) results: &'a [(&'a WorkItem, Vec<Artefact>)],
    pub(super) feeds: &'a [FeedReport],
    /// Passages of documents on the question's subject, best first.
    pub(super) passages: &'a [Quote],
}

/// A question of a colleague at work on a step.
pub(super) fn colleague(system: String, roster: &Roster, mission: &Mission, message: &ColleagueMessage, known: &Known<'_>) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let step = known.step;
    let mut blocks = vec![
        Block { label: "mission".into(), text: cleaner.text(&format!("{}\n{}", mission.title, mission.request), REQUEST) },
        Block { label: "the step of the colleague".into(), text: cleaner.text(&format!("{}\n{}", step.what, step.how), TEXT) },
    ];
    for (item, files) in known.results {
        let outcome = item.outcome.as_deref().unwrap_or("done");
        let mut text = format!("{}: {outcome}", item.what);
        for (name, content) in files.iter().filter_map(|file| Some((&file.facts.name, file.text()?))) {
            let _ = write!(text, "\n\n{name}:\n{content}");
        }
        blocks.push(Block { label: "your own result in this mission".into(), text: cleaner.text(&text, TEXT) });
    }
    blocks.extend(passage_blocks(known.passages, PASSAGES, cleaner));
    blocks.extend(feed_blocks(known.feeds, FEEDS, cleaner, roster));
    blocks.push(Block { label: "question".into(), text: cleaner.text(&message.text, REQUEST) });
    let asker = flat_name(roster.name_of(&message.from));
    prompt(system, COLLEAGUE.render(Values { asker, ..values(roster, &marker, mission, blocks) }))
}

/// `wish`: what somebody said, and who. `faults`: why the last change was refused.
pub(super) fn change(system: String, roster: &Roster, mission: &Mission, items: &[WorkItem], wish: &Wish, faults: &[String]) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let names = |items: &[WorkItemId]| items.iter().map(short_id).collect::<Vec<_>>().join(", ");
    let step = |step: &Step| {
        let state = items.iter().find(|item| item.id == step.item).map_or("not begun", |item| item.status.as_str());
        let serves = step.serves.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let about = format!("id {}, {}, needs {}, serves {serves}", short_id(&step.item), state.replace('_', " "), names(&step.needs));
        cleaner.text(&format!("{about}\n{}", describe(step, roster)), STEP)
    };
    let steps: Vec<String> = mission.plan.iter().flat_map(|plan| &plan.steps).map(step).collect();
    let mut blocks = asked(mission, cleaner);
    blocks.push(Block { label: "the steps of the plan, the last one at the end".into(), text: steps.join("\n\n") });
    let label = match &wish.colleague {
        Some(message) => format!("{} to {}", message.kind.as_str(), flat_name(roster.name_of(&message.to))),
        None => "what is wanted now".to_owned(),
    };
    blocks.push(Block { label, text: cleaner.text(&wish.text, REQUEST) });
    let faults = faults.iter().map(|fault| cleaner.line(fault, 300)).collect();
    let (asker, by_colleague) = (flat_name(&wish.by), wish.colleague.is_some());
    prompt(system, CHANGE.render(Values { asker, faults, by_colleague, ..values(roster, &marker, mission, blocks) }))
}

/// For a role that nobody fills. `faults`: why the last draft was refused.
pub(super) fn persona(system: String, roster: &Roster, mission: &Mission, plan: &Plan, role: &MissingRole, faults: &[String]) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let about = format!("{}, good at {}. {}", role.role, role.good_at.join(", "), role.why);
    let steps: Vec<String> = role.steps.iter().filter_map(|step| plan.find_step(step)).map(|step| describe(step, roster)).collect();
    let mut blocks = asked(mission, cleaner);
    blocks.push(Block { label: "the role".into(), text: cleaner.text(&about, TEXT) });
    blocks.push(Block { label: "steps of the plan that need it".into(), text: cleaner.text(&steps.join("\n\n"), TEXT) });
    let faults = faults.iter().map(|fault| cleaner.line(fault, 300)).collect();
    prompt(system, PERSONA.render(Values { faults, ..values(roster, &marker, mission, blocks) }))
}

fn describe(step: &Step, roster: &Roster) -> String {
    let criteria: Vec<String> = step.criteria.iter().map(|criterion| format!("  - {criterion}")).collect();
    format!(
        "Step \"{}\" ({}, by {})\n{}\nCriteria:\n{}",
        step.title,
        step.kind.as_str(),
        roster.name_of(&step.owner),
        step.instructions,
        criteria.join("\n")
    )
}

/// `documents`: what belongs to the message, in short.
pub(super) fn classify(text: &str, documents: &str) -> Prompt {
    message_with(&CLASSIFY, text, documents)
}

/// `status`: the state of the mission in whose thread the message stands.
pub(super) fn wish(text: &str, status: &str) -> Prompt {
    message_with(&WISH, text, status)
}

fn message_with(template: &Template, text: &str, documents: &str) -> Prompt {
    #[derive(Serialize)]
    struct Message<'a> {
        marker: &'a str,
        text: String,
        documents: String,
    }
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let message = Message { marker: &marker, text: cleaner.text(text, REQUEST), documents: cleaner.text(documents, TEXT) };
    prompt(String::new(), template.render(message))
}
