//! What each account may do in each channel.

use serenity::model::channel::{ChannelType, GuildChannel, PermissionOverwriteType};
use serenity::model::guild::{Member, PartialGuild};
use serenity::model::permissions::Permissions;

use crate::adapters::discord::rest::{Call, Credential, Failure, Rest};
use kernel::finding::Finding;
use kernel::text::join_with_and;

/// What an account needs in a channel.
pub(super) const NEEDED: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::READ_MESSAGE_HISTORY)
    .union(Permissions::ATTACH_FILES)
    .union(Permissions::EMBED_LINKS)
    .union(Permissions::ADD_REACTIONS)
    .union(Permissions::CREATE_PUBLIC_THREADS)
    .union(Permissions::SEND_MESSAGES_IN_THREADS);

/// What an account also needs if it speaks for personas without an account.
pub(super) const WEBHOOKS: Permissions = Permissions::MANAGE_WEBHOOKS;

/// How Discord names these permissions.
const NAMES: [(Permissions, &str); 9] = [
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::SEND_MESSAGES, "Send Messages"),
    (Permissions::READ_MESSAGE_HISTORY, "Read Message History"),
    (Permissions::ATTACH_FILES, "Attach Files"),
    (Permissions::EMBED_LINKS, "Embed Links"),
    (Permissions::ADD_REACTIONS, "Add Reactions"),
    (Permissions::CREATE_PUBLIC_THREADS, "Create Public Threads"),
    (Permissions::SEND_MESSAGES_IN_THREADS, "Send Messages in Threads"),
    (Permissions::MANAGE_WEBHOOKS, "Manage Webhooks"),
];

/// The server as an account sees it.
pub(super) struct View {
    server: PartialGuild,
    member: Member,
    channels: Vec<GuildChannel>,
}

impl View {
    pub(super) async fn fetch(rest: &Rest, credential: &Credential, server: &str, account: &str) -> Result<Self, Failure> {
        let mut member: serde_json::Value = rest.fetch(credential, Call::get(format!("/guilds/{server}/members/{account}"))).await?;
        // serenity's type requires the server's id, which Discord leaves out.
        member["guild_id"] = server.into();
        let member = serde_json::from_value(member).map_err(|_| Failure::Unreachable("cannot read Discord's answer".to_owned()))?;
        let server_itself = rest.fetch(credential, Call::get(format!("/guilds/{server}"))).await?;
        let channels = rest.fetch(credential, Call::get(format!("/guilds/{server}/channels"))).await?;
        Ok(Self { server: server_itself, member, channels })
    }

    /// Judges all channels. `used` are those that the settings name.
    pub(super) fn judge(&self, name: &str, needed: Permissions, used: &[String]) -> Vec<Finding> {
        let mut judged: Vec<(Permissions, bool, String)> = Vec::new();
        let mut works = 0;
        let mut closed = 0;
        for channel in self.channels.iter().filter(|channel| matches!(channel.kind, ChannelType::Text | ChannelType::News)) {
            let is_used = used.iter().any(|used| is_named(channel, used));
            match needed.difference(self.permissions_in(channel)) {
                lacks if lacks.is_empty() => works += 1,
                // A channel that people keep to themselves is no fault.
                lacks if lacks.contains(Permissions::VIEW_CHANNEL) && !is_used => closed += 1,
                lacks => {
                    // An account that cannot see the channel cannot use any other permission there.
                    let lacks = if lacks.contains(Permissions::VIEW_CHANNEL) { Permissions::VIEW_CHANNEL } else { lacks };
                    judged.push((lacks, is_used, format!("#{}", channel.name)));
                }
            }
        }
        let hidden = if closed == 0 { String::new() } else { format!("; {closed} more are not open to it") };
        let mut findings = vec![Finding::good(format!("{name}: has every permission in {works} channel(s){hidden}"))];
        while let Some((lacks, is_used, _)) = judged.first().cloned() {
            let (same, others) = judged.into_iter().partition(|(other, used, _)| (*other, *used) == (lacks, is_used));
            judged = others;
            let channels: Vec<String> = same.into_iter().map(|(.., channel)| channel).collect();
            let text = format!("{name}: lacks {} in {}", names_of(lacks), join_with_and(&channels));
            let remedy = "Give it to the bot's role in the channel's settings, under Permissions.";
            findings.push(if is_used { Finding::fault(text, remedy) } else { Finding::warning(text, remedy) });
        }
        findings
    }

    /// What the account may do in a channel, in Discord's order: its roles, then the channel's overwrites for everybody, for its roles, and for itself.
    fn permissions_in(&self, channel: &GuildChannel) -> Permissions {
        let (member, server) = (&self.member, &self.server);
        if member.user.id == server.owner_id {
            return Permissions::all();
        }
        // The role of everybody has the id of the server.
        let everybody = server.id.get();
        let is_held = |role: u64| member.roles.iter().any(|held| held.get() == role);
        let roles = server.roles.values().filter(|role| role.id.get() == everybody || is_held(role.id.get()));
        let mut permissions = roles.fold(Permissions::empty(), |sum, role| sum | role.permissions);
        if permissions.administrator() {
            return Permissions::all();
        }
        let steps: [&dyn Fn(PermissionOverwriteType) -> bool; 3] = [
            &|kind| matches!(kind, PermissionOverwriteType::Role(role) if role.get() == everybody),
            &|kind| matches!(kind, PermissionOverwriteType::Role(role) if role.get() != everybody && is_held(role.get())),
            &|kind| kind == PermissionOverwriteType::Member(member.user.id),
        ];
        for applies in steps {
            let overwrites = || channel.permission_overwrites.iter().filter(|overwrite| applies(overwrite.kind));
            permissions -= overwrites().fold(Permissions::empty(), |sum, overwrite| sum | overwrite.deny);
            permissions |= overwrites().fold(Permissions::empty(), |sum, overwrite| sum | overwrite.allow);
        }
        permissions
    }

    /// Channels that the settings name and the server does not have.
    pub(super) fn list_missing<'a>(&self, used: &'a [String]) -> Vec<&'a str> {
        let is_there = |used: &String| self.channels.iter().any(|channel| is_named(channel, used));
        used.iter().filter(|used| !is_there(used)).map(String::as_str).collect()
    }
}

/// Whether a setting means this channel, by its name or its id.
fn is_named(channel: &GuildChannel, setting: &str) -> bool {
    channel.name.eq_ignore_ascii_case(setting) || setting.rsplit(':').next() == Some(channel.id.to_string().as_str())
}

fn names_of(permissions: Permissions) -> String {
    let names: Vec<String> = NAMES.iter().filter(|(one, _)| permissions.contains(*one)).map(|(_, name)| (*name).to_owned()).collect();
    join_with_and(&names)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ADMINISTRATOR: u64 = 1 << 3;
    const SEND: u64 = 1 << 11;
    const VIEW: u64 = 1 << 10;

    fn role(id: u64, permissions: u64) -> Value {
        json!({"id": id.to_string(), "name": "x", "color": 0, "colors": {"primary_color": 0}, "hoist": false, "managed": false, "mentionable": false,
            "permissions": permissions.to_string(), "position": 0, "flags": 0})
    }

    /// What account 7 with role 2 may do on server 1 of which everybody may see channels, in a channel with these overwrites: id, type, allowed, denied.
    fn permissions(owner: u64, role_of_account: u64, overwrites: &[(u64, u8, u64, u64)]) -> Permissions {
        let overwrites = overwrites.iter().map(
            |(id, kind, allow, deny)| json!({"id": id.to_string(), "type": kind, "allow": allow.to_string(), "deny": deny.to_string()}),
        );
        let channel = json!({"id": "5", "type": 0, "guild_id": "1", "name": "x", "permission_overwrites": overwrites.collect::<Vec<_>>()});
        let user = json!({"id": "7", "username": "x", "discriminator": "0"});
        let member = json!({"guild_id": "1", "user": user, "roles": ["2"], "deaf": false, "mute": false, "flags": 0, "joined_at": null});
        let server = json!({"id": "1", "name": "x", "owner_id": owner.to_string(), "afk_timeout": 60, "default_message_notifications": 0, "emojis": [],
            "explicit_content_filter": 0, "features": [], "mfa_level": 0, "nsfw_level": 0, "premium_progress_bar_enabled": false, "premium_tier": 0,
            "preferred_locale": "en-US", "roles": [role(1, VIEW), role(2, role_of_account), role(3, ADMINISTRATOR)], "stickers": [],
            "system_channel_flags": 0, "verification_level": 0});
        let view = View {
            server: serde_json::from_value(server).expect("a server"),
            member: serde_json::from_value(member).expect("a member"),
            channels: vec![serde_json::from_value(channel).expect("a channel")],
        };
        view.permissions_in(&view.channels[0])
    }

    #[test]
    fn roles_add_up_and_other_peoples_roles_do_not_count() {
        assert_eq!(permissions(9, SEND, &[]).bits(), VIEW | SEND);
        assert_eq!(permissions(9, ADMINISTRATOR, &[(1, 0, 0, VIEW)]), Permissions::all());
        assert_eq!(permissions(7, 0, &[(1, 0, 0, VIEW)]), Permissions::all(), "the owner");
    }

    #[test]
    fn nearer_overwrites_win() {
        assert_eq!(permissions(9, SEND, &[(1, 0, 0, SEND)]).bits(), VIEW);
        assert_eq!(permissions(9, SEND, &[(2, 0, SEND, 0), (1, 0, 0, SEND)]).bits(), VIEW | SEND, "the role after everybody");
        assert_eq!(permissions(9, SEND, &[(7, 1, 0, VIEW | SEND), (2, 0, SEND, 0)]).bits(), 0, "the account last");
        assert_eq!(permissions(9, SEND, &[(3, 0, 0, SEND), (8, 1, 0, VIEW)]).bits(), VIEW | SEND, "overwrites of others");
    }

    #[test]
    fn permissions_are_named_as_discord_names_them() {
        assert_eq!(names_of(NEEDED | WEBHOOKS).matches(',').count(), 7, "each has a name");
        assert_eq!(names_of(Permissions::SEND_MESSAGES | Permissions::ATTACH_FILES), "Send Messages and Attach Files");
    }
}
