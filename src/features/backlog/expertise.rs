//! Finds the persona who knows about a subject.

use std::collections::HashSet;

use kernel::memory::retrieval::{Query, terms_of};
use kernel::persona::Persona;

/// The persona whose expertise and feeds match a question best. None if no persona matches.
pub(crate) fn find_fitting<'r>(query: &Query, among: impl Iterator<Item = &'r Persona>) -> Option<&'r Persona> {
    let reads = |persona: &Persona| {
        let feeds: HashSet<String> = persona.feeds.iter().flat_map(|feed| terms_of(&format!("{} {}", feed.name, feed.kind))).collect();
        query.terms.iter().filter(|(term, _)| feeds.contains(term)).map(|(_, weight)| weight).sum::<f64>()
    };
    best_of(among.map(|persona| (fit(query, persona) + reads(persona), persona)))
}

/// The best match, if anything matches. If equal, the first.
pub(super) fn best_of<'r>(rated: impl Iterator<Item = (f64, &'r Persona)>) -> Option<&'r Persona> {
    let fitting = rated.filter(|(fit, _)| *fit > 0.0);
    fitting.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, persona)| persona)
}

/// As [`best_of`]. Among equally good matches, takes the persona with the lowest `partiality`.
pub(super) fn best_impartial<'r>(
    rated: impl Iterator<Item = (f64, &'r Persona)>,
    partiality: impl Fn(&Persona) -> f64,
) -> Option<&'r Persona> {
    let fitting = rated.filter(|(fit, _)| *fit > 0.0).map(|(fit, persona)| (fit, partiality(persona), persona));
    let better = |best: (f64, f64, &'r Persona), other: (f64, f64, &'r Persona)| {
        let order = other.0.total_cmp(&best.0).then(best.1.total_cmp(&other.1));
        if order.is_gt() { other } else { best }
    };
    fitting.reduce(better).map(|(.., persona)| persona)
}

/// How well the persona's expertise matches.
pub(super) fn fit(query: &Query, persona: &Persona) -> f64 {
    let field: HashSet<String> = persona.expertise.iter().chain([&persona.role]).flat_map(|words| terms_of(words)).collect();
    query.terms.iter().filter(|(term, _)| field.contains(term)).map(|(_, weight)| weight).sum()
}
