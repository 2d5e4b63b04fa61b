//! Plans without a model: one step for each section that wants something, by the persona who knows the subject (WORK-12). The steps wait for a model,
//! or are given to people.

use std::collections::BTreeSet;

use crate::features::backlog::expertise::find_fitting;
use crate::features::mission::model::Mission;
use crate::features::mission::model::directive::{Directive, Part, PartKind};
use crate::features::mission::model::plan::{MOST_STEPS, Plan, Step, StepKind, TITLE};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::memory::retrieval::Query;
use kernel::persona::roster::Roster;
use kernel::text::one_line;

/// The most bytes of a section that are matched with the personas' expertise.
const SUBJECT: usize = 2000;

pub(super) fn plan(mission: &Mission, roster: &Roster) -> Plan {
    let sections = sections(&mission.directive);
    let mut steps: Vec<Step> = sections.iter().map(|numbers| step(numbers, &mission.directive, roster)).collect();
    if steps.len() > 1 {
        steps.push(last(&steps, &mission.title, roster));
    }
    Plan {
        given: Vec::new(),
        to_find_out: Vec::new(),
        assumed: Vec::new(),
        criteria: vec!["Each part of the directive is answered or named as open".into(), "The pieces fit each other".into()],
        steps,
        left_out: Vec::new(),
        warnings: vec!["made by rule, because no language model is connected: a step for each section".into()],
        made_by: None,
        expected: None,
        changes: Vec::new(),
        missing: Vec::new(),
        learnt: Vec::new(),
    }
}

/// Groups of parts that belong together: the parts below one heading, at the deepest level that does not give too many groups.
fn sections(directive: &Directive) -> Vec<BTreeSet<usize>> {
    let most = MOST_STEPS - 1;
    let mut found = vec![directive.numbers().collect::<BTreeSet<_>>()];
    for level in 1..=6 {
        let split = split_at(directive, level);
        if split.len() > most {
            break;
        }
        found = split;
    }
    found.retain(|numbers| !numbers.is_empty());
    if found.is_empty() { vec![BTreeSet::new()] } else { found }
}

/// A section begins at each heading of at most this level. Text that only introduces the sections below it belongs to the first of them.
fn split_at(directive: &Directive, level: u8) -> Vec<BTreeSet<usize>> {
    let begins = |part: &Part| matches!(part.kind, PartKind::Heading(found) if found <= level) || part.kind == PartKind::Document;
    let introduces = |section: &BTreeSet<usize>, next: usize| {
        let says = |number: &usize| {
            directive
                .find(*number)
                .is_some_and(|part| matches!(part.kind, PartKind::Item | PartKind::Task(_) | PartKind::Row | PartKind::Code))
        };
        section.first().is_some_and(|first| directive.with_all_below(*first).contains(&next)) && !section.iter().any(says)
    };
    let mut sections: Vec<BTreeSet<usize>> = Vec::new();
    for (number, part) in directive.numbers().zip(&directive.parts) {
        if sections.last().is_none_or(|section| begins(part) && !introduces(section, number)) {
            sections.push(BTreeSet::new());
        }
        if let Some(section) = sections.last_mut() {
            section.insert(number);
        }
    }
    sections
}

fn step(numbers: &BTreeSet<usize>, directive: &Directive, roster: &Roster) -> Step {
    let parts: Vec<&Part> = numbers.iter().filter_map(|&number| directive.find(number)).collect();
    // A heading stands for everything below it, so a heading above several sections is left out.
    let serves: BTreeSet<usize> =
        numbers.iter().copied().filter(|&number| directive.with_all_below(number).all(|below| numbers.contains(&below))).collect();
    let heading = serves.iter().filter_map(|&number| directive.find(number)).find(|part| matches!(part.kind, PartKind::Heading(_)));
    let title = heading.or(parts.first().copied()).map_or("The directive", |part| part.text.as_str());
    let mut subject = String::new();
    for part in &parts {
        if subject.len() < SUBJECT {
            subject.push_str(&part.text);
            subject.push('\n');
        }
    }
    Step {
        item: WorkItemId::generate(),
        title: one_line(title, TITLE),
        instructions: "Do what this section of the directive asks for. Say what of it stays open.".into(),
        kind: StepKind::Write,
        owner: find_owner(&subject, roster),
        person: None,
        criteria: vec![
            "Each part of the section is answered or named as open".into(),
            "It can be used as it stands, without placeholders".into(),
        ],
        needs: Vec::new(),
        serves,
        phase: None,
        reviewer: None,
        due: None,
    }
}

fn last(steps: &[Step], title: &str, roster: &Roster) -> Step {
    Step {
        item: WorkItemId::generate(),
        title: one_line(&format!("Join the pieces: {title}"), TITLE),
        instructions: "Join the results of all sections into one delivery. Name what is missing and what contradicts itself.".into(),
        kind: StepKind::Write,
        owner: roster.coordinator().slug.clone(),
        person: None,
        criteria: vec!["Every section has its place in it".into(), "What is missing or contradicts itself is named".into()],
        needs: steps.iter().map(|step| step.item.clone()).collect(),
        serves: BTreeSet::new(),
        phase: None,
        reviewer: None,
        due: None,
    }
}

fn find_owner(text: &str, roster: &Roster) -> PersonaSlug {
    let fitting = find_fitting(&Query::parse(text, &[]), roster.personas().iter());
    fitting.unwrap_or_else(|| roster.coordinator()).slug.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::persona::roster;

    fn titles(markdown: &str) -> Vec<(String, Vec<usize>)> {
        let directive = Directive::read(&[("a.md".into(), markdown.into())], "");
        sections(&directive).iter().map(|numbers| (step(numbers, &directive, &roster()).title, numbers.iter().copied().collect())).collect()
    }

    #[test]
    fn each_section_is_one_step_and_every_part_belongs_to_one() {
        assert_eq!(
            titles("# Shop\n\n## Cart\n- a\n- b\n\n## Pay\nby card\n"),
            [("Cart".into(), vec![1, 2, 3, 4]), ("Pay".into(), vec![5, 6])]
        );
        assert_eq!(
            titles("# Shop\n\nWe sell tea.\n\n## Cart\n- a\n\n## Pay\n- b\n"),
            [("Cart".into(), vec![1, 2, 3, 4]), ("Pay".into(), vec![5, 6])]
        );
        assert_eq!(titles("just\n\ntext"), [("just".into(), vec![1, 2])]);
    }

    #[test]
    fn no_part_is_open_and_none_is_promised_by_a_step_that_does_not_do_it() {
        let directive = Directive::read(&[("a.md".into(), "# Shop\n\nWe sell tea.\n\n## Cart\n- a\n\n## Pay\n- b\n".into())], "");
        let channel = kernel::chat::message::Channel {
            id: "10".into(),
            name: "general".into(),
            place: kernel::chat::message::Place::Server,
            private: false,
            shared: false,
        };
        let asked = crate::features::mission::model::Asked {
            title: "Shop".into(),
            request: String::new(),
            directive,
            by: None,
            channel: &channel,
            message: None,
        };
        let mission = Mission::new(asked, kernel::testing::feeds::now());
        let plan = plan(&mission, &roster());
        let by = |number: usize| match &plan.coverage(&mission.directive)[&number] {
            crate::features::mission::model::plan::Served::By(steps) => {
                steps.iter().map(|step| step.title.clone()).collect::<Vec<_>>().join(", ")
            }
            other => format!("{other:?}"),
        };
        assert_eq!((1..=6).map(by).collect::<Vec<_>>(), ["Cart, Pay", "Cart", "Cart", "Cart", "Pay", "Pay"]);
    }

    #[test]
    fn a_document_of_too_many_sections_is_divided_more_coarsely() {
        let sections = (0..20).map(|section| format!("## S{section}\nx\n")).collect::<Vec<_>>().concat();
        let text = (0..5).map(|chapter| format!("# Chapter {chapter}\n{sections}")).collect::<Vec<_>>().concat();
        let found = titles(&text);
        assert_eq!(found.len(), 5);
        assert_eq!(found.iter().map(|(_, numbers)| numbers.len()).sum::<usize>(), 5 + 5 * 40);
    }
}
