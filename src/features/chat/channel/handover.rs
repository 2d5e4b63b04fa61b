//! Starts turns when one persona's answer addresses another. Runs inside the process, and only where the guard allows it.

use crate::features::chat::Conversation;
use crate::features::chat::model::decision::Block;
use crate::features::chat::rules::addressing::addressed_by_agent;
use crate::features::chat::rules::guard;
use crate::features::chat::rules::guard::Exchange;
use crate::features::chat::store::Blocked;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::message::{Channel, ChannelKind, Speaker, Spoken};
use kernel::db::StoreError;
use kernel::ids::{ChainId, PersonaSlug, TurnId};

/// How many messages the guard reads. More than any of its windows needs.
const TRANSCRIPT: u32 = 50;

/// What an agent said.
pub(super) struct Said<'a> {
    pub(super) from: &'a Speaker,
    pub(super) text: &'a str,
    pub(super) channel: &'a Channel,
    pub(super) chain: &'a ChainId,
    /// The line itself, if the transcript does not contain it yet.
    pub(super) unposted: Option<Spoken>,
}

impl Conversation {
    /// The turns that follow from a persona's reply. Personas that speak next anyway get no second turn. Fails closed: if the guard's input cannot be
    /// read, nobody follows.
    pub(super) async fn hand_over(&self, turn: &Turn, text: &str) -> Vec<Turn> {
        let deps = self.deps();
        let mut follow_ups: Vec<Turn> = Vec::new();
        let addressed = addressed_by_agent(text, &deps.roster, &self.accounts());
        if addressed.is_empty() {
            return follow_ups;
        }
        let next = match deps.store.list_next_speakers(turn).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "who speaks next cannot be read, so nobody follows");
                return follow_ups;
            }
        };
        for persona in addressed {
            if next.contains(&persona) || self.inner.halts.is_paused(&persona) {
                continue;
            }
            let verdict = self.examine_answer(turn, text, &persona, follow_ups.len()).await.unwrap_or_else(|error| {
                tracing::error!(%error, "the guard cannot read the channel, so nobody follows");
                Err(Block::Unknown)
            });
            match verdict {
                Ok(()) => follow_ups.push(self.follow_up(turn, persona)),
                Err(block) => self.note_block(turn, &turn.persona, &persona, block).await,
            }
        }
        follow_ups
    }

    async fn examine_answer(&self, turn: &Turn, text: &str, to: &PersonaSlug, followed: usize) -> Result<Result<(), Block>, StoreError> {
        let Some(message) = self.deps().store.find_message(&turn.message).await? else { return Ok(Err(Block::Unknown)) };
        let answers = match &turn.trigger {
            Trigger::Agent { from, .. } => Some(Speaker::Persona(from.clone())),
            _ => None,
        };
        let from = Speaker::Persona(turn.persona.clone());
        let line =
            Spoken { message: None, speaker: from.clone(), answers, text: text.to_owned(), at: self.deps().clock.now(), in_meeting: false };
        let said = Said { from: &from, text, channel: &message.message.channel, chain: &turn.chain, unposted: Some(line) };
        self.examine(&said, to, u32::try_from(followed).unwrap_or(u32::MAX)).await
    }

    /// Whether `to` may answer an agent's line. `unstored` counts turns of the chain that are decided but not stored yet.
    pub(super) async fn examine(&self, said: &Said<'_>, to: &PersonaSlug, unstored: u32) -> Result<Result<(), Block>, StoreError> {
        let deps = self.deps();
        let now = deps.clock.now();
        let channel = &said.channel.id;
        let mut recent = deps.store.list_spoken_outside_meetings(channel, TRANSCRIPT).await?;
        recent.extend(said.unposted.clone());
        let to_speaker = Speaker::Persona(to.clone());
        let verdict = guard::check(&Exchange {
            from: said.from,
            to,
            text: said.text,
            status: false,
            recent: &recent,
            chain_turns: deps.store.count_chain_turns(said.chain).await?.saturating_add(unstored),
            cooldown_until: deps.store.find_cooldown(channel, said.from, &to_speaker).await?,
            halted: self.inner.halts.is_halted_in(channel),
            standup: self.kind_of(said.channel) == ChannelKind::Standup,
            now,
            limits: &deps.guard,
        });
        if let Err(block) = verdict
            && let Some(until) = guard::cooldown_after(block, now, &deps.guard)
        {
            deps.store.set_cooldown(channel, said.from, &to_speaker, until).await?;
        }
        Ok(verdict)
    }

    fn follow_up(&self, turn: &Turn, persona: PersonaSlug) -> Turn {
        Turn {
            id: TurnId::generate(),
            persona,
            trigger: Trigger::Agent { from: turn.persona.clone(), turn: turn.id.clone() },
            state: TurnState::Queued,
            queued_at: self.deps().clock.now(),
            ..turn.clone()
        }
    }

    /// Records that the guard stopped `to` from answering `from`.
    pub(crate) async fn note_block(&self, turn: &Turn, from: &PersonaSlug, to: &PersonaSlug, block: Block) {
        let at = self.deps().clock.now();
        let from = Speaker::Persona(from.clone());
        self.count_block(&Blocked { channel: &turn.channel, chain: &turn.chain, from: &from, to, block, at }).await;
    }

    pub(crate) async fn count_block(&self, blocked: &Blocked<'_>) {
        metrics::counter!("teamroom_guard_blocks_total", "reason" => blocked.block.as_str()).increment(1);
        tracing::info!(id = %blocked.chain, from = ?blocked.from, to = %blocked.to, block = %blocked.block, "the guard said no");
        if let Err(error) = self.deps().store.record_block(blocked).await {
            tracing::warn!(%error, "a block could not be counted");
        }
    }
}
