//! The JSON that clients get.
//!
//! The fields are those that five independent clients and Discord's description require.

mod embeds;
mod message;

use serde_json::{Value, json};

pub(crate) use message::{View, emoji, without_content};

use super::{Account, Channel, Emoji, Overwrite, Permissions, Picture, Webhook, World};
use crate::snowflake::{Snowflake, timestamp};

impl World {
    pub(crate) fn user(&self, id: Snowflake) -> Value {
        match self.accounts.get(id) {
            Some(account) => user(account),
            None => json!({
                "id": id, "username": "deleted_user", "discriminator": "0", "global_name": null, "avatar": null,
                "bot": false, "public_flags": 0, "flags": 0,
            }),
        }
    }

    /// A member without its user, for the author of a message.
    pub(crate) fn bare_member(&self, id: Snowflake) -> Value {
        let account = self.accounts.get(id);
        json!({
            "nick": account.and_then(|account| account.nick.as_deref()), "avatar": null, "banner": null,
            "roles": account.and_then(|account| account.role).into_iter().collect::<Vec<_>>(),
            "joined_at": timestamp(self.guild.id.created_ms()), "premium_since": null, "deaf": false, "mute": false,
            "flags": 0, "pending": false, "communication_disabled_until": null, "collectibles": null,
        })
    }

    pub(crate) fn member(&self, id: Snowflake) -> Value {
        let mut member = self.bare_member(id);
        member["user"] = self.user(id);
        member
    }

    /// A bot's application. It has the id of the bot user.
    pub(crate) fn application(&self, account: &Account) -> Value {
        json!({
            "id": account.id, "name": account.name, "icon": null, "description": "", "type": null,
            "bot": own_user(account), "summary": "", "bot_public": true, "bot_require_code_grant": false,
            "owner": self.user(self.accounts.owner()), "verify_key": "0".repeat(64), "team": null,
            "flags": application_flags(account), "flags_new": application_flags(account).to_string(),
            "redirect_uris": [], "rpc_origins": [], "approximate_guild_count": 1, "interactions_endpoint_url": null,
            "role_connections_verification_url": null, "tags": [], "approximate_user_install_count": 0,
            "approximate_user_authorization_count": 0, "explicit_content_filter": 0, "eligible_oauth2_scopes": [],
        })
    }

    pub(crate) fn roles(&self) -> Vec<Value> {
        let everyone = role(self.guild.id, "@everyone", 0, Permissions::everyone(), 0);
        let bots = self.accounts.members().filter_map(|account| Some((account, account.role?)));
        let own = bots.enumerate().map(|(index, (account, id))| {
            let mut own = role(id, &account.name, account.color.unwrap_or(0), Permissions::bot_role(), index + 1);
            own["tags"] = json!({ "bot_id": account.id });
            own
        });
        std::iter::once(everyone).chain(own).collect()
    }

    /// The guild as REST and `GUILD_CREATE` share it.
    pub(crate) fn guild_json(&self) -> Value {
        json!({
            "id": self.guild.id, "name": self.guild.name, "icon": null, "icon_hash": null, "splash": null,
            "discovery_splash": null, "owner_id": self.accounts.owner(), "application_id": null, "region": "us-east",
            "afk_channel_id": null, "afk_timeout": 300, "widget_enabled": false, "widget_channel_id": null,
            "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
            "roles": self.roles(), "emojis": [], "features": [], "mfa_level": 0, "system_channel_id": null,
            "system_channel_flags": 0, "rules_channel_id": null, "max_presences": null, "max_members": 500_000,
            "max_video_channel_users": 25, "max_stage_video_channel_users": 50, "vanity_url_code": null,
            "description": null, "banner": null, "premium_tier": 0, "premium_subscription_count": 0,
            "preferred_locale": "en-US", "public_updates_channel_id": null, "safety_alerts_channel_id": null,
            "nsfw_level": 0, "stickers": [], "premium_progress_bar_enabled": false, "incidents_data": null,
            "hub_type": null,
        })
    }

    pub(crate) fn channel(&self, channel: &Channel, viewer: Snowflake) -> Value {
        let last_pin = channel.last_pin_ms.map(timestamp);
        if channel.is_direct() {
            let others: Vec<Value> = channel.recipients.iter().filter(|id| **id != viewer).map(|id| self.user(*id)).collect();
            return json!({
                "id": channel.id, "type": channel.kind.code(), "last_message_id": channel.last_message,
                "recipients": others, "flags": 0,
            });
        }
        let mut out = json!({
            "id": channel.id, "type": channel.kind.code(), "guild_id": self.guild.id, "name": channel.name,
            "parent_id": channel.parent, "last_message_id": channel.last_message,
            "rate_limit_per_user": channel.slowmode_seconds, "last_pin_timestamp": last_pin, "flags": 0,
        });
        match &channel.thread {
            None => {
                out["position"] = json!(channel.position);
                out["permission_overwrites"] = channel.overwrites.iter().map(overwrite).collect();
                out["topic"] = json!(channel.topic);
                out["nsfw"] = json!(false);
            }
            Some(thread) => {
                out["owner_id"] = json!(thread.owner);
                out["message_count"] = json!(thread.message_count);
                out["total_message_sent"] = json!(thread.message_count);
                out["member_count"] = json!(thread.members.len());
                out["thread_metadata"] = json!({
                    "archived": thread.archived, "locked": thread.locked,
                    "auto_archive_duration": thread.auto_archive_minutes,
                    "archive_timestamp": timestamp(thread.archive_ms),
                    "create_timestamp": timestamp(channel.id.created_ms()),
                });
                if let Some(member) = thread_member(channel, viewer) {
                    out["member"] = member;
                }
            }
        }
        out
    }

    /// A member of a thread with its membership of the guild.
    pub(crate) fn whole_thread_member(&self, thread: &Channel, user: Snowflake) -> Option<Value> {
        let mut member = thread_member(thread, user)?;
        member["member"] = self.member(user);
        Some(member)
    }

    pub(crate) fn emoji(&self, emoji: &Emoji) -> Value {
        let animated = self.pictures.find(&emoji.picture).is_some_and(Picture::is_animated);
        json!({
            "id": emoji.id, "name": emoji.name, "roles": [], "user": self.user(emoji.application), "require_colons": true,
            "managed": false, "animated": animated, "available": true,
        })
    }

    pub(crate) fn webhook(&self, webhook: &Webhook, with_creator: bool) -> Value {
        let mut out = json!({
            "id": webhook.id, "type": 1, "guild_id": self.guild.id, "channel_id": webhook.channel,
            "name": webhook.name, "avatar": null, "token": webhook.token, "application_id": webhook.application,
            "url": self.links.webhook(webhook.id, &webhook.token),
        });
        if with_creator {
            out["user"] = self.user(webhook.creator);
        }
        out
    }
}

/// A user as it sees itself.
pub(crate) fn own_user(account: &Account) -> Value {
    let mut user = user(account);
    for (key, value) in [
        ("mfa_enabled", json!(false)),
        ("verified", json!(true)),
        ("email", Value::Null),
        ("locale", json!("en-US")),
        ("premium_type", json!(0)),
    ] {
        user[key] = value;
    }
    user
}

/// A user as a member of a thread, if it is one.
pub(crate) fn thread_member(thread: &Channel, user: Snowflake) -> Option<Value> {
    let joined = thread.thread.as_ref()?.members.get(&user)?;
    Some(json!({ "id": thread.id, "user_id": user, "join_timestamp": timestamp(*joined), "flags": 0 }))
}

fn user(account: &Account) -> Value {
    json!({
        "id": account.id, "username": account.username(), "discriminator": "0", "global_name": account.name,
        "avatar": account.avatar, "bot": account.is_bot(), "public_flags": 0, "flags": 0, "primary_guild": null,
        "avatar_decoration_data": null, "banner": null, "accent_color": null, "collectibles": null,
    })
}

/// Flags for the privileged intents that are enabled in the developer portal.
pub(crate) fn application_flags(account: &Account) -> u64 {
    const PRESENCE_LIMITED: u64 = 1 << 13;
    const GUILD_MEMBERS_LIMITED: u64 = 1 << 15;
    const MESSAGE_CONTENT_LIMITED: u64 = 1 << 19;
    let content = if account.intents_content { MESSAGE_CONTENT_LIMITED } else { 0 };
    PRESENCE_LIMITED | GUILD_MEMBERS_LIMITED | content
}

fn role(id: Snowflake, name: &str, color: u32, permissions: Permissions, position: usize) -> Value {
    json!({
        "id": id, "name": name, "color": color,
        "colors": { "primary_color": color, "secondary_color": null, "tertiary_color": null },
        "hoist": false, "position": position, "permissions": permissions.bits().to_string(),
        "managed": position > 0, "mentionable": false, "icon": null, "unicode_emoji": null, "flags": 0,
    })
}

fn overwrite(overwrite: &Overwrite) -> Value {
    json!({
        "id": overwrite.id, "type": u8::from(overwrite.is_member), "allow": overwrite.allow.to_string(),
        "deny": overwrite.deny.to_string(),
    })
}
