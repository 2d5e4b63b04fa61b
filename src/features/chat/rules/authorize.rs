//! Permissions. Messages, commands and buttons all use this one function, so that no entry point skips the lists.

use crate::features::chat::model::decision::Reason;
use crate::features::chat::settings::{ChatSettings, Outsiders};
use kernel::chat::message::{Author, Channel, GUEST, Place, SERVER_MANAGER, STRANGER};

/// An action that needs permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Answer a private question of the team.
    Answer,
    /// Send messages and read what the team shows.
    Speak,
    /// Change how the team works: halt, resume, pause.
    Operate,
}

/// The entry of `operators` that means everybody.
const EVERYBODY: &str = "*";

/// Why an action is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    /// The message is ignored, for this reason.
    #[error("{}", .0.explain())]
    Unheard(Reason),
    #[error("only an operator may do that")]
    NotAnOperator,
}

/// Whether `author` may do this in `channel`. Uses only account and role ids.
pub(crate) fn authorize(action: Action, author: &Author, channel: &Channel, settings: &ChatSettings) -> Result<(), Denied> {
    let direct = channel.place == Place::Direct;
    if !direct && !is_allowed(channel, &settings.allowed_channels) {
        return Err(Denied::Unheard(Reason::ChannelNotAllowed));
    }
    // Where people of another company read the channel, the team speaks only if its settings list allowed channels.
    if channel.shared && settings.outsiders != Outsiders::Everybody && settings.allowed_channels.is_empty() {
        return Err(Denied::Unheard(Reason::SharedChannel));
    }
    // A listed bot need not also be on the list of people.
    let listed =
        settings.allowed_users.is_empty() || settings.allowed_users.contains(&author.id) || settings.allowed_bots.contains(&author.id);
    let is_foreign = match settings.outsiders {
        Outsiders::Nobody => has_role(author, GUEST) || has_role(author, STRANGER),
        Outsiders::Guests => has_role(author, STRANGER),
        Outsiders::Everybody => false,
    };
    if is_foreign {
        return Err(Denied::Unheard(Reason::Outsider));
    }
    if !listed {
        return Err(Denied::Unheard(Reason::AuthorNotAllowed));
    }
    if direct && !settings.direct_messages && action != Action::Answer {
        return Err(Denied::Unheard(Reason::DirectMessagesOff));
    }
    if action == Action::Operate && !is_operator(author, &settings.operators) {
        return Err(Denied::NotAnOperator);
    }
    Ok(())
}

/// Those who are listed, or those who may manage the server if nobody is.
fn is_operator(author: &Author, operators: &[String]) -> bool {
    if operators.is_empty() {
        return has_role(author, SERVER_MANAGER);
    }
    operators.iter().any(|listed| listed == EVERYBODY || listed == author.id.as_str() || author.roles.contains(listed))
}

fn has_role(author: &Author, role: &str) -> bool {
    author.roles.iter().any(|known| known == role)
}

/// By id or name. A thread is allowed if its parent is.
fn is_allowed(channel: &Channel, allowed: &[String]) -> bool {
    let named = |entry: &str, id: &str, name: &str| entry == id || entry.trim_start_matches('#').eq_ignore_ascii_case(name);
    allowed.is_empty()
        || allowed.iter().any(|entry| {
            named(entry, channel.id.as_str(), &channel.name)
                || matches!(&channel.place, Place::Thread { parent, parent_name, .. } if named(entry, parent.as_str(), parent_name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::chat::message::AuthorKind;

    fn author(id: &str, roles: &[&str]) -> Author {
        let roles = roles.iter().map(ToString::to_string).collect();
        Author { id: id.into(), name: "Kelly".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles }
    }

    fn channel(place: Place) -> Channel {
        Channel { id: "7".into(), name: "general".into(), place, private: false, shared: false }
    }

    #[test]
    fn guests_are_heard_and_strangers_only_where_a_setting_says_so() {
        let general = channel(Place::Server);
        let who = |role: &str| author("1", &[role]);
        for (outsiders, guest, stranger) in
            [(Outsiders::Nobody, false, false), (Outsiders::Guests, true, false), (Outsiders::Everybody, true, true)]
        {
            let settings = ChatSettings { outsiders, ..ChatSettings::default() };
            let is_heard = |role: &str| authorize(Action::Speak, &who(role), &general, &settings).is_ok();
            assert_eq!((is_heard(GUEST), is_heard(STRANGER), is_heard("ops")), (guest, stranger, true), "{outsiders:?}");
        }
    }

    #[test]
    fn a_channel_that_another_company_reads_is_left_alone_unless_it_is_listed() {
        let partners = Channel { shared: true, ..channel(Place::Server) };
        let asked = |settings: &ChatSettings| authorize(Action::Speak, &author("1", &[]), &partners, settings);
        assert_eq!(asked(&ChatSettings::default()), Err(Denied::Unheard(Reason::SharedChannel)));
        assert_eq!(asked(&ChatSettings { allowed_channels: vec!["general".into()], ..ChatSettings::default() }), Ok(()));
        assert_eq!(asked(&ChatSettings { outsiders: Outsiders::Everybody, ..ChatSettings::default() }), Ok(()));
    }

    #[test]
    fn operators_are_listed_by_account_or_role_and_else_manage_the_server() {
        let mut settings = ChatSettings::default();
        let general = channel(Place::Server);
        let try_it = |settings: &ChatSettings, author: &Author| authorize(Action::Operate, author, &general, settings);
        assert_eq!(try_it(&settings, &author("1", &[])), Err(Denied::NotAnOperator));
        assert_eq!(try_it(&settings, &author("1", &[SERVER_MANAGER])), Ok(()));
        settings.operators = vec!["2".into(), "ops-role".into()];
        assert_eq!(try_it(&settings, &author("1", &[SERVER_MANAGER])), Err(Denied::NotAnOperator), "others are listed");
        assert_eq!(try_it(&settings, &author("1", &[])), Err(Denied::NotAnOperator));
        assert_eq!(try_it(&settings, &author("2", &[])), Ok(()));
        assert_eq!(try_it(&settings, &author("1", &["ops-role"])), Ok(()));
        settings.operators = vec![EVERYBODY.into()];
        assert_eq!(try_it(&settings, &author("1", &[])), Ok(()));
    }

    #[test]
    fn the_lists_hold_for_every_action() {
        let mut settings = ChatSettings { allowed_channels: vec!["#Other".into()], ..ChatSettings::default() };
        let refused = |settings: &ChatSettings, place| authorize(Action::Speak, &author("1", &[]), &channel(place), settings);
        assert_eq!(refused(&settings, Place::Server), Err(Denied::Unheard(Reason::ChannelNotAllowed)));
        settings.allowed_channels = vec!["general".into()];
        assert_eq!(refused(&settings, Place::Server), Ok(()));
        assert_eq!(refused(&settings, Place::Direct), Err(Denied::Unheard(Reason::DirectMessagesOff)));
        let answer = |settings: &ChatSettings| authorize(Action::Answer, &author("1", &[]), &channel(Place::Direct), settings);
        assert_eq!(answer(&settings), Ok(()), "the team asked");
        settings.allowed_users = vec!["2".into()];
        assert_eq!(refused(&settings, Place::Server), Err(Denied::Unheard(Reason::AuthorNotAllowed)));
        assert_eq!(answer(&settings), Err(Denied::Unheard(Reason::AuthorNotAllowed)));
    }
}
