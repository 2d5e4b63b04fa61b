use std::fmt::Write as _;

use crate::features::meeting::model::SeatState;
use crate::features::standup::model::report::DayReport;

use crate::features::standup::render::labels;
use crate::features::standup::render::medium::{Medium, flatten};
use crate::features::standup::render::report::sections::list_sections;
use crate::features::standup::render::report::{render_title, render_when_settled};
use kernel::text::capital;
use kernel::time::Today;

/// The whole report as a Markdown file with front matter, for `reports/YYYY-MM-DD.md`.
pub fn render_report_markdown(report: &DayReport) -> String {
    let mut text = render_front_matter(report);
    let _ = writeln!(text, "\n# {}\n", render_title(report, Medium::File));
    for line in &report.tldr {
        let _ = writeln!(text, "- {}", Medium::File.line(line));
    }
    if report.tldr.is_empty() {
        text.push_str("No summary.\n");
    }
    for earlier in &report.earlier {
        let at = Today { now: report.written_at, zone: report.zone }.show(earlier.at);
        let lines: Vec<String> = earlier.tldr.iter().map(|line| format!("- {}", Medium::File.line(line))).collect();
        let _ = writeln!(text, "\n## Earlier, {at}\n\n{}", lines.join("\n"));
    }
    if let Some(question) = &report.question {
        let _ = writeln!(text, "\n## Essential question and call\n\n{}", render_call(report, question));
    }
    for section in list_sections(report, Medium::File) {
        let _ = writeln!(text, "\n## {}\n\n{}", section.title, section.text.as_deref().unwrap_or("None."));
    }
    let _ = write!(text, "\n## Reports\n{}", render_reports(report));
    text
}

/// JSON strings are valid YAML, so a name cannot break the front matter.
fn render_front_matter(report: &DayReport) -> String {
    let quote = |text: &str| serde_json::Value::from(flatten(text)).to_string();
    let DayReport { day, revision, channel, channel_name, meeting, .. } = report;
    let (channel, name, meeting) = (quote(channel.as_str()), quote(channel_name), quote(meeting.as_str()));
    format!("---\nday: {day}\nchannel: {channel}\nchannel_name: {name}\nrevision: {revision}\nmeeting: {meeting}\n---\n")
}

fn render_call(report: &DayReport, question: &str) -> String {
    let file = |text: &str| Medium::File.line(text);
    let call = match &report.call {
        Ok(made) => {
            let model = made.call.model.as_deref().map_or("without AI".to_owned(), |model| format!("with {}", file(model)));
            format!(
                "{}. {}\n\nCalled by {} {model}. Terms: {}; {}.",
                labels::call(&made.call),
                file(&capital(&made.call.reason)),
                file(&made.by_name),
                file(&made.terms),
                render_when_settled(made, report.zone)
            )
        }
        Err(reason) => format!("No call: {}", file(reason)),
    };
    format!("{}\n\n{call}\n\nScoreboard: {}", file(question), report.scoreboard.in_words())
}

/// A line for a chat without the marks that only a chat renders. Other marks are escaped already.
fn without_marks(line: &str) -> String {
    let line = line.replace("**", "").replace('`', "");
    line.strip_prefix("- ").map_or_else(|| line.clone(), |item| format!("• {item}"))
}

/// All reports, quoted line by line.
fn render_reports(report: &DayReport) -> String {
    let mut text = String::new();
    for contributed in report.contributions.iter().filter(|contributed| contributed.state == SeatState::Spoke) {
        let said = contributed.text.as_deref().unwrap_or_default();
        let lines = said.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<String> = lines.map(|line| Medium::File.line(&without_marks(line))).collect();
        // A backslash at the end of a line keeps the line break.
        let _ = write!(text, "\n**{}**\n\n> {}\n", Medium::File.line(&contributed.name), lines.join("\\\n> "));
    }
    if text.is_empty() { "\nNobody reported.\n".to_owned() } else { text }
}
