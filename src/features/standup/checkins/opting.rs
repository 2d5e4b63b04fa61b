//! `/standup checkin` and the buttons, with which people turn check-ins on and off.

use crate::features::standup::commands::StandupCommands;
use crate::features::standup::render;
use kernel::chat::message::Place;
use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::commands::{Caller, CommandCall, CommandReply, refuse};
use kernel::ids::{ChannelId, UserId};

/// The prefix of the buttons' ids.
pub(in crate::features::standup) const CHECKIN: &str = "checkin";

/// The button below the Day Report. A second press turns it off again.
pub(in crate::features::standup) fn ask_button(channel: &ChannelId) -> Button {
    let label = "Ask me before the standup".to_owned();
    Button { id: format!("{CHECKIN}:turn:{channel}"), label, style: ButtonStyle::Secondary }
}

/// The button below a question.
pub(super) fn stop_button(channel: &ChannelId) -> Button {
    Button { id: format!("{CHECKIN}:off:{channel}"), label: "Stop asking me".to_owned(), style: ButtonStyle::Secondary }
}

impl StandupCommands {
    /// `/standup checkin on` and `off`.
    pub(in crate::features::standup) async fn opt(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let (person, name) = person_of(call)?;
        let channel = match &call.get_channel()?.place {
            Place::Direct => refuse("use this in the channel of the standup")?,
            Place::Thread { parent, .. } => parent.clone(),
            Place::Server => call.get_channel()?.id.clone(),
        };
        match call.arguments.get_text("state")? {
            "on" => self.begin_asking(&channel, person, name).await,
            _ => self.end_asking(&channel, person).await,
        }
    }

    /// A press of either button.
    pub(in crate::features::standup) async fn press_checkin(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let (person, name) = person_of(call)?;
        let [_, verb, channel] = &call.name.splitn(3, ':').collect::<Vec<_>>()[..] else { refuse("this button no longer works")? };
        let channel = ChannelId::new(*channel);
        if *verb == "off" {
            return Ok(self.end_asking(&channel, person).await?.retiring_buttons());
        }
        // A second press takes the first one back.
        if self.store.remove_checkin_person(&channel, person).await? {
            return Ok(CommandReply::private(render::render_checkin_off(&channel)));
        }
        self.begin_asking(&channel, person, name).await
    }

    async fn begin_asking(&self, channel: &ChannelId, person: &UserId, name: &str) -> anyhow::Result<CommandReply> {
        let lead = self.terms.checkin_lead;
        if lead.is_zero() {
            refuse("nobody is asked before standups here. An operator can change that with `standup.checkin_lead`")?;
        }
        self.store.add_checkin_person(channel, person, name, self.clock.now()).await?;
        let failed = self.store.find_checkin_failure(person).await?;
        Ok(CommandReply::private(render::render_checkin_on(channel, lead, failed.as_deref())))
    }

    async fn end_asking(&self, channel: &ChannelId, person: &UserId) -> anyhow::Result<CommandReply> {
        self.store.remove_checkin_person(channel, person).await?;
        Ok(CommandReply::private(render::render_checkin_off(channel)))
    }
}

pub(super) fn person_of(call: &CommandCall) -> anyhow::Result<(&UserId, &str)> {
    match &call.caller {
        Caller::Person { id, name, .. } => Ok((id, name)),
        Caller::CommandLine | Caller::KanbanPage => Ok(refuse("this is for people in the chat. Use it there")?),
    }
}
