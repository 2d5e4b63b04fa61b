//! One connection to the gateway: HELLO, IDENTIFY or RESUME, heartbeats, events.
//!
//! serenity parses the events, and its own gateway client is not used: it answers a silent connection and an invalid sequence with the wrong step,
//! never uses the address for RESUME, and reconnects by itself without a limit.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use serenity::model::event::Event;
use serenity::model::gateway::GatewayIntents;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::Timing;
use crate::adapters::discord::gateway::Gateway;
use crate::adapters::discord::identity::{Identity, Logins};
use crate::adapters::discord::ports::IdentifyLog;
use crate::adapters::discord::rest::read_wait;
use crate::adapters::websocket::{self, Socket};
use kernel::chat::Presence;
use kernel::time::SharedClock;

/// Only intents that the team needs. Presences and members are privileged and left out.
const INTENTS: GatewayIntents = GatewayIntents::GUILDS
    .union(GatewayIntents::GUILD_MESSAGES)
    .union(GatewayIntents::GUILD_MESSAGE_REACTIONS)
    .union(GatewayIntents::DIRECT_MESSAGES)
    .union(GatewayIntents::DIRECT_MESSAGE_REACTIONS)
    .union(GatewayIntents::MESSAGE_CONTENT);

/// The close code that keeps the session. After 1000 and 1001 Discord ends the session.
const KEEPS_SESSION: u16 = 4000;
const ENDS_SESSION: u16 = 1000;

/// A session that another connection can resume.
#[derive(Debug, Clone)]
pub(super) struct GatewaySession {
    id: String,
    /// The address to resume it at.
    pub(super) url: String,
    seq: u64,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Stopped,
    /// The session can be resumed.
    Broken(String),
    /// The session is over. A new one is started: at once, or after a pause if Discord refused the session.
    Over {
        reason: String,
        refused: bool,
    },
    /// Discord lets nobody from this network address connect, for so long if it says so.
    Limited(Option<Duration>),
    /// Discord refuses the account with this close code. Trying again does not help.
    Refused(u16),
}

pub(super) struct Connection<'a> {
    pub(super) identity: &'a Identity,
    pub(super) gateway: &'a Gateway,
    pub(super) token: &'a str,
    pub(super) logins: &'a Logins,
    pub(super) timing: &'a Timing,
    pub(super) clock: &'a SharedClock,
    pub(super) identify_log: &'a dyn IdentifyLog,
    pub(super) stop: &'a CancellationToken,
}

/// The heartbeats of a connection.
struct Heart {
    interval: Duration,
    next: Instant,
    sent: Instant,
    acknowledged: bool,
}

impl Connection<'_> {
    /// Connects to `url` and stays until the connection ends. Resumes `session` if there is one, and stores there the session that can be resumed
    /// next. `up` is set by READY or RESUMED.
    pub(super) async fn run(&self, url: &str, session: &mut Option<GatewaySession>, up: &mut bool) -> End {
        // A wait for the turn of many logins is longer than Discord keeps a connection without heartbeats, so most of it comes before.
        let permit = if session.is_some() {
            None
        } else {
            tokio::select! {
                () = self.stop.cancelled() => return End::Stopped,
                permit = self.logins.may_open() => Some(permit),
            }
        };
        let opened = tokio::select! {
            () = self.stop.cancelled() => return End::Stopped,
            opened = tokio::time::timeout(self.timing.redial, open(url)) => opened,
        };
        let (mut socket, interval) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(end)) => return end,
            Err(_) => return End::Broken(format!("no connection within {:?}", self.timing.redial)),
        };
        let end = self.serve(&mut socket, interval, session, up, permit).await;
        let code = match &end {
            End::Stopped => ENDS_SESSION,
            _ => KEEPS_SESSION,
        };
        let close = async {
            let frame = CloseFrame { code: CloseCode::from(code), reason: "".into() };
            if socket.close(Some(frame)).await.is_ok() && end == End::Stopped {
                while let Some(Ok(_)) = socket.next().await {}
            }
        };
        // A dead connection does not answer.
        let _ = tokio::time::timeout(self.timing.shutdown, close).await;
        end
    }

    /// `permit` is that of the login, and ends with it.
    async fn serve(
        &self,
        socket: &mut Socket,
        interval: Duration,
        session: &mut Option<GatewaySession>,
        up: &mut bool,
        permit: Option<SemaphorePermit<'_>>,
    ) -> End {
        let mut presence = self.identity.watch_presence();
        let enter = match session {
            Some(session) => json!({ "op": 6, "d": { "token": self.token, "session_id": session.id, "seq": session.seq } }),
            None => identify(self.token, *presence.borrow_and_update()),
        };
        if session.is_some() {
            // The presence may have changed since it was last sent.
            presence.mark_changed();
        }
        if session.is_none() {
            // Taken only now, because Discord counts from one login to the next, however long the connection took.
            let turn = self.logins.take_turn(self.timing.login_spacing, Instant::now());
            tokio::select! {
                () = self.stop.cancelled() => return End::Stopped,
                () = tokio::time::sleep(turn) => {}
            }
            // Recorded before it is sent, so that logins count even if the process is killed again and again.
            self.record_identify().await;
        }
        if let Err(error) = send(socket, &enter).await {
            return End::Broken(describe(&error));
        }
        drop(permit);
        let began = Instant::now();
        let first = began + interval.mul_f64(fastrand::f64());
        let mut heart = Heart { interval, next: first, sent: began, acknowledged: true };
        loop {
            let late = began + self.timing.ready;
            let received = tokio::select! {
                () = self.stop.cancelled() => return End::Stopped,
                () = tokio::time::sleep_until(late), if !*up => {
                    return End::Broken(format!("no answer to the login within {:?}", self.timing.ready));
                }
                () = tokio::time::sleep_until(heart.next) => {
                    if !heart.acknowledged {
                        return End::Broken(format!("no heartbeat was answered for {interval:?}"));
                    }
                    if let Err(error) = heart.beat(socket, session.as_ref()).await {
                        return End::Broken(describe(&error));
                    }
                    continue;
                }
                changed = presence.changed(), if *up => {
                    // The identity outlives its connections.
                    let Ok(()) = changed else { return End::Stopped };
                    let update = json!({ "op": 3, "d": describe_presence(*presence.borrow_and_update()) });
                    if let Err(error) = send(socket, &update).await {
                        return End::Broken(describe(&error));
                    }
                    continue;
                }
                received = socket.next() => received,
            };
            let text = match received {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(frame))) => return end_of(frame.map(|frame| u16::from(frame.code))),
                Some(Ok(_)) => continue,
                Some(Err(error)) => return End::Broken(describe(&error)),
                None => return End::Broken("the connection was closed".to_owned()),
            };
            let Ok(Value::Object(mut payload)) = serde_json::from_str(&text) else {
                tracing::warn!(persona = %self.identity.persona, "a message of the gateway cannot be read");
                continue;
            };
            match payload.remove("op").and_then(|op| op.as_u64()) {
                Some(0) => {
                    let seq = payload.remove("s").and_then(|seq| seq.as_u64());
                    self.take_event(Value::Object(payload), seq, session, up);
                }
                Some(1) => {
                    if let Err(error) = heart.beat(socket, session.as_ref()).await {
                        return End::Broken(describe(&error));
                    }
                }
                Some(7) => return End::Broken("Discord asked to reconnect".to_owned()),
                Some(9) if payload.get("d") == Some(&Value::Bool(true)) => return End::Broken("the session was interrupted".to_owned()),
                Some(9) => return End::Over { reason: "the session is not valid any more".to_owned(), refused: true },
                Some(11) => {
                    heart.acknowledged = true;
                    self.identity.record_latency(heart.sent.elapsed());
                }
                _ => {}
            }
        }
    }

    async fn record_identify(&self) {
        if let Err(error) = self.identify_log.record(&self.identity.persona, self.clock.now()).await {
            tracing::error!(persona = %self.identity.persona, %error, "cannot record a login");
        }
    }

    fn take_event(&self, event: Value, seq: Option<u64>, session: &mut Option<GatewaySession>, up: &mut bool) {
        if let (Some(session), Some(seq)) = (session.as_mut(), seq) {
            session.seq = seq;
        }
        let event: Event = match serde_json::from_value(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(persona = %self.identity.persona, %error, "an event cannot be read");
                return;
            }
        };
        match &event {
            Event::Ready(ready) => {
                let url = ready.ready.resume_gateway_url.clone();
                *session = Some(GatewaySession { id: ready.ready.session_id.clone(), url, seq: seq.unwrap_or_default() });
                *up = true;
            }
            Event::Resumed(_) => *up = true,
            _ => {}
        }
        self.gateway.dispatch(event);
    }
}

impl Heart {
    async fn beat(&mut self, socket: &mut Socket, session: Option<&GatewaySession>) -> Result<(), SocketError> {
        send(socket, &json!({ "op": 1, "d": session.map(|session| session.seq) })).await?;
        (self.sent, self.next, self.acknowledged) = (Instant::now(), Instant::now() + self.interval, false);
        Ok(())
    }
}

/// Connects and waits for HELLO, which has the interval of heartbeats.
async fn open(url: &str) -> Result<(Socket, Duration), End> {
    let url = format!("{}/?v=10&encoding=json", url.trim_end_matches('/'));
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let mut socket = websocket::connect(&url, Some(config)).await.map_err(|error| not_opened(&error))?;
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => {
                let hello: Value =
                    serde_json::from_str(&text).map_err(|_| End::Broken("the gateway's greeting cannot be read".to_owned()))?;
                if let Some(millis) = hello["d"]["heartbeat_interval"].as_u64().filter(|_| hello["op"] == 10) {
                    return Ok((socket, Duration::from_millis(millis.max(1))));
                }
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Err(error)) => return Err(End::Broken(describe(&error))),
            Some(Ok(_)) | None => return Err(End::Broken("the connection was closed before it began".to_owned())),
        }
    }
}

fn identify(token: &str, presence: Presence) -> Value {
    json!({ "op": 2, "d": {
        "token": token, "intents": INTENTS.bits(), "large_threshold": 50, "compress": false, "shard": [0, 1],
        "properties": { "os": std::env::consts::OS, "browser": "teamroom", "device": "teamroom" },
        "presence": describe_presence(presence),
    } })
}

fn describe_presence(presence: Presence) -> Value {
    let (text, status) = match presence {
        Presence::Listening => (None, "online"),
        Presence::InMeeting => (Some("in a standup"), "online"),
        Presence::Paused => (Some("paused"), "idle"),
        Presence::OutOfBudget => (Some("out of budget"), "dnd"),
    };
    // Type 4 is a custom status, which shows the text in `state`.
    let activities: Vec<_> = text.into_iter().map(|text| json!({ "name": "Custom Status", "type": 4, "state": text })).collect();
    json!({ "since": null, "activities": activities, "status": status, "afk": false })
}

async fn send(socket: &mut Socket, payload: &Value) -> Result<(), SocketError> {
    socket.send(Message::text(payload.to_string())).await
}

/// What a close code means for the session, by Discord's table.
fn end_of(code: Option<u16>) -> End {
    match code {
        Some(code @ (4004 | 4010..=4014)) => End::Refused(code),
        // Not authenticated, an invalid sequence, a session that timed out.
        Some(code @ (4003 | 4007 | 4009)) => End::Over { reason: format!("Discord ended the session ({code})"), refused: false },
        Some(code) => End::Broken(format!("Discord closed the connection ({code})")),
        None => End::Broken("Discord closed the connection".to_owned()),
    }
}

/// Why there is no connection. A 429 comes from Discord's proxy and is meant for the network address.
fn not_opened(error: &SocketError) -> End {
    match error {
        SocketError::Http(answer) if answer.status().as_u16() == 429 => {
            End::Limited(answer.headers().get("retry-after").and_then(|value| read_wait(value.to_str().ok()?)))
        }
        error => End::Broken(describe(error)),
    }
}

/// Describes an error without the address.
fn describe(error: &SocketError) -> String {
    match error {
        SocketError::Io(error) => format!("the connection broke ({error})"),
        SocketError::Http(answer) => format!("the gateway answered HTTP {}", answer.status().as_u16()),
        SocketError::Tls(_) => "no secure connection".to_owned(),
        _ => "the connection broke".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_close_code_leads_to_the_step_that_discord_names() {
        for code in [4000, 4001, 4002, 4005, 4008, 1000, 1001, 1006] {
            assert!(matches!(end_of(Some(code)), End::Broken(_)), "{code}");
        }
        for code in [4003, 4007, 4009] {
            assert!(matches!(end_of(Some(code)), End::Over { refused: false, .. }), "{code}");
        }
        for code in [4004, 4010, 4011, 4012, 4013, 4014] {
            assert_eq!(end_of(Some(code)), End::Refused(code));
        }
        assert!(matches!(end_of(None), End::Broken(_)));
    }
}
