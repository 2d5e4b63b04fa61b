//! Changes of meetings as part of a larger transaction: a decision on a message, a job that fires.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::meeting::model::{Meeting, Seat};
use crate::features::meeting::store::meetings::{Called, ask_wrap, insert_meeting};
use crate::features::meeting::store::seats::finish_seat;
use kernel::db::{Applied, Effect, Result, Transaction};
use kernel::ids::MeetingId;
use kernel::wakeup::Wakeup;

/// What is done to a meeting.
#[derive(Debug, Clone, PartialEq)]
pub enum MeetingChange {
    /// It is called, unless one is open in its channel.
    Call(Box<Meeting>),
    /// It is brought to its end.
    Wrap(MeetingId),
    /// The person in this seat reports.
    Report(Box<Seat>),
}

/// A change of a meeting, and who is woken up by it.
#[derive(Debug, Clone)]
pub struct MeetingEffect {
    pub change: MeetingChange,
    pub wakeup: Wakeup,
}

#[async_trait]
impl Effect for MeetingEffect {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        Ok(match &self.change {
            MeetingChange::Call(meeting) => match insert_meeting(transaction, meeting).await? {
                Called::Opened => Applied::Done,
                Called::AlreadyOpen(running) => Applied::Refused(format!("the {} is still running", running.describe())),
            },
            MeetingChange::Wrap(meeting) => {
                ask_wrap(transaction, meeting, at).await?;
                Applied::Done
            }
            MeetingChange::Report(seat) => {
                finish_seat(transaction, seat, &[], at).await?;
                Applied::Done
            }
        })
    }

    fn committed(&self) {
        self.wakeup.wake();
    }
}
