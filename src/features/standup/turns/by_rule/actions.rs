use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::model::{ExecutionKind, Owner, ProposedAction, Urgency, WatchTerms, WorkItem};
use crate::features::meeting::signal::Claim;
use crate::features::standup::model::matter::list_matters;
use crate::features::standup::model::page::PageFeed;
use crate::features::standup::model::prediction::{Answer, Call};
use crate::features::standup::model::tension::Tension;
use crate::features::standup::turns::by_rule::causes;
use crate::features::standup::turns::{ConcludeAsked, QuestionAsked};
use kernel::agent::offline::wording::foreign;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use kernel::time::Today;

/// An open item without changes for this long gets a follow-up.
const FORGOTTEN: TimeDelta = TimeDelta::days(7);
/// How long to watch something without a natural end.
pub(super) const PATIENCE: TimeDelta = TimeDelta::days(7);
/// The most actions of one kind, so that it leaves room for others.
const OF_A_KIND: usize = 3;
/// The beginning of a follow-up. Follow-ups are not followed up themselves.
const FOLLOW_UP: &str = "Follow up on";

/// The actions that follow from the data, the most important first.
pub(crate) fn propose(asked: &ConcludeAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Vec<ProposedAction> {
    let today = roster.today(now);
    let matters = list_matters(asked.page);
    let causes = causes::list_causes(&matters);
    let causes = causes.iter().map(|cause| causes::look_into(cause, roster, today));
    let failing = asked.page.feeds.iter().filter_map(|feed| repair(feed, roster, now));
    let watched = asked.question.zip(asked.call).and_then(|(question, call)| watch(&question, call, roster, today));
    let tensions = asked.cross_check.tensions.iter().map(|tension| settle(tension, roster));
    let mut forgotten: Vec<&WorkItem> = asked.open.iter().filter(|item| is_forgotten(item, now)).collect();
    forgotten.sort_by_key(|item| item.updated_at);
    let forgotten = forgotten.into_iter().map(|item| follow_up(item, roster, today));
    causes
        .take(OF_A_KIND)
        .chain(failing.take(OF_A_KIND))
        .chain(tensions.take(OF_A_KIND))
        .chain(watched)
        .chain(forgotten.take(OF_A_KIND))
        .collect()
}

fn repair(feed: &PageFeed, roster: &Roster, now: DateTime<Utc>) -> Option<ProposedAction> {
    let reason = foreign(feed.outcome.as_ref().err()?, 160);
    let name = foreign(&feed.feed, 60);
    Some(ProposedAction {
        what: format!("Repair the feed {name}"),
        how: format!("Check the settings and the source of the {} feed {name}, then read it again.", feed.kind),
        why: format!("It gave no data for today's standup: {reason}"),
        owner: owner_of(feed.of.first(), roster),
        urgency: Urgency::Today,
        execution: Some(ExecutionKind::Watch),
        watch: Some(WatchTerms { feed: feed.feed.clone(), rule: None, until: now + PATIENCE }),
    })
}

fn settle(tension: &Tension, roster: &Roster) -> ProposedAction {
    let first_of_sides: Vec<&Claim> = tension.sides.iter().filter_map(|side| side.first()).collect();
    let sides: Vec<_> = first_of_sides.iter().map(|claim| side(claim, roster)).collect();
    let evidence = first_of_sides.iter().filter_map(|claim| claim.signal.evidence.as_ref());
    let feeds: Vec<_> = evidence.map(|evidence| format!("{} ({})", foreign(&evidence.feed, 60), foreign(&evidence.value, 40))).collect();
    ProposedAction {
        what: format!("Clarify whether {} goes up or down", foreign(&tension.subject, 60)),
        how: if feeds.is_empty() { "Ask both sides for their evidence.".into() } else { format!("Compare: {}.", feeds.join(", ")) },
        why: format!("{}.", sides.join("; ")),
        owner: roster.coordinator().name.clone(),
        urgency: Urgency::ThisWeek,
        execution: Some(ExecutionKind::Remind),
        watch: None,
    }
}

/// "Vince says up (80 %)".
fn side(claim: &Claim, roster: &Roster) -> String {
    let Claim { by, signal } = claim;
    format!("{} says {} ({:.0} %)", roster.name_of(by), signal.direction.as_str(), signal.confidence * 100.0)
}

fn follow_up(item: &WorkItem, roster: &Roster, today: Today) -> ProposedAction {
    let owner = match &item.owner {
        Owner::Persona(slug) => owner_of(Some(slug), roster),
        Owner::Person { name, .. } => name.clone(),
    };
    ProposedAction {
        what: format!("{FOLLOW_UP} \"{}\"", foreign(&item.what, 100)),
        how: "Report its progress, finish it, or close it.".into(),
        why: format!("No changes since {}.", today.show(item.updated_at)),
        owner,
        urgency: Urgency::ThisWeek,
        execution: Some(ExecutionKind::Remind),
        watch: None,
    }
}

fn is_forgotten(item: &WorkItem, now: DateTime<Utc>) -> bool {
    !item.status.is_over() && now - item.updated_at >= FORGOTTEN && !item.what.starts_with(FOLLOW_UP)
}

/// A question without a clear prediction is watched.
fn watch(question: &QuestionAsked<'_>, call: &Call, roster: &Roster, today: Today) -> Option<ProposedAction> {
    let rule = question.rule;
    let (feed, value) = (foreign(&rule.feed, 60), foreign(&rule.value, 60));
    (call.answer == Answer::Uncertain).then(|| ProposedAction {
        what: format!("Watch {value} of {feed} until {}", today.show(question.expires_at)),
        how: format!("Check the feed {feed} each day. The condition at the end is {}.", foreign(&rule.describe(), 100)),
        why: format!("The call is uncertain: {}", foreign(&call.reason, 160)),
        owner: owner_of(Some(&call.by), roster),
        urgency: Urgency::ThisWeek,
        execution: Some(ExecutionKind::Watch),
        watch: Some(WatchTerms { feed: rule.feed.clone(), rule: Some(rule.clone()), until: question.expires_at }),
    })
}

/// The owner's name. The coordinator if there is no other.
pub(super) fn owner_of(slug: Option<&PersonaSlug>, roster: &Roster) -> String {
    slug.and_then(|slug| roster.find(slug)).unwrap_or(roster.coordinator()).name.clone()
}
