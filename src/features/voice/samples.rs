use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use crate::features::voice::script::{Chapter, Playable, Script};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::CommandCall;
use kernel::ids::ChannelId;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;

/// A sample of each persona's voice.
pub(super) struct Samples {
    pub(super) roster: Arc<Roster>,
}

#[async_trait]
impl Playable for Samples {
    fn kind(&self) -> &'static str {
        "voices"
    }

    /// Depends on all voices and samples, so that a change gives another result.
    async fn find_asked(&self, call: &CommandCall) -> anyhow::Result<String> {
        let voices: Vec<_> = self.roster.personas().iter().map(|persona| (&persona.slug, &persona.voice)).collect();
        let digest = Sha256::digest(format!("{voices:?}"));
        let digest = digest[..4].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let channel = call.channel.as_ref().map_or("", |channel| channel.id.as_str());
        Ok(format!("{digest}@{channel}"))
    }

    async fn find_script(&self, id: &str) -> anyhow::Result<Option<Script>> {
        let channel = ChannelId::new(id.split_once('@').map_or("", |(_, channel)| channel));
        let chapter = |persona: &Persona| Chapter {
            who: Some(persona.slug.clone()),
            name: persona.name.clone(),
            text: persona.voice.sample.clone().unwrap_or_else(|| format!("I'm {}. My subject is {}.", persona.name, persona.role)),
        };
        Ok(Some(Script {
            id: id.to_owned(),
            title: "Voices of the team".to_owned(),
            file: "voices".to_owned(),
            chapters: self.roster.personas().iter().map(chapter).collect(),
            message: OutboundMessage::new(&self.roster.coordinator().slug, &channel, OutboundKind::Notice, ""),
        }))
    }
}
