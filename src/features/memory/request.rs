//! "remember: …" in a message.
//!
//! The verb with a colon is a form, like a command that can be typed without a slash. Other wordings and languages are for personas with a model,
//! which have the tool `memory_save`, and for `/memory teach`.

use kernel::chat::text::split_mention;
use kernel::text::fold_name;

const VERB: &str = "remember";
const FORGET: &str = "forget";

/// Before the id of the memory that a new one replaces.
const INSTEAD: &str = "instead of";

/// What may stand before the verb besides the names of personas and mentions.
const BEFORE: [&str; 7] = ["hey", "hi", "hello", "ok", "okay", "please", "and"];

/// What somebody wants remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Empty: that is missing.
    pub text: String,
    /// The id of the memory that it replaces, as written.
    pub replaces: Option<String>,
}

/// Marks that may surround the verb.
const MARKS: [char; 3] = ['*', '_', '`'];

/// Reads a message. None: it is no such request. `names` are those of the personas, who may be spoken to first.
pub fn parse_request(text: &str, names: &[&str]) -> Option<Request> {
    let said = find_said(text, names)?;
    Some(parse_instead(said).unwrap_or_else(|| Request { text: said.to_owned(), replaces: None }))
}

/// How people take back what they have just taught, in some languages. Each is the whole message besides an address and a "please".
const FORGET_THAT: [&str; 12] = [
    "forget that",
    "forget it",
    "forget this",
    "forget that again",
    "forget what i said",
    "forget what i just said",
    "vergiss das",
    "vergiss das wieder",
    "olvida eso",
    "oublie ça",
    "esquece isso",
    "забудь это",
];

/// What somebody wants forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgettable {
    /// The last thing that was said, or the message that is replied to.
    That,
    /// As written.
    Id(String),
}

/// "forget that", "forget #k3m9xz". None: it is no such request.
pub fn parse_forget(text: &str, names: &[&str]) -> Option<Forgettable> {
    if is_forget_that(text, names) {
        return Some(Forgettable::That);
    }
    let said = find_after(text, names, strip_forget)?;
    let id = clean_id(said);
    match id.as_str() {
        "that" | "it" | "this" => Some(Forgettable::That),
        _ if looks_like_id(&id) && id.contains(|c: char| c.is_ascii_digit()) | said.starts_with('#') => Some(Forgettable::Id(id)),
        _ => None,
    }
}

fn strip_forget(text: &str) -> Option<&str> {
    let verb = text.get(..FORGET.len()).filter(|verb| verb.eq_ignore_ascii_case(FORGET))?;
    let said = text[verb.len()..].strip_prefix(char::is_whitespace)?.trim();
    (!said.is_empty() && !said.contains(char::is_whitespace)).then_some(said)
}

/// Whether a message only says that something is to be forgotten, but not what.
fn is_forget_that(text: &str, names: &[&str]) -> bool {
    let is_name = |word: &str| names.iter().any(|name| fold_name(name).split_whitespace().any(|part| part == word));
    let mut rest = text.trim();
    while let Some((_, after)) = split_mention(rest) {
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words: Vec<String> = rest.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let first = words.iter().position(|word| !BEFORE.contains(&word.as_str()) && !is_name(word)).unwrap_or(words.len());
    let said: Vec<&str> = words[first..].iter().map(String::as_str).filter(|word| *word != "please" && *word != "bitte").collect();
    FORGET_THAT.contains(&said.join(" ").as_str())
}

/// The text after the verb, if only an address stands before the verb.
fn find_said<'t>(text: &'t str, names: &[&str]) -> Option<&'t str> {
    find_after(text, names, strip_verb)
}

fn find_after<'t>(text: &'t str, names: &[&str], strip: fn(&'t str) -> Option<&'t str>) -> Option<&'t str> {
    let is_name = |word: &str| names.iter().any(|name| fold_name(name).split_whitespace().any(|part| part == word));
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(said) = strip(rest) {
            return Some(said);
        }
        if let Some((_, after)) = split_mention(rest) {
            rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            continue;
        }
        let (word, after) = rest.split_once(char::is_whitespace)?;
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if !BEFORE.contains(&bare.as_str()) && !is_name(&bare) {
            return None;
        }
        rest = after.trim_start();
    }
    None
}

fn strip_verb(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(MARKS);
    let verb = text.get(..VERB.len()).filter(|verb| verb.eq_ignore_ascii_case(VERB))?;
    let after = text[verb.len()..].trim_start_matches(MARKS).trim_start();
    Some(after.strip_prefix([':', '：'])?.trim_start_matches(MARKS).trim())
}

/// "instead of #k3m9xz we deploy on Fridays".
fn parse_instead(said: &str) -> Option<Request> {
    let rest = said.get(..INSTEAD.len()).filter(|begin| begin.eq_ignore_ascii_case(INSTEAD)).map(|_| said[INSTEAD.len()..].trim_start())?;
    let (id, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let id = clean_id(id);
    looks_like_id(&id).then(|| Request { text: text.trim_start_matches([',', ':', '-', ' ']).to_owned(), replaces: Some(id) })
}

fn looks_like_id(id: &str) -> bool {
    id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// An id as people write it: `#K3M9XZ`, `` `k3m9xz`, ``.
pub fn clean_id(written: &str) -> String {
    written.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &str) -> Option<String> {
        parse_request(message, &["Kelly", "Big Ear"]).map(|request| request.text)
    }

    #[test]
    fn the_verb_with_a_colon_asks_for_it() {
        for message in [
            "remember: we deploy on Thursdays",
            "Remember:we deploy on Thursdays",
            "kelly, remember: we deploy on Thursdays",
            "hey Big Ear, please **remember**: we deploy on Thursdays",
            "<user:discord:7> remember: we deploy on Thursdays",
            "@Kelly remember：we deploy on Thursdays",
        ] {
            assert_eq!(text(message).as_deref(), Some("we deploy on Thursdays"), "{message}");
        }
        assert_eq!(text("remember: deploys: Thursdays\nand Fridays").as_deref(), Some("deploys: Thursdays\nand Fridays"));
        assert_eq!(text("remember:").as_deref(), Some(""));
    }

    #[test]
    fn other_sentences_do_not() {
        for message in [
            "do you remember: when?",
            "Bob, remember: milk",
            "I remember: it rained",
            "remember that we met",
            "remember",
            "note: x",
            "",
            ":",
        ] {
            assert_eq!(text(message), None, "{message}");
        }
    }

    #[test]
    fn what_is_to_be_forgotten_is_the_last_thing_or_has_an_id() {
        for message in ["forget that", "Forget it!", "kelly, please forget that.", "<user:discord:7> forget this"] {
            assert_eq!(parse_forget(message, &["Kelly"]), Some(Forgettable::That), "{message}");
        }
        for message in ["forget #k3m9xz", "kelly, forget `K3M9XZ`", "forget #abcdef"] {
            assert!(matches!(parse_forget(message, &["Kelly"]), Some(Forgettable::Id(_))), "{message}");
        }
        for message in
            ["forget about it", "forget me not", "don't forget that", "I forget that", "forget", "forget everyone", "forgetting it"]
        {
            assert_eq!(parse_forget(message, &["Kelly"]), None, "{message}");
        }
    }

    #[test]
    fn what_was_taught_is_taken_back_in_a_few_words() {
        for text in [
            "forget that",
            "Kelly, forget that please!",
            "<user:discord:7> forget it",
            "hey Big Ear, please forget what I just said",
            "Vergiss das bitte wieder.",
        ] {
            assert!(is_forget_that(text, &["Kelly", "Big Ear"]), "{text}");
        }
        for text in ["forget that we met", "I forget that", "don't forget that", "forget", "did you forget that?", "Bob, forget that", ""] {
            assert!(!is_forget_that(text, &["Kelly"]), "{text}");
        }
    }

    #[test]
    fn a_newer_fact_may_name_the_older_one() {
        let request = parse_request("remember: instead of #K3M9XZ, we deploy on Fridays", &[]);
        assert_eq!(request, Some(Request { text: "we deploy on Fridays".into(), replaces: Some("k3m9xz".into()) }));
        let request = parse_request("remember: instead of coffee we drink tea", &[]);
        assert_eq!(request, Some(Request { text: "we drink tea".into(), replaces: Some("coffee".into()) }));
        assert_eq!(text("remember: instead of the lift take the stairs").as_deref(), Some("instead of the lift take the stairs"));
    }
}
