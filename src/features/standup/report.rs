//! The Day Report put together from what was found (STAND-13).

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Owner, WorkItem};
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::Seat;
use crate::features::standup::Standup;
use crate::features::standup::closing::Findings;
use crate::features::standup::model::page::PageFeed;
use crate::features::standup::model::report::{Contributed, DayReport, FeedLine, FeedRead, ReportedAction, ReportedCall};
use kernel::db::StoreError;
use kernel::figure;

impl Standup {
    pub(super) async fn make_report(
        &self,
        session: &Session<'_>,
        found: &Findings<'_>,
        items: &[WorkItem],
        now: DateTime<Utc>,
    ) -> Result<DayReport, StoreError> {
        let meeting = session.meeting;
        let (cost, usage) = self.deps.store.spent_on(meeting.id.as_str()).await?;
        let before = found.earlier.as_ref().map(|earlier| &earlier.report);
        // What an earlier standup of the day decided still holds.
        let earlier = before.map(|before| before.actions.clone()).unwrap_or_default();
        let call = match &found.position {
            Ok(position) => Ok(ReportedCall {
                call: position.call.clone(),
                by_name: self.deps.roster.name_of(&position.call.by).to_owned(),
                terms: format!("{} (now {})", position.terms.rule.describe(), position.terms.rule.with_unit(position.terms.base)),
                expires_at: position.terms.expires_at,
            }),
            // A call that was made earlier in the day stands until another takes its place.
            Err(reason) => before.and_then(|before| before.call.clone().ok()).ok_or_else(|| reason.clone()),
        };
        Ok(DayReport {
            day: meeting.day,
            channel: meeting.channel.id.clone(),
            channel_name: meeting.channel.name.clone(),
            meeting: meeting.id.clone(),
            revision: found.earlier.as_ref().map_or(1, |earlier| earlier.report.revision + 1),
            written_at: now,
            tldr: found.conclusion.tldr.clone(),
            question: self.deps.standup.question.as_ref().map(|question| question.text.clone()),
            call,
            scoreboard: self.read_scoreboard().await?,
            contributions: session.seats.iter().map(|seat| self.contributed(seat)).collect(),
            cross_check: found.cross_check.clone(),
            changes: found.page.changes.clone(),
            moved: found.moved.clone(),
            actions: earlier.into_iter().chain(items.iter().map(|item| self.reported(item))).collect(),
            refused: found.actions.refused.clone(),
            feeds: found.page.feeds.iter().map(|feed| self.feed_line(feed)).collect(),
            cost: cost + before.map(|before| before.cost).unwrap_or_default(),
            usage: usage + before.map(|before| before.usage).unwrap_or_default(),
            seconds: (now - meeting.called_at).num_seconds().max(0).cast_unsigned(),
            model: found.conclusion.model.clone(),
        })
    }

    fn contributed(&self, seat: &Seat) -> Contributed {
        Contributed {
            who: seat.who.clone(),
            name: self.name_of(&seat.who).to_owned(),
            state: seat.state,
            text: seat.contribution.as_ref().map(|contribution| contribution.text.clone()),
            reason: seat.reason.clone(),
            signals: seat.contribution.as_ref().map(|contribution| contribution.signals.clone()).unwrap_or_default(),
        }
    }

    fn reported(&self, item: &WorkItem) -> ReportedAction {
        let owner = match &item.owner {
            Owner::Persona(slug) => self.deps.roster.name_of(slug).to_owned(),
            Owner::Person { name, .. } => name.clone(),
        };
        let WorkItem { id, what, how, why, urgency, .. } = item.clone();
        ReportedAction { item: id, what, how, why, owner, urgency }
    }

    fn feed_line(&self, page: &PageFeed) -> FeedLine {
        let outcome = page.outcome.as_ref().map_err(Clone::clone).map(|reading| FeedRead {
            source: reading.source.clone(),
            as_of: reading.as_of,
            items: reading.total,
            values: reading
                .values
                .iter()
                .map(|value| format!("{} {}", value.name, figure::amount(value.number, &value.name, &value.unit)))
                .collect(),
            note: reading.note.clone(),
        });
        FeedLine { feed: page.feed.clone(), of: page.of.iter().map(|slug| self.deps.roster.name_of(slug).to_owned()).collect(), outcome }
    }
}
