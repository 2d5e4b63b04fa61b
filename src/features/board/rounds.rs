//! Whether there is another round, and who speaks in it. Code decides it by what was said.

use std::collections::BTreeMap;

use anyhow::Context as _;
use chrono::{DateTime, Utc};

use crate::features::board::model::convergence::find_end;
use crate::features::board::model::members::{FEWEST, find_speaker};
use crate::features::board::model::{Board, BoardRecord, Discussion, Ending, Member};
use crate::features::board::store::{end_by_itself, record_comments};
use crate::features::board::{Boards, render};
use crate::features::meeting::agenda::{Round, Session};
use crate::features::meeting::model::{Meeting, Participant, Seat, SeatState};
use kernel::ids::PersonaSlug;
use kernel::money::Money;

impl Boards {
    pub(super) async fn open_round(&self, session: &Session<'_>) -> anyhow::Result<Option<Round>> {
        let meeting = session.meeting;
        let board: Board = meeting.read_payload()?;
        let discussion = self.read_discussion(meeting, session.seats).await?;
        record_comments(session.run.job(), &meeting.id, &discussion.comments, self.clock.now()).await?;
        // A member whose file is gone keeps one turn, in which people are told about it.
        let was_skipped = |who: &Participant| session.seats.iter().any(|seat| seat.who == *who && seat.state == SeatState::Skipped);
        let mut there: Vec<Participant> = board.members.iter().map(Member::participant).collect();
        there.retain(|who| find_speaker(who, &self.roster).is_some() || !was_skipped(who));
        let (rounds, unread) = loop {
            let record = self.store.find_board(&meeting.id).await?.context("the row of the board meeting is missing")?;
            let rounds = board.rounds + record.extra_rounds;
            // All members read a new remark before the meeting ends by itself.
            let unread = self.store.has_unread_remark(&meeting.id).await?;
            let ending = match find_end(&discussion, board.round, board.threshold) {
                _ if self.agents.is_offline() || is_composed(session.seats, board.round) => Some(Ending::NoModel),
                _ if there.len() < FEWEST => Some(Ending::Alone),
                Some(ending) if !unread || ending == Ending::Silent => Some(ending),
                _ if board.round + 1 >= rounds => Some(Ending::Cap),
                _ => None,
            };
            match ending {
                None => break (rounds, unread),
                Some(ending) if end_by_itself(session.run.job(), &record, &ending).await? => return Ok(None),
                // Somebody added a round or a remark at this moment, so it is decided again.
                Some(_) => {}
            }
        };
        let participants = if unread || board.round == 0 { there } else { list_speakers(there, &board, &discussion) };
        let promoted = if board.round == 0 { find_engaged(&board, &discussion) } else { board.promoted.clone() };
        let next = Board { round: board.round + 1, promoted, ..board };
        let shown = render::Shown { discussion: &discussion, rounds, cost: self.cost_of(meeting).await? };
        let progress = render::revise(
            meeting,
            render::progress(meeting, &next, Some(&shown), &self.roster),
            ("progress", &format!("progress-{}", next.round)),
        );
        let line = render::next_round(meeting, &next, &shown, &self.roster);
        Ok(Some(Round { participants, payload: Some(serde_json::to_value(&next)?), outbox: vec![progress, line] }))
    }
}

/// Whether a round consists of what code found, because no model answered.
fn is_composed(seats: &[Seat], round: u32) -> bool {
    let mut said = seats.iter().filter(|seat| seat.round == round).filter_map(|seat| seat.contribution.as_ref()).peekable();
    said.peek().is_some() && said.all(|contribution| contribution.model.is_none())
}

/// Why a meeting ended, if not by itself.
pub(super) fn find_ending(meeting: &Meeting, record: &BoardRecord, cost: Money, now: DateTime<Utc>) -> Ending {
    match &record.stopped_by {
        Some(by) => Ending::Stopped { by: by.clone() },
        None if meeting.budget.is_some_and(|budget| cost >= budget) => Ending::Budget,
        None if now >= meeting.deadline => Ending::Time,
        None => Ending::Cap,
    }
}

/// From the third round on, members without a part in the contested points are left out: they had nothing new, nobody has answered them, and most
/// members hold their side.
fn list_speakers(there: Vec<Participant>, board: &Board, discussion: &Discussion) -> Vec<Participant> {
    let majority = discussion.sides().first().map(|(_, holders)| holders.iter().map(|position| position.by.clone()).collect::<Vec<_>>());
    let is_engaged = |who: &Participant| {
        let spoke = discussion.comments.iter().any(|comment| comment.by == *who && comment.round == board.round && comment.is_new());
        let is_answered = discussion.in_round(board.round).any(|comment| discussion.answers_somebody(comment, who));
        let is_alone = majority.as_ref().is_some_and(|holders| !holders.contains(who));
        spoke || is_answered || is_alone || discussion.find_position(who).is_none()
    };
    let engaged: Vec<Participant> = there.iter().filter(|who| is_engaged(who)).cloned().collect();
    if engaged.len() < FEWEST { there } else { engaged }
}

/// The most engaged fifth, at least one: by how much others took up from them, and how much was new (BOARD-8).
fn find_engaged(board: &Board, discussion: &Discussion) -> Vec<PersonaSlug> {
    let mut points: BTreeMap<&PersonaSlug, usize> = BTreeMap::new();
    for comment in &discussion.comments {
        let Some(member) = board.members.iter().find(|member| member.participant() == comment.by) else { continue };
        let taken_up = discussion.comments.iter().filter(|other| other.is_answer_to(comment)).count();
        *points.entry(&member.persona).or_default() += taken_up * 2 + usize::from(comment.is_new());
    }
    let mut ranked: Vec<(&PersonaSlug, usize)> = points.into_iter().collect();
    ranked.sort_by_key(|(_, points)| std::cmp::Reverse(*points));
    let number = discussion.last_positions().len().div_ceil(5);
    ranked.into_iter().take(number).map(|(slug, _)| slug.clone()).collect()
}
