use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::PersonaSlug;
use crate::persona::picture::Picture;
use crate::persona::voice::Voice;

/// A persona of the team. Parsed by `persona::file` from `personas/<slug>.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    pub slug: PersonaSlug,
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// Its job in a few words: "data".
    pub role: String,
    /// Its subjects, for choosing the right persona.
    pub expertise: Vec<String>,
    /// Colour of its name and avatar, `0xRRGGBB`.
    pub color: u32,
    /// Its own picture. None: one is generated.
    pub avatar: Option<Picture>,
    pub tier: Tier,
    /// The coordinator answers messages for which nobody else is responsible. The roster has exactly one.
    pub coordinator: bool,
    pub tools: Vec<String>,
    pub feeds: Vec<FeedSpec>,
    /// Channels by name, and how the persona acts there without being addressed.
    pub channels: BTreeMap<String, ChannelHabit>,
    pub standup: StandupRole,
    pub voice: Voice,
    /// The Markdown below the front matter.
    pub prompt: String,
}

/// A class of models.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Cheap.
    #[default]
    T1,
    /// Strong.
    T2,
    /// The strongest.
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

impl Persona {
    /// Whether it has a tool.
    pub fn can(&self, tool: &str) -> bool {
        self.tools.iter().any(|listed| listed == tool)
    }
}

/// What a persona does with messages that address nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelHabit {
    /// Answers them.
    Answer,
    /// Nobody answers them here.
    Listen,
}

/// A persona's part in the standup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandupRole {
    /// What it reports on, given in its prompt.
    pub role: String,
    /// The length limit of its report, in characters.
    pub cap: usize,
    pub duty: Option<StandupDuty>,
}

/// A duty in the standup. At most one persona of the roster has each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandupDuty {
    /// Makes the prediction.
    Call,
    /// Reports the delta: yesterday's Day Report against today.
    Delta,
}

/// A data source declared in a persona's front matter. `feeds` checks its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedSpec {
    /// `git`, `files`, `activity`, `ledger`, …
    pub kind: String,
    /// Shown in reports and citations. By default the kind.
    pub name: String,
    /// The other keys of the declaration.
    pub settings: serde_json::Map<String, serde_json::Value>,
}
