//! The tools that need no outside host: the workspace, the repository, the feeds, the memory, and those of the features.

use std::sync::Arc;

use crate::features::{self, ToolDeps};
use kernel::memory::tools::memory_tools;
use kernel::persona::skill::tool::SkillRead;
use kernel::tools::git::{GitFolders, git_tools};
use kernel::tools::read_feed::ReadFeed;
use kernel::tools::workspace::{Workspaces, workspace_tools};
use kernel::tools::{FeedReader, Tool};

/// Dependencies of the local tools.
pub struct LocalDeps {
    pub workspaces: Workspaces,
    /// The repositories that tools read.
    pub git: GitFolders,
    pub feeds: Arc<dyn FeedReader>,
    pub features: ToolDeps,
}

/// All local tools.
pub fn local_tools(deps: LocalDeps) -> Vec<Arc<dyn Tool>> {
    let mut tools = workspace_tools(&deps.workspaces);
    tools.extend(git_tools(deps.git));
    tools.extend(memory_tools(&deps.features.store, deps.features.config.schedules.zone));
    tools.push(Arc::new(ReadFeed(deps.feeds)));
    tools.push(Arc::new(SkillRead(deps.features.roster.clone())));
    tools.extend(features::tools(&deps.features));
    tools
}
