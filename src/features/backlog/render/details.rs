//! The details of an item.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{ArtefactFacts, Claim, Execution, JournalEntry, Product, Review, Usage, WorkItem};
use crate::features::backlog::store::ItemEvent;
use kernel::chat::medium::Medium;
use kernel::persona::roster::Roster;
use kernel::tools::Trace;
use kernel::tools::approval::Approval;

use crate::features::backlog::render::journal::{describe, name_calls};
use crate::features::backlog::render::{labels, list_files};

/// The most characters of a line of text from outside.
const LINE: usize = 160;
/// The most characters of how, why and the outcome.
const PROSE: usize = 400;
const LISTED: usize = 8;

/// An item with its dependencies, events and runs.
#[derive(Debug, Clone)]
pub struct ItemDetails {
    pub item: WorkItem,
    /// The team's zone, for dates.
    pub zone: Tz,
    pub needs: Vec<WorkItem>,
    pub parent: Option<WorkItem>,
    /// Oldest first.
    pub events: Vec<ItemEvent>,
    /// The runs with a journal, oldest first.
    pub runs: Vec<RunDetails>,
    /// The claimed result of the last run.
    pub product: Option<Product>,
    /// Oldest first.
    pub reviews: Vec<Review>,
    pub approvals: Vec<Approval>,
    /// What its runs took.
    pub usage: Usage,
    /// The files of the result, once they are verified.
    pub artefacts: Vec<ArtefactFacts>,
}

#[derive(Debug, Clone)]
pub struct RunDetails {
    pub run: u32,
    pub entries: Vec<(JournalEntry, DateTime<Utc>)>,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// For a chat: only the newest entries of each list.
    Brief,
    Whole,
}

/// An item as Markdown: what, how and why, its status, evidence and history.
pub fn render_item(details: &ItemDetails, roster: &Roster, detail: Detail) -> String {
    let page = Page { details, roster, detail };
    [
        page.head(),
        page.record(),
        page.ties(),
        page.evidence(),
        page.reviews(),
        page.files(),
        page.approvals(),
        page.events(),
        page.journal(),
    ]
    .into_iter()
    .filter(|section| !section.is_empty())
    .collect::<Vec<_>>()
    .join("\n\n")
}

struct Page<'a> {
    details: &'a ItemDetails,
    roster: &'a Roster,
    detail: Detail,
}

impl Page<'_> {
    fn head(&self) -> String {
        let item = &self.details.item;
        let mut text = format!("**{}** (#{})", Medium::Chat.line(&item.what), item.short_id());
        for (label, words) in [("How", &item.how), ("Why", &item.why), ("Message", &item.said)] {
            if !words.is_empty() {
                let _ = write!(text, "\n{label}: {}", self.prose(words));
            }
        }
        for criterion in &item.criteria {
            let _ = write!(text, "\nDone when: {}", line(criterion));
        }
        text
    }

    fn record(&self) -> String {
        let item = &self.details.item;
        let wait = item.wait.as_ref().map_or(String::new(), |wait| format!(", waits {}", line(&wait.describe())));
        let not_before = item.not_before.map_or(String::new(), |at| format!(", starts after {}", self.roster.show_time(at)));
        let mut text = format!("Status: **{}**{wait}{not_before}", labels::status(item.status));
        if let Some(outcome) = &item.outcome {
            let _ = write!(text, "\nOutcome: {}", self.prose(outcome));
        }
        let doer = item.persona.as_ref().map_or(String::new(), |slug| format!(", done by {}", labels::name(self.roster.name_of(slug))));
        let _ = write!(text, "\nOwner: {}{doer}", labels::name(labels::name_of_owner(&item.owner, self.roster)));
        let kind =
            item.execution.as_ref().map_or_else(|| "not planned yet".to_owned(), |execution| describe_execution(execution, self.roster));
        let due = item.due.map_or(String::new(), |due| format!(", due {}", self.roster.show_time(due)));
        let _ = write!(text, "\nUrgency: {}{due}, type of work: {}", labels::urgency(item.urgency), line(&kind));
        if let Some(repository) = &item.repository {
            let _ = write!(text, "\nRepository: {}", line(repository));
        }
        let _ = write!(text, "\nFrom {}, {}", labels::name(&labels::origin(&item.origin)), self.roster.show_time(item.created_at));
        let model = self.find_model().map_or(String::new(), |model| format!(" by {}", line(model)));
        let took = self.details.usage.describe_time().map_or(String::new(), |time| format!(", time at work: {time}"));
        let _ = write!(text, "\nFailed attempts: {}, cost: {}{model}{took}", item.attempts, item.cost);
        if let Some(critique) = self.details.product.as_ref().and_then(|product| product.critique.as_ref()) {
            let revised = match critique.revisions {
                0 => String::new(),
                1 => ", after it was improved once".to_owned(),
                times => format!(", after it was improved {times} times"),
            };
            let _ = write!(text, "\nIts author's own critique, of 1 to 5: {}{revised}", critique.describe());
        }
        if let Some(calls) = self.details.usage.describe_calls() {
            let _ = write!(text, "\nTools used: {}", self.prose(&calls));
        }
        text
    }

    fn ties(&self) -> String {
        let describe = |label: &str, other: &WorkItem| {
            format!("{label} #{} ({}): {}", other.short_id(), labels::status(other.status), line(&other.what))
        };
        let parent = self.details.parent.iter().map(|parent| describe("Part of", parent));
        let needs = self.details.needs.iter().map(|needed| describe("Needs", needed));
        parent.chain(needs).collect::<Vec<_>>().join("\n")
    }

    fn evidence(&self) -> String {
        let found = self.details.item.evidence.iter().map(|found| line(&labels::evidence_with_digest(found, self.roster)));
        section("Evidence", found.collect(), usize::MAX)
    }

    /// A line for each review, and one for each criterion that it found not met.
    fn reviews(&self) -> String {
        let lines = self.details.reviews.iter().flat_map(|review| {
            let by = labels::name(labels::judge(&review.by, self.roster));
            let verdict = if review.accepted { "accepted" } else { "did not accept" };
            let scores = review.scores.map_or(String::new(), |scores| format!(" ({})", scores.describe()));
            let open: Vec<_> = review.findings.iter().filter(|finding| !finding.met).collect();
            let note = if open.is_empty() { format!(": {}", line(&review.note)) } else { String::new() };
            let found = open.into_iter().map(|finding| {
                let place = finding.place.as_ref().map_or(String::new(), |place| format!(" ({})", line(&place.to_string())));
                format!("not met: {}: {}{place}", line(&finding.criterion), line(&finding.text))
            });
            let first = format!("{by} {verdict} attempt {}, {}{scores}{note}", review.run + 1, self.roster.show_time(review.at));
            std::iter::once(first).chain(found).collect::<Vec<_>>()
        });
        section("Reviews", lines.collect(), self.most())
    }

    /// The files of the result. Before there is one, files written or claimed, each once with its latest state.
    fn files(&self) -> String {
        if !self.details.artefacts.is_empty() {
            let id = self.details.item.short_id();
            let how = match self.detail {
                Detail::Brief => format!("Post them here with `/backlog files id:{id}`."),
                Detail::Whole => format!("Save them with `teamroom backlog files {id} --out DIR`."),
            };
            return format!("{}\n{how}", section("Files", list_files(&self.details.artefacts), usize::MAX));
        }
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        for claim in self.details.product.iter().flat_map(|product| &product.claims) {
            if let Claim::File { path } = claim {
                files.insert(path, " (claimed, not verified)".to_owned());
            }
        }
        for (entry, _) in self.details.runs.last().iter().flat_map(|run| &run.entries) {
            if let JournalEntry::Returned { trace: Some(Trace::Wrote { path, bytes, sha256 }), .. } = entry {
                files.insert(path, format!(", {bytes} bytes, sha256 {}", labels::short_hash(sha256)));
            }
        }
        section("Files of the last attempt", files.into_iter().map(|(path, known)| format!("{}{known}", line(path))).collect(), usize::MAX)
    }

    fn approvals(&self) -> String {
        let asked = self.details.approvals.iter().map(|approval| {
            let by = approval.by.as_ref().map_or(String::new(), |by| format!(" by {}", labels::name(by)));
            let arguments = line(&approval.arguments.to_string());
            format!("{} {arguments}: {}{by}", line(&approval.tool), approval.state.as_str())
        });
        section("Approvals", asked.collect(), usize::MAX)
    }

    fn events(&self) -> String {
        let events = self.details.events.iter().map(|event| {
            let note = event.note.as_ref().map_or(String::new(), |note| format!(": {}", line(note)));
            format!("{} {}{note}", self.roster.show_time(event.at), labels::describe_change(event.from, event.to))
        });
        section("What happened", events.collect(), self.most())
    }

    fn journal(&self) -> String {
        let mut lines = Vec::new();
        let author = self.details.item.persona.as_ref();
        for run in &self.details.runs {
            let names = name_calls(&run.entries);
            lines.extend(run.entries.iter().map(|(entry, at)| {
                format!("attempt {}, {}: {}", run.run + 1, self.roster.show_time(*at), describe(entry, author, &names))
            }));
        }
        section("Journal", lines, self.most())
    }

    /// The last model that was used.
    fn find_model(&self) -> Option<&str> {
        let replied = self.details.runs.iter().rev().flat_map(|run| run.entries.iter().rev()).find_map(|(entry, _)| match entry {
            JournalEntry::Replied { model, .. } => Some(model.as_str()),
            _ => None,
        });
        self.details.product.as_ref().and_then(|product| product.model.as_deref()).or(replied)
    }

    fn most(&self) -> usize {
        if self.detail == Detail::Brief { LISTED } else { usize::MAX }
    }

    fn prose(&self, text: &str) -> String {
        if self.detail == Detail::Brief { Medium::Chat.line_within(text, PROSE) } else { Medium::Chat.line(text) }
    }
}

/// A list with a heading and its last `most` entries. Empty without entries.
fn section(title: &str, lines: Vec<String>, most: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let left_out = lines.len().saturating_sub(most);
    let heading = if left_out > 0 { format!("**{title}** (the last {most} of {})", lines.len()) } else { format!("**{title}**") };
    let shown = lines.into_iter().skip(left_out).map(|line| format!("- {line}"));
    std::iter::once(heading).chain(shown).collect::<Vec<_>>().join("\n")
}

fn describe_execution(execution: &Execution, roster: &Roster) -> String {
    match execution {
        Execution::Watch(terms) => format!("watch until {}, or {}", terms.describe(), roster.show_time(terms.until)),
        Execution::Ask { question, .. } => format!("ask: {question}"),
        other => other.kind().as_str().to_owned(),
    }
}

pub(super) fn line(text: &str) -> String {
    Medium::Chat.line_within(text, LINE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample;
    use super::*;
    use crate::features::backlog::model::{FilePlace, Finding, Judge, Scores, ToolCall, WorkStatus};
    use kernel::money::Money;
    use kernel::tools::CallStatus;
    use kernel::tools::approval::{ApprovalState, Risk};

    fn details() -> ItemDetails {
        let at = sample::at();
        let call = |id: &str, name: &str, arguments| ToolCall { id: id.to_owned(), name: name.to_owned(), arguments };
        let returned = |call: &str, text: &str, outside, status, trace| {
            (JournalEntry::Returned { call: call.to_owned(), text: text.to_owned(), outside, status, trace }, at)
        };
        let wrote = Trace::Wrote { path: "slow-build.md".to_owned(), sha256: "9f86d081884c7d65".to_owned(), bytes: 1204 };
        let entries = vec![
            (JournalEntry::Asked { system: String::new(), message: String::new(), tainted: true, remarks: Vec::new() }, at),
            (
                JournalEntry::Replied {
                    text: "I look.".to_owned(),
                    calls: vec![
                        call("c1", "fetch_page", json!({"url": "http://169.254.169.254/"})),
                        call("c2", "workspace_write", json!({})),
                    ],
                    model: "local/small".to_owned(),
                },
                at,
            ),
            returned("c1", "the address 169.254.169.254 is not public", false, CallStatus::Refused, None),
            (JournalEntry::Began { call: "c2".to_owned(), own_words: None }, at),
            returned("c2", "written", false, CallStatus::Ok, Some(wrote)),
            returned("c9", "a page", true, CallStatus::Ok, None),
        ];
        let approval = Approval {
            id: "a1".into(),
            item: sample::item().id,
            run: 0,
            tool: "post".to_owned(),
            arguments: json!({"text": "hi"}),
            risk: Risk::ReachOut,
            state: ApprovalState::Refused,
            by: Some("Ann".to_owned()),
            asked_at: at,
            decided_at: Some(at),
        };
        let event = |from, to, note: Option<&str>| ItemEvent { from, to, note: note.map(str::to_owned), run: None, at };
        ItemDetails {
            zone: Tz::UTC,
            item: WorkItem { cost: Money(20_000), run: 1, attempts: 1, execution: Some(Execution::Research), ..sample::done() },
            needs: vec![WorkItem { what: "List the runs".to_owned(), ..sample::done() }],
            parent: Some(WorkItem { what: "Make the build *fast*".to_owned(), status: WorkStatus::Blocked, ..sample::item() }),
            events: vec![event(None, WorkStatus::New, None), event(Some(WorkStatus::New), WorkStatus::Ready, Some("planned: research"))],
            runs: vec![RunDetails { run: 1, entries }],
            product: None,
            reviews: vec![
                Review {
                    number: 1,
                    run: 0,
                    author: Some("vince".into()),
                    by: Judge::Persona("kelly".into()),
                    accepted: false,
                    note: "1 of 2 criteria not met\n2. Each price has its page: The price of B has none.".to_owned(),
                    findings: vec![
                        Finding {
                            criterion: "Three shops".to_owned(),
                            met: true,
                            text: "A, B and C".to_owned(),
                            place: None,
                            needs_person: false,
                        },
                        Finding {
                            criterion: "Each price has its page".to_owned(),
                            met: false,
                            text: "The price of B has none.".to_owned(),
                            place: Some(FilePlace { file: "prices.md".to_owned(), line: 3 }),
                            needs_person: false,
                        },
                    ],
                    scores: Some(Scores { depth: 3, accuracy: 2, actionability: 4, completeness: 3 }),
                    at,
                },
                Review {
                    number: 2,
                    run: 1,
                    author: Some("vince".into()),
                    by: Judge::Person("Ann".to_owned()),
                    accepted: true,
                    note: "accepted by button".to_owned(),
                    findings: Vec::new(),
                    scores: None,
                    at,
                },
            ],
            usage: Usage { time: chrono::TimeDelta::minutes(12), calls: [("fetch_page".to_owned(), (3, 1))].into() },
            approvals: vec![approval],
            artefacts: vec![ArtefactFacts {
                name: "slow-build.md".to_owned(),
                media_type: "text/markdown".to_owned(),
                bytes: 1204,
                sha256: "9f86d081884c7d65".to_owned(),
            }],
        }
    }

    #[test]
    fn details_contain_everything_and_show_what_was_refused() {
        insta::assert_snapshot!(render_item(&details(), &kernel::testing::roster::roster(), Detail::Whole));
    }

    #[test]
    fn in_a_chat_only_the_newest_of_long_lists_are_shown() {
        let mut details = details();
        let event = details.events[0].clone();
        details.events = vec![event; 100];
        details.item.how = "long words ".repeat(300);
        let roster = kernel::testing::roster::roster();
        let brief = render_item(&details, &roster, Detail::Brief);
        assert!(brief.contains("**What happened** (the last 8 of 100)"), "{brief}");
        assert!(brief.chars().count() < 4000, "{} characters", brief.chars().count());
        assert!(render_item(&details, &roster, Detail::Whole).matches(", 10:00 new").count() == 100);
    }
}
