//! What people see of board meetings. `document` has the card and the files of what it leaves behind.

mod document;

use std::fmt::Write as _;

use crate::features::board::button::{BoardButton, Choice};
use crate::features::board::model::convergence::RoundNews;
use crate::features::board::model::discussion::{Given, comment_id};
use crate::features::board::model::{Artefact, Board, Comment, CommentKind, Discussion, Document, Ending, Material, Order, message_id};
use crate::features::meeting::model::{Contribution, Meeting, MeetingState, Participant, Seat};
use kernel::agent::RunError;
use kernel::agent::offline::FOOTER;
use kernel::chat::format::{TextFormat, clean};
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Placement};
use kernel::chat::text::Subtext;
use kernel::ids::{MeetingId, PersonaSlug};
use kernel::money::Money;
use kernel::persona::roster::Roster;
use kernel::text::{capital, fold_name, join_with_and};

pub(super) use document::{ended, html, markdown, outcome, result};

/// The most characters of a topic in a line, and of a position.
const TOPIC: usize = 300;
const LINE: usize = 400;

/// The last six characters of an id, for people.
pub(super) fn short_id(meeting: &MeetingId) -> &str {
    let id = meeting.as_str();
    &id[id.floor_char_boundary(id.len().saturating_sub(6))..]
}

/// The name of somebody who takes part.
pub(super) fn name_of<'a>(who: &'a Participant, roster: &'a Roster) -> &'a str {
    who.name(roster)
}

fn line(text: &str, limit: usize) -> String {
    Medium::Chat.line_within(text, limit)
}

/// A message in the thread of the meeting, or in its channel if that is a thread itself.
pub(super) fn say(meeting: &Meeting, text: impl Into<String>) -> OutboundMessage {
    let message = OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, text);
    in_thread(meeting, message)
}

fn in_thread(meeting: &Meeting, message: OutboundMessage) -> OutboundMessage {
    if meeting.channel.place != Place::Server {
        return message;
    }
    let name = meeting.read_payload::<Board>().map_or_else(|_| "Board meeting".to_owned(), |board| board.topic);
    OutboundMessage { place: Placement::Thread { on: message_id(&meeting.id, "opening"), name }, ..message }
}

/// The message that calls the meeting: who discusses what. The thread hangs on it.
pub(super) fn opening(meeting: &Meeting, board: &Board, (offline, unpriced_models): (bool, &[String]), roster: &Roster) -> OutboundMessage {
    let names: Vec<&str> = board.members.iter().map(|member| member.name(roster)).collect();
    let place = if meeting.channel.place == Place::Server { "in the thread below" } else { "here" };
    let how = if offline {
        format!(
            "{} look {place} for what their feeds and files say about it. No model is connected, so there is one round and no debate.",
            join_with_and(&names)
        )
    } else {
        let rounds = if board.rounds == 1 { "one round".to_owned() } else { format!("at most {} rounds", board.rounds) };
        format!("{} discuss it {place}, in {rounds}, and leave {}.", join_with_and(&names), wanted(board.artefact))
    };
    let mut text = format!("**Board meeting**: {}\n{how}", line(&board.topic, TOPIC));
    if let (Some(budget), [model, ..]) = (meeting.budget, unpriced_models) {
        let _ = write!(text, "\n{}", Subtext(unpriced(model, budget)));
    }
    let message = OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, text);
    OutboundMessage { id: message_id(&meeting.id, "opening"), ..message }
}

/// Why the budget cannot end the meeting, and what limits it instead.
pub(super) fn unpriced(model: &str, budget: Money) -> String {
    format!(
        "The price of {} is not known, so its budget of {budget} cannot be kept. Its rounds, its time and the team's limit on tokens end it.",
        line(model, 60)
    )
}

/// The exact question, and why these members take part. People can correct it.
pub(super) fn restated(
    meeting: &Meeting,
    (board, material): (&Board, &Material),
    documents: &[(String, String)],
    offline: bool,
    roster: &Roster,
) -> OutboundMessage {
    let mut text = String::new();
    if !material.question.is_empty() {
        let _ = writeln!(text, "**The question**: {}", line(&material.question, TOPIC));
    }
    for constraint in &material.constraints {
        let _ = writeln!(text, "- {}", line(constraint, TOPIC));
    }
    if !material.answered_by.is_empty() {
        let _ = writeln!(text, "Answered by: {}", line(&material.answered_by, TOPIC));
    }
    if !documents.is_empty() {
        let names: Vec<String> = documents.iter().map(|(name, _)| line(name, 60)).collect();
        let _ = writeln!(text, "All are given what {} says about it.", join_with_and(&names));
    }
    for known in material.remembered.iter().take(2) {
        let _ = writeln!(text, "Known from before: {}", line(known, 200));
    }
    for member in &board.members {
        let advocate = if board.advocate.as_ref() == Some(&member.persona) { ", as the devil's advocate" } else { "" };
        let guest = if member.guest.is_some() { ", a guest," } else { "" };
        let _ = writeln!(text, "- {}{guest} {}{advocate}", member.name(roster), line(&member.why, 160));
    }
    if !offline {
        let note = Subtext("It starts in a moment: say here what is different. Later too, all who speak next read what you say.");
        let _ = write!(text, "{note}");
    }
    OutboundMessage { id: message_id(&meeting.id, "question"), ..say(meeting, text) }
}

/// Whether the meeting waits for somebody to resume it.
pub(super) fn is_paused(meeting: &Meeting) -> bool {
    meeting.paused.is_some() && !meeting.wrap && matches!(meeting.state, MeetingState::Called | MeetingState::Running)
}

/// The progress of the meeting.
pub(super) struct Shown<'a> {
    pub(super) discussion: &'a Discussion,
    /// Includes the rounds that people added.
    pub(super) rounds: u32,
    pub(super) cost: Money,
}

/// The progress line, which is edited in place.
pub(super) fn progress(meeting: &Meeting, board: &Board, shown: Option<&Shown<'_>>, roster: &Roster) -> OutboundMessage {
    let rounds = shown.map_or(board.rounds, |shown| shown.rounds);
    let mut text = format!("Round {} of {rounds}", board.round + 1);
    if let Some(shown) = shown {
        let _ = write!(text, " · {}", sides(shown.discussion, roster));
        if let Some(before) = board.round.checked_sub(1) {
            let _ = write!(text, " · {}", news(RoundNews::of(shown.discussion, before)));
        }
        if shown.cost != Money::ZERO {
            let _ = write!(text, " · {}", shown.cost);
        }
    }
    let button = |choice| BoardButton { choice, meeting: meeting.id.clone() }.render();
    let is_paused = is_paused(meeting);
    if is_paused {
        text.push_str(" · paused");
    }
    let buttons = vec![button(if is_paused { Choice::Resume } else { Choice::Pause }), button(Choice::Extend), button(Choice::Stop)];
    OutboundMessage { id: message_id(&meeting.id, "progress"), buttons, ..say(meeting, text) }
}

/// Edits an earlier message of the meeting: the question, or the progress line.
pub(super) fn revise(meeting: &Meeting, message: OutboundMessage, (of, what): (&str, &str)) -> OutboundMessage {
    let place = Placement::Revision { of: message_id(&meeting.id, of) };
    OutboundMessage { id: message_id(&meeting.id, what), place, ..message }
}

/// The message between two rounds that says what the next one is about.
pub(super) fn next_round(meeting: &Meeting, board: &Board, shown: &Shown<'_>, roster: &Roster) -> OutboundMessage {
    let sides = shown.discussion.sides();
    let held = |(side, holders): &(String, Vec<&super::model::Position>)| {
        let names: Vec<&str> = holders.iter().map(|position| name_of(&position.by, roster)).collect();
        format!("{} ({})", line(side, 40), names.join(", "))
    };
    let contested = match &sides[..] {
        [] => "nobody has taken a side yet".to_owned(),
        [(side, _)] => format!("all hold {}", line(side, 40)),
        [first, others @ ..] => format!("{} against {}", held(first), join_with_and(&others.iter().map(held).collect::<Vec<_>>())),
    };
    let list = |what: &str, comments: &[&Comment]| match comments {
        [] => String::new(),
        [only] => format!(" {what}: `{}` {}", only.id, line(&only.text, 160)),
        [first, others @ ..] => format!(" {what}: `{}` {} (and {} more)", first.id, line(&first.text, 160), others.len()),
    };
    let open = list("Not answered yet", &shown.discussion.list_open());
    let risks = list("Open risk", &shown.discussion.list_risks());
    let text = format!("**Round {} of {}**: {contested}.{open}{risks}", board.round + 1, shown.rounds);
    OutboundMessage { id: message_id(&meeting.id, &format!("round-{}", board.round)), ..say(meeting, text) }
}

fn news(calm: RoundNews) -> String {
    let points = match calm.new {
        0 => "nothing new".to_owned(),
        1 => "1 new point".to_owned(),
        many => format!("{many} new points"),
    };
    match calm.moved {
        0 => format!("{points} in the last round"),
        1 => format!("{points} and 1 changed side in the last round"),
        many => format!("{points} and {many} changed sides in the last round"),
    }
}

/// `PostgreSQL 3 (Vince, Echo, Eliza), SQLite 1 (Solus)`
pub(super) fn sides(discussion: &Discussion, roster: &Roster) -> String {
    let side = |(side, holders): &(String, Vec<&super::model::Position>)| {
        let names: Vec<&str> = holders.iter().map(|position| name_of(&position.by, roster)).collect();
        format!("{} {} ({})", line(side, 40), holders.len(), names.join(", "))
    };
    let sides: Vec<String> = discussion.sides().iter().map(side).collect();
    if sides.is_empty() { "no sides yet".to_owned() } else { sides.join(", ") }
}

/// The post of a turn. `before` is the speaker's position before it. A side that is kept without a new point is told briefly.
pub(super) fn contribution(seat: &Seat, given: &Given, before: Option<&Given>, by_model: bool) -> String {
    let mut text = String::new();
    let keeps = before.is_some_and(|before| fold_name(&before.side) == fold_name(&given.side));
    if keeps && given.comments.is_empty() {
        return format!("Still **{}** ({} % sure), with nothing new.", line(&given.side, 40), (given.confidence * 100.0).round());
    }
    if !given.position.is_empty() {
        let sure = (given.confidence * 100.0).round();
        let side = if given.side.is_empty() { "Undecided" } else { &given.side };
        let _ = write!(text, "**{}** ({sure} % sure). {}", line(side, 40), line(&given.position, LINE));
    }
    for (number, comment) in (1..).zip(&given.comments) {
        let id = comment_id(seat, number);
        let said = if by_model { line(&comment.text, 500) } else { comment.text.clone() };
        let answers = on(&comment.answers);
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = match comment.kind {
            CommentKind::Detail if !by_model => write!(text, "{gap}{said}"),
            kind => write!(text, "{gap}- `{id}` {}{answers}: {said}", capital(kind.as_str())),
        };
    }
    if before.is_some() && !keeps && !given.changed_because.is_empty() {
        let _ = write!(text, "\nChanged, because {}", line(&given.changed_because, LINE));
    }
    if before.is_none() && !given.would_change.is_empty() {
        let _ = write!(text, "\n{}", Subtext(format_args!("Would change my mind: {}", line(&given.would_change, LINE))));
    }
    if !by_model {
        let _ = write!(text, "\n{FOOTER}");
    }
    text
}

/// The ids that a comment answers: ` on 1.1.1 and 1.2.1`
fn on(answers: &[String]) -> String {
    if answers.is_empty() { String::new() } else { format!(" on {}", join_with_and(answers)) }
}

/// A turn, posted in the thread by the speaker's account. An expert has no account and speaks like a persona without one.
pub(super) fn turn(meeting: &Meeting, seat: &Seat, said: &Contribution, format: &TextFormat, roster: &Roster) -> Vec<OutboundMessage> {
    let speaker = match &seat.who {
        Participant::Persona(persona) => persona.clone(),
        Participant::Guest { id, .. } => PersonaSlug::new(id.as_str()),
        Participant::Person { .. } => return Vec::new(),
    };
    let pieces = format.split(&format.lay_out(&clean(&said.text, roster)));
    let post = |text| in_thread(meeting, OutboundMessage::new(&speaker, &meeting.channel.id, OutboundKind::Report, text));
    pieces.into_iter().map(post).collect()
}

pub(super) fn skipped(meeting: &Meeting, seat: &Seat, reason: &str, roster: &Roster) -> OutboundMessage {
    let name = name_of(&seat.who, roster);
    if let Participant::Guest { id, .. } = &seat.who
        && roster.find_expert(id).is_none()
    {
        let told = format!("{name} takes no further part: there is no file for this expert any more. The others go on.");
        return say(meeting, Subtext(told).to_string());
    }
    if reason == RunError::Nothing.in_short() {
        return say(meeting, Subtext(format_args!("{name} has found nothing on it.")).to_string());
    }
    say(meeting, Subtext(format_args!("{name} has no turn in round {}: {}.", seat.round + 1, line(reason, 160))).to_string())
}

pub(super) fn failed(meeting: &Meeting, reason: &str) -> OutboundMessage {
    say(meeting, format!("This board meeting leaves no document: {reason}. What was said stays here; `/board create` calls a new one."))
}

pub(super) fn wanted(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Recommendations => "recommendations",
        Artefact::Decision => "a decision",
        Artefact::Document => "a document",
        Artefact::Roadmap => "a roadmap",
    }
}

/// Why it ended, as a sentence.
pub(super) fn ending(ending: &Ending, rounds: u32) -> String {
    let after = match rounds {
        0 => "Over before anybody spoke".to_owned(),
        1 => "Over after one round".to_owned(),
        _ => format!("Over after {rounds} rounds"),
    };
    match ending {
        Ending::Agreed => format!("{after}: all gave the same answer without seeing each other, and nothing was left open."),
        Ending::Converged => format!("{after}: nothing new was said, and nobody changed sides."),
        Ending::United => format!("{after}: all have come to the same answer, and nothing new was said."),
        Ending::Cap => format!("{after}: that was the limit, and not everything was settled."),
        Ending::Budget => format!("{after}: the budget was used up."),
        Ending::Time => format!("{after}: the time was up."),
        Ending::Stopped { by } => format!("{after}: {} stopped it.", line(by, 40)),
        Ending::Alone => format!("{after}: all but one have left the team."),
        Ending::Paused { by } => {
            format!("{after}: {} paused it, and nobody resumed it within a day. This is what there was by then.", line(by, 40))
        }
        Ending::Halted { by } => {
            format!("{after}: {} had silenced the team until the time was up. This is what there was by then.", line(by, 40))
        }
        Ending::Silent => format!("{after}: the language model gave no answers in the last one."),
        Ending::NoModel => format!("{after}: without a model nobody can answer what others say."),
    }
}

/// `Should we …? (`#a1b2c3`)`
pub(super) fn title(meeting: &Meeting, board: &Board) -> String {
    format!("**{}** (`#{}`)", line(&board.topic, 100), short_id(&meeting.id))
}

pub(super) fn status(meeting: &Meeting, board: &Board, shown: &Shown<'_>, written: Option<&Document>, roster: &Roster) -> String {
    let title = title(meeting, board);
    if let Some(written) = written {
        return format!("{title}: {}\n{}", ending(&written.ending, written.rounds), line(&written.summary, 900));
    }
    let state = match meeting.state {
        _ if is_paused(meeting) => "paused",
        MeetingState::Called => "about to begin",
        MeetingState::Running if shown.discussion.positions.is_empty() => "about to begin",
        MeetingState::Running => "running",
        MeetingState::Closing => "writing its document",
        MeetingState::Done => "over",
        MeetingState::Cancelled => "cancelled",
        MeetingState::Failed => "failed",
    };
    let why = meeting.reason.as_ref().map_or(String::new(), |why| format!(", {}", line(why, 200)));
    let order = match board.order {
        _ if board.round == 0 => "each alone",
        Order::Sequential => "one after the other",
        Order::Greedy => "all at once",
    };
    let points = shown.discussion.comments.iter().filter(|comment| comment.is_new() && comment.kind != CommentKind::Remark).count();
    let points = if points == 1 { "1 point".to_owned() } else { format!("{points} points") };
    let cost = if shown.cost == Money::ZERO { String::new() } else { format!(" · {}", shown.cost) };
    format!(
        "{title}: {state}{why}. Round {} of {}, {order}.\n{} · {points} so far{cost}",
        board.round + 1,
        shown.rounds,
        sides(shown.discussion, roster)
    )
}
