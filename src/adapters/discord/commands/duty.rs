//! Decides which account has the slash commands: the first that can, beginning with the coordinator's.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use serenity::all::ApplicationId;

use crate::adapters::discord::commands::{Interactions, registration};
use kernel::ids::PersonaSlug;

pub(crate) struct CommandDuty {
    /// All accounts, the coordinator's first.
    order: Vec<PersonaSlug>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    online: HashMap<PersonaSlug, (ApplicationId, Weak<Interactions>)>,
    /// Accounts that Discord refused, or that may not have commands.
    unable: HashSet<PersonaSlug>,
}

/// The relation of an account to the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// The commands are registered with it.
    Has,
    /// Another account has the commands. Those of this account are removed.
    Gave,
    /// The account that gets the commands is not online yet.
    Waits,
}

impl CommandDuty {
    pub(crate) fn new(order: Vec<PersonaSlug>) -> Self {
        Self { order, state: Mutex::default() }
    }

    pub(super) fn find(&self, persona: &PersonaSlug) -> Duty {
        let state = self.state();
        match self.holder(&state) {
            Some(holder) if holder == persona => Duty::Has,
            Some(holder) if state.online.contains_key(holder) => Duty::Gave,
            _ => Duty::Waits,
        }
    }

    pub(super) fn came_online(&self, interactions: &Arc<Interactions>, application: ApplicationId) {
        let persona = &interactions.credential.persona;
        let mut state = self.state();
        state.unable.remove(persona);
        state.online.insert(persona.clone(), (application, Arc::downgrade(interactions)));
        let has = self.holder(&state) == Some(persona);
        settle(state.online.iter().filter(|(online, _)| has || *online == persona));
    }

    pub(super) fn gave_up(&self, persona: &PersonaSlug) {
        let mut state = self.state();
        if state.unable.insert(persona.clone()) {
            state.online.remove(persona);
            settle(state.online.iter());
        }
    }

    fn holder(&self, state: &State) -> Option<&PersonaSlug> {
        self.order.iter().find(|persona| !state.unable.contains(*persona))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the duty")
    }
}

fn settle<'a>(accounts: impl Iterator<Item = (&'a PersonaSlug, &'a (ApplicationId, Weak<Interactions>))>) {
    for (_, (application, interactions)) in accounts {
        let Some(interactions) = interactions.upgrade() else { continue };
        let application = *application;
        interactions.runtime.clone().spawn(async move {
            let stop = interactions.stop.clone();
            tokio::select! {
                () = stop.cancelled() => {}
                () = registration::settle(&interactions, application) => {}
            }
        });
    }
}
