//! Puts the Day Report together from the findings (STAND-13).

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Owner, WorkItem};
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::Seat;
use crate::features::standup::Standup;
use crate::features::standup::closing::{Findings, Position};
use crate::features::standup::model::page::{PageFeed, PageReading, SharedPage};
use crate::features::standup::model::prediction::EssentialQuestion;
use crate::features::standup::model::report::{Contributed, DayReport, EarlierSummary, FeedLine, FeedRead, ReportedAction, ReportedCall};
use kernel::db::StoreError;
use kernel::figure;

/// How many entries of news and items without a time are known per feed.
const KNOWN: usize = 300;

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
        let mut feeds = Vec::new();
        for feed in found.page.list_with_material() {
            let known = match &found.last {
                Some(last) => self.find_known(&feed.feed, last).await?,
                None => Vec::new(),
            };
            feeds.push(self.feed_line(feed, &known));
        }
        // Actions of an earlier standup of the day stay valid.
        let earlier = before.map(|before| before.actions.clone()).unwrap_or_default();
        let call = match &found.position {
            Ok(Position { call, terms, settled }) => Ok(ReportedCall {
                call: call.clone(),
                by_name: self.deps.roster.name_of(&call.by).to_owned(),
                terms: format!("{} (now {})", terms.rule.describe(), terms.rule.with_unit(terms.base)),
                expires_at: terms.expires_at,
                settled: settled.clone(),
            }),
            // A call from earlier in the day stays until another one replaces it.
            Err(reason) => before.and_then(|before| before.call.clone().ok()).ok_or_else(|| reason.clone()),
        };
        Ok(DayReport {
            day: meeting.day,
            channel: meeting.channel.id.clone(),
            channel_name: meeting.channel.name.clone(),
            meeting: meeting.id.clone(),
            revision: found.earlier.as_ref().map_or(1, |earlier| earlier.report.revision + 1),
            written_at: now,
            read_at: Some(found.page.read_at),
            zone: self.deps.terms.zone,
            tldr: found.conclusion.tldr.clone(),
            earlier: before.map(list_earlier).unwrap_or_default(),
            question: self.asked_on(found.page).map(|question| question.text.clone()),
            call,
            scoreboard: self
                .read_scoreboard_with(found.position.as_ref().ok().and_then(|position| position.prediction(meeting, now)))
                .await?,
            contributions: session.seats.iter().map(|seat| self.contributed(seat)).collect(),
            people: found.page.people.clone(),
            cross_check: found.cross_check.clone(),
            changes: found.page.changes.clone(),
            moved: found.moved.clone(),
            actions: earlier.into_iter().chain(items.iter().map(|item| self.reported(item))).collect(),
            refused: found.actions.refused.clone(),
            feeds,
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

    /// The essential question, unless it is the built-in one and the page has no such value.
    fn asked_on(&self, page: &SharedPage) -> Option<&EssentialQuestion> {
        let question = self.deps.standup.question.as_ref()?;
        (!question.optional || page.find_value(&question.feed, &question.value).is_some()).then_some(question)
    }

    fn feed_line(&self, page: &PageFeed, known: &[String]) -> FeedLine {
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
            numbers: reading.values.clone(),
            known: list_known(reading, known),
        });
        FeedLine { feed: page.feed.clone(), of: page.of.iter().map(|slug| self.deps.roster.name_of(slug).to_owned()).collect(), outcome }
    }
}

/// The summaries of the earlier revisions of the day.
fn list_earlier(before: &DayReport) -> Vec<EarlierSummary> {
    let replaced = EarlierSummary { at: before.written_at, tldr: before.tldr.clone() };
    before.earlier.iter().cloned().chain([replaced]).collect()
}

/// The news and the items without a time, beginning with today's.
fn list_known(reading: &PageReading, before: &[String]) -> Vec<String> {
    let undated = reading.items.iter().filter(|item| item.at.is_none()).map(|item| &item.reference);
    let mut known: Vec<String> = Vec::new();
    for reference in reading.seen.iter().chain(undated).chain(before) {
        if !known.contains(reference) {
            known.push(reference.clone());
        }
    }
    known.truncate(KNOWN);
    known
}
