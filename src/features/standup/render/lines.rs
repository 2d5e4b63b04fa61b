//! Single lines outside of the report.

use chrono_tz::Tz;

use crate::features::backlog::model::Owner;
use crate::features::backlog::store::ItemChange;
use crate::features::meeting::model::{Meeting, MeetingState};
use crate::features::meeting::signal::Claim;
use crate::features::standup::model::prediction::{Prediction, Settled, Verdict};
use crate::features::standup::model::report::{DayReport, ReportedCall};
use crate::features::standup::model::tension::Tension;
use kernel::chat::medium::shorten;
use kernel::chat::text::Subtext;
use kernel::persona::roster::Roster;
use kernel::time::{Today, show_time};

use crate::features::standup::render::labels::{call as position, direction};
use crate::features::standup::render::medium::Medium;

/// The most characters of a reason or a question.
const SENTENCE: usize = 300;

/// The message about a new call.
pub fn render_call(call: &ReportedCall, question: Option<&str>, zone: Tz) -> String {
    let question = question.map_or(String::new(), |question| format!("{}\n", Medium::Chat.line_within(question, SENTENCE)));
    format!(
        "{question}My call: {}. {}\n{}",
        position(&call.call),
        Medium::Chat.line_within(&call.call.reason, SENTENCE),
        Subtext(format_args!("Settled {}. Condition: {}", show_time(call.expires_at, zone), Medium::Chat.line(&call.terms)))
    )
}

/// The message about a settled call.
pub fn render_settled(prediction: &Prediction, settled: &Settled, zone: Tz) -> String {
    let verdict = match settled.verdict {
        Verdict::Hit => "**right**",
        Verdict::Miss => "**wrong**",
        Verdict::Uncalled => "undecided",
        Verdict::Void => "**void**, not counted",
    };
    format!(
        "My call of {} on \"{}\" was {}: {verdict}. {}\n{}",
        show_time(prediction.made_at, zone),
        Medium::Chat.line_within(&prediction.question, SENTENCE),
        position(&prediction.call),
        Medium::Chat.line_within(&settled.note, SENTENCE),
        Subtext(format_args!("Condition: {}", Medium::Chat.line(&prediction.rule.describe())))
    )
}

/// The message about a revised report: what is new since the earlier one.
pub fn render_revised(report: &DayReport, before: &DayReport, added: usize) -> String {
    let since = Today { now: report.written_at, zone: report.zone }.show(before.written_at);
    let lines: Vec<String> = report.tldr.iter().map(|line| format!("- {}", Medium::Chat.line_within(line, SENTENCE))).collect();
    let actions = match added {
        0 => "No new actions.".to_owned(),
        1 => "1 new action.".to_owned(),
        added => format!("{added} new actions."),
    };
    format!("I have revised today's report (revision {}). New since {since}:\n{}\n{actions}", report.revision, lines.join("\n"))
}

/// A tension in one line, for the memory.
pub fn render_tension(tension: &Tension, roster: &Roster) -> String {
    let side = |claims: &Vec<Claim>| {
        let names: Vec<_> = claims.iter().map(|claim| roster.name_of(&claim.by)).collect();
        let way = claims.first().map_or("", |claim| direction(claim.signal.direction));
        let evidence = claims.iter().find_map(|claim| claim.signal.evidence.as_ref());
        let evidence = evidence.map_or(String::new(), |evidence| format!(" ({}: {})", evidence.feed, evidence.value));
        format!("{} says {way}{evidence}", names.join(" and "))
    };
    let sides: Vec<_> = tension.sides.iter().map(side).collect();
    Medium::Chat.line(&format!("On {}: {}.", tension.subject, sides.join("; ")))
}

/// A changed work item. Not escaped yet.
pub fn render_moved(change: &ItemChange, roster: &Roster) -> String {
    let owner = match &change.item.owner {
        Owner::Persona(slug) => roster.name_of(slug),
        Owner::Person { name, .. } => name,
    };
    let before = change.from.map_or("noted", |from| from.as_str());
    let outcome = change.item.outcome.as_deref().map_or(String::new(), |outcome| format!(" ({outcome})"));
    shorten(&format!("{}: {before} → {}, {owner}{outcome}", change.item.what, change.to.as_str()), SENTENCE)
}

/// The reply if a standup is already running.
pub fn render_already_running(running: &Meeting, zone: Tz) -> String {
    let stage = if running.state == MeetingState::Closing { "is being closed" } else { "is running" };
    format!(
        "The standup of {} {stage} here, called by {} at {}. See `/standup status`, or say \"wrap up\" to end it.",
        running.day,
        Medium::Chat.line(&running.called_by.describe()),
        show_time(running.called_at, zone)
    )
}
