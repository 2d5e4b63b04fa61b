//! The names of people and channels in what the command line prints.

use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
use kernel::chat::text::{ChannelRef, Mention, Part, parts};
use kernel::db::Result;
use kernel::ids::ChannelId;

/// Writes the names that the team knows. A chat shows names for ids by itself, a terminal does not.
pub(super) async fn with_names(store: &Store, text: &str) -> Result<String> {
    let mut named = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Markdown(markdown) => named.push_str(markdown),
            Part::Mention(id) => match store.find_name(&id).await? {
                Some(name) => named.extend(["@", &Medium::Chat.line(&name)]),
                None => named.push_str(&Mention(&id).to_string()),
            },
            Part::Channel(id) => named.push_str(&describe(store, &id).await?),
        }
    }
    Ok(named)
}

async fn describe(store: &Store, id: &ChannelId) -> Result<String> {
    let channels = store.list_channels().await?;
    let Some(channel) = channels.into_iter().map(|seen| seen.channel).find(|channel| channel.id == *id) else {
        return Ok(ChannelRef(id).to_string());
    };
    let name = |name: &str| format!("#{}", Medium::Chat.line(name));
    Ok(match &channel.place {
        Place::Direct => "a direct conversation".to_owned(),
        // On Slack, threads have no names.
        Place::Thread { parent_name, .. } if channel.name == *parent_name => format!("a thread in {}", name(parent_name)),
        Place::Thread { parent_name, .. } => format!("{} in {}", name(&channel.name), name(parent_name)),
        Place::Server => name(&channel.name),
    })
}
