//! Comments: the points that are made in a meeting (BOARD-4), and how much of one is new.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::features::meeting::model::Participant;
use kernel::memory::retrieval::terms_of;
use kernel::text::Shingles;

/// Comments this similar say the same (BOARD-5, BOARD-6).
pub const SAME: f64 = 0.85;

/// A comment is new from this share of unused words on. Measured on transcripts (`convergence/tests.rs`): comments below it repeat a point in other
/// words.
pub(super) const NEW_SHARE: f64 = 0.3;
/// The fewest new words. A single one may be a slip or a synonym.
const NEW_WORDS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentKind {
    Decision,
    Detail,
    Risk,
    Question,
    Alternative,
    /// Agreement or thanks, without a point of its own.
    Support,
    /// What a person adds from outside the round.
    #[schemars(skip)]
    Remark,
}

impl CommentKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Detail => "detail",
            Self::Risk => "risk",
            Self::Question => "question",
            Self::Alternative => "alternative",
            Self::Support => "support",
            Self::Remark => "remark",
        }
    }
}

/// A point that somebody made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// `2.1.3`: the third point of the first speaker in the second round. `p1`: the first remark of a person.
    pub id: String,
    /// From 0.
    pub round: u32,
    /// The speaker's place in the round.
    pub position: u32,
    pub by: Participant,
    /// The side that the speaker held when making the comment.
    pub side: Option<String>,
    pub kind: CommentKind,
    pub text: String,
    /// The comments and positions that it answers.
    #[serde(default, deserialize_with = "read_ids")]
    pub answers: Vec<String>,
    /// How much of it nobody has said before, from 0 to 1. 0: not new.
    pub novelty: f64,
}

impl Comment {
    pub fn is_new(&self) -> bool {
        self.novelty > 0.0
    }

    pub fn is_answer_to(&self, other: &Self) -> bool {
        self.by != other.by && self.answers.contains(&other.id)
    }
}

/// Reads ids. Models, and rows of earlier versions, also have a single one, several in one text, or none.
pub(super) fn read_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Ids {
        Text(String),
        Several(Vec<String>),
    }
    Ok(match Option::<Ids>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Ids::Text(text)) => split_ids(&text),
        Some(Ids::Several(texts)) => texts.iter().flat_map(|text| split_ids(text)).collect(),
    })
}

/// The ids of a text, without the marks around them.
pub fn split_ids(text: &str) -> Vec<String> {
    let ids = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).map(|id| id.trim_matches(|c: char| !c.is_alphanumeric()));
    ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// The words and comments so far, to tell what is new.
pub struct SaidSoFar {
    words: HashSet<String>,
    comments: Vec<Shingles>,
}

impl SaidSoFar {
    /// The words of the question are known from the beginning.
    pub fn of(question: &str) -> Self {
        Self { words: words_of(question), comments: Vec::new() }
    }

    /// How much of a comment is new. A comment with a new number is always fully new, because the number corrects or adds a fact.
    pub fn novelty_of(&self, kind: CommentKind, text: &str) -> f64 {
        let terms = words_of(text);
        let new: Vec<&String> = terms.iter().filter(|term| !self.words.contains(*term)).collect();
        if new.iter().any(|term| term.contains(|c: char| c.is_numeric())) {
            return 1.0;
        }
        let shingles = Shingles::of(text);
        if kind == CommentKind::Support || self.comments.iter().any(|known| known.similarity(&shingles) >= SAME) {
            return 0.0;
        }
        let share = share_of(new.len(), terms.len());
        if share >= NEW_SHARE && new.len() >= NEW_WORDS { share } else { 0.0 }
    }

    pub fn add(&mut self, text: &str) {
        self.words.extend(words_of(text));
        self.comments.push(Shingles::of(text));
    }
}

/// The distinct words of a text. Scripts without spaces give pairs of neighbouring letters, and each number is a word of its own.
fn words_of(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for term in terms_of(text) {
        if !term.contains(is_unspaced) {
            words.insert(term);
            continue;
        }
        let letters: Vec<char> = term.chars().collect();
        let kind = |letter: char| (is_unspaced(letter), letter.is_numeric());
        for run in letters.chunk_by(|one, other| kind(*one) == kind(*other)) {
            if is_unspaced(run[0]) && run.len() > 1 {
                words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else {
                words.insert(run.iter().collect());
            }
        }
    }
    words
}

/// A letter of a script that puts no spaces between words: Thai, Lao, Khmer, Kana, Han.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}')
        && !letter.is_numeric()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and comments are far below 2^52")]
pub(super) fn share_of(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn novelty(known: &[&str], kind: CommentKind, text: &str) -> f64 {
        let mut said_so_far = SaidSoFar::of("Should we move the queue to PostgreSQL?");
        for text in known {
            said_so_far.add(text);
        }
        said_so_far.novelty_of(kind, text)
    }

    const KNOWN: &str = "A second service has to be backed up, patched and watched at night by two people.";

    #[test]
    fn a_point_that_nobody_has_made_is_new() {
        let text = "Listeners can wake workers at once instead of polling every second.";
        assert!(novelty(&[KNOWN], CommentKind::Detail, text) > 0.5);
        assert!(novelty(&[], CommentKind::Detail, KNOWN) > 0.5);
    }

    #[test]
    fn thanks_repetition_and_restatement_are_not() {
        for (kind, text) in [
            (CommentKind::Support, "Thanks, that is a very thoughtful and convincing point about our evenings."),
            (CommentKind::Detail, KNOWN),
            (CommentKind::Detail, "As said, at night two people have to watch, patch and back up a second service."),
            (CommentKind::Decision, "I agree."),
        ] {
            assert!(novelty(&[KNOWN], kind, text) <= 0.0, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_have_words_too() {
        let known = "第二台服务器每天晚上都需要有人备份和监控。";
        let novelty = |kind, text: &str| novelty(&[known], kind, text);
        assert!(novelty(CommentKind::Detail, "监听功能可以立即唤醒工作进程。") > 0.5);
        assert!(novelty(CommentKind::Detail, "服务器需要备份，晚上都需要有人监控。") <= 0.0);
        assert!(novelty(CommentKind::Detail, "第二台服务器每天晚上都需要有3个人监控。") > 0.0);
    }

    #[test]
    fn a_new_number_is_new_even_in_known_words() {
        assert!(novelty(&[KNOWN], CommentKind::Support, "A second service has to be watched at night by 3 people.") > 0.0);
        assert!(novelty(&["watched by 3 people"], CommentKind::Detail, "3 people watched.") <= 0.0);
    }
}
