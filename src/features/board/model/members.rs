//! Who takes part (BOARD-2).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::features::board::model::money::count_money;
use crate::features::meeting::model::Participant;
use crate::features::relationships::Relationships;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::{Query, terms_of, words_of};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::text::join_with_and;

/// The most that take part (BOARD-11).
pub const MOST: usize = 10;

/// The fewest. One alone is no meeting.
pub const FEWEST: usize = 2;

/// What a question about money adds at most for those who know about it.
const MONEY: usize = 3;

/// Somebody who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// A persona's slug, or an expert's.
    pub persona: PersonaSlug,
    /// Why, for people: "knows about queues and databases".
    pub why: String,
    /// The name of an expert, who is a guest. Kept here, because the file may be gone later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
}

impl Member {
    pub fn of(speaker: &Persona, roster: &Roster, why: impl Into<String>) -> Self {
        let guest = roster.find(&speaker.slug).is_none().then(|| speaker.name.clone());
        Self { persona: speaker.slug.clone(), why: why.into(), guest }
    }

    pub fn participant(&self) -> Participant {
        match &self.guest {
            Some(name) => Participant::Guest { id: self.persona.to_string(), name: name.clone() },
            None => Participant::Persona(self.persona.clone()),
        }
    }

    pub fn name<'a>(&'a self, roster: &'a Roster) -> &'a str {
        self.guest.as_deref().unwrap_or_else(|| roster.name_of(&self.persona))
    }
}

/// Who takes part, as a persona or an expert. None: the file is gone, or it is a person.
pub fn find_speaker<'a>(who: &Participant, roster: &'a Roster) -> Option<&'a Persona> {
    match who {
        Participant::Persona(slug) => roster.find(slug),
        Participant::Guest { id, .. } => roster.find_expert(id),
        Participant::Person { .. } => None,
    }
}

/// Chooses by fit to the question and the artefact, and by what each adds to those already chosen. The coordinator leads and does not take part. An
/// expert is only chosen for what the question asks about, never for another view. Among equally good candidates, the one with the weakest
/// relationships to those already chosen comes first.
pub fn choose(topic: &str, roster: &Roster, relationships: &Relationships, number: usize) -> Vec<Member> {
    let (query, money) = (Query::parse(topic, &[]), count_money(topic));
    let experts = roster.experts().iter().filter(|expert| !list_known(expert, (&query, money)).is_empty());
    let mut left: Vec<&Persona> = roster.personas().iter().filter(|persona| !persona.coordinator).chain(experts).collect();
    let mut covered: HashSet<String> = HashSet::new();
    let mut members = Vec::new();
    while members.len() < number && !left.is_empty() {
        let partiality = |persona: &Persona| -> f64 {
            members.iter().map(|member: &Member| relationships.partiality(&member.persona, &persona.slug)).sum()
        };
        let rated = left.iter().enumerate().map(|(index, persona)| (rate(persona, (&query, money), &covered), partiality(persona), index));
        // The first of the best.
        let better = |best: (f64, f64, usize), other: (f64, f64, usize)| {
            let order = other.0.total_cmp(&best.0).then(best.1.total_cmp(&other.1));
            if order.is_gt() { other } else { best }
        };
        let Some((.., index)) = rated.reduce(better) else { break };
        let persona = left.remove(index);
        members.push(Member::of(persona, roster, explain(persona, roster, topic, (&query, money))));
        covered.extend(field_of(persona));
    }
    members
}

/// Rates a candidate. Knowledge about the question counts fully, knowledge that nobody else has counts a little.
fn rate(persona: &Persona, (query, money): (&Query, usize), covered: &HashSet<String>) -> f64 {
    let (field, prompt) = (field_of(persona), terms_of(&persona.prompt));
    let matches =
        |known: &dyn Fn(&String) -> bool| -> f64 { query.terms.iter().filter(|(term, _)| known(term)).map(|(_, weight)| weight).sum() };
    // Subjects of the prompt count less than declared expertise and the role.
    let fit = matches(&|term| field.contains(term)) + matches(&|term| prompt.contains(term)) / 4.0;
    let fresh = super::comment::share_of(field.difference(covered).count(), field.len());
    fit + fresh / 2.0 + money_of(persona, money)
}

/// What knowledge of money counts in a question that speaks of it so often.
fn money_of(persona: &Persona, money: usize) -> f64 {
    let knows = persona.expertise.iter().any(|words| count_money(words) > 0);
    if knows { f64::from(u8::try_from(money.min(MONEY)).unwrap_or_default()) } else { 0.0 }
}

fn field_of(persona: &Persona) -> HashSet<String> {
    persona.expertise.iter().chain([&persona.role]).flat_map(|words| terms_of(words)).collect()
}

/// The subjects of a persona that the question asks about.
fn list_known<'a>(persona: &'a Persona, (query, money): (&Query, usize)) -> Vec<&'a String> {
    let is_asked = |words: &str| terms_of(words).iter().any(|term| query.terms.iter().any(|(asked, _)| asked == term));
    let about = |words: &&String| is_asked(words) || (money > 0 && count_money(words) > 0);
    persona.expertise.iter().filter(about).take(3).collect()
}

/// Why somebody was chosen: for their expertise, for what no other file says about the question, or for another view.
fn explain(persona: &Persona, roster: &Roster, topic: &str, asked: (&Query, usize)) -> String {
    let known = list_known(persona, asked);
    if !known.is_empty() {
        return format!("knows about {}", join_with_and(&known));
    }
    let read = |of: &Persona| -> HashSet<String> { terms_of(&format!("{} {}", of.role, of.prompt)).into_iter().collect() };
    let others: Vec<HashSet<String>> = roster.personas().iter().filter(|other| other.slug != persona.slug).map(read).collect();
    let mut instructed = read(persona);
    instructed.retain(|term| !others.iter().any(|other| other.contains(term)));
    let is_subject = |word: &String| {
        let terms = terms_of(word);
        let weighs = |term: &String| asked.0.terms.iter().any(|(known, weight)| known == term && *weight >= 1.0);
        word.chars().all(char::is_alphabetic) && terms.iter().any(|term| instructed.contains(term) && weighs(term))
    };
    let mut words: Vec<String> = Vec::new();
    for word in words_of(topic).into_iter().filter(is_subject) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.truncate(3);
    if words.is_empty() {
        format!("adds another view: {}", persona.role)
    } else {
        format!("works on {}, with an eye on {}", persona.role, join_with_and(&words))
    }
}

/// The members that somebody named.
///
/// # Errors
/// A name that nobody on the team has, or the reason why somebody cannot take part.
pub fn name(names: &[String], roster: &Roster) -> Result<Vec<Member>, String> {
    let mut members: Vec<Member> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let persona = roster.resolve_speaker(name).map_err(|error| error.to_string())?;
        if persona.coordinator {
            return Err(format!("{} leads the meeting and does not take part in it", persona.name));
        }
        if !members.iter().any(|member| member.persona == persona.slug) {
            members.push(Member::of(persona, roster, "was asked to take part"));
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
    use kernel::testing::persona::{persona, roster};

    #[test]
    fn those_are_chosen_who_know_about_it_then_those_who_add_another_view() {
        let roster = roster();
        let known: Vec<_> = roster.personas().iter().filter(|persona| !persona.coordinator).collect();
        let expert = known.iter().find(|persona| !persona.expertise.is_empty()).expect("somebody with expertise");
        let topic = format!("What about {}?", expert.expertise[0]);
        let chosen = choose(&topic, &roster, &strangers(), known.len());
        assert_eq!(chosen[0].persona, expert.slug, "{chosen:?}");
        assert!(chosen[0].why.contains(&expert.expertise[0]), "{}", chosen[0].why);
        assert_eq!(chosen.len(), known.len());
        assert!(chosen.iter().all(|member| !roster.find(&member.persona).unwrap().coordinator));
        assert_eq!(choose(&topic, &roster, &strangers(), 2), chosen[..2]);
    }

    fn strangers() -> Relationships {
        Relationships { all: Vec::new(), now: kernel::testing::feeds::now() }
    }

    fn expert(name: &str, expertise: &[&str]) -> Persona {
        let expertise = expertise.iter().map(|words| (*words).to_owned()).collect();
        Persona { expertise, ..persona(name, "guest", &[]) }
    }

    #[test]
    fn an_expert_is_chosen_for_what_is_asked_and_never_for_another_view() {
        let roster = roster().with_experts(vec![expert("Ada", &["queues", "databases"]), expert("Bea", &["gardens"])]);
        let chosen = choose("Should we move the queues to other databases?", &roster, &strangers(), 10);
        assert_eq!(chosen[0].participant(), Participant::Guest { id: "ada".into(), name: "Ada".into() });
        assert_eq!((chosen[0].why.as_str(), chosen[0].name(&roster)), ("knows about queues and databases", "Ada"));
        assert_eq!(chosen.len(), roster.personas().len(), "all but the coordinator, and Ada: {chosen:?}");
        let named = name(&["Vince".to_owned(), "bea".to_owned()], &roster).unwrap();
        assert_eq!((named[0].guest.as_deref(), named[1].guest.as_deref()), (None, Some("Bea")));
        assert!(name(&["Vince".to_owned(), "dora".to_owned()], &roster).unwrap_err().contains("Ada, Bea"));
    }

    #[test]
    fn a_question_full_of_money_is_for_whoever_knows_about_money() {
        let expertise = |slug: &str, words: &[&str]| Persona {
            expertise: words.iter().map(|words| (*words).to_owned()).collect(),
            prompt: format!("You answer, and look at {} closely.", if slug == "Ben" { "contracts" } else { "facts" }),
            ..persona(slug, "work", &[])
        };
        let team = vec![
            persona("Kelly", "coordination", &[]),
            expertise("Ann", &["support"]),
            expertise("Ben", &["code"]),
            expertise("Cleo", &["gardens"]),
            expertise("Zoe", &["budget", "spending"]),
        ];
        let roster = Roster::new(team).unwrap();
        let chosen = choose("Should we sign for CHF 4,800 a year, or take $350 a month?", &roster, &strangers(), 2);
        assert_eq!((chosen[0].persona.as_str(), chosen[0].why.as_str()), ("zoe", "knows about budget and spending"));
        // Who works on what the question names does not just add another view.
        let chosen = choose("Which contracts should we answer with an end?", &roster, &strangers(), 4);
        let why: Vec<_> = chosen.iter().map(|member| member.why.as_str()).collect();
        assert_eq!(why[0], "works on work, with an eye on contracts", "{chosen:?}");
        assert!(why[1..].iter().all(|why| why.starts_with("adds another view")), "{chosen:?}");
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
