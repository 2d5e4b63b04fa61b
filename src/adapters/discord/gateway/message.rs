//! Converts Discord's messages to the kernel's types. Pure.

use chrono::{DateTime, Utc};
use serenity::model::Timestamp;
use serenity::model::channel::{Embed, Message, MessageReferenceKind, ReactionType};
use serenity::model::event::MessageUpdateEvent;
use serenity::model::id::UserId as SnowflakeUser;

use crate::adapters::discord::gateway::dedup::Completeness;
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::markup::read;
use kernel::chat::message::{Attachment, Author, AuthorKind, Channel, InboundMessage, ReplyTo};
use kernel::chat::text::list_mentions;
use kernel::ids::PersonaSlug;

/// The message as `seen_by` received it.
pub(crate) fn inbound(message: Message, channel: Channel, kind: AuthorKind, seen_by: PersonaSlug, complete: bool) -> InboundMessage {
    let reply_to = reply_of(&message);
    let nick = message.member.as_ref().and_then(|member| member.nick.clone());
    let text = read(&message.content);
    let roles = message.member.map(|member| member.roles.iter().map(from_discord).collect()).unwrap_or_default();
    let (name, aliases) = names_of(nick, message.author.global_name, message.author.name);
    InboundMessage {
        id: from_discord(message.id),
        channel,
        author: Author { id: from_discord(message.author.id), name, aliases, kind, roles },
        // The ping of a reply appears only in the message's `mentions` field.
        mentions: list_mentions(&text),
        text,
        reply_to,
        attachments: message.attachments.into_iter().map(attachment).collect(),
        sent_at: instant(message.timestamp),
        seen_by,
        complete,
    }
}

/// The name that is shown, and the others: the nickname on the server, the display name, the account's name.
pub(crate) fn names_of(nick: Option<String>, display: Option<String>, account: String) -> (String, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    for name in nick.into_iter().chain(display).chain([account]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shown = names.remove(0);
    (shown, names)
}

fn attachment(file: serenity::model::channel::Attachment) -> Attachment {
    Attachment {
        id: from_discord(file.id),
        name: file.filename,
        size: u64::from(file.size),
        content_type: file.content_type,
        url: file.url,
    }
}

/// The message that a reply answers. A forward also has a reference, but answers nothing.
fn reply_of(message: &Message) -> Option<ReplyTo> {
    let reference = message.message_reference.as_ref()?;
    if reference.kind != MessageReferenceKind::Default || !is_reply(message) {
        return None;
    }
    let author = message.referenced_message.as_ref().map(|answered| from_discord(answered.author.id));
    Some(ReplyTo { message: from_discord(reference.message_id?), author })
}

/// Pins and thread starters have a reference too.
fn is_reply(message: &Message) -> bool {
    message.kind == serenity::model::channel::MessageType::InlineReply
}

/// Whether this identity received the text. Without the content intent Discord sends empty text, except in direct conversations, to
/// mentioned accounts, and to the author.
pub(crate) fn completeness(message: &Message, me: Option<SnowflakeUser>, is_direct: bool) -> Completeness {
    let has_something = !message.content.is_empty()
        || !message.attachments.is_empty()
        || !message.embeds.is_empty()
        || !message.components.is_empty()
        || !message.sticker_items.is_empty()
        || !message.message_snapshots.is_empty()
        || message.poll.is_some();
    let exempt = is_direct || me.is_some_and(|me| message.author.id == me || message.mentions.iter().any(|mentioned| mentioned.id == me));
    if has_something || exempt || message.kind != serenity::model::channel::MessageType::Regular && !is_reply(message) {
        Completeness::Full
    } else {
        Completeness::Withheld
    }
}

/// A person's edit of a message: the new text (`None` if withheld) and the time. Discord also sends an update when it unfurls a link; that
/// is not an edit.
pub(crate) fn correction(update: &MessageUpdateEvent) -> Option<(Option<String>, DateTime<Utc>)> {
    let edited_at = instant(update.edited_timestamp?);
    let text = update.content.clone()?;
    let shows_something = !text.is_empty()
        || update.attachments.as_ref().is_some_and(|files| !files.is_empty())
        || update.embeds.as_ref().is_some_and(|embeds| !embeds.is_empty())
        || update.guild_id.is_none();
    Some((shows_something.then(|| read(&text)), edited_at))
}

/// The addresses and titles that Discord found behind the links of a message.
pub(super) fn list_titles(embeds: &[Embed]) -> Vec<(String, String)> {
    let titled = |embed: &Embed| Some((embed.url.clone()?, embed.title.clone().filter(|title| !title.trim().is_empty())?));
    embeds.iter().filter_map(titled).collect()
}

/// An emoji as people see it.
pub(super) fn show_emoji(emoji: &ReactionType) -> String {
    match emoji {
        ReactionType::Custom { name: Some(name), .. } => format!(":{name}:"),
        ReactionType::Unicode(emoji) => emoji.clone(),
        _ => ":emoji:".to_owned(),
    }
}

/// Converts serenity's timestamp.
pub(crate) fn instant(timestamp: Timestamp) -> DateTime<Utc> {
    *timestamp
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use kernel::chat::message::Place;

    #[expect(clippy::needless_pass_by_value, reason = "literals read better at the place of use")]
    fn message(extra: Value) -> Message {
        let mut value = json!({"id": "900", "channel_id": "10", "guild_id": "1", "type": 0, "content": "hello",
            "author": {"id": "5", "username": "ada", "global_name": "Ada"}, "timestamp": "2026-11-21T08:00:00.125000+00:00",
            "edited_timestamp": null, "tts": false, "mention_everyone": false, "mentions": [], "mention_roles": [],
            "attachments": [], "embeds": [], "pinned": false});
        for (key, field) in extra.as_object().unwrap() {
            value[key] = field.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    fn converted(message: Message) -> InboundMessage {
        let channel = Channel { id: "discord:10".into(), name: "general".to_owned(), place: Place::Server, private: false, shared: false };
        inbound(message, channel, AuthorKind::Person, "kelly".into(), true)
    }

    #[test]
    fn mentions_are_values_and_listed_in_order_and_once() {
        let inbound = converted(message(json!({"content": "<@2> and <@!1>, again <@2>"})));
        assert_eq!(inbound.text, "<user:discord:2> and <user:discord:1>, again <user:discord:2>");
        assert_eq!(inbound.mentions, ["discord:2".into(), "discord:1".into()]);
    }

    #[test]
    fn the_ping_of_a_reply_is_no_mention() {
        let reply = message(json!({"type": 19, "content": "yes", "mentions": [{"id": "7", "username": "vince"}],
            "message_reference": {"type": 0, "channel_id": "10", "message_id": "800"}}));
        let inbound = converted(reply);
        assert!(inbound.mentions.is_empty());
        assert_eq!(inbound.reply_to, Some(ReplyTo { message: "discord:800".into(), author: None }));
    }

    #[test]
    fn a_forward_answers_nothing() {
        let forward = message(json!({"content": "", "message_reference": {"type": 1, "channel_id": "10", "message_id": "800"}}));
        assert_eq!(converted(forward).reply_to, None);
    }

    #[test]
    fn the_shown_name_is_the_nickname_then_the_display_name() {
        assert_eq!(converted(message(json!({}))).author.name, "Ada");
        let nicked = message(json!({"member": {"roles": ["3"], "nick": "Countess", "deaf": false, "mute": false, "flags": 0}}));
        let author = converted(nicked).author;
        assert_eq!((author.name.as_str(), author.roles), ("Countess", vec!["discord:3".to_owned()]));
        assert_eq!(author.aliases, ["Ada", "ada"]);
    }

    #[test]
    fn an_empty_message_is_withheld_unless_discord_never_withholds_it() {
        let me = Some(SnowflakeUser::new(42));
        let of = |extra: Value| {
            let message = message(extra);
            completeness(&message, me, message.guild_id.is_none())
        };
        assert_eq!(of(json!({})), Completeness::Full);
        assert_eq!(of(json!({"content": ""})), Completeness::Withheld);
        assert_eq!(of(json!({"content": "", "guild_id": null})), Completeness::Full);
        assert_eq!(of(json!({"content": "", "mentions": [{"id": "42", "username": "kelly"}]})), Completeness::Full);
        assert_eq!(of(json!({"content": "", "author": {"id": "42", "username": "kelly"}})), Completeness::Full);
        assert_eq!(of(json!({"content": "", "type": 7})), Completeness::Full);
    }

    #[test]
    fn an_unfurled_link_corrects_nothing_and_an_edit_does() {
        let update = |value: Value| serde_json::from_value::<MessageUpdateEvent>(value).unwrap();
        let embeds_only = update(json!({"id": "900", "channel_id": "10", "guild_id": "1", "embeds": []}));
        assert!(correction(&embeds_only).is_none());
        let unfurled = update(json!({"id": "900", "channel_id": "10", "guild_id": "1", "content": "see https://x.example"}));
        assert!(correction(&unfurled).is_none());
        let edited = |content: &str| {
            update(json!({"id": "900", "channel_id": "10", "guild_id": "1", "content": content, "attachments": [],
                "edited_timestamp": "2026-11-21T08:00:05+00:00"}))
        };
        assert_eq!(correction(&edited("better")).unwrap().0.as_deref(), Some("better"));
        assert_eq!(correction(&edited("")).unwrap().0, None);
    }
}
