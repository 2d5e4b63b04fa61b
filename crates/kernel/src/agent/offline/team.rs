//! Answers from the roster: who is on the team and what they can do.

use crate::agent::offline::{Draft, OfflineQuestion};
use crate::persona::Persona;

pub(super) fn greet(asked: &OfflineQuestion<'_>) -> Draft {
    let abilities = abilities(asked.persona);
    Draft::from(format!("Hello, {} here ({}). You can ask me {}.", asked.persona.name, asked.persona.role, abilities.join(", or ")))
}

pub(super) fn introduce(asked: &OfflineQuestion<'_>) -> Draft {
    let lines = asked.roster.personas().iter().map(|persona| {
        let coordinator = if persona.coordinator && persona.role != "coordinator" { ", coordinator" } else { "" };
        let expertise = if persona.expertise.is_empty() { String::new() } else { format!(": {}", persona.expertise.join(", ")) };
        format!("- **{}** ({}{coordinator}){expertise}", persona.name, persona.role)
    });
    Draft::from(format!(
        "The team:\n{}\nSay a name first (\"{}, …\") to ask one of us.",
        lines.collect::<Vec<_>>().join("\n"),
        asked.persona.name
    ))
}

pub(super) fn help(asked: &OfflineQuestion<'_>) -> Draft {
    let mut draft = Draft::from(format!("You can ask me ({}, {}):", asked.persona.name, asked.persona.role));
    draft.lines.extend(abilities(asked.persona).iter().map(|ability| format!("- {ability}")));
    let others = asked.roster.personas().iter().filter(|persona| persona.slug != asked.persona.slug && !persona.feeds.is_empty());
    draft.lines.extend(others.map(|other| format!("- **{}**: {}", other.name, feeds_of(other))));
    draft.line("`/help` lists the commands.");
    draft
}

/// Acknowledges a message. Promises nothing, because nobody understood the message.
pub(super) fn acknowledge() -> Draft {
    Draft { is_bare: true, ..Draft::from("I have read that. Without a language model I can't act on it.") }
}

/// Explains that the question needs a model, and what works without one. How to connect one is said once a day.
pub(super) fn cannot_judge(asked: &OfflineQuestion<'_>) -> Draft {
    Draft::unknown(format!(
        "I can't judge that without a language model. As {} ({}) I can answer {}.",
        asked.persona.name,
        asked.persona.role,
        abilities(asked.persona).join(", or ")
    ))
}

/// Requests in the words given below are carried out before a persona answers, so this one is none of them.
pub(super) fn cannot_do() -> Draft {
    Draft::unknown(
        "I can't do that without a language model. These requests work without one: \"add to the backlog: …\", \
         \"remind me tomorrow at 9 to …\", \"remember: …\". `/help` lists the commands.",
    )
}

pub(super) fn cannot_read_pages() -> Draft {
    Draft::unknown("I can't read pages without a language model. Post the text as a file, and I can quote it.")
}

pub(super) fn nothing_to_outline() -> Draft {
    Draft::unknown("I see no file here to summarise. Post one, or reply to the message that has it.")
}

pub(super) fn no_feeds(asked: &OfflineQuestion<'_>) -> Draft {
    Draft::unknown(format!("I have no feeds, so I don't know what changed.{}", hint(asked, |persona| !persona.feeds.is_empty())))
}

pub(super) fn no_ledger(asked: &OfflineQuestion<'_>) -> Draft {
    Draft::unknown(format!("I don't have access to costs.{}", hint(asked, |persona| reads(persona, "ledger"))))
}

/// Suggests another persona.
fn hint(asked: &OfflineQuestion<'_>, able: impl Fn(&Persona) -> bool) -> String {
    let others = asked.roster.personas().iter().filter(|persona| persona.slug != asked.persona.slug && able(persona));
    let others: Vec<_> = others.map(|persona| format!("{} ({})", persona.name, feeds_of(persona))).collect();
    if others.is_empty() { String::new() } else { format!(" Ask {}.", others.join(", ")) }
}

fn reads(persona: &Persona, kind: &str) -> bool {
    persona.feeds.iter().any(|feed| feed.kind == kind)
}

/// What this persona can answer without a model, based on its feeds.
fn abilities(persona: &Persona) -> Vec<String> {
    let mut abilities: Vec<String> = persona.feeds.iter().filter_map(|feed| example(&feed.kind)).map(str::to_owned).collect();
    abilities.dedup();
    abilities.push("a question about a text file you post here".to_owned());
    abilities
}

fn example(kind: &str) -> Option<&'static str> {
    match kind {
        "git" => Some("\"what happened this week?\" in the repository"),
        "files" => Some("a question about the knowledge folder"),
        "activity" => Some("\"what did the team do today?\""),
        "ledger" => Some("\"what did we spend?\""),
        "backlog" => Some("\"what is in the backlog?\""),
        "http_json" => Some("\"what happened this week?\" in my data sources"),
        "rss" => Some("\"what happened this week?\" in the news"),
        _ => None,
    }
}

fn feeds_of(persona: &Persona) -> String {
    let feeds: Vec<_> = persona.feeds.iter().map(|feed| feed.name.as_str()).collect();
    format!("reads {}", feeds.join(", "))
}
