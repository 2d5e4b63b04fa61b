//! The tools that need no outside host: the workspace, the repository, the feeds, the memory, the backlog.

use std::path::PathBuf;
use std::sync::Arc;

use crate::features::backlog::tools::BacklogAdd;
use crate::store::Store;
use kernel::ids::UserId;
use kernel::memory::tools::memory_tools;
use kernel::persona::roster::Roster;
use kernel::tools::git::git_tools;
use kernel::tools::read_feed::ReadFeed;
use kernel::tools::workspace::{Workspaces, workspace_tools};
use kernel::tools::{FeedReader, Tool};

/// Dependencies of the local tools.
pub struct LocalDeps {
    pub workspaces: Workspaces,
    /// The repository that the team works on, or a folder of it.
    pub work: PathBuf,
    pub feeds: Arc<dyn FeedReader>,
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People who may own work, with their names.
    pub people: Vec<(UserId, String)>,
}

/// All local tools.
pub fn local_tools(deps: LocalDeps) -> Vec<Arc<dyn Tool>> {
    let LocalDeps { workspaces, work, feeds, store, roster, people } = deps;
    let mut tools = workspace_tools(&workspaces);
    tools.extend(git_tools(&work));
    tools.extend(memory_tools(&store));
    tools.push(Arc::new(ReadFeed(feeds)));
    tools.push(Arc::new(BacklogAdd { store, roster, people }));
    tools
}
