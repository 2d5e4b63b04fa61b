//! Whom a name means.

use kernel::chat::medium::Medium;
use kernel::chat::text::find_mention;
use kernel::ids::UserId;
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::fold_name;

use super::model::Person;
use super::render;
use super::request::ForWhom;

/// The most names that a question back lists, and the most characters of the name that was asked for.
const NAMED: usize = 5;
const ASKED: usize = 60;

/// Whom a name may mean.
pub(super) struct Known<'a> {
    pub(super) roster: &'a Roster,
    pub(super) accounts: &'a Accounts,
    /// People who spoke in this channel.
    pub(super) here: &'a [Person],
    /// People of the team, and those who spoke elsewhere.
    pub(super) elsewhere: &'a [Person],
}

impl Known<'_> {
    /// # Errors
    /// Nobody, several people, or a persona, in words for the author.
    pub(super) fn resolve(&self, whom: &ForWhom, author: Option<&Person>) -> Result<Person, String> {
        match whom {
            ForWhom::Me => author.cloned().ok_or_else(|| "Whom? Name a person.".to_owned()),
            ForWhom::Several => Err("I can remind one person at a time. Write \"remind me …\", or name somebody.".to_owned()),
            ForWhom::Somebody(name) => match parse_mention(name) {
                Some(id) => self.resolve_account(id),
                None => self.resolve_name(name),
            },
        }
    }

    fn resolve_account(&self, id: UserId) -> Result<Person, String> {
        if let Some(persona) = self.accounts.find(&id) {
            return Err(of_persona(self.roster.name_of(persona)));
        }
        let known = self.here.iter().chain(self.elsewhere).find(|person| person.id == id);
        Ok(known.cloned().unwrap_or_else(|| Person { name: unnamed(&id), id }))
    }

    /// Who spoke here comes before who spoke elsewhere, and a whole name before a first name.
    fn resolve_name(&self, name: &str) -> Result<Person, String> {
        let wanted = fold_name(name);
        let whole = |person: &&Person| fold_name(&person.name) == wanted;
        let first = |person: &&Person| fold_name(&person.name).split_whitespace().next() == Some(&wanted);
        for people in [self.here, self.elsewhere] {
            for fits in [&whole as &dyn Fn(&&Person) -> bool, &first] {
                let mut found: Vec<&Person> = Vec::new();
                for person in people.iter().filter(fits) {
                    if found.iter().all(|known| known.id != person.id) {
                        found.push(person);
                    }
                }
                match found.as_slice() {
                    [] => {}
                    [only] => return Ok((*only).clone()),
                    several => return Err(several_are_called(name, several)),
                }
            }
        }
        Err(self.roster.find_named(name).map_or_else(|| nobody_is_called(name), |persona| of_persona(&persona.name)))
    }
}

fn several_are_called(name: &str, people: &[&Person]) -> String {
    let asked = Medium::Chat.line_within(name, ASKED);
    let names: Vec<_> = people.iter().take(NAMED).map(|person| render::name(person)).collect();
    format!("Several people are called {asked}: {}. Mention the one you mean with @.", names.join(", "))
}

fn nobody_is_called(name: &str) -> String {
    let asked = Medium::Chat.line_within(name, ASKED);
    format!("I don't know anybody called \"{asked}\". Mention them with @, so that I know who is meant.")
}

fn of_persona(name: &str) -> String {
    format!("I can only remind people, and {name} is a persona. To give {name} something to do, use `/backlog add`.")
}

/// A mention, or an id alone as the command line knows it.
fn parse_mention(name: &str) -> Option<UserId> {
    let name = name.trim();
    let is_id = name
        .split_once(':')
        .is_some_and(|(_, id)| id.bytes().all(|byte| byte.is_ascii_alphanumeric()) && id.bytes().any(|byte| byte.is_ascii_digit()));
    find_mention(name).or_else(|| is_id.then(|| name.into()))
}

/// Of somebody who was never heard.
fn unnamed(id: &UserId) -> String {
    let id = id.bare();
    format!("member …{}", &id[id.len().saturating_sub(6)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: &str, name: &str) -> Person {
        Person { id: UserId::on("discord", id), name: name.to_owned() }
    }

    fn resolve(name: &str) -> Result<String, String> {
        let (roster, accounts) = (kernel::testing::roster::roster(), kernel::testing::roster::accounts());
        let here =
            [person("41", "Ann Lee"), person("41", "Ann Lee"), person("42", "Bob"), person("43", "Cid One"), person("44", "Cid Two")];
        let elsewhere = [person("45", "Ann"), person("46", "Dora Day"), person("47", "Bob")];
        let known = Known { roster: &roster, accounts: &accounts, here: &here, elsewhere: &elsewhere };
        known.resolve(&ForWhom::parse(name), Some(&person("1", "Me"))).map(|person| person.id.bare().to_owned())
    }

    #[test]
    fn a_name_means_who_is_called_so_here_before_others() {
        for (name, id) in [
            ("me", "1"),
            ("Ann Lee", "41"),
            ("ann", "41"),
            ("@bob", "42"),
            ("dora", "46"),
            ("Cid Two", "44"),
            ("<user:discord:41>", "41"),
            ("<user:discord:99>", "99"),
            ("discord:46", "46"),
        ] {
            assert_eq!(resolve(name).as_deref(), Ok(id), "{name}");
        }
    }

    #[test]
    fn who_cannot_be_told_apart_or_is_no_person_is_asked_back() {
        for (name, told) in [
            ("Cid", "Several people are called Cid: Cid One, Cid Two. Mention"),
            ("Eve", "I don't know anybody called \"Eve\". Mention"),
            ("vince", "I can only remind people, and Vince is a persona. To give Vince"),
            ("<user:discord:102>", "I can only remind people, and Vince is a persona."),
            ("everyone", "I can remind one person at a time."),
        ] {
            let refused = resolve(name).expect_err(name);
            assert!(refused.starts_with(told), "{name}: {refused}");
        }
    }
}
