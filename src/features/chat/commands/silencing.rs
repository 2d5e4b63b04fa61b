//! Halts, pauses and budgets. With the team in this process they apply at once. Otherwise they are rows that the other process reads.

use serde_json::json;

use kernel::chat::Presence;
use kernel::commands::{CommandCall, CommandReply};
use kernel::money::{Limit, Money};
use kernel::persona::Persona;
use kernel::text::join_with_and;

use crate::features::chat::commands::ChatCommands;
use crate::features::chat::store::CancelScope;
use kernel::agent::halts::HaltScope;

impl ChatCommands {
    pub(super) async fn halt(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        if let Some(live) = &self.live {
            live.cancel_running(|_| true);
        }
        self.silence(HaltScope::All, call).await?;
        let why = "the team was halted";
        match &self.live {
            Some(live) => live.cancel_turns(CancelScope::All, why).await?,
            None => _ = self.store.cancel_turns(CancelScope::All, why, self.clock.now()).await?,
        }
        tracing::info!(by = call.caller.name(), "the team was halted");
        let text = format!("{} halted the team. We say nothing until `/resume`.", call.caller.subject());
        Ok(CommandReply::public(text).with_data(json!({ "halted": true })))
    }

    pub(super) async fn resume(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let halts = self.store.list_halts().await?;
        for scope in halts.into_iter().map(|halt| halt.scope).filter(|scope| !matches!(scope, HaltScope::Persona(_))) {
            self.lift(&scope).await?;
        }
        if let Some(live) = &self.live {
            // Also lifts halts that could not be written when the team was halted.
            live.inner.halts.lift_all().await?;
        }
        Ok(CommandReply::public(format!("{} let us speak again.", call.caller.subject())).with_data(json!({ "halted": false })))
    }

    pub(super) async fn pause(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let persona = self.roster.resolve(call.arguments.get_text("persona")?)?;
        self.silence(HaltScope::Persona(persona.slug.clone()), call).await?;
        if let Some(live) = &self.live {
            live.deps().platform.set_presence(&persona.slug, Presence::Paused).await;
        }
        let text = format!("{} paused {}.", call.caller.subject(), persona.name);
        Ok(CommandReply::public(text).with_data(json!({ "persona": persona.slug, "paused": true })))
    }

    pub(super) async fn unpause(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let Persona { slug, name, .. } = self.roster.resolve(call.arguments.get_text("persona")?)?;
        let was_paused = self.lift(&HaltScope::Persona(slug.clone())).await?;
        if let Some(live) = &self.live {
            live.deps().platform.set_presence(slug, Presence::Listening).await;
        }
        let reply = if was_paused {
            CommandReply::public(format!("{name} is back."))
        } else {
            CommandReply::private(format!("{name} was not paused."))
        };
        Ok(reply.with_data(json!({ "persona": slug, "paused": false, "was_paused": was_paused })))
    }

    pub(super) async fn raise_budget(&self, call: &CommandCall, dollars: f64) -> anyhow::Result<CommandReply> {
        let now = self.clock.now();
        let mut limits = self.store.list_used_up(now).await?;
        if limits.is_empty() {
            limits.push(Limit::Day);
        }
        let mut raised = Vec::new();
        for limit in limits {
            // Tokens have no price, so they grow by their own step.
            let amount = if limit.is_of_tokens() { self.budgets.step(&limit) } else { Money::from_dollars(dollars).0 };
            self.store.raise_limit(&limit, amount, call.caller.name(), now).await?;
            raised.push(format!("{} by {}", self.name_limit(&limit), limit.render(amount)));
        }
        if let Some(live) = &self.live {
            for persona in self.roster.personas().iter().filter(|persona| !live.inner.halts.is_paused(&persona.slug)) {
                live.deps().platform.set_presence(&persona.slug, Presence::Listening).await;
            }
        }
        let text = format!("{} raised {}.", call.caller.subject(), join_with_and(&raised));
        Ok(CommandReply::public(text).with_data(json!({ "raised_by": dollars, "raised": raised })))
    }

    fn name_limit(&self, limit: &Limit) -> String {
        match limit {
            Limit::PersonaDay(persona) => format!("today's budget of {}", self.roster.name_of(persona)),
            Limit::PersonaDayTokens(persona) => format!("today's tokens of {}", self.roster.name_of(persona)),
            Limit::DayTokens => "today's tokens".into(),
            _ => "today's budget".into(),
        }
    }

    async fn silence(&self, scope: HaltScope, call: &CommandCall) -> anyhow::Result<()> {
        let (by, now) = (call.caller.name(), self.clock.now());
        match &self.live {
            Some(live) => live.inner.halts.set(scope, by, now).await?,
            None => self.store.halt(&scope, by, now).await?,
        }
        Ok(())
    }

    async fn lift(&self, scope: &HaltScope) -> anyhow::Result<bool> {
        Ok(match &self.live {
            Some(live) => live.inner.halts.lift(scope).await?,
            None => self.store.resume(scope).await?,
        })
    }
}
