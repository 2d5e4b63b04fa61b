//! A persona: an agent of the team as its file describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::PersonaSlug;

/// One agent of the team. Built by `persona::file` from `personas/<slug>.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    pub slug: PersonaSlug,
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// What it is on the team, in a few words: "data".
    pub role: String,
    /// Subjects it knows, for finding the right persona.
    pub expertise: Vec<String>,
    /// Colour of its name and avatar, `0xRRGGBB`.
    pub color: u32,
    pub tier: Tier,
    /// The coordinator answers where nobody else was asked. The roster has exactly one.
    pub coordinator: bool,
    pub tools: Vec<String>,
    pub feeds: Vec<FeedSpec>,
    /// Channels by name, and what the persona does there unasked.
    pub channels: BTreeMap<String, ChannelHabit>,
    pub standup: StandupRole,
    /// How it sounds when spoken aloud, as free settings for a speech engine.
    pub voice: BTreeMap<String, String>,
    /// The system prompt: the Markdown below the front matter.
    pub prompt: String,
}

/// A class of language model.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Cheap.
    #[default]
    T1,
    /// Strong.
    T2,
    /// The best there is.
    T3,
}

impl Tier {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::T1 => "t1",
            Self::T2 => "t2",
            Self::T3 => "t3",
        }
    }
}

/// What a persona does in a channel without being addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelHabit {
    /// Messages that address nobody else are for this persona.
    Answer,
    /// Nobody answers unaddressed messages here.
    Listen,
}

/// A persona's part in the standup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandupRole {
    /// What it reports on, told to it in its turn.
    pub role: String,
    /// The most characters of its report.
    pub cap: usize,
    pub duty: Option<StandupDuty>,
}

/// What one persona does for the standup as a whole. The roster has at most one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandupDuty {
    /// Takes a position on the essential question.
    Call,
    /// Reports the delta: yesterday's Day Report against today.
    Delta,
}

/// A live data source, as declared in a persona's front matter. What each kind takes is checked by `feeds`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedSpec {
    /// `git`, `files`, `activity`, `ledger`, …
    pub kind: String,
    /// Shown in reports and citations; by default the kind.
    pub name: String,
    /// The other keys of the declaration.
    pub settings: serde_json::Map<String, serde_json::Value>,
}
