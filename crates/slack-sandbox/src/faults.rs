//! The active faults, and how they change the next call, connection or envelope. `misbehave` sets them.

use std::time::Duration;

use local_server::{Counted, take};
use serde::{Deserialize, Serialize};

/// A wrong or missing answer to a call of the Web API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiFault {
    /// 429 with `Retry-After` in seconds.
    RateLimited(u64),
    /// An empty answer with this HTTP status, such as 500 or 503.
    Status(u16),
    /// 200 with `ok: false` and this error, such as `internal_error`. The call is not run.
    Error(String),
    /// This error for a message with blocks or attachments: `invalid_blocks`. Other calls are run.
    Blocks(String),
    /// 200 with a HTML page, as a proxy or a sign-in page gives.
    Html,
    /// No answer.
    Hang,
    /// The connection is closed without an answer. The call is not run.
    Close,
    /// A connection reset before the call is run.
    ResetBefore,
    /// A connection reset after the call was run: a message is posted, and the client does not know.
    ResetAfter,
}

/// The calls that an [`ApiFault`] applies to.
#[derive(Clone, Debug)]
pub(crate) struct ApiRule {
    /// Prefix of the method: `chat.`, or all of `chat.postMessage`. Empty for all.
    pub(crate) method: String,
    pub(crate) fault: ApiFault,
}

/// Chances that the acknowledgement of an envelope is lost, or that an event is sent twice.
#[derive(Clone, Debug)]
pub(crate) struct EnvelopeFault {
    pub(crate) app: Option<String>,
    pub(crate) lose_acknowledgement: f64,
    pub(crate) duplicate: f64,
}

#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) api: Vec<Counted<ApiRule>>,
    pub(crate) lose_acknowledgements: Vec<Counted<()>>,
    pub(crate) duplicate: Vec<Counted<()>>,
    pub(crate) withhold_hello: Vec<Counted<()>>,
    pub(crate) slow_hello: Vec<Counted<Duration>>,
    pub(crate) ignore_upgrades: Vec<Counted<()>>,
    pub(crate) envelopes: Vec<EnvelopeFault>,
    pub(crate) random: fastrand::Rng,
    /// Slugs of the apps whose envelopes are sent out of order; `None` for all.
    pub(crate) reorder: Vec<Option<String>>,
    /// A shorter lifetime of all new connections.
    pub(crate) refresh: Option<Duration>,
}

impl Faults {
    /// No faults. `random` decides about later faults that happen by chance.
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self { random, ..Self::default() }
    }

    pub(crate) fn take_api_fault(&mut self, app: Option<&str>, method: &str) -> Option<ApiFault> {
        take(&mut self.api, app, |rule| method.starts_with(&rule.method)).map(|rule| rule.fault)
    }

    pub(crate) fn loses_acknowledgement(&mut self, app: &str) -> bool {
        let by_chance = self.happens(app, |fault| fault.lose_acknowledgement);
        take(&mut self.lose_acknowledgements, Some(app), |()| true).is_some() || by_chance
    }

    pub(crate) fn duplicates(&mut self, app: &str) -> bool {
        let by_chance = self.happens(app, |fault| fault.duplicate);
        take(&mut self.duplicate, Some(app), |()| true).is_some() || by_chance
    }

    fn happens(&mut self, app: &str, chance: impl Fn(&EnvelopeFault) -> f64) -> bool {
        let concerned = self.envelopes.iter().filter(|fault| fault.app.as_deref().is_none_or(|concerned| concerned == app));
        let chance = concerned.map(chance).fold(0.0, f64::max);
        chance > 0.0 && self.random.f64() < chance
    }

    pub(crate) fn withholds_hello(&mut self, app: &str) -> bool {
        take(&mut self.withhold_hello, Some(app), |()| true).is_some()
    }

    pub(crate) fn delays_hello(&mut self, app: &str) -> Duration {
        take(&mut self.slow_hello, Some(app), |_| true).unwrap_or_default()
    }

    pub(crate) fn ignores_upgrade(&mut self, app: &str) -> bool {
        take(&mut self.ignore_upgrades, Some(app), |()| true).is_some()
    }

    pub(crate) fn reorders(&self, app: &str) -> bool {
        self.reorder.iter().any(|concerned| concerned.as_deref().is_none_or(|concerned| concerned == app))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_api_is_for_methods_with_its_prefix() {
        let mut faults = Faults::default();
        let rule = ApiRule { method: "chat.".to_owned(), fault: ApiFault::Html };
        faults.api.push(Counted { client: None, times: 1, fault: rule });
        assert_eq!(faults.take_api_fault(Some("kelly"), "users.info"), None);
        assert_eq!(faults.take_api_fault(None, "chat.update"), Some(ApiFault::Html));
    }
}
