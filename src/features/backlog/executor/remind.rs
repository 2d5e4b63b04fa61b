use crate::features::backlog::Work;
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::model::{Blocker, Execution, Owner, Wait, WorkItem, name_of_helper};
use crate::features::backlog::render::Announcer;
use kernel::chat::outbound::OutboundMessage;

impl Work {
    /// Asks or tells a person. The message and the wait for the answer are stored together, so a reply never comes before the item waits for it.
    pub(crate) async fn remind(&self, assignment: &Assignment<'_>) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let Some(spot) = self.find_spot_for(item, item.find_awaited()).await? else {
            return Ok(Outcome::Failed { blocker: Blocker::NeedsInput, why: NO_CHANNEL.into() });
        };
        let announcer = Announcer { persona: &deps.roster.coordinator().slug, spot: &spot, roster: &deps.roster };
        let message = match &item.execution {
            Some(Execution::Ask { whom: Owner::Person { .. }, question, .. }) => announcer.ask_person(item, question, deps.zone),
            _ => announcer.remind(item, deps.zone),
        };
        let message = OutboundMessage { id: WorkItem::reminder_id_of(&item.id, item.run), ..message };
        let wait = Wait::Answer { of: name_of_helper(item.find_awaited()).to_owned() };
        Ok(Outcome::Told { wait, message: Box::new(message) })
    }
}

/// Why nobody can be told.
pub(crate) const NO_CHANNEL: &str = "there is no channel to ask or tell anybody in. Set `backlog.channel` to the name of one";
