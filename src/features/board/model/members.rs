//! Who takes part (BOARD-2).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::{Query, terms_of};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::text::join_with_and;

/// The most that take part (BOARD-11).
pub const MOST: usize = 10;

/// The fewest. One alone is no meeting.
pub const FEWEST: usize = 2;

/// Somebody who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub persona: PersonaSlug,
    /// Why, for people: "knows about queues and databases".
    pub why: String,
}

/// Chooses by fit to the question and the artefact, and by what each adds to those already chosen. The coordinator leads and does not take part.
pub fn choose(topic: &str, roster: &Roster, number: usize) -> Vec<Member> {
    let query = Query::parse(topic, &[]);
    let mut left: Vec<&Persona> = roster.personas().iter().filter(|persona| !persona.coordinator).collect();
    let mut covered: HashSet<String> = HashSet::new();
    let mut members = Vec::new();
    while members.len() < number && !left.is_empty() {
        let rated = left.iter().enumerate().map(|(index, persona)| (rate(persona, &query, &covered), index));
        // The first of the best.
        let Some((_, index)) = rated.reduce(|best, other| if other.0 > best.0 { other } else { best }) else { break };
        let persona = left.remove(index);
        members.push(Member { persona: persona.slug.clone(), why: explain(persona, &query) });
        covered.extend(field_of(persona));
    }
    members
}

/// What it knows about the question counts fully, what nobody else knows a little.
fn rate(persona: &Persona, query: &Query, covered: &HashSet<String>) -> f64 {
    let (field, prompt) = (field_of(persona), terms_of(&persona.prompt));
    let matches =
        |known: &dyn Fn(&String) -> bool| -> f64 { query.terms.iter().filter(|(term, _)| known(term)).map(|(_, weight)| weight).sum() };
    // What its prompt mentions counts less than what it is there for.
    let fit = matches(&|term| field.contains(term)) + matches(&|term| prompt.contains(term)) / 4.0;
    let fresh = super::comment::share_of(field.difference(covered).count(), field.len());
    fit + fresh / 2.0
}

fn field_of(persona: &Persona) -> HashSet<String> {
    persona.expertise.iter().chain([&persona.role]).flat_map(|words| terms_of(words)).collect()
}

fn explain(persona: &Persona, query: &Query) -> String {
    let about = |words: &&String| terms_of(words).iter().any(|term| query.terms.iter().any(|(asked, _)| asked == term));
    let known: Vec<&String> = persona.expertise.iter().filter(about).take(3).collect();
    if known.is_empty() { format!("adds another view: {}", persona.role) } else { format!("knows about {}", join_with_and(&known)) }
}

/// Those that somebody named.
///
/// # Errors
/// The name that nobody on the team has, or why they cannot take part.
pub fn name(names: &[String], roster: &Roster) -> Result<Vec<Member>, String> {
    let mut members: Vec<Member> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let persona = roster.resolve(name).map_err(|error| error.to_string())?;
        if persona.coordinator {
            return Err(format!("{} leads the meeting and does not take part in it", persona.name));
        }
        if !members.iter().any(|member| member.persona == persona.slug) {
            members.push(Member { persona: persona.slug.clone(), why: "was asked to take part".to_owned() });
        }
    }
    if members.len() < FEWEST {
        return Err(format!("a board meeting takes at least {FEWEST} personas"));
    }
    if members.len() > MOST {
        return Err(format!("at most {MOST} personas can take part"));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::persona::roster;

    #[test]
    fn those_are_chosen_who_know_about_it_then_those_who_add_another_view() {
        let roster = roster();
        let known: Vec<_> = roster.personas().iter().filter(|persona| !persona.coordinator).collect();
        let expert = known.iter().find(|persona| !persona.expertise.is_empty()).expect("somebody with expertise");
        let topic = format!("What about {}?", expert.expertise[0]);
        let chosen = choose(&topic, &roster, known.len());
        assert_eq!(chosen[0].persona, expert.slug, "{chosen:?}");
        assert!(chosen[0].why.contains(&expert.expertise[0]), "{}", chosen[0].why);
        assert_eq!(chosen.len(), known.len());
        assert!(chosen.iter().all(|member| !roster.find(&member.persona).unwrap().coordinator));
        assert_eq!(choose(&topic, &roster, 2), chosen[..2]);
    }

    #[test]
    fn named_members_are_taken_once_and_strangers_refused() {
        let roster = roster();
        let team: Vec<String> =
            roster.personas().iter().filter(|persona| !persona.coordinator).map(|persona| persona.name.clone()).collect();
        let [first, second, ..] = &team[..] else { panic!("two personas") };
        let named = name(&[format!(" {first} "), second.clone(), first.to_uppercase()], &roster).unwrap();
        assert_eq!(named.len(), 2);
        for (names, why) in [
            (vec![first.clone()], "at least 2"),
            (vec![first.clone(), "nobody-at-all".to_owned()], "nobody-at-all"),
            (vec![first.clone(), roster.coordinator().name.clone()], "leads the meeting"),
        ] {
            let error = name(&names, &roster).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
