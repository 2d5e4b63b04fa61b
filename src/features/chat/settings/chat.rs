use std::time::Duration;

use kernel::chat::message::ChannelKind;
use kernel::config::{Section, choice, hours, millis, secs, settings};
use kernel::ids::{ChannelId, UserId};

settings! {
    /// `[chat]`: who is heard where, and how answers are given.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChatSettings {
        /// Messages of one person within this time become one turn. Zero: each message by itself.
        coalesce: Duration = millis(COALESCE_MS), by read_coalesce;
        max_responders: usize = 3, in 1..=20, "The most personas that answer one message.";
        still_thinking_after: Duration = secs(8), in secs(1)..=hours(1),
            "Past this time without a reply a short line says what the persona is doing.";
        attach_over: usize = 6000, in 500..=100_000, "Answers above this many characters go as a Markdown file with a summary.";
        ask_timeout: Duration = secs(90), in secs(1)..=hours(1),
            "How long an asked persona may take before the channel is told that no reply came.";
        ask_depth: usize = 2, in 0..=10, "How many personas may pass a question on, one to the next.";
        unsure_per_day: u32 = 200, in 0..=100_000,
            "The most messages a day about which a cheap model is asked whether they want an answer, because the rules cannot tell. 0: none.";
        max_age: Duration = hours(1), in Duration::ZERO..=hours(24 * 7),
            "Messages that came in while the process was down are answered up to this age.";
        stop_phrases: Vec<String> = vec!["stop".into(), "halt".into()], "A message that is just one of these halts the channel.";
        direct_messages: bool = false, "Whether personas answer direct messages.";
        allowed_channels: Vec<String> = Vec::new(), "Channels, by name or id, in which the team listens. Empty: all.";
        allowed_users: Vec<UserId> = Vec::new(), "People who are heard. Empty: everybody.";
        outsiders: Outsiders = Outsiders::Guests,
            "Who is heard besides the members of the workspace: \"nobody\", its \"guests\", or \"everybody\", which includes people of other companies in shared channels. Only Slack tells them apart.";
        operators: Vec<String> = Vec::new(),
            "Ids of users and roles that are operators, or \"*\" for everybody. Empty: those who may manage the server.";
        allowed_bots: Vec<UserId> = Vec::new(), "Foreign bots that may speak to a persona by mentioning it.";
        channels: ChannelRules = ChannelRules::default(), by ChannelRules::read;
    }
}

/// Who is heard besides the members of the team's workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outsiders {
    Nobody,
    /// Those whom the workspace has invited.
    Guests,
    Everybody,
}

choice!(Outsiders { "nobody" => Self::Nobody, "guests" => Self::Guests, "everybody" => Self::Everybody });

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
    /// The kind of a channel. Threads have the kind of their parent, so the caller passes the parent's name and id.
    pub fn kind_of(&self, id: &ChannelId, name: &str) -> ChannelKind {
        self.kinds.iter().find(|(pattern, _)| fits(pattern, id, name)).map_or(ChannelKind::Chat, |(_, kind)| *kind)
    }

    /// The binding of a channel: a persona slug, or `listen`.
    pub fn find_binding(&self, id: &ChannelId, name: &str) -> Option<&str> {
        self.bindings.iter().find(|(pattern, _)| fits(pattern, id, name)).map(|(_, bound)| bound.as_str())
    }

    pub fn fallback_of(&self, id: &ChannelId, name: &str) -> FallbackAnswer {
        self.fallback.iter().find(|(pattern, _)| fits(pattern, id, name)).map_or(FallbackAnswer::WhenAddressed, |(_, answer)| *answer)
    }
}

/// A pattern may say which platform is meant: `slack:general`.
fn fits(pattern: &str, id: &ChannelId, name: &str) -> bool {
    let named = id.platform().and_then(|platform| pattern.strip_prefix(platform)?.strip_prefix(':')).unwrap_or(pattern);
    pattern == id.as_str() || wildcard(&named.trim_start_matches('#').to_lowercase(), &name.to_lowercase())
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

choice!(FallbackAnswer { "addressed" => Self::WhenAddressed, "always" => Self::Always, "never" => Self::Never });

const COALESCE_MS: u64 = 1200;

/// In milliseconds, as its name says.
fn read_coalesce(section: &mut Section<'_>) -> Duration {
    let about = "Messages of one person within this many milliseconds become one turn. 0: each message by itself.";
    millis(section.read_within("coalesce_ms", COALESCE_MS, 0..=60_000, about))
}

impl ChannelRules {
    /// Rules of the file come before the defaults, so that they win.
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
        rules.kinds.insert(0, ("slack:#general".into(), ChannelKind::Knowledge));
        let kind = |id: &str, name: &str| rules.kind_of(&id.into(), name);
        assert_eq!(kind("1", "daily-standup"), ChannelKind::Standup);
        assert_eq!(kind("1", "Team-Knowledge-Base"), ChannelKind::Knowledge);
        assert_eq!(kind("1", "general"), ChannelKind::Chat);
        assert_eq!(kind("42", "general"), ChannelKind::Ignore);
        assert_eq!((kind("slack:C1", "general"), kind("discord:1", "general")), (ChannelKind::Knowledge, ChannelKind::Chat));
    }
}
