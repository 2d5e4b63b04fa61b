use std::collections::BTreeMap;

use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::plan::{LeftOut, Plan, Step};

/// How a part is covered by a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served<'a> {
    By(Vec<&'a Step>),
    LeftOut(&'a str),
    Nobody,
}

impl Plan {
    /// How each part is covered. A step that serves a heading serves everything below it, except parts with steps or a reason of their own. A heading
    /// with neither is served by the steps of the parts below it, or left out with all of them.
    pub fn coverage(&self, directive: &Directive) -> BTreeMap<usize, Served<'_>> {
        let mut itself: BTreeMap<usize, Served<'_>> = BTreeMap::new();
        for LeftOut { parts, why } in &self.left_out {
            itself.extend(parts.iter().map(|number| (*number, Served::LeftOut(why))));
        }
        for step in &self.steps {
            for number in &step.serves {
                match itself.entry(*number).or_insert(Served::Nobody) {
                    Served::By(steps) => add(steps, [step]),
                    other => *other = Served::By(vec![step]),
                }
            }
        }
        let mut coverage: BTreeMap<usize, Served<'_>> = directive.numbers().map(|number| (number, Served::Nobody)).collect();
        // A heading comes before the headings below it, which take their parts from it.
        for (number, served) in &itself {
            coverage.extend(directive.with_all_below(*number).map(|below| (below, served.clone())));
        }
        for number in directive.numbers().rev().filter(|number| directive.with_all_below(*number).count() > 1) {
            if coverage[&number] != Served::Nobody {
                continue;
            }
            let below: Vec<&Served<'_>> =
                directive.with_all_below(number).filter(|below| *below != number).map(|below| &coverage[&below]).collect();
            let mut steps = Vec::new();
            for served in &below {
                if let Served::By(found) = served {
                    add(&mut steps, found.iter().copied());
                }
            }
            let served = match below.first() {
                _ if !steps.is_empty() => Served::By(steps),
                Some(Served::LeftOut(why)) if below.iter().all(|served| matches!(served, Served::LeftOut(_))) => Served::LeftOut(why),
                _ => continue,
            };
            coverage.insert(number, served);
        }
        coverage
    }
}

/// Adds steps that are not in the list yet.
fn add<'a>(steps: &mut Vec<&'a Step>, more: impl IntoIterator<Item = &'a Step>) {
    for step in more {
        if !steps.iter().any(|known| known.item == step.item) {
            steps.push(step);
        }
    }
}
