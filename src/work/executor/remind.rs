//! Somebody is told (WORK-6).

use std::time::Duration;

use super::{Assignment, Outcome};
use crate::domain::ids::OutboxId;
use crate::domain::outbound::OutboundMessage;
use crate::domain::work::{Claim, Execution, Product};
use crate::work::Work;
use crate::work::render::{Voice, name_of_owner};

/// For how long the message is waited for; afterwards it is looked at again later.
const DELIVERY: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

impl Work {
    /// Posts the reminder once, however often the run is begun: its id is that of the run.
    pub(in crate::work) async fn remind(&self, assignment: &Assignment<'_>) -> anyhow::Result<Outcome> {
        let (parts, item) = (self.parts(), assignment.item);
        let Some(channel) = self.find_channel(item).await? else {
            return Ok(Outcome::Failed { why: "there is no channel to say it in; set `backlog.channel`".into() });
        };
        let id = OutboxId::new(format!("work-{}-{}", item.id, item.run));
        let answer = !matches!(item.execution, Some(Execution::Remind { answer: false }));
        let voice = Voice { persona: &parts.roster.coordinator().slug, channel: &channel, roster: &parts.roster };
        let message = OutboundMessage { id: id.clone(), ..voice.remind(item, answer) };
        parts.store.enqueue_once(&message, parts.clock.now()).await?;
        self.send_soon(Some(&channel));
        let mut waited = Duration::ZERO;
        // Whether it arrived is the verifier's to say; here it is only waited for, so that it need not come back.
        while waited < DELIVERY && !assignment.cancel.is_cancelled() && parts.store.find_posted(&id).await?.is_none() {
            parts.clock.sleep(LOOK).await;
            waited += LOOK;
        }
        let summary = format!("{} was told", name_of_owner(&item.owner, &parts.roster));
        Ok(Outcome::Made(Product { summary, claims: vec![Claim::Message { outbox: id }], lesson: None, model: None }))
    }
}
