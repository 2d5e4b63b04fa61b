//! The sections shared by the thread and the file.

use std::fmt::Write as _;

use crate::features::backlog::model::short_id;
use crate::features::meeting::signal::{Evidence, Signal};
use crate::features::standup::model::report::{DayReport, FeedLine, FeedRead, ReportedAction};
use crate::features::standup::model::tension::{Finding, Tension};
use kernel::figure;
use kernel::time::show_time;

use crate::features::standup::render::labels;
use crate::features::standup::render::medium::{Medium, shorten};
use crate::features::standup::render::report::{list_quiet, list_skipped, name_of, reason_of, render_author};

/// In chat, tables are code blocks that wrap if wide. Cells are cut; the full text is below or in the file.
const CELL: usize = 32;
/// The most signals in chat, highest confidence first.
const SIGNALS: usize = 40;
/// The most characters of a cell or line in the file. Foreign texts have lower limits of their own.
const WHOLE: usize = 2000;

pub(super) struct Section {
    pub(super) title: &'static str,
    /// Markdown. None if there is no content.
    pub(super) text: Option<String>,
}

/// The sections after summary and call, in the order of STAND-13.
pub(super) fn list_sections(report: &DayReport, medium: Medium) -> Vec<Section> {
    let page = Page { report, medium };
    // A team without check-ins does not see this section.
    let people = (!report.people.is_empty()).then(|| ("From people", page.people()));
    let sections = [
        ("Signals", page.signals()),
        ("Tensions", page.tensions()),
        ("What changed", page.changes()),
        ("Actions", page.actions()),
        ("Skipped and quiet", page.absent()),
        ("Feeds", page.feeds()),
        ("Cost", page.cost()),
    ];
    let section = |(title, text): (_, String)| Section { title, text: Some(text.trim_end().to_owned()).filter(|text| !text.is_empty()) };
    people.into_iter().chain(sections).map(section).collect()
}

/// A report and the medium to render for.
struct Page<'r> {
    report: &'r DayReport,
    medium: Medium,
}

impl Page<'_> {
    /// What people wrote before the standup. The first line has the name.
    fn people(&self) -> String {
        let mut text = String::new();
        for said in &self.report.people {
            let lines: Vec<String> = said.text.lines().filter(|line| !line.trim().is_empty()).map(|line| self.line(line)).collect();
            let _ = writeln!(text, "- **{}**: {}", self.line(&said.name), lines.join("\n  "));
        }
        text
    }

    fn signals(&self) -> String {
        let mut findings: Vec<&Finding> = self.report.cross_check.findings.iter().collect();
        findings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let shown = if self.medium == Medium::Chat { SIGNALS.min(findings.len()) } else { findings.len() };
        let rows = findings[..shown].iter().map(|finding| {
            let mut names: Vec<&str> = Vec::new();
            for name in finding.claims.iter().map(|claim| name_of(self.report, &claim.by)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            vec![
                self.cell(&finding.subject),
                finding.direction.map_or("contested", labels::direction).to_owned(),
                labels::percent(finding.confidence),
                self.cell(&names.join(", ")),
                self.cell(&list_evidence(finding).join("; ")),
            ]
        });
        let mut text = render_table("| subject | direction | confidence | said by | evidence |\n| --- | --- | ---: | --- | --- |", rows);
        if shown < findings.len() {
            let _ = writeln!(text, "and {} more in the file", findings.len() - shown);
        }
        let mut told: Vec<String> = Vec::new();
        for claim in &self.report.cross_check.unsupported {
            let (name, subject) = (self.line(name_of(self.report, &claim.by)), self.line(&claim.signal.subject));
            let direction = labels::direction(claim.signal.direction);
            let evidence = claim.signal.evidence.as_ref().map(render_evidence).unwrap_or_default();
            let line = format!("\nUnsupported: {subject} {direction} ({name}); the page does not have {}.\n", self.line(&evidence));
            if !told.contains(&line) {
                text.push_str(&line);
                told.push(line);
            }
        }
        text
    }

    fn tensions(&self) -> String {
        self.report.cross_check.tensions.iter().map(|tension| self.tension(tension)).collect()
    }

    fn tension(&self, tension: &Tension) -> String {
        let mut text = format!("- **{}**\n", self.line(&tension.subject));
        for claims in &tension.sides {
            let said: Vec<String> = claims
                .iter()
                .map(|claim| format!("{}, {}", self.line(name_of(self.report, &claim.by)), self.ground(&claim.signal)))
                .collect();
            let direction = claims.first().map_or("nobody", |claim| labels::direction(claim.signal.direction));
            let _ = writeln!(text, "  - {direction}: {}", said.join("; "));
        }
        text
    }

    /// The confidence and evidence of a signal.
    fn ground(&self, signal: &Signal) -> String {
        let evidence = signal.evidence.as_ref().map_or("without evidence".to_owned(), |evidence| self.line(&render_evidence(evidence)));
        format!("{} sure ({evidence})", labels::percent(signal.confidence))
    }

    fn changes(&self) -> String {
        let rows = self.report.changes.iter().map(|change| {
            vec![
                self.cell(&format!("{} {}", change.feed, change.name)),
                self.cell(&figure::amount(change.before, &change.name, &change.unit)),
                self.cell(&figure::amount(change.now, &change.name, &change.unit)),
                labels::difference(change.now - change.before),
                show_time(change.before_at, self.report.zone),
            ]
        });
        let mut text = render_table("| value | before | now | change | since |\n| --- | ---: | ---: | ---: | --- |", rows);
        if !text.is_empty() && !self.report.moved.is_empty() {
            text.push('\n');
        }
        for line in &self.report.moved {
            let _ = writeln!(text, "- {}", self.line(line));
        }
        text
    }

    fn actions(&self) -> String {
        let mut text = match self.medium {
            Medium::File => self.actions_in_full(),
            Medium::Chat => self.actions_in_short(),
        };
        if !text.is_empty() && !self.report.refused.is_empty() {
            text.push('\n');
        }
        for refused in &self.report.refused {
            let _ = writeln!(text, "- Not taken: {} ({})", self.line(&refused.what), self.line(&refused.reason));
        }
        text
    }

    fn actions_in_full(&self) -> String {
        let rows = self.report.actions.iter().map(|action| {
            let ReportedAction { item, what, how, why, owner, urgency } = action;
            vec![
                self.cell(what),
                self.cell(how),
                self.cell(why),
                self.cell(owner),
                labels::urgency(*urgency),
                format!("#{}", short_id(item)),
            ]
        });
        render_table("| what | how | why | owner | urgency | id |\n| --- | --- | --- | --- | --- | --- |", rows)
    }

    /// A narrow table, with the long texts below it.
    fn actions_in_short(&self) -> String {
        let rows = (1..).zip(&self.report.actions).map(|(number, action)| {
            vec![format!("{number}"), self.cell(&action.what), self.cell(&action.owner), labels::urgency(action.urgency)]
        });
        let mut text = render_table("| # | what | owner | urgency |\n| ---: | --- | --- | --- |", rows);
        for (number, action) in (1..).zip(&self.report.actions) {
            let _ = writeln!(text, "**{number}. {}** (#{})", self.line(&action.what), short_id(&action.item));
            let _ = writeln!(text, "How: {}\nWhy: {}", self.line(&action.how), self.line(&action.why));
        }
        text
    }

    fn absent(&self) -> String {
        let mut text = String::new();
        for skipped in list_skipped(self.report) {
            let _ = writeln!(text, "- **{}** was skipped: {}", self.line(&skipped.name), self.line(reason_of(skipped)));
        }
        let quiet: Vec<String> = list_quiet(self.report).iter().map(|quiet| self.line(&quiet.name)).collect();
        if !quiet.is_empty() {
            let _ = writeln!(text, "- Nothing to report: {}", quiet.join(", "));
        }
        text
    }

    fn feeds(&self) -> String {
        self.report.feeds.iter().map(|line| self.feed(line)).collect()
    }

    fn feed(&self, line: &FeedLine) -> String {
        let (feed, of) = (self.line(&line.feed), self.line(&line.of.join(", ")));
        match &line.outcome {
            Ok(FeedRead { items: 0, values, note: Some(note), .. }) if values.is_empty() => {
                format!("- **{feed}** of {of}: nothing to read yet, {}\n", self.line(note))
            }
            Ok(FeedRead { source, as_of, items, values, note, .. }) => {
                let mut parts = values.clone();
                parts.push(labels::count(*items, "item"));
                parts.extend(note.clone());
                format!(
                    "- **{feed}** of {of}: {}, as of {}: {}\n",
                    self.line(source),
                    show_time(*as_of, self.report.zone),
                    self.line(&parts.join("; "))
                )
            }
            Err(reason) => format!("- **{feed}** of {of} failed: {}\n", self.line(reason)),
        }
    }

    fn cost(&self) -> String {
        let usage = self.report.usage;
        let (input, cached, output) = (labels::thousands(usage.input), labels::thousands(usage.cached), labels::thousands(usage.output));
        format!(
            "{} for {} tokens: {input} in ({cached} of them cached), {output} out. It took {}; {}, at {}.",
            self.report.cost,
            labels::thousands(usage.total()),
            labels::duration(self.report.seconds),
            self.line(&render_author(self.report)),
            show_time(self.report.written_at, self.report.zone)
        )
    }

    fn line(&self, text: &str) -> String {
        self.medium.line(&shorten(text, WHOLE))
    }

    fn cell(&self, text: &str) -> String {
        self.medium.cell(&shorten(text, if self.medium == Medium::Chat { CELL } else { WHOLE }))
    }
}

/// The evidence of a finding. Several claims on the same value count once.
fn list_evidence(finding: &Finding) -> Vec<String> {
    let mut evidence: Vec<String> = Vec::new();
    for shown in finding.claims.iter().filter_map(|claim| claim.signal.evidence.as_ref()).map(render_evidence) {
        if !evidence.contains(&shown) {
            evidence.push(shown);
        }
    }
    evidence
}

fn render_evidence(evidence: &Evidence) -> String {
    format!("{}: {}", evidence.feed, evidence.value)
}

/// A table. None without rows.
fn render_table(head: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = String::new();
    for row in rows {
        if text.is_empty() {
            let _ = writeln!(text, "{head}");
        }
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
