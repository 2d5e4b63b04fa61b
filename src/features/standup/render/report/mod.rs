//! The Day Report in its forms: an embed for the channel, messages for its thread, a Markdown file (STAND-13).
//!
//! Thread and file are made of the same [`sections`], written for their medium. JSON needs no code here: it is the stored [`DayReport`] itself.

mod embed;
mod file;
#[cfg(test)]
mod sample;
mod sections;

use crate::features::meeting::model::{Participant, SeatState};
use crate::features::standup::model::report::{Contributed, DayReport, FeedLine};
use kernel::ids::PersonaSlug;

use crate::features::standup::render::medium::Medium;
use crate::features::standup::render::{messages, words};

pub use embed::render_report_embed;
pub use file::render_report_markdown;

/// The most characters of a channel's name; Discord allows 100.
const CHANNEL: usize = 120;

/// The messages of the report's thread, ready to be posted: each is within the platform's limit, and its tables are aligned. Sections without content
/// are left out.
pub fn render_report_thread(report: &DayReport) -> Vec<String> {
    let sections = sections::list_sections(report, Medium::Chat).into_iter();
    messages::pack(sections.filter_map(|section| Some(format!("**{}**\n{}", section.title, section.text?))))
}

/// `Day Report · Fri 20 Nov 2026 · #daily-standup (revision 2)`.
fn render_title(report: &DayReport, medium: Medium) -> String {
    let revision = if report.revision > 1 { format!(" (revision {})", report.revision) } else { String::new() };
    format!("Day Report · {} · #{}{revision}", words::day(report.day), medium.line_within(&report.channel_name, CHANNEL))
}

/// Who put the report together.
fn render_author(report: &DayReport) -> String {
    report.model.as_ref().map_or("put together by rule".to_owned(), |model| format!("summary by {model}"))
}

/// The display name of a persona that took part; its slug where it did not.
fn name_of<'r>(report: &'r DayReport, slug: &'r PersonaSlug) -> &'r str {
    let found = report.contributions.iter().find(|contributed| matches!(&contributed.who, Participant::Persona(who) if who == slug));
    found.map_or(slug.as_str(), |contributed| &contributed.name)
}

/// Those who neither spoke nor had nothing to report.
fn list_skipped(report: &DayReport) -> Vec<&Contributed> {
    report.contributions.iter().filter(|contributed| !matches!(contributed.state, SeatState::Spoke | SeatState::Quiet)).collect()
}

fn list_quiet(report: &DayReport) -> Vec<&Contributed> {
    report.contributions.iter().filter(|contributed| contributed.state == SeatState::Quiet).collect()
}

fn list_failed(report: &DayReport) -> Vec<(&FeedLine, &str)> {
    report.feeds.iter().filter_map(|line| Some((line, line.outcome.as_ref().err()?.as_str()))).collect()
}

/// Why somebody did not speak, in words.
fn reason_of(contributed: &Contributed) -> &str {
    contributed.reason.as_deref().unwrap_or("no reason is known")
}

#[cfg(test)]
mod tests;
