//! The tools that need no outside host: the workspace, the repository, the feeds, the memory, the backlog.

use std::sync::Arc;

use crate::features::backlog::tools::{BacklogAdd, BacklogSearch};
use crate::features::memory::tool::MemoryForget;
use crate::store::Store;
use kernel::memory::tools::memory_tools;
use kernel::people::People;
use kernel::persona::roster::Roster;
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
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People who may own work, with their names.
    pub people: People,
}

/// All local tools.
pub fn local_tools(deps: LocalDeps) -> Vec<Arc<dyn Tool>> {
    let LocalDeps { workspaces, git, feeds, store, roster, people } = deps;
    let mut tools = workspace_tools(&workspaces);
    tools.extend(git_tools(git));
    tools.extend(memory_tools(&store));
    tools.push(Arc::new(MemoryForget(store.clone())));
    tools.push(Arc::new(ReadFeed(feeds)));
    tools.push(Arc::new(BacklogSearch { store: store.clone(), roster: roster.clone() }));
    tools.push(Arc::new(BacklogAdd { store, roster, people }));
    tools
}
