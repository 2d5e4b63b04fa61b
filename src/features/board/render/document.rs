//! The document of a board meeting: a card, and files for people (Markdown, HTML) and programs (JSON is the document itself).

use std::fmt::Write as _;

use super::{ending, in_thread, line, name_of, on, revise, say, wanted};
use crate::features::board::button::{BoardButton, Choice};
use crate::features::board::model::{Board, Comment, Document, Member, Position, message_id};
use crate::features::meeting::model::{CalledBy, Meeting, MeetingResult, Participant};
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
use kernel::chat::outbound::{Button, Card, CardField, FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::money::Money;
use kernel::persona::roster::Roster;
use kernel::text::{join_with_and, one_line};

const COLOR: u32 = 0x3B_82_C4;

/// The most characters of a section in the card.
const FIELD: usize = 500;
/// The most sections in the card.
const FIELDS: usize = 5;

/// The final messages: the end of the progress line, the result in the channel of the call, and the document in the thread.
pub(crate) fn ended(
    meeting: &Meeting,
    (board, written): (&Board, &Document),
    play: Option<Button>,
    roster: &Roster,
) -> Vec<OutboundMessage> {
    let how = ending(&written.ending, written.rounds);
    let cost = if written.cost == Money::ZERO { String::new() } else { format!(" · {}", written.cost) };
    let progress = revise(meeting, say(meeting, format!("{how}{cost}")), ("progress", "progress-over"));
    let nothing = written.votes.is_empty() && written.comments.is_empty();
    let there = if nothing { String::new() } else { format!(" The {} in the thread.", is_there(board)) };
    // A report, so that it is posted after what was said in the thread, and people can ask about it.
    let result = OutboundMessage::new(
        &meeting.facilitator,
        &meeting.channel.id,
        OutboundKind::Report,
        format!("**{}**\n{}\n{how}{there}", line(&written.title, 120), line(&written.summary, 900)),
    );
    let (reply_to, pings) = match &meeting.called_by {
        CalledBy::Person { id, message, .. } => (message.clone(), vec![id.clone()]),
        CalledBy::Schedule { .. } | CalledBy::CommandLine => (None, Vec::new()),
    };
    let result = OutboundMessage { id: message_id(&meeting.id, "result"), reply_to, pings, ..result };
    if nothing {
        return vec![result, progress];
    }
    // The "play" button is not below the document, whose buttons are removed when its actions are added.
    let result = OutboundMessage { buttons: play.into_iter().collect(), ..result };
    let mut document = in_thread(meeting, OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Report, ""));
    document.id = message_id(&meeting.id, "document");
    document.card = Some(card(written, roster));
    document.files =
        vec![OutboundFile { name: format!("{}.md", written.artefact.as_str()), content: FileContent::Text(markdown(written, roster)) }];
    if !written.actions.is_empty() {
        document.buttons.push(BoardButton { choice: Choice::Actions, meeting: meeting.id.clone() }.render());
    }
    vec![result, progress, document]
}

fn is_there(board: &Board) -> String {
    let what = board.artefact.as_str();
    if what.ends_with('s') { format!("{what} are") } else { format!("{what} is") }
}

fn card(written: &Document, roster: &Roster) -> Card {
    let field = |name: String, value: String| CardField { name, value, inline: false };
    let mut fields: Vec<CardField> = Vec::new();
    if !written.votes.is_empty() {
        fields.push(field("In the end".to_owned(), votes(written, roster, Medium::Chat).join("\n")));
    }
    for section in written.sections.iter().take(FIELDS) {
        fields.push(field(line(&section.heading, 100), format!("{} [{}]", line(&section.text, FIELD), ids(&section.rests_on))));
    }
    if !written.minority.is_empty() {
        fields.push(field("Another view".to_owned(), line(&written.minority, FIELD)));
    }
    if !written.open_questions.is_empty() {
        fields.push(field(
            "Open questions".to_owned(),
            written.open_questions.iter().map(|question| format!("- {}", line(question, 200))).collect::<Vec<_>>().join("\n"),
        ));
    }
    if !written.actions.is_empty() {
        let action = |action: &crate::features::backlog::model::ProposedAction| {
            format!("- {} ({})", line(&action.what, 160), line(&action.owner, 40))
        };
        fields.push(field("What follows".to_owned(), written.actions.iter().map(action).collect::<Vec<_>>().join("\n")));
    }
    Card {
        title: line(&written.title, 120),
        text: line(&written.summary, 900),
        color: COLOR,
        fields,
        footer: Some(made_of(written)),
        ..Card::default()
    }
}

/// How the document came about, in one line.
fn made_of(written: &Document) -> String {
    let loss = &written.loss;
    let comments = if loss.comments == 1 { "1 comment".to_owned() } else { format!("{} comments", loss.comments) };
    let mut text =
        format!("{comments} in {}", if written.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", written.rounds) });
    if loss.points < loss.comments {
        let missing = [(loss.numbers, "number"), (loss.names, "name")].map(|(count, what)| match count {
            0 => format!("no {what}"),
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        });
        let _ =
            write!(text, ", shortened to {} points for writing ({} left out, {} lost)", loss.points, loss.dropped, missing.join(" and "));
    }
    if written.unfounded > 0 {
        let sections = if written.unfounded == 1 { "1 section".to_owned() } else { format!("{} sections", written.unfounded) };
        let _ = write!(text, ", {sections} left out that rested on nothing said");
    }
    if written.cost != Money::ZERO {
        let _ = write!(text, ", {}", written.cost);
    }
    if let Some(cost) = written.cost_on_t3.filter(|cost| *cost > written.cost) {
        let _ = write!(text, " (all of it on the highest tier: {cost})");
    }
    if written.model.is_none() {
        text.push_str(", generated without AI");
    }
    text
}

fn ids(ids: &[String]) -> String {
    const SHOWN: usize = 6;
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", ids.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", "))
}

fn votes(written: &Document, roster: &Roster, medium: Medium) -> Vec<String> {
    let vote = |vote: &crate::features::board::model::Vote| {
        let names = voters(vote, written, roster);
        format!("- {}: {}. {}", medium.line_within(&vote.side, 40), join_with_and(&names), medium.line_within(&vote.reason, 300))
    };
    written.votes.iter().map(vote).collect()
}

/// The names of the voters. Marks the devil's advocate, who was asked to argue against the majority.
fn voters(vote: &crate::features::board::model::Vote, written: &Document, roster: &Roster) -> Vec<String> {
    let is_advocate = |who: &Participant| match who {
        Participant::Persona(slug) => written.advocate.as_ref() == Some(slug),
        Participant::Guest { id, .. } => written.advocate.as_ref().is_some_and(|slug| slug.as_str() == id),
        Participant::Person { .. } => false,
    };
    let name = |who: &Participant| {
        let name = name_of(who, roster);
        if is_advocate(who) { format!("{name} (devil's advocate)") } else { name.to_owned() }
    };
    vote.by.iter().map(name).collect()
}

/// The text of the memory: the question, the outcome, and the positions.
pub(crate) fn outcome(meeting: &Meeting, written: &Document, roster: &Roster) -> String {
    let vote = |vote: &crate::features::board::model::Vote| {
        let names = voters(vote, written, roster);
        format!("{} ({})", vote.side, names.join(", "))
    };
    let votes: Vec<String> = written.votes.iter().map(vote).collect();
    let day = meeting.day.format("%-d %b %Y");
    kernel::text::one_line(
        &format!("Board meeting of {day} on \"{}\": {} In the end: {}.", written.asked, written.summary, votes.join("; ")),
        600,
    )
}

/// The Markdown file.
pub(crate) fn markdown(written: &Document, roster: &Roster) -> String {
    let file = |text: &str| Medium::File.line(text);
    let mut text = format!("# {}\n\n{}\n\n", file(&written.title), prose(&written.summary));
    let _ = writeln!(text, "Question: {}\n", file(&written.asked));
    if written.question != written.asked {
        let _ = writeln!(text, "Understood as: {}\n", file(&written.question));
    }
    for section in &written.sections {
        let _ = writeln!(text, "## {}\n\n{}\n\nRests on: {}\n", file(&section.heading), prose(&section.text), section.rests_on.join(", "));
    }
    let mut list = |heading: &str, lines: &[String]| {
        if !lines.is_empty() {
            let _ = writeln!(text, "## {heading}\n\n{}\n", lines.join("\n"));
        }
    };
    list("In the end", &votes(written, roster, Medium::File));
    let minority: Vec<String> = written.minority.lines().map(prose).collect();
    list("Another view", &minority);
    list("Open questions", &written.open_questions.iter().map(|line| format!("- {}", file(line))).collect::<Vec<_>>());
    let action = |action: &crate::features::backlog::model::ProposedAction| {
        format!("- {} ({}). {}", file(&action.what), file(&action.owner), file(&action.why))
    };
    list("What follows", &written.actions.iter().map(action).collect::<Vec<_>>());
    list("Who took part", &written.members.iter().map(|member| took_part(member, written, roster)).collect::<Vec<_>>());
    list("What each held", &list_held(written).map(|position| held(position, roster)).collect::<Vec<_>>());
    list("How it came about", &[format!("{} {}.", ending(&written.ending, written.rounds), made_of(written))]);
    list("Everything that was said", &written.comments.iter().map(|comment| said(comment, roster)).collect::<Vec<_>>());
    text.trim_end().to_owned() + "\n"
}

/// The result of the meeting, for people who look back. The turns themselves contain what was said.
pub(crate) fn result(meeting: &Meeting, board: &Board, written: Option<&Document>, roster: &Roster) -> MeetingResult {
    let opening = (meeting.channel.place == Place::Server).then(|| message_id(&meeting.id, "opening"));
    let mut text = format!(
        "The question: {}
",
        one_line(&board.topic, 400)
    );
    let Some(written) = written else { return MeetingResult { title: one_line(&board.topic, 100), text, opening } };
    let _ = writeln!(
        text,
        "{}
{}: {}",
        ending(&written.ending, written.rounds),
        written.artefact.as_str(),
        one_line(&written.title, 120)
    );
    let _ = writeln!(text, "{}", one_line(&written.summary, 900));
    for section in &written.sections {
        let _ = writeln!(text, "- {}: {}", one_line(&section.heading, 120), one_line(&section.text, 600));
    }
    for vote in votes(written, roster, Medium::File) {
        let _ = writeln!(text, "In the end: {}", vote.trim_start_matches("- "));
    }
    if !written.minority.is_empty() {
        let _ = writeln!(text, "Another view: {}", one_line(&written.minority, 600));
    }
    for question in &written.open_questions {
        let _ = writeln!(text, "Left open: {}", one_line(question, 300));
    }
    for action in &written.actions {
        let _ = writeln!(text, "What follows: {} ({})", one_line(&action.what, 200), one_line(&action.owner, 40));
    }
    if written.unfounded > 0 {
        let _ = writeln!(text, "Sections left out that rested on nothing said: {}", written.unfounded);
    }
    MeetingResult { title: one_line(&board.topic, 100), text, opening }
}

/// A text of others, line by line. It may contain a list but no other Markdown.
fn prose(text: &str) -> String {
    let line = |text: &str| match text.trim_start().strip_prefix("- ") {
        Some(item) => format!("- {}", Medium::File.line(item)),
        None => Medium::File.line(text),
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn took_part(member: &Member, written: &Document, roster: &Roster) -> String {
    let advocate = if written.advocate.as_ref() == Some(&member.persona) { ", as the devil's advocate" } else { "" };
    let guest = if member.guest.is_some() { ", a guest," } else { "" };
    format!("- {}{guest} {}{advocate}", member.name(roster), Medium::File.line(&member.why))
}

/// The positions with an answer. Without a model there are none.
fn list_held(written: &Document) -> impl Iterator<Item = &Position> {
    written.positions.iter().filter(|position| !position.given.side.is_empty() || !position.given.position.is_empty())
}

fn held(position: &Position, roster: &Roster) -> String {
    let file = |text: &str| Medium::File.line(text);
    let given = &position.given;
    let mut text = format!(
        "- `{}` Round {}, {}: {} ({} % sure). {}",
        position.id(),
        position.round + 1,
        name_of(&position.by, roster),
        file(&given.side),
        (given.confidence * 100.0).round(),
        file(&given.position)
    );
    if position.has_moved && !given.changed_because.is_empty() {
        let _ = write!(text, " Changed, because {}", file(&given.changed_because));
    }
    text
}

fn said(comment: &Comment, roster: &Roster) -> String {
    let answers = on(&comment.answers);
    let new = if comment.is_new() { "" } else { ", nothing new" };
    let text = Medium::File.line(&comment.text);
    format!("- `{}` {}, {}{answers}{new}: {text}", comment.id, name_of(&comment.by, roster), comment.kind.as_str())
}

/// A complete HTML page.
pub(crate) fn html(written: &Document, roster: &Roster) -> String {
    let mut body = format!(
        "<h1>{}</h1>\n<p><strong>{}</strong></p>\n<p>{}</p>\n",
        escape(&written.title),
        escape(&written.asked),
        escape(&written.summary)
    );
    for section in &written.sections {
        let paragraph = |text: &str| format!("<p>{}</p>\n", escape(text).replace('\n', "<br>"));
        let paragraphs = section.text.split("\n\n").map(paragraph).collect::<Vec<_>>().concat();
        let links: Vec<String> = section.rests_on.iter().map(|id| format!("<a href=\"#c{0}\">{0}</a>", escape(id))).collect();
        let _ = write!(body, "<h2>{}</h2>\n{paragraphs}<p class=\"from\">Rests on {}</p>\n", escape(&section.heading), links.join(", "));
    }
    let mut list = |heading: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let items = lines.iter().map(|line| format!("<li>{line}</li>\n")).collect::<Vec<_>>().concat();
            let _ = write!(body, "<h2>{heading}</h2>\n<ul>\n{items}</ul>\n");
        }
    };
    let vote = |vote: &crate::features::board::model::Vote| {
        let names = voters(vote, written, roster);
        format!("{}: {}. {}", escape(&vote.side), escape(&join_with_and(&names)), escape(&vote.reason))
    };
    list("In the end", written.votes.iter().map(vote).collect());
    list("Another view", written.minority.lines().map(escape).collect());
    list("Open questions", written.open_questions.iter().map(|line| escape(line)).collect());
    list(
        "What follows",
        written
            .actions
            .iter()
            .map(|action| format!("{} ({}). {}", escape(&action.what), escape(&action.owner), escape(&action.why)))
            .collect(),
    );
    let position = |position: &Position| {
        let (who, given) = (name_of(&position.by, roster), &position.given);
        let sure = (given.confidence * 100.0).round();
        let text = format!("{}, {who}: {} ({sure} % sure). {}", position.id(), given.side, given.position);
        format!("<span id=\"c{}\"></span>{}", position.id(), escape(&text))
    };
    list("What each held", list_held(written).map(position).collect());
    let comment = |comment: &Comment| {
        let who = name_of(&comment.by, roster);
        format!(
            "<span id=\"c{0}\">{0}</span> {1}, {2}{3}: {4}",
            escape(&comment.id),
            escape(who),
            comment.kind.as_str(),
            escape(&on(&comment.answers)),
            escape(&comment.text)
        )
    };
    list("Everything that was said", written.comments.iter().map(comment).collect());
    let how = escape(&format!("{} {}.", ending(&written.ending, written.rounds), made_of(written)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}: {}</title>\n<style>body{{font:1rem/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}}.from{{opacity:.7;font-size:.85rem}}:target{{outline:2px solid}}</style>\n\
         </head>\n<body>\n{body}<p class=\"from\">{how}</p>\n</body>\n</html>\n",
        escape(wanted(written.artefact)),
        escape(&written.title)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
