//! Envelopes: sending, acknowledgements and retries.
//!
//! An event that is not acknowledged is sent again, to any connection of the app and in a new envelope. Its `event_id`
//! stays. A command or an interaction is sent once; the person sees an error.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Outgoing, Pending};
use crate::server::Core;
use crate::state::{Delivery, DeliveryKind, Progress};
use crate::timers::Timer;

/// How long [`crate::Switch::Reorder`] waits for a second envelope.
const HOLD: Duration = Duration::from_secs(1);

/// The most acknowledgements whose duration is recorded.
const MEASURED: usize = 100_000;

impl Core {
    /// Sends an envelope to an app. With [`crate::Switch::Reorder`] holds it back, so that the next one overtakes it.
    pub(crate) fn send_in_order(&mut self, delivery: Delivery) {
        let now = self.now();
        let slug = self.slug(&delivery.app);
        let app = delivery.app.clone();
        let held = self.held.remove(&app);
        if held.is_none() && self.faults.reorders(&slug) {
            self.held.insert(app.clone(), delivery);
            self.timers.set(now + HOLD, Timer::Release(app));
            return;
        }
        for delivery in std::iter::once(delivery).chain(held) {
            self.send_envelope(Pending { delivery, attempt: 0, sent: now }, now);
        }
    }

    pub(crate) fn release(&mut self, app: &str) {
        if let Some(delivery) = self.held.remove(app) {
            let now = self.now();
            self.send_envelope(Pending { delivery, attempt: 0, sent: now }, now);
        }
    }

    /// Sends an envelope to one of its app's connections. `now` is the time at which it was due.
    pub(crate) fn send_envelope(&mut self, pending: Pending, now: Duration) {
        let app = &pending.delivery.app;
        let connections: Vec<u64> =
            self.sockets.iter().filter(|(_, socket)| socket.app == *app && socket.ready).map(|(number, _)| *number).collect();
        let Some(&number) = (!connections.is_empty()).then(|| &connections[self.random.usize(..connections.len())]) else {
            return self.undeliverable(pending, now);
        };
        let envelope = self.envelope_id();
        self.write(number, Outgoing::Text(render(&pending, &envelope)));
        let slug = self.slug(&pending.delivery.app);
        if pending.delivery.kind == DeliveryKind::Event && self.faults.duplicates(&slug) {
            let others: Vec<u64> = connections.iter().copied().filter(|other| *other != number).collect();
            let other = if others.is_empty() { number } else { others[self.random.usize(..others.len())] };
            let again = Pending { delivery: pending.delivery.clone(), attempt: pending.attempt + 1, sent: now };
            let copy = self.envelope_id();
            self.write(other, Outgoing::Text(render(&again, &copy)));
        }
        self.timers.set(now + self.world.windows.acknowledgement, Timer::Unacknowledged(envelope.clone()));
        self.pending.insert(envelope, Pending { sent: self.now(), ..pending });
    }

    fn envelope_id(&mut self) -> String {
        let hex = format!("{:032x}", self.random.u128(..));
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }

    /// No connection is there to send it to.
    fn undeliverable(&mut self, pending: Pending, now: Duration) {
        match pending.delivery.interaction.clone() {
            Some(interaction) => self.progress(&interaction, Progress::Failed("dispatch_failed")),
            None => self.retry(pending, now),
        }
    }

    /// Called when an envelope was not acknowledged in time: tells the person, or sends the event again.
    pub(crate) fn unacknowledged(&mut self, envelope: &str, due: Duration) {
        let Some(pending) = self.pending.remove(envelope) else { return };
        match pending.delivery.interaction.clone() {
            Some(interaction) => self.progress(&interaction, Progress::Failed("operation_timeout")),
            None => self.retry(pending, due),
        }
    }

    /// Slack gives an event up after three retries.
    fn retry(&mut self, pending: Pending, now: Duration) {
        let Some(pause) = self.world.windows.retries.get(pending.attempt).copied() else { return };
        let again = Pending { attempt: pending.attempt + 1, ..pending };
        self.timers.set(now + pause, Timer::Retry(Box::new(again)));
    }

    /// A text frame of a client.
    pub(crate) fn received(&mut self, number: u64, text: &str) {
        let Some(socket) = self.sockets.get(&number).filter(|socket| !socket.half_open) else { return };
        let app = socket.app.clone();
        let Ok(message) = serde_json::from_str::<Value>(text) else { return };
        let Some(envelope) = message["envelope_id"].as_str() else { return };
        // Any connection of the app may acknowledge. An unknown or late envelope is not an error.
        if self.pending.get(envelope).is_none_or(|pending| pending.delivery.app != app) {
            return;
        }
        let slug = self.slug(&app);
        if self.faults.loses_acknowledgement(&slug) {
            return;
        }
        let Some(pending) = self.pending.remove(envelope) else { return };
        if self.acknowledgements.len() < MEASURED {
            self.acknowledgements.push(self.now().saturating_sub(pending.sent));
        }
        if let Some(interaction) = pending.delivery.interaction.clone() {
            let payload = message["payload"].clone();
            self.acknowledged(&pending.delivery, &payload);
            self.progress(&interaction, Progress::Acknowledged(payload));
        }
        self.flush();
    }

    fn progress(&mut self, interaction: &str, progress: Progress) {
        self.world.interactions.insert(interaction.to_owned(), progress);
        self.changes.send_modify(|number| *number += 1);
    }
}

fn render(pending: &Pending, envelope: &str) -> String {
    let delivery = &pending.delivery;
    let kind = match delivery.kind {
        DeliveryKind::Event => "events_api",
        DeliveryKind::Command => "slash_commands",
        DeliveryKind::Interaction => "interactive",
    };
    let mut message = json!({ "envelope_id": envelope, "type": kind, "payload": delivery.payload });
    let is_submission = delivery.payload["type"] == "view_submission";
    message["accepts_response_payload"] = json!(delivery.kind == DeliveryKind::Command || is_submission);
    if delivery.kind == DeliveryKind::Event {
        message["retry_attempt"] = json!(pending.attempt);
        message["retry_reason"] = json!(if pending.attempt == 0 { "" } else { "timeout" });
    }
    message.to_string()
}
