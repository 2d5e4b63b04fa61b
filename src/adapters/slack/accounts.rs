//! The apps of the team: one shared app, and the apps of personas that have their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use kernel::chat::{IdentityState, IdentityStatus};
use kernel::ids::{PersonaSlug, UserId};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;

use crate::adapters::slack::api::{Credential, Token};
use crate::adapters::slack::ids::{PLATFORM, user_id};
use crate::adapters::slack::settings::{AppTokens, SlackSettings};

/// One app of the team.
pub(super) struct App {
    /// The persona whose app it is. The coordinator's app also serves all personas without one.
    pub(super) persona: PersonaSlug,
    pub(super) speaking: Credential,
    pub(super) listening: Credential,
    state: Mutex<State>,
}

#[derive(Debug, Clone)]
struct State {
    at: IdentityState,
    account: Option<Account>,
    is_agent: bool,
    trouble: Option<String>,
    /// That trouble is a token which is not accepted.
    is_refused: bool,
}

/// The account of an app, as Slack names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) user: String,
    pub(super) bot: String,
}

impl App {
    fn new(persona: PersonaSlug, tokens: &AppTokens) -> Self {
        let credential = |kind, token: &secrecy::SecretString| Credential { persona: persona.clone(), kind, token: token.clone() };
        let state = State { at: IdentityState::Connecting, account: None, is_agent: false, trouble: None, is_refused: false };
        Self {
            speaking: credential(Token::Bot, &tokens.bot),
            listening: credential(Token::App, &tokens.app),
            persona,
            state: Mutex::new(state),
        }
    }

    pub(super) fn account(&self) -> Option<Account> {
        self.state().account.clone()
    }

    pub(super) fn set_account(&self, account: Account) {
        self.state().account = Some(account);
    }

    /// Whether Slack shows that it works, with a button to stop it.
    pub(super) fn is_agent(&self) -> bool {
        self.state().is_agent
    }

    pub(super) fn set_agent(&self, is_agent: bool) {
        self.state().is_agent = is_agent;
    }

    pub(super) fn set_online(&self) {
        let mut state = self.state();
        (state.at, state.trouble) = (IdentityState::Ready, None);
    }

    pub(super) fn set_offline(&self) {
        self.state().at = IdentityState::Reconnecting;
    }

    /// Notes a problem of the app. True if it is a new one.
    pub(super) fn note_trouble(&self, text: &str, is_final: bool) -> bool {
        let mut state = self.state();
        if is_final {
            state.at = IdentityState::Down;
        }
        let is_new = state.trouble.as_deref() != Some(text);
        state.trouble = Some(text.to_owned());
        is_new
    }

    /// Notes that Slack does not accept the token, or does so again.
    pub(super) fn note_refused(&self, is_refused: bool) {
        let mut state = self.state();
        if state.is_refused && !is_refused {
            state.trouble = None;
        }
        state.is_refused = is_refused;
    }

    /// Whether the app can make calls, as far as is known.
    pub(super) fn can_speak(&self) -> bool {
        let state = self.state();
        state.account.is_some() && state.at != IdentityState::Down
    }

    fn status(&self, persona: &PersonaSlug) -> IdentityStatus {
        let state = self.state();
        let account = state.account.as_ref().map(|account| user_id(&account.user));
        IdentityStatus {
            persona: persona.clone(),
            platform: PLATFORM,
            state: state.at,
            account,
            latency: None,
            trouble: state.trouble.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the state")
    }
}

pub(super) struct Apps {
    coordinator: PersonaSlug,
    by_persona: BTreeMap<PersonaSlug, Arc<App>>,
    /// The team's shared app is used, and the coordinator has no app of its own.
    has_team_app: bool,
}

impl Apps {
    pub(super) fn new(settings: &SlackSettings, roster: &Roster) -> Self {
        let coordinator = roster.coordinator().slug.clone();
        let mut tokens: BTreeMap<PersonaSlug, &AppTokens> = settings.team.iter().map(|tokens| (coordinator.clone(), tokens)).collect();
        // A token without a persona is reported with the settings, and not used.
        tokens.extend(settings.own.iter().filter(|(slug, _)| roster.find(slug).is_some()).map(|(slug, tokens)| (slug.clone(), tokens)));
        let has_team_app = settings.team.is_some() && !settings.own.contains_key(&coordinator);
        let by_persona = tokens.into_iter().map(|(slug, tokens)| (slug.clone(), Arc::new(App::new(slug, tokens)))).collect();
        Self { coordinator, by_persona, has_team_app }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<App>> {
        self.by_persona.values()
    }

    /// The app that a persona speaks through: its own, else the coordinator's, else any.
    pub(super) fn of(&self, persona: &PersonaSlug) -> Option<&Arc<App>> {
        self.by_persona.get(persona).or_else(|| self.by_persona.get(&self.coordinator)).or_else(|| self.by_persona.values().next())
    }

    /// Whether a persona speaks through this app.
    pub(super) fn is_of(&self, app: &App, persona: &Persona) -> bool {
        self.of(&persona.slug).is_some_and(|of| of.persona == app.persona)
    }

    /// Whether a persona has no app of its own, so that each of its messages says who speaks.
    pub(super) fn shares_an_app(&self, persona: &PersonaSlug) -> bool {
        !self.by_persona.contains_key(persona) || (self.has_team_app && *persona == self.coordinator)
    }

    /// The apps that can make calls: first that of `first`, then the coordinator's.
    pub(super) fn readers(&self, first: Option<&PersonaSlug>) -> Vec<&Arc<App>> {
        let mut readers: Vec<_> = self.by_persona.values().filter(|app| app.can_speak()).collect();
        readers.sort_by_key(|app| (Some(&app.persona) != first, app.persona != self.coordinator));
        readers
    }

    /// The persona whose app has this user or bot id.
    pub(super) fn find_account(&self, id: &str) -> Option<&PersonaSlug> {
        let is_it = |app: &&Arc<App>| app.account().is_some_and(|account| account.user == id || account.bot == id);
        self.by_persona.values().find(is_it).map(|app| &app.persona)
    }

    pub(super) fn coordinator(&self) -> &PersonaSlug {
        &self.coordinator
    }

    pub(super) fn statuses(&self, roster: &Roster) -> Vec<IdentityStatus> {
        let guest = |persona: &PersonaSlug| IdentityStatus {
            persona: persona.clone(),
            platform: PLATFORM,
            state: IdentityState::Webhook,
            account: None,
            latency: None,
            trouble: None,
        };
        let status = |slug: &PersonaSlug| self.by_persona.get(slug).map_or_else(|| guest(slug), |app| app.status(slug));
        roster.personas().iter().map(|persona| status(&persona.slug)).collect()
    }
}

impl Account {
    pub(super) fn id(&self) -> UserId {
        user_id(&self.user)
    }
}
