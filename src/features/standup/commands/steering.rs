use serde_json::{Value, json};

use crate::features::meeting::model::{CalledBy, Meeting, MeetingState, Participant, Seat, SeatState};
use crate::features::meeting::store::Called;
use crate::features::schedule::get_channel;
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::{STANDUP, render, say};
use kernel::agent::halts::HaltScope;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::OutboundKind;
use kernel::commands::{Caller, CommandCall, CommandReply, refuse};
use kernel::db::StoreError;
use kernel::text::{flatten, fold_name};

impl StandupCommands {
    pub(super) async fn start(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let channel = match &call.channel {
            Some(here) => here.clone(),
            None => self.get_channel(call.arguments.find_text("channel")).await?,
        };
        if channel.place == Place::Direct {
            refuse("a standup needs a channel where all personas can post")?;
        }
        let concerned = [HaltScope::All, HaltScope::Channel(channel.id.clone())];
        if let Some(halt) = self.store.list_halts().await?.into_iter().find(|halt| concerned.contains(&halt.scope)) {
            let by = flatten(&halt.by, 40);
            refuse(format!("{by} has paused the team. Ask an operator to use `/resume`, then start the standup."))?;
        }
        let by = match &call.caller {
            Caller::Person { id, name, .. } => CalledBy::Person { id: id.clone(), name: name.clone(), message: None },
            Caller::CommandLine => CalledBy::CommandLine,
            Caller::KanbanPage => refuse("a standup is not started on the kanban page. Use `/standup` in the chat")?,
        };
        let meeting = self.terms.call(channel, by, self.clock.now());
        let outcome = self.store.call_meeting(&meeting).await?;
        Ok(match outcome {
            Called::Opened => CommandReply::private("The standup begins.").with_data(json!({ "meeting": meeting })),
            Called::AlreadyOpen(running) => {
                CommandReply::refused(render::render_already_running(&running, self.terms.zone)).with_data(json!({ "meeting": running }))
            }
        })
    }

    pub(super) async fn show_status(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = match &call.channel {
            Some(_) => self.get_open(call).await?,
            None => self.get_latest().await?,
        };
        let seats = self.store.list_seats(&meeting.id).await?;
        let text = render::render_standup_status(&meeting, &seats, &self.roster);
        Ok(CommandReply::private(text).with_data(json!({ "meeting": meeting, "seats": seats })))
    }

    pub(super) async fn skip(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = self.get_open(call).await?;
        let who = call.arguments.get_text("persona")?.trim();
        let seats = self.store.list_seats(&meeting.id).await?;
        if seats.is_empty() {
            refuse("the standup is just beginning. Please try again in a moment.")?;
        }
        let persona = self.roster.resolve(who).ok().map(|persona| Participant::Persona(persona.slug.clone()));
        let wanted = fold_name(who.trim_start_matches('@'));
        let is_meant = |seat: &&Seat| Some(&seat.who) == persona.as_ref() || fold_name(self.name_of(&seat.who)) == wanted;
        let Some(seat) = seats.iter().find(is_meant) else {
            let names: Vec<_> = seats.iter().map(|seat| self.name_of(&seat.who)).collect();
            return Ok(refuse(format!("nobody called \"{who}\" takes part. Participants: {}", names.join(", ")))?);
        };
        let name = self.name_of(&seat.who);
        let reason = format!("{} skipped it", flatten(call.caller.name(), 40));
        if !self.store.skip_seat(&meeting.id, &seat.who, &reason, self.clock.now()).await? {
            let already = if seat.state == SeatState::Skipped { "is skipped" } else { "has spoken" };
            refuse(format!("{name} {already} already"))?;
        }
        let text = format!("{} skipped {name}.", call.caller.subject());
        self.with_meeting(CommandReply::public(text), &meeting, json!({ "skipped": seat.who })).await
    }

    pub(super) async fn pause(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = self.get_open(call).await?;
        if !self.store.pause_meeting(&meeting.id, call.caller.name(), self.clock.now()).await? {
            refuse("the standup is paused already, or is being wrapped up")?;
        }
        let text = format!("{} paused the standup. `/standup resume` continues it.", call.caller.subject());
        self.with_meeting(CommandReply::public(text), &meeting, json!({})).await
    }

    pub(super) async fn resume(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = self.get_open(call).await?;
        if !self.store.resume_meeting(&meeting.id, self.clock.now()).await? {
            refuse("the standup is not paused")?;
        }
        let text = format!("{} resumed the standup.", call.caller.subject());
        self.with_meeting(CommandReply::public(text), &meeting, json!({})).await
    }

    pub(super) async fn wrap(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = self.get_open(call).await?;
        if !self.store.ask_wrap(&meeting.id, self.clock.now()).await? {
            refuse("the standup is being wrapped up already")?;
        }
        let text = format!("{} wrapped up the standup. The Day Report is next.", call.caller.subject());
        self.with_meeting(CommandReply::public(text), &meeting, json!({})).await
    }

    pub(super) async fn cancel(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let meeting = self.get_open(call).await?;
        let by = flatten(call.caller.name(), 40);
        let told = match call.caller {
            Caller::Person { .. } | Caller::KanbanPage => format!("{by} cancelled the standup. There is no report of it."),
            Caller::CommandLine => "The standup was cancelled at the command line. There is no report of it.".to_owned(),
        };
        let said = [say(&meeting, OutboundKind::Notice, told)];
        let reason = format!("{by} cancelled it");
        if !self.store.end_meeting(&meeting.id, MeetingState::Cancelled, &reason, &said, self.clock.now()).await? {
            refuse("the standup is over already")?;
        }
        self.with_meeting(CommandReply::private("The standup is cancelled."), &meeting, json!({})).await
    }

    /// Adds the changed meeting to the reply, for programs.
    async fn with_meeting(&self, reply: CommandReply, meeting: &Meeting, mut data: Value) -> anyhow::Result<CommandReply> {
        data["meeting"] = json!(self.store.find_meeting(&meeting.id).await?);
        Ok(reply.with_data(data))
    }

    /// The running standup in the caller's channel. At the command line, the one that was called last.
    async fn get_open(&self, call: &CommandCall) -> anyhow::Result<Meeting> {
        let Some(here) = &call.channel else {
            let open = self.list_open().await?.pop();
            let place = self.store.place();
            return match open {
                Some(meeting) => Ok(meeting),
                None => Ok(refuse(format!("no standup is running in {place}. Start one with `teamroom standup run`"))?),
            };
        };
        match self.store.find_open_meeting(&here.id, &STANDUP).await? {
            Some(meeting) => Ok(meeting),
            None => Ok(refuse("No standup is running here. Start one with `/standup start`.")?),
        }
    }

    /// The running standups, oldest first.
    async fn list_open(&self) -> Result<Vec<Meeting>, StoreError> {
        let open = self.store.list_open_meetings().await?.into_iter().map(|open| open.meeting);
        Ok(open.filter(|meeting| meeting.kind == STANDUP).collect())
    }

    /// The running standup, or the last one.
    async fn get_latest(&self) -> anyhow::Result<Meeting> {
        if let Some(meeting) = self.list_open().await?.pop() {
            return Ok(meeting);
        }
        match self.store.list_meetings(&STANDUP, 1).await?.pop() {
            Some(last) => Ok(last),
            None => Ok(refuse(format!("there was no standup in {} yet. Start one with `teamroom standup run`", self.store.place()))?),
        }
    }

    /// A channel by name or id, or else that of the scheduled standup.
    ///
    /// # Errors
    /// The channel is unknown, or no standup is scheduled.
    pub async fn get_channel(&self, asked: Option<&str>) -> anyhow::Result<Channel> {
        let Some(name) = asked.or(self.scheduled_in.as_deref()) else {
            return Ok(refuse("no standup is scheduled. Give a channel with --channel")?);
        };
        get_channel(&self.store, name).await
    }

    fn name_of<'a>(&'a self, who: &'a Participant) -> &'a str {
        who.name(&self.roster)
    }
}
