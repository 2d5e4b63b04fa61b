//! Converts Slack's messages to the kernel's types. Pure.

use chrono::{DateTime, Utc};
use kernel::chat::message::{Attachment, Author, Channel, InboundMessage};
use kernel::chat::text::list_mentions;
use kernel::ids::PersonaSlug;
use serde::Deserialize;

use crate::adapters::slack::ids::{message_id, user_id};
use crate::adapters::slack::markup::read;

/// A message, as events and the history have it.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct SlackMessage {
    #[serde(default)]
    pub(super) channel: String,
    pub(super) subtype: Option<String>,
    pub(super) user: Option<String>,
    pub(super) bot_id: Option<String>,
    pub(super) username: Option<String>,
    pub(super) ts: String,
    pub(super) thread_ts: Option<String>,
    /// When the last answer in the thread on this message was written.
    pub(super) latest_reply: Option<String>,
    pub(super) parent_user_id: Option<String>,
    /// The workspace of the author, in a channel that several companies share.
    pub(super) user_team: Option<String>,
    pub(super) team: Option<String>,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) files: Vec<SlackFile>,
    pub(super) edited: Option<Edited>,
    pub(super) metadata: Option<Metadata>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SlackFile {
    id: String,
    name: Option<String>,
    title: Option<String>,
    mimetype: Option<String>,
    #[serde(default)]
    size: u64,
    url_private_download: Option<String>,
    url_private: Option<String>,
    /// `hidden_by_limit`, `tombstone`, `external`, `hosted`, …
    mode: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Edited {
    pub(super) ts: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    pub(super) event_type: String,
    #[serde(default)]
    pub(super) event_payload: serde_json::Value,
}

/// Kinds of messages that somebody wrote. Other kinds are notices about the channel: somebody joined, a topic was set.
const SAID: [&str; 5] = ["file_share", "thread_broadcast", "me_message", "bot_message", "reply_broadcast"];

impl SlackMessage {
    pub(super) fn is_said(&self) -> bool {
        self.subtype.as_deref().is_none_or(|kind| SAID.contains(&kind))
    }

    /// Slack keeps the place of a deleted message on which a thread hangs.
    pub(super) fn is_tombstone(&self) -> bool {
        self.subtype.as_deref() == Some("tombstone")
    }

    /// The id of the author's workspace.
    pub(super) fn home(&self) -> Option<&str> {
        self.user_team.as_deref().or(self.team.as_deref())
    }

    /// The message on which the thread hangs, if it is an answer in one.
    pub(super) fn thread(&self) -> Option<&str> {
        self.thread_ts.as_deref().filter(|thread| *thread != self.ts)
    }

    /// The message as an app received it.
    pub(super) fn into_inbound(self, channel: Channel, author: Author, seen_by: PersonaSlug) -> InboundMessage {
        let id = message_id(&self.channel, &self.ts);
        let text = read(&self.text);
        InboundMessage {
            id,
            channel,
            author,
            mentions: list_mentions(&text),
            text,
            // Without a reference, because an answer in a thread answers the thread.
            reply_to: None,
            attachments: self.files.into_iter().filter_map(SlackFile::into_attachment).collect(),
            sent_at: instant(&self.ts),
            seen_by,
            complete: true,
        }
    }
}

impl SlackFile {
    /// None: there is nothing to download.
    fn into_attachment(self) -> Option<Attachment> {
        if self.mode.as_deref().is_some_and(|mode| ["tombstone", "hidden_by_limit", "external"].contains(&mode)) {
            return None;
        }
        let url = self.url_private_download.or(self.url_private)?;
        let name = self.name.or(self.title).unwrap_or_else(|| self.id.clone());
        Some(Attachment { id: user_id(&self.id).to_string(), name, size: self.size, content_type: self.mimetype, url })
    }
}

/// The time of a time stamp, `1732700000.000100`.
pub(super) fn instant(stamp: &str) -> DateTime<Utc> {
    let (seconds, micros) = stamp.split_once('.').unwrap_or((stamp, "0"));
    let micros: u32 = micros.get(..6.min(micros.len())).and_then(|text| text.parse().ok()).unwrap_or_default();
    let time = seconds.parse().ok().and_then(|seconds| DateTime::from_timestamp(seconds, micros.min(999_999) * 1000));
    time.unwrap_or_default()
}

/// A time as a time stamp.
pub(super) fn stamp(at: DateTime<Utc>) -> String {
    format!("{}.{:06}", at.timestamp(), at.timestamp_subsec_micros())
}

#[cfg(test)]
mod tests {
    use kernel::chat::message::{AuthorKind, Place};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_with_a_file_is_converted() {
        let message: SlackMessage = serde_json::from_value(json!({
            "type": "message", "subtype": "file_share", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": "1732700000.000100",
            "text": "<@U9> look", "files": [
                {"id": "F1", "name": "plan.md", "mimetype": "text/plain", "size": 12, "url_private_download": "https://files.slack.com/x"},
                {"id": "F2", "mode": "tombstone"}]
        }))
        .unwrap();
        assert!(message.is_said());
        let channel = Channel { id: "slack:C1".into(), name: "general".to_owned(), place: Place::Server, private: false, shared: false };
        let author =
            Author { id: "slack:U1".into(), name: "Ann".to_owned(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() };
        let inbound = message.into_inbound(channel, author, "kelly".into());
        assert_eq!((inbound.id.as_str(), inbound.text.as_str()), ("slack:C1-1732700000.000100", "<user:slack:U9> look"));
        assert_eq!(inbound.mentions, ["slack:U9".into()]);
        assert_eq!(inbound.attachments.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["plan.md"]);
        assert_eq!(inbound.sent_at, "2024-11-27T09:33:20.000100Z".parse::<DateTime<Utc>>().unwrap());
    }

    #[test]
    fn what_happened_in_a_channel_is_not_said() {
        for (kind, is_said) in [("channel_join", false), ("message_changed", false), ("pinned_item", false), ("me_message", true)] {
            let message = SlackMessage { subtype: Some(kind.to_owned()), ..SlackMessage::default() };
            assert_eq!(message.is_said(), is_said, "{kind}");
        }
    }

    #[test]
    fn a_time_stamp_comes_back_as_it_was() {
        assert_eq!(stamp(instant("1732700000.000100")), "1732700000.000100");
        assert_eq!(instant("nonsense"), DateTime::<Utc>::default());
    }

    #[test]
    fn the_root_of_a_thread_is_in_the_channel() {
        let message = |thread: &str| SlackMessage { ts: "1.1".to_owned(), thread_ts: Some(thread.to_owned()), ..SlackMessage::default() };
        assert_eq!(message("1.1").thread(), None);
        assert_eq!(message("0.9").thread(), Some("0.9"));
    }
}
