//! Finds the personas that a text addresses: mentions, and names at its beginning.
//!
//! Everything here works on text without invisible characters, quotes and code. [`spoken`] removes them.

use std::borrow::Cow;

use kernel::chat::text::split_mention;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::{fold_name, without_invisible, without_quotes_and_code};

use crate::features::chat::rules::intent::speaks_to;

/// A greeting makes a bare name an address: "hey Vince the build is red".
const GREETINGS: &[&str] = &["hey", "hi", "hello", "heya", "hiya", "yo", "dear", "morning", "afternoon", "evening"];

/// Words that may precede a name without making it an address: "ok vince is right".
const OPENERS: &[&str] = &["ok", "okay", "so", "and", "well", "now", "please", "right", "alright", "good"];

/// Names for the whole team at the beginning of a text. Longer ones come first.
const TEAM_NAMES: &[&str] =
    &["all of you", "@everyone", "everyone", "everybody", "you all", "@here", "@team", "y'all", "folks", "team", "guys", "all"];

/// The personas that an agent's text addresses, in the order named: by account, or by `@Name` as our own personas write it.
///
/// A bare name is no address here. Agents often talk about each other, and each name would start a turn.
pub fn addressed_by_agent(text: &str, roster: &Roster, accounts: &Accounts) -> Vec<PersonaSlug> {
    list_mentions(&spoken(text), &People::new(roster, accounts))
}

/// Whether a text begins with a name or mention, so that it starts a new burst.
pub(crate) fn calls_somebody(text: &str, roster: &Roster, accounts: &Accounts) -> bool {
    find_opening(&spoken(text), &People::new(roster, accounts)).is_some()
}

/// The part of a text that can address somebody.
pub(crate) fn spoken(text: &str) -> String {
    let visible = without_invisible(text);
    match without_quotes_and_code(&visible) {
        Cow::Owned(spoken) => spoken,
        Cow::Borrowed(_) => visible,
    }
}

/// All personas by name and account, prepared for searching a text.
pub(crate) struct People<'a> {
    roster: &'a Roster,
    accounts: &'a Accounts,
    /// Case-folded, longer ones first, so that "Vince Two" does not match "Vince".
    names: Vec<(String, &'a PersonaSlug)>,
}

impl<'a> People<'a> {
    pub(crate) fn new(roster: &'a Roster, accounts: &'a Accounts) -> Self {
        let mut names = Vec::with_capacity(roster.personas().len() * 3);
        for persona in roster.personas() {
            let all = [persona.name.as_str(), persona.slug.as_str()].into_iter().chain(persona.aliases.iter().map(String::as_str));
            names.extend(all.map(|name| (fold_name(name), &persona.slug)).filter(|(name, _)| !name.is_empty()));
        }
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { roster, accounts, names }
    }

    /// The persona whose name the text begins with, as a whole word, and what follows it.
    pub(crate) fn find_name<'t>(&self, text: &'t str) -> Option<(&'a PersonaSlug, &'t str)> {
        self.names.iter().find_map(|(name, slug)| {
            let rest = strip_folded(text, name)?;
            ends_word(rest).then_some((*slug, rest))
        })
    }

    /// The persona mentioned at the beginning of the text, and what follows the mention.
    fn find_mention<'t>(&self, text: &'t str) -> Option<(&'a PersonaSlug, &'t str)> {
        if let Some(name) = text.strip_prefix('@') {
            return self.find_name(name);
        }
        let (id, rest) = split_mention(text)?;
        let slug = self.accounts.find(&id)?;
        Some((&self.roster.find(slug)?.slug, rest))
    }
}

/// Every persona mentioned, by account or as `@Name` at the start of a word, in the order of their first mention.
pub(crate) fn list_mentions(spoken: &str, people: &People<'_>) -> Vec<PersonaSlug> {
    let mut mentioned = Vec::new();
    for (at, mark) in spoken.match_indices(['@', '<']) {
        let in_word = mark == "@" && spoken[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '<'));
        let found = if in_word { None } else { people.find_mention(&spoken[at..]) };
        if let Some((slug, _)) = found
            && !mentioned.contains(slug)
        {
            mentioned.push(slug.clone());
        }
    }
    mentioned
}

/// The addressees at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opening<'t> {
    /// In order of appearance.
    pub(crate) personas: Vec<PersonaSlug>,
    /// True if the text addresses the whole team.
    pub(crate) team: bool,
    /// The text after the addressees.
    pub(crate) rest: &'t str,
}

/// Reads "vince, …", "hey Vince …", "vince and solus: …", "@vince …", "team, …".
///
/// Takes the longest list of names that is an address. In "vince, solus is wrong" that is Vince alone.
pub(crate) fn find_opening<'t>(spoken: &'t str, people: &People<'_>) -> Option<Opening<'t>> {
    let (text, greeted) = skip_openers(spoken);
    let mut called = list_called(text, people);
    while let Some(last) = called.last() {
        if greeted || last.mentioned || ends_address(last.rest) || speaks_to(last.rest) {
            let rest = last.rest.trim_start_matches(|c: char| c.is_whitespace() || is_pause(c));
            let team = called.iter().any(|target| target.persona.is_none());
            let mut personas: Vec<PersonaSlug> = Vec::new();
            for slug in called.into_iter().filter_map(|target| target.persona) {
                if !personas.contains(slug) {
                    personas.push(slug.clone());
                }
            }
            return Some(Opening { personas, team, rest });
        }
        called.pop();
    }
    None
}

/// One name at the beginning of a text.
struct Called<'a, 't> {
    /// None: the whole team.
    persona: Option<&'a PersonaSlug>,
    mentioned: bool,
    /// The text after this name.
    rest: &'t str,
}

fn list_called<'a, 't>(text: &'t str, people: &People<'a>) -> Vec<Called<'a, 't>> {
    let mut called: Vec<Called<'a, 't>> = Vec::new();
    let mut next = Some(text);
    while let Some(target) = next.and_then(|text| find_called(text, people)) {
        // Mentions need no separator between them. Names do, or "vince solus" would be two people.
        let mention_follows = target.rest.trim_start().starts_with(['@', '<']);
        next = skip_joint(target.rest).or_else(|| mention_follows.then(|| target.rest.trim_start()));
        called.push(target);
    }
    called
}

fn find_called<'a, 't>(text: &'t str, people: &People<'a>) -> Option<Called<'a, 't>> {
    if let Some((slug, rest)) = people.find_mention(text) {
        return Some(Called { persona: Some(slug), mentioned: true, rest });
    }
    if let Some((slug, rest)) = people.find_name(text) {
        return Some(Called { persona: Some(slug), mentioned: false, rest });
    }
    let rest = TEAM_NAMES.iter().find_map(|name| strip_folded(text, name).filter(|rest| ends_word(rest)))?;
    Some(Called { persona: None, mentioned: text.starts_with('@'), rest })
}

/// What follows "and", "&", "+" or a comma between two names.
fn skip_joint(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let after_comma = text.strip_prefix([',', '&', '+']).map(str::trim_start);
    let joint = after_comma.unwrap_or(text);
    match strip_folded(joint, "and").filter(|rest| rest.starts_with(char::is_whitespace)) {
        Some(rest) => Some(rest.trim_start()),
        None => after_comma,
    }
}

/// The text after "hey", "ok" and similar words, and whether one of them was a greeting.
fn skip_openers(text: &str) -> (&str, bool) {
    let mut text = text.trim_start();
    let mut greeted = false;
    loop {
        let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        let (word, rest) = (text[..end].to_lowercase(), &text[end..]);
        let greeting = GREETINGS.contains(&word.as_str());
        if !(greeting || OPENERS.contains(&word.as_str())) || rest.starts_with(['\'', '’']) {
            return (text, greeted);
        }
        greeted |= greeting;
        text = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '!'));
    }
}

/// Whether the text after a name marks it as an address: the end, punctuation, or a new line.
fn ends_address(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with(is_pause)
}

fn is_pause(c: char) -> bool {
    matches!(c, ',' | ':' | ';' | '!' | '?' | '.' | '…' | '-' | '–' | '—' | '，' | '：' | '！' | '？' | '、')
}

/// Whether a word ends where `rest` begins. False in "vince's", "vince-related", "vince.rs" and "vince@example.org".
fn ends_word(rest: &str) -> bool {
    let mut next = rest.chars();
    match next.next() {
        None => true,
        Some('.' | '-' | '\'' | '’' | '/' | '@') => next.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && c != '_',
    }
}

/// What follows `folded` at the beginning of the text, ignoring case.
fn strip_folded<'t>(text: &'t str, folded: &str) -> Option<&'t str> {
    let mut expected = folded.chars();
    for (at, c) in text.char_indices() {
        for lower in c.to_lowercase() {
            if expected.next() != Some(lower) {
                return None;
            }
        }
        if expected.as_str().is_empty() {
            return Some(&text[at + c.len_utf8()..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::roster as sample;

    #[test]
    fn an_agent_addresses_by_mention_alone() {
        let (roster, accounts) = (sample::roster(), sample::accounts());
        for (text, expected) in [
            ("I agree with vince.", &[][..]),
            ("vince, look", &[]),
            ("@Vince what is the number?", &["vince"]),
            ("Passing on: <user:discord:104>, then @eliza.", &["solus", "eliza"]),
            ("see `@vince`\n> @solus said so", &[]),
            ("mail@vince and @vincent", &[]),
            ("(@Big Ear)", &["echo"]),
            ("<@&102> is a role", &[]),
        ] {
            let expected: Vec<PersonaSlug> = expected.iter().map(|slug| PersonaSlug::new(*slug)).collect();
            assert_eq!(addressed_by_agent(text, &roster, &accounts), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_said_to_the_named_is_what_follows() {
        let (roster, accounts) = (sample::roster(), sample::accounts());
        let people = People::new(&roster, &accounts);
        let rest = |text| find_opening(text, &people).map(|opening| opening.rest);
        assert_eq!(rest("hey Vince, ask eliza"), Some("ask eliza"));
        assert_eq!(rest("<user:discord:102> and solus: go"), Some("go"));
        assert_eq!(rest("vince"), Some(""));
        assert_eq!(rest("nobody here"), None);
    }
}
