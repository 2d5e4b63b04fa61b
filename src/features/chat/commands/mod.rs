//! Commands for the whole team: ask, status, halt, pause, budget. Beside a running team they write rows, which that team sees within a second.

mod costs;
mod following;
mod permission;
mod said;
mod silencing;
mod status;
mod tool;

use std::sync::Arc;

use serde_json::json;

use crate::features::chat::channel::{Outcome, attribute};
use crate::features::chat::{Conversation, approvals};
use crate::store::Store;
use kernel::agent::Agents;
use kernel::agent::ask::{Ask, AskState};
use kernel::chat::ChatPlatform;
use kernel::chat::message::{Channel, Place};
use kernel::commands::{
    ArgumentSpec, Choice, CommandCall, CommandReply, CommandSpec, Registry, Services, Suggestion, Surface, refuse, render_list,
};
use kernel::ids::{AskId, ChainId, MessageId};
use kernel::llm::budget::Budgets;
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub use costs::ItemTitles;
pub use permission::authorizer;
pub(super) use said::{SaidCommands, SaidHandler};
pub(super) use tool::TeamCommand;

/// Prefix of the id that replaces a message id where a command started the work. No platform id has this prefix.
const COMMAND: &str = "command-";

/// The most suggestions of a completion.
const SUGGESTED: usize = 25;

/// Periods for cost totals. Each ends today.
const SPANS: &[Choice] = &[Choice::new("today", "today"), Choice::new("week", "this week"), Choice::new("month", "this month")];

/// Dependencies of the commands.
pub struct ChatCommands {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// The agents that answer. None if they could not be set up.
    pub agents: Option<Arc<Agents>>,
    pub clock: SharedClock,
    pub budgets: Budgets,
    /// Gives the names of people for refusals.
    pub people: People,
    /// Gives the names of roles for refusals. None at the command line.
    pub platform: Option<Arc<dyn ChatPlatform>>,
    /// What is wrong in the team's files: each with the file, the line and the reason.
    pub faults: Vec<String>,
    /// The team in this process. None at the command line, beside a running team.
    pub live: Option<Conversation>,
}

/// Whether the ask was created by a command and not by a turn.
pub(super) fn is_command(ask: &Ask) -> bool {
    ask.message.as_str().starts_with(COMMAND)
}

pub fn register(registry: &mut Registry, services: &Services) {
    let chat = services.late::<ChatCommands>();
    let persona = || ArgumentSpec::persona("persona", "Which persona").required();
    registry.command(
        CommandSpec::new("ask", "Ask a persona and relay its answer.")
            .people_only()
            .public()
            .only_in(Surface::Chat)
            .argument(ArgumentSpec::persona("persona", "Whom to ask").required())
            .argument(ArgumentSpec::text("question", 4000, "What to ask").required()),
        &chat,
        |chat, call| Box::pin(chat.ask(call)),
    );
    registry
        .group(CommandSpec::new("team", "The personas of the team."), &chat)
        .command(CommandSpec::new("list", "Who is on the team."), |chat, _| Box::pin(chat.list_team()))
        .command(CommandSpec::new("show", "What a persona does, knows and uses.").example("kelly").argument(persona()), |chat, call| {
            Box::pin(async { chat.show_persona(call) })
        })
        .command(
            CommandSpec::new("pause", "Silence a persona until it is resumed.").example("vince").operators_only().argument(persona()),
            |chat, call| Box::pin(chat.pause(call)),
        )
        .command(
            CommandSpec::new("resume", "Let a paused persona speak again.").example("vince").operators_only().argument(persona()),
            |chat, call| Box::pin(chat.unpause(call)),
        );
    registry.command(CommandSpec::new("skills", "How the team does its work, and who has which skill."), &chat, |chat, _| {
        Box::pin(async { Ok(status::list_skills(&chat.roster)) })
    });
    approvals::register(registry, services);
    registry.command(CommandSpec::new("status", "Health of the team."), &chat, |chat, _| Box::pin(chat.show_status()));
    let titles = services.late::<ItemTitles>();
    registry.command(
        CommandSpec::new("costs", "What the models have cost.")
            .example("--since week")
            .argument(ArgumentSpec::choice("since", SPANS, "How far back; today by default"))
            .argument(
                ArgumentSpec::number(
                    "raise",
                    (0.01, 1000.0),
                    "Raise the limit that was reached today, or else the day's budget, by so many dollars",
                )
                .operators_only(),
            ),
        &chat,
        move |chat, call| {
            let titles = titles.get().ok();
            Box::pin(async move { chat.costs(call, titles).await })
        },
    );
    registry.command(CommandSpec::new("halt", "Silence the whole team.").people_only().public().operators_only(), &chat, |chat, call| {
        Box::pin(chat.halt(call))
    });
    registry.command(
        CommandSpec::new("resume", "Let the team speak again after a halt.").people_only().public().operators_only(),
        &chat,
        |chat, call| Box::pin(chat.resume(call)),
    );
    registry.completion("persona", &chat, |chat, typed| Box::pin(async { complete(&chat.roster, typed) }));
    registry.completion("person", &chat, |chat, typed| Box::pin(chat.list_people(typed)));
    registry.completion("channel", &chat, |chat, typed| Box::pin(chat.list_channels(typed)));
}

/// Registers `/help`, which lists the commands registered so far.
pub fn register_help(registry: &mut Registry, services: &Services) {
    let spec = CommandSpec::new("help", "How to talk to the team, and its commands.").people_only().only_in(Surface::Chat);
    let mut commands = registry.commands().to_vec();
    commands.push(spec.clone());
    registry.command(spec, &services.late::<ChatCommands>(), move |chat, _| {
        let text = status::render_help(&chat.roster, &render_list(&commands));
        Box::pin(async { Ok(CommandReply::private(text)) })
    });
}

/// Whether it is a channel of a server that everybody there can read.
fn is_for_all(channel: &Channel) -> bool {
    channel.place == Place::Server && !channel.private
}

/// Names of personas that begin with `typed`.
fn complete(roster: &Roster, typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let names = roster.personas().iter().map(|persona| persona.name.as_str());
    names.filter(|name| name.to_lowercase().starts_with(&typed)).map(Suggestion::name).collect()
}

impl ChatCommands {
    /// The coordinator asks and relays. If the process dies meanwhile, another process delivers a late answer.
    async fn ask(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let Some(live) = &self.live else { return Ok(refuse("the team is not running here")?) };
        let (deps, halts) = (live.deps(), &live.inner.halts);
        let askee = self.roster.resolve(call.arguments.get_text("persona")?)?;
        if halts.is_team_halted() {
            refuse("The team is halted. `/resume` lets us speak again.")?;
        }
        if deps.stop.is_cancelled() {
            refuse("We are just stopping. Please ask again in a minute.")?;
        }
        if halts.is_paused(&askee.slug) {
            refuse(format!("{} is paused. An operator can change that with `/team resume`.", askee.name))?;
        }
        let now = self.clock.now();
        let id = AskId::generate();
        let ask = Ask {
            message: MessageId::new(format!("{COMMAND}{id}")),
            chain: ChainId::new(format!("{COMMAND}{id}")),
            id,
            channel: call.get_channel()?.id.clone(),
            asker: self.roster.coordinator().slug.clone(),
            askee: askee.slug.clone(),
            question: call.arguments.get_text("question")?.to_owned(),
            path: vec![self.roster.coordinator().slug.clone()],
            state: AskState::Asked,
            answer: None,
            asked_at: now,
            deadline: now + deps.chat.ask_timeout,
        };
        self.store.record_ask(&ask).await?;
        Ok(match live.put(&ask).await? {
            Outcome::Answered(answer) => CommandReply::public(attribute(&askee.name, &answer)),
            Outcome::NoReply => CommandReply::public(format!(
                "{} has not answered in {} s. If an answer still comes, I pass it on.",
                askee.name,
                deps.chat.ask_timeout.as_secs()
            )),
            Outcome::Failed(why) => CommandReply::refused(format!("{} could not answer: {why}.", askee.name)),
        })
    }

    /// People whose names begin with `typed`, for the command line.
    async fn list_people(&self, typed: &str) -> Vec<Suggestion> {
        let Ok(people) = self.people.directory().await else { return Vec::new() };
        let begins = |name: &str| name.to_lowercase().starts_with(&typed.to_lowercase());
        people.people().filter(|person| begins(&person.name)).take(SUGGESTED).map(|person| Suggestion::name(person.name.clone())).collect()
    }

    /// Channels that all can read, for the command line.
    async fn list_channels(&self, typed: &str) -> Vec<Suggestion> {
        let seen = self.store.list_channels().await.unwrap_or_default().into_iter().map(|seen| seen.channel);
        let fits = seen.filter(|channel| is_for_all(channel) && channel.name.starts_with(typed));
        fits.take(SUGGESTED).map(|channel| Suggestion::name(channel.name)).collect()
    }

    fn show_persona(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let persona = self.roster.resolve(call.arguments.get_text("persona")?)?;
        let feeds: Vec<_> = persona.feeds.iter().map(|feed| feed.name.as_str()).collect();
        let skills: Vec<_> = self.roster.skills_of(persona).map(|skill| skill.name.as_str()).collect();
        Ok(CommandReply::private(status::render_persona(persona, &skills)).with_data(json!({
            "slug": persona.slug, "name": persona.name, "role": persona.role, "aliases": persona.aliases, "expertise": persona.expertise,
            "skills": skills, "feeds": feeds, "tools": persona.tools, "tier": persona.tier.as_str(),
        })))
    }
}
