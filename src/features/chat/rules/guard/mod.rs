//! Whether an agent may answer an agent (CHAT-13). Pure, and decided before any model call.
//!
//! A rate limit alone does not end a loop with one message every five minutes. The limit on the chain does, because no pause resets it. Only a
//! person's message ends a run of agent messages. If the guard cannot read its input, it blocks.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::chat::model::decision::Block;
use crate::features::chat::settings::GuardLimits;
use kernel::chat::message::{Speaker, Spoken};
use kernel::ids::PersonaSlug;
use kernel::text::{Shingles, without_invisible};

/// How many earlier agent messages a text is compared with.
const COMPARED: usize = 5;

/// One agent has addressed another. The guard decides whether the other may answer.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The agent that spoke.
    pub from: &'a Speaker,
    /// The persona that would answer.
    pub to: &'a PersonaSlug,
    pub text: &'a str,
    /// The message is a notice of the team, or an error.
    pub status: bool,
    /// The messages of the channel, oldest first, including the current one. Turns of a meeting and notices are left out.
    pub recent: &'a [Spoken],
    /// The number of turns in the chain, of all agents.
    pub chain_turns: u32,
    /// The end of the cooldown between these two agents.
    pub cooldown_until: Option<DateTime<Utc>>,
    pub halted: bool,
    /// The channel is for standups.
    pub standup: bool,
    pub now: DateTime<Utc>,
    pub limits: &'a GuardLimits,
}

/// Checks whether the answer is allowed.
///
/// # Errors
/// The reason for the block. After [`Block::PairRate`] the two agents must cool down: see [`cooldown_after`].
pub fn check(exchange: &Exchange<'_>) -> Result<(), Block> {
    let Exchange { limits, now, .. } = exchange;
    if exchange.halted {
        return Err(Block::Halted);
    }
    if is_persona(exchange.from, exchange.to) {
        return Err(Block::OwnMessage);
    }
    if exchange.status || says_nothing(exchange.text) {
        return Err(Block::EmptyOrStatus);
    }
    let spoken_at = exchange.recent.iter().rposition(|line| is_same(&line.speaker, exchange.from)).ok_or(Block::Unknown)?;
    let (before, since) = exchange.recent.split_at(spoken_at);
    if since.iter().any(|line| !line.speaker.is_agent()) {
        return Err(Block::PersonSpoke);
    }
    if exchange.chain_turns >= limits.chain {
        return Err(Block::Chain);
    }
    if agent_run(exchange.recent) >= limits.run {
        return Err(Block::AgentRun);
    }
    if replies_to_sender(exchange) >= if exchange.standup { limits.replies_to_sender_standup } else { limits.replies_to_sender } {
        return Err(Block::SameSender);
    }
    if exchange.cooldown_until.is_some_and(|until| *now < until) {
        return Err(Block::PairCooldown);
    }
    if pair_rate(exchange, spoken_at) >= limits.pair_per_minute {
        return Err(Block::PairRate);
    }
    if repeats(exchange.text, before, limits.similarity) {
        return Err(Block::Repetition);
    }
    Ok(())
}

/// The end of the cooldown between two agents, in either direction, after a block between them.
pub fn cooldown_after(block: Block, now: DateTime<Utc>, limits: &GuardLimits) -> Option<DateTime<Utc>> {
    (block == Block::PairRate).then(|| now + limits.cooldown)
}

/// True without any letter or digit, as in "." or "👍".
fn says_nothing(text: &str) -> bool {
    !without_invisible(text).contains(char::is_alphanumeric)
}

/// The number of agent messages at the end without a person's message between them.
fn agent_run(recent: &[Spoken]) -> usize {
    recent.iter().rev().take_while(|line| line.speaker.is_agent()).count()
}

/// How often the persona answered this sender within the window.
fn replies_to_sender(exchange: &Exchange<'_>) -> usize {
    let window = exchange.recent.iter().rev().take(exchange.limits.window);
    window.filter(|line| is_persona(&line.speaker, exchange.to) && answers(line, exchange.from)).count()
}

/// Messages between the two within the last minute, in either direction. The count includes the message to be answered, even if it was written to
/// another agent, and the answer itself.
fn pair_rate(exchange: &Exchange<'_>, spoken_at: usize) -> usize {
    let since = exchange.now - TimeDelta::minutes(1);
    let to = Speaker::Persona(exchange.to.clone());
    let mut between = BTreeSet::from([spoken_at]);
    for (at, line) in exchange.recent.iter().enumerate() {
        let other = if is_same(&line.speaker, exchange.from) { &to } else { exchange.from };
        if answers(line, other) && (is_same(&line.speaker, exchange.from) || is_same(&line.speaker, &to)) {
            between.insert(at);
            between.extend(exchange.recent[..at].iter().rposition(|earlier| is_same(&earlier.speaker, other)));
        }
    }
    between.into_iter().filter(|at| exchange.recent[*at].at > since).count()
}

/// Whether the text is nearly the same as a recent agent message.
fn repeats(text: &str, before: &[Spoken], limit: f64) -> bool {
    let shingles = Shingles::of(text);
    let earlier = before.iter().rev().filter(|line| line.speaker.is_agent()).take(COMPARED);
    earlier.map(|line| Shingles::of(&line.text)).any(|other| shingles.similarity(&other) >= limit)
}

fn answers(line: &Spoken, whom: &Speaker) -> bool {
    line.answers.as_ref().is_some_and(|answered| is_same(answered, whom))
}

fn is_persona(speaker: &Speaker, slug: &PersonaSlug) -> bool {
    matches!(speaker, Speaker::Persona(persona) if persona == slug)
}

/// Compares accounts, because a display name may change at any time.
fn is_same(a: &Speaker, b: &Speaker) -> bool {
    match (a, b) {
        (Speaker::Persona(a), Speaker::Persona(b)) => a == b,
        (
            Speaker::Person { id: a, .. } | Speaker::ForeignBot { id: a, .. },
            Speaker::Person { id: b, .. } | Speaker::ForeignBot { id: b, .. },
        ) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
