//! What each account may do in each channel.

use serenity::model::channel::{ChannelType, GuildChannel};
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
            let has = self.server.user_permissions_in(channel, &self.member);
            match needed.difference(has) {
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
            let text = format!("{name}: lacks {lacks} in {}", join_with_and(&channels));
            let remedy = "Give it to the bot's role in the channel's settings, under Permissions.";
            findings.push(if is_used { Finding::fault(text, remedy) } else { Finding::warning(text, remedy) });
        }
        findings
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
