//! What people do to a board meeting while it is held, by commands and by buttons.

use super::MOST_ROUNDS;
use crate::features::board::button::{BoardButton, Choice};
use crate::features::board::model::Board;
use crate::features::board::render;
use crate::features::board::service::{BoardService, participant_of};
use crate::features::board::store::AddRemark;
use crate::features::meeting::model::Meeting;
use kernel::chat::medium::Medium;
use kernel::commands::{CommandCall, CommandReply, refuse};

/// How many rounds the button adds.
const ADDED: u32 = 2;

pub(super) async fn say(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
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
        message: None,
    };
    if !boards.store.add_remark(&remark, boards.now()).await? {
        refuse("that board meeting is coming to its end")?;
    }
    if call.caller.is_command_line() {
        boards.tell(&meeting, format!("The operator says to all: {}", Medium::Chat.line_within(&text, 300))).await?;
    }
    Ok(CommandReply::public(format!("All read it before their next turn: {}", Medium::Chat.line_within(&text, 300))))
}

pub(super) async fn pause(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
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

pub(super) async fn resume(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
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

pub(super) async fn extend(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
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

pub(super) async fn stop(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    stop_one(boards, call, &meeting).await
}

async fn stop_one(boards: &BoardService, call: &CommandCall, meeting: &Meeting) -> anyhow::Result<CommandReply> {
    if !boards.store.stop_board(&meeting.id, call.caller.name(), boards.now()).await? {
        refuse("it is coming to its end already")?;
    }
    Ok(CommandReply::public(format!("{} stopped {}. What was said is written down next.", call.caller.subject(), named(meeting))))
}

pub(super) async fn cancel(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let meeting = boards.find_open(call).await?;
    boards.cancel(&meeting, call.caller.name()).await?;
    Ok(CommandReply::private("The board meeting is cancelled."))
}

pub(super) async fn press(boards: &BoardService, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let Some(button) = BoardButton::parse(&call.name) else { return Ok(refuse("this button is not known any more")?) };
    let Some(meeting) = boards.store.find_meeting(&button.meeting).await? else { return Ok(refuse("that board meeting is gone")?) };
    if button.choice == Choice::Actions {
        let (items, refused) = boards.add_actions(&meeting.id).await?;
        let items: Vec<String> =
            items.iter().map(|item| format!("- `#{}` {}", item.short_id(), Medium::Chat.line_within(&item.what, 160))).collect();
        let refused: Vec<String> = refused.iter().map(|why| format!("- Not added: {}.", Medium::Chat.line_within(why, 200))).collect();
        let text = format!("{} put what follows into the backlog:\n{}", call.caller.subject(), [items, refused].concat().join("\n"));
        return Ok(CommandReply::public(text).retiring_buttons());
    }
    if meeting.state.is_over() {
        refuse("that board meeting is over")?;
    }
    match button.choice {
        Choice::Pause => pause_one(boards, call, &meeting).await,
        Choice::Resume => resume_one(boards, call, &meeting).await,
        Choice::Extend => extend_one(boards, call, &meeting, ADDED).await,
        Choice::Stop | Choice::Actions => stop_one(boards, call, &meeting).await,
    }
}

/// Names the meeting by its question, if that can be read.
fn named(meeting: &Meeting) -> String {
    meeting.read_payload().map_or_else(|_| "the board meeting".to_owned(), |board: Board| render::title(meeting, &board))
}
