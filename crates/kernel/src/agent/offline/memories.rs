//! Answers with what people taught, or else with lessons.

use std::collections::HashSet;

use crate::agent::AnswerVerdict;
use crate::agent::offline::wording::foreign;
use crate::agent::offline::{Draft, OfflineQuestion};
use crate::memory::retrieval::{Query, terms_of};
use crate::memory::{Memory, MemoryKind};

/// The most memories of an answer, and characters of each.
const TOLD: usize = 3;
const CHARS: usize = 400;

/// What people taught about the question. None if nobody did, or if it is about a file that came with it.
pub(super) fn tell(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    if asked.is_about_files() || query.is_empty() {
        return None;
    }
    let taught: Vec<&Memory> = asked.memories.iter().filter(|memory| memory.kind == MemoryKind::Fact).collect();
    if taught.is_empty() {
        return None;
    }
    let told: HashSet<String> = taught.iter().take(TOLD).flat_map(|memory| terms_of(&memory.text)).collect();
    // What is near to the question need not answer it.
    let covers = query.terms.iter().all(|(term, _)| told.contains(term));
    Some(Draft { verdict: if covers { AnswerVerdict::Answers } else { AnswerVerdict::InPart }, ..draft(asked, &taught) })
}

/// The lessons on the question, where no file and no feed has anything. They do not answer it.
pub(super) fn tell_lessons(asked: &OfflineQuestion<'_>) -> Draft {
    draft(asked, &asked.memories.iter().collect::<Vec<_>>())
}

fn draft(asked: &OfflineQuestion<'_>, memories: &[&Memory]) -> Draft {
    let mut draft = Draft::empty();
    for memory in memories.iter().take(TOLD) {
        let on = memory.created_at.with_timezone(&asked.roster.zone()).format("%-d %B %Y");
        let text = foreign(&memory.text, CHARS);
        draft.line(match &memory.taught_by {
            Some(by) => format!("{} taught me on {on}: {text}", foreign(&by.name, 40)),
            None => format!("Learnt on {on}: {text}"),
        });
        draft.sources.push(format!("memory {}", memory.short_id()));
    }
    draft
}
