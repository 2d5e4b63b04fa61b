use async_trait::async_trait;

use crate::features::backlog::executor::Assignment;
use crate::features::backlog::render::{Announcer, Spot};
use crate::store::Store;
use kernel::agent::{Agents, Approvals, Consent, RunError};
use kernel::ids::ApprovalId;
use kernel::llm::ToolCall;
use kernel::tools::approval::{Approval, ApprovalState, Risk, fingerprint};

/// Asks for approval in the item's channel. The item waits as soon as the question is stored.
pub(super) struct ItemApprovals<'a> {
    pub(super) store: &'a Store,
    pub(super) agents: &'a Agents,
    pub(super) assignment: &'a Assignment<'a>,
    pub(super) spot: &'a Spot,
}

#[async_trait]
impl Approvals for ItemApprovals<'_> {
    async fn request(&self, call: &ToolCall, risk: Risk, why: &str) -> Result<Consent, RunError> {
        let item = self.assignment.item;
        let found = self.store.find_approval_for(&item.id, item.run, &fingerprint(&call.name, &call.arguments)).await?;
        let Some(approval) = found else { return self.ask(call, risk, why).await };
        Ok(match approval.state {
            ApprovalState::Allowed => Consent::Allowed { at: approval.decided_at.unwrap_or(approval.asked_at) },
            ApprovalState::Refused => Consent::Refused,
            ApprovalState::Asked => Consent::Asked(approval.id),
        })
    }
}

impl ItemApprovals<'_> {
    async fn ask(&self, call: &ToolCall, risk: Risk, why: &str) -> Result<Consent, RunError> {
        let Assignment { item, job, persona, .. } = *self.assignment;
        let now = self.agents.runner.clock.now();
        let approval = Approval {
            id: ApprovalId::generate(),
            item: item.id.clone(),
            run: item.run,
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            risk,
            state: ApprovalState::Asked,
            by: None,
            asked_at: now,
            decided_at: None,
        };
        let announcer = Announcer { persona: &persona.slug, spot: self.spot, roster: &self.agents.roster };
        let outbox = [announcer.ask_approval(item, &approval, why)];
        if !self.store.ask_approval(job, &approval, &outbox, now).await? {
            return Err(RunError::Lost);
        }
        Ok(Consent::Asked(approval.id))
    }
}
