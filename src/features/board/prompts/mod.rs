//! The prompts of board meetings. All texts in blocks are sanitised here.

use serde::Serialize;

use crate::features::board::model::compression::{Compressed, Point};
use crate::features::board::model::discussion::side_letter;
use crate::features::board::model::{Artefact, Board, Comment, CommentKind, Discussion, Material, Position, REMARK};
use crate::features::board::render::name_of;
use crate::features::meeting::model::Participant;
use crate::features::relationships::Relationships;
use kernel::agent::Prompt;
use kernel::agent::context::{Cleaner, feed_blocks, flat_name, new_marker, talk_feed_blocks};
use kernel::agent::prompt::{Block, Template};
use kernel::feeds::FeedReport;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use kernel::text::join_with_and;

static RESTATE: Template = Template::new(include_str!("restate.md.j2"));
static TURN: Template = Template::new(include_str!("turn.md.j2"));
static DOCUMENT: Template = Template::new(include_str!("document.md.j2"));

/// The most characters of a line.
const LINE: usize = 500;
/// The most characters of a comment: those of people and those that are kept whole may be long.
const COMMENT: usize = 1500;
/// The most bytes of a topic, and of a passage of a document.
const TOPIC: usize = 4000;
const PASSAGE: usize = 8000;
/// The most points that a speaker is asked for.
const POINTS: usize = 3;

/// The token limit of the speaker's feeds.
const FEEDS: usize = 1200;

#[derive(Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own in a template")]
struct Values<'a> {
    marker: &'a str,
    artefact: &'a str,
    blocks: Vec<Block>,
    name: String,
    channel: String,
    now: String,
    /// From 1.
    round: u32,
    role: &'a str,
    advocate: bool,
    guest: bool,
    tone: String,
    corrected: bool,
    remarked: bool,
    calls: usize,
    sides: String,
    most: usize,
    shape: &'a str,
    owners: String,
}

fn prompt(system: String, message: String) -> Prompt {
    Prompt { system, message, holds_outside: true, remarks: Vec::new() }
}

/// The prompt that restates the question before anybody speaks. `corrected` has the earlier statement and people's remarks on it.
pub(super) fn restate(
    system: String,
    board: &Board,
    documents: &[(String, String)],
    corrected: Option<(&Material, &[Comment])>,
    roster: &Roster,
) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let mut blocks = vec![Block { label: "question".into(), text: cleaner.text(&board.topic, TOPIC) }];
    for (name, text) in documents {
        blocks.push(Block { label: format!("document {}", flat_name(name)), text: cleaner.text(text, TOPIC) });
    }
    if let Some((stated, remarks)) = corrected {
        let constraints = stated.constraints.iter().map(|line| format!("- {line}"));
        let lines = [stated.question.clone()].into_iter().chain(constraints).chain([stated.answered_by.clone()]);
        blocks.extend(block("how you stated it", lines.map(|said| cleaner.line(&said, LINE))));
        blocks.extend(block("what people said to that", remarks.iter().map(|remark| line(remark, roster, cleaner))));
    }
    let corrected = corrected.is_some();
    prompt(system, RESTATE.render(Values { marker: &marker, artefact: wanted(board.artefact), blocks, corrected, ..Values::default() }))
}

/// What a speaker is given.
pub(super) struct Turn<'a> {
    pub(super) board: &'a Board,
    pub(super) material: &'a Material,
    pub(super) discussion: &'a Discussion,
    pub(super) relationships: &'a Relationships,
    pub(super) who: &'a Participant,
    pub(super) feeds: &'a [FeedReport],
    /// The calls of tools that the speaker may make.
    pub(super) calls: usize,
    pub(super) role: &'a str,
    pub(super) channel: &'a str,
    pub(super) now: String,
    pub(super) roster: &'a Roster,
}

/// The feeds on the question. All of them for a speaker who could not read the others.
fn feeds(turn: &Turn<'_>, cleaner: Cleaner<'_>) -> Vec<Block> {
    let speaker = match turn.who {
        Participant::Persona(slug) if turn.calls > 0 => turn.roster.find(slug),
        _ => None,
    };
    match speaker {
        Some(persona) => talk_feed_blocks(turn.feeds, (persona, &turn.board.topic), FEEDS, cleaner, turn.roster),
        None => feed_blocks(turn.feeds, FEEDS, cleaner, turn.roster),
    }
}

/// One turn. From the second round on it has only what is new to the speaker (BOARD-3).
pub(super) fn turn(system: String, turn: &Turn<'_>) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let Turn { board, discussion, who, roster, .. } = turn;
    let mut blocks = material(turn.material, &board.topic, cleaner);
    blocks.extend(feeds(turn, cleaner));
    let remarks = discussion.comments.iter().filter(|comment| comment.kind == CommentKind::Remark);
    let remarks = block("said by people", remarks.map(|comment| line(comment, roster, cleaner)));
    let remarked = remarks.is_some();
    blocks.extend(remarks);
    blocks.extend(block("you and the others in earlier board meetings", earlier(turn).map(|told| cleaner.line(&told, LINE))));
    if board.round > 0 {
        blocks.extend(block(
            "where everybody stands",
            discussion.last_positions().into_iter().map(|position| {
                let whose = if position.by == **who { "you".to_owned() } else { flat_name(name_of(&position.by, roster)) };
                let (id, given, sure) = (position.id(), &position.given, (position.given.confidence * 100.0).round());
                cleaner.line(&format!("[{id}] {whose}: {} ({sure} % sure). {}", given.side, given.position), LINE)
            }),
        ));
        let own = discussion.comments.iter().filter(|comment| comment.by == **who).map(|comment| line(comment, roster, cleaner));
        blocks.extend(block("what you have said", own));
        let news = discussion.news_for(who, board.order).filter(|comment| comment.kind != CommentKind::Remark);
        blocks.extend(block("new to you", news.map(|comment| line(comment, roster, cleaner))));
        for (label, comments) in [("not answered yet", discussion.list_open()), ("risks that nobody has taken up", discussion.list_risks())]
        {
            let of_others = comments.into_iter().filter(|comment| comment.by != **who);
            blocks.extend(block(label, of_others.map(|comment| line(comment, roster, cleaner))));
        }
    }
    let sides: Vec<String> = discussion.sides().iter().enumerate().map(|side| held_side(side, roster, cleaner)).collect();
    let advocate = matches!(who, Participant::Persona(slug) if board.advocate.as_ref() == Some(slug));
    let message = TURN.render(Values {
        marker: &marker,
        artefact: wanted(board.artefact),
        blocks,
        name: flat_name(name_of(who, roster)),
        channel: cleaner.line(&flat_name(turn.channel), 32),
        now: turn.now.clone(),
        round: board.round + 1,
        role: turn.role,
        advocate,
        tone: tone(turn).unwrap_or_default(),
        guest: matches!(who, Participant::Guest { .. }),
        sides: if board.round == 0 { String::new() } else { sides.join("; ") },
        most: POINTS,
        remarked,
        calls: turn.calls,
        ..Values::default()
    });
    prompt(system, message)
}

/// `A "move" (Vince and Echo)`
fn held_side((index, (side, holders)): (usize, &(String, Vec<&Position>)), roster: &Roster, cleaner: Cleaner<'_>) -> String {
    let names: Vec<String> = holders.iter().map(|position| flat_name(name_of(&position.by, roster))).collect();
    format!("{} \"{}\" ({})", side_letter(index), cleaner.line(side, 40), join_with_and(&names))
}

/// The speaker's agreements with the others in earlier meetings (BOARD-10).
fn earlier<'a>(turn: &'a Turn<'_>) -> impl Iterator<Item = String> + 'a {
    let own = persona_of(turn.who);
    let others = turn.board.members.iter().map(|member| &member.persona).filter(move |other| own != Some(other));
    others.filter_map(move |other| {
        let known = turn.relationships.between(own?, other)?;
        let all = known.agreed + known.disagreed;
        let meetings = if all == 1 { "1 meeting".to_owned() } else { format!("{all} meetings") };
        (all > 0).then(|| format!("{}: on your side in the end in {} of {meetings}", flat_name(turn.roster.name_of(other)), known.agreed))
    })
}

/// One line about the strongest relationship of the speaker to another member, if it is strong (MEM-6).
fn tone(turn: &Turn<'_>) -> Option<String> {
    let there = turn.board.members.iter().map(|member| &member.persona);
    turn.relationships.tone(persona_of(turn.who)?, there, |slug| flat_name(turn.roster.name_of(slug)))
}

/// Guests have no relationships.
fn persona_of(who: &Participant) -> Option<&PersonaSlug> {
    match who {
        Participant::Persona(slug) => Some(slug),
        Participant::Person { .. } | Participant::Guest { .. } => None,
    }
}

/// The document at the end.
pub(super) fn document(
    system: String,
    board: &Board,
    known: &Material,
    discussion: &Discussion,
    compressed: &Compressed<'_>,
    roster: &Roster,
) -> Prompt {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let mut blocks = material(known, &board.topic, cleaner);
    let vote = |(side, holders): &(String, Vec<&Position>)| {
        let names: Vec<String> = holders.iter().map(|position| flat_name(name_of(&position.by, roster))).collect();
        let why = holders.iter().map(|position| format!("[{}] {}", position.id(), position.given.position)).collect::<Vec<_>>().join(" ");
        cleaner.line(&format!("{side}, held by {}: {why}", join_with_and(&names)), LINE * 2)
    };
    blocks.extend(block("the sides in the end", discussion.sides().iter().map(vote)));
    let point = |point: &Point<'_>| {
        let also: Vec<String> = point.by().into_iter().skip(1).map(|by| flat_name(name_of(by, roster))).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also {})", join_with_and(&also)) };
        format!("{}{also}", line(point.comment, roster, cleaner))
    };
    blocks.extend(block("comments", compressed.points.iter().map(point)));
    let owners = roster.personas().iter().map(|persona| flat_name(&persona.name)).collect::<Vec<_>>().join(", ");
    let remarked = discussion.comments.iter().any(|comment| comment.kind == CommentKind::Remark);
    let (artefact, shape) = (wanted(board.artefact), shape(board.artefact));
    let values = Values { marker: &marker, artefact, blocks, shape, owners, remarked, ..Values::default() };
    prompt(system, DOCUMENT.render(values))
}

/// The question and the material that all speakers know.
fn material(material: &Material, topic: &str, cleaner: Cleaner<'_>) -> Vec<Block> {
    let question = if material.question.is_empty() { topic } else { &material.question };
    let mut blocks = vec![Block { label: "question".into(), text: cleaner.text(question, TOPIC) }];
    if !material.question.is_empty() && material.question != topic {
        blocks.push(Block { label: "as it was asked".into(), text: cleaner.text(topic, TOPIC) });
    }
    blocks.extend(block("constraints", material.constraints.iter().map(|line| format!("- {}", cleaner.line(line, REMARK)))));
    blocks.extend(block("what would count as an answer", [cleaner.line(&material.answered_by, LINE)]));
    for passage in &material.passages {
        let place = cleaner.line(&passage.place.replace(['<', '>', '|'], " "), 120);
        blocks.push(Block { label: format!("from {place}"), text: cleaner.text(&passage.text, PASSAGE) });
    }
    blocks
        .extend(block("numbers of the team's feeds on it", material.figures.iter().map(|line| format!("- {}", cleaner.line(line, LINE)))));
    blocks.extend(block("what the team remembers", material.remembered.iter().map(|line| format!("- {}", cleaner.line(line, LINE)))));
    blocks
}

fn line(comment: &Comment, roster: &Roster, cleaner: Cleaner<'_>) -> String {
    let answers = if comment.answers.is_empty() { String::new() } else { format!(", answers {}", comment.answers.join(", ")) };
    let who = flat_name(name_of(&comment.by, roster));
    format!("[{}] {who}, {}{answers}: {}", comment.id, comment.kind.as_str(), cleaner.line(&comment.text, COMMENT))
}

/// None without lines.
fn block(label: &str, lines: impl IntoIterator<Item = String>) -> Option<Block> {
    let text = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| Block { label: label.to_owned(), text })
}

fn wanted(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Recommendations => "recommendations",
        Artefact::Decision => "a decision",
        Artefact::Document => "a document",
        Artefact::Roadmap => "a roadmap",
    }
}

fn shape(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Recommendations => "one for each recommendation, the most important first, with its reason and its price",
        Artefact::Decision => "what is decided, why, what was weighed against it, and what would make the team decide again",
        Artefact::Document => "in the order in which somebody reads who was not there",
        Artefact::Roadmap => "one for each stage in order, with what is done, by whom, and how one sees that it is done",
    }
}
