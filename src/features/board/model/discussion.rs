//! Everything said so far, read from the seats: positions, and comments with their novelty.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::board::model::Order;
use crate::features::board::model::comment::{Comment, CommentKind, NEW_SHARE, SaidSoFar, read_ids, split_ids};
use crate::features::meeting::model::{Participant, Seat};
use kernel::memory::retrieval::cut;
use kernel::text::{fold_name, one_line};

/// The most characters of a side, a position and a comment.
const SIDE: usize = 40;
const POSITION: usize = 400;
const COMMENT: usize = 500;
/// The most characters of a reply that is kept whole, because it does not have the requested form.
const WHOLE: usize = 4000;
/// The most comments of one turn.
const COMMENTS: usize = 6;

/// What a speaker gives, not checked yet.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    // The answer as a label of one to four words.
    pub side: String,
    // The letter of the side so far that gives the same answer, also in other words. Empty if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joins: Option<String>,
    // The answer in one or two sentences.
    pub position: String,
    // From 0 to 1.
    #[serde(default)]
    pub confidence: f64,
    // What would change your mind.
    #[serde(default)]
    pub would_change: String,
    // Why the side is another one than before. Empty if it is the same.
    #[serde(default)]
    pub changed_because: String,
    #[serde(default)]
    pub comments: Vec<GivenComment>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GivenComment {
    pub kind: CommentKind,
    pub text: String,
    /// The ids of the comments and positions that it answers.
    #[serde(default, deserialize_with = "read_ids")]
    pub answers: Vec<String>,
}

impl Given {
    /// Within the limits. None if nothing was said.
    pub fn tidy(self) -> Option<Self> {
        let comment = |given: GivenComment| {
            let kind = if given.kind == CommentKind::Remark { CommentKind::Detail } else { given.kind };
            GivenComment { kind, text: one_line(&given.text, COMMENT), ..given }
        };
        let comments = self.comments.into_iter().map(comment).filter(|comment| !comment.text.is_empty()).take(COMMENTS).collect();
        let tidy = Self {
            side: one_line(&self.side, SIDE),
            joins: self.joins,
            position: one_line(&self.position, POSITION),
            // Some models give percent instead of a share.
            confidence: if self.confidence > 1.0 { self.confidence / 100.0 } else { self.confidence }.clamp(0.0, 1.0),
            would_change: one_line(&self.would_change, POSITION),
            changed_because: one_line(&self.changed_because, POSITION),
            comments,
        };
        (!tidy.position.is_empty() || !tidy.comments.is_empty()).then_some(tidy)
    }

    /// Makes one comment of a reply that does not have the requested form.
    pub fn whole(reply: &str) -> Self {
        let comments = vec![GivenComment { kind: CommentKind::Detail, text: cut(reply.trim(), WHOLE), answers: Vec::new() }];
        Self { comments, ..Self::default() }
    }

    /// Takes over the label of the side that the speaker joins, so that the same answer has one label, no matter who words it. `sides`: those that the
    /// speaker was shown. An unknown letter changes nothing.
    #[must_use]
    pub fn joining(mut self, sides: &[(String, Vec<&Position>)]) -> Self {
        let joined = self.joins.take().map(|joined| fold_name(&joined));
        let names = |(index, label): (usize, &str)| [fold_name(&side_letter(index)), fold_name(label)].map(Some).contains(&joined);
        if let Some((_, (label, _))) = sides.iter().enumerate().find(|(index, (label, _))| names((*index, label))) {
            self.side.clone_from(label);
            self.joins = joined;
        }
        self
    }
}

/// The position of a speaker in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Position {
    pub by: Participant,
    pub round: u32,
    /// The place in the round.
    pub place: u32,
    pub given: Given,
    /// Holds another side than before.
    pub has_moved: bool,
}

/// The letter of a side in the order of [`Discussion::sides`].
pub fn side_letter(index: usize) -> String {
    char::from_u32(u32::from('A') + u32::try_from(index).unwrap_or(u32::MAX)).map_or_else(String::new, String::from)
}

impl Position {
    /// `2.1`: the position of the first speaker in the second round.
    pub fn id(&self) -> String {
        format!("{}.{}", self.round + 1, self.place + 1)
    }

    pub fn side(&self) -> Option<&str> {
        (!self.given.side.is_empty()).then_some(self.given.side.as_str())
    }
}

/// Everything that was said so far, in order.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Discussion {
    pub positions: Vec<Position>,
    pub comments: Vec<Comment>,
}

impl Discussion {
    /// `remarks`: what people have added, in order.
    pub fn of(question: &str, seats: &[Seat], remarks: &[Comment]) -> Self {
        let mut said_so_far = SaidSoFar::of(question);
        let mut discussion = Self::default();
        for seat in seats {
            let Some(given) = read_given(seat) else { continue };
            discussion.add_turn(seat, given, &mut said_so_far);
        }
        discussion.comments.extend(remarks.iter().cloned());
        // A reference to something unknown is dropped.
        let known: HashSet<String> = discussion.ids().collect();
        for comment in &mut discussion.comments {
            comment.answers.retain(|id| known.contains(id) && *id != comment.id);
        }
        discussion.mark_what_convinced();
        discussion
    }

    /// The ids of everything that can be cited: comments and positions.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        self.comments.iter().map(|comment| comment.id.clone()).chain(self.positions.iter().map(Position::id))
    }

    /// A comment for which somebody changes sides is new, whatever its words are.
    fn mark_what_convinced(&mut self) {
        let moves = self.positions.iter().filter(|position| position.has_moved);
        let reasons: HashSet<String> = moves.flat_map(|position| split_ids(&position.given.changed_because)).collect();
        for comment in self.comments.iter_mut().filter(|comment| reasons.contains(&comment.id)) {
            comment.novelty = comment.novelty.max(NEW_SHARE);
        }
    }

    fn add_turn(&mut self, seat: &Seat, given: Given, said_so_far: &mut SaidSoFar) {
        let before = self.find_position(&seat.who).and_then(Position::side).map(fold_name);
        // Who joins a side and gives no reason has said the same before, in other words.
        let is_reworded = given.joins.is_some() && given.changed_because.is_empty();
        let has_moved = before.is_some_and(|before| !given.side.is_empty() && before != fold_name(&given.side)) && !is_reworded;
        for (number, said) in (1..).zip(&given.comments) {
            let novelty = said_so_far.novelty_of(said.kind, &said.text);
            said_so_far.add(&said.text);
            self.comments.push(Comment {
                id: comment_id(seat, number),
                round: seat.round,
                position: seat.position,
                by: seat.who.clone(),
                side: (!given.side.is_empty()).then(|| given.side.clone()),
                kind: said.kind,
                text: said.text.clone(),
                answers: said.answers.clone(),
                novelty,
            });
        }
        self.positions.push(Position { by: seat.who.clone(), round: seat.round, place: seat.position, given, has_moved });
    }

    /// The last position of somebody.
    pub fn find_position(&self, by: &Participant) -> Option<&Position> {
        self.positions.iter().rev().find(|position| position.by == *by)
    }

    /// The last position of each speaker, in the order of the first round.
    pub fn last_positions(&self) -> Vec<&Position> {
        let mut speakers: Vec<&Participant> = Vec::new();
        for position in &self.positions {
            if !speakers.contains(&&position.by) {
                speakers.push(&position.by);
            }
        }
        speakers.into_iter().filter_map(|by| self.find_position(by)).collect()
    }

    /// The sides with those who hold them, the largest first. A speaker who named no side is left out.
    pub fn sides(&self) -> Vec<(String, Vec<&Position>)> {
        let mut sides: Vec<(String, Vec<&Position>)> = Vec::new();
        for position in self.last_positions() {
            let Some(side) = position.side() else { continue };
            match sides.iter_mut().find(|(known, _)| fold_name(known) == fold_name(side)) {
                Some((_, holders)) => holders.push(position),
                None => sides.push((side.to_owned(), vec![position])),
            }
        }
        sides.sort_by_key(|(_, holders)| std::cmp::Reverse(holders.len()));
        sides
    }

    /// Whether all who have spoken hold the same side.
    pub fn is_united(&self) -> bool {
        self.sides().len() == 1 && self.last_positions().iter().all(|position| position.side().is_some())
    }

    /// Questions and alternatives that nobody else has answered.
    pub fn list_open(&self) -> Vec<&Comment> {
        self.list_unanswered(&[CommentKind::Question, CommentKind::Alternative])
    }

    /// Risks that nobody else has taken up. A risk is no question.
    pub fn list_risks(&self) -> Vec<&Comment> {
        self.list_unanswered(&[CommentKind::Risk])
    }

    fn list_unanswered(&self, kinds: &[CommentKind]) -> Vec<&Comment> {
        let is_answered = |comment: &&Comment| self.comments.iter().any(|other| other.is_answer_to(comment));
        let of_kind = self.comments.iter().filter(|comment| kinds.contains(&comment.kind) && comment.is_new());
        of_kind.filter(|comment| !is_answered(comment)).collect()
    }

    /// Whether a comment answers a comment or a position of somebody else.
    pub fn answers_somebody(&self, comment: &Comment, who: &Participant) -> bool {
        let comments = self.comments.iter().filter(|own| own.by == *who).any(|own| comment.answers.contains(&own.id));
        let position = || self.positions.iter().filter(|own| own.by == *who).any(|own| comment.answers.contains(&own.id()));
        comment.by != *who && (comments || position())
    }

    pub fn in_round(&self, round: u32) -> impl Iterator<Item = &Comment> {
        self.comments.iter().filter(move |comment| comment.round == round && comment.kind != CommentKind::Remark)
    }

    /// Comments of others that somebody has not seen. In the first round, and where all speak at once, nobody sees comments of the same round.
    pub fn news_for<'a>(&'a self, by: &'a Participant, order: Order) -> impl Iterator<Item = &'a Comment> {
        let last = self.find_position(by).map(|position| (position.round, position.place));
        let is_news = move |comment: &&Comment| {
            let Some((round, place)) = last else { return true };
            let saw_those_before = round > 0 && order == Order::Sequential;
            comment.kind == CommentKind::Remark
                || comment.round > round
                || (comment.round == round && !(saw_those_before && comment.position < place))
        };
        self.comments.iter().filter(move |comment| comment.by != *by).filter(is_news)
    }
}

/// `2.1.3`: the third point of the first speaker in the second round.
pub fn comment_id(seat: &Seat, number: u32) -> String {
    format!("{}.{}.{number}", seat.round + 1, seat.position + 1)
}

/// What a seat said. None if it said nothing.
fn read_given(seat: &Seat) -> Option<Given> {
    let said = seat.contribution.as_ref()?;
    match said.details.as_ref().map(Given::deserialize) {
        Some(Ok(given)) => Some(given),
        _ => Some(Given::whole(&said.text)),
    }
}
