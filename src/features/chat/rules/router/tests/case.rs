use chrono::TimeDelta;

use crate::features::chat::model::talk::RecentTalk;
use crate::features::chat::rules::router::tests::*;
use kernel::chat::message::{Attachment, Author, Channel};
use kernel::testing::roster as sample;

/// A message and its circumstances. Each test changes the part that it tests.
pub(super) struct Case {
    pub(super) message: InboundMessage,
    pub(super) kind: ChannelKind,
    pub(super) binding: Option<&'static str>,
    pub(super) fallback: FallbackAnswer,
    pub(super) halted: bool,
    pub(super) is_command: bool,
    pub(super) is_offline: bool,
    pub(super) replied_to: Option<PersonaSlug>,
    pub(super) replied_for: Option<UserId>,
    pub(super) thread: Option<ThreadOf>,
    pub(super) voices: Vec<PersonaSlug>,
    pub(super) roster: Roster,
    pub(super) accounts: Accounts,
    pub(super) settings: ChatSettings,
    pub(super) age: TimeDelta,
    pub(super) people: Vec<String>,
    pub(super) recent: RecentTalk,
}

impl Case {
    pub(super) fn says(text: &str) -> Self {
        Self {
            message: InboundMessage {
                id: "1".into(),
                channel: Channel { id: "7".into(), name: "general".into(), place: Place::Server, private: false, shared: false },
                author: Author { id: "9".into(), name: "Ann".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() },
                text: text.into(),
                mentions: Vec::new(),
                reply_to: None,
                attachments: Vec::new(),
                sent_at: DateTime::UNIX_EPOCH,
                seen_by: "kelly".into(),
                complete: true,
            },
            kind: ChannelKind::Chat,
            binding: None,
            fallback: FallbackAnswer::WhenAddressed,
            halted: false,
            is_command: false,
            is_offline: false,
            replied_to: None,
            replied_for: None,
            thread: None,
            voices: Vec::new(),
            roster: sample::roster(),
            accounts: sample::accounts(),
            settings: ChatSettings::default(),
            age: TimeDelta::seconds(1),
            people: vec!["Bob Miller".into()],
            recent: RecentTalk::default(),
        }
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(super) fn route(&self) -> Decision {
        route(&Arrival {
            message: &self.message,
            kind: self.kind,
            binding: self.binding,
            fallback: self.fallback,
            halted: self.halted,
            is_command: self.is_command,
            is_offline: self.is_offline,
            replied_to: self.replied_to.as_ref(),
            replied_for: self.replied_for.as_ref(),
            thread: self.thread.as_ref(),
            voices: &self.voices,
            roster: &self.roster,
            accounts: &self.accounts,
            settings: &self.settings,
            talk: Talk { people: &self.people, recent: Some(&self.recent) },
            now: self.message.sent_at + self.age,
        })
    }

    /// The responders and the reason in one line: `vince solus / mentioned`.
    pub(super) fn told(&self) -> String {
        let decision = self.route();
        let responders: Vec<&str> = decision.responders.iter().map(PersonaSlug::as_str).collect();
        format!("{} / {:?}", if responders.is_empty() { "nobody".to_owned() } else { responders.join(" ") }, decision.reason)
    }
}

pub(super) fn each(table: &[(&str, &str)], change: impl Fn(&mut Case)) {
    for (text, expected) in table {
        assert_eq!(Case::says(text).with(&change).told(), *expected, "{text:?}");
    }
}

pub(super) fn plainly(table: &[(&str, &str)]) {
    each(table, |_| {});
}

pub(super) fn file(name: &str) -> Attachment {
    Attachment { id: "5".into(), name: name.into(), size: 10, content_type: None, url: "http://localhost/5".into() }
}
