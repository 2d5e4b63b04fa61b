//! Whether there is another round, and who speaks in it. Code decides it by what was said.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::features::board::model::convergence::find_end;
use crate::features::board::model::members::FEWEST;
use crate::features::board::model::{Board, BoardRecord, Discussion, Ending};
use crate::features::board::store::record_comments;
use crate::features::board::{Boards, render};
use crate::features::meeting::agenda::{Round, Session};
use crate::features::meeting::model::{Meeting, Participant};
use kernel::ids::PersonaSlug;
use kernel::money::Money;

impl Boards {
    pub(super) async fn open_round(&self, session: &Session<'_>) -> anyhow::Result<Option<Round>> {
        let meeting = session.meeting;
        let board: Board = meeting.read_payload()?;
        let discussion = self.read_discussion(meeting, session.seats).await?;
        record_comments(session.run.job(), &meeting.id, &discussion.comments, self.clock.now()).await?;
        let record = self.store.find_board(&meeting.id).await?;
        let rounds = board.rounds + record.as_ref().map_or(0, |record| record.extra_rounds);
        if find_end(&discussion, board.round, board.threshold).is_some() || board.round + 1 >= rounds || self.agents.is_offline() {
            return Ok(None);
        }
        let participants = list_speakers(&board, &discussion);
        let promoted = if board.round == 0 { find_engaged(&discussion) } else { board.promoted.clone() };
        let next = Board { round: board.round + 1, promoted, ..board };
        let shown = render::Shown { discussion: &discussion, rounds, cost: self.cost_of(meeting).await? };
        let progress =
            render::revise(meeting, render::progress(meeting, &next, Some(&shown), &self.roster), &format!("progress-{}", next.round));
        Ok(Some(Round { participants, payload: Some(serde_json::to_value(&next)?), outbox: vec![progress] }))
    }
}

/// Why the meeting ended, read from what is stored.
pub(super) fn find_ending(
    (meeting, board, record): (&Meeting, &Board, &BoardRecord),
    discussion: &Discussion,
    (cost, offline, now): (Money, bool, DateTime<Utc>),
) -> Ending {
    let rounds = board.rounds + record.extra_rounds;
    let by_itself = || find_end(discussion, board.round, board.threshold);
    if let Some(by) = &record.stopped_by {
        Ending::Stopped { by: by.clone() }
    } else if meeting.budget.is_some_and(|budget| cost >= budget) {
        Ending::Budget
    } else if now >= meeting.deadline {
        Ending::Time
    } else if offline {
        Ending::NoModel
    } else if let Some(ending) = by_itself() {
        ending
    } else if board.round + 1 >= rounds {
        Ending::Cap
    } else {
        // Somebody asked the meeting to end without saying who, such as by a phrase in the channel.
        Ending::Stopped { by: "somebody".to_owned() }
    }
}

/// From the third round on, those without a part in what is contested are left out: they had nothing new, nobody has answered them, and most hold their
/// side.
fn list_speakers(board: &Board, discussion: &Discussion) -> Vec<Participant> {
    let members = || board.members.iter().map(|member| Participant::Persona(member.persona.clone()));
    let open_remarks = discussion.list_open().iter().any(|comment| comment.kind == super::model::CommentKind::Remark);
    if board.round == 0 || open_remarks {
        return members().collect();
    }
    let majority = discussion.sides().first().map(|(_, holders)| holders.iter().map(|position| position.by.clone()).collect::<Vec<_>>());
    let is_engaged = |who: &Participant| {
        let spoke = discussion.comments.iter().any(|comment| comment.by == *who && comment.round == board.round && comment.is_new());
        let own: Vec<&String> = discussion.comments.iter().filter(|comment| comment.by == *who).map(|comment| &comment.id).collect();
        let is_answered = discussion
            .in_round(board.round)
            .any(|comment| comment.by != *who && comment.answers.as_ref().is_some_and(|id| own.contains(&id)));
        let is_alone = majority.as_ref().is_some_and(|holders| !holders.contains(who));
        spoke || is_answered || is_alone || discussion.find_position(who).is_none()
    };
    let engaged: Vec<Participant> = members().filter(is_engaged).collect();
    if engaged.len() < FEWEST { members().collect() } else { engaged }
}

/// The most engaged fifth, at least one: by what others took up of it, and what was new (BOARD-8).
fn find_engaged(discussion: &Discussion) -> Vec<PersonaSlug> {
    let mut points: BTreeMap<&PersonaSlug, usize> = BTreeMap::new();
    for comment in &discussion.comments {
        let Participant::Persona(slug) = &comment.by else { continue };
        let taken_up =
            discussion.comments.iter().filter(|other| other.answers.as_ref() == Some(&comment.id) && other.by != comment.by).count();
        *points.entry(slug).or_default() += taken_up * 2 + usize::from(comment.is_new());
    }
    let mut ranked: Vec<(&PersonaSlug, usize)> = points.into_iter().collect();
    ranked.sort_by_key(|(_, points)| std::cmp::Reverse(*points));
    let number = discussion.last_positions().len().div_ceil(5);
    ranked.into_iter().take(number).map(|(slug, _)| slug.clone()).collect()
}
