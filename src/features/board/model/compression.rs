//! Shortens a long discussion for the writer of its document (BOARD-5): comments with the same point are merged, and single points that nobody took
//! up are left out. All points of a minority and all numbers are kept. The comments themselves stay as they are.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::features::board::model::comment::{Comment, CommentKind, SAME, share_of};
use crate::features::board::model::discussion::Discussion;
use crate::features::meeting::model::Participant;
use kernel::text::tokens::{list_names, tokens};
use kernel::text::{Shingles, fold_name};

/// Comments of this many characters or more are compressed.
pub const LONG: usize = 10_000;

/// A point, with all comments that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<'a> {
    /// The longest of its comments.
    pub comment: &'a Comment,
    /// All of its comments, including this one.
    pub from: Vec<&'a Comment>,
}

impl Point<'_> {
    /// The speakers, each once.
    pub fn by(&self) -> Vec<&Participant> {
        let mut by: Vec<&Participant> = Vec::new();
        for comment in &self.from {
            if !by.contains(&&comment.by) {
                by.push(&comment.by);
            }
        }
        by
    }
}

/// What compressing has kept and lost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    pub comments: usize,
    pub points: usize,
    /// Points that were left out.
    pub dropped: usize,
    /// The share of characters that was saved.
    pub saved: f64,
    /// Numbers that the compressed text does not contain any more.
    pub numbers: usize,
    /// Names that the compressed text does not contain any more.
    #[serde(default)]
    pub names: usize,
    /// Comments of a minority that the compressed text does not contain any more.
    pub dissents: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Compressed<'a> {
    pub points: Vec<Point<'a>>,
    pub loss: Loss,
}

/// Makes each comment a point of its own, or compresses the comments if they are long.
pub fn compress_if_long(discussion: &Discussion) -> Compressed<'_> {
    let length: usize = discussion.comments.iter().map(|comment| comment.text.len()).sum();
    if length > LONG {
        return compress(discussion);
    }
    let points: Vec<Point<'_>> = discussion.comments.iter().map(|comment| Point { comment, from: vec![comment] }).collect();
    let loss = Loss { comments: points.len(), points: points.len(), ..Loss::default() };
    Compressed { points, loss }
}

pub fn compress(discussion: &Discussion) -> Compressed<'_> {
    let majority = discussion.sides().first().map(|(side, _)| fold_name(side));
    let dissents = |comment: &Comment| {
        let side = comment.side.as_deref().map(fold_name);
        side.is_some() && side != majority
    };
    let mut points: Vec<(Point<'_>, Shingles)> = Vec::new();
    for comment in &discussion.comments {
        let shingles = Shingles::of(&comment.text);
        let same = points.iter_mut().find(|(point, known)| {
            known.similarity(&shingles) >= SAME
                && dissents(point.comment) == dissents(comment)
                && numbers_of(&point.comment.text) == numbers_of(&comment.text)
        });
        match same {
            Some((point, known)) => {
                point.from.push(comment);
                if comment.text.len() > point.comment.text.len() {
                    (point.comment, *known) = (comment, shingles);
                }
            }
            None => points.push((Point { comment, from: vec![comment] }, shingles)),
        }
    }
    let mut kept: Vec<Point<'_>> = Vec::new();
    let mut dropped = 0;
    let mut numbers: BTreeSet<String> = BTreeSet::new();
    for (point, _) in points {
        let new_numbers = numbers_of(&point.comment.text).iter().any(|number| !numbers.contains(number));
        if new_numbers || dissents(point.comment) || is_taken_up(&point, discussion) {
            numbers.extend(numbers_of(&point.comment.text));
            kept.push(point);
        } else {
            dropped += 1;
        }
    }
    let loss = measure(discussion, &kept, dropped, dissents);
    Compressed { points: kept, loss }
}

/// Whether a point is part of the discussion: others say it too, somebody answers it, or it answers somebody. A person's remark always is.
fn is_taken_up(point: &Point<'_>, discussion: &Discussion) -> bool {
    let is_answered = |comment: &&Comment| discussion.comments.iter().any(|other| other.is_answer_to(comment));
    point.by().len() > 1
        || point.comment.kind == CommentKind::Remark
        || point.from.iter().any(|comment| !comment.answers.is_empty() && comment.is_new())
        || point.from.iter().any(is_answered)
}

fn measure(discussion: &Discussion, kept: &[Point<'_>], dropped: usize, dissents: impl Fn(&Comment) -> bool) -> Loss {
    let before: usize = discussion.comments.iter().map(|comment| comment.text.len()).sum();
    let after: usize = kept.iter().map(|point| point.comment.text.len()).sum();
    let there: BTreeSet<String> = kept.iter().flat_map(|point| numbers_of(&point.comment.text)).collect();
    let numbers: BTreeSet<String> = discussion.comments.iter().flat_map(|comment| numbers_of(&comment.text)).collect();
    let texts = |texts: &mut dyn Iterator<Item = &str>| texts.collect::<Vec<_>>().join(" . ");
    let names = list_names(&texts(&mut discussion.comments.iter().map(|comment| comment.text.as_str())));
    let kept_text = texts(&mut kept.iter().map(|point| point.comment.text.as_str()));
    let kept_words: BTreeSet<String> = tokens(&kept_text).map(|(word, _)| word.to_lowercase()).collect();
    let stands = |comment: &Comment| kept.iter().any(|point| point.from.iter().any(|from| from.id == comment.id));
    Loss {
        comments: discussion.comments.len(),
        points: kept.len(),
        dropped,
        saved: 1.0 - share_of(after, before.max(1)),
        numbers: numbers.difference(&there).count(),
        names: names.difference(&kept_words).count(),
        dissents: discussion.comments.iter().filter(|comment| dissents(comment) && !stands(comment)).count(),
    }
}

/// The numbers of a text, as written: `40`, `3.5`, `2026-11-27`.
fn numbers_of(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | ':' | '/')));
    let number = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    words.map(number).filter(|word| word.contains(|c: char| c.is_numeric())).collect()
}
