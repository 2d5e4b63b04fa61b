//! IDENTIFY, RESUME, presence updates and member requests.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::limits::Identify;
use crate::server::{Core, End, Link, Presence, Server, Session};
use crate::snowflake::{Snowflake, timestamp};
use crate::state::{Account, Intents, application_flags, own_user};

/// The account and session of a connection, after IDENTIFY or RESUME.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) user: Snowflake,
    pub(crate) slug: Option<String>,
    pub(crate) session: String,
}

/// The account and session of a connection. Changes when the client identifies again after operation 9.
#[derive(Clone, Default)]
pub(crate) struct PeerSlot(Arc<Mutex<Option<Arc<Peer>>>>);

impl PeerSlot {
    pub(crate) fn get(&self) -> Option<Arc<Peer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, peer: Peer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(peer));
    }
}

/// The result of IDENTIFY or RESUME, if the connection stays open.
pub(crate) enum HandshakeResult {
    Entered(Peer),
    /// Operation 9: the client has to identify again.
    InvalidSession,
}

/// How many members one `GUILD_MEMBERS_CHUNK` holds.
const CHUNK: usize = 1_000;

pub(crate) fn identify(server: &Server, identify: &Value, link: &Link) -> Result<HandshakeResult, End> {
    let mut core = server.core();
    let core = &mut *core;
    let account = authenticate(core, &identify["token"])?;
    let intents = if account.is_bot() { check_intents(&account, &identify["intents"])? } else { Intents::ALL };
    check_shard(&identify["shard"])?;
    if account.is_bot() {
        match server.limits().identify(account.id, identify["shard"][0].as_u64().unwrap_or_default()) {
            Identify::Allowed => {}
            Identify::TooSoon => return Ok(HandshakeResult::InvalidSession),
            Identify::UsedUp => {
                // "all active sessions for the bot will be terminated, and the bot's token will be reset"
                core.revoke(account.id, true);
                return Err(End::Close(4004, "Authentication failed."));
            }
        }
    }
    let was_online = core.hub.is_online(account.id);
    let session = Session::new(Uuid::now_v7().simple().to_string(), account.id, !account.is_bot(), intents, link.clone());
    let peer = Peer { user: account.id, slug: account.slug.clone(), session: session.id.clone() };
    core.hub.insert(session, server.options.windows.resume);
    if identify["presence"].is_object() {
        core.hub.set_presence(account.id, parse_presence(&identify["presence"]));
    }
    let ready = ready(server, core, &account, &peer.session, &identify["shard"]);
    core.hub.send_to(&peer.session, "READY", &ready);
    let guild = guild_create(core, &account, intents);
    core.hub.send_to(&peer.session, "GUILD_CREATE", &guild);
    if !was_online {
        core.hub.announce_presence(&core.world, account.id);
    }
    Ok(HandshakeResult::Entered(peer))
}

pub(crate) fn resume(server: &Server, resume: &Value, link: &Link) -> Result<HandshakeResult, End> {
    let mut core = server.core();
    let core = &mut *core;
    let account = authenticate(core, &resume["token"])?;
    let id = resume["session_id"].as_str().unwrap_or_default();
    let seq = resume["seq"].as_u64().unwrap_or_default();
    if server.faults.refuses_resume(account.slug.as_deref()) {
        core.hub.remove(id);
        return Ok(HandshakeResult::InvalidSession);
    }
    let was_online = core.hub.is_online(account.id);
    let window = server.options.windows.resume;
    let Some(session) = core.hub.get_mut(id).filter(|session| session.user == account.id && !session.is_stale(window)) else {
        return Ok(HandshakeResult::InvalidSession);
    };
    if seq > session.seq() {
        return Err(End::Close(4007, "Invalid seq."));
    }
    if !session.resume(seq, link.clone()) {
        core.hub.remove(id);
        return Ok(HandshakeResult::InvalidSession);
    }
    if !was_online {
        core.hub.announce_presence(&core.world, account.id);
    }
    Ok(HandshakeResult::Entered(Peer { user: account.id, slug: account.slug, session: id.to_owned() }))
}

fn authenticate(core: &Core, token: &Value) -> Result<Account, End> {
    let token = token.as_str().ok_or(End::Close(4002, "Error while decoding payload."))?;
    let token = token.strip_prefix("Bot ").unwrap_or(token);
    core.world.accounts.find_by_token(token).cloned().ok_or(End::Close(4004, "Authentication failed."))
}

fn check_intents(account: &Account, intents: &Value) -> Result<Intents, End> {
    let intents = intents.as_u64().and_then(Intents::parse).ok_or(End::Close(4013, "Invalid intent(s)."))?;
    if intents.has(Intents::MESSAGE_CONTENT) && !account.intents_content {
        return Err(End::Close(4014, "Disallowed intent(s)."));
    }
    Ok(intents)
}

fn check_shard(shard: &Value) -> Result<(), End> {
    let invalid = End::Close(4010, "Invalid shard.");
    match shard.as_array().map(Vec::as_slice) {
        None => Ok(()),
        Some([id, count]) => match (id.as_u64(), count.as_u64()) {
            (Some(id), Some(count)) if id < count => Ok(()),
            _ => Err(invalid),
        },
        Some(_) => Err(invalid),
    }
}

/// READY has the fields of Discord's reference, and others that Discord sends too. eris reads `private_channels`.
fn ready(server: &Server, core: &Core, account: &Account, session: &str, shard: &Value) -> Value {
    let flags = application_flags(account);
    json!({
        "v": 10, "user": own_user(account), "guilds": [{ "id": core.world.guild.id, "unavailable": true }],
        "session_id": session, "resume_gateway_url": server.gateway_url(),
        "shard": if shard.is_array() { shard.clone() } else { json!([0, 1]) },
        "application": { "id": account.id, "flags": flags, "flags_new": flags.to_string() },
        "private_channels": [], "relationships": [], "presences": [], "guild_join_requests": [],
        "user_settings": {}, "session_type": "normal", "auth": {}, "_trace": [],
    })
}

fn guild_create(core: &Core, account: &Account, intents: Intents) -> Value {
    let world = &core.world;
    let visible = || world.channels.values().filter(|channel| !channel.is_direct() && world.can_view(account.id, channel));
    let channels: Vec<Value> =
        visible().filter(|channel| channel.thread.is_none()).map(|channel| world.channel(channel, account.id)).collect();
    let open_threads = visible().filter(|channel| channel.thread.as_ref().is_some_and(|thread| !thread.archived));
    let threads: Vec<Value> = open_threads.map(|thread| world.channel(thread, account.id)).collect();
    // Without the presence intent a bot gets only its own member.
    let (members, presences): (Vec<Value>, Vec<Value>) = if intents.has(Intents::GUILD_PRESENCES) {
        let all = world.members_sorted();
        (all.iter().map(|id| world.member(*id)).collect(), all.iter().map(|id| core.hub.guild_presence(world, *id)).collect())
    } else {
        (vec![world.member(account.id)], Vec::new())
    };
    let mut guild = world.guild_json();
    for (key, value) in [
        ("joined_at", json!(timestamp(world.guild.id.created_ms()))),
        ("large", json!(false)),
        ("unavailable", json!(false)),
        ("member_count", json!(world.accounts.members().count())),
        ("voice_states", json!([])),
        ("members", json!(members)),
        ("channels", json!(channels)),
        ("threads", json!(threads)),
        ("presences", json!(presences)),
        ("stage_instances", json!([])),
        ("guild_scheduled_events", json!([])),
        ("soundboard_sounds", json!([])),
    ] {
        guild[key] = value;
    }
    guild
}

fn parse_presence(presence: &Value) -> Presence {
    let status = presence["status"].as_str().unwrap_or("online").to_owned();
    // Keeps only the keys that clients show.
    let activity = |activity: &Value| {
        json!({
            "id": "custom", "name": activity["name"].as_str().unwrap_or_default(),
            "type": activity["type"].as_u64().unwrap_or(0), "state": activity["state"].as_str(),
            "created_at": crate::snowflake::now_ms(),
        })
    };
    let activities = presence["activities"].as_array().map(|all| all.iter().map(activity).collect()).unwrap_or_default();
    Presence { status, activities }
}

impl Core {
    /// Operation 3.
    pub(crate) fn set_presence(&mut self, user: Snowflake, presence: &Value) {
        self.hub.set_presence(user, parse_presence(presence));
        self.hub.announce_presence(&self.world, user);
    }

    /// Operation 8: members by id or by the beginning of a name, in chunks.
    pub(crate) fn send_members(&mut self, peer: &Peer, request: &Value) {
        let wanted: Vec<Snowflake> = match &request["user_ids"] {
            Value::Null => Vec::new(),
            Value::Array(ids) => ids.iter().filter_map(|id| serde_json::from_value(id.clone()).ok()).collect(),
            id => serde_json::from_value(id.clone()).into_iter().collect(),
        };
        let members = self.world.members_sorted();
        let query = request["query"].as_str().unwrap_or_default();
        let (found, missing): (Vec<Snowflake>, Vec<Snowflake>) = if request["user_ids"].is_null() {
            let limit = request["limit"].as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
            (self.world.members_named(query).take(limit.unwrap_or(usize::MAX)).collect(), Vec::new())
        } else {
            wanted.into_iter().partition(|id| members.contains(id))
        };
        let chunks: Vec<&[Snowflake]> = if found.is_empty() { vec![&[]] } else { found.chunks(CHUNK).collect() };
        for (index, chunk) in chunks.iter().enumerate() {
            let mut data = json!({
                "guild_id": self.world.guild.id, "chunk_index": index, "chunk_count": chunks.len(),
                "members": chunk.iter().map(|id| self.world.member(*id)).collect::<Vec<_>>(), "not_found": missing,
            });
            if request["presences"] == true {
                data["presences"] = chunk.iter().map(|id| self.hub.presence(*id)).collect();
            }
            if let Some(nonce) = request["nonce"].as_str() {
                data["nonce"] = json!(nonce);
            }
            self.hub.send_to(&peer.session, "GUILD_MEMBERS_CHUNK", &data);
        }
    }

    /// Detaches or deletes the session of a closed connection, and updates the user's presence.
    pub(crate) fn disconnected(&mut self, peer: &Peer, end: &End, link: &Link) {
        let Some(session) = self.hub.get_mut(&peer.session) else { return };
        let is_current = session.link.as_ref().is_none_or(|current| current.frames.same_channel(&link.frames));
        if !is_current {
            // The session was resumed on another connection.
            return;
        }
        let is_over = matches!(end, End::ClosedByClient { ends_session: true } | End::Close(4003..=4005 | 4007 | 4009..=4014, _));
        if is_over {
            self.hub.remove(&peer.session);
        } else {
            session.detach();
        }
        if !self.hub.is_online(peer.user) {
            self.hub.announce_presence(&self.world, peer.user);
        }
    }
}
