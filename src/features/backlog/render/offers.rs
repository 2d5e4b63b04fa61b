//! The buttons with which a person can decide about an item now, for a page that has no messages.

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{Execution, Wait, WorkItem, WorkStatus};
use crate::features::backlog::render::approval::approval_buttons;
use crate::features::backlog::render::decisions::{
    anyway_buttons, budget_buttons, cancel_button, decision_buttons, kind_buttons, review_buttons,
};
use crate::features::backlog::render::messages::button;
use crate::features::backlog::render::requests::{answer_buttons, help_buttons, word_buttons};
use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::llm::budget::Budgets;

/// What the buttons depend on besides the item.
#[derive(Debug, Clone, Copy)]
pub struct OfferFacts<'a> {
    /// There is a result that could be accepted.
    pub has_result: bool,
    /// It consists of other items.
    pub has_parts: bool,
    /// It was cancelled, and that can be taken back.
    pub can_be_restored: bool,
    /// Say by how much a limit is raised.
    pub budgets: &'a Budgets,
}

/// The buttons of an item. Every item that is not over can be cancelled.
pub fn list_offers(item: &WorkItem, facts: &OfferFacts<'_>) -> Vec<Button> {
    let mut buttons = match (item.status, &item.wait) {
        (WorkStatus::Waiting, Some(wait)) => list_for_wait(item, wait, facts),
        (WorkStatus::InReview, _) => review_buttons(item, facts.has_parts),
        (WorkStatus::Failed | WorkStatus::Cancelled, _) => {
            let restore =
                facts.can_be_restored.then(|| button(&WorkButton::Restore(item.id.clone()), "Take it back", ButtonStyle::Primary));
            restore.into_iter().chain([button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Primary)]).collect()
        }
        _ => Vec::new(),
    };
    let cancel = cancel_button(item);
    if !item.status.is_over() && !buttons.contains(&cancel) {
        buttons.push(cancel);
    }
    buttons
}

/// Whether an answer in words ends the item's wait.
pub fn takes_answer(item: &WorkItem) -> bool {
    item.status == WorkStatus::Waiting && matches!(item.wait, Some(Wait::Answer { .. } | Wait::Help { .. }))
}

fn list_for_wait(item: &WorkItem, wait: &Wait, facts: &OfferFacts<'_>) -> Vec<Button> {
    match wait {
        Wait::Answer { .. } if matches!(item.execution, Some(Execution::Ask { .. })) => answer_buttons(item),
        Wait::Answer { .. } => word_buttons(item),
        Wait::Help { .. } => help_buttons(item),
        Wait::Approval { approval } => approval_buttons(approval),
        Wait::Budget { refused, .. } => budget_buttons(item, refused, facts.budgets.step(&refused.limit)),
        Wait::Duplicate { .. } => anyway_buttons(item),
        Wait::Kind { .. } => kind_buttons(item),
        Wait::Model | Wait::Replan { .. } | Wait::Paused => Vec::new(),
        Wait::Decision { .. } => decision_buttons(item, facts.has_result),
    }
}
