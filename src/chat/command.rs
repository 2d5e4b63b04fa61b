//! Commands that a person gives the team outside of talk: slash commands and buttons. The platform carries them, a
//! [`CommandDesk`] decides who may, and answers.

use async_trait::async_trait;

use crate::domain::ids::UserId;
use crate::domain::message::Channel;
use crate::domain::schedule::JobDraft;
use crate::domain::work::{ItemChanges, ItemDraft};

/// What a person wants. Names of personas are as typed; the desk resolves them and says which there are.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Ask {
        persona: String,
        question: String,
    },
    TeamList,
    TeamShow {
        persona: String,
    },
    TeamPause {
        persona: String,
    },
    TeamResume {
        persona: String,
    },
    Status,
    Halt,
    Resume,
    Costs {
        span: CostSpan,
    },
    /// Raises today's budget by so many dollars.
    Raise {
        dollars: f64,
    },
    Schedule(ScheduleCommand),
    Backlog(BacklogCommand),
    Help,
    Standup(StandupCommand),
    Report(ReportView),
    Predictions(PredictionsView),
    /// A button of ours was pressed, of whatever age: its id says everything.
    Press {
        button: String,
    },
}

/// `/standup`: the one of the channel in which it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandupCommand {
    Start,
    Status,
    /// Passes over a persona or a person.
    Skip {
        who: String,
    },
    /// Comes to the end: whoever has not spoken is passed over.
    Wrap,
    /// Ends it without a report.
    Cancel,
}

/// Which Day Report is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportView {
    Today,
    /// `YYYY-MM-DD`, as typed.
    Of {
        day: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionsView {
    List,
    Score,
}

/// What a person wants of the schedule. Names of jobs are as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleCommand {
    List,
    /// Without a channel the job is for the one in which the command is given.
    Add(JobDraft),
    Pause {
        name: String,
    },
    Resume {
        name: String,
    },
    Remove {
        name: String,
    },
    /// Does it now, whatever its timetable says.
    Run {
        name: String,
    },
}

/// What a person wants of the backlog. Items are named by the end of their ids, as typed; so are owners and statuses.
#[derive(Debug, Clone, PartialEq)]
pub enum BacklogCommand {
    /// Without either, the items that are not over.
    List {
        status: Option<String>,
        owner: Option<String>,
    },
    Show {
        id: String,
    },
    Add(ItemDraft),
    /// Does it next.
    Run {
        id: String,
    },
    /// Tries it once more.
    Retry {
        id: String,
    },
    Cancel {
        id: String,
    },
    Edit {
        id: String,
        changes: ItemChanges,
    },
}

/// The days whose costs are asked for; each span ends today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSpan {
    Today,
    /// Seven days.
    Week,
    /// Thirty days.
    Month,
}

/// A command with who gave it and where.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandCall {
    pub command: Command,
    pub caller: Caller,
    pub channel: Channel,
}

/// The person who gave a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub id: UserId,
    /// The display name, for showing only.
    pub name: String,
    /// Ids of the roles the caller holds on the server.
    pub roles: Vec<String>,
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReply {
    /// Of any length; the platform cuts it.
    pub text: String,
    /// Only the caller needs it.
    pub ephemeral: bool,
    /// It was not done; the text says why and what to do.
    pub error: bool,
    /// The pressed message loses its buttons: what it asked is decided. Means nothing where no button was pressed.
    pub retire_buttons: bool,
}

impl CommandReply {
    /// For everybody in the channel.
    pub fn public(text: impl Into<String>) -> Self {
        Self { text: text.into(), ephemeral: false, error: false, retire_buttons: false }
    }

    /// For the caller alone.
    pub fn private(text: impl Into<String>) -> Self {
        Self { ephemeral: true, ..Self::public(text) }
    }

    /// Why it was not done, for the caller alone.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { error: true, ..Self::private(text) }
    }

    /// The same, and the question is decided: the pressed message loses its buttons.
    #[must_use]
    pub fn retiring_buttons(self) -> Self {
        Self { retire_buttons: true, ..self }
    }
}

/// What a caller may do, decided once for all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Speaks with the team, reads what it shows, and changes what is their own.
    Member,
    /// Changes how the team works.
    Operator,
}

/// A part of the team that carries out commands of its own, once it is decided that the caller may give them.
#[async_trait]
pub trait Department: Send + Sync + 'static {
    /// None: this command is for another department. What only an operator may do to what is not their own is refused by `standing`.
    ///
    /// # Errors
    /// The store does not answer. Everything else is a reply.
    async fn carry(&self, call: &CommandCall, standing: Standing) -> anyhow::Result<Option<CommandReply>>;

    /// What it has that begins with, or holds, what was typed so far. Called at each key stroke.
    async fn complete(&self, _typed: &str) -> Vec<Choice> {
        Vec::new()
    }
}

/// Something that completion offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is typed for the caller.
    pub value: String,
    /// What the caller sees; at most 100 characters.
    pub label: String,
}

/// Who carries commands out.
#[async_trait]
pub trait CommandDesk: Send + Sync + 'static {
    /// Checks who may, does it, and answers. Whatever goes wrong ends in an answer.
    async fn run(&self, call: CommandCall) -> CommandReply;

    /// Names of personas that begin with what was typed so far, best first. Called at each key stroke.
    fn complete_persona(&self, prefix: &str) -> Vec<String>;

    /// Names of jobs that begin with what was typed so far. Called at each key stroke.
    async fn complete_job(&self, prefix: &str) -> Vec<String>;

    /// Items of the backlog whose id or words hold what was typed so far. Called at each key stroke.
    async fn complete_item(&self, typed: &str) -> Vec<Choice>;
}
