//! Cancelling missions, and taking that back. A mission with work in it is cancelled after a question; each can be taken back for an hour.

use crate::features::backlog::model::Wait;
use crate::features::backlog::service::Asker;
use crate::features::backlog::store::{RESTORABLE, Restored, find_root, restore_in};
use crate::features::mission::model::{Mission, MissionStatus};
use crate::features::mission::render;
use crate::features::mission::service::{MissionError, Missions, actor_of, check_may_change, just_changed, named, refused};
use crate::features::mission::store::{MissionChange, change_mission};
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};

/// What came of a wish to cancel a mission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancelling {
    Ended,
    /// There is work in it, so the person was asked with buttons.
    Asked,
}

impl Missions {
    /// Cancels a mission. Asks first if there is work in it and the caller is not sure.
    pub(super) async fn cancel(&self, mission: &Mission, is_sure: bool, asker: &Asker) -> Result<Cancelling, MissionError> {
        check_may_change(mission, asker)?;
        if mission.status.is_over() {
            return Err(refused(format!("{} is over already: it is {}.", named(mission), mission.status.as_str())));
        }
        if !is_sure && self.store().has_work(&mission.id).await? {
            if let Some(question) = self.ask_cancel(mission, asker) {
                self.store().enqueue_once(&question, self.clock().now()).await?;
            }
            return Ok(Cancelling::Asked);
        }
        self.cancel_now(mission, asker).await?;
        Ok(Cancelling::Ended)
    }

    /// Ends a mission with all its steps. Its job reports what was done until then.
    async fn cancel_now(&self, mission: &Mission, asker: &Asker) -> Result<(), MissionError> {
        if self.store().find_item(&mission.id).await?.is_some() {
            self.store().cancel_item(&mission.id, asker.name(), &[], self.clock().now()).await?;
            return Ok(());
        }
        let why = format!("cancelled by {}", asker.name());
        let told = [render::cancelled(mission, asker.name(), self.roster())];
        let change = MissionChange { status: Some(MissionStatus::Cancelled), why: Some(&why), outbox: &told, ..MissionChange::default() };
        self.change(mission, &change, asker).await
    }

    /// Takes the cancellation of a mission back, or that of a step with which it ended.
    pub(super) async fn restore(&self, mission: &Mission, asker: &Asker) -> Result<(), MissionError> {
        check_may_change(mission, asker)?;
        let now = self.clock().now();
        let mut transaction = self.store().db().begin().await?;
        let status = if self.store().find_item(&mission.id).await?.is_some() {
            let Some(root) = find_root(&mut transaction, &mission.id, now).await? else { return Err(too_late(mission)) };
            let restored = Box::pin(restore_in(&mut transaction, &root, asker.name(), now)).await?;
            let Restored::Back(items) = restored else { return Err(too_late(mission)) };
            let was_paused = items.iter().any(|item| item.wait == Some(Wait::Paused));
            if was_paused { MissionStatus::Paused } else { MissionStatus::Running }
        } else if mission.status != MissionStatus::Cancelled || now - mission.updated_at > RESTORABLE {
            return Err(too_late(mission));
        } else if mission.plan.is_some() {
            MissionStatus::Proposed
        } else {
            MissionStatus::Planning
        };
        let told = [render::restored(mission, status, asker.name(), self.roster())];
        let actor = actor_of(asker);
        let change = MissionChange { status: Some(status), outbox: &told, by: actor.as_ref(), ..MissionChange::default() };
        if !change_mission(&mut transaction, mission, &change, now).await? {
            return Err(just_changed(mission));
        }
        Ok(transaction.commit().await?)
    }

    /// The question with buttons, where the person is. None at the command line.
    fn ask_cancel(&self, mission: &Mission, asker: &Asker) -> Option<OutboundMessage> {
        let Asker::Person { id, channel: Some(channel), .. } = asker else { return None };
        let (by, text) = (&self.roster().coordinator().slug, render::ask_cancel(mission));
        let message = match channel {
            // Not every persona can post in a direct conversation.
            Channel { place: Place::Direct, .. } => OutboundMessage::direct(by, id, OutboundKind::Notice, text),
            Channel { id, .. } => OutboundMessage::new(by, id, OutboundKind::Notice, text),
        };
        Some(OutboundMessage { buttons: render::confirm_buttons(mission), ..message })
    }
}

fn too_late(mission: &Mission) -> MissionError {
    refused(format!(
        "{} was not cancelled within the last hour, or has changed since, so there is nothing to take back. `/mission retry` does it again.",
        named(mission)
    ))
}
