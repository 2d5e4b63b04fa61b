//! The table of methods. What is not in it is `unknown_method`.

use super::{Call, Outcome, apps, assistant, chat, conversations, files, reactions, team, users, views};
use crate::limits::Tier;

/// Which token a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Bot,
    /// The app-level token, `xapp-…`.
    App,
    Any,
}

pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) token: Token,
    /// The scope that the method needs. Methods of conversations check the scope themselves, because it depends on the kind of conversation.
    pub(crate) scope: Option<&'static str>,
    pub(crate) tier: Tier,
    /// Takes JSON. Methods that only read take forms alone.
    pub(crate) json: bool,
    pub(crate) run: fn(&mut Call) -> Outcome,
}

const fn read(name: &'static str, scope: &'static str, tier: Tier, run: fn(&mut Call) -> Outcome) -> Method {
    let scope = if scope.is_empty() { None } else { Some(scope) };
    Method { name, token: Token::Bot, scope, tier, json: false, run }
}

const fn write(name: &'static str, scope: &'static str, tier: Tier, run: fn(&mut Call) -> Outcome) -> Method {
    Method { json: true, ..read(name, scope, tier, run) }
}

const METHODS: [Method; 44] = [
    Method { name: "api.test", token: Token::Any, scope: None, tier: Tier::Four, json: true, run: apps::test },
    Method { name: "auth.test", token: Token::Any, scope: None, tier: Tier::Hundreds, json: true, run: apps::auth_test },
    Method { name: "apps.connections.open", token: Token::App, scope: None, tier: Tier::One, json: true, run: apps::open_connection },
    read("bots.info", "users:read", Tier::Three, users::bot),
    write("chat.postMessage", "chat:write", Tier::Posting, chat::post),
    write("chat.postEphemeral", "chat:write", Tier::Four, chat::post_ephemeral),
    write("chat.update", "chat:write", Tier::Three, chat::update),
    write("chat.delete", "chat:write", Tier::Three, chat::delete),
    read("chat.getPermalink", "", Tier::Hundreds, chat::permalink),
    write("chat.startStream", "chat:write", Tier::Two, chat::start_stream),
    write("chat.appendStream", "chat:write", Tier::Four, chat::append_stream),
    write("chat.stopStream", "chat:write", Tier::Two, chat::stop_stream),
    read("conversations.list", "", Tier::Two, conversations::list),
    read("conversations.info", "", Tier::Three, conversations::info),
    read("conversations.members", "", Tier::Four, conversations::members),
    read("conversations.history", "", Tier::Three, conversations::history),
    read("conversations.replies", "", Tier::Three, conversations::thread),
    write("conversations.open", "", Tier::Three, conversations::open),
    write("conversations.join", "channels:join", Tier::Three, conversations::join),
    write("conversations.leave", "", Tier::Three, conversations::leave),
    write("conversations.create", "", Tier::Two, conversations::create),
    write("conversations.invite", "", Tier::Three, conversations::invite),
    write("conversations.archive", "", Tier::Two, conversations::archive),
    read("users.info", "users:read", Tier::Four, users::info),
    read("users.list", "users:read", Tier::Two, users::list),
    read("users.conversations", "", Tier::Three, conversations::of_user),
    read("users.profile.get", "users.profile:read", Tier::Four, users::profile),
    write("reactions.add", "reactions:write", Tier::Three, reactions::add),
    write("reactions.remove", "reactions:write", Tier::Two, reactions::remove),
    read("reactions.get", "reactions:read", Tier::Three, reactions::get),
    // This method writes, but is known to accept only forms.
    read("files.getUploadURLExternal", "files:write", Tier::Four, files::get_upload_url),
    write("files.completeUploadExternal", "files:write", Tier::Four, files::complete_upload),
    read("files.info", "files:read", Tier::Four, files::info),
    write("files.delete", "files:write", Tier::Three, files::delete),
    write("views.open", "", Tier::Four, views::open),
    write("views.push", "", Tier::Four, views::push),
    write("views.update", "", Tier::Four, views::update),
    write("views.publish", "", Tier::Four, views::publish),
    write("assistant.threads.setStatus", "", Tier::Hundreds, assistant::set_status),
    write("assistant.threads.setTitle", "assistant:write", Tier::Four, assistant::set_title),
    write("assistant.threads.setSuggestedPrompts", "assistant:write", Tier::Four, assistant::set_prompts),
    write("agents.sessions.setStatus", "chat:write", Tier::Three, assistant::set_session),
    read("team.info", "team:read", Tier::Three, team::info),
    read("emoji.list", "emoji:read", Tier::Two, team::emoji),
];

pub(crate) fn find_method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// The names of all methods.
pub(crate) fn names() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.name).collect()
}
