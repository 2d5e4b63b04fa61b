//! The kickoff. It is posted before any slow step, so it only reads the database (STAND-2).

use crate::features::meeting::agenda::Opening;
use crate::features::meeting::model::{Meeting, Participant, Seat};
use crate::features::standup::model::prediction::{Prediction, Scoreboard};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::db::StoreError;

use crate::features::standup::absence::show_until;
use crate::features::standup::render::Kickoff;
use crate::features::standup::{Standup, render, say};

/// How many calls the scoreboard covers.
pub(super) const CALLS: u32 = 1000;

impl Standup {
    pub(super) async fn open_standup(&self, meeting: &Meeting) -> anyhow::Result<Opening> {
        let mut speakers = self.list_speakers();
        let absent = self.deps.store.list_absent(self.deps.clock.now()).await?;
        let find_absent = |who: &Participant| match who {
            Participant::Person { id, .. } => absent.iter().find(|(person, _)| person == id),
            _ => None,
        };
        let zone = self.deps.terms.zone;
        let away: Vec<String> = speakers
            .iter()
            .filter_map(|who| Some(format!("{} (until {})", self.name_of(who), show_until(find_absent(who)?.1, zone))))
            .collect();
        speakers.retain(|who| find_absent(who).is_none());
        let scoreboard = self.read_scoreboard().await?;
        let order: Vec<String> = speakers.iter().map(|who| self.name_of(who).to_owned()).collect();
        let text = render::render_kickoff(&Kickoff {
            day: meeting.day,
            facilitator: self.deps.roster.name_of(&meeting.facilitator),
            order: &order,
            away: &away,
            question: self.find_question().await.map(|question| question.text.as_str()),
            scoreboard: &scoreboard,
            offline: self.deps.agents.is_offline(),
            called_by: &meeting.called_by,
        });
        Ok(Opening { participants: speakers, outbox: vec![say(meeting, OutboundKind::Report, text)] })
    }

    pub(super) async fn read_scoreboard(&self) -> Result<Scoreboard, StoreError> {
        self.read_scoreboard_with(None).await
    }

    /// The scoreboard, including a call that is about to be stored.
    pub(super) async fn read_scoreboard_with(&self, made: Option<Prediction>) -> Result<Scoreboard, StoreError> {
        let known = self.deps.store.list_predictions(CALLS).await?;
        Ok(Scoreboard::of(&known.into_iter().chain(made).collect::<Vec<_>>(), self.deps.clock.now()))
    }

    /// Asks a person by mention, with a deadline (STAND-6).
    pub(super) fn invite_person(&self, meeting: &Meeting, seat: &Seat) -> Vec<OutboundMessage> {
        let Participant::Person { id, .. } = &seat.who else { return Vec::new() };
        let until = self.deps.clock.now() + self.deps.standup.human_deadline;
        let text = format!(
            "{}, your report, please: your next message here is it. I go on at {}.",
            Mention(id),
            self.deps.roster.today(self.deps.clock.now()).show(until)
        );
        vec![OutboundMessage { pings: vec![id.clone()], ..say(meeting, OutboundKind::Notice, text) }]
    }
}
