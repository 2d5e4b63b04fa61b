//! The criteria of an item: what anybody can see once it is done. Every item has criteria before it starts.

use crate::features::backlog::model::{Execution, Owner, WorkItem, name_of_helper};
use kernel::memory::retrieval::cut;

/// The fewest and the most that are drafted for an item.
pub const FEWEST: usize = 2;
pub const MOST: usize = 5;

/// The most characters of a drafted criterion, and of the title that it quotes.
pub const CHARS: usize = 200;
const QUOTED: usize = 140;

/// The default criteria of an item, by its kind of work.
pub fn by_kind(item: &WorkItem) -> Vec<String> {
    let what = quote(&item.what);
    let texts: Vec<String> = match &item.execution {
        Some(Execution::Research) => {
            vec![format!("A document answers: {what}"), "Every figure names its source".into(), "What stays open is said".into()]
        }
        Some(Execution::Write) => {
            vec![format!("A document does what was asked: {what}"), "It can be used as it stands, without placeholders".into()]
        }
        Some(Execution::Build) => {
            vec![format!("The files do what was asked: {what}"), "They are whole: nothing is left to be filled in".into()]
        }
        Some(Execution::Ask { question, .. }) => {
            vec!["Somebody who knows has replied".into(), format!("The reply answers: {}", quote(question))]
        }
        Some(Execution::Remind { .. }) => {
            let who = name_of_helper(item.find_awaited().filter(|who| matches!(who, Owner::Person { .. })));
            vec![format!("Told to {who}: {what}"), format!("Confirmed by {who}")]
        }
        Some(Execution::Watch(terms)) => {
            vec![format!("{} was watched", terms.feed), "It is told whether it came about, and what was seen last".into()]
        }
        None => vec![format!("What was asked for is there: {what}"), "Its parts together give it, and none of them is missing".into()],
    };
    texts
}

/// The criteria that the grader judges: those that code cannot prove.
pub fn to_grade(item: &WorkItem) -> Vec<String> {
    if item.criteria.is_empty() { by_kind(item) } else { item.criteria.clone() }
}

/// Whether code can prove all criteria: they are the defaults of work that ends with an answer, a person's word or a value of a feed.
pub fn are_proven_by_code(item: &WorkItem) -> bool {
    let by_kind = by_kind(item);
    let needs_model = item.execution.as_ref().is_none_or(|execution| execution.kind().needs_model());
    item.criteria.is_empty() || (!needs_model && item.criteria.iter().all(|criterion| by_kind.contains(criterion)))
}

/// A text in a criterion: on one line, without the punctuation at its end.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(line.trim_end_matches(['.', '!', ':', ';', ',']), QUOTED)
}

/// Drafted criteria in order: each on one line, none twice. None if there are too few of them.
pub fn read_draft(given: &[String]) -> Option<Vec<String>> {
    let mut criteria: Vec<String> = Vec::new();
    for text in given {
        let line = kernel::text::without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let line = cut(line.trim_start_matches(['-', '*', '•']).trim(), CHARS);
        if line.chars().any(char::is_alphanumeric) && !criteria.contains(&line) {
            criteria.push(line);
        }
    }
    criteria.truncate(MOST);
    (criteria.len() >= FEWEST).then_some(criteria)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::Origin;
    use kernel::testing::feeds::now;

    fn item(execution: Option<Execution>) -> WorkItem {
        WorkItem { execution, ..WorkItem::new("Die Preise vergleichen.", Owner::Persona("vince".into()), Origin::CommandLine, now()) }
    }

    #[test]
    fn every_kind_has_between_two_and_five_that_name_the_item() {
        let ask = Execution::ask(Owner::Persona("oracle".into()), "What are the odds?".into());
        for execution in
            [Some(Execution::Research), Some(Execution::Write), Some(Execution::Build), Some(Execution::Remind { whom: None }), None]
        {
            let criteria = by_kind(&item(execution));
            assert!((FEWEST..=MOST).contains(&criteria.len()) && criteria[0].ends_with("Die Preise vergleichen"), "{criteria:?}");
        }
        assert_eq!(by_kind(&item(Some(ask)))[1], "The reply answers: What are the odds?");
    }

    #[test]
    fn code_proves_what_ends_by_a_word_or_a_value_and_nothing_that_a_person_added() {
        for (execution, proven) in [(Execution::Remind { whom: None }, true), (Execution::Write, false), (Execution::Build, false)] {
            let item = item(Some(execution));
            let item = WorkItem { criteria: by_kind(&item), ..item };
            assert_eq!(are_proven_by_code(&item), proven, "{:?}", item.execution);
        }
        let added = WorkItem { criteria: vec!["Three shops".into()], ..item(Some(Execution::Remind { whom: None })) };
        assert!(!are_proven_by_code(&added));
    }

    #[test]
    fn a_draft_is_cleaned_and_one_that_says_too_little_is_none() {
        let draft = |lines: &[&str]| read_draft(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        assert_eq!(draft(&["- Three shops\nare named", "Each price has its page", "Three shops are named"]).unwrap().len(), 2);
        assert_eq!(draft(&["1", "2", "3", "4", "5", "6"]).unwrap().len(), MOST);
        assert_eq!((draft(&["Only one", " ", "…"]), draft(&[])), (None, None));
    }
}
