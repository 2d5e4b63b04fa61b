//! A team of four.

use std::collections::BTreeMap;

use crate::memory::{Memory, MemoryKind, MemorySource};
use crate::persona::roster::Roster;
use crate::persona::skill::{Skill, SkillKind};
use crate::persona::{FeedSpec, Persona, StandupRole, Tier, Voice};
use crate::testing::feeds::now;

pub fn roster() -> Roster {
    let personas = [
        persona("Kelly", "coordination", &["activity"]),
        persona("Vince", "data", &["ledger"]),
        persona("Sentinel", "code", &["git"]),
        persona("Solus", "the call", &[]),
    ];
    Roster::new(personas.into()).expect("a valid roster")
}

pub fn persona(name: &str, role: &str, feeds: &[&str]) -> Persona {
    let feed = |kind: &&str| FeedSpec { kind: (*kind).into(), name: (*kind).into(), settings: serde_json::Map::new() };
    Persona {
        slug: name.to_lowercase().into(),
        name: name.into(),
        aliases: Vec::new(),
        role: role.into(),
        expertise: vec![format!("{role} questions")],
        color: 0,
        avatar: None,
        tier: Tier::T1,
        coordinator: name == "Kelly",
        tools: Vec::new(),
        feeds: feeds.iter().map(feed).collect(),
        channels: BTreeMap::new(),
        standup: StandupRole { role: String::new(), cap: 600, duty: None },
        voice: Voice::of(&name.to_lowercase()),
        prompt: format!("You speak plainly and care about {role}."),
    }
}

/// A skill of everybody for research.
pub fn skill(slug: &str, text: &str) -> Skill {
    Skill {
        slug: slug.into(),
        name: slug.into(),
        summary: format!("How to do {slug}."),
        for_whom: Vec::new(),
        kinds: vec![SkillKind::Research],
        words: Vec::new(),
        text: text.into(),
    }
}

pub fn lesson(text: &str, tags: &[&str]) -> Memory {
    Memory {
        id: "m".into(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        significance: 0.4,
        ..Memory::new(MemoryKind::Lesson, text, MemorySource::WorkItem("i".into()), now())
    }
}
