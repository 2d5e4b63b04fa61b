use std::time::Duration;

use super::reader::{Section, choice};
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

/// `[[chat.channels]]`: kinds and bindings of channels.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelRules {
    /// By id or name pattern (`*` matches any run of characters); the first that fits counts.
    pub kinds: Vec<(String, ChannelKind)>,
    /// Channels bound to a persona, by id or name; `listen` for listen only.
    pub bindings: Vec<(String, String)>,
    /// What happens to a message that addresses nobody, by channel id or name; the default comes last and is named `*`.
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

choice!(ChannelKind {
    "chat" => Self::Chat,
    "standup" => Self::Standup,
    "knowledge" => Self::Knowledge,
    "work" => Self::Work,
    "ops" => Self::Ops,
    "ignore" => Self::Ignore,
});

choice!(FallbackAnswer { "addressed" => Self::WhenAddressed, "always" => Self::Always, "never" => Self::Never });

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

impl ChatSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            coalesce: read_coalesce(section, default.coalesce),
            max_responders: section.read_within(
                "max_responders",
                default.max_responders,
                1..=20,
                "The most personas that answer one message.",
            ),
            still_thinking_after: section.read_within(
                "still_thinking_after",
                default.still_thinking_after,
                SECOND..=HOUR,
                "Past this time without a reply a short line says what the persona is doing.",
            ),
            attach_over: section.read_within(
                "attach_over",
                default.attach_over,
                500..=100_000,
                "Answers above this many characters go as a Markdown file with a summary.",
            ),
            ask_timeout: section.read_within(
                "ask_timeout",
                default.ask_timeout,
                SECOND..=HOUR,
                "How long an asked persona may take before the channel is told that no reply came.",
            ),
            ask_depth: section.read_within(
                "ask_depth",
                default.ask_depth,
                0..=10,
                "How many personas may pass a question on, one to the next.",
            ),
            max_age: section.read_within(
                "max_age",
                default.max_age,
                Duration::ZERO..=HOUR * 24 * 7,
                "Messages that came in while the process was down are answered up to this age.",
            ),
            stop_phrases: section.read("stop_phrases", default.stop_phrases, "A message that is just one of these halts the channel."),
            direct_messages: section.read("direct_messages", default.direct_messages, "Whether personas answer direct messages."),
            allowed_channels: section.read(
                "allowed_channels",
                default.allowed_channels,
                "Channels, by name or id, in which the team listens. Empty: all.",
            ),
            allowed_users: section.read("allowed_users", default.allowed_users, "People who are heard. Empty: everybody."),
            operators: section.read(
                "operators",
                default.operators,
                "Ids of users and roles that may use commands which change something. Empty: nobody (in the sandbox: everybody).",
            ),
            allowed_bots: section.read("allowed_bots", default.allowed_bots, "Foreign bots that may speak to a persona by mentioning it."),
            channels: ChannelRules::read(section),
        }
    }
}

/// In milliseconds, as its name says.
fn read_coalesce(section: &mut Section<'_>, default: Duration) -> Duration {
    let about = "Messages of one person within this many milliseconds become one turn. 0: each message by itself.";
    let milliseconds = u64::try_from(default.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(section.read_within("coalesce_ms", milliseconds, 0..=60_000, about))
}

impl ChannelRules {
    /// Rules of the file stand before the defaults, so that they win.
    fn read(chat: &mut Section<'_>) -> Self {
        let answer = chat.read(
            "answer",
            FallbackAnswer::WhenAddressed,
            "When the coordinator answers a message that addresses nobody: when it speaks to the team, asks or directs; always; or never.",
        );
        let mut rules = Self { kinds: Vec::new(), bindings: Vec::new(), fallback: Vec::new() };
        for number in chat.list_entries("channels", "1") {
            rules.read_rule(&mut chat.entry("channels", &number));
        }
        rules.kinds.extend(Self::default().kinds);
        if answer != FallbackAnswer::WhenAddressed {
            rules.fallback.push(("*".into(), answer));
        }
        rules
    }

    fn read_rule(&mut self, rule: &mut Section<'_>) {
        let name = rule.require(
            "name",
            "research-*".to_owned(),
            "A channel by id or name; * stands for any run of characters. The first rule that fits counts.",
        );
        let kind: Option<ChannelKind> = rule.read("kind", None, "What the channel is for.");
        let persona: Option<String> = rule.read(
            "persona",
            None,
            "The persona that answers there, by the name of its file, or \"listen\" where nobody answers unasked.",
        );
        let answer: Option<FallbackAnswer> = rule.read("answer", None, "As chat.answer, for this channel.");
        let Some(name) = name else { return };
        self.kinds.extend(kind.map(|kind| (name.clone(), kind)));
        self.bindings.extend(persona.map(|persona| (name.clone(), persona.to_lowercase())));
        self.fallback.extend(answer.map(|answer| (name, answer)));
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
