//! The tools of the team.

use std::sync::Arc;

use super::TeamFeeds;
use crate::config::Config;
use crate::domain::roster::Roster;
use crate::persona::turn::Performer;
use crate::tools::web::{SystemLookup, web_tools};
use crate::tools::workspace::Workspaces;
use crate::tools::{LocalParts, Toolbox, local_tools};

/// All tools that there are by these settings.
///
/// # Errors
/// A tool is set in a way that cannot work, or a persona lists one that there is none of.
pub(super) fn toolbox(config: &Config, roster: &Arc<Roster>, performer: &Performer, workspaces: &Workspaces) -> anyhow::Result<Toolbox> {
    let mut tools = local_tools(LocalParts {
        workspaces: workspaces.clone(),
        work: config.work.clone(),
        feeds: Arc::new(TeamFeeds { readings: performer.readings.clone() }),
        store: performer.store.clone(),
        roster: roster.clone(),
        people: super::people(config),
    });
    tools.extend(web_tools(&config.tools, Arc::new(SystemLookup))?);
    let toolbox = Toolbox::new(tools, performer.clock.clone());
    for persona in roster.personas() {
        toolbox.check_listed(&persona.tools).map_err(|unknown| anyhow::anyhow!("{} lists a tool wrongly: {unknown}", persona.name))?;
    }
    Ok(toolbox)
}
