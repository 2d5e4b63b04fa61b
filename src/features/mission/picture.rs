//! The picture of a plan, for its message and for `/mission plan`.

use crate::features::backlog::model::WorkItem;
use crate::features::mission::model::plan::{Plan, Step};
use crate::features::mission::render::{DrawnStep, doer, draw_graph};
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundMessage};
use kernel::chat::redact::Redactor;
use kernel::persona::roster::Roster;
use kernel::text::one_line;

const PICTURE: &str = "plan.png";

/// Longer titles are cut, because no box can show more.
const TITLE: usize = 200;

/// Shows the picture in the card of a plan.
pub(super) async fn add_picture(message: OutboundMessage, plan: &Plan, roster: &Roster, redactor: &Redactor) -> OutboundMessage {
    let mut message = message;
    if let (Some(picture), Some(card)) = (draw_plan(plan, &[], roster, redactor).await, &mut message.card) {
        card.image = Some(picture.name.clone());
        message.files.push(picture);
    }
    message
}

/// Draws the steps with the states of their items. None if that fails, because the plan is useful without its picture.
pub(super) async fn draw_plan(plan: &Plan, items: &[WorkItem], roster: &Roster, redactor: &Redactor) -> Option<OutboundFile> {
    // The outbox cannot redact secrets in a picture.
    let in_a_line = |text: &str| one_line(&redactor.redact(text).0, TITLE);
    let describe = |step: &Step| {
        let item = items.iter().find(|item| item.id == step.item);
        DrawnStep {
            item: step.item.clone(),
            needs: step.needs.clone(),
            title: in_a_line(&step.title),
            owner: in_a_line(doer(step, roster)),
            status: item.map(|item| item.status),
            kind: step.kind.as_str(),
        }
    };
    let steps: Vec<DrawnStep> = plan.steps.iter().map(describe).collect();
    // Drawing takes tens of milliseconds of one core.
    let drawn = tokio::task::spawn_blocking(move || draw_graph(&steps)).await;
    match drawn.map_err(anyhow::Error::from).flatten() {
        Ok(bytes) => Some(OutboundFile { name: PICTURE.to_owned(), content: FileContent::Bytes(bytes) }),
        Err(error) => {
            tracing::warn!(%error, "a plan cannot be drawn");
            None
        }
    }
}
