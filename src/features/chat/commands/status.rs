//! The commands that show the state of the team.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use serde_json::json;

use crate::features::chat::Conversation;
use crate::features::chat::commands::{ChatCommands, is_for_all};
use kernel::agent::halts::HaltScope;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::Placement;
use kernel::chat::outbox::HeldMessage;
use kernel::chat::text::{ChannelRef, Part, parts, plain};
use kernel::chat::{IdentityState, IdentityStatus};
use kernel::commands::CommandReply;
use kernel::ids::PersonaSlug;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::persona::skill::Skill;
use kernel::text::join_with_and;

/// Maximum length of what is wrong in a file.
const FAULT: usize = 300;

/// How long a message that reached nobody is told, how many are read and shown, and how much of their text.
const LOST_FOR: TimeDelta = TimeDelta::days(7);
const LOST: u32 = 100;
const LOST_SHOWN: usize = 5;
const SAID: usize = 120;

/// How many rows of the database that cannot be read are named.
const UNREADABLE: usize = 10;

/// The most held messages that are read for `/status`.
const HELD: u32 = 100;

impl ChatCommands {
    /// Health of the team. Only the serving process knows who is online.
    pub(super) async fn show_status(&self) -> anyhow::Result<CommandReply> {
        let mut text = String::new();
        let mut online = Vec::new();
        let halts = self.store.list_halts().await?;
        let is_paused = |slug: &PersonaSlug| halts.iter().any(|halt| matches!(&halt.scope, HaltScope::Persona(paused) if paused == slug));
        let identities: Vec<_> = self.live.iter().flat_map(|live| live.deps().platform.identities()).collect();
        let has_several = identities.iter().any(|identity| identity.platform != identities[0].platform);
        let mut guests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for identity in &identities {
            let name = self.roster.name_of(&identity.persona);
            let state = describe_identity(identity, is_paused(&identity.persona));
            let place = if has_several { format!(" on {}", identity.platform) } else { String::new() };
            if identity.state == IdentityState::Webhook && identity.trouble.is_none() {
                let paused = if is_paused(&identity.persona) { " (paused)" } else { "" };
                guests.entry(identity.platform).or_default().push(format!("{name}{paused}"));
            } else {
                let _ = writeln!(text, "- **{name}**{place}: {state}");
            }
            online.push(json!({ "persona": identity.persona, "platform": identity.platform, "state": state }));
        }
        for (platform, names) in guests {
            let place = if has_several { format!(" on {platform}") } else { String::new() };
            let _ = writeln!(text, "- Without an account of their own{place}, but there: {}", names.join(", "));
        }
        let models = match &self.agents {
            Some(agents) => Some(agents.describe_models().await),
            None => None,
        };
        if let Some(models) = &models {
            let _ = writeln!(text, "\n{models}");
        }
        let now = self.clock.now();
        let spent = self.store.spent_today(now).await?;
        let _ =
            writeln!(text, "Spent since {}: {} in {} tokens.", self.roster.today(now).show(start_of_day(now)), spent.cost, spent.tokens);
        let (waiting, oldest) = self.store.outbox_depth(now).await?;
        if waiting > 0 {
            let _ = writeln!(text, "Waiting to be sent: {waiting}, the oldest for {} s.", oldest.as_secs());
        }
        let (held, count) = self.store.list_held(HELD).await?;
        for line in render_held(&self.roster, &held, count) {
            let _ = writeln!(text, "{line}");
        }
        let lost = self.list_lost(now).await?;
        for line in &lost {
            let _ = writeln!(text, "- Not delivered: {line}");
        }
        let refused = self.live.as_ref().and_then(Conversation::find_refused_change);
        let faults: Vec<&String> = refused.iter().chain(&self.faults).collect();
        for fault in &faults {
            let _ = writeln!(text, "- Needs a correction: {}", Medium::Chat.line_within(fault, FAULT));
        }
        let unreadable = self.store.list_unreadable().await?;
        for row in unreadable.iter().take(UNREADABLE) {
            let _ = writeln!(text, "- Left out, because it cannot be read: {} {}", row.table, Medium::Chat.line_within(&row.id, FAULT));
        }
        if let Some(more) = unreadable.len().checked_sub(UNREADABLE).filter(|more| *more > 0) {
            let _ = writeln!(text, "- Left out, because they cannot be read: {more} more rows of the database. The log has all.");
        }
        let absent = match &self.agents {
            Some(agents) => agents.readings.list_absent().await,
            None => Vec::new(),
        };
        if !absent.is_empty() {
            let feeds: Vec<String> = absent.iter().map(|(feed, why)| Medium::Chat.line_within(&format!("{feed} ({why})"), FAULT)).collect();
            let _ = writeln!(text, "Feeds without material yet: {}.", feeds.join(", "));
        }
        let is_halted = halts.iter().any(|halt| halt.scope == HaltScope::All);
        if is_halted {
            text.push_str("**The team is halted.** `/resume` lets us speak again.\n");
        }
        let quiet = halts.iter().filter_map(|halt| if let HaltScope::Channel(id) = &halt.scope { Some(id) } else { None });
        let quiet: Vec<_> = quiet.collect();
        if !quiet.is_empty() {
            let channels: Vec<_> = quiet.iter().map(|id| ChannelRef(id).to_string()).collect();
            let _ = writeln!(text, "Quiet since somebody said stop: {}.", channels.join(", "));
        }
        let paused: Vec<_> = self.roster.personas().iter().map(|persona| &persona.slug).filter(|slug| is_paused(slug)).collect();
        let blocks = self.store.count_blocks().await?;
        if !blocks.is_empty() {
            let counts: Vec<_> = blocks.iter().map(|(block, count)| format!("{block} {count}")).collect();
            let _ = writeln!(text, "The guard kept agents from answering agents: {}.", counts.join(", "));
        }
        Ok(CommandReply::private(text.trim()).with_data(json!({
            "identities": online, "models": models, "spent_today": { "dollars": spent.cost.dollars(), "tokens": spent.tokens },
            "faults": faults, "not_delivered": lost, "unreadable": unreadable, "waiting_to_be_sent": waiting, "halted": is_halted, "quiet_channels": quiet, "paused": paused,
        })))
    }

    /// What reached nobody lately: whose it was and what it said. What was meant for a private place is shown without its text.
    async fn list_lost(&self, now: DateTime<Utc>) -> anyhow::Result<Vec<String>> {
        let mut lines = Vec::new();
        let lost = self.store.list_lost(now - LOST_FOR, LOST).await?;
        let channels = if lost.is_empty() { Vec::new() } else { self.store.list_channels().await? };
        for lost in lost.into_iter().take(LOST_SHOWN) {
            let message = &lost.message;
            let mut whose = Vec::new();
            for person in &message.pings {
                whose.extend(self.store.find_name(person).await?);
            }
            let whom = if whose.is_empty() { String::new() } else { format!(" for {}", Medium::Chat.line(&join_with_and(&whose))) };
            let is_public = channels.iter().any(|seen| seen.channel.id == message.channel && is_for_all(&seen.channel));
            let said = match message.place {
                Placement::Channel | Placement::Thread { .. } if is_public => {
                    format!(
                        " in {}: \"{}\"",
                        ChannelRef(&message.channel),
                        Medium::Chat.line_within(&self.with_names(&message.text).await?, SAID)
                    )
                }
                _ => " in private".to_owned(),
            };
            let why = Medium::Chat.line_within(&lost.why, SAID);
            let (name, at) = (self.roster.name_of(&message.persona), self.roster.show_time(lost.at));
            lines.push(format!("a message of {name}{whom}{said}, {at} ({why})."));
        }
        Ok(lines)
    }

    /// The text with the names of people.
    async fn with_names(&self, text: &str) -> anyhow::Result<String> {
        let mut named = String::new();
        for part in parts(text) {
            match part {
                Part::Markdown(markdown) => named.push_str(markdown),
                Part::Mention(id) => {
                    let name = self.store.find_name(&id).await?;
                    named.push_str(name.as_deref().unwrap_or("somebody"));
                }
                Part::Channel(_) => named.push_str("a channel"),
            }
        }
        Ok(plain(&named))
    }

    pub(super) async fn list_team(&self) -> anyhow::Result<CommandReply> {
        let halts = self.store.list_halts().await?;
        let is_paused = |slug: &PersonaSlug| halts.iter().any(|halt| matches!(&halt.scope, HaltScope::Persona(paused) if paused == slug));
        let data = self.roster.personas().iter().map(|persona| {
            json!({
                "slug": persona.slug, "name": persona.name, "role": persona.role, "expertise": persona.expertise,
                "coordinator": persona.coordinator, "paused": is_paused(&persona.slug),
            })
        });
        Ok(CommandReply::private(render_team(&self.roster, is_paused)).with_data(data.collect()))
    }
}

/// The start of a day of the ledger and of budgets, which is in UTC.
fn start_of_day(now: DateTime<Utc>) -> DateTime<Utc> {
    now.date_naive().and_time(NaiveTime::MIN).and_utc()
}

/// Describes the held messages in one line for each persona, channel and permission.
fn render_held(roster: &Roster, held: &[HeldMessage], count: u64) -> Vec<String> {
    let mut groups: Vec<(&HeldMessage, usize)> = Vec::new();
    for message in held {
        match groups.iter_mut().find(|(known, _)| *known == message) {
            Some((_, times)) => *times += 1,
            None => groups.push((message, 1)),
        }
    }
    let line = |(message, times): (&HeldMessage, usize)| {
        let (name, channel) = (roster.name_of(&message.persona), ChannelRef(&message.channel));
        let messages = if times == 1 { "message waits" } else { "messages wait" };
        format!("{times} {messages} for a permission: {name} needs \"{}\" in {channel}. Kept for up to 24 hours.", message.needs)
    };
    let mut lines: Vec<_> = groups.into_iter().map(line).collect();
    if let Some(more) = count.checked_sub(held.len() as u64).filter(|more| *more > 0) {
        lines.push(format!("{more} more wait for a permission."));
    }
    lines
}

fn describe_identity(identity: &IdentityStatus, paused: bool) -> String {
    let state = match identity.state {
        IdentityState::Ready if paused => "paused".into(),
        IdentityState::Ready => identity.latency.map_or("online".into(), |latency| format!("online, {} ms", latency.as_millis())),
        IdentityState::Webhook => "has no account of its own, and speaks all the same".into(),
        IdentityState::Connecting => "connecting".into(),
        IdentityState::Reconnecting => "reconnecting".into(),
        IdentityState::Down => "down, others speak for it".to_owned(),
    };
    let trouble = identity.trouble.as_ref().map_or(String::new(), |trouble| format!(" ({trouble})"));
    format!("{state}{trouble}")
}

pub(super) fn render_team(roster: &Roster, is_paused: impl Fn(&PersonaSlug) -> bool) -> String {
    let mut text = String::new();
    for persona in roster.personas() {
        let coordinator = if persona.coordinator && persona.role != "coordinator" { ", coordinator" } else { "" };
        let paused = if is_paused(&persona.slug) { " (paused)" } else { "" };
        let _ = writeln!(text, "- **{}**, {}{coordinator}: {}{paused}", persona.name, persona.role, persona.expertise.join(", "));
    }
    let experts: Vec<&str> = roster.experts().iter().map(|expert| expert.name.as_str()).collect();
    if !experts.is_empty() {
        let _ = writeln!(text, "Experts for board meetings: {}", experts.join(", "));
    }
    text
}

pub(super) fn render_persona(persona: &Persona, skills: &[&str]) -> String {
    let mut text = format!("**{}**, {}\n", persona.name, persona.role);
    let mut line = |label: &str, values: Vec<&str>| {
        if !values.is_empty() {
            let _ = writeln!(text, "{label}: {}", values.join(", "));
        }
    };
    line("Also called", persona.aliases.iter().map(String::as_str).collect());
    line("Knows", persona.expertise.iter().map(String::as_str).collect());
    line("Skills", skills.to_vec());
    line("Feeds", persona.feeds.iter().map(|feed| feed.name.as_str()).collect());
    line("Tools", persona.tools.iter().map(String::as_str).collect());
    line("Tier", vec![persona.tier.as_str()]);
    line("In the standup", vec![&persona.standup.role]);
    text
}

/// Each skill with its summary and the personas that have it.
pub(super) fn list_skills(roster: &Roster) -> CommandReply {
    let have = |skill: &Skill| -> Vec<&str> {
        let having = roster.personas().iter().filter(|persona| skill.is_for(persona));
        having.map(|persona| persona.name.as_str()).collect()
    };
    let skills: Vec<_> = roster.skills().iter().map(|skill| (skill, have(skill))).collect();
    let lines: Vec<String> = skills.iter().map(|(skill, names)| render_skill(skill, names, roster)).collect();
    let text = if lines.is_empty() { "No skills yet. Add a file to the folder `skills`.".to_owned() } else { lines.join("\n") };
    let data = skills.iter().map(|(skill, names)| {
        json!({ "slug": skill.slug, "name": skill.name, "summary": skill.summary, "kinds": skill.kinds, "personas": names })
    });
    CommandReply::private(text).with_data(data.collect())
}

fn render_skill(skill: &Skill, names: &[&str], roster: &Roster) -> String {
    let who = match names.len() {
        0 => "nobody on this team".to_owned(),
        count if count == roster.personas().len() => "everybody".to_owned(),
        _ => join_with_and(names),
    };
    format!("- **{}** ({who}): {}", skill.name, skill.summary)
}

pub(super) fn render_help(roster: &Roster, commands: &str) -> String {
    let names: Vec<_> = roster.personas().iter().map(|persona| persona.name.as_str()).collect();
    let coordinator = &roster.coordinator().name;
    format!(
        "We are {}. Begin a message with a name, or mention one, and that persona answers; a question to nobody in particular is for {coordinator}. \
         Drop a text file with your question and we read it. Say *ask Vince what he thinks about …* and the answer is relayed. *stop* silences us.\n\n\
         {commands}",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::persona::{roster, skill};

    #[test]
    fn a_skill_is_listed_with_those_who_have_it() {
        let of = |name: &str, for_whom: &[&str]| Skill {
            for_whom: for_whom.iter().map(|name| (*name).to_owned()).collect(),
            ..skill(name, "x")
        };
        let skills = vec![of("counting", &["vince", "kelly"]), of("writing", &[]), of("cooking", &["nobody here"])];
        assert_eq!(
            list_skills(&roster().with_skills(skills)).text,
            "- **counting** (Kelly and Vince): How to do counting.\n- **writing** (everybody): How to do writing.\n- **cooking** (nobody on this \
             team): How to do cooking."
        );
        assert_eq!(list_skills(&roster()).text, "No skills yet. Add a file to the folder `skills`.");
    }
}
