//! Cancelling items, and taking that back. What has work in it is cancelled after a question; everything can be taken back for an hour.

use crate::features::backlog::model::{Wait, WorkItem, WorkStatus, short_id};
use crate::features::backlog::render::{OfferFacts, Spot, list_offers};
use crate::features::backlog::service::changing::{moved, named, over};
use crate::features::backlog::service::{Asker, Backlog, BacklogError, refused};
use crate::features::backlog::store::{Ended, Restored, restore_in};
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;

/// What came of a wish to cancel an item.
#[derive(Debug)]
pub enum Cancelling {
    Ended(Box<Ended>),
    /// There is work in it. The person was asked with buttons, or is to press again where no message can be posted.
    Asked(Box<WorkItem>),
}

impl Backlog {
    /// Cancels an item. Items that need it fail. Asks first if there is work in it and the caller is not sure.
    ///
    /// # Errors
    /// It is over already, or the caller may not change it.
    pub async fn cancel(&self, id: &str, is_sure: bool, asker: &Asker) -> Result<Cancelling, BacklogError> {
        let item = self.get_own(id, asker).await?;
        self.cancel_or_ask(item, is_sure, asker).await
    }

    /// As [`Self::cancel`], for somebody who may.
    pub(super) async fn cancel_or_ask(&self, item: WorkItem, is_sure: bool, asker: &Asker) -> Result<Cancelling, BacklogError> {
        if item.status.is_over() {
            return Err(refused(over(&item)));
        }
        if is_sure || !self.deps.store.has_work(&item.id).await? {
            return Ok(Cancelling::Ended(Box::new(self.cancel_item(&item, asker).await?)));
        }
        if let Some(spot) = asker.find_spot() {
            self.deps.store.enqueue_once(&self.announcer(&spot).ask_cancel(&item), self.now()).await?;
        }
        Ok(Cancelling::Asked(Box::new(item)))
    }

    pub(super) async fn cancel_item(&self, item: &WorkItem, asker: &Asker) -> Result<Ended, BacklogError> {
        if item.status.is_over() {
            return Err(refused(over(item)));
        }
        let cancelled = WorkItem { outcome: Some(format!("{} cancelled it", asker.name())), ..item.clone() };
        let spot = self.find_spot(item, asker).await?;
        let said: Vec<OutboundMessage> = spot.map(|spot| self.announcer(&spot).announce_cancelled(&cancelled)).into_iter().collect();
        let ended = self.deps.store.cancel_item(&item.id, asker.name(), &said, self.now()).await?;
        let Some(ended) = ended else { return Err(moved(&self.read(item).await?)) };
        Ok(ended)
    }

    /// Takes the cancellation of an item back, with all that failed because of it. Returns the items that go on, it first.
    ///
    /// # Errors
    /// It was not cancelled, or too long ago, or the caller may not change it.
    pub async fn restore(&self, id: &str, asker: &Asker) -> Result<Vec<WorkItem>, BacklogError> {
        let item = self.get_own(id, asker).await?;
        self.restore_item(&item, asker).await
    }

    pub(super) async fn restore_item(&self, item: &WorkItem, asker: &Asker) -> Result<Vec<WorkItem>, BacklogError> {
        let store = &self.deps.store;
        if item.status != WorkStatus::Cancelled {
            let status = item.status.as_str().replace('_', " ");
            return Err(refused(format!("{} is {status}, so there is no cancellation to take back", named(item))));
        }
        if let Some(mission) = store.find_mission_ended_with(&item.id).await? {
            let mission = short_id(&mission);
            return Err(refused(format!("{} ended with its mission. `/mission restore id:{mission}` takes that back", named(item))));
        }
        let has_result = store.find_product(&item.id).await?.is_some();
        let has_parts = !store.list_parts(&item.id).await?.is_empty();
        let spot = self.find_spot(item, asker).await?;
        let mut transaction = store.db().begin().await?;
        let mut back = match Box::pin(restore_in(&mut transaction, &item.id, asker.name(), self.now())).await? {
            Restored::Back(back) => back,
            Restored::TooLate => {
                return Err(refused(format!(
                    "{} was cancelled more than an hour ago, or has changed since. `/backlog retry` does it again",
                    named(item)
                )));
            }
            Restored::InWhatIsOver => {
                return Err(refused(format!("{} cannot come back, because what it was a part of is over", named(item))));
            }
        };
        back.sort_by_key(|other| other.id != item.id);
        if let Some(asks) = spot.and_then(|spot| self.ask_again(&back[0], &spot, has_result, has_parts)) {
            insert_outbound(&mut transaction, &[asks], None, self.now()).await?;
        }
        transaction.commit().await?;
        Ok(back)
    }

    /// The question that an item waits for again. Its buttons may be gone from the earlier message.
    fn ask_again(&self, item: &WorkItem, spot: &Spot, has_result: bool, has_parts: bool) -> Option<OutboundMessage> {
        if item.status != WorkStatus::Waiting || !item.wait.as_ref().is_some_and(Wait::is_for_people) {
            return None;
        }
        let offers = list_offers(item, &OfferFacts { has_result, has_parts, can_be_restored: false, budgets: &self.deps.budgets });
        Some(self.announcer(spot).announce_restored(item, offers))
    }
}

impl Asker {
    /// Where the person can be asked something with buttons. None at the command line and on the page.
    fn find_spot(&self) -> Option<Spot> {
        match self {
            // Not every persona can post in a direct conversation.
            Self::Person { id, channel: Some(Channel { place: Place::Direct, .. }), .. } => Some(Spot::Direct(id.clone())),
            Self::Person { channel: Some(channel), .. } => Some(Spot::Channel(channel.id.clone())),
            Self::Person { channel: None, .. } | Self::CommandLine | Self::KanbanPage => None,
        }
    }
}
