//! Who may give commands, and the refusal for everybody else.

use std::sync::Arc;

use async_trait::async_trait;

use super::ChatCommands;
use crate::features::chat::rules::authorize::{Action, Denied, authorize};
use crate::features::chat::settings::ChatSettings;
use kernel::chat::medium::Medium;
use kernel::chat::message::{Author, AuthorKind, Channel};
use kernel::commands::{Authorize, Authorizer, Caller, Late, Refused, Right, Services};
use kernel::ids::UserId;

/// The most operators that a refusal names, and the most characters of each name.
const NAMED: usize = 8;
const NAME: usize = 40;

/// Authorises commands and buttons with the lists in `[chat]`.
pub fn authorizer(settings: ChatSettings, services: &Services) -> Authorize {
    Arc::new(Permission { settings, chat: services.late() })
}

struct Permission {
    settings: ChatSettings,
    /// Finds people and roles by name.
    chat: Late<ChatCommands>,
}

#[async_trait]
impl Authorizer for Permission {
    fn check(&self, right: Right, caller: &Caller, channel: &Channel) -> Result<(), Refused> {
        self.decide(right, caller, channel).map_err(|denied| match denied {
            Denied::Unheard(reason) => Refused::new(format!("Not here: {}.", reason.explain())),
            Denied::NotAnOperator => Refused::new("Only operators can do that."),
        })
    }

    async fn explain(&self, refused: Refused, right: Right, caller: &Caller, channel: &Channel) -> Refused {
        if self.decide(right, caller, channel) != Err(Denied::NotAnOperator) {
            return refused;
        }
        Refused::new(match self.settings.operators.as_slice() {
            [] => "Only people who may manage this server can do that. `chat.operators` in the settings can name others.".to_owned(),
            operators => format!("Only operators can do that: {}.", enumerate(self.name(operators).await)),
        })
    }
}

impl Permission {
    fn decide(&self, right: Right, caller: &Caller, channel: &Channel) -> Result<(), Denied> {
        let Caller::Person { id, name, roles } = caller else { return Ok(()) };
        let author = Author { id: id.clone(), name: name.clone(), aliases: Vec::new(), roles: roles.clone(), kind: AuthorKind::Person };
        let action = match right {
            Right::Own => Action::Answer,
            Right::Anybody => Action::Speak,
            Right::Operator => Action::Operate,
        };
        authorize(action, &author, channel, &self.settings)
    }

    /// The names of these users and roles. An id without a known name stays.
    async fn name(&self, operators: &[String]) -> Vec<String> {
        let chat = self.chat.get().ok();
        let people = match &chat {
            Some(chat) => chat.people.directory().await.inspect_err(|error| tracing::warn!(%error, "the operators cannot be named")).ok(),
            None => None,
        };
        let platform = chat.as_ref().and_then(|chat| chat.platform.as_ref());
        let name = |id: &String| {
            let person = people.as_ref().and_then(|people| people.get(&UserId::new(id.as_str())));
            let role = || Some(format!("the role {}", shown(&platform?.find_role(id)?)));
            // People know ids without their platform.
            let bare = || id.split_once(':').map_or(id.as_str(), |(_, id)| id).to_owned();
            person.map(|person| shown(&person.name)).or_else(role).unwrap_or_else(bare)
        };
        operators.iter().map(name).collect()
    }
}

fn shown(name: &str) -> String {
    Medium::Chat.line_within(name, NAME)
}

/// "Ann", "Ann or Ben", "Ann, Ben or the role Ops".
fn enumerate(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        names.truncate(NAMED);
        names.push(if more == 1 { "one other".to_owned() } else { format!("{more} others") });
    }
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_enumerated_as_in_a_sentence() {
        let names = |count: usize| (1..=count).map(|number| format!("P{number}")).collect::<Vec<_>>();
        assert_eq!(enumerate(names(1)), "P1");
        assert_eq!(enumerate(names(2)), "P1 or P2");
        assert_eq!(enumerate(names(3)), "P1, P2 or P3");
        assert_eq!(enumerate(names(9)), "P1, P2, P3, P4, P5, P6, P7, P8 or one other");
        assert!(enumerate(names(12)).ends_with("P8 or 4 others"));
    }
}
