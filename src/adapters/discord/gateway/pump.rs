use std::sync::Arc;

use serenity::model::channel::Message;
use tokio::sync::mpsc;

use crate::adapters::discord::gateway::Hub;
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::rest::{Credential, Rest};
use kernel::chat::PlatformEvent;
use kernel::ids::PersonaSlug;

/// An event on its way from an identity's thread to the team.
pub(crate) enum Incoming {
    Event(PlatformEvent),
    /// A message in an unknown channel, such as a thread from before the start.
    Unplaced {
        message: Box<Message>,
        seen_by: PersonaSlug,
        complete: bool,
    },
}

/// Forwards the identities' events to the team, in order, on the main runtime. Gateway threads only send to it and never block. Ends when
/// the receiver of `events` is dropped.
pub(crate) async fn pump(
    mut incoming: mpsc::UnboundedReceiver<Incoming>,
    events: mpsc::Sender<PlatformEvent>,
    hub: Arc<Hub>,
    rest: Arc<Rest>,
    readers: Vec<Arc<Credential>>,
) {
    loop {
        let next = tokio::select! {
            next = incoming.recv() => next,
            () = events.closed() => None,
        };
        let Some(next) = next else { return };
        let event = match next {
            Incoming::Event(event) => event,
            Incoming::Unplaced { mut message, seen_by, complete } => {
                if let Some(reader) = readers.iter().find(|reader| reader.persona == seen_by) {
                    place(&hub, &rest, reader, &message).await;
                }
                message.content = hub.accounts.without_roles(&message.content).into_owned();
                let kind = hub.accounts.kind_of(&message);
                let channel = hub.channels.describe(message.channel_id);
                PlatformEvent::Message(Box::new(hub.read(*message, channel, kind, seen_by, complete)))
            }
        };
        if events.send(event).await.is_err() {
            return;
        }
    }
}

/// Looks a channel up once. If the lookup fails, the message is forwarded without the channel's name.
async fn place(hub: &Hub, rest: &Rest, reader: &Credential, message: &Message) {
    if hub.channels.knows(message.channel_id) {
        return;
    }
    match rest.get_channel(reader, &from_discord(message.channel_id)).await {
        Ok(found) => {
            hub.channels.record_found(&found, &reader.persona);
            if let Some(parent) = hub.channels.find_parent(message.channel_id).filter(|parent| !hub.channels.knows(*parent))
                && let Ok(parent) = rest.get_channel(reader, &from_discord(parent)).await
            {
                hub.channels.record_found(&parent, &reader.persona);
            }
        }
        Err(failure) => {
            tracing::warn!(channel = %message.channel_id, %failure, "a channel could not be looked up");
            hub.channels.record_unknown(message.channel_id);
        }
    }
}
