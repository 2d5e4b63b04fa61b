//! The tools that need no host outside: the workspace, the repository, the feeds, what the team remembers, its backlog.

use std::path::PathBuf;
use std::sync::Arc;

use super::backlog_add::BacklogAdd;
use super::git::git_tools;
use super::memory::memory_tools;
use super::read_feed::ReadFeed;
use super::workspace::{Workspaces, workspace_tools};
use super::{FeedReader, Tool};
use crate::domain::ids::UserId;
use crate::domain::roster::Roster;
use crate::store::Store;

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
