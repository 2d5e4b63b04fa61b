//! Determines the kind of execution from an action's words.

use crate::features::backlog::action::question_of;
use crate::features::backlog::model::{Execution, ExecutionKind, Owner, WorkItem};
use kernel::persona::roster::Roster;

/// First words that name a kind of execution plainly. Only a hint: with any other word, and in any other language, a model or a person is asked.
const VERBS: [(ExecutionKind, &str); 5] = [
    (ExecutionKind::Remind, "chase follow inform notify nudge ping remind settle tell"),
    (ExecutionKind::Ask, "ask consult query"),
    (
        ExecutionKind::Research,
        "analyse analyze assess benchmark check clarify compare determine diagnose estimate evaluate examine explore find gather identify \
         inspect investigate look measure profile read research review scan study survey trace verify",
    ),
    (
        ExecutionKind::Write,
        "announce answer compile compose define describe design document draft explain note outline plan prepare present propose record \
         report sketch specify summarise summarize write",
    ),
    (
        ExecutionKind::Build,
        "add automate backfill build code configure convert create debug develop export extract fix generate implement instrument integrate \
         migrate model port prototype rebuild refactor rename repair replace rewrite script simplify test translate",
    ),
];

/// The person or persona named after "ask", or the owner.
pub(crate) fn asked_in(what: &str, owner: &Owner, roster: &Roster) -> Owner {
    let named = what.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).nth(1);
    let named = named.and_then(|name| roster.find_named(&name.to_lowercase()));
    named.map_or_else(|| owner.clone(), |persona| Owner::Persona(persona.slug.clone()))
}

/// None if no rule applies.
pub(super) fn find_execution(item: &WorkItem, roster: &Roster) -> Option<Execution> {
    let words: Vec<String> =
        item.what.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let first = words.first()?.as_str();
    if matches!(item.owner, Owner::Person { .. }) {
        // A person's item is done by that person. The team only reminds.
        return Some(Execution::Remind { whom: None });
    }
    let (kind, _) = VERBS.iter().find(|(_, verbs)| verbs.split_whitespace().any(|verb| verb == first))?;
    Some(match kind {
        ExecutionKind::Remind => Execution::Remind { whom: None },
        ExecutionKind::Ask => Execution::ask(asked_in(&item.what, &item.owner, roster), question_of(&item.what, &item.how)),
        ExecutionKind::Research => Execution::Research,
        ExecutionKind::Write => Execution::Write,
        ExecutionKind::Build => Execution::Build,
        // The condition cannot be derived from words. The proposer must give it.
        ExecutionKind::Watch => return None,
    })
}
