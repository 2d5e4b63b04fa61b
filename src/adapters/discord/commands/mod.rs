//! Translates between Discord's interactions (commands, completion, buttons) and the [`Registry`].
//!
//! An interaction is acknowledged within Discord's limit of three seconds. It then runs on the main runtime, so that it survives the end of
//! its gateway session. Commands belong to one account, by [`CommandDuty`]. Every account handles buttons, because Discord reports a click to the
//! application that posted the message.
//!
//! The framework poise is not used, for two reasons. It registers each command as a plain function pointer with parameters known at compile time,
//! while ours come from a [`Registry`] that is filled at the start and shared with Slack, HTTP and the command line. And its context answers through
//! serenity's HTTP client, which has no timeouts and logs addresses with tokens. What is left of it without these two is parsing the options,
//! which `options` does in forty lines.

mod answer;
mod callback;
mod duty;
mod options;
mod registration;

use std::sync::Arc;

use serenity::all as serenity;
use serenity::{ComponentInteractionDataKind, Interaction};
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::gateway::{Hub, manages, names_of};
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::ports::Registrations;
use crate::adapters::discord::rest::{Credential, Rest};
use answer::Pending;
use callback::{Callback, acknowledge};
pub(crate) use duty::CommandDuty;
use kernel::chat::PlatformEvent;
use kernel::chat::message::{Author, AuthorKind, SERVER_MANAGER};
use kernel::chat::redact::Redactor;
use kernel::commands::{ArgumentKind, Caller, CommandRequest, Invoked, Registry};
use options::{Given, read_options};

/// Receives and answers the interactions of one account.
pub(crate) struct Interactions {
    pub(crate) registry: Arc<Registry>,
    pub(crate) registrations: Arc<dyn Registrations>,
    pub(crate) rest: Arc<Rest>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) credential: Arc<Credential>,
    /// Which account has the commands.
    pub(crate) duty: Arc<CommandDuty>,
    pub(crate) registering: tokio::sync::Mutex<()>,
    /// Registers on this server only. None: globally.
    pub(crate) server: Option<serenity::GuildId>,
    pub(crate) timing: super::Timing,
    /// The runtime that executes commands.
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) stop: CancellationToken,
    pub(crate) redactor: Redactor,
    /// Longer answers go as a file.
    pub(crate) attach_over: usize,
}

impl Interactions {
    pub(crate) fn dispatch(self: &Arc<Self>, interaction: Interaction) {
        let interactions = Arc::clone(self);
        self.runtime.spawn(async move {
            match &interaction {
                Interaction::Component(pressed) => interactions.press(pressed).await,
                Interaction::Command(command) => interactions.take(command).await,
                Interaction::Autocomplete(typing) => interactions.complete(typing),
                _ => {}
            }
        });
    }

    /// Called when the account is online and may have the commands.
    pub(crate) fn came_online(self: &Arc<Self>, application: serenity::ApplicationId) {
        self.duty.came_online(self, application);
    }

    /// Called when Discord refuses the account, so that another one gets the commands.
    pub(crate) fn gave_up(&self) {
        self.duty.gave_up(&self.credential.persona);
    }

    /// Acknowledges a command and starts it. A halt runs even if its acknowledgement fails.
    async fn take(self: &Arc<Self>, command: &serenity::CommandInteraction) {
        let Given { path, values, .. } = read_options(&command.data);
        let audience = self.registry.audience_of(&path, &values);
        let pending = Pending::of_command(command, audience);
        if let Err(failure) = acknowledge(self, (command.id, &command.token), Callback::Thinking(audience)).await {
            tracing::warn!(command = path, %failure, "a command could not be acknowledged");
        }
        let author = author(&command.user, command.member.as_deref());
        self.hand_over(pending, Invoked::Command { path, given: values }, author, command.guild_id, command.channel_id);
    }

    /// Acknowledges a button interaction and starts it. The button's id holds everything needed, so buttons from earlier runs still work.
    ///
    /// The acknowledgement is the deferred update, which shows nothing. The other kind shows a private "thinking …" message, and later
    /// edits would change that message in place of the one with the button.
    async fn press(self: &Arc<Self>, pressed: &serenity::ComponentInteraction) {
        // The team posts no select menus.
        let ComponentInteractionDataKind::Button = pressed.data.kind else { return };
        let pending = Pending::of_press(pressed);
        if let Err(failure) = acknowledge(self, (pressed.id, &pressed.token), Callback::Unchanged).await {
            tracing::warn!(button = pressed.data.custom_id, %failure, "a press could not be acknowledged");
        }
        let author = author(&pressed.user, pressed.member.as_ref());
        self.hand_over(pending, Invoked::Button(pressed.data.custom_id.clone()), author, pressed.guild_id, pressed.channel_id);
    }

    /// Runs a request on the main runtime.
    fn hand_over(
        self: &Arc<Self>,
        pending: Pending,
        invoked: Invoked,
        author: Author,
        server: Option<serenity::GuildId>,
        channel: serenity::ChannelId,
    ) {
        if server.is_none() {
            self.hub.channels.record_direct(channel, &self.credential.persona);
        }
        let channel = self.hub.channels.describe(channel);
        let request = CommandRequest { invoked, caller: caller(&author), channel: Some(channel.clone()) };
        let (interactions, allowed) = (Arc::clone(self), self.hub.is_allowed(server));
        if allowed {
            self.hub.announce(PlatformEvent::Seen { author: Box::new(author), channel: Box::new(channel) });
        }
        self.runtime.spawn(async move { answer::carry_out(&interactions, pending, request, allowed).await });
    }

    /// Answers autocompletion, which Discord requests at each key stroke.
    fn complete(self: &Arc<Self>, typing: &serenity::CommandInteraction) {
        let Given { path, typed, .. } = read_options(&typing.data);
        let argument = typed.and_then(|(name, text)| Some((self.registry.find(&path)?.find_argument(&name)?.kind, text)));
        let Some((ArgumentKind::Reference(kind), text)) = argument else { return };
        if !self.hub.is_allowed(typing.guild_id) {
            return;
        }
        let (interactions, interaction, token) = (Arc::clone(self), typing.id, typing.token.clone());
        let caller = caller(&author(&typing.user, typing.member.as_deref()));
        let channel = self.hub.channels.describe(typing.channel_id);
        self.runtime.spawn(async move {
            let found = interactions.registry.complete(kind, &text, &caller, Some(&channel)).await;
            if let Err(failure) = acknowledge(&interactions, (interaction, &token), Callback::Suggestions(found)).await {
                tracing::debug!(command = path, %failure, "suggestions could not be shown");
            }
        });
    }
}

/// A member of a server.
pub(super) fn member(member: &serenity::Member) -> Author {
    let kind = if member.user.bot { AuthorKind::ForeignBot } else { AuthorKind::Person };
    Author { kind, ..author(&member.user, Some(member)) }
}

/// Only people give commands.
fn author(user: &serenity::User, member: Option<&serenity::Member>) -> Author {
    let nick = member.and_then(|member| member.nick.clone());
    let (name, aliases) = names_of(nick, user.global_name.clone(), user.name.clone());
    let mut roles: Vec<String> = member.map(|member| member.roles.iter().map(from_discord).collect()).unwrap_or_default();
    if member.and_then(|member| member.permissions).is_some_and(manages) {
        roles.push(SERVER_MANAGER.to_owned());
    }
    Author { id: from_discord(user.id), name, aliases, kind: AuthorKind::Person, roles }
}

fn caller(author: &Author) -> Caller {
    Caller::Person { id: author.id.clone(), name: author.name.clone(), roles: author.roles.clone() }
}
