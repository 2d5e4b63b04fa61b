//! The tools of the team.

use std::sync::Arc;

use crate::app::{LocalDeps, TeamFeeds, local_tools};
use crate::config::Config;
use crate::features::{self, ToolDeps};
use crate::store::Store;
use kernel::agent::Readings;
use kernel::agent::documents::ReadDocument;
use kernel::commands::Services;
use kernel::persona::FeedSpec;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::Toolbox;
use kernel::tools::git::GitFolders;
use kernel::tools::web::{SystemLookup, web_tools};
use kernel::tools::workspace::Workspaces;

/// The repositories of the personas' git feeds, and those that items work in.
fn git_folders(config: &Config, roster: &Roster) -> GitFolders {
    let of_feed = |feed: &FeedSpec| {
        let folder =
            feed.settings.get("path").and_then(|path| path.as_str()).map_or_else(|| config.work.clone(), |path| config.work.join(path));
        (feed.kind == "git").then(|| (feed.name.clone(), folder))
    };
    GitFolders {
        work: config.work.clone(),
        of_persona: roster
            .personas()
            .iter()
            .map(|persona| (persona.slug.clone(), persona.feeds.iter().filter_map(of_feed).collect()))
            .collect(),
        configured: config.repositories.iter().map(|known| (known.name.clone(), known.path.clone())).collect(),
    }
}

/// All tools that these settings enable.
///
/// # Errors
/// The settings of a tool are invalid.
pub(super) fn toolbox(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    readings: &Readings,
    workspaces: &Workspaces,
    clock: &SharedClock,
    services: &Services,
) -> anyhow::Result<Toolbox> {
    let mut tools = local_tools(LocalDeps {
        workspaces: workspaces.clone(),
        git: git_folders(config, roster),
        feeds: Arc::new(TeamFeeds { readings: readings.clone(), zone: config.schedules.zone }),
        features: ToolDeps {
            store: store.clone(),
            roster: roster.clone(),
            people: super::deps::people_and_members(config, store, services),
            config: config.clone(),
            services: services.clone(),
            clock: clock.clone(),
        },
    });
    tools.push(Arc::new(ReadDocument { readings: readings.clone(), store: store.database() }));
    tools.extend(web_tools(&config.tools, Arc::new(SystemLookup))?);
    Ok(Toolbox::new(tools, clock.clone()).with_acts(features::acts()))
}
