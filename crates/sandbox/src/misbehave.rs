//! Fault injection: errors, delays and lost connections, as they happen with the real platform.
//!
//! A [`Switch`] is one fault, set from Rust or as JSON with `POST /sandbox/misbehave`.

use std::sync::Arc;
use std::time::Duration;

use local_server::Counted;
use serde::{Deserialize, Serialize};

use super::faults::{FrameFault, RestFault, RestRule, Switches};
use super::server::{End, Link, Outgoing, Server};
use super::snowflake::Snowflake;
use super::state::{Audience, Channel, Dispatch, Intents, Overwrite, Permissions, Record, find_permission};

/// How a gateway connection is dropped.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// A TCP reset.
    Reset,
    /// A close frame with this code.
    Close(u16),
    CloseWithoutCode,
}

/// One fault. `bot` is a slug; `None` means all bots.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Switch {
    /// Drops the gateway connections now.
    Drop { bot: Option<String>, how: Cut },
    /// Asks clients to reconnect now (operation 7).
    Reconnect { bot: Option<String> },
    /// Invalidates the sessions now (operation 9), resumable or not.
    InvalidateSession { bot: Option<String>, resumable: bool },
    /// Asks for a heartbeat now (operation 1).
    RequestHeartbeat { bot: Option<String> },
    /// Refuses the next resumes (operation 9, not resumable).
    RefuseResume { bot: Option<String>, times: u32 },
    /// Closes the next connections right after IDENTIFY.
    CloseAfterIdentify { bot: Option<String>, code: u16, times: u32 },
    /// Accepts the next gateway connections without answering their upgrade request.
    IgnoreUpgrades { times: u32 },
    /// Answers the next upgrades and never sends HELLO.
    WithholdHello { times: u32 },
    /// Stops or starts acknowledging heartbeats.
    WithholdAcks { bot: Option<String>, on: bool },
    /// Delays, duplicates and reorders events. Probabilities are from 0 to 1. All zero removes the fault.
    Frames {
        bot: Option<String>,
        #[serde(default)]
        delay_ms: u64,
        #[serde(default)]
        duplicate: f64,
        #[serde(default)]
        reorder: f64,
        #[serde(default)]
        reorder_ms: u64,
    },
    /// Seeds the random numbers.
    Seed { seed: u64 },
    /// Injects an error into the next requests of a route. `path` is a prefix, without `/api/v10`.
    Rest { bot: Option<String>, method: Option<String>, path: String, times: u32, with: RestFault },
    /// Sets the message-content intent of a bot in the developer portal.
    ContentIntent { bot: String, on: bool },
    /// Revokes or restores a bot's token. Its connections are closed with 4004.
    RevokeToken { bot: String, on: bool },
    /// Denies a bot a permission such as `SEND_MESSAGES` in a channel, or removes the denial.
    Deny { bot: String, channel: String, permission: String, on: bool },
    /// A person stops or starts taking direct messages from bots.
    CloseDirect { person: String, on: bool },
    /// Changes how long nonces are remembered; 0 means not at all.
    NonceWindow { millis: u64 },
    /// Removes all faults, except revoked tokens, intents and permissions.
    Behave,
}

/// A switch names something that does not exist.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    #[error("there is no bot with the slug {0:?}")]
    UnknownBot(String),
    #[error("there is no channel {0:?}")]
    UnknownChannel(String),
    #[error("there is no permission {0:?} in the sandbox")]
    UnknownPermission(String),
}

/// Sets faults. Cheap to clone.
#[derive(Clone)]
pub struct Misbehaviour {
    server: Arc<Server>,
}

impl Misbehaviour {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Sets one fault.
    ///
    /// # Errors
    /// When the switch names an unknown bot, channel or permission.
    pub fn set(&self, switch: Switch) -> Result<(), SwitchError> {
        if let Some(bot) = named_bot(&switch) {
            self.find_bot(bot)?;
        }
        match switch {
            Switch::Drop { bot, how } => {
                let end = match how {
                    Cut::Reset => End::Reset,
                    Cut::Close(code) => End::Close(code, "injected fault"),
                    Cut::CloseWithoutCode => End::CloseWithoutCode,
                };
                self.for_each_link(bot.as_deref(), |link| link.end(end.clone()));
            }
            Switch::Reconnect { bot } => self.send(bot.as_deref(), r#"{"op":7,"s":null,"t":null,"d":null}"#),
            Switch::InvalidateSession { bot, resumable } => self.invalidate(bot.as_deref(), resumable),
            Switch::RequestHeartbeat { bot } => self.send(bot.as_deref(), r#"{"op":1,"s":null,"t":null,"d":null}"#),
            Switch::ContentIntent { bot, on } => self.set_content_intent(&bot, on)?,
            Switch::RevokeToken { bot, on } => {
                let id = self.find_bot(&bot)?;
                self.server.core().revoke(id, on);
            }
            Switch::Deny { bot, channel, permission, on } => self.deny(&bot, &channel, &permission, on)?,
            lasting => self.server.faults.change(|switches| arm(switches, lasting)),
        }
        Ok(())
    }

    fn find_bot(&self, slug: &str) -> Result<Snowflake, SwitchError> {
        let core = self.server.core();
        let found = core.world.accounts.find_bot(slug).map(|account| account.id);
        found.ok_or_else(|| SwitchError::UnknownBot(slug.to_owned()))
    }

    fn for_each_link(&self, bot: Option<&str>, act: impl Fn(&Link)) {
        let core = self.server.core();
        for session in core.hub.connected().filter(|session| !session.is_person) {
            let slug = core.world.accounts.get(session.user).and_then(|account| account.slug.as_deref());
            if let Some(link) = session.link.as_ref().filter(|_| bot.is_none() || bot == slug) {
                act(link);
            }
        }
    }

    fn send(&self, bot: Option<&str>, payload: &str) {
        self.for_each_link(bot, |link| {
            // A full queue belongs to a client that is about to be disconnected.
            let _ = link.frames.try_send(Outgoing::Operation(payload.to_owned()));
        });
    }

    fn invalidate(&self, bot: Option<&str>, resumable: bool) {
        self.send(bot, &format!(r#"{{"op":9,"s":null,"t":null,"d":{resumable}}}"#));
        self.server.core().end_sessions(bot, resumable);
    }

    fn set_content_intent(&self, bot: &str, on: bool) -> Result<(), SwitchError> {
        let id = self.find_bot(bot)?;
        if let Some(account) = self.server.core().world.accounts.get_mut(id) {
            account.intents_content = on;
        }
        Ok(())
    }

    fn deny(&self, bot: &str, channel: &str, permission: &str, on: bool) -> Result<(), SwitchError> {
        let bit = find_permission(permission).ok_or_else(|| SwitchError::UnknownPermission(permission.to_owned()))?;
        let id = self.find_bot(bot)?;
        let mut core = self.server.core();
        let found = core.world.channels.values().find(|c| c.name == channel || c.id.to_string() == channel).cloned();
        let mut channel = found.ok_or_else(|| SwitchError::UnknownChannel(channel.to_owned()))?;
        set_denied(&mut channel, id, bit, on);
        core.world.commit(Record::Channel(channel.clone()));
        let data = core.world.channel(&channel, Snowflake::MIN);
        core.world.dispatches.push(Dispatch::new("CHANNEL_UPDATE", Audience::Guild, Intents::GUILDS, data));
        core.flush();
        Ok(())
    }
}

fn set_denied(channel: &mut Channel, member: Snowflake, permission: Permissions, on: bool) {
    let mut overwrite = channel
        .overwrites
        .iter()
        .position(|overwrite| overwrite.id == member && overwrite.is_member)
        .map_or(Overwrite { id: member, is_member: true, allow: 0, deny: 0 }, |index| channel.overwrites.remove(index));
    if on {
        overwrite.deny |= permission.bits();
    } else {
        overwrite.deny &= !permission.bits();
    }
    if overwrite.deny | overwrite.allow != 0 {
        channel.overwrites.push(overwrite);
    }
}

fn named_bot(switch: &Switch) -> Option<&str> {
    match switch {
        Switch::Drop { bot, .. }
        | Switch::Reconnect { bot }
        | Switch::InvalidateSession { bot, .. }
        | Switch::RequestHeartbeat { bot }
        | Switch::RefuseResume { bot, .. }
        | Switch::CloseAfterIdentify { bot, .. }
        | Switch::WithholdAcks { bot, .. }
        | Switch::Frames { bot, .. }
        | Switch::Rest { bot, .. } => bot.as_deref(),
        _ => None,
    }
}

/// Stores a fault for later requests, connections or frames.
fn arm(switches: &mut Switches, switch: Switch) {
    match switch {
        Switch::RefuseResume { bot, times } => switches.refuse_resume.push(Counted { client: bot, times, fault: () }),
        Switch::CloseAfterIdentify { bot, code, times } => {
            switches.close_after_identify.push(Counted { client: bot, times, fault: code });
        }
        Switch::IgnoreUpgrades { times } => switches.ignore_upgrades = times,
        Switch::WithholdHello { times } => switches.withhold_hellos = times,
        Switch::WithholdAcks { bot, on } => {
            switches.withhold_acks.retain(|fault| fault.client != bot);
            if on {
                switches.withhold_acks.push(Counted { client: bot, times: u32::MAX, fault: () });
            }
        }
        Switch::Frames { bot, delay_ms, duplicate, reorder, reorder_ms } => {
            switches.frames.retain(|fault| fault.bot != bot);
            if delay_ms > 0 || duplicate > 0.0 || reorder > 0.0 {
                let (delay, reorder_by) = (Duration::from_millis(delay_ms), Duration::from_millis(reorder_ms));
                switches.frames.push(FrameFault { bot, delay, duplicate, reorder, reorder_by });
            }
        }
        Switch::Seed { seed } => switches.random.seed(seed),
        Switch::Rest { bot, method, path, times, with } => {
            switches.rest.push(Counted { client: bot, times, fault: RestRule { method, path, fault: with } });
        }
        Switch::CloseDirect { person, on } => {
            switches.closed_direct.retain(|closed| *closed != person);
            if on {
                switches.closed_direct.push(person);
            }
        }
        Switch::NonceWindow { millis } => switches.nonce_window = Some(Duration::from_millis(millis)),
        Switch::Behave => *switches = Switches::default(),
        // `set` handles all other switches itself.
        _ => {}
    }
}
