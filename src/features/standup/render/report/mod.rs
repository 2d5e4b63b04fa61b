//! The Day Report as card, thread messages and Markdown file (STAND-13).
//!
//! Thread and file use the same [`sections`], rendered for their medium. The JSON form is the stored [`DayReport`] itself.

mod card;
mod file;
#[cfg(test)]
mod sample;
mod sections;

use chrono_tz::Tz;

use crate::features::meeting::model::{Participant, SeatState};
use crate::features::standup::model::report::{Contributed, DayReport, FeedLine, ReportedCall};
use kernel::chat::format::TextFormat;
use kernel::ids::PersonaSlug;
use kernel::time::show_time;

use crate::features::standup::render::medium::Medium;
use crate::features::standup::render::{labels, messages};

pub use card::render_report_card;
pub use file::render_report_markdown;

/// The most characters of a channel's name.
const CHANNEL: usize = 120;

/// The messages of the report's thread.
pub fn render_report_thread(report: &DayReport, format: &TextFormat) -> Vec<String> {
    messages::pack(render_report_sections(report), format)
}

/// The sections of the report for a chat, without the empty ones.
pub fn render_report_sections(report: &DayReport) -> impl Iterator<Item = String> {
    let sections = sections::list_sections(report, Medium::Chat).into_iter();
    sections.filter_map(|section| Some(format!("**{}**\n{}", section.title, section.text?)))
}

/// `Day Report · Fri 20 Nov 2026 · #daily-standup (revision 2)`.
fn render_title(report: &DayReport, medium: Medium) -> String {
    let revision = if report.revision > 1 { format!(" (revision {})", report.revision) } else { String::new() };
    format!("Day Report · {} · #{}{revision}", labels::day(report.day), medium.line_within(&report.channel_name, CHANNEL))
}

fn render_author(report: &DayReport) -> String {
    report.model.as_ref().map_or("generated without AI".to_owned(), |model| format!("summary by {model}"))
}

/// `is settled Fri 27 Nov, 09:00`, or the result.
fn render_when_settled(made: &ReportedCall, zone: Tz) -> String {
    match &made.settled {
        None => format!("is settled {}", show_time(made.expires_at, zone)),
        Some(settled) => format!("settled {}: {}", show_time(settled.at, zone), labels::verdict(settled.verdict)),
    }
}

/// The display name of a participant. The slug for others.
fn name_of<'r>(report: &'r DayReport, slug: &'r PersonaSlug) -> &'r str {
    let found = report.contributions.iter().find(|contributed| matches!(&contributed.who, Participant::Persona(who) if who == slug));
    found.map_or(slug.as_str(), |contributed| &contributed.name)
}

/// Participants who neither spoke nor had nothing to report.
fn list_skipped(report: &DayReport) -> Vec<&Contributed> {
    report.contributions.iter().filter(|contributed| !matches!(contributed.state, SeatState::Spoke | SeatState::Quiet)).collect()
}

fn list_quiet(report: &DayReport) -> Vec<&Contributed> {
    report.contributions.iter().filter(|contributed| contributed.state == SeatState::Quiet).collect()
}

fn list_failed(report: &DayReport) -> Vec<(&FeedLine, &str)> {
    report.feeds.iter().filter_map(|line| Some((line, line.outcome.as_ref().err()?.as_str()))).collect()
}

/// Why a participant did not speak.
fn reason_of(contributed: &Contributed) -> &str {
    contributed.reason.as_deref().unwrap_or("no reason given")
}

#[cfg(test)]
mod tests;
