//! Commands: what a person does to the team instead of saying it. Whatever goes wrong ends in an answer.

mod status;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::Conversation;
use super::channel::{Outcome, attribute};
use super::rules::authorize::{Action, Denied, authorize};
use crate::chat::Presence;
use crate::chat::command::{
    Caller, Choice, Command, CommandCall, CommandDesk, CommandReply, CostSpan, ScheduleCommand, Standing, StandupCommand,
};
use crate::domain::ask::{Ask, AskState};
use crate::domain::ids::{AskId, ChainId, MessageId};
use crate::domain::message::{Author, AuthorKind};
use crate::domain::persona::Persona;
use crate::domain::roster::UnknownPersona;
use crate::domain::usage::{CostGroup, Limit, Money};
use crate::store::{CancelScope, HaltScope};

/// What stands for a message where a command started something. No platform's id looks like it.
const COMMAND: &str = "command-";

/// Whether an ask was put by a command and not by a turn.
pub(super) fn is_command(ask: &Ask) -> bool {
    ask.message.as_str().starts_with(COMMAND)
}

/// The most names that completion offers, which is Discord's limit.
const MOST_CHOICES: usize = 25;

#[async_trait]
impl CommandDesk for Conversation {
    async fn run(&self, call: CommandCall) -> CommandReply {
        if let Err(denied) = self.may(&call) {
            return refused(self.explain(denied));
        }
        match self.carry(&call).await {
            Ok(reply) => reply,
            Err(error) => {
                if let Some(unknown) = error.downcast_ref::<UnknownPersona>() {
                    return refused(format!("That did not work: {unknown}."));
                }
                tracing::error!(error = format!("{error:#}"), command = ?call.command, "a command failed");
                refused("That did not work: our store does not answer. Please try again in a minute.".into())
            }
        }
    }

    fn complete_persona(&self, prefix: &str) -> Vec<String> {
        let prefix = prefix.to_lowercase();
        let names = self.parts().roster.personas().iter().map(|persona| persona.name.clone());
        names.filter(|name| name.to_lowercase().starts_with(&prefix)).take(MOST_CHOICES).collect()
    }

    async fn complete_job(&self, prefix: &str) -> Vec<String> {
        self.parts().schedule.complete(prefix).await
    }

    async fn complete_item(&self, typed: &str) -> Vec<Choice> {
        self.parts().work.complete(typed).await
    }
}

impl Conversation {
    fn may(&self, call: &CommandCall) -> Result<(), Denied> {
        let action = match call.command {
            Command::Halt | Command::Resume | Command::Raise { .. } | Command::TeamPause { .. } | Command::TeamResume { .. } => {
                Action::Operate
            }
            Command::Standup(StandupCommand::Cancel) => Action::Operate,
            Command::Schedule(ref command) if *command != ScheduleCommand::List => Action::Operate,
            _ => Action::Speak,
        };
        self.judge(action, call)
    }

    fn judge(&self, action: Action, call: &CommandCall) -> Result<(), Denied> {
        let Caller { id, name, roles } = call.caller.clone();
        let author = Author { id, name, roles, kind: AuthorKind::Person };
        authorize(action, &author, &call.channel, &self.parts().chat)
    }

    fn standing_of(&self, call: &CommandCall) -> Standing {
        if self.judge(Action::Operate, call).is_ok() { Standing::Operator } else { Standing::Member }
    }

    fn explain(&self, denied: Denied) -> String {
        match denied {
            Denied::Unheard(reason) => format!("Not here: {}.", reason.explain()),
            Denied::NotAnOperator => match self.parts().chat.operators.as_slice() {
                [] => "Only an operator may do that, and none is listed. Set `chat.operators` to your user or role id.".into(),
                listed => format!("Only an operator may do that. Operators are the users and roles {}.", listed.join(", ")),
            },
        }
    }

    async fn carry(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        Ok(match &call.command {
            Command::Ask { persona, question } => self.ask(call, persona, question).await?,
            Command::TeamList => private(status::render_team(&self.parts().roster, |slug| self.inner.halts.is_paused(slug))),
            Command::TeamShow { persona } => private(status::render_persona(self.parts().roster.resolve(persona)?)),
            Command::TeamPause { persona } => self.pause(call, persona).await?,
            Command::TeamResume { persona } => self.unpause(persona).await?,
            Command::Status => private(self.render_status().await?),
            Command::Halt => self.halt(call).await?,
            Command::Resume => {
                self.inner.halts.lift_all().await?;
                public(format!("{} lets us speak again.", call.caller.name))
            }
            Command::Costs { span } => private(self.render_costs(*span).await?),
            Command::Raise { dollars } => self.raise_budget(call, *dollars).await?,
            Command::Schedule(command) => self.parts().schedule.carry(call, command).await?,
            Command::Help => private(status::render_help(&self.parts().roster)),
            Command::Standup(_) | Command::Report(_) | Command::Predictions(_) | Command::Backlog(_) | Command::Press { .. } => {
                let carried = self.pass_on(call).await?;
                carried.unwrap_or_else(|| refused("This button is not known (any more).".into()))
            }
        })
    }

    /// To the first department whose it is.
    async fn pass_on(&self, call: &CommandCall) -> anyhow::Result<Option<CommandReply>> {
        let standing = self.standing_of(call);
        match self.parts().standups.carry(call, standing).await? {
            Some(reply) => Ok(Some(reply)),
            None => self.parts().work.carry(call, standing).await,
        }
    }

    /// The coordinator asks and relays. Should the process die meanwhile, the next one delivers the answer as a late one.
    async fn ask(&self, call: &CommandCall, persona: &str, question: &str) -> anyhow::Result<CommandReply> {
        let parts = self.parts();
        let askee = parts.roster.resolve(persona)?;
        if self.inner.halts.is_team_halted() {
            return Ok(refused("The team is halted. `/resume` lets us speak again.".into()));
        }
        if parts.stop.is_cancelled() {
            return Ok(refused("We are just stopping. Please ask again in a minute.".into()));
        }
        if self.inner.halts.is_paused(&askee.slug) {
            return Ok(refused(format!("{} is paused. An operator can change that with `/team resume`.", askee.name)));
        }
        let now = parts.clock.now();
        let id = AskId::generate();
        let ask = Ask {
            message: MessageId::new(format!("{COMMAND}{id}")),
            chain: ChainId::new(format!("{COMMAND}{id}")),
            id,
            channel: call.channel.id.clone(),
            asker: parts.roster.coordinator().slug.clone(),
            askee: askee.slug.clone(),
            question: question.to_owned(),
            path: vec![parts.roster.coordinator().slug.clone()],
            state: AskState::Asked,
            answer: None,
            asked_at: now,
            deadline: now + parts.chat.ask_timeout,
        };
        parts.store.record_ask(&ask).await?;
        Ok(match self.put(&ask).await? {
            Outcome::Answered(answer) => public(attribute(&askee.name, &answer)),
            Outcome::NoReply => public(format!(
                "{} has not answered in {} s. If an answer still comes, I pass it on.",
                askee.name,
                parts.chat.ask_timeout.as_secs()
            )),
            Outcome::Failed(why) => refused(format!("{} could not answer: {why}.", askee.name)),
        })
    }

    async fn halt(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let parts = self.parts();
        let now = parts.clock.now();
        self.cancel_running(|_| true);
        self.inner.halts.set(HaltScope::All, &call.caller.name, now).await?;
        parts.store.cancel_turns(CancelScope::All, "the team was halted", now).await?;
        tracing::info!(by = call.caller.name, "the team was halted");
        Ok(public(format!("{} halted the team. We say nothing until `/resume`.", call.caller.name)))
    }

    async fn pause(&self, call: &CommandCall, persona: &str) -> anyhow::Result<CommandReply> {
        let persona = self.parts().roster.resolve(persona)?;
        self.inner.halts.set(HaltScope::Persona(persona.slug.clone()), &call.caller.name, self.parts().clock.now()).await?;
        self.parts().platform.set_presence(&persona.slug, Presence::Paused).await;
        Ok(public(format!("{} paused {}.", call.caller.name, persona.name)))
    }

    async fn unpause(&self, persona: &str) -> anyhow::Result<CommandReply> {
        let Persona { slug, name, .. } = self.parts().roster.resolve(persona)?;
        let was_paused = self.inner.halts.lift(&HaltScope::Persona(slug.clone())).await?;
        self.parts().platform.set_presence(slug, Presence::Listening).await;
        Ok(if was_paused { public(format!("{name} is back.")) } else { private(format!("{name} was not paused.")) })
    }

    async fn raise_budget(&self, call: &CommandCall, dollars: f64) -> anyhow::Result<CommandReply> {
        let parts = self.parts();
        let (now, amount) = (parts.clock.now(), Money::from_dollars(dollars));
        parts.store.raise_limit(&Limit::Day, amount.0, &call.caller.name, now).await?;
        for persona in parts.roster.personas().iter().filter(|persona| !self.inner.halts.is_paused(&persona.slug)) {
            parts.platform.set_presence(&persona.slug, Presence::Listening).await;
        }
        Ok(public(format!("{} raised today's budget by {amount}.", call.caller.name)))
    }

    async fn render_costs(&self, span: CostSpan) -> anyhow::Result<String> {
        let parts = self.parts();
        let now = parts.clock.now();
        let days = match span {
            CostSpan::Today => 0,
            CostSpan::Week => 6,
            CostSpan::Month => 29,
        };
        let since = (now - TimeDelta::days(days)).date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
        let mut groups = Vec::new();
        for group in [CostGroup::Persona, CostGroup::Purpose, CostGroup::Model] {
            groups.push((group, parts.store.costs(since, now, group).await?));
        }
        Ok(status::render_costs(since, &groups))
    }
}

fn public(text: String) -> CommandReply {
    CommandReply::public(text)
}

fn private(text: String) -> CommandReply {
    CommandReply::private(text)
}

fn refused(text: String) -> CommandReply {
    CommandReply::refused(text)
}
