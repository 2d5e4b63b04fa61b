use std::time::Duration;

use crate::features::backlog::Work;
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::model::{Claim, Product, WorkItem, name_of_helper};
use crate::features::backlog::render::Announcer;
use kernel::chat::outbound::OutboundMessage;

/// How long to wait for delivery before the item is put off.
const DELIVERY: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

impl Work {
    /// Posts the reminder. The message has the run's id, so a repeated run does not post it again.
    pub(crate) async fn remind(&self, assignment: &Assignment<'_>) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let Some(channel) = self.find_channel(item).await? else {
            return Ok(Outcome::Failed { why: "there is no channel for the message. Set `backlog.channel`".into() });
        };
        let id = WorkItem::reminder_id_of(&item.id, item.run);
        let announcer = Announcer { persona: &deps.roster.coordinator().slug, channel: &channel, roster: &deps.roster };
        let message = OutboundMessage { id: id.clone(), ..announcer.remind(item) };
        deps.store.enqueue_once(&message, deps.clock.now()).await?;
        let mut waited = Duration::ZERO;
        // The verifier checks delivery. Waiting here saves a second attempt.
        while waited < DELIVERY && !assignment.cancel.is_cancelled() && deps.store.find_posted(&id).await?.is_none() {
            deps.clock.sleep(LOOK).await;
            waited += LOOK;
        }
        let summary = format!("{} was notified", name_of_helper(item.find_awaited()));
        Ok(Outcome::Made(Product { summary, claims: vec![Claim::Message { outbox: id }], lesson: None, model: None }))
    }
}
