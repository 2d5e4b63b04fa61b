//! Answers with what is known about the channel: when its next standup starts, how the last one went.

use std::collections::HashSet;

use crate::agent::offline::intent::Understood;
use crate::agent::offline::{Draft, OfflineQuestion};
use crate::agent::{AnswerVerdict, PlaceNote};
use crate::memory::retrieval::{QuestionKind, terms_of, words_of};

/// The notes that a question is about, if any: those that contain most of its words.
pub(super) fn tell(asked: &OfflineQuestion<'_>, understood: &Understood) -> Option<Draft> {
    if asked.is_about_files() {
        return None;
    }
    let fitting: Vec<(usize, &PlaceNote)> = asked.notes.iter().filter_map(|note| Some((fit(note, understood)?, note))).collect();
    let best = fitting.iter().map(|(fit, _)| *fit).max()?;
    let mut draft = Draft::empty();
    fitting.iter().filter(|(fit, _)| *fit == best).for_each(|(_, note)| draft.lines.extend(note.text.lines().map(str::to_owned)));
    draft.verdict = AnswerVerdict::Answers;
    Some(draft)
}

/// How many words of a question a note contains. None if the question is not about it: a note must contain every subject of the question. A question
/// without a subject ("when does it start?") is about the place where it is asked.
fn fit(note: &PlaceNote, understood: &Understood) -> Option<usize> {
    let known: HashSet<String> = terms_of(&note.text).into_iter().chain(terms_of(note.asked_by)).collect();
    let query = &understood.whole;
    let (subjects, weak): (Vec<_>, Vec<_>) = query.terms.iter().partition(|(_, weight)| *weight >= 1.0);
    let is_meant = if subjects.is_empty() { note.is_of_place } else { subjects.iter().all(|(term, _)| known.contains(term)) };
    let asks_when = query.kind == QuestionKind::When && words_of(note.asked_by).iter().any(|word| word == "when");
    let found = subjects.len() + weak.iter().filter(|(term, _)| known.contains(term)).count() + usize::from(asks_when);
    (is_meant && found > 0).then_some(found)
}
