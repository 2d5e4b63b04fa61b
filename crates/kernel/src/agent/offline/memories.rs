//! Answers with what people taught, said and posted, or else with lessons.

use std::collections::HashSet;

use crate::agent::AnswerVerdict;
use crate::agent::offline::wording::foreign;
use crate::agent::offline::{Draft, OfflineQuestion};
use crate::memory::retrieval::{Query, terms_of, words_of};
use crate::memory::{Memory, MemoryKind};

/// The most memories of an answer, and characters of each.
const TOLD: usize = 3;
const CHARS: usize = 400;

/// Words that ask what somebody said, not what is true. They only decide what is told first.
const SAYING: [&str; 14] =
    ["say", "said", "tell", "told", "mention", "mentioned", "wrote", "promised", "gesagt", "sagte", "dit", "dijo", "disse", "сказал"];

/// What people taught about the question. None if nobody did, or if it is about a file that came with it.
pub(super) fn tell(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    if asked.is_about_files() || query.is_empty() {
        return None;
    }
    tell_kind(asked, query, MemoryKind::Fact)
}

/// What people said about the subject, if the question asks what was said.
pub(super) fn tell_said(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    let asks = words_of(asked.text).iter().any(|word| SAYING.contains(&word.as_str()));
    if asks && !asked.is_about_files() { tell_kind(asked, query, MemoryKind::Conversation) } else { None }
}

/// What the documents of knowledge channels say about the subject.
pub(super) fn tell_documents(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    if asked.is_about_files() { None } else { tell_kind(asked, query, MemoryKind::Document) }
}

/// Whether something was said or learnt about the question.
pub(super) fn has_more(asked: &OfflineQuestion<'_>, query: &Query) -> bool {
    asked.memories.iter().any(|memory| is_about(asked, memory, query))
}

/// What was said or learnt about the question, if no other source has an answer. It does not count as an answer.
pub(super) fn tell_rest(asked: &OfflineQuestion<'_>, query: &Query) -> Draft {
    let about: Vec<&Memory> = asked.memories.iter().filter(|memory| is_about(asked, memory, query)).collect();
    let mut draft = draft(asked, &about);
    draft.lines.insert(0, "I found no answer in feeds and files. This was said about it:".to_owned());
    draft
}

/// Whether a memory is about a subject of the question. Messages and lessons must share a word with it. Facts and documents may say it in other
/// words, but not if all that they share is the name of a persona.
fn is_about(asked: &OfflineQuestion<'_>, memory: &Memory, query: &Query) -> bool {
    let said = terms_of(&memory.searched());
    let shares = query.terms.iter().any(|(term, weight)| *weight >= 1.0 && said.contains(term));
    let names = || asked.roster.personas().iter().flat_map(|persona| terms_of(&persona.name));
    let asked_for = || terms_of(asked.text);
    match memory.kind {
        _ if shares => true,
        MemoryKind::Fact | MemoryKind::Document => !names().any(|name| said.contains(&name) && asked_for().contains(&name)),
        _ => false,
    }
}

fn tell_kind(asked: &OfflineQuestion<'_>, query: &Query, kind: MemoryKind) -> Option<Draft> {
    let of_kind: Vec<&Memory> = asked.memories.iter().filter(|memory| memory.kind == kind && is_about(asked, memory, query)).collect();
    if of_kind.is_empty() {
        return None;
    }
    let told: HashSet<String> = of_kind.iter().take(TOLD).flat_map(|memory| terms_of(&memory.searched())).collect();
    // A memory can be close to the question without answering it.
    let covers = query.terms.iter().all(|(term, _)| told.contains(term));
    Some(Draft { verdict: if covers { AnswerVerdict::Answers } else { AnswerVerdict::InPart }, ..draft(asked, &of_kind) })
}

fn draft(asked: &OfflineQuestion<'_>, memories: &[&Memory]) -> Draft {
    let mut draft = Draft::empty();
    for memory in memories.iter().take(TOLD) {
        let on = memory.created_at.with_timezone(&asked.roster.zone()).format("%-d %B %Y").to_string();
        draft.line(format!("{}: {}", memory.cite(&on, foreign), foreign(&memory.text, CHARS)));
        draft.sources.push(format!("memory {}", memory.short_id()));
    }
    draft
}
