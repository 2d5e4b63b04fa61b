//! Fault injection: errors, delays, duplicates and lost connections, as they happen with the real platform.

use std::time::Duration;

use local_server::Counted;
use serde::{Deserialize, Serialize};

use super::faults::{ApiFault, ApiRule, EnvelopeFault, Faults};
use super::server::Core;
use super::socket::{DisconnectReason, End, Outgoing};

/// How a connection is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// A TCP reset.
    Reset,
    /// A close frame with this code.
    Close(u16),
    /// The end of the stream, without a close frame.
    WithoutCloseFrame,
}

/// One fault. `app` is a slug; `None` means all apps.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Switch {
    /// Answers the next calls of methods that begin with `method` wrongly.
    Api { app: Option<String>, method: String, times: u32, with: ApiFault },
    /// Loses the next acknowledgements, so that the envelopes are sent again.
    LoseAcknowledgements { app: Option<String>, times: u32 },
    /// Sends the next events once more on another connection, though they were acknowledged.
    Duplicate { app: Option<String>, times: u32 },
    /// Loses acknowledgements and sends events twice by chance. Probabilities are from 0 to 1. All zero removes the fault.
    Envelopes {
        app: Option<String>,
        #[serde(default)]
        lose_acknowledgement: f64,
        #[serde(default)]
        duplicate: f64,
    },
    /// Starts or stops sending each envelope after the one that follows it, or a second later if none does.
    Reorder { app: Option<String>, on: bool },
    /// Delays `hello` on the next connections.
    SlowHello { app: Option<String>, millis: u64, times: u32 },
    /// Never sends `hello` on the next connections.
    WithholdHello { app: Option<String>, times: u32 },
    /// Accepts the next connections without answering their upgrade request.
    IgnoreUpgrades { app: Option<String>, times: u32 },
    /// Sends a `disconnect` message now. After `warning` the connection stays open.
    Disconnect { app: Option<String>, reason: DisconnectReason },
    /// Drops the connections now.
    Drop { app: Option<String>, how: Cut },
    /// Makes the present connections half-open: they stay open, and nothing is sent or read on them, not even pings.
    HalfOpen { app: Option<String> },
    /// Ends each new connection after this many seconds. 0 restores the usual lifetime.
    Refresh { seconds: u64 },
    /// Revokes or restores a bot token. The app gets `tokens_revoked`.
    RevokeToken { app: String, on: bool },
    /// Takes a scope away, or gives it back.
    DropScope { app: String, scope: String, on: bool },
    /// Takes an app out of the workspace: its tokens are `account_inactive` and its connections end.
    Uninstall { app: String },
    /// Seeds the random numbers that choose connections and decide about faults.
    Seed { seed: u64 },
    /// Removes all faults, except revoked tokens, dropped scopes, removed apps and half-open connections.
    Behave,
}

/// A switch names an app that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no app with the slug {0:?}")]
pub struct UnknownApp(pub String);

impl Core {
    /// Sets one fault.
    pub(crate) fn misbehave(&mut self, switch: Switch) -> Result<(), UnknownApp> {
        if let Some(app) = named_app(&switch)
            && self.world.find_app(app).is_none()
        {
            return Err(UnknownApp(app.to_owned()));
        }
        match switch {
            Switch::Disconnect { app, reason } => {
                for socket in self.concerned(app.as_deref()) {
                    self.disconnect(socket, reason);
                }
            }
            Switch::Drop { app, how } => {
                let end = match how {
                    Cut::Reset => End::Reset,
                    Cut::Close(code) => End::Close(code),
                    Cut::WithoutCloseFrame => End::WithoutCloseFrame,
                };
                for socket in self.concerned(app.as_deref()) {
                    self.end(socket, end);
                }
            }
            Switch::HalfOpen { app } => {
                for socket in self.concerned(app.as_deref()) {
                    if let Some(socket) = self.sockets.get_mut(&socket) {
                        socket.half_open = true;
                        let _ = socket.frames.send(Outgoing::StopReading);
                    }
                }
            }
            Switch::RevokeToken { app, on } => self.revoke(&app, on),
            Switch::Uninstall { app } => self.uninstall(&app),
            Switch::DropScope { app, scope, on } => {
                for found in self.world.apps.values_mut().filter(|found| found.config.slug == app) {
                    _ = if on { found.scopes.remove(&scope) } else { found.scopes.insert(scope.clone()) };
                }
            }
            Switch::Seed { seed } => {
                self.random.seed(seed);
                self.faults.random.seed(seed);
            }
            Switch::Behave => self.faults = Faults::new(self.faults.random.clone()),
            lasting => arm(&mut self.faults, lasting),
        }
        Ok(())
    }

    /// The connections of one app or of all.
    fn concerned(&self, slug: Option<&str>) -> Vec<u64> {
        let is_concerned = |app: &str| slug.is_none_or(|slug| self.world.find_app(slug).is_some_and(|found| found.id == app));
        self.sockets.iter().filter(|(_, socket)| is_concerned(&socket.app)).map(|(number, _)| *number).collect()
    }
}

fn named_app(switch: &Switch) -> Option<&str> {
    match switch {
        Switch::Api { app, .. }
        | Switch::LoseAcknowledgements { app, .. }
        | Switch::Duplicate { app, .. }
        | Switch::Envelopes { app, .. }
        | Switch::Reorder { app, .. }
        | Switch::SlowHello { app, .. }
        | Switch::WithholdHello { app, .. }
        | Switch::IgnoreUpgrades { app, .. }
        | Switch::Disconnect { app, .. }
        | Switch::Drop { app, .. }
        | Switch::HalfOpen { app } => app.as_deref(),
        Switch::RevokeToken { app, .. } | Switch::DropScope { app, .. } | Switch::Uninstall { app } => Some(app),
        Switch::Refresh { .. } | Switch::Seed { .. } | Switch::Behave => None,
    }
}

/// Stores a fault for later calls, connections or envelopes.
fn arm(faults: &mut Faults, switch: Switch) {
    match switch {
        Switch::Api { app, method, times, with } => faults.api.push(Counted { client: app, times, fault: ApiRule { method, fault: with } }),
        Switch::LoseAcknowledgements { app, times } => faults.lose_acknowledgements.push(Counted { client: app, times, fault: () }),
        Switch::Duplicate { app, times } => faults.duplicate.push(Counted { client: app, times, fault: () }),
        Switch::Envelopes { app, lose_acknowledgement, duplicate } => {
            faults.envelopes.retain(|known| known.app != app);
            if lose_acknowledgement > 0.0 || duplicate > 0.0 {
                faults.envelopes.push(EnvelopeFault { app, lose_acknowledgement, duplicate });
            }
        }
        Switch::Reorder { app, on } => {
            faults.reorder.retain(|known| *known != app);
            if on {
                faults.reorder.push(app);
            }
        }
        Switch::SlowHello { app, millis, times } => {
            faults.slow_hello.push(Counted { client: app, times, fault: Duration::from_millis(millis) });
        }
        Switch::WithholdHello { app, times } => faults.withhold_hello.push(Counted { client: app, times, fault: () }),
        Switch::IgnoreUpgrades { app, times } => faults.ignore_upgrades.push(Counted { client: app, times, fault: () }),
        Switch::Refresh { seconds } => faults.refresh = (seconds > 0).then(|| Duration::from_secs(seconds)),
        // `misbehave` handles all other switches itself.
        _ => {}
    }
}
