//! The detail page of one item.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::adapters::http::kanban::view::{Viewer, Who, labels};
use crate::features::backlog::model::{Execution, JournalEntry, Origin, ToolCall, Wait, WorkItem, WorkStatus, short_id};
use crate::features::backlog::store::ItemEvent;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::tools::CallStatus;
use kernel::tools::approval::Approval;

/// The most characters shown of a prompt, a reply or a result. The database has the full text.
const LONGEST: usize = 4000;

#[derive(Debug, Serialize)]
pub(crate) struct ItemView {
    team: String,
    short_id: String,
    what: String,
    how: String,
    why: String,
    owner: Who,
    by: Option<Who>,
    urgency_label: &'static str,
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
    origin: String,
    created: String,
    parent: Option<LinkView>,
    needs: Vec<LinkView>,
    evidence: Vec<ProofView>,
    approvals: Vec<ApprovalView>,
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
    /// None for the creation of the item.
    from: Option<String>,
    to: String,
    note: Option<String>,
    at: String,
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
    /// None if there is no such item.
    pub(crate) async fn read_item(&self, id: &WorkItemId) -> Result<Option<ItemView>, StoreError> {
        let Some(item) = self.store.find_item(id).await? else { return Ok(None) };
        let mut needs = Vec::with_capacity(item.depends_on.len());
        for needed in &item.depends_on {
            needs.extend(self.find_link(needed).await?);
        }
        let parent = match &item.parent {
            Some(parent) => self.find_link(parent).await?,
            None => None,
        };
        let events = self.store.list_events(id).await?;
        let journal = self.store.list_journal(id, item.run).await?;
        let approvals = self.store.list_approvals(id).await?;
        Ok(Some(ItemView {
            parent,
            needs,
            approvals: approvals.into_iter().map(ApprovalView::from).collect(),
            events: events.into_iter().map(EventView::from).collect(),
            journal: journal.into_iter().map(LineView::from).collect(),
            ..self.show_item(item)
        }))
    }

    /// The part that needs no other tables.
    fn show_item(&self, item: WorkItem) -> ItemView {
        let owner = self.show_owner(&item.owner);
        let by = item.persona.as_ref().map(|slug| self.show_persona(slug)).filter(|by| by.key != owner.key);
        ItemView {
            team: self.team.clone(),
            short_id: item.short_id().to_owned(),
            owner,
            by,
            urgency_label: labels::urgency(item.urgency),
            status: item.status,
            status_label: labels::status(item.status),
            execution: item.execution.as_ref().map(describe_execution),
            wait: item.wait.as_ref().filter(|_| item.status == WorkStatus::Waiting).map(Wait::describe),
            not_before: item.not_before.filter(|_| !item.status.is_over()).map(labels::moment),
            origin: describe_origin(&item.origin),
            created: labels::moment(item.created_at),
            evidence: item.evidence.iter().map(labels::evidence).map(|(kind, text, sha256)| ProofView { kind, text, sha256 }).collect(),
            cost: item.cost.to_string(),
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

fn describe_execution(execution: &Execution) -> String {
    match execution {
        Execution::Ask { question, .. } => format!("ask: {question}"),
        Execution::Watch(terms) => format!("watch: {}, until {}", terms.describe(), labels::moment(terms.until)),
        _ => execution.kind().as_str().to_owned(),
    }
}

fn describe_origin(origin: &Origin) -> String {
    match origin {
        Origin::Meeting(meeting) => format!("the meeting {meeting}"),
        Origin::Person { name, .. } => name.clone(),
        Origin::WorkItem(item) => format!("work on {}", short_id(item)),
        Origin::CommandLine => "the command line".into(),
    }
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        Self {
            arguments: labels::cut(&approval.arguments.to_string(), LONGEST),
            risk: approval.risk.as_str(),
            state: approval.state.as_str(),
            at: labels::moment(approval.decided_at.unwrap_or(approval.asked_at)),
            tool: approval.tool,
            by: approval.by,
        }
    }
}

impl From<ItemEvent> for EventView {
    fn from(event: ItemEvent) -> Self {
        Self { from: event.from.map(labels::status), to: labels::status(event.to), note: event.note, at: labels::moment(event.at) }
    }
}

impl From<(JournalEntry, DateTime<Utc>)> for LineView {
    fn from((entry, at): (JournalEntry, DateTime<Utc>)) -> Self {
        let (what, text, trouble, outside) = match entry {
            JournalEntry::Asked { system, message, tainted } => ("asked".into(), format!("{system}\n\n{message}"), None, tainted),
            JournalEntry::Replied { text, calls, model } => {
                let calls: Vec<_> = calls.iter().map(describe_call).collect();
                (format!("{model} replied"), [text, calls.join("\n")].join("\n").trim().to_owned(), None, false)
            }
            JournalEntry::Began { call } => (format!("began {call}"), String::new(), None, false),
            JournalEntry::Returned { call, text, outside, status, .. } => {
                let trouble = match status {
                    CallStatus::Ok => None,
                    CallStatus::Failed => Some("failed"),
                    CallStatus::Refused => Some("refused"),
                };
                (format!("returned {call}"), text, trouble, outside)
            }
            JournalEntry::Judged { verdict, model } => {
                (format!("{model} judged").trim().to_owned(), verdict.as_str().replace('_', " "), None, false)
            }
        };
        Self { what, text: labels::cut(&text, LONGEST), trouble, outside, at: labels::moment(at) }
    }
}

fn describe_call(call: &ToolCall) -> String {
    format!("calls {} {} ({})", call.name, call.arguments, call.id)
}
