//! What a person's message does to a standup: calls it, brings it to its end, or is the person's own report in it (STAND-1, STAND-6).

use crate::conversation::Conversation;
use crate::conversation::rules::standup_phrase::{StandupPhrase, find_standup_phrase};
use crate::domain::decision::{Decision, Reason};
use crate::domain::meeting::{CalledBy, Contribution, Meeting, Seat, SeatState};
use crate::domain::message::{AuthorKind, InboundMessage};
use crate::domain::outbound::OutboundMessage;
use crate::domain::report::DayReport;
use crate::domain::signal::{self, flatten};
use crate::domain::usage::TokenUsage;
use crate::store::{MeetingStep, StoreError};

/// The most characters of a person's report, which is the most that a persona may be allowed.
const LONGEST_REPORT: usize = 1200;

/// The most characters of a line of the report that is quoted.
const LINE: usize = 300;

/// What a message wants of a standup.
pub(super) enum Wish {
    Call(Box<Meeting>),
    /// It calls one while one is running.
    CallAgain(Box<Meeting>),
    Wrap(Box<Meeting>),
    /// It asks for the end of one where none is running: for today's report, if there is one.
    Show(Option<Box<DayReport>>),
    Report(Box<Seat>),
}

impl Wish {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Call(_) | Self::CallAgain(_) => Reason::StandupCalled,
            Self::Wrap(_) | Self::Show(_) => Reason::StandupWrapped,
            Self::Report(_) => Reason::StandupReport,
        }
    }

    pub(super) fn step(&self) -> Option<MeetingStep<'_>> {
        match self {
            Self::Call(meeting) => Some(MeetingStep::Call(meeting)),
            Self::Wrap(meeting) => Some(MeetingStep::Wrap(&meeting.id)),
            Self::Report(seat) => Some(MeetingStep::Report(seat)),
            Self::CallAgain(_) | Self::Show(_) => None,
        }
    }
}

impl Conversation {
    /// Whether a text is a phrase that steers standups; what waits for more of a burst need not wait for these.
    pub(super) fn find_phrase(&self, message: &InboundMessage) -> Option<StandupPhrase> {
        let coordinator = self.parts().roster.coordinator();
        let names = std::iter::once(&coordinator.name).chain(&coordinator.aliases).map(String::as_str);
        let by_person = message.author.kind == AuthorKind::Person && message.attachments.is_empty();
        by_person.then(|| find_standup_phrase(&message.text, names)).flatten()
    }

    /// What a message that the coordinator would answer in a standup channel wants of a standup, if anything. A person whose report is awaited
    /// gives it in any channel.
    pub(super) async fn find_wish(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Wish>, StoreError> {
        let parts = self.parts();
        if message.author.kind != AuthorKind::Person || decision.responders.is_empty() && decision.reason != Reason::Silence {
            return Ok(None);
        }
        let channel = &message.channel.id;
        if decision.reason == Reason::Standup
            && let Some(phrase) = self.find_phrase(message)
        {
            let running = parts.store.find_open_meeting(channel).await?.map(Box::new);
            let now = parts.clock.now();
            return Ok(Some(match (phrase, running) {
                (StandupPhrase::Start, Some(running)) => Wish::CallAgain(running),
                (StandupPhrase::Start, None) => {
                    let (id, name) = (message.author.id.clone(), message.author.name.clone());
                    let by = CalledBy::Person { id, name, message: Some(message.id.clone()) };
                    Wish::Call(Box::new(parts.standup.call(message.channel.clone(), by, now)))
                }
                (StandupPhrase::Wrap, Some(running)) => Wish::Wrap(running),
                (StandupPhrase::Wrap, None) => {
                    let today = now.with_timezone(&parts.standup.zone).date_naive();
                    Wish::Show(parts.store.find_report(channel, today).await?.map(|stored| Box::new(stored.report)))
                }
            }));
        }
        let seat = parts.store.find_asked_person(channel, &message.author.id).await?;
        Ok(seat.filter(|_| !message.text.trim().is_empty()).map(|seat| Wish::Report(Box::new(self.report_of(seat, message)))))
    }

    fn report_of(&self, seat: Seat, message: &InboundMessage) -> Seat {
        let contribution = Contribution {
            text: signal::cut_at_sentence(message.text.trim(), LONGEST_REPORT),
            signals: Vec::new(),
            model: None,
            usage: TokenUsage::default(),
            partial: false,
            problems: Vec::new(),
        };
        let state = if signal::is_quiet(&contribution.text) { SeatState::Quiet } else { SeatState::Spoke };
        Seat { state, contribution: Some(contribution), ended_at: Some(self.parts().clock.now()), ..seat }
    }

    /// What is said to it at once; the meeting itself says the rest.
    pub(super) fn answer_wish(&self, wish: &Wish, message: &InboundMessage) -> Option<OutboundMessage> {
        let text = match wish {
            Wish::Call(_) | Wish::Wrap(_) | Wish::Report(_) => return None,
            Wish::CallAgain(running) => format!(
                "The standup that {} called at {} is still running. \"Wrap up\" brings it to its end.",
                running.called_by.describe(),
                running.called_at.format("%H:%M UTC")
            ),
            Wish::Show(None) => "No standup is running, and there is no report of today. \"Start the standup\" makes one.".to_owned(),
            Wish::Show(Some(report)) => {
                format!(
                    "No standup is running. Today's report in short; `/report today` shows all of it.\n{}",
                    report.tldr.iter().map(|line| flatten(line, LINE)).collect::<Vec<_>>().join("\n")
                )
            }
        };
        Some(Self::notice(&self.parts().roster.coordinator().slug, &message.channel.id, text))
    }
}
