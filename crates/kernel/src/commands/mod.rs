//! Commands and buttons, registered once by the feature whose they are.
//!
//! A [`CommandSpec`] says what a command is called, what it takes and who may give it; a [`CommandHandler`] does it. From the [`Registry`] come Discord's
//! slash commands, `teamroom <command>` with its shell completions, `/help` and the table in the README. A surface translates what was typed into a
//! [`CommandRequest`] and shows the [`CommandReply`]; it decides nothing.

mod arguments;
mod call;
mod registry;
mod render;
mod services;
mod spec;

use async_trait::async_trait;

pub use arguments::{Arguments, parse_date, parse_duration};
pub use call::{Caller, CommandCall, CommandReply, CommandRequest, Invoked};
pub use registry::{Authorize, Group, Registry, Suggestion};
pub use render::{render_list, render_table};
pub use services::{Late, Services};
pub use spec::{ArgumentKind, ArgumentSpec, Audience, Choice, CommandSpec, Right, Surface};

/// Does a command. That the caller may, and that the arguments are valid, is checked before.
#[async_trait]
pub trait CommandHandler: Send + Sync + 'static {
    /// # Errors
    /// [`Refused`] is told to the caller as it is. Anything else is a fault of ours: it is logged, and the caller is told to try again.
    async fn run(&self, call: &CommandCall) -> anyhow::Result<CommandReply>;
}

/// Why something was not done, in words for the caller. It may begin with a small letter and end without a full stop.
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
