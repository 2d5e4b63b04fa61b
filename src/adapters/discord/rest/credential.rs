use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use crate::adapters::discord::rest::failure::Failure;
use crate::adapters::discord::rest::limits::{Limits, Route};
use kernel::ids::PersonaSlug;

/// How long a refusal for a missing permission is cached. Each refusal counts towards the ban of the IP address, so one persona without
/// permission must not use up the budget of the others.
const DENIAL: Duration = Duration::from_mins(5);

/// A persona's token and its rate limits.
pub(crate) struct Credential {
    pub(crate) persona: PersonaSlug,
    /// The persona's name, for messages to people.
    pub(crate) name: String,
    authorization: HeaderValue,
    limits: Mutex<Limits>,
    denials: Mutex<HashMap<(Route, &'static str), Denial>>,
    revoked: AtomicBool,
}

struct Denial {
    until: Instant,
    failure: Failure,
}

impl Credential {
    /// None if the token contains invalid characters.
    pub(crate) fn new(persona: PersonaSlug, name: String, token: &SecretString) -> Option<Self> {
        let mut authorization = HeaderValue::from_str(&format!("Bot {}", token.expose_secret().trim())).ok()?;
        authorization.set_sensitive(true);
        let (limits, denials) = (Mutex::default(), Mutex::default());
        Some(Self { persona, name, authorization, limits, denials, revoked: AtomicBool::new(false) })
    }

    /// Marks the token as invalid. True for the first caller.
    pub(crate) fn revoke(&self) -> bool {
        !self.revoked.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Forgets cached refusals, because permissions have changed.
    pub(crate) fn forgive(&self) {
        self.denials().clear();
    }

    pub(super) fn find_denial(&self, route: &Route, needs: &'static str, now: Instant) -> Option<Failure> {
        let denials = self.denials();
        let denial = denials.get(&(route.clone(), needs))?;
        (denial.until > now).then(|| denial.failure.clone())
    }

    pub(super) fn record_denial(&self, route: Route, needs: &'static str, failure: Failure, now: Instant) {
        let mut denials = self.denials();
        denials.retain(|_, denial| denial.until > now);
        denials.insert((route, needs), Denial { until: now + DENIAL, failure });
    }

    pub(super) fn authorization(&self) -> HeaderValue {
        self.authorization.clone()
    }

    pub(super) fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().expect("no code panics while it holds the limits")
    }

    fn denials(&self) -> MutexGuard<'_, HashMap<(Route, &'static str), Denial>> {
        self.denials.lock().expect("no code panics while it holds the denials")
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Method;

    use super::*;

    fn credential(token: &str) -> Option<Credential> {
        Credential::new("vince".into(), "Vince".to_owned(), &token.to_owned().into())
    }

    #[test]
    fn a_token_with_a_line_break_inside_is_no_token() {
        assert!(credential("abc\ndef").is_none());
        assert!(credential(" abc\n").is_some_and(|credential| !format!("{:?}", credential.authorization()).contains("abc")));
    }

    #[test]
    fn a_denial_holds_for_its_route_and_permissions_until_they_change() {
        let (credential, now) = (credential("abc").unwrap(), Instant::now());
        let route = |channel: u8| Route::of(&Method::POST, &format!("/channels/{channel}/messages"));
        credential.record_denial(route(1), "Send Messages", Failure::refused("no"), now);
        let find = |channel, needs, at| credential.find_denial(&route(channel), needs, at).is_some();
        assert!(find(1, "Send Messages", now));
        assert!(!find(1, "Attach Files", now) && !find(2, "Send Messages", now) && !find(1, "Send Messages", now + DENIAL));
        credential.forgive();
        assert!(!find(1, "Send Messages", now));
    }
}
