//! What a board meeting leaves behind (BOARD-9).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::ProposedAction;
use crate::features::board::model::comment::{share_of, split_ids};
use crate::features::board::model::compression::Loss;
use crate::features::board::model::convergence::Ending;
use crate::features::board::model::discussion::Discussion;
use crate::features::board::model::{Artefact, Comment, CommentKind, Member, Position};
use crate::features::meeting::model::Participant;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::terms_of;
use kernel::money::Money;
use kernel::text::one_line;

/// The most characters of a title, a heading and a section.
const TITLE: usize = 120;
const TEXT: usize = 3000;
/// The most sections, open questions and actions.
const SECTIONS: usize = 12;
const QUESTIONS: usize = 8;
const ACTIONS: usize = 7;
/// From this share of words on, a line says what another text says.
const MOST_WORDS: f64 = 0.75;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub title: String,
    pub artefact: Artefact,
    /// The question as it was asked.
    #[serde(default)]
    pub asked: String,
    /// The question as it was understood.
    pub question: String,
    #[serde(default)]
    pub members: Vec<Member>,
    /// Who argued against the majority.
    #[serde(default)]
    pub advocate: Option<PersonaSlug>,
    /// The position of each speaker in each round.
    #[serde(default)]
    pub positions: Vec<Position>,
    /// The answer in short.
    pub summary: String,
    pub sections: Vec<Section>,
    /// The final position of each speaker, the largest side first.
    pub votes: Vec<Vote>,
    /// The view of those who do not hold the largest side. Empty if there are none.
    pub minority: String,
    pub open_questions: Vec<String>,
    /// Not checked: owners may not exist.
    pub actions: Vec<ProposedAction>,
    pub ending: Ending,
    /// 0: nobody has spoken.
    pub rounds: u32,
    pub loss: Loss,
    pub cost: Money,
    /// The cost if all calls had used the highest tier (BOARD-8). None: the prices are not known.
    #[serde(default)]
    pub cost_on_t3: Option<Money>,
    /// `provider/model`. None: put together from the comments.
    pub model: Option<String>,
    /// The number of sections that were left out, because they rested on no comment or position.
    pub unfounded: usize,
    /// All comments, for reference.
    pub comments: Vec<Comment>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub heading: String,
    pub text: String,
    /// The ids of the comments and positions that it rests on: at least one.
    pub rests_on: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    pub side: String,
    pub by: Vec<Participant>,
    /// The position of the first of them.
    pub reason: String,
}

/// What a model writes, not checked yet.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    pub title: String,
    /// The answer to the question in at most three sentences.
    pub summary: String,
    pub sections: Vec<WrittenSection>,
    /// What those say who hold another side than most. Empty if there are none.
    #[serde(default)]
    pub minority: String,
    #[serde(default)]
    pub open_questions: Vec<String>,
    #[serde(default)]
    pub actions: Vec<ProposedAction>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WrittenSection {
    pub heading: String,
    pub text: String,
    /// The ids of the comments and positions that it rests on.
    pub rests_on: Vec<String>,
}

/// The text of a document, apart from how the meeting went.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Text {
    pub title: String,
    pub summary: String,
    pub sections: Vec<Section>,
    pub minority: String,
    pub open_questions: Vec<String>,
    pub actions: Vec<ProposedAction>,
    pub unfounded: usize,
}

/// Takes a model's text, without the sections that rest on no comment or position. None if nothing is left.
pub fn check(written: Written, discussion: &Discussion) -> Option<Text> {
    let known: Vec<String> = discussion.ids().collect();
    let all = written.sections.len();
    let section = |given: WrittenSection| {
        let mut rests_on: Vec<String> = Vec::new();
        for id in given.rests_on.iter().flat_map(|text| split_ids(text)).filter(|id| known.contains(id)) {
            if !rests_on.contains(&id) {
                rests_on.push(id);
            }
        }
        let text: String = given.text.trim().chars().take(TEXT).collect();
        (!rests_on.is_empty() && !text.is_empty()).then(|| Section { heading: one_line(&given.heading, TITLE), text, rests_on })
    };
    let sections: Vec<Section> = written.sections.into_iter().filter_map(section).take(SECTIONS).collect();
    let summary = one_line(&written.summary, 900);
    if sections.is_empty() || summary.is_empty() {
        return None;
    }
    let questions = written.open_questions.iter().filter_map(|line| read_open_question(line, &discussion.comments));
    let open_questions = questions.take(QUESTIONS).collect();
    Some(Text {
        title: one_line(&written.title, TITLE),
        unfounded: all.saturating_sub(sections.len()),
        summary,
        sections,
        minority: one_line(&written.minority, 900),
        open_questions,
        actions: written.actions.into_iter().take(ACTIONS).collect(),
    })
}

/// An open question without the ids behind it. None for a risk: the line cites only risks, or has most words of one.
fn read_open_question(line: &str, comments: &[Comment]) -> Option<String> {
    let line = one_line(line, 300);
    let (text, cited) = match line.trim_end_matches([']', ')', '.', '?']).rsplit_once(['[', '(']) {
        Some((text, ids)) => (text.trim_end(), split_ids(ids)),
        None => (line.as_str(), Vec::new()),
    };
    let cited: Vec<&Comment> = cited.iter().filter_map(|id| comments.iter().find(|comment| comment.id == *id)).collect();
    let text = if cited.is_empty() { line.as_str() } else { text };
    let risks = || comments.iter().filter(|comment| comment.kind == CommentKind::Risk);
    let is_risk = match &cited[..] {
        [] => risks().any(|risk| has_words_of(&risk.text, text)),
        cited => cited.iter().all(|comment| comment.kind == CommentKind::Risk),
    };
    (!text.is_empty() && !is_risk).then(|| text.to_owned())
}

/// Whether most words of a line are in a text.
fn has_words_of(text: &str, line: &str) -> bool {
    let (text, line) = (terms_of(text), terms_of(line));
    !line.is_empty() && share_of(line.iter().filter(|term| text.contains(term)).count(), line.len()) >= MOST_WORDS
}

/// Puts a text together from the comments, without a model.
pub fn compose(topic: &str, discussion: &Discussion, name: impl Fn(&Participant) -> String) -> Text {
    let kinds = [
        ("Decisions", CommentKind::Decision),
        ("Details", CommentKind::Detail),
        ("Risks", CommentKind::Risk),
        ("Alternatives", CommentKind::Alternative),
        ("From the discussion", CommentKind::Remark),
    ];
    let section = |(heading, kind): (&str, CommentKind)| {
        // Leaves out comments that repeat earlier ones.
        let of_kind: Vec<&Comment> = discussion.comments.iter().filter(|comment| comment.kind == kind && comment.is_new()).collect();
        let line = |comment: &&Comment| format!("- {}: {}", name(&comment.by), comment.text);
        let text = of_kind.iter().map(line).collect::<Vec<_>>().join("\n");
        let rests_on = of_kind.iter().map(|comment| comment.id.clone()).collect();
        (!of_kind.is_empty()).then(|| Section { heading: heading.to_owned(), text, rests_on })
    };
    let sides = discussion.sides();
    let summary = match &sides[..] {
        [] if discussion.comments.is_empty() => "Nothing was said.".to_owned(),
        [] => "Nobody has taken a side. What was found stands below.".to_owned(),
        [(side, holders)] => format!("All {} hold: {side}.", holders.len()),
        [(first, holders), others @ ..] => {
            let rest: usize = others.iter().map(|(_, holders)| holders.len()).sum();
            let all = holders.len() + rest;
            if others.iter().any(|(_, other)| other.len() == holders.len()) {
                let names: Vec<&str> =
                    sides.iter().filter(|(_, other)| other.len() == holders.len()).map(|(side, _)| side.as_str()).collect();
                format!("No majority: {} have {} of {all} each.", kernel::text::join_with_and(&names), holders.len())
            } else {
                format!("{} of {all} hold: {first}.", holders.len())
            }
        }
    };
    let open = discussion.list_open();
    let open_questions = open.iter().filter(|comment| comment.kind == CommentKind::Question).take(QUESTIONS);
    Text {
        title: one_line(topic, TITLE),
        summary,
        sections: kinds.into_iter().filter_map(section).collect(),
        minority: minority_of(discussion, &name),
        open_questions: open_questions.map(|comment| comment.text.clone()).collect(),
        actions: Vec::new(),
        unfounded: 0,
    }
}

/// The view of those who do not hold the largest side. Added by code, so that a model's text cannot lose it.
pub fn minority_of(discussion: &Discussion, name: impl Fn(&Participant) -> String) -> String {
    let sides = discussion.sides();
    let others = sides.iter().skip(1).flat_map(|(_, holders)| holders);
    others
        .map(|position| format!("{} ({}): {}", name(&position.by), position.given.side, position.given.position))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The final position of each speaker.
pub fn votes_of(discussion: &Discussion) -> Vec<Vote> {
    let vote = |(side, holders): (String, Vec<&super::Position>)| Vote {
        reason: holders.first().map_or_else(String::new, |position| position.given.position.clone()),
        by: holders.iter().map(|position| position.by.clone()).collect(),
        side,
    };
    discussion.sides().into_iter().map(vote).collect()
}
