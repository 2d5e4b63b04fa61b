//! The audio text of a look back: each insight, and who saw no tension.

use async_trait::async_trait;

use crate::features::overwatch::commands::OverwatchCommands;
use crate::features::overwatch::model::{Insight, InsightKind};
use crate::features::overwatch::render::{message_id, whom};
use crate::features::voice::{Chapter, Playable, Script};
use kernel::chat::medium::shorten;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::{CommandCall, Late, refuse};
use kernel::persona::roster::Roster;
use kernel::text::{fold_name, join_with_and};

pub(super) struct OverwatchAudio {
    pub(super) commands: Late<OverwatchCommands>,
}

pub(super) const KIND: &str = "overwatch";

#[async_trait]
impl Playable for OverwatchAudio {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// Finds the look back by words of its title.
    async fn find_asked(&self, call: &CommandCall) -> anyhow::Result<String> {
        let insights = self.commands.get()?.list(call).await?;
        let words = call.arguments.find_text("id").map(fold_name);
        let is_meant = |insight: &&Insight| words.as_ref().is_none_or(|words| fold_name(&insight.title).contains(words));
        match insights.iter().filter(is_meant).find_map(Insight::run_key) {
            Some(key) => Ok(key.to_owned()),
            None => Ok(refuse("nobody has looked back at such a mission here")?),
        }
    }

    async fn find_script(&self, id: &str) -> anyhow::Result<Option<Script>> {
        let commands = self.commands.get()?;
        let insights = commands.list_of(id).await?;
        let Some(first) = insights.first() else { return Ok(None) };
        // The audio goes into the thread of the insights.
        let mut posted = None;
        for what in insights.iter().map(|insight| insight.id.as_str()).chain(["quiet"]) {
            if posted.is_none() {
                posted = commands.store.find_posted(&message_id(id, what)).await?;
            }
        }
        let coordinator = &commands.roster.coordinator().slug;
        Ok(posted.map(|posted| Script {
            id: id.to_owned(),
            title: format!("Looking back at {}", shorten(&first.title, 90)),
            file: "looking-back".to_owned(),
            chapters: chapters(&insights, &commands.roster),
            message: OutboundMessage::new(coordinator, &posted.channel, OutboundKind::Notice, ""),
        }))
    }
}

fn chapters(insights: &[Insight], roster: &Roster) -> Vec<Chapter> {
    let (quiet, seen): (Vec<&Insight>, Vec<&Insight>) = insights.iter().partition(|insight| insight.kind == InsightKind::None);
    let chapter = |insight: &Insight| Chapter {
        who: Some(insight.by.clone()),
        name: roster.name_of(&insight.by).to_owned(),
        text: format!("To {}: {}", whom(insight.to.as_ref(), roster), insight.text),
    };
    let mut chapters: Vec<Chapter> = seen.into_iter().map(chapter).collect();
    if !quiet.is_empty() {
        let names: Vec<&str> = quiet.iter().map(|insight| roster.name_of(&insight.by)).collect();
        let coordinator = roster.coordinator();
        let text = format!("Looking back, {} saw no tension.", join_with_and(&names));
        chapters.push(Chapter { who: Some(coordinator.slug.clone()), name: coordinator.name.clone(), text });
    }
    chapters
}
