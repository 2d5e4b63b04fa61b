//! The tools of the team.

use std::sync::Arc;

use crate::app::{LocalDeps, TeamFeeds, local_tools};
use crate::config::Config;
use crate::store::Store;
use kernel::agent::Readings;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::Toolbox;
use kernel::tools::web::{SystemLookup, web_tools};
use kernel::tools::workspace::Workspaces;

/// All tools that these settings enable.
///
/// # Errors
/// The settings of a tool are invalid, or a persona lists a tool that does not exist.
pub(super) fn toolbox(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    readings: &Readings,
    workspaces: &Workspaces,
    clock: &SharedClock,
) -> anyhow::Result<Toolbox> {
    let mut tools = local_tools(LocalDeps {
        workspaces: workspaces.clone(),
        work: config.work.clone(),
        feeds: Arc::new(TeamFeeds { readings: readings.clone() }),
        store: store.clone(),
        roster: roster.clone(),
        people: super::people(config),
    });
    tools.extend(web_tools(&config.tools, Arc::new(SystemLookup))?);
    let toolbox = Toolbox::new(tools, clock.clone());
    for persona in roster.personas() {
        toolbox.check_listed(&persona.tools).map_err(|unknown| anyhow::anyhow!("{} lists a tool wrongly: {unknown}", persona.name))?;
    }
    Ok(toolbox)
}
