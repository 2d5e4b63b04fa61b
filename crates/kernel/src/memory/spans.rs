use chrono::{DateTime, Utc};

use crate::ids::ChannelId;

/// A stretch of a channel with a summary (MEM-10). Its messages are listed beside it, so that it can be opened again.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub id: String,
    pub channel: ChannelId,
    /// Without `#`. Empty in a direct conversation.
    pub channel_name: String,
    /// The only place where it may be told. None: everywhere.
    pub place: Option<ChannelId>,
    pub from_at: DateTime<Utc>,
    pub to_at: DateTime<Utc>,
    /// The number of its messages.
    pub messages: usize,
    /// Empty while it has to be made again.
    pub text: String,
    /// None: put together without a model.
    pub model: Option<String>,
    /// It may repeat text from outside.
    pub outside: bool,
}

impl Span {
    /// The id that people read and type.
    pub fn short_id(&self) -> String {
        super::short_id(&self.id.as_str().into())
    }
}
