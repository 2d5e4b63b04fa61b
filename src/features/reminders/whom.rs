//! Finds the person that a name means.

use kernel::chat::medium::Medium;
use kernel::people::{Directory, NotFound};
use kernel::persona::roster::Roster;

use super::model::Person;
use super::request::ForWhom;

/// Finds the person to remind.
///
/// # Errors
/// The name means nobody, several people, or a persona. In words for the author.
pub(super) fn resolve(whom: &ForWhom, author: Option<&Person>, people: &Directory, roster: &Roster) -> Result<Person, String> {
    let name = match whom {
        ForWhom::Me => return author.cloned().ok_or_else(|| "Whom? Name a person.".to_owned()),
        ForWhom::Several => return Err("I can remind one person at a time. Write \"remind me …\", or name somebody.".to_owned()),
        ForWhom::Somebody(name) => name,
    };
    match people.find(name) {
        Ok(person) => Ok(Person { id: person.id, name: person.name }),
        Err(NotFound::Nobody(_)) if roster.find_named(name).is_some() => {
            let name = roster.find_named(name).map_or(name.as_str(), |persona| &persona.name);
            Err(of_persona(name, name))
        }
        Err(NotFound::Persona(_)) => Err(of_persona("that", "it")),
        Err(error) => Err(format!("{}.", Medium::Chat.line(&error.to_string()))),
    }
}

fn of_persona(name: &str, object: &str) -> String {
    format!("I can only remind people, and {name} is a persona. To give {object} something to do, use `/backlog add`.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::ids::UserId;

    fn resolved(name: &str) -> Result<String, String> {
        let known = |id: &str, name: &str| (UserId::on("discord", id), name.to_owned());
        let people = Directory::of(&[known("41", "Ann Lee"), known("43", "Cid One"), known("44", "Cid Two")]);
        let me = Person { id: UserId::on("discord", "1"), name: "Me".to_owned() };
        let person = resolve(&ForWhom::parse(name), Some(&me), &people, &kernel::testing::roster::roster());
        person.map(|person| person.id.bare().to_owned())
    }

    #[test]
    fn a_name_means_me_or_one_person() {
        for (name, id) in [("me", "1"), ("ann", "41"), ("Cid Two", "44"), ("<user:discord:99>", "99")] {
            assert_eq!(resolved(name).as_deref(), Ok(id), "{name}");
        }
    }

    #[test]
    fn who_cannot_be_told_apart_or_is_no_person_is_asked_back() {
        for (name, told) in [
            ("Cid", "Several people are called Cid: Cid One, Cid Two. Mention the one you mean."),
            ("Eve", "I don't know anybody called \"Eve\". Mention them, so that I know who is meant."),
            ("vince", "I can only remind people, and Vince is a persona. To give Vince something to do, use `/backlog add`."),
            ("everyone", "I can remind one person at a time. Write \"remind me …\", or name somebody."),
        ] {
            assert_eq!(resolved(name), Err(told.to_owned()), "{name}");
        }
    }
}
