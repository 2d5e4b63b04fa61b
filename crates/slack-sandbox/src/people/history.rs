//! What a person sees: conversations, threads and messages, as the chat page shows them.

use local_server::search::{MOST, Words, collect_text};
use serde_json::{Value, json};

use super::{Person, Refused, parse};
use crate::server::Core;
use crate::state::{App, Channel, ChannelKind, Message, Ts, View, World, replies};

/// Messages in one answer.
const PAGE_LIMIT: usize = 100;
/// Number of characters of a thread's first message that are shown as its name.
const THREAD_TEXT: usize = 200;

/// The part of a conversation to return, given by timestamps. Without a timestamp these are the newest messages.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    thread: Option<String>,
    before: Option<String>,
    after: Option<String>,
    around: Option<String>,
    limit: Option<usize>,
}

impl Person {
    /// Everything that the page needs at its start, except for messages.
    pub(super) fn overview(&self) -> Value {
        let core = self.core();
        let world = &core.world;
        let visible = || world.channels.values().filter(|channel| channel.has(&self.id));
        let threads = visible().flat_map(|channel| {
            channel.messages.values().filter(|message| message.thread == Some(message.ts)).map(|parent| render_thread(channel, parent))
        });
        let doing = world.assistants.keys().filter(|(channel, _)| visible().any(|found| found.id == *channel));
        let doing = doing.map(|(channel, thread)| render_doing(world, channel, *thread));
        let commands = |app: &App| {
            let user = app.user.clone();
            app.config.commands.clone().into_iter().map(move |command| json!({ "command": command, "user": user }))
        };
        let installed = world.apps.values().filter(|app| !app.uninstalled && app.has_scope("commands"));
        json!({
            "me": self.id, "team": { "id": world.team.id, "name": world.team.name, "url": world.team_url() },
            "users": world.users.keys().map(|id| render_user(&core, id)).collect::<Vec<_>>(),
            "channels": visible().map(|channel| self.channel(channel)).collect::<Vec<_>>(),
            "threads": threads.collect::<Vec<_>>(),
            "doing": doing.collect::<Vec<_>>(),
            "shortcuts": installed.clone().flat_map(|app| &app.config.shortcuts).collect::<Vec<_>>(),
            "commands": installed.flat_map(commands).collect::<Vec<_>>(),
            "views": world.modals(&self.id).map(|view| render_view(world, view)).collect::<Vec<_>>(),
        })
    }

    pub(super) fn channel(&self, channel: &Channel) -> Value {
        let kind = match channel.kind {
            ChannelKind::Public => "public",
            ChannelKind::Private => "private",
            ChannelKind::Direct => "direct",
            ChannelKind::Group => "group",
        };
        let last = channel.messages.values().rev().find(|message| message.is_in_channel()).map(|message| message.ts.to_string());
        json!({
            "id": channel.id, "name": channel.name, "kind": kind, "archived": channel.archived, "created": channel.created,
            "members": channel.members, "is_member": channel.has(&self.id), "last": last,
        })
    }

    /// Whether a message is shown to this person.
    pub(super) fn sees(&self, message: &Message) -> bool {
        message.only_for.as_ref().is_none_or(|only| *only == self.id)
    }

    /// Messages of a conversation or of a thread, oldest first.
    pub(super) fn history(&self, channel: &str, range: &Range) -> Result<Value, Refused> {
        let core = self.core();
        let world = &core.world;
        let found = world.channels.get(channel).filter(|found| found.is_visible_to(&self.id)).ok_or(Refused("channel_not_found"))?;
        let stamp = |ts: &Option<String>| ts.as_deref().map(parse).transpose();
        let all: Vec<&Message> = match stamp(&range.thread)? {
            Some(thread) => {
                let parent = found.messages.get(&thread).ok_or(Refused("thread_not_found"))?;
                let hidden = found.messages.range(thread..).map(|(_, message)| message);
                let hidden = hidden.filter(|message| message.only_for.is_some() && message.thread == Some(thread) && self.sees(message));
                let mut all: Vec<&Message> = std::iter::once(parent).chain(replies(found, thread)).chain(hidden).collect();
                all.sort_by_key(|message| message.ts);
                all
            }
            None => found.messages.values().filter(|message| self.sees(message) && is_beside_threads(message)).collect(),
        };
        let limit = range.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let place = |ts: Ts| all.partition_point(|message| message.ts < ts);
        let (from, to) = match (stamp(&range.before)?, stamp(&range.after)?, stamp(&range.around)?) {
            (Some(before), ..) => (place(before).saturating_sub(limit), place(before)),
            (_, Some(after), _) => {
                let from = all.partition_point(|message| message.ts <= after);
                (from, from + limit)
            }
            (.., Some(around)) => (place(around).saturating_sub(limit / 2), place(around) + limit.div_ceil(2)),
            _ => (all.len().saturating_sub(limit), all.len()),
        };
        let page = &all[from..to.min(all.len())];
        Ok(json!({ "messages": page.iter().map(|message| render_message(world, found, message)).collect::<Vec<_>>() }))
    }

    /// The messages with all the words, newest first, and how many there are. Words of the author's name count too.
    pub(super) fn search(&self, text: &str) -> Value {
        let core = self.core();
        let world = &core.world;
        let Some(words) = Words::parse(text) else { return json!({ "count": 0, "found": [] }) };
        let visible = world.channels.values().filter(|channel| channel.has(&self.id));
        let all = visible.flat_map(|channel| channel.messages.values().map(move |message| (channel, message)));
        let mut found: Vec<(&Channel, &Message, String)> = Vec::new();
        for (channel, message) in all.filter(|(_, message)| self.sees(message)) {
            let files: Vec<&str> = message.files.iter().filter_map(|id| world.files.get(id)).map(|file| file.name.as_str()).collect();
            let cards = collect_text(&Value::from([message.blocks.clone(), message.attachments.clone()].concat()));
            // Blocks repeat the text.
            let words_of_cards = if message.text.is_empty() || !message.attachments.is_empty() { cards.as_str() } else { "" };
            let text = [message.text.as_str(), words_of_cards, &files.join("\n")].join("\n");
            let name = name_of(world, &world.message(channel, message));
            if words.are_in(&[&text, &cards, &name]) && !text.trim().is_empty() {
                found.push((channel, message, text));
            }
        }
        found.sort_by_key(|(_, message, _)| std::cmp::Reverse(message.ts));
        let count = found.len();
        let shown = found
            .into_iter()
            .take(MOST)
            .map(|(channel, message, text)| json!({ "message": render_message(world, channel, message), "text": text.trim() }));
        json!({ "count": count, "found": shown.collect::<Vec<_>>() })
    }
}

/// The name under which a message is shown.
fn name_of(world: &World, message: &Value) -> String {
    let user = message["user"].as_str().and_then(|id| world.users.get(id));
    message["username"].as_str().map(str::to_owned).or(user.map(|user| user.real_name.clone())).unwrap_or_default()
}

/// A view with the errors that its app has shown.
pub(super) fn render_view(world: &World, view: &View) -> Value {
    let mut json = world.view(view);
    json["errors"] = view.body["errors"].clone();
    json
}

/// A message as the page shows it: with the conversation, and the files that it links to.
pub(super) fn render_message(world: &World, channel: &Channel, message: &Message) -> Value {
    let mut json = world.message(channel, message);
    json["channel"] = json!(channel.id);
    json["linked_files"] = json!(linked_files(world, message));
    json
}

/// Whether the conversation itself shows a message. An ephemeral message may be in a thread too.
fn is_beside_threads(message: &Message) -> bool {
    message.thread.is_none_or(|thread| thread == message.ts) || message.broadcast
}

pub(super) fn render_user(core: &Core, id: &str) -> Value {
    let world = &core.world;
    let Some(user) = world.users.get(id) else { return Value::Null };
    let app = user.app.as_ref().and_then(|app| world.apps.get(app));
    let is_online = match app {
        Some(app) => core.sockets.values().any(|socket| socket.ready && socket.app == app.id),
        None => core.pages.get(id).is_some_and(|open| *open > 0),
    };
    json!({
        "id": id, "name": user.real_name, "is_bot": app.is_some(), "is_deactivated": user.deactivated, "is_online": is_online,
        "app": app.map(|app| &app.config.slug), "bot_id": app.map(|app| &app.bot),
        "has_home": app.is_some_and(|app| app.config.home_tab),
    })
}

pub(super) fn render_doing(world: &World, channel: &str, thread: Ts) -> Value {
    let stops = world.find_stoppable(channel, thread).is_some();
    json!({ "type": "doing", "channel": channel, "thread": thread.to_string(), "text": world.doing(channel, thread), "stops": stops })
}

fn render_thread(channel: &Channel, parent: &Message) -> Value {
    let replies = replies(channel, parent.ts);
    json!({
        "channel": channel.id, "ts": parent.ts.to_string(), "text": parent.text.chars().take(THREAD_TEXT).collect::<String>(),
        "reply_count": replies.len(), "latest_reply": replies.last().map(|reply| reply.ts.to_string()),
    })
}

/// The files whose addresses are in a message. Slack shows them below it.
fn linked_files(world: &World, message: &Message) -> Vec<Value> {
    let written = format!("{}\n{}", message.text, Value::from(message.blocks.clone()));
    let start = format!("{}files/", world.team_url());
    let mut ids: Vec<&str> = written.split(&start).skip(1).filter_map(|rest| rest.split('/').nth(1)).collect();
    ids.sort_unstable();
    ids.dedup();
    let is_extra = |id: &&str| !message.files.iter().any(|file| file == id);
    ids.into_iter().filter(is_extra).filter_map(|id| world.files.get(id)).map(|file| world.file(file)).collect()
}
