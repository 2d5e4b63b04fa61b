//! Commands that a person gives the team outside of talk: slash commands, and later buttons. The platform carries them, a
//! [`CommandDesk`] decides who may, and answers.

use async_trait::async_trait;

use crate::domain::ids::UserId;
use crate::domain::message::Channel;
use crate::domain::schedule::JobDraft;

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
    Help,
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
}
