//! What a chat shows, for a terminal: text without Markdown, names for ids.

use crate::cli::width;
use crate::store::Store;
use kernel::chat::format::align_tables_within;
use kernel::chat::medium::Medium;
use kernel::chat::message::Place;
pub(super) use kernel::chat::text::plain;
use kernel::chat::text::{ChannelRef, Mention, Part, parts};
use kernel::db::Result;
use kernel::ids::ChannelId;

/// A reply for a terminal: tables are aligned and fit its width, and Markdown is removed.
pub(super) fn render(markdown: &str) -> String {
    // In a chat a code block keeps the columns of a table. A terminal needs none.
    plain(align_tables_within(markdown, width::of_table()).replace("```\n", "").replace("\n```", "").trim())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_what_was_written() {
        assert_eq!(plain(r"**Split \*\*a\_b\*\*** (#1), `x*y` 2 \<= 3 at C:\\dir\new"), r"Split **a_b** (#1), `x*y` 2 <= 3 at C:\dir\new");
        assert_eq!(plain("<user:discord:42> in <channel:discord:7>\n<small>in short</small>"), "@42 in #7\nin short");
        assert_eq!(render("Costs\n\n| a | b |\n| --- | --- |\n| **x** | y |\n").matches('`').count(), 0);
    }
}
