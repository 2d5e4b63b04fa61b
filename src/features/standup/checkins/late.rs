//! A report that comes after the standup: it is kept for the next one, and its author is told so once.

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::router::{only_tells, speaks_to_a_persona};
use crate::features::meeting::model::{Meeting, MeetingState, Participant, Seat, SeatState};
use crate::features::schedule::Schedule;
use crate::features::schedule::model::JobAction;
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::model::checkin::CheckIn;
use crate::features::standup::store::KeepReport;
use crate::features::standup::{STANDUP, render};
use kernel::chat::message::{Channel, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::OutboxId;
use kernel::time::Today;

/// How long after a standup a message of somebody who was passed over is taken for the report.
const MISSED: TimeDelta = TimeDelta::hours(2);

/// How long after a standup a message of somebody who reported is taken for a part of the report.
const ADDED: TimeDelta = TimeDelta::minutes(2);

/// How many of the latest standups are looked through for that of the channel.
const LATEST: u32 = 10;

impl StandupCommands {
    /// Takes a message that nobody else would answer, that only tells something, and whose author took part in the last standup of the channel.
    pub(super) async fn take_late_report(
        &self,
        message: &InboundMessage,
        decision: &Decision,
        schedule: Option<&Schedule>,
    ) -> Result<Option<Taken>, StoreError> {
        if !decision.responders.is_empty() || decision.reason == Reason::ForOthers || !only_tells(&message.text, &self.roster) {
            return Ok(None);
        }
        let latest = self.store.list_meetings(&STANDUP, LATEST).await?;
        let Some(last) = latest.into_iter().find(|meeting| meeting.channel.id == message.channel.id) else { return Ok(None) };
        let now = self.clock.now();
        let seats = self.store.list_seats(&last.id).await?;
        let is_author = |seat: &&Seat| matches!(&seat.who, Participant::Person { id, .. } if *id == message.author.id);
        let accounts = self.store.read_accounts().await?;
        let is_late = seats.iter().find(is_author).is_some_and(|seat| is_late(&last, seat, now));
        if !is_late || speaks_to_a_persona(&message.text, &self.roster, &accounts) {
            return Ok(None);
        }
        let next = match schedule {
            Some(schedule) => find_next(schedule, &message.channel).await?,
            None => None,
        };
        let checkin = CheckIn {
            channel: message.channel.id.clone(),
            day: next.unwrap_or(now).with_timezone(&self.terms.zone).date_naive(),
            person: message.author.id.clone(),
            name: message.author.name.clone(),
            persona: self.terms.facilitator.clone(),
            post: OutboxId::new(""),
            standup_at: next.unwrap_or(now),
        };
        let is_told = self.store.has_checkin(&checkin).await?;
        let at = next.map(|next| Today { now, zone: self.terms.zone }.show(next));
        let reply = || OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(
                &self.terms.facilitator,
                &message.channel.id,
                OutboundKind::Notice,
                render::render_kept_report(at.as_deref()),
            )
        };
        let effect = KeepReport { checkin, message: message.id.clone() };
        let why = "it is a report after the standup".to_owned();
        Ok(Some(Taken { why, reply: (!is_told).then(reply), effect: Some(Box::new(effect)) }))
    }
}

fn is_late(last: &Meeting, seat: &Seat, now: DateTime<Utc>) -> bool {
    let window = if seat.state == SeatState::Skipped { MISSED } else { ADDED };
    match last.state {
        MeetingState::Closing => true,
        MeetingState::Done => last.ended_at.is_some_and(|ended| now - ended < window),
        _ => false,
    }
}

/// The next scheduled standup of a channel.
async fn find_next(schedule: &Schedule, channel: &Channel) -> Result<Option<DateTime<Utc>>, StoreError> {
    let jobs = schedule.list_planned().await?;
    let is_here = |name: &str| name == channel.id.as_str() || name.eq_ignore_ascii_case(&channel.name);
    let standups = jobs.iter().filter(|planned| planned.job.action == JobAction::named(STANDUP.as_str()));
    Ok(standups.filter(|planned| planned.job.channel.as_deref().is_some_and(is_here)).filter_map(|planned| planned.next).min())
}
