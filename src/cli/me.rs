//! Who sits at the command line, for arguments that take `me`.

use crate::app;
use crate::config::Config;
use crate::store::Store;
use kernel::commands::{ArgumentSpec, CommandSpec, Refused, refuse};
use kernel::people::Directory;

/// The kinds of arguments that name a person.
const PEOPLE: [&str; 2] = ["owner", "person"];

/// Replaces `me` by the account of the person, and adds it where an argument is the caller by default.
///
/// # Errors
/// `me` was given, and it is not known who that is.
pub(super) async fn replace(spec: &CommandSpec, given: &mut Vec<(String, String)>, config: &Config, store: &Store) -> anyhow::Result<()> {
    let takes_person = |argument: &&ArgumentSpec| argument.completes().is_some_and(|kind| PEOPLE.contains(&kind));
    for argument in spec.arguments.iter().filter(takes_person) {
        let place = given.iter().position(|(name, _)| name == argument.name);
        let is_me = place.map_or(argument.is_caller_by_default, |place| given[place].1.trim().eq_ignore_ascii_case("me"));
        if !is_me {
            continue;
        }
        let people = app::people(config, store).directory().await?;
        match (find(&people, config.me.as_deref()), place) {
            (Ok(account), Some(place)) => given[place].1 = account,
            (Ok(account), None) => given.push((argument.name.to_owned(), account)),
            (Err(why), Some(_)) => return Err(why.into()),
            // The command says what is missing.
            (Err(_), None) => {}
        }
    }
    Ok(())
}

/// The account of the person that the settings name, or else of the only one whom the team knows.
fn find(people: &Directory, me: Option<&str>) -> Result<String, Refused> {
    if let Some(me) = me {
        return people.find(me).map(|person| person.id.to_string()).map_err(|error| Refused::new(format!("`me` in the settings: {error}")));
    }
    let known: Vec<_> = people.people().collect();
    match known.as_slice() {
        [only] => Ok(only.id.to_string()),
        [] => refuse("who is \"me\"? The team knows nobody yet. Write something in the chat, or set TEAMROOM_ME to your name there"),
        several => {
            let names: Vec<_> = several.iter().take(10).map(|person| person.name.as_str()).collect();
            refuse(format!("who is \"me\"? Give a name, or set TEAMROOM_ME to yours. Known people: {}", names.join(", ")))
        }
    }
}
