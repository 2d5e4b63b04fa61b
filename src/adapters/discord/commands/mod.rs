//! Translates between Discord's interactions (commands, completion, buttons) and the [`Registry`].
//!
//! An interaction is acknowledged within Discord's limit of three seconds. It then runs on the main runtime, so that it survives the end of
//! its gateway session. Commands belong to one account, by [`CommandDuty`]. Every account handles buttons, because Discord reports a click to the
//! application that posted the message.

mod answer;
mod duty;
mod options;
mod registration;

use std::sync::Arc;

use serenity::all as serenity;
use serenity::{ComponentInteractionDataKind, Interaction};
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::gateway::{Hub, names_of};
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::ports::Registrations;
use crate::adapters::discord::rest::{Credential, Rest};
use answer::Pending;
pub(crate) use duty::CommandDuty;
use kernel::chat::PlatformEvent;
use kernel::chat::message::{Author, AuthorKind, SERVER_MANAGER};
use kernel::chat::redact::Redactor;
use kernel::commands::{ArgumentKind, Audience, Caller, CommandRequest, Invoked, Registry};
use options::{Given, read_options};

/// The most suggestions that Discord shows.
const SUGGESTIONS: usize = 25;

/// Receives and answers the interactions of one account.
pub(crate) struct Interactions {
    pub(crate) registry: Arc<Registry>,
    pub(crate) registrations: Arc<dyn Registrations>,
    pub(crate) rest: Arc<Rest>,
    /// Acknowledges interactions.
    pub(crate) http: Arc<serenity::Http>,
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
        let deferred = match audience {
            Audience::Caller => command.defer_ephemeral(&self.http).await,
            Audience::Everybody => command.defer(&self.http).await,
        };
        if let Err(error) = &deferred {
            // The full error would reveal the interaction's token.
            tracing::warn!(command = path, kind = kind_of(error), "a command could not be acknowledged");
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
        if let Err(error) = pressed.defer(&self.http).await {
            tracing::warn!(button = pressed.data.custom_id, kind = kind_of(&error), "a press could not be acknowledged");
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
        let (interactions, http, typing) = (Arc::clone(self), Arc::clone(&self.http), typing.clone());
        let caller = caller(&author(&typing.user, typing.member.as_deref()));
        let channel = self.hub.channels.describe(typing.channel_id);
        self.runtime.spawn(async move {
            let found = interactions.registry.complete(kind, &text, &caller, Some(&channel)).await;
            let choices = found.into_iter().take(SUGGESTIONS).map(|choice| serenity::AutocompleteChoice::new(choice.label, choice.value));
            let response = serenity::CreateAutocompleteResponse::new().set_choices(choices.collect());
            if let Err(error) = typing.create_response(&http, serenity::CreateInteractionResponse::Autocomplete(response)).await {
                tracing::debug!(command = path, kind = kind_of(&error), "suggestions could not be shown");
            }
        });
    }
}

/// Only people give commands.
fn author(user: &serenity::User, member: Option<&serenity::Member>) -> Author {
    let nick = member.and_then(|member| member.nick.clone());
    let (name, aliases) = names_of(nick, user.global_name.clone(), user.name.clone());
    let mut roles: Vec<String> = member.map(|member| member.roles.iter().map(from_discord).collect()).unwrap_or_default();
    let manages = |permissions: serenity::Permissions| permissions.manage_guild() || permissions.administrator();
    if member.and_then(|member| member.permissions).is_some_and(manages) {
        roles.push(SERVER_MANAGER.to_owned());
    }
    Author { id: from_discord(user.id), name, aliases, kind: AuthorKind::Person, roles }
}

fn caller(author: &Author) -> Caller {
    Caller::Person { id: author.id.clone(), name: author.name.clone(), roles: author.roles.clone() }
}

/// The kind of serenity's error. Its text may contain the address of an interaction.
fn kind_of(error: &serenity::Error) -> String {
    match error {
        serenity::Error::Http(serenity::HttpError::UnsuccessfulRequest(answer)) => {
            format!("HTTP {} ({})", answer.status_code.as_u16(), answer.error.code)
        }
        serenity::Error::Http(_) => "no answer".to_owned(),
        _ => "unexpected".to_owned(),
    }
}
