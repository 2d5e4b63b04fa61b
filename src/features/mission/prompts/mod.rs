//! The prompts of missions. All texts in blocks are sanitised by the functions here.

use std::fmt::Write as _;

use serde::Serialize;

use crate::features::backlog::model::{Artefact, WorkItem, short_id};
use crate::features::mission::changing::Wish;
use crate::features::mission::model::Mission;
use crate::features::mission::model::message::ColleagueMessage;
use crate::features::mission::model::plan::{ChangeDraft, MOST_MISSING, MOST_STEPS, MissingRole, Plan, PlanDraft, Step, Understanding};
use crate::features::mission::render::{self, doer};
use crate::features::overwatch::model::Insight;
use kernel::agent::budget::{BYTES_PER_TOKEN, Part, Rank, fit, tokens_of};
use kernel::agent::context::{Cleaner, feed_blocks, flat_name, new_marker, passage_blocks};
use kernel::agent::prompt::{Block, Template};
use kernel::agent::{Limits, Prompt};
use kernel::chat::medium::Medium;
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

/// Room for the template and the team, in tokens.
const INSTRUCTIONS: usize = 2500;
/// The most tokens of all feeds together.
const FEEDS: usize = 700;
/// The same for all passages of documents.
const PASSAGES: usize = 1000;
/// Maximum length in tokens of a prompt for the cheapest model, which only says what a message wants.
const SHORT: usize = 4000;

/// What every prompt about a mission is made of.
pub(super) struct Frame<'a> {
    /// The system prompt of the persona that is asked.
    pub(super) system: String,
    pub(super) roster: &'a Roster,
    pub(super) mission: &'a Mission,
    /// The tokens that the prompt may have.
    pub(super) tokens: usize,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    slug: &'a str,
    role: &'a str,
    expertise: String,
    /// Besides those that everybody has.
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
    /// The tools that everybody has.
    tools: String,
    limits: String,
    most: usize,
    most_missing: usize,
    faults: Vec<String>,
    /// The draft with these faults is among the blocks.
    is_shown: bool,
    /// There are insights of earlier missions.
    has_insights: bool,
    plan: String,
    /// A colleague at work on a step wants the change, not a person.
    by_colleague: bool,
    /// The repository that steps of the kind `build` work in. Empty: none.
    repository: &'a str,
}

/// The tools that every persona has.
fn list_shared_tools(roster: &Roster) -> Vec<&str> {
    let [first, others @ ..] = roster.personas() else { return Vec::new() };
    let has_everybody = |tool: &&String| others.iter().all(|other| other.tools.contains(tool));
    first.tools.iter().filter(has_everybody).map(String::as_str).collect()
}

/// What each persona can do, and what it cannot (WORK-13).
fn members<'a>(roster: &'a Roster, shared: &[&str]) -> Vec<Member<'a>> {
    roster.personas().iter().map(|persona| member(persona, shared)).collect()
}

fn member<'a>(persona: &'a Persona, shared: &[&str]) -> Member<'a> {
    let own: Vec<&str> = persona.tools.iter().map(String::as_str).filter(|tool| !shared.contains(tool)).collect();
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
        tools: own.join(", "),
        feeds: persona.feeds.iter().map(|feed| feed.name.as_str()).collect::<Vec<_>>().join(", "),
        cannot: cannot.join(" or "),
    }
}

fn limits() -> String {
    format!("{} calls, {}", Limits::WORK.calls, RESEARCH.describe())
}

impl<'a> Frame<'a> {
    fn values(&self, marker: &'a str, parts: Vec<Part>) -> Values<'a> {
        let Self { system, roster, mission, tokens } = self;
        let shared = list_shared_tools(roster);
        Values {
            marker,
            asker: mission.by.as_ref().map_or("Somebody".to_owned(), |(_, name)| flat_name(name)),
            blocks: fit(parts, tokens.saturating_sub(tokens_of(system) + INSTRUCTIONS)),
            team: members(roster, &shared),
            tools: shared.join(", "),
            limits: limits(),
            most: MOST_STEPS,
            most_missing: MOST_MISSING,
            faults: Vec::new(),
            is_shown: false,
            has_insights: false,
            plan: String::new(),
            by_colleague: false,
            repository: "",
        }
    }

    fn prompt(self, message: String) -> Prompt {
        prompt(self.system, message)
    }

    /// The request and the parts of the directive.
    fn asked(&self, cleaner: Cleaner<'_>) -> Vec<Part> {
        let Self { mission, tokens, .. } = self;
        let directive = mission.directive.render_within(tokens * BYTES_PER_TOKEN / 2);
        vec![
            Part::new(Rank::Task, "request", cleaner.whole(&mission.request)),
            Part::new(Rank::Task, "directive, in numbered parts", cleaner.whole(&directive)),
        ]
    }

    fn about(&self, cleaner: Cleaner<'_>) -> Part {
        let Mission { title, request, .. } = self.mission;
        Part::new(Rank::Task, "mission", cleaner.whole(&format!("{title}\n{request}")))
    }
}

fn prompt(system: String, message: String) -> Prompt {
    Prompt { system, message, holds_outside: true, remarks: Vec::new() }
}

pub(super) fn understand(frame: Frame<'_>) -> Prompt {
    let marker = new_marker();
    let parts = frame.asked(Cleaner { marker: &marker });
    let message = UNDERSTAND.render(frame.values(&marker, parts));
    frame.prompt(message)
}

/// A draft that was refused, and why.
pub(super) struct RefusedDraft<'a, T> {
    /// None: the answer was none.
    pub(super) draft: Option<&'a T>,
    pub(super) faults: &'a [String],
}

impl<T: Serialize> RefusedDraft<'_, T> {
    fn part(&self, label: &str, cleaner: Cleaner<'_>) -> Option<Part> {
        let draft = serde_json::to_string(self.draft?).ok()?;
        Some(Part::new(Rank::SentBack, label, cleaner.whole(&draft)))
    }
}

/// `repository`: the one that files are built in.
pub(super) fn plan(
    frame: Frame<'_>,
    (understood, insights): (&Understanding, &[Insight]),
    refused: &RefusedDraft<'_, PlanDraft>,
    repository: &str,
) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let mut parts = frame.asked(cleaner);
    let Understanding { given, to_find_out, assumed, .. } = understood;
    let assumed: Vec<String> = assumed.iter().map(|assumption| assumption.text.clone()).collect();
    for (label, lines) in [("what is given", given), ("what has to be found out", to_find_out), ("what is assumed", &assumed)] {
        parts.extend(Part::of_lines(Rank::Task, label, lines.iter().map(|line| format!("- {}", cleaner.line(line, usize::MAX)))));
    }
    let noticed = (1..).zip(insights).map(|(number, insight)| format!("[i{number}] {}", cleaner.line(&insight.text, 300)));
    parts.extend(Part::of_lines(Rank::Memory, "what colleagues noticed in earlier missions", noticed));
    parts.extend(refused.part("your last plan", cleaner));
    let (faults, is_shown, has_insights) = (name_faults(refused.faults, cleaner), refused.draft.is_some(), !insights.is_empty());
    let message = PLAN.render(Values { faults, is_shown, has_insights, repository, ..frame.values(&marker, parts) });
    frame.prompt(message)
}

fn name_faults(faults: &[String], cleaner: Cleaner<'_>) -> Vec<String> {
    faults.iter().map(|fault| cleaner.line(fault, usize::MAX)).collect()
}

pub(super) fn feasible(frame: &Frame<'_>, plan: &Plan) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let steps: Vec<String> = plan.steps.iter().map(|step| describe(step, frame.roster)).collect();
    let parts = vec![Part::new(Rank::Task, "plan", cleaner.whole(&steps.join("\n\n")))];
    let mut values = frame.values(&marker, parts);
    values.plan = values.blocks.pop().map_or_else(String::new, |block| block.text);
    prompt(String::new(), FEASIBLE.render(values))
}

/// `learnt`: why the step failed, and why its results were not accepted.
pub(super) fn replan(frame: Frame<'_>, step: &Step, steps: &[WorkItem], learnt: &str) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let state = |item: &WorkItem| {
        let outcome = item.outcome.as_deref().map_or(String::new(), |outcome| format!(": {}", cleaner.line(outcome, 200)));
        format!("- {} ({}){outcome}", cleaner.line(&item.what, 120), item.status.as_str().replace('_', " "))
    };
    let parts = vec![
        frame.about(cleaner),
        Part::new(Rank::Task, "the step that failed", cleaner.whole(&describe(step, frame.roster))),
        Part::new(Rank::SentBack, "what was learnt", cleaner.whole(learnt)),
        Part::new(Rank::BuiltOn, "all steps", steps.iter().map(state).collect::<Vec<_>>().join("\n")),
    ];
    let message = REPLAN.render(frame.values(&marker, parts));
    frame.prompt(message)
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
pub(super) fn colleague(frame: Frame<'_>, message: &ColleagueMessage, known: &Known<'_>) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let mut parts =
        vec![frame.about(cleaner), Part::new(Rank::Task, "the step of the colleague", cleaner.whole(&known.step.describe_task()))];
    for (item, files) in known.results {
        let outcome = item.outcome.as_deref().unwrap_or("done");
        let mut text = format!("{}: {outcome}", item.what);
        for (name, content) in files.iter().filter_map(|file| Some((&file.facts.name, file.text()?))) {
            let _ = write!(text, "\n\n{name}:\n{content}");
        }
        parts.push(Part::new(Rank::BuiltOn, "your own result in this mission", cleaner.whole(&text)));
    }
    let passages = passage_blocks(known.passages, PASSAGES, cleaner);
    parts.extend(passages.into_iter().map(|block| Part::from((Rank::Feeds, block))));
    parts.extend(feed_blocks(known.feeds, FEEDS, cleaner, frame.roster).into_iter().map(|block| Part::from((Rank::Feeds, block))));
    parts.push(Part::new(Rank::Task, "question", cleaner.whole(&message.text)));
    let asker = flat_name(frame.roster.name_of(&message.from));
    let rendered = COLLEAGUE.render(Values { asker, ..frame.values(&marker, parts) });
    frame.prompt(rendered)
}

/// `wish`: what somebody said, and who.
pub(super) fn change(frame: Frame<'_>, items: &[WorkItem], wish: &Wish, refused: &RefusedDraft<'_, ChangeDraft>) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let names = |items: &[WorkItemId]| items.iter().map(short_id).collect::<Vec<_>>().join(", ");
    let step = |step: &Step| {
        let state = items.iter().find(|item| item.id == step.item).map_or("not begun", |item| item.status.as_str());
        let serves = step.serves.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let about = [
            format!("id {}, {}", short_id(&step.item), state.replace('_', " ")),
            if step.needs.is_empty() { String::new() } else { format!(", needs {}", names(&step.needs)) },
            if serves.is_empty() { String::new() } else { format!(", serves {serves}") },
            render::terms(step, frame.roster, Medium::File),
        ];
        cleaner.whole(&format!("{}\n{}", about.concat(), describe(step, frame.roster)))
    };
    let steps: Vec<String> = frame.mission.plan.iter().flat_map(|plan| &plan.steps).map(step).collect();
    let mut parts = frame.asked(cleaner);
    parts.push(Part::new(Rank::Task, "the steps of the plan, the last one at the end", steps.join("\n\n")));
    let plan = frame.mission.plan.as_ref();
    let criteria = plan.into_iter().flat_map(|plan| &plan.criteria).map(|criterion| format!("- {}", cleaner.line(criterion, usize::MAX)));
    parts.extend(Part::of_lines(Rank::Task, "the delivery is judged by", criteria));
    let assumed = plan.into_iter().flat_map(|plan| &plan.assumed).map(|assumption| {
        let answer = assumption.answer.as_ref().map_or(String::new(), |answer| format!(" {} answered: {}", answer.by, answer.text));
        format!("- {}", cleaner.line(&format!("{}{answer}", assumption.text), usize::MAX))
    });
    parts.extend(Part::of_lines(Rank::Task, "what is assumed", assumed));
    let left_out = plan.into_iter().flat_map(|plan| &plan.left_out).map(|left| {
        let numbers = left.parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("- {}", cleaner.line(&format!("{numbers}: {}", left.why), usize::MAX))
    });
    parts.extend(Part::of_lines(Rank::Task, "parts that are left out", left_out));
    let open = plan.into_iter().flat_map(Plan::open_questions);
    let open = open.map(|(number, question)| format!("{number}. {}", cleaner.line(question, usize::MAX)));
    parts.extend(Part::of_lines(Rank::Task, "questions to people without an answer", open));
    let label = match &wish.colleague {
        _ if wish.is_told => "an answer that all steps know that are not done; change only what contradicts it".to_owned(),
        Some(message) => format!("{} to {}", message.kind.as_str(), flat_name(frame.roster.name_of(&message.to))),
        None => "what is wanted now".to_owned(),
    };
    parts.push(Part::new(Rank::Task, label, cleaner.whole(&wish.text)));
    parts.extend(refused.part("your last change", cleaner));
    let faults = name_faults(refused.faults, cleaner);
    let (asker, by_colleague) = (flat_name(&wish.by), wish.colleague.is_some());
    let message = CHANGE.render(Values { asker, faults, is_shown: refused.draft.is_some(), by_colleague, ..frame.values(&marker, parts) });
    frame.prompt(message)
}

/// For a role that nobody fills. `faults`: why the last draft was refused.
pub(super) fn persona(frame: Frame<'_>, plan: &Plan, role: &MissingRole, faults: &[String]) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let about = format!("{}, good at {}. {}", role.role, role.good_at.join(", "), role.why);
    let steps = role.steps.iter().filter_map(|step| plan.find_step(step)).map(|step| describe(step, frame.roster));
    let steps = steps.collect::<Vec<_>>().join("\n\n");
    let mut parts = frame.asked(cleaner);
    parts.push(Part::new(Rank::Task, "the role", cleaner.whole(&about)));
    parts.push(Part::new(Rank::BuiltOn, "steps of the plan that need it", cleaner.whole(&steps)));
    let faults = name_faults(faults, cleaner);
    let message = PERSONA.render(Values { faults, ..frame.values(&marker, parts) });
    frame.prompt(message)
}

fn describe(step: &Step, roster: &Roster) -> String {
    let criteria: Vec<String> = step.criteria.iter().map(|criterion| format!("  - {criterion}")).collect();
    format!(
        "Step \"{}\" ({}, by {})\n{}\nCriteria:\n{}",
        step.title,
        step.kind.as_str(),
        doer(step, roster),
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
    let parts = vec![Part::new(Rank::Task, "message", cleaner.whole(text)), Part::new(Rank::Said, "documents", cleaner.whole(documents))];
    let [text, documents] =
        fit(parts, SHORT).into_iter().map(|block| block.text).collect::<Vec<_>>().try_into().expect("two parts were given");
    prompt(String::new(), template.render(Message { marker: &marker, text, documents }))
}

#[cfg(test)]
mod tests;
