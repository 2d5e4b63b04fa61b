//! Roles that nobody on the team fills, as a model names them (WORK-27).

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key;
use crate::features::mission::model::plan::MissingRole;
use kernel::ids::WorkItemId;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::text::{flatten, join_with_and, without_invisible};

/// The most roles that one plan may miss.
pub const MOST_MISSING: usize = 2;

/// The most characters of a role, of a subject and of a reason. The most subjects.
const ROLE: usize = 40;
const SUBJECT: usize = 60;
const WHY: usize = 200;
const SUBJECTS: usize = 6;

/// Words of a role that say nothing about it.
const FILLERS: [&str; 9] = ["a", "an", "and", "for", "in", "of", "the", "to", "with"];

/// How many letters at the beginning of two words must be the same: "design" is what a designer does.
const STEM: usize = 5;

/// A role that nobody on the team fills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingDraft {
    /// What somebody with it is called, in one to three words: designer, tax adviser.
    pub role: String,
    /// What it has to be good at: one to six subjects.
    #[serde(default)]
    pub good_at: Vec<String>,
    /// Why nobody on the team fits, in one sentence.
    #[serde(default)]
    pub why: String,
    /// Ids of the steps that it would do.
    #[serde(default)]
    pub steps: Vec<String>,
}

/// The missing roles, and why others were refused. A refused role does not make the plan invalid.
pub(super) fn check_missing(
    drafts: &[MissingDraft],
    ids: &HashMap<String, WorkItemId>,
    roster: &Roster,
) -> (Vec<MissingRole>, Vec<String>) {
    let (mut missing, mut refused) = (Vec::new(), Vec::new());
    let mut taken: BTreeSet<WorkItemId> = BTreeSet::new();
    for draft in drafts {
        let checked =
            if missing.len() == MOST_MISSING { Err(format!("a plan may name {MOST_MISSING}")) } else { check_role(draft, ids, roster) };
        match checked {
            Ok(role) if role.steps.iter().any(|step| taken.contains(step)) => {
                refused.push(refusal(draft, "its steps are those of another new persona"));
            }
            Ok(role) => {
                taken.extend(role.steps.iter().cloned());
                missing.push(role);
            }
            Err(why) => refused.push(refusal(draft, &why)),
        }
    }
    (missing, refused)
}

fn refusal(draft: &MissingDraft, why: &str) -> String {
    format!("No new persona for the role \"{}\": {why}", flatten(&draft.role, ROLE))
}

fn check_role(draft: &MissingDraft, ids: &HashMap<String, WorkItemId>, roster: &Roster) -> Result<MissingRole, String> {
    let text = |text: &str, limit| flatten(&without_invisible(text), limit);
    let role = text(&draft.role, ROLE);
    let good_at: Vec<String> = draft.good_at.iter().map(|subject| text(subject, SUBJECT)).filter(|subject| !subject.is_empty()).collect();
    let why = text(&draft.why, WHY);
    if role.is_empty() || why.is_empty() || !(1..=SUBJECTS).contains(&good_at.len()) {
        return Err(format!("it needs a name, a reason, and 1 to {SUBJECTS} subjects"));
    }
    if let Some(persona) = roster.personas().iter().find(|persona| fills(persona, &role, &good_at)) {
        let knows: Vec<&String> = persona.expertise.iter().take(SUBJECTS).collect();
        return Err(format!("{} has it ({}; knows {})", persona.name, persona.role, join_with_and(&knows)));
    }
    let mut steps = Vec::new();
    for id in &draft.steps {
        match ids.get(&key(id)) {
            Some(step) if !steps.contains(step) => steps.push(step.clone()),
            Some(_) => {}
            None => return Err(format!("\"{}\" is no step of the plan", flatten(id, 40))),
        }
    }
    if steps.is_empty() {
        return Err("no step needs it".to_owned());
    }
    Ok(MissingRole { role, good_at, why, steps, persona: None })
}

/// Whether a persona's role and expertise have all words of the role, or of all subjects that it has to be good at.
fn fills(persona: &Persona, role: &str, good_at: &[String]) -> bool {
    let subjects: Vec<String> = persona.expertise.iter().chain([&persona.role]).flat_map(|text| words(text)).collect();
    let knows = |text: &str| {
        let mut words = words(text).peekable();
        words.peek().is_some() && words.all(|word| subjects.iter().any(|subject| are_alike(subject, &word)))
    };
    knows(role) || good_at.iter().all(|subject| knows(subject))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()))
}

fn are_alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    one == other || (short.chars().count() >= STEM && long.starts_with(short))
}

#[cfg(test)]
mod tests {
    use kernel::testing::persona::{persona, roster};

    use super::*;

    fn missing(role: &str, good_at: &[&str], steps: &[&str]) -> MissingDraft {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        MissingDraft { role: role.into(), good_at: texts(good_at), why: "Nobody draws.".into(), steps: texts(steps) }
    }

    fn check(drafts: &[MissingDraft]) -> (Vec<MissingRole>, Vec<String>) {
        let ids = HashMap::from([("one".to_owned(), "1".into()), ("two".to_owned(), "2".into()), ("three".to_owned(), "3".into())]);
        check_missing(drafts, &ids, &roster())
    }

    #[test]
    fn a_role_that_nobody_fills_is_missing_with_its_steps() {
        let (found, refused) = check(&[missing("designer", &["wireframes", " "], &["One", "#one", "two"])]);
        assert_eq!(refused, [""; 0]);
        assert_eq!((found.len(), found[0].role.as_str(), found[0].good_at.len()), (1, "designer", 1));
        assert_eq!(found[0].steps, ["1".into(), "2".into()]);
    }

    #[test]
    fn a_role_that_cannot_be_missing_is_refused_with_the_reason() {
        for (draft, says) in [
            (missing("data", &["wireframes"], &["one"]), "\"data\": Vince has it (data; knows data questions)"),
            (missing("The Data", &["wireframes"], &["one"]), "Vince has it"),
            (missing("Coder", &["code", "questions of code"], &["one"]), "Sentinel has it"),
            (missing("designer", &["wireframes"], &["ghost"]), "\"ghost\" is no step of the plan"),
            (missing("designer", &["wireframes"], &[]), "no step needs it"),
            (missing("designer", &[], &["one"]), "it needs a name, a reason, and 1 to 6 subjects"),
            (missing(" ", &["wireframes"], &["one"]), "it needs a name"),
            (MissingDraft { why: String::new(), ..missing("designer", &["wireframes"], &["one"]) }, "a reason"),
        ] {
            let (found, refused) = check(&[draft]);
            assert!(found.is_empty() && refused.len() == 1 && refused[0].contains(says), "{says}: {refused:?}");
        }
    }

    #[test]
    fn two_roles_may_be_missing_and_share_no_step() {
        let of = |role: &str, step: &str| missing(role, &["wireframes"], &[step]);
        let (found, refused) = check(&[of("designer", "one"), of("lawyer", "one"), of("cook", "two"), of("baker", "three")]);
        assert_eq!(found.iter().map(|role| role.role.as_str()).collect::<Vec<_>>(), ["designer", "cook"]);
        assert!(refused[0].contains("\"lawyer\": its steps are those of another") && refused[1].contains("\"baker\": a plan may name 2"));
    }

    #[test]
    fn a_word_is_known_in_another_form() {
        let mut ann = persona("Ann", "look", &[]);
        ann.expertise = vec!["design".into(), "art".into()];
        assert!(fills(&ann, "designer", &["x".into()]));
        assert!(!fills(&ann, "article writer", &["x".into()]), "short words are not compared by their beginning");
        assert!(!fills(&ann, "of the", &["x".into()]), "no word is no role");
    }
}
