//! Short lines of a standup that are no part of its report.

use crate::features::backlog::model::Owner;
use crate::features::backlog::store::ItemChange;
use crate::features::meeting::model::{Meeting, MeetingState};
use crate::features::meeting::signal::Claim;
use crate::features::standup::model::prediction::{Prediction, Settled, Verdict};
use crate::features::standup::model::report::ReportedCall;
use crate::features::standup::model::tension::Tension;
use kernel::persona::roster::Roster;

use crate::features::standup::render::medium::Medium;
use crate::features::standup::render::words::{call as position, direction, time};

/// The most characters of a reason or a question.
const SENTENCE: usize = 300;

/// The call, as its persona says it.
pub fn render_call(call: &ReportedCall, question: Option<&str>) -> String {
    let question = question.map_or(String::new(), |question| format!("{}\n", Medium::Chat.line_within(question, SENTENCE)));
    format!(
        "{question}My call: {}. {}\n-# Settled {} by rule: {}",
        position(&call.call),
        Medium::Chat.line_within(&call.call.reason, SENTENCE),
        time(call.expires_at),
        Medium::Chat.line(&call.terms)
    )
}

/// How a call turned out, as its persona says it.
pub fn render_settled(prediction: &Prediction, settled: &Settled) -> String {
    let verdict = match settled.verdict {
        Verdict::Hit => "**right**",
        Verdict::Miss => "**wrong**",
        Verdict::Uncalled => "neither right nor wrong",
        Verdict::Void => "**void**, which counts for neither side",
    };
    format!(
        "My call of {} on \"{}\" was {}: {verdict}. {}\n-# Settled by rule: {}",
        time(prediction.made_at),
        Medium::Chat.line_within(&prediction.question, SENTENCE),
        position(&prediction.call),
        Medium::Chat.line_within(&settled.note, SENTENCE),
        Medium::Chat.line(&prediction.rule.describe())
    )
}

/// A disagreement in one line, for the memory of it.
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

/// What became of a work item.
pub fn render_moved(change: &ItemChange, roster: &Roster) -> String {
    let owner = match &change.item.owner {
        Owner::Persona(slug) => roster.name_of(slug),
        Owner::Person { name, .. } => name,
    };
    let before = change.from.map_or("noted", |from| from.as_str());
    let outcome = change.item.outcome.as_deref().map_or(String::new(), |outcome| format!(" ({outcome})"));
    Medium::Chat.line_within(&format!("{}: {before} → {}, {owner}{outcome}", change.item.what, change.to.as_str()), SENTENCE)
}

/// Why no second standup begins.
pub fn render_already_running(running: &Meeting) -> String {
    let stage = if running.state == MeetingState::Closing { "is being closed" } else { "is running" };
    format!(
        "The standup of {} {stage} here, called by {} at {}. `/standup status` says where it is; \"wrap up\" brings it to its end.",
        running.day,
        Medium::Chat.line(&running.called_by.describe()),
        time(running.called_at)
    )
}
