//! `/board`, `teamroom board` and the buttons. They only use the database, so they also work beside a running team.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::features::board::button::{BoardButton, Choice as ButtonChoice};
use crate::features::board::model::members::{self, MOST};
use crate::features::board::model::{Artefact, Board, Member, Order};
use crate::features::board::render;
use crate::features::board::service::{BoardService, Known, participant_of};
use crate::features::board::store::AddRemark;
use crate::features::meeting::model::{CalledBy, Meeting};
use crate::features::meeting::store::Called;
use crate::features::schedule::find_place;
use kernel::agent::halts::HaltScope;
use kernel::chat::attachments::read_local;
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
use kernel::chat::outbound::{FileContent, OutboundFile};
use kernel::commands::{
    ArgumentSpec, Caller, Choice, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, refuse,
};
use kernel::money::Money;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::text::{flatten, join_with_and};

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
/// How many rounds the button adds.
const ADDED: u32 = 2;
/// The most suggestions of a completion, and the most meetings of a list.
const SUGGESTED: usize = 25;
const LISTED: usize = 15;

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let boards = services.late::<BoardService>();
    let which =
        || ArgumentSpec::reference("id", "board", "Which one: the end of its id, or words of its question; by default the one here");
    registry
        .group(CommandSpec::new("board", "Meetings that think one question through."), &boards)
        .command(
            CommandSpec::new("create", "Call a board meeting on a question.")
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
                .argument(ArgumentSpec::text("file", 400, "A document that all read; may be repeated").many())
                .argument(ArgumentSpec::name_or_id("channel", 100, "The channel, by name or id").only_in(Surface::CommandLine)),
            |boards, call| Box::pin(create(boards, call)),
        )
        .command(CommandSpec::new("list", "The last board meetings."), |boards, call| Box::pin(list(boards, call)))
        .command(CommandSpec::new("experts", "The experts who can be guests of a board meeting."), |boards, _| {
            Box::pin(async move { Ok(list_experts(&boards.roster)) })
        })
        .command(CommandSpec::new("status", "How far a board meeting is, and who holds what.").argument(which()), |boards, call| {
            Box::pin(status(boards, call))
        })
        .command(
            CommandSpec::new("export", "What a board meeting has left behind, as a file.")
                .argument(which())
                .argument(ArgumentSpec::choice("format", FORMATS, "Which form; by default Markdown")),
            |boards, call| Box::pin(export(boards, call)),
        )
        .command(
            CommandSpec::new("say", "Say something that all read before their next turn.")
                .public()
                .argument(ArgumentSpec::text("text", 1500, "What they should know").required())
                .argument(which()),
            |boards, call| Box::pin(say(boards, call)),
        )
        .command(
            CommandSpec::new("pause", "Pause a board meeting after the turns that are on.").public().argument(which()),
            |boards, call| Box::pin(pause(boards, call)),
        )
        .command(CommandSpec::new("resume", "Continue a paused board meeting.").public().argument(which()), |boards, call| {
            Box::pin(resume(boards, call))
        })
        .command(
            CommandSpec::new("extend", "Allow more rounds.")
                .public()
                .argument(ArgumentSpec::integer("rounds", (1, i64::from(MOST_ROUNDS)), "How many more; by default 2"))
                .argument(which()),
            |boards, call| Box::pin(extend(boards, call)),
        )
        .command(CommandSpec::new("stop", "End a board meeting now and write its document.").public().argument(which()), |boards, call| {
            Box::pin(stop(boards, call))
        })
        .command(
            CommandSpec::new("cancel", "End a board meeting without a document.").operators_only().argument(which()),
            |boards, call| Box::pin(cancel(boards, call)),
        );
    registry.button(BoardButton::PREFIX, &boards, |boards, call| Box::pin(press(boards, call)));
    registry.completion("board", &boards, |boards, typed| Box::pin(complete(boards, typed)));
}

async fn create(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let channel = find_place(&boards.store, call).await?;
    if channel.place == Place::Direct {
        refuse("a board meeting needs a channel where all who take part can post")?;
    }
    let concerned = [HaltScope::All, HaltScope::Channel(channel.id.clone())];
    if let Some(halt) = boards.store.list_halts().await?.into_iter().find(|halt| concerned.contains(&halt.scope)) {
        refuse(format!("{} has paused the team. Ask an operator to use `/resume` first", flatten(&halt.by, 40)))?;
    }
    let called_by = match &call.caller {
        Caller::Person { id, name, .. } => CalledBy::Person { id: id.clone(), name: name.clone(), message: None },
        Caller::CommandLine => CalledBy::CommandLine,
        Caller::KanbanPage => refuse("a board meeting is not called on the kanban page. Use `/board create` in the chat")?,
    };
    let board = read_board(boards, call).await?;
    let budget = call.arguments.find_number("budget").map(Money::from_dollars);
    let mut documents = Vec::new();
    for path in call.arguments.list_texts("file") {
        let (name, text) = read_local(Path::new(&path)).await.map_err(Refused::new)?;
        if text.trim().is_empty() {
            refuse(format!("{name} is empty"))?;
        }
        documents.push((name, text));
    }
    let meeting = boards.terms.call(channel, called_by, &board, budget, boards.now())?;
    Ok(match boards.store.call_board(&meeting, &documents).await? {
        Called::Opened => {
            let mut text = called(boards, &meeting, &board);
            if let (Some(budget), [model, ..]) = (budget, &boards.terms.unpriced[..]) {
                let _ = write!(text, "\n{}", render::unpriced(model, budget));
            }
            CommandReply::public(text).with_data(json!({ "board": describe(&meeting, &board) })).left_to_team()
        }
        Called::AlreadyOpen(running) => {
            CommandReply::refused(format!("The {} is still running here. `/board stop` ends it.", running.describe()))
        }
    })
}

fn called(boards: &BoardService, meeting: &Meeting, board: &Board) -> String {
    let names: Vec<&str> = board.members.iter().map(|member| member.name(&boards.roster)).collect();
    let title = render::title(meeting, board);
    format!("Called: {title}. {} discuss it in #{}, as soon as the question is clear.", join_with_and(&names), meeting.channel.name)
}

/// What the arguments say, with the settings for the rest.
async fn read_board(boards: &BoardService, call: &CommandCall) -> anyhow::Result<Board> {
    let arguments = &call.arguments;
    let topic = arguments.get_text("topic")?.trim().to_owned();
    if !topic.contains(char::is_alphanumeric) {
        refuse("what is the question?")?;
    }
    let mut members = match arguments.find_text("team") {
        Some(names) => {
            let names: Vec<String> = names.split([',', ';', '\n']).map(str::to_owned).collect();
            members::name(&names, &boards.roster).map_err(Refused::new)?
        }
        None => members::choose(
            &topic,
            &boards.roster,
            &boards.store.list_relationships(boards.now()).await?,
            (boards.terms.settings.members as usize).min(MOST),
        ),
    };
    if members.len() < members::FEWEST {
        refuse(format!("a board meeting takes at least {} personas besides {}", members::FEWEST, boards.roster.coordinator().name))?;
    }
    let advocate = match arguments.find_text("advocate") {
        Some(name) => {
            let persona = boards.roster.resolve_speaker(name).map_err(|error| Refused::new(error.to_string()))?;
            if persona.coordinator {
                refuse(format!("{} leads the meeting and does not take part in it", persona.name))?;
            }
            if !members.iter().any(|member| member.persona == persona.slug) {
                members.push(Member::of(persona, &boards.roster, "argues against what most hold"));
            }
            Some(persona.slug.clone())
        }
        None => None,
    };
    Ok(Board {
        topic,
        artefact: arguments.find_text("artefact").and_then(Artefact::parse).unwrap_or_default(),
        order: if arguments.find_text("strategy") == Some("greedy") { Order::Greedy } else { Order::Sequential },
        rounds: arguments.find_u32("rounds").unwrap_or(boards.terms.settings.rounds),
        threshold: arguments.find_number("threshold").unwrap_or(boards.terms.settings.threshold),
        members,
        advocate,
        round: 0,
        promoted: Vec::new(),
        asked_by: match &call.caller {
            Caller::Person { name, .. } => Some(name.clone()),
            Caller::CommandLine | Caller::KanbanPage => None,
        },
    })
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
        return Ok(CommandReply::private(text).with_data(data));
    }
    let file = OutboundFile { name, content: FileContent::Text(text) };
    Ok(CommandReply::private(render::title(&known.meeting, &known.board)).with_files(vec![file]).with_data(data))
}

async fn say(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    let text = call.arguments.get_text("text")?.trim().to_owned();
    if text.is_empty() {
        refuse("what should they know?")?;
    }
    let remark = AddRemark {
        meeting: meeting.id.clone(),
        channel: meeting.channel.id.clone(),
        by: participant_of(&call.caller),
        text: text.clone(),
    };
    if !boards.store.add_remark(&remark, boards.now()).await? {
        refuse("that board meeting is coming to its end")?;
    }
    if call.caller.is_command_line() {
        boards.tell(&meeting, format!("The operator says to all: {}", Medium::Chat.line_within(&text, 300))).await?;
    }
    Ok(CommandReply::public(format!("All read it before their next turn: {}", Medium::Chat.line_within(&text, 300))))
}

async fn pause(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    pause_one(boards, call, &meeting).await
}

async fn pause_one(boards: &BoardService, call: &CommandCall, meeting: &Meeting) -> anyhow::Result<CommandReply> {
    if !boards.store.pause_meeting(&meeting.id, call.caller.name(), boards.now()).await? {
        refuse(if meeting.paused.is_some() { "it is paused already" } else { "it is coming to its end" })?;
    }
    boards.show_progress(&meeting.id).await?;
    Ok(CommandReply::public(format!("{} paused {}. `/board resume` continues it.", call.caller.subject(), named(meeting))))
}

async fn resume(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    resume_one(boards, call, &meeting).await
}

async fn resume_one(boards: &BoardService, call: &CommandCall, meeting: &Meeting) -> anyhow::Result<CommandReply> {
    if !boards.store.resume_meeting(&meeting.id, boards.now()).await? {
        refuse("it is not paused")?;
    }
    boards.show_progress(&meeting.id).await?;
    Ok(CommandReply::public(format!("{} resumed {}.", call.caller.subject(), named(meeting))))
}

async fn extend(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    extend_one(boards, call, &meeting, call.arguments.find_u32("rounds").unwrap_or(ADDED)).await
}

async fn extend_one(boards: &BoardService, call: &CommandCall, meeting: &Meeting, rounds: u32) -> anyhow::Result<CommandReply> {
    let board: Board = meeting.read_payload()?;
    let most = MOST_ROUNDS.saturating_sub(board.rounds);
    let Some(extra) = boards.store.extend_board(meeting, (rounds, most), call.caller.name(), boards.now()).await? else {
        return Ok(refuse(format!("no more rounds can be added: it is coming to its end, or may have {MOST_ROUNDS} already"))?);
    };
    boards.show_progress(&meeting.id).await?;
    Ok(CommandReply::public(format!("{} allowed more rounds: {} at most.", call.caller.subject(), board.rounds + extra)))
}

async fn stop(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    stop_one(boards, call, &meeting).await
}

async fn stop_one(boards: &BoardService, call: &CommandCall, meeting: &Meeting) -> anyhow::Result<CommandReply> {
    if !boards.store.stop_board(&meeting.id, call.caller.name(), boards.now()).await? {
        refuse("it is coming to its end already")?;
    }
    Ok(CommandReply::public(format!("{} stopped {}. What was said is written down next.", call.caller.subject(), named(meeting))))
}

async fn cancel(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    boards.cancel(&meeting, call.caller.name()).await?;
    Ok(CommandReply::private("The board meeting is cancelled."))
}

async fn press(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let Some(button) = BoardButton::parse(&call.name) else { return Ok(refuse("this button is not known any more")?) };
    let Some(meeting) = boards.store.find_meeting(&button.meeting).await? else { return Ok(refuse("that board meeting is gone")?) };
    if button.choice == ButtonChoice::Actions {
        let (items, refused) = boards.add_actions(&meeting.id).await?;
        let items: Vec<String> = items.iter().map(|item| format!("- `#{}` {}", item.short_id(), flatten(&item.what, 160))).collect();
        let refused: Vec<String> = refused.iter().map(|why| format!("- Not added: {}.", flatten(why, 200))).collect();
        let text = format!("{} put what follows into the backlog:\n{}", call.caller.subject(), [items, refused].concat().join("\n"));
        return Ok(CommandReply::public(text).retiring_buttons());
    }
    if meeting.state.is_over() {
        refuse("that board meeting is over")?;
    }
    match button.choice {
        ButtonChoice::Pause => pause_one(boards, call, &meeting).await,
        ButtonChoice::Resume => resume_one(boards, call, &meeting).await,
        ButtonChoice::Extend => extend_one(boards, call, &meeting, ADDED).await,
        ButtonChoice::Stop | ButtonChoice::Actions => stop_one(boards, call, &meeting).await,
    }
}

async fn complete(boards: &BoardService, typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let known = boards.store.list_meetings(&super::BOARD, 50).await.unwrap_or_default();
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

/// With its question, as far as that can be read.
fn named(meeting: &Meeting) -> String {
    meeting.read_payload().map_or_else(|_| "the board meeting".to_owned(), |board: Board| render::title(meeting, &board))
}

fn describe(meeting: &Meeting, board: &Board) -> Value {
    json!({
        "id": meeting.id,
        "short": render::short_id(&meeting.id),
        "topic": board.topic,
        "artefact": board.artefact.as_str(),
        "state": meeting.state.as_str(),
        "paused": render::is_paused(meeting),
        "channel": meeting.channel.id,
        "called_at": meeting.called_at,
        "round": board.round + 1,
        "rounds": board.rounds,
        "members": board.members,
        "promoted": board.promoted,
    })
}
