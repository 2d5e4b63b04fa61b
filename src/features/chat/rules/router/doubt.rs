//! Whether what somebody writes after a persona's answer really goes on with it. Where it may not, a model is asked.

use crate::features::chat::model::decision::Decision;
use crate::features::chat::rules::intent;
use crate::features::chat::rules::router::{Arrival, Reading, wants_something};
use crate::features::chat::rules::words::Sense;
use kernel::chat::message::AuthorKind;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::terms_of;
use kernel::persona::Persona;

/// Marks a follow-up as unsure if it is in the field of another persona, or if it asks nothing after an answer that asked nothing.
pub(super) fn find_doubt(arrival: &Arrival<'_>, reading: &Reading<'_>, decision: Decision) -> Decision {
    let (Some(recent), Some(current)) = (arrival.talk.recent, decision.responders.first()) else { return decision };
    // What is added while the answer is being made belongs to the question.
    if arrival.message.author.kind != AuthorKind::Person || arrival.is_command || recent.is_under_way {
        return decision;
    }
    let rival = find_rival(arrival, reading, current);
    let wants = wants_something(reading) || intent::is_imperative(&reading.text) || !arrival.message.attachments.is_empty();
    let in_passing = recent.is_told && !wants;
    if rival.is_none() && !in_passing {
        return decision;
    }
    Decision { unsure: Some(current.clone()), rival, ..decision }
}

/// The persona in whose field a text is, if it is not in that of `current`. The coordinator knows who does what, so a question about people that refers
/// to nothing said before may be for the coordinator.
fn find_rival(arrival: &Arrival<'_>, reading: &Reading<'_>, current: &PersonaSlug) -> Option<PersonaSlug> {
    let terms = terms_of(&arrival.message.text);
    let fit = |persona: &Persona| {
        let field: Vec<String> = persona.expertise.iter().flat_map(|words| terms_of(words)).collect();
        terms.iter().filter(|term| field.contains(term)).count()
    };
    if arrival.roster.find(current).is_none_or(|persona| fit(persona) > 0) {
        return None;
    }
    let rated = arrival.roster.personas().iter().map(|persona| (fit(persona), persona)).filter(|(fit, _)| *fit > 0);
    let fitting = rated.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, persona)| persona);
    let asks_for_people = || {
        let asks = |sense| reading.text.iter().any(|sentence| sentence.holds(sense));
        intent::is_question(&reading.text) && asks(Sense::Who) && !asks(Sense::Anaphora)
    };
    let rival = fitting.or_else(|| asks_for_people().then(|| arrival.roster.coordinator()));
    rival.map(|persona| persona.slug.clone()).filter(|slug| slug != current)
}
