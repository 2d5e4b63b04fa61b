//! Decisions: who answers a message, written together with all that follows from it.

use chrono::{DateTime, Utc};

use super::asks::insert_asks;
use super::outbox::insert_outbound;
use super::turns::insert_turns;
use crate::domain::ask::Ask;
use crate::domain::decision::Decision;
use crate::domain::ids::{MeetingId, MessageId};
use crate::domain::meeting::{Meeting, Seat};
use crate::domain::outbound::OutboundMessage;
use crate::domain::turn::Turn;
use crate::store::Store;
use crate::store::engine::{document, sql};
use crate::store::error::Result;
use crate::store::meeting::{ask_wrap, finish_seat, insert_meeting};

/// A decision and what follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// The burst that it is about; the first is the one that the turns answer.
    pub messages: &'a [MessageId],
    pub decision: &'a Decision,
    /// In the order in which they are to run.
    pub turns: &'a [Turn],
    pub asks: &'a [Ask],
    /// Notices that go with the decision.
    pub outbox: &'a [OutboundMessage],
    /// What it does to a meeting.
    pub meeting: Option<MeetingStep<'a>>,
    pub at: DateTime<Utc>,
}

/// What a person's message does to a meeting.
#[derive(Debug, Clone, Copy)]
pub enum MeetingStep<'a> {
    /// Calls it; nothing is stored where one was called a moment ago.
    Call(&'a Meeting),
    /// Brings it to its end.
    Wrap(&'a MeetingId),
    /// Is the report of the person in this seat.
    Report(&'a Seat),
}

impl Store {
    /// Stores a decision with its turns, asks and notices. False, and nothing is stored, when one of the messages is decided on
    /// already or was never claimed.
    pub async fn decide(&self, decided: &Decided<'_>) -> Result<bool> {
        let Some(first) = decided.messages.first() else { return Ok(false) };
        let mut transaction = self.db().begin().await?;
        let decision = document(decided.decision);
        for message in decided.messages {
            let changed = sql!(
                transaction.on(),
                execute,
                "UPDATE inbox SET decision = $2, decided_at = $3, burst = $4 WHERE id = $1 AND decided_at IS NULL",
                message.as_str(),
                decision.as_str(),
                decided.at,
                first.as_str()
            )?;
            if changed == 0 {
                return Ok(false);
            }
        }
        insert_turns(&mut transaction, decided.turns).await?;
        insert_asks(&mut transaction, decided.asks).await?;
        insert_outbound(&mut transaction, decided.outbox, Some(first), decided.at).await?;
        match decided.meeting {
            Some(MeetingStep::Call(meeting)) => {
                insert_meeting(&mut transaction, meeting).await?;
            }
            Some(MeetingStep::Wrap(meeting)) => {
                ask_wrap(&mut transaction, meeting, decided.at).await?;
            }
            Some(MeetingStep::Report(seat)) => {
                finish_seat(&mut transaction, seat, &[], decided.at).await?;
            }
            None => {}
        }
        transaction.commit().await?;
        Ok(true)
    }
}
