use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use crate::chat::message::Channel;
use crate::commands::{
    Arguments, Audience, Caller, CommandCall, CommandHandler, CommandReply, CommandRequest, CommandSpec, Invoked, Late, Refused, Right,
    Shortcut,
};
use crate::persona::roster::UnknownPersona;
use crate::text::capital;

/// Decides about every command, button and completion from a chat.
#[async_trait]
pub trait Authorizer: Send + Sync + 'static {
    /// Whether a caller is permitted.
    fn check(&self, right: Right, caller: &Caller, channel: &Channel) -> Result<(), Refused>;

    /// The text for a refused caller. By default the error of the check.
    async fn explain(&self, refused: Refused, _right: Right, _caller: &Caller, _channel: &Channel) -> Refused {
        refused
    }
}

pub type Authorize = Arc<dyn Authorizer>;

/// Permits everything.
pub fn permit_all() -> Authorize {
    Arc::new(|_: Right, _: &Caller, _: &Channel| Ok(()))
}

impl<F> Authorizer for F
where
    F: Fn(Right, &Caller, &Channel) -> Result<(), Refused> + Send + Sync + 'static,
{
    fn check(&self, right: Right, caller: &Caller, channel: &Channel) -> Result<(), Refused> {
        self(right, caller, channel)
    }
}

/// A suggestion of completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Inserted when chosen.
    pub value: String,
    /// Shown to the caller.
    pub label: String,
}

impl Suggestion {
    /// A suggestion whose label is its value.
    pub fn name(name: impl Into<String>) -> Self {
        let value: String = name.into();
        Self { label: value.clone(), value }
    }
}

#[async_trait]
trait Completer: Send + Sync + 'static {
    async fn complete(&self, typed: &str) -> Vec<Suggestion>;
}

pub struct Registry {
    /// The team's platform, for ids that are written without one.
    platform: &'static str,
    commands: Vec<CommandSpec>,
    /// By path: `schedule pause`.
    handlers: HashMap<String, Arc<dyn CommandHandler>>,
    /// By prefix: the part of a button's id before the first colon.
    buttons: HashMap<&'static str, (Right, Arc<dyn CommandHandler>)>,
    completers: HashMap<&'static str, Arc<dyn Completer>>,
    authorize: Authorize,
}

/// Adds the commands of a group, which share a service.
pub struct Group<'a, T> {
    registry: &'a mut Registry,
    name: &'static str,
    service: Late<T>,
}

impl Registry {
    pub fn new(platform: &'static str, authorize: Authorize) -> Self {
        Self { platform, commands: Vec::new(), handlers: HashMap::new(), buttons: HashMap::new(), completers: HashMap::new(), authorize }
    }

    /// Adds a single command.
    ///
    /// # Panics
    /// The name is taken.
    pub fn command<T, F>(&mut self, spec: CommandSpec, service: &Late<T>, run: F)
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a T, &'a CommandCall) -> BoxFuture<'a, anyhow::Result<CommandReply>> + Send + Sync + 'static,
    {
        self.handle(spec.name.to_owned(), Arc::new(Bound { service: service.clone(), run }));
        self.commands.push(spec);
    }

    /// Adds a command or a whole group with one handler.
    ///
    /// # Panics
    /// The name is taken.
    pub fn command_with(&mut self, spec: CommandSpec, handler: &Arc<dyn CommandHandler>) {
        if spec.subcommands.is_empty() {
            self.handle(spec.name.to_owned(), Arc::clone(handler));
        }
        for subcommand in &spec.subcommands {
            self.handle(format!("{} {}", spec.name, subcommand.name), Arc::clone(handler));
        }
        self.commands.push(spec);
    }

    /// Starts a group. Its commands are added to the result.
    ///
    /// # Panics
    /// The name is taken.
    pub fn group<T>(&mut self, spec: CommandSpec, service: &Late<T>) -> Group<'_, T> {
        assert!(self.commands.iter().all(|known| known.name != spec.name), "there are two commands called {}", spec.name);
        let name = spec.name;
        self.commands.push(spec);
        Group { registry: self, name, service: service.clone() }
    }

    /// The group of another feature. Commands are added to it.
    ///
    /// # Panics
    /// There is no such group.
    pub fn more_of<T>(&mut self, name: &'static str, service: &Late<T>) -> Group<'_, T> {
        assert!(self.commands.iter().any(|known| known.name == name), "there is no group called {name}");
        Group { registry: self, name, service: service.clone() }
    }

    /// Handles all buttons whose id begins with `prefix:`.
    pub fn button<T, F>(&mut self, prefix: &'static str, service: &Late<T>, run: F)
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a T, &'a CommandCall) -> BoxFuture<'a, anyhow::Result<CommandReply>> + Send + Sync + 'static,
    {
        self.button_for(Right::Anybody, prefix, service, run);
    }

    /// Like [`Self::button`], for callers with this permission.
    pub fn button_for<T, F>(&mut self, right: Right, prefix: &'static str, service: &Late<T>, run: F)
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a T, &'a CommandCall) -> BoxFuture<'a, anyhow::Result<CommandReply>> + Send + Sync + 'static,
    {
        let taken = self.buttons.insert(prefix, (right, Arc::new(Bound { service: service.clone(), run })));
        assert!(taken.is_none(), "there are two kinds of buttons called {prefix}");
    }

    /// Completes references of a kind: `persona`, `item`.
    pub fn completion<T, F>(&mut self, kind: &'static str, service: &Late<T>, complete: F)
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a T, &'a str) -> BoxFuture<'a, Vec<Suggestion>> + Send + Sync + 'static,
    {
        self.completers.insert(kind, Arc::new(Bound { service: service.clone(), run: complete }));
    }

    fn handle(&mut self, path: String, handler: Arc<dyn CommandHandler>) {
        assert!(!self.handlers.contains_key(&path), "there are two commands called {path}");
        self.handlers.insert(path, handler);
    }

    /// All commands in order of registration.
    pub fn commands(&self) -> &[CommandSpec] {
        &self.commands
    }

    /// The command at a path. None for a group.
    pub fn find(&self, path: &str) -> Option<&CommandSpec> {
        let mut names = path.split(' ');
        let first = names.next()?;
        let command = self.commands.iter().find(|command| command.name == first)?;
        let found = match names.next() {
            Some(second) => command.subcommands.iter().find(|command| command.name == second)?,
            None => command,
        };
        (names.next().is_none() && found.subcommands.is_empty()).then_some(found)
    }

    /// The commands that are offered in menus, with their paths.
    pub fn list_shortcuts(&self) -> Vec<(String, Shortcut)> {
        let inner = |group: &CommandSpec| {
            let path = |command: &CommandSpec| format!("{} {}", group.name, command.name);
            group.subcommands.iter().filter_map(|command| Some((path(command), command.shortcut?))).collect::<Vec<_>>()
        };
        let of =
            |command: &CommandSpec| command.shortcut.map(|shortcut| (command.name.to_owned(), shortcut)).into_iter().chain(inner(command));
        self.commands.iter().flat_map(of).collect()
    }

    /// Who sees the reply. A chat needs this before the command runs.
    pub fn audience_of(&self, path: &str, given: &[(String, String)]) -> Audience {
        self.find(path).map_or(Audience::Caller, |spec| spec.audience_with(given.iter().map(|(name, _)| name.as_str())))
    }

    /// Suggestions for a reference being typed. Empty if the caller is not permitted.
    pub async fn complete(&self, kind: &str, typed: &str, caller: &Caller, channel: Option<&Channel>) -> Vec<Suggestion> {
        match self.completers.get(kind) {
            Some(completer) if self.check(Right::Anybody, caller, channel).is_ok() => completer.complete(typed).await,
            _ => Vec::new(),
        }
    }

    /// Checks what was typed for a command.
    ///
    /// # Errors
    /// Something is missing or does not fit.
    pub fn check_arguments(&self, command: &CommandSpec, given: &[(String, String)]) -> Result<(), Refused> {
        Arguments::parse(command, given, self.platform).map(drop)
    }

    /// Runs a request. Every error becomes a reply.
    pub async fn run(&self, request: CommandRequest) -> CommandReply {
        let invoked = request.invoked.clone();
        self.try_run(request).await.unwrap_or_else(|error| {
            let refused = error.downcast_ref::<Refused>().map(ToString::to_string);
            if let Some(why) = refused.or_else(|| error.downcast_ref::<UnknownPersona>().map(ToString::to_string)) {
                return CommandReply::refused(sentence(&why));
            }
            tracing::error!(error = format!("{error:#}"), ?invoked, "a command failed");
            CommandReply::refused("That didn't work because the database is not responding. Please try again in a minute.")
        })
    }

    /// Like `run`, for the command line, which formats errors itself.
    ///
    /// # Errors
    /// The handler's error.
    pub async fn try_run(&self, request: CommandRequest) -> anyhow::Result<CommandReply> {
        if !request.caller.is_command_line() {
            return self.handle_request(request).await;
        }
        match self.handle_request(request).await {
            Ok(reply) => Ok(CommandReply { text: self.spell_for_command_line(&reply.text), ..reply }),
            Err(error) => Err(match error.downcast::<Refused>() {
                Ok(refused) => Refused::new(self.spell_for_command_line(&refused.to_string())).into(),
                Err(error) => error,
            }),
        }
    }

    /// Names commands as they are given at the command line: `teamroom board stop --id 1a2b3c` for `/board stop id:1a2b3c`. Commands that must be
    /// given in the chat, and commands that only a chat has, stay as they are.
    fn spell_for_command_line(&self, text: &str) -> String {
        let mut parts = text.split("`/");
        let mut spelled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (command, after) = part.split_once('`').unwrap_or((part, ""));
            let name = command.split(' ').next().unwrap_or_default();
            let is_known = self.commands.iter().any(|known| known.name == name && known.surface.is_on_command_line());
            if !is_known || after.starts_with(" in the chat") {
                spelled.extend(["`/", part]);
                continue;
            }
            let mut command = command.to_owned();
            let path = command.split(' ').take(2).collect::<Vec<_>>().join(" ");
            let spec = self.find(&path).or_else(|| self.find(name));
            for argument in spec.into_iter().flat_map(|spec| &spec.arguments) {
                let given = if argument.required { " ".to_owned() } else { format!(" --{} ", argument.name) };
                command = command.replace(&format!(" {}:", argument.name), &given);
            }
            spelled.extend(["`teamroom ", command.as_str(), &part[part.len() - after.len() - usize::from(part.contains('`'))..]]);
        }
        spelled
    }

    async fn handle_request(&self, request: CommandRequest) -> anyhow::Result<CommandReply> {
        let CommandRequest { invoked, caller, channel } = request;
        let (name, handler, arguments, needed) = match invoked {
            Invoked::Command { path, given } => {
                let found = self.find(&path).zip(self.handlers.get(&path));
                let Some((spec, handler)) = found else { return Ok(CommandReply::refused("This command no longer exists.")) };
                let needed = spec.right_with(given.iter().map(|(name, _)| name.as_str()));
                self.require(needed, &caller, channel.as_ref()).await?;
                (path, handler, Arguments::parse(spec, &given, self.platform)?, needed)
            }
            Invoked::Button(id) => {
                let prefix = id.split(':').next().unwrap_or_default();
                let handler = self.buttons.get(prefix);
                let Some((right, handler)) = handler else { return Ok(CommandReply::refused("This button no longer works.")) };
                (id, handler, Arguments::default(), *right)
            }
        };
        self.require(needed, &caller, channel.as_ref()).await?;
        let right = if self.check(Right::Operator, &caller, channel.as_ref()).is_ok() { Right::Operator } else { Right::Anybody };
        handler.run(&CommandCall { name, arguments, caller, channel, right }).await
    }

    /// Like [`Self::check`], with an error that is worded for the caller.
    async fn require(&self, needed: Right, caller: &Caller, channel: Option<&Channel>) -> Result<(), Refused> {
        match (self.check(needed, caller, channel), channel) {
            (Err(refused), Some(channel)) => Err(self.authorize.explain(refused, needed, caller, channel).await),
            (checked, _) => checked,
        }
    }

    /// Checks permissions. The command line and the kanban page have no channel and are always permitted: who reaches them is an operator.
    fn check(&self, needed: Right, caller: &Caller, channel: Option<&Channel>) -> Result<(), Refused> {
        match (caller, channel) {
            (Caller::CommandLine | Caller::KanbanPage, _) => Ok(()),
            (Caller::Person { .. }, Some(channel)) => self.authorize.check(needed, caller, channel),
            (Caller::Person { .. }, None) => Err(Refused::new("this needs a channel")),
        }
    }
}

impl<T: Send + Sync + 'static> Group<'_, T> {
    /// Adds a command to the group.
    ///
    /// # Panics
    /// The group has a command of this name.
    pub fn command<F>(&mut self, spec: CommandSpec, run: F) -> &mut Self
    where
        F: for<'a> Fn(&'a T, &'a CommandCall) -> BoxFuture<'a, anyhow::Result<CommandReply>> + Send + Sync + 'static,
    {
        let Self { registry, name, service } = &mut *self;
        registry.handle(format!("{name} {}", spec.name), Arc::new(Bound { service: service.clone(), run }));
        let group = registry.commands.iter_mut().find(|command| command.name == *name).expect("the group was added before");
        group.subcommands.push(spec);
        self
    }
}

/// A function bound to its service.
struct Bound<T, F> {
    service: Late<T>,
    run: F,
}

#[async_trait]
impl<T, F> CommandHandler for Bound<T, F>
where
    T: Send + Sync + 'static,
    F: for<'a> Fn(&'a T, &'a CommandCall) -> BoxFuture<'a, anyhow::Result<CommandReply>> + Send + Sync + 'static,
{
    async fn run(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let service = self.service.get()?;
        (self.run)(&service, call).await
    }
}

#[async_trait]
impl<T, F> Completer for Bound<T, F>
where
    T: Send + Sync + 'static,
    F: for<'a> Fn(&'a T, &'a str) -> BoxFuture<'a, Vec<Suggestion>> + Send + Sync + 'static,
{
    async fn complete(&self, typed: &str) -> Vec<Suggestion> {
        match self.service.get() {
            Ok(service) => (self.run)(&service, typed).await,
            Err(_) => Vec::new(),
        }
    }
}

/// Adds a capital letter and a full stop.
fn sentence(why: &str) -> String {
    let capital = capital(why);
    if capital.ends_with(['.', '?', '!', '…', '`']) { capital } else { format!("{capital}.") }
}

#[cfg(test)]
mod tests;
