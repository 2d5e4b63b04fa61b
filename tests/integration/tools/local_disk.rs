//! A full disk. Needs permission to mount a file system.

use std::path::Path;
use std::process::Command;

use kernel::tools::ToolError;
use kernel::tools::workspace::Workspaces;

use crate::support::skip;

/// A file system of 256 KiB in memory. None, with a reported skip, without permission to mount.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(directory.path()).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(directory)),
            Ok(output) => missing(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => missing(&error.to_string()),
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn missing(why: &str) -> Option<SmallDisk> {
    skip::missing("mount", why.trim());
    None
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_the_old_file() {
    let Some(disk) = SmallDisk::mount() else { return };
    let workspace = Workspaces::new(disk.path().join("workspaces")).open(&"item".into()).await.unwrap();
    workspace.write("a.md", b"old").await.unwrap();
    let full = workspace.write("a.md", &vec![b'x'; 512 * 1024]).await;
    let told = "a.md was not written, and what was there before is as it was: the disk is full";
    assert_eq!(full, Err(ToolError::Failed(told.into())));
    assert_eq!(workspace.read("a.md", 10).await.unwrap().head, b"old");
    let left: Vec<_> = std::fs::read_dir(workspace.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "the half that was written is gone");
    workspace.write("b.md", b"there is room again").await.unwrap();
}
