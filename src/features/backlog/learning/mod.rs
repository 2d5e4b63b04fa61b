//! Lessons from work: one for each item that has ended (WORK-8), and the file in which people read them. `memory::retrieval` decides who is told
//! which. Of what was accepted, [`approach`] also keeps how it was done (WORK-30).
//! What was rejected several times becomes an [`amendment`] of a persona's prompt (WORK-28).

pub mod amendment;
pub mod approach;
mod file;

use chrono::{DateTime, Utc};

use crate::features::backlog::learning::approach::{Accepted, approach_of};
use crate::features::backlog::model::{Evidence, JournalEntry, Owner, Product, WorkItem};
use crate::store::Store;
use kernel::db::StoreError;
use kernel::ids::{MemoryId, PersonaSlug};
use kernel::memory::retrieval::{cut, terms_of};
use kernel::memory::{Memory, MemoryKind, MemorySource};
use kernel::text::without_invisible;

pub use file::{Learnings, render_learnings};

/// The most characters of what was asked, of what came out, and of what is to be remembered.
const WHAT: usize = 120;
const CAME: usize = 200;
const LESSON: usize = 300;
const TAGS: usize = 8;
/// Below what a standup concludes: one item's experience, not the team's.
const SIGNIFICANCE: f64 = 0.4;

/// How an item ended.
#[derive(Debug, Clone, Copy)]
pub enum ItemEnd<'a> {
    /// A person's answer may end an item that has no product.
    Done {
        product: Option<&'a Product>,
        evidence: &'a [Evidence],
    },
    Failed {
        why: &'a str,
    },
}

/// What is remembered of an item that is accepted: its lesson, then how it was done. `journal` is that of the run that is accepted.
pub(crate) async fn learn(
    store: &Store,
    item: &WorkItem,
    product: Option<&Product>,
    evidence: &[Evidence],
    journal: &[JournalEntry],
    at: DateTime<Utc>,
) -> Result<Vec<Memory>, StoreError> {
    let parts = store.list_parts(&item.id).await?;
    let reviews = store.list_reviews(&item.id).await?.into_iter();
    let rejections: Vec<String> = reviews.filter(|review| !review.accepted).map(|review| review.note).collect();
    let mut outside = false;
    let reviewed = if rejections.is_empty() { Vec::new() } else { store.list_runs(&item.id).await? };
    // A review may quote what its run, or the reviewer, has read.
    for run in reviewed {
        outside |= store.list_journal(&item.id, run).await?.iter().any(|(entry, _)| approach::has_outside(entry));
    }
    let accepted = Accepted { item, product, evidence, journal, parts: &parts, rejections: &rejections, outside };
    let lesson = memory_of(item, &ItemEnd::Done { product, evidence }, journal, at);
    Ok([Some(lesson), approach_of(&accepted, at)].into_iter().flatten().collect())
}

/// The lesson of an item that has ended. One end of one run gives one lesson, however often it is recorded.
///
/// `journal` is that of the run that ended: what came of text from outside is marked so, and is told to nobody before a person confirms it. The
/// lesson of a private item is told only where it was asked for.
pub fn memory_of(item: &WorkItem, ending: &ItemEnd<'_>, journal: &[JournalEntry], at: DateTime<Utc>) -> Memory {
    let what = one_line(&item.what, WHAT);
    let (end, text) = match ending {
        ItemEnd::Done { product, evidence } => {
            let came = product.map_or_else(|| answer_in(evidence), |product| one_line(&product.summary, CAME));
            let tried = if came.is_empty() { format!("{what}: done.") } else { format!("{what}: {came}") };
            let lesson = product.and_then(|product| product.lesson.as_deref()).map(|lesson| one_line(lesson, LESSON));
            // The lesson comes first, because readers may get only the beginning.
            let text = lesson.filter(|lesson| !lesson.is_empty()).map_or(tried.clone(), |lesson| format!("{lesson} ({tried})"));
            ("done", text)
        }
        ItemEnd::Failed { why } => ("failed", format!("{what}: failed, {}", one_line(why, LESSON))),
    };
    let tags = tags_of(item, journal.iter().any(JournalEntry::is_outside));
    Memory {
        id: MemoryId::new(format!("learnt-{}-{}-{end}", item.id, item.run)),
        persona: persona_of(item),
        significance: SIGNIFICANCE,
        place: item.private_to.clone(),
        held: tags.iter().any(|tag| tag == Memory::OUTSIDE),
        tags,
        ..Memory::new(MemoryKind::Lesson, text, MemorySource::WorkItem(item.id.clone()), at)
    }
}

/// Words of the item's subject, so that a search for the question finds the lesson even if the lesson uses other words.
fn tags_of(item: &WorkItem, is_outside: bool) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for term in terms_of(&item.what) {
        if tags.len() < TAGS && term != Memory::OUTSIDE && !tags.contains(&term) {
            tags.push(term);
        }
    }
    tags.extend(is_outside.then(|| Memory::OUTSIDE.to_owned()));
    tags
}

/// The persona that has learnt from the item.
fn persona_of(item: &WorkItem) -> Option<PersonaSlug> {
    let owner = match &item.owner {
        Owner::Persona(slug) => Some(slug.clone()),
        Owner::Person { .. } => None,
    };
    item.persona.clone().or(owner)
}

fn answer_in(evidence: &[Evidence]) -> String {
    let answer = evidence.iter().rev().find_map(|found| match found {
        Evidence::Answer { by, text, .. } => Some(format!("{by} answered: {text}")),
        _ => None,
    });
    answer.map_or_else(String::new, |answer| one_line(&answer, CAME))
}

fn one_line(text: &str, chars: usize) -> String {
    cut(&without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" "), chars)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::features::backlog::model::Origin;
    use kernel::testing::feeds::now;
    use kernel::tools::CallStatus;

    fn item() -> WorkItem {
        WorkItem {
            persona: Some("vince".into()),
            ..WorkItem::new("Compare prices of scanners", Owner::Persona("kelly".into()), Origin::CommandLine, now())
        }
    }

    fn product(summary: &str, lesson: Option<&str>) -> Product {
        Product { summary: summary.into(), claims: Vec::new(), lesson: lesson.map(Into::into), ..Product::default() }
    }

    fn done(product: &Product) -> Memory {
        memory_of(&item(), &ItemEnd::Done { product: Some(product), evidence: &[] }, &[], now())
    }

    #[test]
    fn a_lesson_says_what_to_remember_then_what_was_tried_and_what_came_out() {
        let memory = done(&product("three shops\nask $4 to $9.", Some("Shop B hides its\u{200b} price.")));
        assert_eq!(memory.text, "Shop B hides its price. (Compare prices of scanners: three shops ask $4 to $9.)");
        assert_eq!((memory.persona, memory.significance), (Some("vince".into()), 0.4));
        assert_eq!(memory.tags, ["compar", "pric", "scanner"]);
        assert_eq!(done(&product("three shops.", Some(" \n"))).text, "Compare prices of scanners: three shops.");
        assert_eq!(done(&product("", None)).text, "Compare prices of scanners: done.");
    }

    #[test]
    fn a_failure_leaves_a_lesson_too() {
        let memory = memory_of(&item(), &ItemEnd::Failed { why: "no page\nanswered" }, &[], now());
        assert_eq!(memory.text, "Compare prices of scanners: failed, no page answered");
    }

    #[test]
    fn an_item_that_a_person_ended_tells_the_answer() {
        let evidence = [Evidence::Answer { by: "Ann".into(), text: "ordered".into(), at: now() }];
        let memory = memory_of(&item(), &ItemEnd::Done { product: None, evidence: &evidence }, &[], now());
        assert_eq!(memory.text, "Compare prices of scanners: Ann answered: ordered");
    }

    #[test]
    fn one_end_of_one_run_is_one_lesson_and_another_run_another() {
        let failed = |run| memory_of(&WorkItem { id: "i".into(), run, ..item() }, &ItemEnd::Failed { why: "so" }, &[], now()).id;
        assert_eq!(failed(1), failed(1));
        assert_ne!(failed(1), failed(2));
    }

    #[test]
    fn a_very_long_lesson_is_cut() {
        let long = "word ".repeat(2000);
        assert!(done(&product(&long, Some(&long))).text.chars().count() <= WHAT + CAME + LESSON + 10);
    }

    #[test]
    fn what_was_asked_for_in_private_is_learnt_there() {
        let private = WorkItem { private_to: Some("c1".into()), ..item() };
        let learnt = |item: &WorkItem| memory_of(item, &ItemEnd::Failed { why: "so" }, &[], now());
        assert_eq!((learnt(&private).place, learnt(&item()).place), (Some("c1".into()), None));
    }

    #[test]
    fn what_came_of_text_from_outside_waits_for_a_person() {
        let read = |outside| JournalEntry::Returned { call: "1".into(), text: "x".into(), outside, status: CallStatus::Ok, trace: None };
        let held = |outside| memory_of(&item(), &ItemEnd::Failed { why: "so" }, &[read(outside)], now()).held;
        assert!(held(true) && !held(false));
    }

    #[test]
    fn what_came_of_text_from_outside_is_marked() {
        let read = |outside| JournalEntry::Returned { call: "1".into(), text: "x".into(), outside, status: CallStatus::Ok, trace: None };
        let marked = |journal: &[JournalEntry]| memory_of(&item(), &ItemEnd::Failed { why: "so" }, journal, now()).may_quote_outside();
        assert!(marked(&[read(false), read(true)]));
        assert!(marked(&[JournalEntry::Asked { system: String::new(), message: String::new(), tainted: true, remarks: Vec::new() }]));
        assert!(!marked(&[read(false)]));
        let forged = WorkItem { what: "Look outside".into(), ..item() };
        assert!(!memory_of(&forged, &ItemEnd::Failed { why: "so" }, &[], now()).may_quote_outside(), "a word of the subject marks nothing");
    }

    proptest! {
        /// Whatever a page dictates to the author, a reviewer or the critique: it waits for a person, or is not in what is remembered.
        #[test]
        fn nothing_that_a_page_dictated_is_remembered_without_a_person(
            dictated in "[n-z]{4,9} [n-z]{4,9}",
            before in prop::collection::vec(any::<bool>(), 0..4),
            after in prop::collection::vec(any::<bool>(), 0..4),
            by_person in any::<bool>(),
        ) {
            let read = |outside| JournalEntry::Returned { call: "1".into(), text: "x".into(), outside, status: CallStatus::Ok, trace: None };
            let journal: Vec<JournalEntry> = before.into_iter().chain([true]).chain(after).map(read).collect();
            let origin = if by_person { Origin::CommandLine } else { Origin::WorkItem("i".into()) };
            let item = WorkItem { origin, ..item() };
            let product = Product { questions: vec![dictated.clone()], ..product(&dictated, Some(&dictated)) };
            let done = memory_of(&item, &ItemEnd::Done { product: Some(&product), evidence: &[] }, &journal, now());
            let failed = memory_of(&item, &ItemEnd::Failed { why: &dictated }, &journal, now());
            prop_assert!(done.held && done.may_quote_outside() && failed.held && failed.may_quote_outside());
            let rejections = [format!("It compares prices {dictated}")];
            let accepted = Accepted {
                item: &item, product: Some(&product), evidence: &[], journal: &journal, parts: &[], rejections: &rejections, outside: true,
            };
            let approach = approach_of(&accepted, now());
            prop_assert!(approach.is_none_or(|approach| approach.held || !approach.text.contains(&dictated)));
        }
    }
}
