//! A roster for tests.

use std::collections::BTreeMap;

use crate::ids::UserId;
use crate::persona::roster::{Accounts, Roster};
use crate::persona::{Persona, StandupRole, Tier, Voice};

/// Kelly (coordinator), Vince (also "V"), Eliza, Solus, and Echo, who has no account.
pub fn roster() -> Roster {
    let personas =
        [("kelly", "Kelly", ""), ("vince", "Vince", "V"), ("eliza", "Eliza", ""), ("solus", "Solus", ""), ("echo", "Echo", "Big Ear")];
    Roster::new(personas.map(|(slug, name, alias)| persona(slug, name, alias)).into()).expect("the sample is a roster")
}

/// Accounts `discord:101` (Kelly) to `discord:104` (Solus), and `discord:199` of a persona that has left.
pub fn accounts() -> Accounts {
    let mut accounts = Accounts::default();
    for (id, slug) in [("101", "kelly"), ("102", "vince"), ("103", "eliza"), ("104", "solus"), ("199", "gone")] {
        accounts.record(UserId::on("discord", id), slug.into());
    }
    accounts
}

pub fn persona(slug: &str, name: &str, alias: &str) -> Persona {
    Persona {
        slug: slug.into(),
        name: name.to_owned(),
        aliases: Some(alias).filter(|alias| !alias.is_empty()).map(str::to_owned).into_iter().collect(),
        role: "test".to_owned(),
        expertise: Vec::new(),
        color: 0,
        avatar: None,
        tier: Tier::T1,
        coordinator: slug == "kelly",
        tools: Vec::new(),
        feeds: Vec::new(),
        channels: BTreeMap::new(),
        standup: StandupRole { role: "reports".to_owned(), cap: 800, duty: None },
        voice: Voice::of(slug),
        prompt: "You are a test.".to_owned(),
    }
}
