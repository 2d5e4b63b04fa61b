//! Changes of meetings inside a larger transaction, such as a chat decision or a schedule firing.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::meeting::model::{Meeting, Seat};
use crate::features::meeting::store::meetings::{Called, ask_wrap, insert_meeting};
use crate::features::meeting::store::seats::{add_to_report, finish_seat};
use kernel::db::{Applied, Effect, Result, Transaction};
use kernel::ids::MeetingId;

/// A change of a meeting.
#[derive(Debug, Clone, PartialEq)]
pub enum MeetingChange {
    /// Call the meeting, unless the channel has an open meeting of its kind.
    Call(Box<Meeting>),
    /// End it.
    Wrap(MeetingId),
    /// Store the report of the person in this seat, or add to it until the next turn begins.
    Report(Box<Seat>),
}

/// Several writes as one.
#[derive(Debug)]
pub struct Effects(pub Vec<Box<dyn Effect>>);

#[async_trait]
impl Effect for Effects {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        let mut applied = Applied::Done;
        for effect in &self.0 {
            if let refused @ Applied::Refused(_) = effect.apply(transaction, at).await? {
                applied = refused;
            }
        }
        Ok(applied)
    }
}

#[async_trait]
impl Effect for MeetingChange {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        Ok(match self {
            Self::Call(meeting) => match insert_meeting(transaction, meeting).await? {
                Called::Opened => Applied::Done,
                Called::AlreadyOpen(running) => Applied::Refused(format!("the {} is still running", running.describe())),
            },
            Self::Wrap(meeting) => {
                ask_wrap(transaction, meeting, at).await?;
                Applied::Done
            }
            Self::Report(seat) => {
                if finish_seat(transaction, seat, &[], at).await? || add_to_report(transaction, seat, at).await? {
                    Applied::Done
                } else {
                    Applied::Refused("the meeting has gone on".to_owned())
                }
            }
        })
    }
}
