//! Reminds people of what items wait for.

use chrono::TimeDelta;

use crate::features::backlog::Work;
use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::render::Announcer;
use crate::features::backlog::store::{RequestOf, record_reminder};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::Delivery;
use kernel::jobs::{JobContext, JobError};

/// How long to wait for an earlier message that is still pending.
const UNDELIVERED: TimeDelta = TimeDelta::hours(1);

impl Work {
    /// The job of one request. It sleeps until the next reminder and ends after the last one, or when the person has answered. Each reminder is
    /// counted and put into the outbox in one transaction.
    pub(super) async fn remind_person(&self, job: &JobContext) -> Result<(), JobError> {
        let of: RequestOf = job.payload()?;
        let (deps, now) = (self.deps(), job.now());
        let Some(request) = deps.store.find_open_request(&of).await? else { return Ok(()) };
        let Some(item) = deps.store.find_item(&of.item).await? else { return Ok(()) };
        let Some(at) = request.next_reminder(item.due, &deps.settings.working_hours, deps.zone) else { return Ok(()) };
        // After the clock has jumped ahead, the person gets only one reminder, and none at night.
        job.sleep_until(deps.settings.working_hours.at_or_after(at.max(now), deps.zone))?;
        let Some(spot) = self.find_spot_for(&item, item.find_helper()).await? else { return Err(JobError::Sleep(now + UNDELIVERED)) };
        for before in [WorkItem::reminder_id_of(&item.id, item.run), WorkItem::notice_id_of(&item.id, item.run, WorkStatus::Waiting)] {
            if matches!(deps.store.find_delivery(&before).await?, Some(Delivery::Pending)) {
                return Err(JobError::Sleep(now + UNDELIVERED));
            }
        }
        let announcer = Announcer { persona: &deps.roster.coordinator().slug, spot: &spot, roster: &deps.roster };
        let message = announcer.remind_again(&item, request.is_last(item.due), now, deps.zone);
        let message = OutboundMessage { id: WorkItem::repeat_id_of(&request), ..message };
        let mut transaction = job.begin_step().await?;
        if record_reminder(&mut transaction, &request, &message, now).await? {
            transaction.commit().await?;
        }
        // The next run of the job reads how many reminders were sent.
        Err(JobError::Sleep(now + TimeDelta::minutes(1)))
    }
}
