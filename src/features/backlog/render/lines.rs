//! Announces an item's end in one line.

use crate::features::backlog::model::WorkItem;
use kernel::chat::medium::Medium;
use kernel::persona::roster::Roster;

use crate::features::backlog::render::labels;

/// The lengths of the parts. An outcome is a whole sentence or two.
const WHAT: usize = 110;
const OUTCOME: usize = 400;
const EVIDENCE: usize = 50;

/// Shown if no reason is stored.
const NO_REASON: &str = "no reason given";

/// Who did what, with result and evidence.
pub fn render_done(item: &WorkItem, roster: &Roster) -> String {
    let outcome = item.outcome.as_deref().map_or(String::new(), |outcome| format!(" — {}", Medium::Chat.line_within(outcome, OUTCOME)));
    let evidence = labels::evidence_in_short(&item.evidence, roster);
    let evidence = if evidence.is_empty() { evidence } else { format!(" — {}", Medium::Chat.line_within(&evidence, EVIDENCE)) };
    format!("✔ {}: {}{outcome}{evidence} (#{})", doer(item, roster), what(item), item.short_id())
}

/// What failed, and why.
pub fn render_failed(item: &WorkItem, roster: &Roster) -> String {
    let why = item.outcome.as_deref().unwrap_or(NO_REASON);
    format!("✖ {} failed: {} — {} (#{})", doer(item, roster), what(item), Medium::Chat.line_within(why, OUTCOME), item.short_id())
}

pub fn render_cancelled(item: &WorkItem) -> String {
    let why = item.outcome.as_deref().unwrap_or(NO_REASON);
    format!("⊘ Cancelled: {} — {} (#{})", what(item), Medium::Chat.line_within(why, OUTCOME), item.short_id())
}

/// Who did it. An item confirmed by its owner's answer was done by the owner.
fn doer(item: &WorkItem, roster: &Roster) -> String {
    labels::name(labels::name_of_owner(&item.owner, roster))
}

fn what(item: &WorkItem) -> String {
    Medium::Chat.line_within(&item.what, WHAT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample;
    use super::*;
    use crate::features::backlog::model::{Evidence, Owner};

    #[test]
    fn each_end_is_one_line() {
        let roster = kernel::testing::roster::roster();
        let done = sample::done();
        let failed = WorkItem { outcome: Some("its page was not found".to_owned()), ..sample::item() };
        let lines = [render_done(&done, &roster), render_failed(&failed, &roster), render_cancelled(&sample::item())];
        insta::assert_snapshot!(lines.join("\n"));
    }

    proptest! {
        #[test]
        fn no_line_is_over_six_hundred_and_fifty_characters(text in "([ *_@|`\n]|\\PC){0,400}") {
            let roster = kernel::testing::roster::roster();
            let item = WorkItem {
                what: text.clone(),
                owner: Owner::Person { id: "7".into(), name: text.clone() },
                outcome: Some(text.clone()),
                evidence: vec![Evidence::Reading { feed: text, at: sample::at() }; 5],
                ..sample::item()
            };
            for line in [render_done(&item, &roster), render_failed(&item, &roster), render_cancelled(&item)] {
                prop_assert!(line.chars().count() <= 650 && !line.contains('\n'), "{line:?}");
            }
        }
    }
}
