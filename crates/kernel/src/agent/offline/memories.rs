//! Answers with what people taught, said and posted, or else with lessons.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::agent::AnswerVerdict;
use crate::agent::offline::wording::foreign;
use crate::agent::offline::{Draft, OfflineQuestion};
use crate::chat::message::{Speaker, Spoken};
use crate::memory::retrieval::{Query, terms_of, words_of};
use crate::memory::{Memory, MemoryKind, are_alike, speak_of_oneself};

/// The most memories of an answer, and characters of each.
const TOLD: usize = 3;
const CHARS: usize = 400;
const NAME: usize = 40;

/// When something was said.
const WHOLE: &str = "%A, %-d %B %Y at %H:%M";

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
    if !asks || asked.is_about_files() {
        return None;
    }
    let remembered = tell_kind(asked, query, MemoryKind::Conversation);
    match quote_said(asked, query) {
        Some(mut said) => {
            let Draft { lines, sources, .. } = remembered.unwrap_or_else(Draft::empty);
            said.lines.extend(lines);
            said.sources.extend(sources);
            Some(said)
        }
        None => remembered,
    }
}

/// The last messages of the channel on the subject that the memory has not yet: best first, then the newest. If the question names people, only
/// their messages count.
fn quote_said(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    let by_people = || {
        asked.transcript.iter().filter_map(|line| match &line.speaker {
            Speaker::Person { name, .. } => Some((name, line)),
            _ => None,
        })
    };
    let words = words_of(asked.text);
    let named: HashSet<String> = by_people().flat_map(|(name, _)| words_of(name)).filter(|word| words.contains(word)).collect();
    let stems: Vec<String> = named.iter().flat_map(|word| terms_of(word)).collect();
    let subjects = query.terms.iter().filter(|(term, weight)| *weight >= 1.0 && !stems.contains(term)).collect::<Vec<_>>();
    let is_meant = |name: &str| named.is_empty() || words_of(name).iter().any(|word| named.contains(word));
    let is_remembered =
        |line: &Spoken| asked.memories.iter().any(|memory| line.message.is_some() && memory.message() == line.message.as_ref());
    let asks = |line: &Spoken| line.text.trim_end().ends_with(['?', '？', '؟']);
    let candidates: Vec<(Vec<String>, &String, &Spoken)> = by_people()
        .filter(|(name, line)| is_meant(name) && !asks(line) && !is_remembered(line))
        .map(|(name, line)| (terms_of(&line.text), name, line))
        .collect();
    let spelt = query.knowing(candidates.iter().flat_map(|(terms, ..)| terms));
    let shares = |terms: &[String]| subjects.iter().filter(|(term, _)| terms.iter().any(|said| spelt.means(term, said))).count();
    let covers = |line: &Spoken| has_all(&terms_of(&line.text), subjects.iter().map(|(term, _)| term));
    let mut said: Vec<(usize, &String, &Spoken)> = candidates.iter().map(|(terms, name, line)| (shares(terms), *name, *line)).collect();
    said.retain(|(shared, ..)| if subjects.is_empty() { !named.is_empty() } else { *shared > 0 && shared * 2 >= subjects.len() });
    said.sort_by_key(|(shared, _, line)| Reverse((*shared, line.at)));
    let best = said.first()?.0;
    let mut draft = Draft::empty();
    draft.verdict = AnswerVerdict::InPart;
    for (_, name, line) in said.into_iter().filter(|(shared, ..)| *shared == best).take(TOLD) {
        if covers(line) {
            draft.verdict = AnswerVerdict::Answers;
        }
        let at = line.at.with_timezone(&asked.roster.zone()).format(WHOLE);
        let place = format!("{} said on {at}", foreign(name, NAME));
        draft.line(format!("{place}: {}", foreign(&line.text, CHARS)));
        draft.sources.push(place);
    }
    Some(draft)
}

/// What the documents of knowledge channels say about the subject.
pub(super) fn tell_documents(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    if asked.is_about_files() { None } else { tell_kind(asked, query, MemoryKind::Document) }
}

/// All that is remembered on the subject.
pub(super) fn tell_all(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    let about = list_about(asked, query);
    (!about.is_empty()).then(|| draft(asked, &about))
}

/// Whether something was said or learnt about the question.
pub(super) fn has_more(asked: &OfflineQuestion<'_>, query: &Query) -> bool {
    !list_about(asked, query).is_empty()
}

/// What was said or learnt about the question, if no other source has an answer. It does not count as an answer.
pub(super) fn tell_rest(asked: &OfflineQuestion<'_>, query: &Query) -> Draft {
    let about = list_about(asked, query);
    let mut draft = draft(asked, &about);
    draft.lines.insert(0, "I found no answer in feeds and files. This was said about it:".to_owned());
    draft
}

/// The memories about a subject of the question. A word that one of them has is not mistyped.
fn list_about<'a>(asked: &OfflineQuestion<'a>, query: &Query) -> Vec<&'a Memory> {
    let stems: HashSet<String> = asked.memories.iter().flat_map(|memory| terms_of(&memory.searched())).collect();
    let query = query.knowing(&stems);
    asked.memories.iter().filter(|memory| is_about(asked, memory, &query)).collect()
}

/// Whether all terms are among these stems, as they are. A slip of the pen may be another word, so it gives no whole answer.
fn has_all<'t>(stems: &[String], mut terms: impl Iterator<Item = &'t String>) -> bool {
    terms.all(|term| stems.contains(term))
}

/// Whether a memory is about a subject of the question. Messages and lessons must share a word with it. Facts and documents may say it in other
/// words, but not if all that they share is the name of a persona.
fn is_about(asked: &OfflineQuestion<'_>, memory: &Memory, query: &Query) -> bool {
    let said = terms_of(&memory.searched());
    let shares = query.terms.iter().any(|(term, weight)| *weight >= 1.0 && said.iter().any(|said| query.means(term, said)));
    let names = || asked.roster.personas().iter().flat_map(|persona| terms_of(&persona.name));
    let asked_for = || terms_of(asked.text);
    match memory.kind {
        _ if is_of_another(asked, memory) => false,
        _ if shares => true,
        MemoryKind::Fact | MemoryKind::Document => !names().any(|name| said.contains(&name) && asked_for().contains(&name)),
        _ => false,
    }
}

/// Whether the question means the asker and the memory somebody else by the same word: "my birthday".
fn is_of_another(asked: &OfflineQuestion<'_>, memory: &Memory) -> bool {
    let author = memory.person().and_then(|author| author.id.as_ref());
    author.zip(asked.asker).is_some_and(|(author, asker)| author != asker) && speak_of_oneself(asked.text, &memory.text)
}

fn tell_kind(asked: &OfflineQuestion<'_>, query: &Query, kind: MemoryKind) -> Option<Draft> {
    let mut of_kind = list_about(asked, query);
    of_kind.retain(|memory| memory.kind == kind);
    if of_kind.is_empty() {
        return None;
    }
    if kind == MemoryKind::Fact {
        of_kind.truncate(TOLD);
        of_kind.sort_by_key(|memory| Reverse(memory.created_at));
    }
    let told: Vec<String> = of_kind.iter().take(TOLD).flat_map(|memory| terms_of(&memory.searched())).collect();
    // A memory can be close to the question without answering it.
    let covers = has_all(&told, query.terms.iter().map(|(term, _)| term));
    Some(Draft { verdict: if covers { AnswerVerdict::Answers } else { AnswerVerdict::InPart }, ..draft(asked, &of_kind) })
}

fn draft(asked: &OfflineQuestion<'_>, memories: &[&Memory]) -> Draft {
    let mut draft = Draft::empty();
    for (at, memory) in memories.iter().take(TOLD).enumerate() {
        let is_older = |newer: &&Memory| newer.created_at > memory.created_at && are_alike(&newer.text, &memory.text);
        let older = if memory.kind == MemoryKind::Fact && memories[..at].iter().any(is_older) { "Older: " } else { "" };
        let form = if memory.kind == MemoryKind::Conversation { WHOLE } else { "%-d %B %Y" };
        let on = memory.created_at.with_timezone(&asked.roster.zone()).format(form).to_string();
        draft.line(format!("{older}{}: {}", memory.cite(&on, foreign), foreign(&memory.text, CHARS)));
        draft.sources.push(format!("memory {}", memory.short_id()));
    }
    draft
}
