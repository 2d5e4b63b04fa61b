//! The answers of people to check-ins before a standup.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use kernel::ids::{ChannelId, OutboxId, PersonaSlug, UserId};

/// A person who is asked before a standup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckIn {
    /// The channel of the standup.
    pub channel: ChannelId,
    /// The day of the standup in the team's zone.
    pub day: NaiveDate,
    pub person: UserId,
    pub name: String,
    /// The persona that asks.
    pub persona: PersonaSlug,
    /// The question in the outbox. Empty if the person was not asked, and something is kept from the standup before.
    pub post: OutboxId,
    /// The time until which answers count.
    pub standup_at: DateTime<Utc>,
}

/// What a person wrote before a standup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonSaid {
    pub name: String,
    /// One message below the other.
    pub text: String,
}

/// Words that name a blocker, in lower case.
const BLOCKERS: [&str; 12] = [
    "block",
    "in my way",
    "in the way",
    "stuck",
    "waiting for",
    "waiting on",
    "wait for",
    "impediment",
    "hindered",
    "held up",
    "blockiert",
    "warte auf",
];
/// Before a word of [`BLOCKERS`], these words deny it: "not blocked", "nothing is in my way".
const DENIED: [&str; 7] = ["no", "not", "nothing", "never", "nichts", "nicht", "keine"];
/// After a word of [`BLOCKERS`], these words deny it: "Blockers: none".
const NONE: [&str; 8] = ["no", "none", "nothing", "nope", "n", "keine", "nein", "nichts"];

impl PersonSaid {
    /// The first sentence that names a blocker, without a heading such as "Blocked:". None if the person has no blocker.
    pub fn find_blocker(&self) -> Option<&str> {
        let lines = self.text.lines().flat_map(|line| line.split_inclusive(['.', '!', ';'])).map(str::trim);
        lines.filter(|line| !line.is_empty()).find(|line| names_a_blocker(line)).map(without_heading)
    }
}

fn without_heading(line: &str) -> &str {
    match line.split_once(':') {
        Some((heading, rest)) if heading.chars().all(char::is_alphabetic) && !rest.trim().is_empty() => rest.trim(),
        _ => line,
    }
}

fn names_a_blocker(line: &str) -> bool {
    let lower = line.to_lowercase();
    let Some((at, word)) = BLOCKERS.iter().filter_map(|word| Some((lower.find(word)?, *word))).min() else { return false };
    let words =
        |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    // Skips the rest of a word such as "blockers" or "blocked".
    let rest = lower[at + word.len()..].trim_start_matches(char::is_alphanumeric);
    let (before, after) = (words(&lower[..at]), words(rest));
    let is_denied = before.iter().rev().take(3).any(|word| DENIED.contains(&word.as_str()));
    let is_none = match after.as_slice() {
        // "Blockers:" names none, and neither does "Blockers: -".
        [] => before.is_empty() && !rest.trim_matches('.').is_empty(),
        [only] => NONE.contains(&only.as_str()),
        // "no answer from Bob" is a blocker.
        [first, ..] => after.len() <= 3 && first != "no" && NONE.contains(&first.as_str()),
    };
    !is_denied && !is_none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocker_is_found_unless_there_is_none() {
        let blocker = |text: &str| PersonSaid { name: "Ann".into(), text: text.into() }.find_blocker().map(str::to_owned);
        assert_eq!(blocker("Import done. Tests today. I'm stuck on the key.").as_deref(), Some("I'm stuck on the key."));
        assert_eq!(blocker("import\ntests\nBlocked: waiting for the certificate").as_deref(), Some("waiting for the certificate"));
        assert_eq!(blocker("Blocked: no answer from Bob").as_deref(), Some("no answer from Bob"));
        assert_eq!(blocker("Blocker - the build is red").as_deref(), Some("Blocker - the build is red"));
        for none in [
            "All good.",
            "No blockers.",
            "Blockers: none",
            "Blockers: no",
            "Blockers: none today",
            "I am not blocked",
            "nothing in my way",
            "Blockers: -",
            "Blockers:",
        ] {
            assert_eq!(blocker(none), None, "{none}");
        }
    }
}
