//! The registry of commands and buttons. Each feature registers its own.
//!
//! A [`CommandSpec`] describes a command: name, arguments, permission. A [`CommandHandler`] runs it. Discord's slash commands, `teamroom
//! <command>` with shell completion, `/help` and the README's table are generated from the [`Registry`]. A surface only turns input into a
//! [`CommandRequest`] and shows the [`CommandReply`].

mod arguments;
mod call;
mod print;
mod registry;
mod render;
mod services;
mod spec;
mod typed;

use async_trait::async_trait;

pub use arguments::{Arguments, parse_date, parse_duration};
pub use call::{Caller, CommandCall, CommandReply, CommandRequest, Invoked, KANBAN_PAGE};
pub use print::print_text;
pub use registry::{Authorize, Authorizer, Group, Registry, Suggestion, permit_all};
pub use render::{render_list, render_table};
pub use services::{Late, Services};
pub use spec::{ArgumentKind, ArgumentSpec, Audience, Choice, CommandSpec, Effect, Right, Shortcut, Surface, Topic};
pub use typed::Typed;

/// Runs a command. The registry has checked the caller's permission and the arguments.
#[async_trait]
pub trait CommandHandler: Send + Sync + 'static {
    /// # Errors
    /// [`Refused`] is shown to the caller as it is. Any other error is logged, and the caller is told to try again.
    async fn run(&self, call: &CommandCall) -> anyhow::Result<CommandReply>;
}

/// Why a command was refused, worded for the caller. The registry adds a capital letter and a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// # Errors
/// Always.
pub fn refuse<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::new(why))
}
