//! Values that are wrong or unusual, as signals and as actions: one action for each feed, because one cause moves several values.

use crate::features::backlog::model::{ExecutionKind, ProposedAction, Urgency};
use crate::features::meeting::signal::{Direction, Evidence, Signal};
use crate::features::standup::model::matter::{Consequence, Matter};
use crate::features::standup::turns::by_rule::actions::owner_of;
use crate::features::standup::turns::figures;
use kernel::agent::offline::wording::foreign;
use kernel::figure;
use kernel::persona::roster::Roster;
use kernel::text::essence;
use kernel::time::Today;

/// A value that counts as wrong because of its name may be misjudged, so its confidence is limited. An operator's expectation is reliable.
const BY_NAME: f64 = 0.7;
const BY_EXPECTATION: f64 = 0.95;

/// The most values that an action names.
const NAMED: usize = 3;

/// The wrong and unusual values by feed, the most important first.
pub(super) fn list_causes<'m, 'a>(matters: &'m [Matter<'a>]) -> Vec<Vec<&'m Matter<'a>>> {
    let mut causes: Vec<Vec<&Matter<'_>>> = Vec::new();
    for matter in matters.iter().filter(|matter| matter.consequence <= Consequence::Unusual) {
        match causes.iter_mut().find(|cause| cause[0].feed.feed == matter.feed.feed) {
            Some(cause) => cause.push(matter),
            None => causes.push(vec![matter]),
        }
    }
    causes
}

pub(super) fn signal(matter: &Matter<'_>) -> Signal {
    let value = matter.value;
    Signal {
        subject: format!("{} {}", matter.feed.feed, value.name),
        direction: Direction::Bad,
        confidence: if matter.expected.is_some() { BY_EXPECTATION } else { BY_NAME },
        evidence: Some(Evidence { feed: matter.feed.feed.clone(), value: figure::amount(value.number, &value.name, &value.unit) }),
    }
}

/// The action for a cause.
pub(super) fn look_into(cause: &[&Matter<'_>], roster: &Roster, today: Today) -> ProposedAction {
    let first = cause[0];
    let (feed, reading) = (first.feed, first.reading);
    let name = foreign(&feed.feed, 60);
    let names: Vec<String> = cause.iter().take(NAMED).map(|matter| foreign(&matter.value.name, 60)).collect();
    let facts: Vec<String> = cause.iter().take(NAMED).map(|matter| describe(matter)).collect();
    let wrong = first.consequence == Consequence::Wrong;
    let goal = if wrong { "Put it right, or explain why it may stay." } else { "Say whether it matters." };
    ProposedAction {
        what: format!("Look into {} of {name}", names.join(", ")),
        how: format!("Find the cause at {}. {goal}", foreign(&reading.source, 120)),
        why: format!("{}{}.", facts.join("; "), since(first, today)),
        owner: fitting_owner(cause, roster),
        urgency: Urgency::Today,
        // A person is asked, because watching the value would prove nothing about its cause.
        execution: Some(ExecutionKind::Ask),
        watch: None,
    }
}

/// `, since Fri 27 Nov, 09:00`. Empty for a value without a change.
pub(super) fn since(matter: &Matter<'_>, today: Today) -> String {
    matter.change.map_or_else(String::new, |change| format!(", since {}", today.show(change.before_at)))
}

/// `ci failed jobs 1 → 4 (+3), should be 0`.
pub(super) fn describe(matter: &Matter<'_>) -> String {
    let fact = match matter.change {
        Some(change) => foreign(&figures::step(change), 160),
        None => format!("{} {}", foreign(&matter.feed.feed, 60), foreign(&figures::value(matter.value), 60)),
    };
    format!("{fact}{}", judgement(matter))
}

/// `, should be 0` or `, usually 410`. Empty for a value that has just moved.
pub(super) fn judgement(matter: &Matter<'_>) -> String {
    let usual = matter.change.and_then(|change| change.usual);
    match (matter.consequence, matter.expected, usual) {
        (Consequence::Wrong, Some(expected), _) => format!(", should be {}", expected.describe()),
        (Consequence::Wrong, None, _) => ", should be 0".to_owned(),
        (Consequence::Unusual, _, Some(usual)) => format!(", usually {}", figure::number(usual.median)),
        _ => String::new(),
    }
}

/// The persona that declares the feed and whose subjects fit it best. Among equals, the one with the fewest feeds.
fn fitting_owner(cause: &[&Matter<'_>], roster: &Roster) -> String {
    let feed = cause[0].feed;
    let about = std::iter::once(feed.feed.as_str()).chain(cause.iter().map(|matter| matter.value.name.as_str()));
    let about: Vec<String> = about.flat_map(|text| essence(text).split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let declaring = feed.of.iter().filter_map(|slug| roster.find(slug));
    let best = declaring.min_by_key(|persona| {
        let subjects = std::iter::once(&persona.role).chain(&persona.expertise);
        let subjects = subjects.map(|subject| essence(subject)).collect::<Vec<_>>().join(" ");
        let shared = subjects.split(' ').filter(|word| about.iter().any(|other| other == word)).count();
        (std::cmp::Reverse(shared), persona.feeds.len())
    });
    owner_of(best.map(|persona| &persona.slug), roster)
}
