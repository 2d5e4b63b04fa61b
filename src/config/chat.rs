use std::time::Duration;

use crate::domain::ids::{ChannelId, UserId};
use crate::domain::message::ChannelKind;

/// `[chat]`: who is heard where, and how answers are given.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatSettings {
    /// Messages of one person within this time become one turn. Zero: each message by itself.
    pub coalesce: Duration,
    /// The most personas that answer one message.
    pub max_responders: usize,
    /// Past this time without a reply a short line says what the persona is doing.
    pub still_thinking_after: Duration,
    /// Text above this many characters goes as a Markdown file with a summary.
    pub attach_over: usize,
    /// How long an asked persona may take before the channel is told that no reply came.
    pub ask_timeout: Duration,
    /// How many personas may stand between a person's message and an ask.
    pub ask_depth: usize,
    /// Messages that came in while the process was down are answered up to this age.
    pub max_age: Duration,
    /// A message that is just one of these halts the channel.
    pub stop_phrases: Vec<String>,
    pub direct_messages: bool,
    /// Empty: everywhere. By id or name.
    pub allowed_channels: Vec<String>,
    /// Empty: everybody.
    pub allowed_users: Vec<UserId>,
    /// Users and roles that may use commands which change something. Empty: everybody on a sandbox, nobody elsewhere.
    pub operators: Vec<String>,
    /// Foreign bots that may speak to a persona by mentioning it.
    pub allowed_bots: Vec<UserId>,
    pub channels: ChannelRules,
}

/// `[chat.channels]`: kinds and bindings of channels.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelRules {
    /// By id or name pattern (`*` matches any run of characters); the first that fits counts.
    pub kinds: Vec<(String, ChannelKind)>,
    /// Channels bound to a persona, by id or name; `listen` for listen only.
    pub bindings: Vec<(String, String)>,
    /// What happens to a message that addresses nobody, by channel id or name; the default comes first and is named `*`.
    pub fallback: Vec<(String, FallbackAnswer)>,
}

/// Rule 7 of the routing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallbackAnswer {
    /// The coordinator, when the text is addressed to the team, a question or a directive.
    WhenAddressed,
    /// The coordinator, always.
    Always,
    Never,
}

impl ChannelRules {
    /// What a channel is for. Threads take the kind of their parent; the caller passes the parent's name and id then.
    pub fn kind_of(&self, id: &ChannelId, name: &str) -> ChannelKind {
        self.kinds.iter().find(|(pattern, _)| fits(pattern, id, name)).map_or(ChannelKind::Chat, |(_, kind)| *kind)
    }

    /// The persona slug, or `listen`, that a channel is bound to.
    pub fn find_binding(&self, id: &ChannelId, name: &str) -> Option<&str> {
        self.bindings.iter().find(|(pattern, _)| fits(pattern, id, name)).map(|(_, bound)| bound.as_str())
    }

    pub fn fallback_of(&self, id: &ChannelId, name: &str) -> FallbackAnswer {
        self.fallback.iter().find(|(pattern, _)| fits(pattern, id, name)).map_or(FallbackAnswer::WhenAddressed, |(_, answer)| *answer)
    }
}

fn fits(pattern: &str, id: &ChannelId, name: &str) -> bool {
    pattern == id.as_str() || wildcard(&pattern.trim_start_matches('#').to_lowercase(), &name.to_lowercase())
}

/// Whether `text` is `pattern`, in which `*` stands for any run of characters.
fn wildcard(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| wildcard(tail, &rest[at..]))),
    }
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            coalesce: Duration::from_millis(1200),
            max_responders: 3,
            still_thinking_after: Duration::from_secs(8),
            attach_over: 6000,
            ask_timeout: Duration::from_secs(90),
            ask_depth: 2,
            max_age: Duration::from_hours(1),
            stop_phrases: vec!["stop".into(), "halt".into()],
            direct_messages: false,
            allowed_channels: Vec::new(),
            allowed_users: Vec::new(),
            operators: Vec::new(),
            allowed_bots: Vec::new(),
            channels: ChannelRules::default(),
        }
    }
}

impl Default for ChannelRules {
    fn default() -> Self {
        Self {
            kinds: vec![
                ("*standup*".into(), ChannelKind::Standup),
                ("*knowledge*".into(), ChannelKind::Knowledge),
                ("ops".into(), ChannelKind::Ops),
            ],
            bindings: Vec::new(),
            fallback: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_get_their_kind_by_name_pattern_and_by_id() {
        let mut rules = ChannelRules::default();
        rules.kinds.insert(0, ("42".into(), ChannelKind::Ignore));
        let kind = |id: &str, name: &str| rules.kind_of(&id.into(), name);
        assert_eq!(kind("1", "daily-standup"), ChannelKind::Standup);
        assert_eq!(kind("1", "Team-Knowledge-Base"), ChannelKind::Knowledge);
        assert_eq!(kind("1", "general"), ChannelKind::Chat);
        assert_eq!(kind("42", "general"), ChannelKind::Ignore);
    }
}
