//! Buttons of work items. The id contains everything needed, so old buttons work after a restart.

use crate::features::backlog::model::ExecutionKind;
use kernel::ids::{ApprovalId, MessageId, WorkItemId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkButton {
    /// The person has done what they were reminded of.
    Done(WorkItemId),
    /// The item is not needed any more.
    NotNeeded(WorkItemId),
    /// The person does not know what they were asked.
    Unknown(WorkItemId),
    /// What the person wrote in this message is the answer.
    Answer(WorkItemId, MessageId),
    /// The result is good.
    Accept(WorkItemId),
    /// The result is not good. Try again.
    Reject(WorkItemId),
    /// Try again an item that has ended or waits for a decision.
    Retry(WorkItemId),
    /// Cancel it. If there is work in it, the person is asked first.
    Cancel(WorkItemId),
    /// Cancel it, although there is work in it.
    CancelNow(WorkItemId),
    /// Do not cancel it.
    Keep(WorkItemId),
    /// Take the cancellation back.
    Restore(WorkItemId),
    /// Add it although it looks like an open item.
    Anyway(WorkItemId),
    /// It is this kind of work.
    Kind(WorkItemId, ExecutionKind),
    /// Approve exactly this call.
    Allow(ApprovalId),
    Refuse(ApprovalId),
    /// Raise the budget that the item waits for by one step.
    Raise(WorkItemId),
    /// Start all that waited for a language model.
    StartWaiting,
}

impl WorkButton {
    /// The prefix of all ids, before the first colon.
    pub const PREFIX: &str = "work";

    /// The button's id on the platform.
    pub fn id(&self) -> String {
        let (verb, of) = match self {
            Self::Answer(item, message) => return format!("{}:answer:{item}:{message}", Self::PREFIX),
            Self::Done(item) => ("done", item.as_str()),
            Self::NotNeeded(item) => ("drop", item.as_str()),
            Self::Unknown(item) => ("unknown", item.as_str()),
            Self::Accept(item) => ("accept", item.as_str()),
            Self::Reject(item) => ("reject", item.as_str()),
            Self::Retry(item) => ("retry", item.as_str()),
            Self::Anyway(item) => ("anyway", item.as_str()),
            Self::Cancel(item) => ("cancel", item.as_str()),
            Self::CancelNow(item) => ("cancel-now", item.as_str()),
            Self::Keep(item) => ("keep", item.as_str()),
            Self::Restore(item) => ("restore", item.as_str()),
            Self::Raise(item) => ("raise", item.as_str()),
            Self::Kind(item, kind) => (kind.as_str(), item.as_str()),
            Self::Allow(approval) => ("allow", approval.as_str()),
            Self::Refuse(approval) => ("refuse", approval.as_str()),
            Self::StartWaiting => ("start", "waiting"),
        };
        format!("{}:{verb}:{of}", Self::PREFIX)
    }

    /// None for other buttons.
    pub fn parse(id: &str) -> Option<Self> {
        let (verb, of) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        Some(match verb {
            "done" => Self::Done(of.into()),
            "drop" => Self::NotNeeded(of.into()),
            "unknown" => Self::Unknown(of.into()),
            "answer" => {
                let (item, message) = of.split_once(':')?;
                Self::Answer(item.into(), message.into())
            }
            "accept" => Self::Accept(of.into()),
            "reject" => Self::Reject(of.into()),
            "retry" => Self::Retry(of.into()),
            "cancel" => Self::Cancel(of.into()),
            "cancel-now" => Self::CancelNow(of.into()),
            "keep" => Self::Keep(of.into()),
            "restore" => Self::Restore(of.into()),
            "anyway" => Self::Anyway(of.into()),
            "raise" => Self::Raise(of.into()),
            "allow" => Self::Allow(of.into()),
            "refuse" => Self::Refuse(of.into()),
            "start" if of == "waiting" => Self::StartWaiting,
            kind => {
                let (kind, _) = ExecutionKind::CHOSEN.into_iter().find(|(known, _)| known.as_str() == kind)?;
                Self::Kind(of.into(), kind)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id() {
        let (item, approval) = (WorkItemId::from("i"), ApprovalId::from("a"));
        for button in [
            WorkButton::Done(item.clone()),
            WorkButton::NotNeeded(item.clone()),
            WorkButton::Unknown(item.clone()),
            WorkButton::Answer(item.clone(), "discord:7".into()),
            WorkButton::Accept(item.clone()),
            WorkButton::Reject(item.clone()),
            WorkButton::Retry(item.clone()),
            WorkButton::Cancel(item.clone()),
            WorkButton::CancelNow(item.clone()),
            WorkButton::Keep(item.clone()),
            WorkButton::Restore(item.clone()),
            WorkButton::Anyway(item.clone()),
            WorkButton::Raise(item.clone()),
            WorkButton::Kind(item.clone(), ExecutionKind::Research),
            WorkButton::Kind(item, ExecutionKind::Remind),
            WorkButton::Allow(approval.clone()),
            WorkButton::Refuse(approval),
            WorkButton::StartWaiting,
        ] {
            assert_eq!(WorkButton::parse(&button.id()), Some(button));
        }
    }

    #[test]
    fn buttons_of_others_are_not_ours() {
        for id in ["", "work", "work:", "work:done", "work:burn:i", "standup:done:i", "worker:done:i", "work:answer:i"] {
            assert_eq!(WorkButton::parse(id), None, "{id}");
        }
    }
}
