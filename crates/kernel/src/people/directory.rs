use std::collections::{HashMap, HashSet};

use crate::chat::message::Author;
use crate::chat::text::{Mention, find_mention, list_mentions};
use crate::ids::UserId;
use crate::people::KnownPerson;
use crate::text::{flatten, fold_name, plain_letters};

/// The most people that a refusal names, and the most characters of each name.
const NAMED: usize = 5;
const NAME: usize = 40;

/// Everybody who is known, each once.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    people: Vec<KnownPerson>,
    /// What people may be called, by the first word of the name, so that thousands of texts can be searched.
    called: HashMap<String, Vec<Called>>,
    /// How many of `people` are in the configuration. They come first.
    configured: usize,
    personas: HashSet<UserId>,
}

/// What a person may be called: a whole name, or the first part of one.
#[derive(Debug, Clone)]
struct Called {
    /// The index of the person.
    person: usize,
    name: String,
    /// Its words in lower case.
    words: Vec<String>,
}

/// Why a name means nobody. The text is plain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    #[error("I don't know anybody called \"{}\". Mention them, so that I know who is meant", flatten(.0, NAME))]
    Nobody(String),
    /// `people`: how each of them is called.
    #[error("Several people are called {}: {}. Mention the one you mean", flatten(.name, NAME), .people.join(", "))]
    Several { name: String, people: Vec<String> },
    /// It is the account of a persona.
    #[error("that account is a persona")]
    Persona(UserId),
}

impl Directory {
    /// `configured` people come first. The names of somebody who was seen in several places are joined.
    pub(super) fn new(configured: &[(UserId, String)], seen: Vec<KnownPerson>, personas: HashSet<UserId>) -> Self {
        let known =
            |(id, name): &(UserId, String)| KnownPerson { id: id.clone(), name: name.clone(), names: vec![name.clone()], is_public: true };
        let mut people: Vec<KnownPerson> = Vec::new();
        let mut places: HashMap<UserId, usize> = HashMap::new();
        for person in configured.iter().map(known).chain(seen) {
            match places.get(&person.id).and_then(|place| people.get_mut(*place)) {
                Some(before) => {
                    let new: Vec<_> = person.names.into_iter().filter(|name| !before.names.contains(name)).collect();
                    before.names.extend(new);
                    before.is_public |= person.is_public;
                }
                None if personas.contains(&person.id) => {}
                None => {
                    places.insert(person.id.clone(), people.len());
                    people.push(person);
                }
            }
        }
        let configured = configured.iter().filter(|(id, _)| !personas.contains(id)).count();
        let mut directory = Self { people, called: HashMap::new(), configured, personas };
        (0..directory.people.len()).for_each(|person| directory.call(person));
        directory
    }

    /// Notes what a person may be called.
    fn call(&mut self, person: usize) {
        let names = if self.people[person].is_public { self.people[person].names.as_slice() } else { &[] };
        let names: Vec<String> = names.iter().map(|name| plain_letters(name).into_owned()).collect();
        for name in names.iter().flat_map(|name| [Some(name.as_str()), name.split_whitespace().next()].into_iter().flatten()) {
            let words: Vec<String> = words(name).map(|(_, word)| word.to_lowercase()).collect();
            // A name of one letter is too likely something else.
            let is_long = words.iter().map(|word| word.chars().count()).sum::<usize>() > 1;
            if let Some(first) = words.first().filter(|_| is_long) {
                self.called.entry(first.clone()).or_default().push(Called { person, name: name.to_owned(), words });
            }
        }
    }

    /// For tests, and for teams without a database: people by id and name.
    pub fn of(people: &[(UserId, String)]) -> Self {
        Self::new(people, Vec::new(), HashSet::new())
    }

    /// Adds somebody who is known from elsewhere, such as the author of a command.
    #[must_use]
    pub fn with(mut self, id: &UserId, name: &str) -> Self {
        if self.get(id).is_none() {
            self.people.push(KnownPerson { id: id.clone(), name: name.to_owned(), names: vec![name.to_owned()], is_public: true });
            self.call(self.people.len() - 1);
        }
        self
    }

    /// Adds a member of the server who was never seen.
    pub(super) fn add(&mut self, member: &Author) {
        if self.get(&member.id).is_none() && !self.is_persona(&member.id) {
            let names = std::iter::once(&member.name).chain(&member.aliases).cloned().collect();
            self.people.push(KnownPerson { id: member.id.clone(), name: member.name.clone(), names, is_public: true });
            self.call(self.people.len() - 1);
        }
    }

    /// Whether nobody is called so. False for what is no name of one person.
    pub(super) fn has_nobody(&self, name: &str) -> bool {
        matches!(self.find(name), Err(NotFound::Nobody(_))) && self.list_by_prefix(name).next().is_none()
    }

    /// The people whom others can name: those of the configuration first, then the latest.
    pub fn people(&self) -> impl Iterator<Item = &KnownPerson> {
        self.people.iter().filter(|person| person.is_public)
    }

    /// The first person of the configuration, who stands for the team's people.
    pub fn configured(&self) -> Option<&KnownPerson> {
        self.people[..self.configured].first()
    }

    pub fn get(&self, id: &UserId) -> Option<&KnownPerson> {
        self.people.iter().find(|person| person.id == *id)
    }

    pub fn is_persona(&self, id: &UserId) -> bool {
        self.personas.contains(id)
    }

    /// The person that a name, nickname, mention or account id means. A mention of somebody who was never seen counts too.
    ///
    /// # Errors
    /// Nobody, several people, or a persona.
    pub fn find(&self, asked: &str) -> Result<KnownPerson, NotFound> {
        let asked = asked.trim();
        if let Some(id) = find_mention(asked).or_else(|| parse_id(asked)) {
            return self.find_account(&id);
        }
        let wanted = fold_name(asked);
        let fits: Vec<&KnownPerson> = self.people().filter(|person| person.names.iter().any(|name| is_called(name, &wanted))).collect();
        match fits.as_slice() {
            [only] => Ok((*only).clone()),
            [] => match self.people.iter().find(|person| person.id.bare() == wanted) {
                Some(person) => Ok(person.clone()),
                None => Err(NotFound::Nobody(asked.to_owned())),
            },
            several => Err(several_are_called(asked, several)),
        }
    }

    /// The people with a name that begins with `prefix`.
    pub fn list_by_prefix(&self, prefix: &str) -> impl Iterator<Item = &KnownPerson> {
        let prefix = fold_name(prefix);
        self.people().filter(move |person| !prefix.is_empty() && person.names.iter().any(|name| fold_name(name).starts_with(&prefix)))
    }

    fn find_account(&self, id: &UserId) -> Result<KnownPerson, NotFound> {
        if self.is_persona(id) {
            return Err(NotFound::Persona(id.clone()));
        }
        let unnamed = || {
            let name = unnamed(id);
            KnownPerson { id: id.clone(), names: vec![name.clone()], name, is_public: true }
        };
        Ok(self.get(id).cloned().unwrap_or_else(unnamed))
    }

    /// The first person that a text mentions or names, with the place of the name in the text. None if it names nobody.
    ///
    /// # Errors
    /// The first name fits several people.
    pub fn find_in(&self, text: &str) -> Result<Option<(usize, KnownPerson)>, NotFound> {
        let mut found: Option<(usize, Vec<KnownPerson>, String)> = None;
        let mut note = |at: usize, person: KnownPerson, name: &str| match &mut found {
            Some((before, people, _)) if *before == at => {
                if people.iter().all(|known| known.id != person.id) {
                    people.push(person);
                }
            }
            Some((before, ..)) if *before < at => {}
            _ => found = Some((at, vec![person], name.to_owned())),
        };
        for id in list_mentions(text) {
            if let (Some(at), Ok(person)) = (text.find(&Mention(&id).to_string()), self.find_account(&id)) {
                note(at, person, "");
            }
        }
        let said: Vec<(usize, String)> = words(text).map(|(at, word)| (at, word.to_lowercase())).collect();
        for (place, (at, word)) in said.iter().enumerate() {
            let is_said = |called: &&Called| said[place..].iter().map(|(_, word)| word).take(called.words.len()).eq(&called.words);
            for called in self.called.get(word).into_iter().flatten().filter(is_said) {
                note(*at, self.people[called.person].clone(), &called.name);
            }
        }
        match found {
            None => Ok(None),
            Some((at, people, name)) => match people.as_slice() {
                [only] => Ok(Some((at, only.clone()))),
                several => Err(several_are_called(&name, &several.iter().collect::<Vec<_>>())),
            },
        }
    }
}

/// Whether `wanted` means somebody with this name: it is the whole name, or its first word.
fn is_called(name: &str, wanted: &str) -> bool {
    let name = fold_name(name);
    !wanted.is_empty() && (name == wanted || name.split_whitespace().next() == Some(wanted))
}

fn several_are_called(name: &str, people: &[&KnownPerson]) -> NotFound {
    let people = people.iter().take(NAMED).map(|person| {
        let shown = flatten(&person.name, NAME);
        // Two people may show the same name. Their accounts tell them apart.
        match person.names.iter().find(|other| fold_name(other) != fold_name(&person.name)) {
            Some(other) => format!("{shown} ({})", flatten(other, NAME)),
            None => shown,
        }
    });
    NotFound::Several { name: name.to_owned(), people: people.collect() }
}

/// An id as the command line knows it: `discord:42`.
fn parse_id(text: &str) -> Option<UserId> {
    let is_id = |(_, id): (&str, &str)| id.bytes().all(|byte| byte.is_ascii_alphanumeric()) && id.bytes().any(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(is_id).then(|| text.into())
}

/// The name for somebody who was never seen.
pub(crate) fn unnamed(id: &UserId) -> String {
    let id = id.bare();
    format!("member …{}", &id[id.len().saturating_sub(6)..])
}

/// The words of a text, with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(move |word| (word.as_ptr() as usize - start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(id: &str, names: &[&str], is_public: bool) -> KnownPerson {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        KnownPerson { id: UserId::on("discord", id), name: names[0].clone(), names, is_public }
    }

    fn directory() -> Directory {
        let configured = [(UserId::on("discord", "46"), "Dora Day".to_owned())];
        let seen = vec![
            seen("41", &["Ann Lee", "annie"], true),
            seen("41", &["Countess", "annie"], true),
            seen("42", &["Bob", "bob.b"], true),
            seen("43", &["Cid", "cid1"], true),
            seen("44", &["Cid", "cid2"], true),
            seen("45", &["Eve"], false),
            seen("102", &["Vince"], true),
        ];
        Directory::new(&configured, seen, HashSet::from([UserId::on("discord", "102")]))
    }

    #[test]
    fn somebody_is_found_by_each_name_by_mention_and_by_id() {
        for (name, id) in [
            ("Ann Lee", "41"),
            ("ann", "41"),
            ("countess", "41"),
            ("@annie", "41"),
            ("bob.b", "42"),
            ("dora", "46"),
            ("<user:discord:41>", "41"),
            ("<user:discord:99>", "99"),
            ("discord:46", "46"),
            ("46", "46"),
            ("<user:discord:45>", "45"),
        ] {
            assert_eq!(directory().find(name).map(|person| person.id.bare().to_owned()).as_deref(), Ok(id), "{name}");
        }
    }

    #[test]
    fn a_decorated_name_is_found_by_its_plain_letters() {
        let directory =
            Directory::of(&[(UserId::on("discord", "51"), "🌸 𝓐𝓷𝓷 𝓛𝓮𝓮".to_owned()), (UserId::on("discord", "52"), "★Ｂｏｂ★".to_owned())]);
        let found = |name: &str| directory.find(name).map(|person| person.id.bare().to_owned());
        for (name, id) in [("ann", "51"), ("Ann Lee", "51"), ("🌸 𝓐𝓷𝓷 𝓛𝓮𝓮", "51"), ("bob", "52")] {
            assert_eq!(found(name).as_deref(), Ok(id), "{name}");
        }
        assert_eq!(directory.find_in("ask Bob about it").unwrap().map(|(at, person)| (at, person.name)), Some((4, "★Ｂｏｂ★".to_owned())));
    }

    #[test]
    fn who_cannot_be_told_apart_is_named_and_who_wrote_in_private_is_not() {
        for (name, told) in [
            ("Cid", "Several people are called Cid: Cid (cid1), Cid (cid2). Mention the one you mean"),
            ("Eve", "I don't know anybody called \"Eve\". Mention them, so that I know who is meant"),
            ("Vince", "I don't know anybody called \"Vince\". Mention them, so that I know who is meant"),
            ("", "I don't know anybody called \"\". Mention them, so that I know who is meant"),
            ("<user:discord:102>", "that account is a persona"),
        ] {
            assert_eq!(directory().find(name).expect_err(name).to_string(), told);
        }
    }

    #[test]
    fn a_text_names_the_first_person_in_it() {
        let found = |text: &str| directory().find_in(text).map(|found| found.map(|(at, person)| (at, person.id.bare().to_owned())));
        assert_eq!(found("Ask Ann for the invoice number"), Ok(Some((4, "41".to_owned()))));
        assert_eq!(found("Bob und Ann fragen"), Ok(Some((0, "42".to_owned()))));
        assert_eq!(found("Frag <user:discord:99> nach Ann"), Ok(Some((5, "99".to_owned()))));
        assert_eq!(found("Annex the planning to Bobby"), Ok(None));
        assert_eq!(found("ask bob.b, or ANN LEE"), Ok(Some((4, "42".to_owned()))));
        assert_eq!(found("Ask Eve"), Ok(None), "who wrote in private alone");
        let with_zoe = directory().with(&UserId::on("discord", "50"), "Zoé");
        assert_eq!(with_zoe.find_in("Ask ZOÉ").unwrap().map(|(at, person)| (at, person.name)), Some((4, "Zoé".to_owned())));
        assert!(matches!(found("Ask Cid"), Err(NotFound::Several { .. })));
        assert_eq!(found("Ask <user:discord:102>"), Ok(None), "a persona");
    }
}
