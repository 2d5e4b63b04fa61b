//! Which tools a person's words are about, in several languages.

use std::collections::BTreeSet;
use std::sync::Arc;

use kernel::agent::list_fitting;
use kernel::time::SystemClock;
use kernel::tools::Toolbox;

use super::local::Bench;

/// What people say who need a tool.
const SENTENCES: &[(&str, &str)] = &[
    ("memory_save", "please remember that invoices go out on Fridays"),
    ("memory_save", "merk dir bitte, dass Rechnungen freitags rausgehen"),
    ("memory_save", "note that the router is in the cellar"),
    ("memory_search", "do you remember what we agreed on the discount?"),
    ("memory_search", "was wurde damals zum Rabatt gesagt?"),
    ("memory_forget", "forget my old phone number"),
    ("memory_forget", "vergiss bitte meine alte Nummer"),
    ("backlog_search", "what is still open for Ann?"),
    ("backlog_search", "welche Aufgaben sind offen?"),
    ("backlog_search", "who is working on the migration?"),
    ("backlog_add", "put renewing the certificate on the list"),
    ("backlog_add", "setz das Zertifikat auf die Liste"),
    ("reminder_set", "remind me to call Bob tomorrow at nine"),
    ("reminder_set", "erinnere mich morgen um neun an den Anruf"),
    ("reminder_set", "ping me in two hours"),
    ("board_create", "please discuss with everybody whether we should drop the free plan"),
    ("board_create", "diskutiert bitte gemeinsam über den Preis"),
    ("item_read", "what was the result of the price comparison, show me the file"),
    ("item_read", "zeig mir das Ergebnis der Aufgabe"),
    ("meeting_read", "what did yesterday's standup report?"),
    ("meeting_read", "was wurde in der letzten Besprechung entschieden?"),
    ("read_feed", "what is the current p95 latency?"),
    ("read_feed", "wie sind die aktuellen Werte?"),
    ("git_log", "which commits went into the release?"),
    ("git_log", "was hat sich im Code geändert?"),
    ("git_diff", "what changed between v1 and v2?"),
    ("git_show", "show me commit a1b2c3d"),
    ("skill_read", "how do you write a decision document? tell me your ways of working"),
];

#[tokio::test]
async fn whoever_asks_for_something_is_offered_the_tool_for_it() {
    let bench = Bench::alone().await;
    let toolbox = Toolbox::new(bench.tools.clone(), Arc::new(SystemClock));
    // These are offered always, or never in a conversation.
    let is_chosen = |name: &&str| *name != "team_command" && !toolbox.needs_workspace(name);
    let names: Vec<String> = toolbox.names().filter(is_chosen).map(str::to_owned).collect();
    let of = |said: &str| list_fitting(&toolbox, &names, said);
    let wrong: Vec<String> = SENTENCES
        .iter()
        .filter(|(tool, said)| !of(said).iter().any(|name| name == tool))
        .map(|(tool, said)| format!("{tool}: {said}, but {:?}", of(said)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SENTENCES.len(), wrong.join("\n"));
    let asked_for: BTreeSet<&str> = SENTENCES.iter().map(|(tool, _)| *tool).collect();
    let unknown: Vec<&String> = names.iter().filter(|name| !asked_for.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "nobody asks for {unknown:?}");
}
