//! The table of routes.

use axum::http::Method;

use super::channels::{self, threads, webhooks};
use super::errors::ApiError;
use super::interactions::{self, callbacks, registration as commands};
use super::messages::{self, pins, reactions};
use super::{ApiResult, RequestContext, absent, emojis, guilds, users};
use crate::limits::Route;
use crate::snowflake::Snowflake;
use crate::state::{ChannelKind, Scope};

/// An id in a path.
fn id(text: &str) -> Result<Snowflake, ApiError> {
    text.parse().map_err(|_| ApiError::invalid("id", "NUMBER_TYPE_COERCE", &format!("Value \"{text}\" is not snowflake.")))
}

/// Runs the operation for a path. `path` starts after the version.
pub(crate) fn route(call: &mut RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    match path {
        ["gateway" | "users" | "oauth2", ..] | ["applications", "@me"] => account(call, method, path),
        ["applications", application, "guilds", guild, "commands", "permissions"] if method == Method::GET => {
            commands::own_scope(call, id(application)?, Some(id(guild)?))?;
            absent::command_permissions(false)
        }
        ["applications", application, "guilds", guild, "commands", rest @ ..] => {
            let scope = commands::own_scope(call, id(application)?, Some(id(guild)?))?;
            command(call, method, scope, rest)
        }
        ["applications", application, "commands", rest @ ..] => {
            let scope = commands::own_scope(call, id(application)?, None)?;
            command(call, method, scope, rest)
        }
        ["applications", application, "emojis", rest @ ..] => {
            commands::own_scope(call, id(application)?, None)?;
            emoji(call, method, rest)
        }
        ["applications", application, rest @ ..] => {
            commands::own_scope(call, id(application)?, None)?;
            absent::application(method, rest)
        }
        ["interactions"] if method == Method::POST => interactions::create(call),
        ["interactions", interaction, token, "callback"] if method == Method::POST => callbacks::create(call, id(interaction)?, token),
        ["webhooks", webhook, rest @ ..] => self::webhook(call, method, id(webhook)?, rest),
        ["guilds", rest @ ..] => guild(call, method, rest),
        ["channels", channel, "messages", "pins", rest @ ..] => pin(call, method, id(channel)?, rest),
        ["channels", channel, "pins", rest @ ..] => old_pin(call, method, id(channel)?, rest),
        ["channels", channel, "messages", rest @ ..] => message(call, method, id(channel)?, rest),
        ["channels", channel, rest @ ("threads" | "thread-members"), tail @ ..] => thread(call, method, id(channel)?, rest, tail),
        ["channels", rest @ ..] => channel(call, method, rest),
        _ => absent::elsewhere(call, method, path),
    }
}

fn account(call: &mut RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", ["gateway"]) => users::gateway(call),
        ("GET", ["gateway", "bot"]) => users::gateway_bot(call),
        ("GET", ["users", "@me"]) => users::me(call),
        ("PATCH", ["users", "@me"]) => users::update_me(call),
        ("GET", ["users", "@me", "guilds"]) => guilds::mine(call),
        ("GET", ["users", "@me", "guilds", guild, "member"]) => guilds::my_member(call, id(guild)?),
        ("GET", ["users", "@me", "channels"]) => users::direct_channels(call),
        ("POST", ["users", "@me", "channels"]) => users::open_direct(call),
        ("GET", ["users", user]) => users::get(call, id(user)?),
        ("GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]) => users::application(call),
        _ => Err(ApiError::no_route()),
    }
}

fn guild(call: &mut RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    let [guild, rest @ ..] = path else { return Err(ApiError::no_route()) };
    call.guild(id(guild)?)?;
    match (method.as_str(), rest) {
        ("GET", []) => guilds::get(call),
        ("GET", ["channels"]) => guilds::channels(call),
        ("POST", ["channels"]) => channels::create(call),
        ("GET", ["members"]) => guilds::members(call),
        ("PATCH", ["members", "@me"]) => guilds::rename_me(call),
        ("GET", ["members", "search"]) => guilds::search_members(call),
        ("GET", ["members", user]) => guilds::member(call, id(user)?),
        ("GET", ["roles"]) => guilds::roles(call),
        ("GET", ["roles", "member-counts"]) => guilds::role_member_counts(call),
        ("GET", ["roles", role]) => guilds::role(call, id(role)?),
        ("GET", ["preview"]) => guilds::preview(call),
        ("GET", ["threads", "active"]) => threads::active(call),
        ("GET", ["webhooks"]) => webhooks::list(call),
        ("GET", ["application-command-index"]) => commands::index(call),
        _ => absent::guild(call, method, rest),
    }
}

fn channel(call: &mut RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", [channel]) => channels::get(call, id(channel)?),
        ("PATCH", [channel]) => channels::update(call, id(channel)?),
        ("DELETE", [channel]) => channels::delete(call, id(channel)?),
        ("GET", [channel, "webhooks"]) => webhooks::list_in_channel(call, id(channel)?),
        ("POST", [channel, "webhooks"]) => webhooks::create(call, id(channel)?),
        ("POST", [channel, "typing"]) => channels::typing(call, id(channel)?),
        ("GET", [channel, "users", "@me", "threads", "archived", "private"]) => {
            threads::archived(call, id(channel)?, ChannelKind::PrivateThread, true)
        }
        (_, [channel, rest @ ..]) => absent::channel(call, method, id(channel)?, rest),
        _ => Err(ApiError::no_route()),
    }
}

fn command(call: &mut RequestContext, method: &Method, scope: Scope, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => commands::list(call, scope),
        ("PUT", []) => commands::replace_all(call, scope),
        ("POST", []) => commands::create(call, scope),
        ("GET", [command]) => commands::get(call, scope, id(command)?),
        ("GET", [_, "permissions"]) => absent::command_permissions(true),
        ("PATCH", [command]) => commands::update(call, scope, id(command)?),
        ("DELETE", [command]) => commands::delete(call, scope, id(command)?),
        _ => Err(ApiError::no_route()),
    }
}

/// Webhook operations, with the webhook's token or for a caller who may manage it.
fn webhook(call: &mut RequestContext, method: &Method, webhook: Snowflake, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => webhooks::get(call, webhook, None),
        ("PATCH", []) => webhooks::update(call, webhook, None),
        ("DELETE", []) => webhooks::delete(call, webhook, None),
        ("GET", [token]) => webhooks::get(call, webhook, Some(token)),
        ("PATCH", [token]) => webhooks::update(call, webhook, Some(token)),
        ("DELETE", [token]) => webhooks::delete(call, webhook, Some(token)),
        ("POST", [token]) => webhooks::execute(call, webhook, token),
        ("GET", [token, "messages", message]) => webhooks::get_message(call, webhook, token, message),
        ("PATCH", [token, "messages", message]) => webhooks::update_message(call, webhook, token, message),
        ("DELETE", [token, "messages", message]) => webhooks::delete_message(call, webhook, token, message),
        _ => Err(ApiError::no_route()),
    }
}

fn emoji(call: &mut RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => emojis::list(call),
        ("POST", []) => emojis::create(call),
        ("GET", [emoji]) => emojis::get(call, id(emoji)?),
        ("PATCH", [emoji]) => emojis::update(call, id(emoji)?),
        ("DELETE", [emoji]) => emojis::delete(call, id(emoji)?),
        _ => Err(ApiError::no_route()),
    }
}

fn message(call: &mut RequestContext, method: &Method, channel: Snowflake, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => messages::list(call, channel),
        ("POST", []) => messages::create(call, channel),
        ("POST", ["bulk-delete"]) => messages::bulk_delete(call, channel),
        ("GET", [message]) => messages::get(call, channel, id(message)?),
        ("PATCH", [message]) => messages::update(call, channel, id(message)?),
        ("DELETE", [message]) => messages::delete(call, channel, id(message)?),
        ("POST", [message, "threads"]) => threads::create_from_message(call, channel, id(message)?),
        ("DELETE", [message, "reactions"]) => reactions::clear(call, channel, id(message)?, None),
        ("GET", [message, "reactions", emoji]) => reactions::list(call, channel, id(message)?, emoji),
        ("DELETE", [message, "reactions", emoji]) => reactions::clear(call, channel, id(message)?, Some(emoji)),
        ("PUT", [message, "reactions", emoji, "@me"]) => reactions::add(call, channel, id(message)?, emoji),
        ("DELETE", [message, "reactions", emoji, "@me"]) => reactions::remove(call, channel, id(message)?, emoji, None),
        ("DELETE", [message, "reactions", emoji, user]) => reactions::remove(call, channel, id(message)?, emoji, Some(id(user)?)),
        _ => Err(ApiError::no_route()),
    }
}

fn pin(call: &mut RequestContext, method: &Method, channel: Snowflake, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => pins::list(call, channel),
        ("PUT", [message]) => pins::set(call, channel, id(message)?, true),
        ("DELETE", [message]) => pins::set(call, channel, id(message)?, false),
        _ => Err(ApiError::no_route()),
    }
}

/// Deprecated routes for pins that clients still use.
fn old_pin(call: &mut RequestContext, method: &Method, channel: Snowflake, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", []) => pins::list_plain(call, channel),
        _ => pin(call, method, channel, path),
    }
}

fn thread(call: &mut RequestContext, method: &Method, channel: Snowflake, kind: &str, path: &[&str]) -> ApiResult {
    match (method.as_str(), kind, path) {
        ("POST", "threads", []) => threads::create(call, channel),
        ("GET", "threads", ["archived", "public"]) => threads::archived(call, channel, ChannelKind::PublicThread, false),
        ("GET", "threads", ["archived", "private"]) => threads::archived(call, channel, ChannelKind::PrivateThread, false),
        ("GET", "thread-members", []) => threads::members(call, channel),
        ("GET", "thread-members", [user]) => threads::member(call, channel, member_id(call, user)?),
        ("PUT", "thread-members", [user]) => threads::add_member(call, channel, member_id(call, user)?),
        ("DELETE", "thread-members", [user]) => threads::remove_member(call, channel, member_id(call, user)?),
        _ => Err(ApiError::no_route()),
    }
}

fn member_id(call: &RequestContext, text: &str) -> Result<Snowflake, ApiError> {
    if text == "@me" { call.caller_id() } else { id(text) }
}

/// The rate-limit route of a request: the path without ids, and its first id.
pub(crate) fn rate_route(method: &Method, path: &[&str]) -> Route {
    let mut template = method.to_string();
    template.push(' ');
    for (index, part) in path.iter().enumerate() {
        let after = index.checked_sub(1).and_then(|before| path.get(before)).copied();
        let is_token = index == 2 && path[0] == "webhooks";
        let piece = match after {
            Some("reactions") => ":emoji",
            _ if is_token => ":token",
            _ if part.parse::<Snowflake>().is_ok() => ":id",
            _ => part,
        };
        template.push('/');
        template.push_str(piece);
        if piece == ":emoji" {
            break;
        }
    }
    let major = match path {
        ["webhooks", id, token, ..] => format!("{id}/{token}"),
        [_, id, ..] => (*id).to_owned(),
        _ => String::new(),
    };
    Route { template, major }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_first_id() {
        let of = |method: Method, path: &str| {
            let route = rate_route(&method, &path.split('/').collect::<Vec<_>>());
            (route.template, route.major)
        };
        let messages = ("POST /channels/:id/messages".to_owned(), "12".to_owned());
        assert_eq!(of(Method::POST, "channels/12/messages"), messages);
        let (template, _) = of(Method::PUT, "channels/1/messages/2/reactions/x/@me");
        assert_eq!(template, "PUT /channels/:id/messages/:id/reactions/:emoji");
        assert_eq!(of(Method::POST, "webhooks/1/abc"), ("POST /webhooks/:id/:token".to_owned(), "1/abc".to_owned()));
    }
}
