//! Slash commands: one file per command, each no more than its words and its options.
//!
//! Poise parses; the [`CommandDesk`] decides and answers. A command is acknowledged at once, within Discord's three seconds, and carried out
//! on the main runtime, so that it outlives the gateway session it came through. Buttons go the same way, by [`press()`], on every account:
//! Discord tells of a press the application whose message bears the button.

mod answer;
mod ask;
mod backlog;
mod costs;
mod halt;
mod help;
mod predictions;
mod press;
mod registration;
mod report;
mod resume;
mod schedule;
mod standup;
mod status;
mod team;

use std::sync::Arc;

use poise::serenity_prelude as serenity;
use serenity::{CreateAutocompleteResponse, FullEvent, ShardManager};

use super::gateway::Hub;
use super::ports::Registrations;
use super::rest::{Credential, Rest};
use crate::chat::command::{Caller, Command, CommandCall, CommandDesk};
use answer::Question;
pub(crate) use press::press;

/// What the commands of the team need.
pub(crate) struct Commands {
    options: poise::FrameworkOptions<Arc<Counter>, CommandError>,
    counter: Arc<Counter>,
}

/// Where commands and presses of buttons are taken in and answered; each account has one.
pub(crate) struct Counter {
    pub(crate) desk: Arc<dyn CommandDesk>,
    pub(crate) registrations: Arc<dyn Registrations>,
    pub(crate) rest: Arc<Rest>,
    pub(crate) hub: Arc<Hub>,
    /// The token of its account.
    pub(crate) credential: Arc<Credential>,
    /// Register on this server. None: everywhere.
    pub(crate) server: Option<serenity::GuildId>,
    pub(crate) timing: super::Timing,
    /// Where commands are carried out.
    pub(crate) runtime: tokio::runtime::Handle,
}

/// Commands answer every failure themselves; poise gets to see none.
type CommandError = std::convert::Infallible;
type Context<'a> = poise::Context<'a, Arc<Counter>, CommandError>;
type Outcome = Result<(), CommandError>;

impl Commands {
    pub(crate) fn new(counter: Arc<Counter>) -> Self {
        let mut commands = vec![
            ask::ask(),
            team::team(),
            status::status(),
            standup::standup(),
            report::report(),
            predictions::predictions(),
            schedule::schedule(),
            backlog::backlog(),
            halt::halt(),
            resume::resume(),
            costs::costs(),
            help::help(),
        ];
        poise::set_qualified_names(&mut commands);
        let options = poise::FrameworkOptions {
            commands,
            on_error: |error| {
                report(&error);
                Box::pin(std::future::ready(()))
            },
            allowed_mentions: Some(serenity::CreateAllowedMentions::new()),
            initialize_owners: false,
            ..Default::default()
        };
        Self { options, counter }
    }

    /// Handles an interaction. Poise's own `Framework` is left out: it polls for its user data until the first READY.
    pub(crate) async fn dispatch(&self, context: &serenity::Context, event: FullEvent, shard_manager: &Arc<ShardManager>) {
        let Some(coordinator) = self.counter.hub.accounts.find_coordinator() else { return };
        let framework = poise::FrameworkContext {
            bot_id: coordinator.account,
            serenity_context: context,
            options: &self.options,
            user_data: &self.counter,
            shard_manager,
        };
        // Boxed, because poise's future is large and few events are interactions.
        Box::pin(poise::dispatch_event(framework, event)).await;
    }

    /// Registers the commands with `application` unless they are registered already.
    pub(crate) fn register(&self, application: serenity::ApplicationId) {
        let commands = poise::builtins::create_application_commands(&self.options.commands);
        let counter = Arc::clone(&self.counter);
        self.counter.runtime.spawn(async move { registration::register(&counter, application, commands).await });
    }
}

/// Who sees the answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Everybody,
    Caller,
    /// Whom the answer is for; nothing shows until it is there.
    AsAnswered,
}

/// Acknowledges a command and has it carried out.
async fn take(context: Context<'_>, command: Command, audience: Audience) -> Outcome {
    let poise::Context::Application(interaction) = context else { return Ok(()) };
    let question = Question::new(interaction.interaction, audience);
    let deferred = interaction.defer_response(audience == Audience::Caller).await;
    if let Err(error) = &deferred {
        // Not the error itself: it shows the token of the interaction. A halt is carried out all the same.
        tracing::warn!(command = context.command().qualified_name.as_ref(), kind = kind_of(error), "a command could not be acknowledged");
    }
    let (counter, interaction) = (Arc::clone(context.data()), interaction.interaction);
    let caller = caller(&interaction.user, interaction.member.as_deref());
    counter.hand_over(question, command, caller, interaction.guild_id, interaction.channel_id);
    Ok(())
}

impl Counter {
    /// Has a command carried out on the main runtime.
    fn hand_over(
        self: Arc<Self>,
        question: Question,
        command: Command,
        caller: Caller,
        server: Option<serenity::GuildId>,
        channel: serenity::ChannelId,
    ) {
        if server.is_none() {
            self.hub.channels.record_direct(channel, &self.credential.persona);
        }
        let call = CommandCall { command, caller, channel: self.hub.channels.describe(channel) };
        let allowed = self.hub.is_allowed(server);
        self.runtime.clone().spawn(async move { answer::carry_out(&self, question, call, allowed).await });
    }
}

fn caller(user: &serenity::User, member: Option<&serenity::Member>) -> Caller {
    let nick = member.and_then(|member| member.nick.clone());
    Caller {
        id: user.id.to_string().into(),
        name: nick.or_else(|| user.global_name.clone()).unwrap_or_else(|| user.name.clone()),
        roles: member.map(|member| member.roles.iter().map(ToString::to_string).collect()).unwrap_or_default(),
    }
}

/// Names of personas, for completion.
async fn persona_names(context: Context<'_>, typed: &str) -> CreateAutocompleteResponse {
    choices(context.data().desk.complete_persona(typed))
}

fn choices(names: Vec<String>) -> CreateAutocompleteResponse {
    /// Discord shows no more.
    const SHOWN: usize = 25;
    names.into_iter().take(SHOWN).fold(CreateAutocompleteResponse::new(), |response, name| response.add_string_choice(name.clone(), name))
}

/// What is left for poise to report: commands that Discord still shows and this version does not know, and faults.
fn report(error: &poise::FrameworkError<'_, Arc<Counter>, CommandError>) {
    match error {
        poise::FrameworkError::UnknownInteraction { interaction, .. } => {
            tracing::warn!(command = interaction.data.name, "a command is not known; Discord may show an older set for a while");
        }
        poise::FrameworkError::CommandPanic { ctx, .. } => {
            tracing::error!(command = ctx.command().qualified_name.as_ref(), "a command panicked");
        }
        poise::FrameworkError::ArgumentParse { ctx, .. } | poise::FrameworkError::SubcommandRequired { ctx } => {
            tracing::warn!(command = ctx.command().qualified_name.as_ref(), "a command came with options that do not fit");
        }
        _ => tracing::warn!("a command could not be handled"),
    }
}

/// An error of serenity's without its text, which may hold the address of an interaction.
fn kind_of(error: &serenity::Error) -> String {
    match error {
        serenity::Error::Http(serenity::HttpError::UnsuccessfulRequest(answer)) => {
            format!("HTTP {} ({})", answer.status_code.as_u16(), answer.error.code)
        }
        serenity::Error::Http(_) => "no answer".to_owned(),
        _ => "unexpected".to_owned(),
    }
}
