//! The tools that need no host outside: the workspace, the repository, the feeds, what the team remembers, its backlog.

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

/// What they are made of.
pub struct LocalParts {
    pub workspaces: Workspaces,
    /// Where the repository lies that the team works on, or a folder of it.
    pub work: PathBuf,
    pub feeds: Arc<dyn FeedReader>,
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People who may own work, with the name that they are called by.
    pub people: Vec<(UserId, String)>,
}

/// All of them.
pub fn local_tools(parts: LocalParts) -> Vec<Arc<dyn Tool>> {
    let LocalParts { workspaces, work, feeds, store, roster, people } = parts;
    let mut tools = workspace_tools(&workspaces);
    tools.extend(git_tools(&work));
    tools.extend(memory_tools(&store));
    tools.push(Arc::new(ReadFeed(feeds)));
    tools.push(Arc::new(BacklogAdd { store, roster, people }));
    tools
}
