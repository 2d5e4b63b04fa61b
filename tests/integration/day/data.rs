//! The parts of the day as `tests/data/day/*.yaml` has them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::purpose::Purpose;
use crate::support::root;

/// The files below `tests/data/day/`.
const PARTS: [&str; 8] = ["memory", "talk", "sources", "tasks", "results", "standup", "board", "mission"];

/// A part of the day: one team, and what happens to it, in order.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// Files below the team's folder before it starts.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Whether time goes by faster while somebody waits: for work, and not for talk, because the sandbox dates messages by the machine's clock.
    #[serde(default)]
    pub(super) hurries: bool,
    pub(super) situations: Vec<Situation>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Situation {
    pub(super) name: String,
    pub(super) kind: String,
    /// Nothing new happens: another call of the situation before is looked at.
    #[serde(default)]
    pub(super) with_previous: bool,
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    /// The model call that is looked at. Of several the last.
    pub(super) look: Purpose,
    /// Words that tell the call from others of its purpose.
    #[serde(default)]
    pub(super) about: String,
    /// What its prompt must have.
    pub(super) needs: Vec<Fact>,
    /// What its prompt must not have.
    #[serde(default)]
    pub(super) not: Vec<String>,
    /// Answers of the model other than the usual ones.
    #[serde(default)]
    pub(super) answers: BTreeMap<Purpose, Json>,
    /// The first reviewer finds this missing.
    #[serde(default)]
    pub(super) sends_back: Option<String>,
    /// The model does not answer these calls before the step `release`.
    #[serde(default)]
    pub(super) holds: Option<Purpose>,
    /// Tools that the model calls first.
    #[serde(default)]
    pub(super) calls: BTreeMap<Purpose, Vec<Call>>,
}

/// Words, or several ways to write them.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum Fact {
    Words(String),
    Either(Vec<String>),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Json,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    /// A person says something. The team comes to rest.
    Say(Words),
    /// A person changes a message.
    Edit { of: String, to: String },
    /// A person opens a thread on the newest message with these words.
    Thread { on: String, name: String },
    /// Bob reacts to the newest message with these words.
    React { to: String, emoji: String },
    /// A person clicks a button of the newest message with these words.
    Press { on: String, label: String },
    /// A person uses a command.
    Command {
        name: String,
        action: String,
        #[serde(default)]
        options: BTreeMap<String, String>,
    },
    /// A page or a feed of the web changes.
    Page { path: String, text: String },
    /// A file below the team's folder changes.
    File { path: String, text: String },
    /// Minutes go by.
    Pass(u64),
    /// The team says this.
    Hears(Place),
    /// The item with this beginning comes to be done.
    Done(String),
    /// The item with this beginning begins.
    Begun(String),
    /// The model is asked this, for the first time since the situation began.
    Asked(Purpose),
    /// What the model holds back goes on.
    Release,
    /// A meeting of this kind is over.
    Over(String),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) text: String,
    /// Ann, or Bob.
    #[serde(default)]
    pub(super) by: Option<String>,
    /// The name of a channel, or of a thread in part.
    #[serde(default = "general")]
    pub(super) r#in: String,
    /// It replies to the newest message with these words.
    #[serde(default)]
    pub(super) reply: Option<String>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Does not wait until the team is at rest.
    #[serde(default)]
    pub(super) at_once: bool,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) text: String,
    #[serde(default = "general")]
    pub(super) r#in: String,
}

fn general() -> String {
    "general".to_owned()
}

impl Fact {
    /// The words in a text, if it has them.
    pub(super) fn find(&self, text: &str) -> Option<&str> {
        self.ways().into_iter().find(|way| text.contains(way))
    }

    pub(super) fn ways(&self) -> Vec<&str> {
        match self {
            Self::Words(words) => vec![words],
            Self::Either(ways) => ways.iter().map(String::as_str).collect(),
        }
    }
}

/// All parts of the day, or those that `TEAMROOM_TEST_DAY` names.
pub(super) fn parts() -> Vec<(&'static str, Part)> {
    read_all(|_| ())
}

/// The same day, in which nobody gives what a situation needs.
pub(super) fn parts_without_facts() -> Vec<(&'static str, Part)> {
    read_all(take_facts_away)
}

fn read_all(change: fn(&mut Json)) -> Vec<(&'static str, Part)> {
    let only = std::env::var_os("TEAMROOM_TEST_DAY");
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| only.to_string_lossy().split(',').any(|only| only == name));
    let wanted = PARTS.into_iter().filter(|name| is_wanted(name));
    wanted.map(|name| (name, read(name, change))).collect()
}

fn read(name: &str, change: fn(&mut Json)) -> Part {
    let text = std::fs::read_to_string(root().join(format!("tests/data/day/{name}.yaml"))).unwrap();
    let mut part: Json = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    change(&mut part);
    serde_json::from_value(part).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Takes the facts of all situations out of everything that people, files and the model say.
fn take_facts_away(part: &mut Json) {
    let mut facts = Vec::<Fact>::new();
    for situation in part["situations"].as_array().into_iter().flatten() {
        facts.extend(serde_json::from_value::<Vec<Fact>>(situation["needs"].clone()).unwrap());
    }
    for situation in part["situations"].as_array_mut().into_iter().flatten() {
        for given in ["steps", "answers", "calls", "sends_back"] {
            if let Some(value) = situation.get_mut(given) {
                blot_out(value, &facts);
            }
        }
    }
    if let Some(files) = part.get_mut("files") {
        blot_out(files, &facts);
    }
}

/// Replaces facts in all texts.
fn blot_out(value: &mut Json, facts: &[Fact]) {
    match value {
        Json::String(text) => {
            *text = facts.iter().flat_map(Fact::ways).fold(std::mem::take(text), |text, way| text.replace(way, "something"));
        }
        Json::Array(values) => values.iter_mut().for_each(|value| blot_out(value, facts)),
        Json::Object(values) => values.values_mut().for_each(|value| blot_out(value, facts)),
        _ => {}
    }
}
