//! Checks the actions proposed by a standup before they become work items (STAND-14).
//!
//! An action needs an owner and something to do, in any words and language, and must not be a repetition. Whether it is a good idea is not
//! checked.

mod subject;

#[cfg(test)]
mod tests;

use kernel::chat::text::find_mention;
use kernel::ids::{UserId, WorkItemId};
use kernel::people::{Directory, NotFound};
use kernel::persona::roster::Roster;
use kernel::text::{capital, flatten, fold_name, one_line};

use crate::features::backlog::model::short_id;
use crate::features::backlog::model::{Execution, ExecutionKind, Owner, ProposedAction, RefusedAction, Urgency, WatchTerms};

/// The limit for a standup, from the spec.
pub const MOST_ACTIONS: usize = 7;

/// The most characters of the title.
pub const WHAT: usize = 160;

/// The most characters of how and why.
const HOW: usize = 2000;

pub use subject::Subject;

/// Words in place of an owner that name nobody in particular.
const NOBODY: [&str; 14] =
    ["", "team", "the team", "everyone", "everybody", "all", "anyone", "anybody", "someone", "somebody", "us", "we", "tbd", "none"];

/// The possible owners of an action.
#[derive(Debug, Clone, Copy)]
pub struct KnownOwners<'a> {
    pub roster: &'a Roster,
    pub people: &'a Directory,
}

/// A proposed action that passed the checks.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedAction {
    pub what: String,
    pub how: String,
    pub why: String,
    pub owner: Owner,
    pub urgency: Urgency,
    /// None: the planner decides.
    pub execution: Option<Execution>,
}

/// The result of checking proposals.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct CheckedActions {
    /// By urgency, otherwise in the order proposed.
    pub accepted: Vec<AcceptedAction>,
    pub refused: Vec<RefusedAction>,
}

/// Checks proposals against the roster, `open` items that may say the same, and each other. Accepts at most `limit`.
pub fn check_actions(proposed: &[ProposedAction], known: &KnownOwners<'_>, open: &[(WorkItemId, String)], limit: usize) -> CheckedActions {
    check_new_actions(proposed, known, open, &[], limit)
}

/// As [`check_actions`]. What was done lately, is not to be done again.
pub fn check_new_actions(
    proposed: &[ProposedAction],
    known: &KnownOwners<'_>,
    open: &[(WorkItemId, String)],
    done: &[(WorkItemId, String)],
    limit: usize,
) -> CheckedActions {
    let mut by_urgency: Vec<&ProposedAction> = proposed.iter().collect();
    by_urgency.sort_by_key(|action| action.urgency);
    let named = |(id, what): &(WorkItemId, String), state: &str| (Subject::of(what), format!("the {state} item #{}", short_id(id)));
    let mut taken: Vec<(Subject, String)> = open.iter().map(|item| named(item, "open")).collect();
    taken.extend(done.iter().map(|item| named(item, "finished")));
    let mut checked = CheckedActions::default();
    for action in by_urgency {
        let what = known.title_of(action);
        let subject = Subject::of(&what);
        match check(action, &what, &subject, known, &taken, limit - checked.accepted.len().min(limit)) {
            Ok(owner) => {
                let (how, why) = (whole_of(action, &what), one_line(&action.why, HOW));
                let execution = read_execution(action, &owner, &what, &how);
                checked.accepted.push(AcceptedAction { what, how, why, owner, urgency: action.urgency, execution });
                taken.push((subject, "another action of this standup".to_owned()));
            }
            Err(reason) => checked.refused.push(RefusedAction { what, reason }),
        }
    }
    checked
}

/// How to do it. What does not fit into the title comes first.
fn whole_of(action: &ProposedAction, title: &str) -> String {
    let how = one_line(&action.how, HOW);
    let whole = one_line(&action.what, HOW);
    if title.ends_with('…') && !whole.ends_with('…') { one_line(&format!("{whole} {how}"), HOW * 2) } else { how }
}

/// Checks that a title says something, in any words and language.
///
/// # Errors
/// The reason, to follow the action.
pub fn check_what(what: &str) -> Result<(), String> {
    if what.chars().any(char::is_alphanumeric) { Ok(()) } else { Err("does not say what to do".to_owned()) }
}

fn check(
    action: &ProposedAction,
    what: &str,
    subject: &Subject,
    known: &KnownOwners<'_>,
    taken: &[(Subject, String)],
    left: usize,
) -> Result<Owner, String> {
    check_what(what)?;
    let owner = known.resolve(&action.owner)?;
    if let Some((_, other)) = taken.iter().find(|(other, _)| subject.is_like(other)) {
        return Err(format!("says the same as {other}"));
    }
    if left == 0 {
        return Err("the limit for new actions is reached. Propose it again when others are done".to_owned());
    }
    Ok(owner)
}

/// The kind of execution, if the proposer named one.
fn read_execution(action: &ProposedAction, owner: &Owner, what: &str, how: &str) -> Option<Execution> {
    execution_of(action.execution?, action.watch.as_ref(), owner, what, how)
}

/// The execution of a kind. None leaves it to the planner: people's own items become reminders or questions, and watching needs terms.
pub fn execution_of(kind: ExecutionKind, watch: Option<&WatchTerms>, owner: &Owner, what: &str, how: &str) -> Option<Execution> {
    if matches!(owner, Owner::Person { .. }) && kind != ExecutionKind::Ask {
        return None;
    }
    match kind {
        ExecutionKind::Remind => Some(Execution::Remind { whom: None }),
        ExecutionKind::Research => Some(Execution::Research),
        ExecutionKind::Write => Some(Execution::Write),
        ExecutionKind::Build => Some(Execution::Build),
        ExecutionKind::Ask => Some(Execution::ask(owner.clone(), question_of(what, how))),
        ExecutionKind::Watch => watch.cloned().map(Execution::Watch),
    }
}

/// The question of an item that asks somebody.
pub fn question_of(what: &str, how: &str) -> String {
    if how.is_empty() { what.to_owned() } else { format!("{what}. {how}") }
}

impl KnownOwners<'_> {
    /// Finds a persona by the roster's rules, or a person by name, nickname, mention or id.
    ///
    /// # Errors
    /// The reason.
    pub fn resolve(&self, asked: &str) -> Result<Owner, String> {
        let asked_for = asked.trim().trim_end_matches([':', '.']);
        let mentioned = find_mention(asked_for);
        let name = mentioned.as_ref().map_or_else(|| fold_name(asked_for), UserId::to_string);
        if NOBODY.contains(&name.as_str()) {
            return Err(if name.is_empty() {
                "has no owner".to_owned()
            } else {
                format!("\"{name}\" is not one person. Name a single owner")
            });
        }
        if mentioned.is_none()
            && let Some(persona) = self.roster.find_named(&name)
        {
            return Ok(Owner::Persona(persona.slug.clone()));
        }
        match self.people.find(asked_for) {
            Ok(person) => return Ok(Owner::Person { id: person.id, name: person.name }),
            Err(NotFound::Persona(_)) => return Err("belongs to a persona. Name it instead of mentioning its account".to_owned()),
            Err(several @ NotFound::Several { .. }) => return Err(format!("has no clear owner: {several}")),
            Err(NotFound::Nobody(_)) => {}
        }
        // A prefix is accepted if it fits exactly one persona or person.
        let persona = self.roster.resolve(&name).ok();
        let mut people = self.people.list_by_prefix(&name);
        match (persona, people.next(), people.next()) {
            (Some(persona), None, _) => Ok(Owner::Persona(persona.slug.clone())),
            (None, Some(person), None) => Ok(Owner::Person { id: person.id.clone(), name: person.name.clone() }),
            _ => Err(format!("nobody on the team is called \"{}\"", flatten(asked, 40))),
        }
    }

    /// The title of the item that an action becomes.
    pub fn title_of(&self, action: &ProposedAction) -> String {
        one_line(&self.without_address(&one_line(&action.what, usize::MAX)), WHAT)
    }

    /// The action without the addressee and "please", with a capital letter.
    fn without_address(&self, what: &str) -> String {
        let mut rest = what.trim();
        loop {
            let before = rest;
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ":,".contains(c));
            if let Some((first, after)) = rest.split_once([' ', ':', ',']) {
                let label =
                    matches!(first.to_lowercase().as_str(), "please" | "action" | "todo" | "kindly") || first.parse::<u32>().is_ok();
                let marked = rest[first.len()..].starts_with([':', ',']);
                if label || first.trim_end_matches(['.', ')']).parse::<u32>().is_ok() || (marked && self.resolve(first).is_ok()) {
                    rest = after;
                }
            }
            if rest == before {
                break;
            }
        }
        // An identifier keeps its capitalisation.
        if rest.split_whitespace().next().is_some_and(subject::is_exact) {
            return rest.to_owned();
        }
        capital(rest)
    }
}
