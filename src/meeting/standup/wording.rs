//! Short lines of a standup that are no part of its report.

use crate::domain::meeting::{Meeting, MeetingState};
use crate::domain::prediction::{Answer, Prediction, Settled, Verdict};
use crate::domain::report::ReportedCall;
use crate::domain::roster::Roster;
use crate::domain::tension::Tension;
use crate::domain::work::Owner;
use crate::store::ItemChange;

/// The call, as its persona says it.
pub(super) fn render_call(call: &ReportedCall, question: Option<&str>) -> String {
    let answer = render_answer(call.call.answer);
    let question = question.map_or(String::new(), |question| format!("{question}\n"));
    format!(
        "{question}**My call: {answer}, {:.0} %.** {}\n-# Settled {} by: {}",
        call.call.confidence * 100.0,
        call.call.reason,
        call.expires_at.format("%a %d %b %H:%M UTC"),
        call.terms
    )
}

/// How a call turned out, as its persona says it.
pub(super) fn render_settled(prediction: &Prediction, settled: &Settled, roster: &Roster) -> String {
    let verdict = match settled.verdict {
        Verdict::Hit => "**right**",
        Verdict::Miss => "**wrong**",
        Verdict::Uncalled => "left open",
        Verdict::Void => "**void**, which counts for neither side",
    };
    format!(
        "My call of {} on \"{}\" was {}, {:.0} %: {verdict}. {}\n-# {}, settled by rule: {}",
        prediction.made_at.format("%a %d %b"),
        prediction.question,
        render_answer(prediction.call.answer),
        prediction.call.confidence * 100.0,
        settled.note,
        roster.name_of(&prediction.call.by),
        prediction.rule.describe()
    )
}

fn render_answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Uncertain => "uncertain",
    }
}

/// A disagreement in one line, for the memory of it.
pub(super) fn render_tension(tension: &Tension, roster: &Roster) -> String {
    let side = |claims: &Vec<crate::domain::signal::Claim>| {
        let names: Vec<_> = claims.iter().map(|claim| roster.name_of(&claim.by)).collect();
        let direction = claims.first().map_or("", |claim| claim.signal.direction.as_str());
        let evidence = claims.iter().find_map(|claim| claim.signal.evidence.as_ref());
        let evidence = evidence.map_or(String::new(), |evidence| format!(" ({}: {})", evidence.feed, evidence.value));
        format!("{} says {direction}{evidence}", names.join(" and "))
    };
    let sides: Vec<_> = tension.sides.iter().map(side).collect();
    format!("On {}: {}.", tension.subject, sides.join("; "))
}

/// What became of a work item.
pub(super) fn render_moved(change: &ItemChange, roster: &Roster) -> String {
    let owner = match &change.item.owner {
        Owner::Persona(slug) => roster.name_of(slug),
        Owner::Person { name, .. } => name,
    };
    let outcome = change.item.outcome.as_deref().map_or(String::new(), |outcome| format!(" ({outcome})"));
    format!("{}: {} → {}, {owner}{outcome}", change.item.what, change.from.map_or("noted", |from| from.as_str()), change.to.as_str())
}

/// Why no second standup begins.
pub(super) fn render_already_running(running: &Meeting) -> String {
    let stage = match running.state {
        MeetingState::Closing => "is being closed",
        _ => "is running",
    };
    format!(
        "The standup of {} {stage} here, called by {} at {}. `/standup status` says where it is; \"wrap up\" brings it to its end.",
        running.day,
        running.called_by.describe(),
        running.called_at.format("%H:%M UTC")
    )
}
