//! What operators decide about amendments.

use crate::features::backlog::learning::amendment::store::Decider;
use crate::features::backlog::learning::amendment::{Amendment, AmendmentStatus, render};
use crate::features::backlog::model::ExecutionKind;
use crate::features::backlog::service::{Asker, Backlog, BacklogError};
use kernel::commands::CommandReply;
use kernel::ids::AmendmentId;
use kernel::persona::Persona;
use serde_json::json;

impl Backlog {
    /// Accepts or declines an offered amendment, once.
    pub(super) async fn decide_on_amendment(&self, id: &AmendmentId, uses: bool, asker: &Asker) -> Result<CommandReply, BacklogError> {
        if !asker.operates() {
            return Ok(CommandReply::refused("Only operators decide what personas are told."));
        }
        let gone = || CommandReply::refused("This question is not asked any more.").retiring_buttons();
        let Some(amendment) = self.store().find_amendment(id).await? else { return Ok(gone()) };
        let account = asker.as_owner();
        let by = Decider { name: asker.name(), account: account.as_ref() };
        let is_decided = amendment.status != AmendmentStatus::Offered || !self.store().decide_amendment(id, uses, by, self.now()).await?;
        if is_decided {
            let now = self.store().find_amendment(id).await?;
            return Ok(now.map_or_else(gone, |now| CommandReply::refused(render::settled(&now)).retiring_buttons()));
        }
        Ok(CommandReply::public(render::decided(&amendment, uses, asker.name(), self.roster())).retiring_buttons())
    }

    /// Lists the amendments in use, or all amendments of one persona.
    pub(super) async fn list_learnt(&self, persona: Option<&Persona>) -> Result<CommandReply, BacklogError> {
        let amendments = self.store().list_amendments(persona.map(|persona| &persona.slug)).await?;
        let text = render::list(&amendments, persona.is_some(), self.roster());
        Ok(CommandReply::private(text).with_data(json!({ "amendments": amendments })))
    }

    /// Reverts the newest amendment in use.
    pub(super) async fn revert_amendment(
        &self,
        persona: &Persona,
        skill: ExecutionKind,
        (asker, subject): (&Asker, &str),
    ) -> Result<CommandReply, BacklogError> {
        let account = asker.as_owner();
        let by = Decider { name: asker.name(), account: account.as_ref() };
        let Some(reverted) = self.store().revert_amendment(&persona.slug, skill, by, self.now()).await? else {
            let text = format!("{} has learnt nothing in {} that could be taken back.", persona.name, render::skill(skill));
            return Ok(CommandReply::refused(text));
        };
        let now: Option<Amendment> = self.store().find_amendment_in_use(&persona.slug, skill).await?;
        let text = render::reverted(&reverted, now.as_ref(), subject, self.roster());
        Ok(CommandReply::public(text).with_data(json!({ "reverted": reverted, "used": now })))
    }
}
