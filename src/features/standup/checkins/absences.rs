//! Takes what people say about being away, in the chat or by `/standup away` and `/standup back`.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::standup::absence::{Absence, Span, find_absence, find_absence_within, read_span};
use crate::features::standup::checkins::opting::person_of;
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::store::AbsenceChange;
use crate::features::standup::{StandupTerms, render};
use crate::store::Store;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::{CommandCall, CommandReply, refuse};
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, UserId};
use kernel::persona::roster::Roster;
use kernel::when::WhenError;

/// Where the sentence may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::features::standup) enum Part {
    /// The message says nothing else.
    Whole,
    /// The message is a report, of which it may be one sentence.
    OfReport,
}

/// The confirmation and the change if a message says that its author is away or back. None otherwise, and if the author is back who was not away.
pub(in crate::features::standup) async fn note_absence(
    store: &Store,
    terms: &StandupTerms,
    roster: &Roster,
    message: &InboundMessage,
    (persona, part): (&PersonaSlug, Part),
    now: DateTime<Utc>,
) -> Result<Option<Taken>, StoreError> {
    let find = if part == Part::Whole { find_absence } else { find_absence_within };
    let (id, name) = (&message.author.id, &message.author.name);
    let (told, change) = match find(&message.text, roster, now, terms.zone) {
        None => return Ok(None),
        Some(Err(question)) => (question.to_string(), None),
        Some(Ok(Absence::Away(span))) => {
            let (told, change) = away(store, (id, name), span, terms.zone, now).await?;
            (told, Some(change))
        }
        Some(Ok(Absence::Back)) if store.read_absence(id, now).await?.is_none() => return Ok(None),
        Some(Ok(Absence::Back)) => (render::render_back(), Some(AbsenceChange::Back(id.clone()))),
    };
    let reply = OutboundMessage {
        reply_to: Some(message.id.clone()),
        ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
    };
    let effect = change.map(|change| -> Box<dyn kernel::db::Effect> { Box::new(change) });
    Ok(Some(Taken { why: "it says that its author is away or back".to_owned(), reply: Some(reply), effect }))
}

impl StandupCommands {
    /// Takes a message to the team: where a persona would answer, in a direct conversation, and in the channel of standups.
    pub(super) async fn take_absence(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let is_direct = message.channel.place == Place::Direct;
        let is_for_team = is_direct || decision.reason == Reason::Standup || !decision.responders.is_empty();
        if !is_for_team || decision.ask.is_some() {
            return Ok(None);
        }
        let persona = match decision.responders.first() {
            _ if is_direct => &message.seen_by,
            Some(persona) => persona,
            None => &self.terms.facilitator,
        };
        note_absence(&self.store, &self.terms, &self.roster, message, (persona, Part::Whole), self.clock.now()).await
    }

    /// `/standup away`
    pub(in crate::features::standup) async fn be_away(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let (person, name) = person_of(call)?;
        let (now, zone) = (self.clock.now(), self.terms.zone);
        let span = match read_span(call.arguments.get_text("until")?, now, zone) {
            Ok(span) if span.until > now => span,
            Err(question @ (WhenError::Ask(_) | WhenError::AskDate { .. })) => refuse(question.to_string())?,
            _ => refuse(
                "until when are you away? Give a day or a time to come, such as \"Thursday\", \"3 December\", \"in two weeks\" or \"Monday to Friday\"",
            )?,
        };
        let (told, change) = away(&self.store, (person, name), span, zone, now).await?;
        self.store.change_absence(&change, now).await?;
        Ok(CommandReply::private(told))
    }

    /// `/standup back`
    pub(in crate::features::standup) async fn be_back(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let (person, _) = person_of(call)?;
        self.store.change_absence(&AbsenceChange::Back(person.clone()), self.clock.now()).await?;
        Ok(CommandReply::private(render::render_back()))
    }
}

/// The confirmation and the change for a span that a person tells. One that was told before is kept.
async fn away(
    store: &Store,
    (person, name): (&UserId, &str),
    span: Span,
    zone: Tz,
    now: DateTime<Utc>,
) -> Result<(String, AbsenceChange), StoreError> {
    let stored = store.read_absence(person, now).await?;
    let (span, other) = stored.map_or((span, None), |stored| span.join(stored, now));
    let shown = span.show(zone);
    let told = match other {
        Some(other) => render::render_away_first(&shown, &other.show(zone)),
        None => render::render_away(&shown),
    };
    let (person, name) = (person.clone(), name.to_owned());
    Ok((told, AbsenceChange::Away { person, name, from: span.from, until: span.until, reason: format!("away {shown}") }))
}
