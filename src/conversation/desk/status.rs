//! What the team tells about itself.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use crate::chat::IdentityState;
use crate::conversation::Conversation;
use crate::domain::ids::PersonaSlug;
use crate::domain::persona::Persona;
use crate::domain::roster::Roster;
use crate::domain::usage::{CostGroup, CostLine, Money};

impl Conversation {
    /// How the team fares, for `/status`.
    pub(in crate::conversation) async fn render_status(&self) -> anyhow::Result<String> {
        let parts = self.parts();
        let mut text = String::new();
        for identity in parts.platform.identities() {
            let name = parts.roster.name_of(&identity.persona);
            let state = match identity.state {
                IdentityState::Ready if self.inner.halts.is_paused(&identity.persona) => "paused".into(),
                IdentityState::Ready => identity.latency.map_or("online".into(), |latency| format!("online, {} ms", latency.as_millis())),
                IdentityState::Webhook => "speaks through a webhook".into(),
                IdentityState::Connecting => "connecting".into(),
                IdentityState::Reconnecting => "reconnecting".into(),
                IdentityState::Down => "down, speaks through a webhook".to_owned(),
            };
            let trouble = identity.trouble.map_or(String::new(), |trouble| format!(" ({trouble})"));
            let _ = writeln!(text, "- **{name}**: {state}{trouble}");
        }
        let _ = writeln!(text, "\n{}", parts.performer.describe_models());
        let spent = parts.store.spent_today(parts.clock.now()).await?;
        let _ = writeln!(text, "Spent today (UTC): {} in {} tokens.", spent.cost, spent.tokens);
        let (waiting, oldest) = parts.store.outbox_depth(parts.clock.now()).await?;
        if waiting > 0 {
            let _ = writeln!(text, "Waiting to be sent: {waiting}, the oldest for {} s.", oldest.as_secs());
        }
        if self.inner.halts.is_team_halted() {
            text.push_str("**The team is halted.** `/resume` lets us speak again.\n");
        }
        let quiet = self.inner.halts.list_channels();
        if !quiet.is_empty() {
            let channels: Vec<_> = quiet.iter().map(|id| format!("<#{id}>")).collect();
            let _ = writeln!(text, "Quiet since somebody said stop: {}.", channels.join(", "));
        }
        let blocks = parts.store.count_blocks().await?;
        if !blocks.is_empty() {
            let counts: Vec<_> = blocks.iter().map(|(block, count)| format!("{block} {count}")).collect();
            let _ = writeln!(text, "The guard kept agents from answering agents: {}.", counts.join(", "));
        }
        Ok(text)
    }
}

pub(in crate::conversation) fn render_team(roster: &Roster, is_paused: impl Fn(&PersonaSlug) -> bool) -> String {
    let mut text = String::new();
    for persona in roster.personas() {
        let coordinator = if persona.coordinator && persona.role != "coordinator" { ", coordinator" } else { "" };
        let paused = if is_paused(&persona.slug) { " (paused)" } else { "" };
        let _ = writeln!(text, "- **{}**, {}{coordinator}: {}{paused}", persona.name, persona.role, persona.expertise.join(", "));
    }
    text
}

pub(in crate::conversation) fn render_persona(persona: &Persona) -> String {
    let mut text = format!("**{}**, {}\n", persona.name, persona.role);
    let mut line = |label: &str, values: Vec<&str>| {
        if !values.is_empty() {
            let _ = writeln!(text, "{label}: {}", values.join(", "));
        }
    };
    line("Also called", persona.aliases.iter().map(String::as_str).collect());
    line("Knows", persona.expertise.iter().map(String::as_str).collect());
    line("Feeds", persona.feeds.iter().map(|feed| feed.name.as_str()).collect());
    line("Tools", persona.tools.iter().map(String::as_str).collect());
    line("Tier", vec![persona.tier.as_str()]);
    line("In the standup", vec![&persona.standup.role]);
    text
}

pub(in crate::conversation) fn render_costs(since: DateTime<Utc>, groups: &[(CostGroup, Vec<CostLine>)]) -> String {
    let total: Money = groups.first().map(|(_, lines)| lines.iter().map(|line| line.cost).sum()).unwrap_or_default();
    let mut text = format!("Since {} (UTC): **{total}**\n", since.format("%Y-%m-%d"));
    for (group, lines) in groups.iter().filter(|(_, lines)| !lines.is_empty()) {
        let label = group.as_str();
        let _ = writeln!(text, "\n| {label} | calls | tokens in | cached | out | cost |\n| --- | ---: | ---: | ---: | ---: | ---: |");
        for line in lines {
            let usage = line.usage;
            let _ =
                writeln!(text, "| {} | {} | {} | {} | {} | {} |", line.key, line.calls, usage.input, usage.cached, usage.output, line.cost);
        }
    }
    text
}

pub(in crate::conversation) fn render_help(roster: &Roster) -> String {
    let names: Vec<_> = roster.personas().iter().map(|persona| persona.name.as_str()).collect();
    let coordinator = &roster.coordinator().name;
    format!(
        "We are {}. Begin a message with a name, or mention one, and that persona answers; a question to nobody in particular is for {coordinator}. \
         Drop a text file with your question and we read it. Say *ask Vince what he thinks about …* and the answer is relayed. *stop* silences us.\n\n\
         - `/ask` asks a persona and relays the answer\n\
         - `/team list`, `show`, `pause`, `resume`: who we are, and who rests\n\
         - `/standup start`, `status`, `skip`, `wrap`, `cancel`: the daily standup of a channel\n\
         - `/report` and `/predictions`: what came out of the standups\n\
         - `/backlog list`, `show`, `add`, `run`, `retry`, `cancel`, `edit`: what there is to be done\n\
         - `/schedule`: what happens by the clock\n\
         - `/status`: how we fare; `/costs`: what it cost, and more budget for today\n\
         - `/halt` and `/resume`: silence us all, and lift it\n",
        names.join(", ")
    )
}
