//! When one persona's answer addresses another: inside the process, and only as far as the guard allows.

use std::collections::VecDeque;

use crate::conversation::Conversation;
use crate::conversation::rules::addressing::addressed_by_agent;
use crate::conversation::rules::guard::{self, Exchange};
use crate::domain::decision::Block;
use crate::domain::ids::{PersonaSlug, TurnId};
use crate::domain::message::{ChannelKind, Speaker, Spoken};
use crate::domain::turn::{Trigger, Turn, TurnState};
use crate::store::Blocked;

/// How far back the guard looks. More than any of its windows needs, less than a screenful.
const TRANSCRIPT: u32 = 50;

impl Conversation {
    /// The turns that follow from what a persona said. Those who speak next anyway need no second turn. Fails closed: if what the guard decides
    /// on cannot be read, nobody follows.
    pub(in crate::conversation) async fn hand_over(&self, turn: &Turn, text: &str, queued: &VecDeque<Turn>) -> Vec<Turn> {
        let parts = self.parts();
        let addressed = addressed_by_agent(text, &parts.roster, &self.accounts());
        let mut follow_ups: Vec<Turn> = Vec::new();
        for persona in addressed {
            if queued.iter().any(|next| next.persona == persona && next.chain == turn.chain) || self.inner.halts.is_paused(&persona) {
                continue;
            }
            let verdict = match self.examine(turn, text, &persona, u32::try_from(follow_ups.len() + queued.len()).unwrap_or(u32::MAX)).await
            {
                Ok(verdict) => verdict,
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "the guard cannot read the channel, so nobody follows");
                    Err(Block::Unknown)
                }
            };
            match verdict {
                Ok(()) => follow_ups.push(self.follow_up(turn, persona)),
                Err(block) => self.note_block(turn, &turn.persona, &persona, block).await,
            }
        }
        follow_ups
    }

    async fn examine(&self, turn: &Turn, text: &str, to: &PersonaSlug, queued: u32) -> anyhow::Result<Result<(), Block>> {
        let parts = self.parts();
        let now = parts.clock.now();
        let mut recent = parts.store.list_spoken(&turn.channel, TRANSCRIPT, None).await?;
        let from = Speaker::Persona(turn.persona.clone());
        recent.push(Spoken { message: None, speaker: from.clone(), answers: answered_agent(turn), text: text.to_owned(), at: now });
        let message = parts.store.find_message(&turn.message).await?;
        let standup = message.is_some_and(|row| self.kind_of(&row.message.channel) == ChannelKind::Standup);
        let verdict = guard::check(&Exchange {
            from: &from,
            to,
            text,
            status: false,
            recent: &recent,
            chain_turns: parts.store.count_chain_turns(&turn.chain).await?.saturating_add(queued),
            cooldown_until: parts.store.find_cooldown(&turn.channel, &from, &Speaker::Persona(to.clone())).await?,
            halted: self.inner.halts.is_halted_in(&turn.channel),
            standup,
            now,
            limits: &parts.guard,
        });
        if let Err(block) = verdict
            && let Some(until) = guard::cooldown_after(block, now, &parts.guard)
        {
            parts.store.set_cooldown(&turn.channel, &from, &Speaker::Persona(to.clone()), until).await?;
        }
        Ok(verdict)
    }

    fn follow_up(&self, turn: &Turn, persona: PersonaSlug) -> Turn {
        Turn {
            id: TurnId::generate(),
            persona,
            trigger: Trigger::Agent { from: turn.persona.clone(), turn: turn.id.clone() },
            state: TurnState::Queued,
            attempts: 0,
            queued_at: self.parts().clock.now(),
            ..turn.clone()
        }
    }

    /// Counts that the guard kept `to` from answering `from`.
    pub(in crate::conversation) async fn note_block(&self, turn: &Turn, from: &PersonaSlug, to: &PersonaSlug, block: Block) {
        let at = self.parts().clock.now();
        let from = Speaker::Persona(from.clone());
        self.count_block(&Blocked { channel: &turn.channel, chain: &turn.chain, from: &from, to, block, at }).await;
    }

    pub(in crate::conversation) async fn count_block(&self, blocked: &Blocked<'_>) {
        metrics::counter!("teamroom_guard_blocks_total", "reason" => blocked.block.as_str()).increment(1);
        tracing::info!(message = %blocked.chain, from = ?blocked.from, to = %blocked.to, block = %blocked.block, "the guard said no");
        if let Err(error) = self.parts().store.record_block(blocked).await {
            tracing::warn!(%error, "a block could not be counted");
        }
    }
}

fn answered_agent(turn: &Turn) -> Option<Speaker> {
    match &turn.trigger {
        Trigger::Agent { from, .. } => Some(Speaker::Persona(from.clone())),
        _ => None,
    }
}
