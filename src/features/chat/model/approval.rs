use kernel::ids::{ApprovalId, ChannelId, MessageId, PersonaSlug, UserId};
use kernel::tools::approval::ApprovalState;
use serde_json::Value;

/// A call of a tool that a person is asked to allow below an answer. Once allowed, exactly this call is made, once.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatApproval {
    pub id: ApprovalId,
    /// The message that the answer is for.
    pub message: MessageId,
    /// The author of that message. Only this person or an operator may decide.
    pub asker: UserId,
    pub channel: ChannelId,
    pub persona: PersonaSlug,
    pub tool: String,
    pub arguments: Value,
    pub state: ApprovalState,
    /// Who decided.
    pub by: Option<String>,
}
