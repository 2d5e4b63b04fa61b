//! The prompt of a run: the task, what it builds on, and what the team knows about it. Each part has a rank, and the budget of the model decides how
//! much of it is shown.

use chrono::{DateTime, Utc};

use crate::features::backlog::executor::agent_run::{Background, Deliverable, Rejection};
use crate::features::backlog::inputs::{GivenFile, Inputs};
use crate::features::backlog::learning::amendment::tell;
use crate::features::backlog::model::{Artefact, Evidence, Origin, WorkItem, WorkStatus};
use crate::features::backlog::prompts::work as template;
use crate::features::backlog::render::name_of_owner;
use kernel::agent::Prompt;
use kernel::agent::budget::{Part, Rank, fit, tokens_of};
use kernel::agent::context::{Cleaner, finding_block, fitting_feed_blocks, flat_name, passage_blocks};
use kernel::agent::prompt::{PromptKind, render_system};
use kernel::feeds::FeedReport;
use kernel::memory::Memory;
use kernel::memory::retrieval::Quote;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::persona::skill::{self, Skill, SkillKind};
use kernel::repository::Conflict;

/// Maximum length of a title that only names an item.
const TITLE: usize = 200;
/// Limit of a given file in the prompt, in bytes. Tools read the rest.
const GIVEN: usize = 12_000;
/// The most tokens of all feeds together.
const FEEDS: usize = 700;
/// The same for all passages of documents.
const PASSAGES: usize = 1500;
/// The same for what colleagues have found out.
const FINDINGS: usize = 400;
/// Room for the template with its instructions, in tokens.
const INSTRUCTIONS: usize = 1500;

/// The inputs of a run's prompt.
pub(super) struct Material<'a> {
    pub(super) team: &'a str,
    pub(super) roster: &'a Roster,
    pub(super) persona: &'a Persona,
    pub(super) item: &'a WorkItem,
    pub(super) deliverable: Deliverable,
    pub(super) background: &'a Background<'a>,
    pub(super) feeds: &'a [FeedReport],
    /// Passages of documents on the item's subject, best first.
    pub(super) passages: &'a [Quote],
    /// What colleagues have found out today on the item's subject, best first.
    pub(super) findings: &'a [Quote],
    /// The questions into which a model divided the matter.
    pub(super) questions: &'a [String],
    /// The limits of the run, as text.
    pub(super) limits: String,
    /// The tokens that the prompt may have.
    pub(super) tokens: usize,
    /// See [`kernel::agent::context::new_marker`].
    pub(super) marker: &'a str,
    pub(super) now: DateTime<Utc>,
}

impl Material<'_> {
    /// Renders the prompt. Pure.
    pub(super) fn prompt(&self) -> Prompt {
        let by_person = self.item.origin.is_of_a_person();
        let system = render_system(self.team, self.roster, self.persona, PromptKind::Work)
            + &self.background.amendment.map(tell).unwrap_or_default();
        let mut blocks = fit(self.parts(), self.tokens.saturating_sub(tokens_of(&system) + INSTRUCTIONS));
        // A person's words stand in the instructions. Other people's and agents' words are data.
        let request = by_person.then(|| blocks.remove(0).text);
        let skills = self.skills();
        let criteria = self.item.criteria.iter().map(|criterion| self.whole(criterion)).collect();
        let message = template::render_work(&template::Work {
            marker: self.marker,
            now: self.roster.today(self.now).spell(),
            kind: match self.deliverable {
                Deliverable::Research => "research",
                Deliverable::Document => "write",
                Deliverable::Files => "build",
                Deliverable::Change => "change",
            },
            request,
            criteria,
            repository: self.background.site.map_or_else(String::new, |site| self.line(&site.worktree.settings.name, 100)),
            tests: self.background.site.is_some_and(|site| !site.worktree.settings.test_command.is_empty()),
            joined: match self.background.site {
                Some(site) if !site.worktree.conflicts().is_empty() => "conflicts",
                Some(site) if site.worktree.builds_on_others() => "clean",
                _ => "",
            },
            urgency: self.item.urgency.as_str(),
            due: self.item.due.map(|due| self.roster.show_time(due)),
            reviewer: self.item.reviewer.as_ref().map(|reviewer| flat_name(name_of_owner(reviewer, self.roster))),
            owner: flat_name(name_of_owner(&self.item.owner, self.roster)),
            origin: match &self.item.origin {
                Origin::Person { name, .. } => flat_name(name),
                Origin::CommandLine | Origin::KanbanPage => "an operator".into(),
                Origin::Meeting(_) => "a meeting of the team".into(),
                Origin::WorkItem(_) => "work on another item".into(),
            },
            inputs: !self.background.inputs.is_empty() || !self.background.given.is_empty(),
            again: self.background.rejected.is_some(),
            questions: self.questions.len(),
            limits: self.limits.clone(),
            other_skills: self
                .roster
                .skills_of(self.persona)
                .filter(|skill| !skills.contains(skill))
                .map(|skill| skill.name.as_str())
                .collect(),
            skills: skills.into_iter().map(|Skill { name, text, .. }| template::FullSkill { name, text }).collect(),
            blocks: &blocks,
        });
        Prompt { system, message, holds_outside: self.is_tainted(), remarks: Vec::new() }
    }

    /// Whether the prompt contains text from outside. Agents' text may quote anything, and feeds are always from outside.
    pub(super) fn is_tainted(&self) -> bool {
        let Background { needs, inputs, given, named, rejected, lessons, approaches, .. } = self.background;
        !self.item.origin.is_of_a_person()
            || !self.item.background.is_empty()
            || !given.is_empty()
            || !named.is_empty()
            || !needs.is_empty()
            || !inputs.is_empty()
            || !self.feeds.is_empty()
            || !self.passages.is_empty()
            || rejected.is_some_and(|rejection| rejection.outside)
            || lessons.iter().chain(*approaches).any(Memory::may_quote_outside)
    }

    /// The skills of the persona whose full text this work asks for.
    fn skills(&self) -> Vec<&Skill> {
        let kind = match self.deliverable {
            Deliverable::Research => SkillKind::Research,
            Deliverable::Document => SkillKind::Write,
            Deliverable::Files | Deliverable::Change => SkillKind::Build,
        };
        let subject = format!("{} {}", self.item.what, self.item.how);
        skill::choose(self.roster.skills_of(self.persona), kind, &subject)
    }

    /// The parts of the material. The first one is the task.
    fn parts(&self) -> Vec<Part> {
        let Background { rejected, needs, inputs, given, named, lessons, approaches, .. } = self.background;
        let (label, task) = if self.item.origin.is_of_a_person() {
            ("request", self.item.describe_request())
        } else {
            ("work item", self.item.describe_task())
        };
        let mut parts = vec![Part::new(Rank::Task, label, self.whole(&task)).read_by(self.item.read_call())];
        if let Some(Rejection { why, .. }) = rejected {
            parts.push(Part::new(Rank::SentBack, "why the last try was not accepted", self.whole(why)));
        }
        parts.extend(Part::of_lines(
            Rank::Task,
            "conflicts to resolve first",
            self.conflicts().iter().map(|conflict| self.conflict(conflict)),
        ));
        let questions = (1..).zip(self.questions).map(|(number, question)| format!("{number}. {}", self.line(question, usize::MAX)));
        parts.extend(Part::of_lines(Rank::Task, "questions to answer", questions));
        if self.item.origin.is_of_a_person() && !self.item.background.is_empty() {
            let background = self.whole(&self.item.background);
            parts.push(Part::new(Rank::Task, "said before it, and noted with it", background).read_by(self.item.read_call()));
        }
        parts.extend(given.iter().map(|file| self.given(file)));
        parts.extend(named.iter().map(|named| named.part(self.cleaner())));
        parts.extend(needs.iter().map(|need| self.need(need)));
        let files = inputs.iter().flat_map(|input| input.files.iter().map(|file| self.input(input, file)));
        parts.extend(
            Part::of_lines(Rank::BuiltOn, "files that others made for this item", files).map(|part| part.read_by("`workspace_list`")),
        );
        let lines = |of: &[Memory]| of.iter().map(|memory| format!("- {}", self.line(&memory.text, usize::MAX))).collect::<Vec<_>>();
        parts.extend(Part::of_lines(Rank::Memory, "lessons learnt before", lines(lessons).into_iter()));
        parts.extend(Part::of_lines(Rank::Memory, "how something similar was done before", lines(approaches).into_iter()));
        let passages = passage_blocks(self.passages, PASSAGES, self.cleaner());
        parts.extend(passages.into_iter().map(|block| Part::from((Rank::Feeds, block))));
        parts.extend(finding_block(self.findings, FINDINGS, self.cleaner()).map(|block| Part::from((Rank::Feeds, block))));
        let subject = [&self.item.what, &self.item.how, &self.item.why].map(String::as_str).join(" ");
        let feeds = fitting_feed_blocks(self.feeds, (self.persona, &subject), FEEDS, self.cleaner(), self.roster);
        parts.extend(feeds.into_iter().map(|block| Part::from((Rank::Feeds, block))));
        parts
    }

    fn conflicts(&self) -> &[Conflict] {
        self.background.site.map_or(&[], |site| site.worktree.conflicts())
    }

    /// A line for a conflict: the file, and the titles of the items whose changes contradict each other.
    fn conflict(&self, conflict: &Conflict) -> String {
        let title = |title: &str| format!("\"{}\"", self.line(title, TITLE));
        let (path, below) = (self.line(&conflict.path, 300), title(&conflict.below));
        let above = conflict.above.iter().map(|above| title(above)).collect::<Vec<_>>().join(" and ");
        if conflict.is_marked {
            format!("- {path}: {above} (above the line =======) and {below} (below it)")
        } else {
            format!("- {path}: {above} and {below}. Without marks: one of them deleted it, or it is no text")
        }
    }

    fn need(&self, need: &WorkItem) -> Part {
        // The outcome is a line. What somebody answered is whole in the evidence.
        let answers: Vec<String> = need.evidence.iter().filter_map(Evidence::answer).map(|(by, text)| format!("{by}: {text}")).collect();
        let outcome = match (&need.outcome, need.status) {
            _ if !answers.is_empty() => self.whole(&answers.join("\n")),
            (Some(outcome), _) => self.whole(outcome),
            (None, WorkStatus::Done) => "done".into(),
            (None, status) => status.as_str().replace('_', " "),
        };
        let label = format!("what came of the needed item {}", need.short_id());
        Part::new(Rank::BuiltOn, label, format!("{}: {outcome}", self.line(&need.what, TITLE))).read_by(need.read_call())
    }

    /// A file of the message, as far as it is not too long to stand in every prompt.
    fn given(&self, file: &GivenFile) -> Part {
        let note = file.note.as_deref().map_or(String::new(), |note| format!(". {}", self.line(note, TITLE)));
        let path = file.path.replace(['<', '>', '|'], " ");
        let label = format!("{path}, which {} gave with the request{note}", flat_name(&file.by));
        Part::new(Rank::BuiltOn, label, self.whole(&file.text)).at_most(GIVEN).read_by(format!("`workspace_read` with `{path}`"))
    }

    /// Where a file lies, who made it, and for which item.
    fn input(&self, input: &Inputs, file: &Artefact) -> String {
        let by = input.of.persona.as_ref().map_or("somebody", |slug| self.roster.name_of(slug));
        let (path, size) = (self.line(&input.path(file), 300), file.facts.size());
        format!("- {path} ({size}), made by {} for: {}", flat_name(by), self.line(&input.of.what, TITLE))
    }

    fn cleaner(&self) -> Cleaner<'_> {
        Cleaner { marker: self.marker }
    }

    fn whole(&self, text: &str) -> String {
        self.cleaner().whole(text)
    }

    fn line(&self, text: &str, chars: usize) -> String {
        self.cleaner().line(text, chars)
    }
}

#[cfg(test)]
mod tests;
