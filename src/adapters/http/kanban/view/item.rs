//! The detail page of one item.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use kernel::time::show_time;
use serde::Serialize;

use crate::adapters::http::kanban::view::forms::{ActsView, Forms};
use crate::adapters::http::kanban::view::{Viewer, Who, labels};
use crate::features::backlog::model::{
    Artefact, Execution, JournalEntry, MeetingOrigin, Origin, ToolCall, Usage, Wait, WorkItem, WorkKind, WorkStatus, short_id,
};
use crate::features::backlog::store::ItemEvent;
use kernel::commands::KANBAN_PAGE;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::tools::CallStatus;
use kernel::tools::approval::Approval;

/// The most characters shown of a prompt, a reply or a result. The database has the full text.
const LONGEST: usize = 4000;

/// How many files have a preview, and its characters.
const PREVIEWS: usize = 10;
const PREVIEW: usize = 20_000;

#[derive(Debug, Serialize)]
pub(crate) struct ItemView {
    team: String,
    id: String,
    acts: ActsView,
    short_id: String,
    what: String,
    how: String,
    why: String,
    owner: Who,
    by: Option<Who>,
    urgency_label: String,
    status: WorkStatus,
    status_label: String,
    execution: Option<String>,
    wait: Option<String>,
    not_before: Option<String>,
    criteria: Vec<String>,
    outcome: Option<String>,
    attempts: u32,
    run: u32,
    cost: String,
    time: Option<String>,
    tools: Option<String>,
    origin: String,
    created: String,
    /// When it changed last, unless it is as it was added.
    changed: Option<String>,
    /// The message in which it was asked for.
    chat: Option<String>,
    /// The item itself if it is a mission, or the mission that it is a step of.
    mission: Option<String>,
    parent: Option<LinkView>,
    needs: Vec<LinkView>,
    evidence: Vec<ProofView>,
    approvals: Vec<ApprovalView>,
    files: Vec<FileView>,
    events: Vec<EventView>,
    journal: Vec<LineView>,
}

#[derive(Debug, Serialize)]
struct LinkView {
    id: String,
    short_id: String,
    what: String,
    status_label: String,
}

#[derive(Debug, Serialize)]
struct ProofView {
    kind: &'static str,
    text: String,
    sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct ApprovalView {
    tool: String,
    arguments: String,
    risk: &'static str,
    state: &'static str,
    by: Option<String>,
    at: String,
}

#[derive(Debug, Serialize)]
struct EventView {
    /// None for the creation of the item, and for events that left the status unchanged.
    from: Option<String>,
    to: String,
    note: Option<String>,
    at: String,
}

/// A file of the result.
#[derive(Debug, Serialize)]
struct FileView {
    name: String,
    media_type: String,
    size: String,
    sha256: String,
    link: String,
    is_picture: bool,
    /// The beginning of a text.
    text: Option<String>,
}

/// A step of the current attempt.
#[derive(Debug, Serialize)]
struct LineView {
    what: String,
    text: String,
    /// `failed` or `refused`. None: it went well.
    trouble: Option<&'static str>,
    /// The text comes from outside.
    outside: bool,
    at: String,
}

impl Viewer {
    /// A file of an item's result, by its place on the page.
    pub(crate) async fn find_file(&self, item: &WorkItemId, place: u32) -> Result<Option<Artefact>, StoreError> {
        self.store.find_artefact(item, place).await
    }

    /// None if there is no such item.
    pub(crate) async fn read_item(&self, id: &WorkItemId, forms: Forms) -> Result<Option<ItemView>, StoreError> {
        let Some(item) = self.store.find_item(id).await? else { return Ok(None) };
        let acts = self.show_acts(&item, forms).await?;
        let zone = self.roster.zone();
        let mut needs = Vec::with_capacity(item.depends_on.len());
        for needed in &item.depends_on {
            needs.extend(self.find_link(needed).await?);
        }
        let parent = match &item.parent {
            Some(parent) => self.find_link(parent).await?,
            None => None,
        };
        let events = self.store.list_events(id).await?;
        let mut usage = Usage::default();
        usage.add_times(events.iter().map(|event| (event.to, event.at)), self.clock.now());
        let mut journal = Vec::new();
        for run in self.store.list_runs(id).await? {
            let entries = self.store.list_journal(id, run).await?;
            usage.add_calls(entries.iter().map(|(entry, _)| entry));
            if run == item.run {
                journal = entries;
            }
        }
        let approvals = self.store.list_approvals(id).await?;
        let chat = match self.store.find_request_place(&item).await? {
            Some((channel, message)) => self.platform.link_message(&channel, &message).await,
            None => None,
        };
        let files = self.store.read_artefacts(id).await?;
        Ok(Some(ItemView {
            time: usage.describe_time(),
            tools: usage.describe_calls(),
            parent,
            needs,
            chat,
            approvals: approvals.into_iter().map(|approval| ApprovalView::of(approval, zone)).collect(),
            files: files.iter().enumerate().map(|(place, file)| show_file(id, place, file)).collect(),
            events: events.into_iter().map(|event| EventView::of(event, zone)).collect(),
            journal: journal.into_iter().map(|line| LineView::of(line, zone)).collect(),
            ..self.show_item(item, acts)
        }))
    }

    /// The part that needs no other tables.
    fn show_item(&self, item: WorkItem, acts: ActsView) -> ItemView {
        let (zone, now) = (self.roster.zone(), self.clock.now());
        let owner = self.show_owner(&item.owner);
        let by = item.persona.as_ref().map(|slug| self.show_persona(slug)).filter(|by| by.key != owner.key);
        ItemView {
            team: self.team.clone(),
            id: item.id.to_string(),
            acts,
            short_id: item.short_id().to_owned(),
            owner,
            by,
            urgency_label: self.show_when(item.due, item.urgency, item.status),
            status: item.status,
            status_label: labels::status(item.status),
            execution: item.execution.as_ref().map(|execution| describe_execution(execution, zone)),
            wait: item.wait.as_ref().filter(|_| item.status == WorkStatus::Waiting).map(Wait::describe),
            not_before: item.not_before.filter(|_| !item.status.is_over()).map(|at| labels::date(at, now, zone)),
            origin: describe_origin(&item.origin),
            created: labels::date(item.created_at, now, zone),
            changed: (item.updated_at - item.created_at > TimeDelta::minutes(1)).then(|| labels::date(item.updated_at, now, zone)),
            chat: None,
            mission: match item.kind {
                WorkKind::Mission => Some(item.id.to_string()),
                WorkKind::Step => item.parent.as_ref().map(ToString::to_string),
                WorkKind::Action => None,
            },
            evidence: item
                .evidence
                .iter()
                .map(|found| labels::evidence(found, zone))
                .map(|(kind, text, sha256)| ProofView { kind, text, sha256 })
                .collect(),
            cost: item.cost.to_string(),
            time: None,
            tools: None,
            what: item.what,
            how: item.how,
            why: item.why,
            criteria: item.criteria,
            outcome: item.outcome,
            attempts: item.attempts,
            run: item.run,
            parent: None,
            needs: Vec::new(),
            approvals: Vec::new(),
            files: Vec::new(),
            events: Vec::new(),
            journal: Vec::new(),
        }
    }

    async fn find_link(&self, id: &WorkItemId) -> Result<Option<LinkView>, StoreError> {
        let item = self.store.find_item(id).await?;
        Ok(item.map(|item| LinkView {
            short_id: short_id(&item.id).to_owned(),
            id: item.id.to_string(),
            status_label: labels::status(item.status),
            what: item.what,
        }))
    }
}

fn show_file(item: &WorkItemId, place: usize, file: &Artefact) -> FileView {
    let facts = &file.facts;
    FileView {
        name: facts.name.clone(),
        media_type: facts.media_type.clone(),
        size: facts.size(),
        sha256: facts.sha256.clone(),
        link: format!("/backlog/items/{item}/files/{place}"),
        is_picture: facts.is_picture(),
        text: file.text().filter(|_| place < PREVIEWS).map(|text| labels::cut(text, PREVIEW)),
    }
}

fn describe_execution(execution: &Execution, zone: Tz) -> String {
    match execution {
        Execution::Ask { question, .. } => format!("ask: {question}"),
        Execution::Watch(terms) => format!("watch: {}, until {}", terms.describe(), show_time(terms.until, zone)),
        _ => execution.kind().as_str().to_owned(),
    }
}

fn describe_origin(origin: &Origin) -> String {
    match origin {
        Origin::Meeting(MeetingOrigin { called_by: Some((_, name)), .. }) => format!("a meeting that {name} called"),
        Origin::Meeting(_) => "a scheduled meeting".into(),
        Origin::Person { name, .. } => name.clone(),
        Origin::WorkItem(item) => format!("work on {}", short_id(item)),
        Origin::CommandLine => "the command line".into(),
        Origin::KanbanPage => KANBAN_PAGE.into(),
    }
}

impl ApprovalView {
    fn of(approval: Approval, zone: Tz) -> Self {
        Self {
            arguments: labels::cut(&approval.arguments.to_string(), LONGEST),
            risk: approval.risk.as_str(),
            state: approval.state.as_str(),
            at: show_time(approval.decided_at.unwrap_or(approval.asked_at), zone),
            tool: approval.tool,
            by: approval.by,
        }
    }
}

impl EventView {
    fn of(event: ItemEvent, zone: Tz) -> Self {
        let from = event.from.filter(|from| *from != event.to);
        Self { from: from.map(labels::status), to: labels::status(event.to), note: event.note, at: show_time(event.at, zone) }
    }
}

impl LineView {
    fn of((entry, at): (JournalEntry, DateTime<Utc>), zone: Tz) -> Self {
        let (what, text, trouble, outside) = match entry {
            JournalEntry::Asked { system, message, tainted, .. } => ("asked".into(), format!("{system}\n\n{message}"), None, tainted),
            JournalEntry::Replied { text, calls, model } => {
                let calls: Vec<_> = calls.iter().map(describe_call).collect();
                (format!("{model} replied"), [text, calls.join("\n")].join("\n").trim().to_owned(), None, false)
            }
            JournalEntry::Began { call, .. } => (format!("began {call}"), String::new(), None, false),
            JournalEntry::Returned { call, text, outside, status, .. } => {
                let trouble = match status {
                    CallStatus::Ok => None,
                    CallStatus::Failed => Some("failed"),
                    CallStatus::Refused => Some("refused"),
                    CallStatus::Proposed => Some("to be allowed"),
                };
                (format!("returned {call}"), text, trouble, outside)
            }
            JournalEntry::Told { text } => ("told on the way".into(), text, None, false),
            JournalEntry::SentBack { why } => ("sent back".into(), why, None, false),
            JournalEntry::Judged { verdict, model } => {
                (format!("{model} judged").trim().to_owned(), verdict.as_str().replace('_', " "), None, false)
            }
            JournalEntry::Graded { by, entry, .. } => {
                let step = Self::of((*entry, at), zone);
                return Self { what: format!("review by {by}: {}", step.what), ..step };
            }
            JournalEntry::Consulted { colleague, entry, .. } => {
                let step = Self::of((*entry, at), zone);
                return Self { what: format!("question to {colleague}: {}", step.what), ..step };
            }
        };
        Self { what, text: labels::cut(&text, LONGEST), trouble, outside, at: show_time(at, zone) }
    }
}

fn describe_call(call: &ToolCall) -> String {
    format!("calls {} {} ({})", call.name, call.arguments, call.id)
}
