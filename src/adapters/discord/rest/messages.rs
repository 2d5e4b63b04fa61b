//! Posts messages and reads channels back.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;
use serenity::model::channel::{Channel, Message};
use serenity::model::guild::Member;
use serenity::model::id::GuildId;

use crate::adapters::discord::ids::{from_discord, to_discord};
use crate::adapters::discord::markup::written;
use crate::adapters::discord::rest::card::fit;
use crate::adapters::discord::rest::payload::{nonce, payload, revision};
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest, was_denied};
use kernel::chat::outbound::{OutboundFile, OutboundMessage, Posted};
use kernel::ids::{ChannelId, MessageId};

/// The most messages that Discord returns at once.
const PAGE: usize = 100;
/// How many pages are read back. In a channel that moves faster than this, a lost post is not found.
const PAGES: usize = 5;
/// Clocks differ, so the search starts a little before the time of posting.
const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// The fields needed of a posted message. Parsing only these keeps a new field from making a post look failed.
#[derive(Deserialize)]
pub(super) struct Created {
    id: String,
    timestamp: DateTime<Utc>,
}

impl Created {
    pub(super) fn posted(self, message: &OutboundMessage) -> Posted {
        Posted { channel: message.channel.clone(), message: from_discord(self.id), at: self.timestamp }
    }
}

/// The fields of an earlier message that identify one of ours.
#[derive(Deserialize)]
struct Past {
    id: String,
    timestamp: DateTime<Utc>,
    content: String,
    author: PastAuthor,
    nonce: Option<serde_json::Value>,
    message_reference: Option<PastReference>,
    #[serde(default)]
    attachments: Vec<PastFile>,
    #[serde(default)]
    embeds: Vec<PastEmbed>,
}

#[derive(Deserialize)]
struct PastAuthor {
    id: String,
    username: String,
}

#[derive(Deserialize)]
struct PastReference {
    message_id: Option<String>,
}

#[derive(Deserialize)]
struct PastFile {
    filename: String,
}

#[derive(Deserialize)]
struct PastEmbed {
    title: Option<String>,
}

/// The author to look for when a channel is read back.
pub(crate) enum PostedBy {
    Account(String),
    /// Several personas share one webhook and differ by name.
    Webhook {
        id: String,
        name: String,
    },
}

/// False if a post of this account in the channel was refused a short while ago.
pub(crate) fn may_post(credential: &Credential, channel: &ChannelId) -> bool {
    let Ok(channel) = to_discord(channel.as_str()) else { return false };
    !was_denied(credential, &Call::post(format!("/channels/{channel}/messages")))
}

impl Rest {
    /// Posts a message. If the same row is sent twice within a few minutes, the nonce makes Discord return the first message.
    pub(crate) async fn post(&self, credential: &Credential, message: &OutboundMessage) -> Result<Posted, Failure> {
        let mut payload = payload(message);
        payload["nonce"] = json!(nonce(&message.id));
        payload["enforce_nonce"] = json!(true);
        if let Some(answered) = &message.reply_to {
            // If the answered message was deleted, the answer is posted without a reference.
            payload["message_reference"] = json!({ "message_id": to_discord(answered.as_str())?.to_string(), "fail_if_not_exists": false });
        }
        let call = Call::post(format!("/channels/{}/messages", to_discord(message.channel.as_str())?)).body(payload, &message.files);
        Ok(self.fetch::<Created>(credential, call).await?.posted(message))
    }

    /// Edits an earlier message of the same account.
    pub(crate) async fn edit(&self, credential: &Credential, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, Failure> {
        let path = format!("/channels/{}/messages/{}", to_discord(message.channel.as_str())?, to_discord(posted.as_str())?);
        let call = Call::patch(path).body(revision(message), &message.files);
        Ok(self.fetch::<Created>(credential, call).await?.posted(message))
    }

    /// Posts plain text and files without pings, outside of the outbox.
    pub(crate) async fn say(
        &self,
        credential: &Credential,
        channel: &ChannelId,
        text: &str,
        files: &[OutboundFile],
    ) -> Result<(), Failure> {
        let payload = json!({ "content": written(text), "allowed_mentions": { "parse": [] } });
        let call = Call::post(format!("/channels/{}/messages", to_discord(channel.as_str())?));
        self.call(credential, call.body(payload, files)).await?;
        Ok(())
    }

    /// Searches the messages since `since` for one of the forms in which the message may have been posted, each with its author. Reads the channel
    /// only once.
    pub(crate) async fn find_posted(
        &self,
        reader: &Credential,
        channel: &ChannelId,
        posts: &[(PostedBy, OutboundMessage)],
        since: DateTime<Utc>,
    ) -> Result<Option<Posted>, Failure> {
        let id = to_discord(channel.as_str())?;
        let mut after = first_id_at(since - CLOCK_SKEW);
        for _ in 0..PAGES {
            let call = Call::get(format!("/channels/{id}/messages?after={after}&limit={PAGE}"));
            let page: Vec<Past> = self.fetch(reader, call).await?;
            let newest = page.iter().filter_map(|past| past.id.parse().ok()).max();
            let full = page.len() == PAGE;
            let is_one = |past: &Past| posts.iter().any(|(author, message)| past.is(author, message));
            if let Some(found) = page.into_iter().find(is_one) {
                return Ok(Some(Posted { channel: channel.clone(), message: from_discord(found.id), at: found.timestamp }));
            }
            match newest {
                Some(newest) if full => after = newest,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// At most `limit` messages after `after`, oldest first.
    pub(crate) async fn list_after(
        &self,
        reader: &Credential,
        channel: &ChannelId,
        after: &MessageId,
        limit: usize,
    ) -> Result<Vec<Message>, Failure> {
        let channel = to_discord(channel.as_str())?;
        let mut after = to_discord(after.as_str())?.get();
        let mut messages: Vec<Message> = Vec::new();
        while messages.len() < limit {
            let wanted = PAGE.min(limit - messages.len());
            let call = Call::get(format!("/channels/{channel}/messages?after={after}&limit={wanted}"));
            let mut page: Vec<Message> = self.fetch(reader, call).await?;
            page.sort_by_key(|message| message.id);
            let full = page.len() == wanted;
            after = page.last().map_or(after, |newest| newest.id.get());
            messages.append(&mut page);
            if !full {
                break;
            }
        }
        Ok(messages)
    }

    pub(crate) async fn get_message(&self, reader: &Credential, channel: &ChannelId, message: &MessageId) -> Result<Message, Failure> {
        let path = format!("/channels/{}/messages/{}", to_discord(channel.as_str())?, to_discord(message.as_str())?);
        self.fetch(reader, Call::get(path)).await
    }

    /// The members of a server whose username or nickname begins with `name`.
    pub(crate) async fn search_members(&self, reader: &Credential, server: GuildId, name: &str) -> Result<Vec<Member>, Failure> {
        let mut query = reqwest::Url::parse("http://query").expect("an address");
        query.query_pairs_mut().append_pair("query", name).append_pair("limit", MEMBERS);
        let path = format!("/guilds/{server}/members/search?{}", query.query().unwrap_or_default());
        self.fetch(reader, Call::get(path)).await
    }

    pub(crate) async fn get_channel(&self, reader: &Credential, channel: &ChannelId) -> Result<Channel, Failure> {
        self.fetch(reader, Call::get(format!("/channels/{}", to_discord(channel.as_str())?))).await
    }

    /// Shows a persona as typing, for 10 s or until it posts.
    pub(crate) async fn type_in(&self, credential: &Credential, channel: &ChannelId) -> Result<(), Failure> {
        self.call(credential, Call::post(format!("/channels/{}/typing", to_discord(channel.as_str())?))).await?;
        Ok(())
    }
}

/// More people are not called by one name.
const MEMBERS: &str = "20";

impl Past {
    fn is(&self, author: &PostedBy, message: &OutboundMessage) -> bool {
        let same_author = match author {
            PostedBy::Account(id) => self.author.id == *id,
            PostedBy::Webhook { id, name } => self.author.id == *id && self.author.username == *name,
        };
        if !same_author {
            return false;
        }
        if let Some(seen) = &self.nonce {
            return seen.as_str() == Some(nonce(&message.id).as_str());
        }
        let answered = self.message_reference.as_ref().and_then(|reference| reference.message_id.as_ref()).map(from_discord);
        // Discord trims the text. Messages of a webhook have no reference, because a webhook cannot reply.
        self.content.trim() == written(&message.text).trim()
            && (matches!(author, PostedBy::Webhook { .. }) || answered == message.reply_to)
            && self.has_files_of(message)
            && self.has_embed_of(message)
    }

    /// Files shown in an embed are not listed as attachments. Discord replaces or drops spaces and signs in names, and shortens them.
    fn has_files_of(&self, message: &OutboundMessage) -> bool {
        let shown = message.card.as_ref().and_then(|card| card.image.as_deref()).map(plain_name);
        let listed = |name: &str| Some(plain_name(name)).filter(|name| Some(name) != shown.as_ref());
        let there = self.attachments.iter().filter_map(|file| listed(&file.filename));
        there.eq(message.files.iter().filter_map(|file| listed(&file.name)))
    }

    /// Compares only the title of our embed. Discord adds embeds for links in the text.
    fn has_embed_of(&self, message: &OutboundMessage) -> bool {
        let Some(card) = message.card.as_ref().map(fit) else { return true };
        self.embeds.iter().any(|past| past.title.as_deref().unwrap_or_default() == card.title)
    }
}

/// The part of a file name that Discord keeps as it is.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().filter(char::is_ascii_alphanumeric).take(PLAIN_NAME).collect()
}

const PLAIN_NAME: usize = 60;

/// The smallest message id for this time.
fn first_id_at(at: DateTime<Utc>) -> u64 {
    /// Discord's epoch: the first millisecond of 2015.
    const EPOCH: i64 = 1_420_070_400_000;
    u64::try_from(at.timestamp_millis() - EPOCH).unwrap_or(0) << 22
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::chat::outbound::{FileContent, OutboundFile, OutboundKind};

    fn row(text: &str) -> OutboundMessage {
        OutboundMessage {
            reply_to: Some("discord:800".into()),
            pings: vec!["discord:5".into()],
            ..OutboundMessage::new(&"vince".into(), &"discord:10".into(), OutboundKind::Answer, text)
        }
    }

    fn past(value: serde_json::Value) -> Past {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn ones_own_message_is_told_by_nonce_or_else_by_text_reference_and_files() {
        let message = row("hello ");
        let account = PostedBy::Account("42".to_owned());
        let said = |extra: serde_json::Value| {
            let mut value = json!({"id": "1", "timestamp": "2026-11-21T08:00:00Z", "content": "hello",
                "author": {"id": "42", "username": "vince"}, "message_reference": {"message_id": "800"}});
            for (key, field) in extra.as_object().unwrap() {
                value[key] = field.clone();
            }
            past(value)
        };
        assert!(said(json!({})).is(&account, &message));
        assert!(said(json!({"content": "other", "nonce": nonce(&message.id)})).is(&account, &message));
        assert!(!said(json!({"nonce": "another"})).is(&account, &message));
        assert!(!said(json!({"content": "other"})).is(&account, &message));
        assert!(!said(json!({"message_reference": null})).is(&account, &message));
        assert!(!said(json!({"attachments": [{"filename": "a.md"}]})).is(&account, &message));
        assert!(!said(json!({"author": {"id": "43", "username": "vince"}})).is(&account, &message));
        let mut with_file = row("hello");
        let name = "Der Plan für März (2).md".to_owned();
        with_file.files.push(OutboundFile { name, content: FileContent::Text("x".to_owned()) });
        let file = |name: &str| said(json!({"attachments": [{"filename": name}]}));
        for posted in ["Der Plan für März (2).md", "Der_Plan_für_März__2_.md", "Der_Plan_fr_Mrz_2.md"] {
            assert!(file(posted).is(&account, &with_file), "{posted}");
        }
        assert!(!file("Der_Plan.md").is(&account, &with_file) && !said(json!({})).is(&account, &with_file));
        let webhook = |name: &str| PostedBy::Webhook { id: "42".to_owned(), name: name.to_owned() };
        assert!(said(json!({"message_reference": null})).is(&webhook("vince"), &message));
        assert!(!said(json!({"message_reference": null})).is(&webhook("Echo"), &message));
    }

    #[test]
    fn the_first_id_of_a_time_sorts_before_its_messages() {
        let at = DateTime::from_timestamp_millis(1_420_070_400_000 + 5).unwrap();
        assert_eq!(first_id_at(at), 5 << 22);
        assert_eq!(first_id_at(DateTime::UNIX_EPOCH), 0);
    }
}
