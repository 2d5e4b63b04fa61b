//! Removes workspaces that nobody needs any more.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::{COPIES, Workspaces, blocking};
use crate::ids::WorkItemId;

/// Where a workspace goes before its files are deleted, so that nobody finds a half-deleted one after a crash.
const REMOVED: &str = ".teamroom-removed";

impl Workspaces {
    /// The items with a workspace. Empty if there are none yet.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub async fn list_items(&self) -> io::Result<Vec<WorkItemId>> {
        let root = self.root.clone();
        blocking(move || {
            let Some(root) = open(&root)? else { return Ok(Vec::new()) };
            let mut items = Vec::new();
            for entry in root.entries()? {
                let entry = entry?;
                let name = entry.file_name().into_string().unwrap_or_default();
                if entry.file_type()?.is_dir() && !name.is_empty() && !name.starts_with('.') {
                    items.push(WorkItemId::new(name));
                }
            }
            items.sort_unstable();
            Ok(items)
        })
        .await
    }

    /// Removes the workspace of an item, with its copy. Nothing happens if it has none.
    ///
    /// # Errors
    /// The disk. What is left of it is removed by [`Self::clear_removed`].
    pub async fn remove(&self, item: &WorkItemId) -> io::Result<()> {
        let (root, name) = (self.root.clone(), item.to_string());
        blocking(move || {
            let Some(root) = open(&root)? else { return Ok(()) };
            root.create_dir_all(REMOVED)?;
            for (from, to) in [(name.clone(), format!("{REMOVED}/{name}")), (format!("{COPIES}/{name}"), format!("{REMOVED}/{name}.copy"))]
            {
                // Removes what a crash in this function left. The workspace may have been begun again since.
                unless_missing(root.remove_dir_all(&to))?;
                unless_missing(root.rename(&from, &root, &to))?;
                unless_missing(root.remove_dir_all(&to))?;
            }
            Ok(())
        })
        .await
    }

    /// Removes what is left of workspaces whose removal was cut off.
    ///
    /// # Errors
    /// The disk.
    pub async fn clear_removed(&self) -> io::Result<()> {
        let root = self.root.clone();
        blocking(move || match open(&root)? {
            Some(root) => unless_missing(root.remove_dir_all(REMOVED)),
            None => Ok(()),
        })
        .await
    }
}

fn open(root: &Path) -> io::Result<Option<Dir>> {
    match Dir::open_ambient_dir(root, ambient_authority()) {
        Ok(root) => Ok(Some(root)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_workspace_is_removed_whole_and_no_other_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::new(dir.path().join("workspaces"));
        assert!(workspaces.list_items().await.unwrap().is_empty(), "there is no folder yet");
        workspaces.remove(&"gone".into()).await.unwrap();
        workspaces.clear_removed().await.unwrap();
        for id in ["a", "b"] {
            workspaces.open(&id.into()).await.unwrap().write("notes/plan.md", b"text").await.unwrap();
        }
        let outside = dir.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "").unwrap();
        std::os::unix::fs::symlink(&outside, dir.path().join("workspaces/a/link")).unwrap();
        std::os::unix::fs::symlink(&outside, dir.path().join("workspaces/c")).unwrap();
        let copy = dir.path().join("workspaces").join(COPIES).join("a");
        std::fs::create_dir_all(&copy).unwrap();
        assert_eq!(workspaces.list_items().await.unwrap(), ["a".into(), "b".into()], "a link is no workspace");
        workspaces.remove(&"a".into()).await.unwrap();
        workspaces.remove(&"a".into()).await.unwrap();
        assert_eq!(workspaces.list_items().await.unwrap(), ["b".into()]);
        assert!(outside.join("kept").is_file() && !copy.exists());

        // As a killed process leaves it.
        let cut_off = dir.path().join("workspaces").join(REMOVED).join("b");
        std::fs::create_dir_all(cut_off.join("notes")).unwrap();
        workspaces.remove(&"b".into()).await.unwrap();
        std::fs::create_dir_all(cut_off.join("notes")).unwrap();
        assert!(workspaces.list_items().await.unwrap().is_empty(), "nobody finds the half of one");
        workspaces.clear_removed().await.unwrap();
        assert!(!cut_off.exists());
    }
}
