//! Calls a board meeting.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::describe;
use crate::features::board::model::members::{self, MOST};
use crate::features::board::model::{Artefact, Board, Member, Order};
use crate::features::board::render;
use crate::features::board::service::BoardService;
use crate::features::meeting::model::{CalledBy, Meeting};
use crate::features::meeting::store::Called;
use crate::features::schedule::find_place;
use kernel::agent::halts::HaltScope;
use kernel::chat::attachments::read_local;
use kernel::chat::message::Place;
use kernel::commands::{Caller, CommandCall, CommandReply, Refused, refuse};
use kernel::money::Money;
use kernel::text::{flatten, join_with_and};

pub(super) async fn create(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
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

/// The call that the arguments describe. The settings supply the rest.
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
