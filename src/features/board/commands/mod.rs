//! `/board`, `teamroom board` and the buttons. They only use the database, so they also work beside a running team.

mod calling;
mod steering;

use serde_json::{Value, json};

use crate::features::board::button::BoardButton;
use crate::features::board::model::Board;
use crate::features::board::service::{BoardService, Known};
use crate::features::board::{BOARD, render};
use crate::features::meeting::model::Meeting;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{FileContent, OutboundFile};
use kernel::commands::{
    ArgumentSpec, Choice, CommandCall, CommandReply, CommandSpec, Registry, Services, Suggestion, Surface, Topic, refuse,
};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::text::flatten;

const ARTEFACTS: &[Choice] = &[
    Choice::new("recommendations", "recommendations"),
    Choice::new("decision", "a decision"),
    Choice::new("document", "a document"),
    Choice::new("roadmap", "a roadmap"),
];
const ORDERS: &[Choice] = &[
    Choice::new("sequential", "one after the other, each sees all before"),
    Choice::new("greedy", "all at once, each sees the rounds before"),
];
const FORMATS: &[Choice] = &[Choice::new("markdown", "Markdown"), Choice::new("json", "JSON"), Choice::new("html", "a web page")];

/// The most rounds in all (BOARD-11).
const MOST_ROUNDS: u32 = 10;
/// The most suggestions of a completion, and the most meetings of a list.
const SUGGESTED: usize = 25;
const LISTED: usize = 15;

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let boards = services.late::<BoardService>();
    let which =
        || ArgumentSpec::reference("id", "board", "Which one: the end of its id, or words of its question; by default the one here");
    registry
        .group(CommandSpec::new("board", "Meetings that think one question through.").listed_under(Topic::Meetings), &boards)
        .command(
            CommandSpec::new("create", "Call a board meeting on a question.")
                .example("\"Should we move the queue to PostgreSQL?\" --rounds 3")
                .public()
                .argument(ArgumentSpec::text("topic", 1500, "The question: should we move the queue to PostgreSQL?").required())
                .argument(ArgumentSpec::choice("artefact", ARTEFACTS, "What it is to leave behind; by default recommendations"))
                .argument(ArgumentSpec::text(
                    "team",
                    300,
                    "Who takes part, personas and experts, names with commas; by default who knows most about it",
                ))
                .argument(ArgumentSpec::choice("strategy", ORDERS, "Who speaks when after the first round"))
                .argument(ArgumentSpec::integer("rounds", (1, i64::from(MOST_ROUNDS)), "The most rounds"))
                .argument(ArgumentSpec::number("threshold", (0.0, 0.9), "Below this share of new comments it has nothing new to say"))
                .argument(ArgumentSpec::number("budget", (0.01, 1000.0), "The most that it may cost, in dollars"))
                .argument(ArgumentSpec::persona("advocate", "Who argues against what most hold"))
                .argument(ArgumentSpec::text("file", 400, "A document that all read; may be repeated").completed_by("file").many())
                .argument(
                    ArgumentSpec::name_or_id("channel", 100, "The channel, by name or id")
                        .completed_by("channel")
                        .only_in(Surface::CommandLine),
                ),
            |boards, call| Box::pin(calling::create(boards, call)),
        )
        .command(CommandSpec::new("list", "The last board meetings."), |boards, call| Box::pin(list(boards, call)))
        .command(CommandSpec::new("experts", "The experts who can be guests of a board meeting."), |boards, _| {
            Box::pin(async move { Ok(list_experts(&boards.roster)) })
        })
        .command(
            CommandSpec::new("status", "How far a board meeting is, and who holds what.").example("--id a1b2c3").argument(which()),
            |boards, call| Box::pin(status(boards, call)),
        )
        .command(
            CommandSpec::new("export", "What a board meeting has left behind, as a file.")
                .example("--id a1b2c3 --format markdown")
                .argument(which())
                .argument(ArgumentSpec::choice("format", FORMATS, "Which form; by default Markdown")),
            |boards, call| Box::pin(export(boards, call)),
        )
        .command(
            CommandSpec::new("say", "Say something that all read before their next turn.")
                .example("\"The budget is fixed.\" --id a1b2c3")
                .public()
                .argument(ArgumentSpec::text("text", 1500, "What they should know").required())
                .argument(which()),
            |boards, call| Box::pin(steering::say(boards, call)),
        )
        .command(
            CommandSpec::new("pause", "Pause a board meeting after the turns that are on.")
                .example("--id a1b2c3")
                .public()
                .argument(which()),
            |boards, call| Box::pin(steering::pause(boards, call)),
        )
        .command(
            CommandSpec::new("resume", "Continue a paused board meeting.").example("--id a1b2c3").public().argument(which()),
            |boards, call| Box::pin(steering::resume(boards, call)),
        )
        .command(
            CommandSpec::new("extend", "Allow more rounds.")
                .example("--id a1b2c3 --rounds 2")
                .public()
                .argument(ArgumentSpec::integer("rounds", (1, i64::from(MOST_ROUNDS)), "How many more; by default 2"))
                .argument(which()),
            |boards, call| Box::pin(steering::extend(boards, call)),
        )
        .command(
            CommandSpec::new("stop", "End a board meeting now and write its document.").example("--id a1b2c3").public().argument(which()),
            |boards, call| Box::pin(steering::stop(boards, call)),
        )
        .command(
            CommandSpec::new("cancel", "End a board meeting without a document.")
                .example("--id a1b2c3")
                .discards()
                .operators_only()
                .argument(which()),
            |boards, call| Box::pin(steering::cancel(boards, call)),
        );
    registry.button(BoardButton::PREFIX, &boards, |boards, call| Box::pin(steering::press(boards, call)));
    registry.completion("board", &boards, |boards, typed| Box::pin(complete(boards, typed)));
}

async fn list(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let mut known = boards.list(call).await?;
    known.truncate(LISTED);
    if known.is_empty() {
        return Ok(CommandReply::private("There was no board meeting yet. `/board create` calls one.").with_data(json!([])));
    }
    let line =
        |(meeting, board): &(Meeting, Board)| format!("- {}: {}, {}", render::title(meeting, board), meeting.state.as_str(), meeting.day);
    let text: Vec<String> = known.iter().map(line).collect();
    let data: Vec<Value> = known.iter().map(|(meeting, board)| describe(meeting, board)).collect();
    Ok(CommandReply::private(text.join("\n")).with_data(json!(data)))
}

fn list_experts(roster: &Roster) -> CommandReply {
    let experts = roster.experts();
    let line = |expert: &Persona| format!("- **{}** (`{}`): {}", expert.name, expert.slug, Medium::Chat.line_within(&expert.role, 200));
    let text = if experts.is_empty() {
        "No experts yet. Add a file to the folder `experts`; `docs/boards.md` shows one.".to_owned()
    } else {
        let lines: Vec<String> = experts.iter().map(line).collect();
        format!("Guests of board meetings, by name in `team` or if they fit the question:\n{}", lines.join("\n"))
    };
    let data = experts
        .iter()
        .map(|expert| json!({ "slug": expert.slug, "name": expert.name, "expertise": expert.expertise, "tier": expert.tier.as_str() }));
    CommandReply::private(text).with_data(data.collect())
}

async fn status(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let known = boards.know(boards.find(call).await?).await?;
    let Known { meeting, board, record, discussion, .. } = &known;
    let text = render::status(meeting, board, &known.shown(), record.document.as_ref(), &boards.roster);
    let mut data = describe(meeting, board);
    data["comments"] = json!(discussion.comments);
    data["cost"] = json!(known.cost.dollars());
    Ok(CommandReply::private(text).with_data(data))
}

async fn export(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let known = boards.know(boards.find(call).await?).await?;
    let Some(written) = &known.record.document else {
        return Ok(refuse(format!("that board meeting has left no document: it is {}", known.meeting.state.as_str()))?);
    };
    let name = written.artefact.as_str();
    let (name, text) = match call.arguments.find_text("format") {
        Some("json") => (format!("{name}.json"), serde_json::to_string_pretty(written)?),
        Some("html") => (format!("{name}.html"), render::html(written, &boards.roster)),
        _ => (format!("{name}.md"), render::markdown(written, &boards.roster)),
    };
    let data = serde_json::to_value(written)?;
    if call.caller.is_command_line() {
        return Ok(CommandReply::document(text).with_data(data));
    }
    let file = OutboundFile { name, content: FileContent::Text(text) };
    Ok(CommandReply::private(render::title(&known.meeting, &known.board)).with_files(vec![file]).with_data(data))
}

async fn complete(boards: &BoardService, typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let known = boards.store.list_meetings(&BOARD, 50).await.unwrap_or_default();
    let read = known
        .into_iter()
        .filter(|meeting| !meeting.channel.private)
        .filter_map(|meeting| Some((meeting.read_payload::<Board>().ok()?, meeting)));
    let fits = |(board, meeting): &(Board, Meeting)| board.topic.to_lowercase().contains(&typed) || meeting.id.as_str().ends_with(&typed);
    let suggest = |(board, meeting): (Board, Meeting)| Suggestion {
        value: render::short_id(&meeting.id).to_owned(),
        label: format!("{} ({})", flatten(&board.topic, 60), meeting.state.as_str()),
    };
    read.filter(fits).take(SUGGESTED).map(suggest).collect()
}

fn describe(meeting: &Meeting, board: &Board) -> Value {
    json!({
        "id": meeting.id,
        "short": render::short_id(&meeting.id),
        "topic": board.topic,
        "artefact": board.artefact.as_str(),
        "state": meeting.state.as_str(),
        "reason": meeting.reason,
        "ended_at": meeting.ended_at,
        "paused": render::is_paused(meeting),
        "channel": meeting.channel.id,
        "called_at": meeting.called_at,
        "round": board.round + 1,
        "rounds": board.rounds,
        "members": board.members,
        "promoted": board.promoted,
    })
}
