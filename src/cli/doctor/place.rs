use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::store::Store;
use kernel::finding::Finding;

/// With less, logs, backups and the database soon have no room.
const LEAST: u64 = 500 << 20;

/// The room on the disk that holds the team's data.
pub(super) fn check_disk(data: &Path) -> Option<Finding> {
    // The folder may not be there yet.
    let disk = data.ancestors().filter(|folder| !folder.as_os_str().is_empty()).find_map(|folder| rustix::fs::statvfs(folder).ok())?;
    Some(judge(disk.f_bavail.saturating_mul(disk.f_frsize), data))
}

fn judge(free: u64, data: &Path) -> Finding {
    let text = format!("disk: {} MB free for {}", free >> 20, data.display());
    if free < LEAST { Finding::warning(text, "Make room, or set `data` to a folder on another disk.") } else { Finding::good(text) }
}

/// Whether the database is sound and can be written.
pub(super) async fn check_database(store: &Store) -> Finding {
    let place = store.place();
    if let Err(error) = store.try_write().await {
        return Finding::fault(format!("database {place}: {error}"), "Give this account the right to write there.");
    }
    match store.summary().await {
        Ok(summary) if summary.damage.is_empty() => {
            Finding::good(format!("database: {} at {}, can be written", summary.engine, summary.place))
        }
        Ok(summary) => Finding::fault(
            format!("database {place}: damaged ({})", summary.damage.join("; ")),
            "Keep the file, and put a backup in its place with `teamroom restore`.",
        ),
        Err(error) => Finding::fault(format!("database {place}: {error}"), "See whether the database server works."),
    }
}

/// A folder for a database that is thrown away.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// # Errors
    /// The folder for temporary files cannot be written, or has one of this name.
    pub(super) fn make() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("teamroom-doctor-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    pub(super) fn url(&self) -> SecretString {
        format!("sqlite:{}", self.0.join("teamroom.db").display()).into()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::finding::Grade;

    #[test]
    fn a_disk_that_is_nearly_full_is_a_warning() {
        assert_eq!(judge(LEAST, Path::new("x")), Finding::good("disk: 500 MB free for x"));
        assert_eq!(judge(LEAST - 1, Path::new("x")).grade, Grade::Warn);
        assert!(check_disk(Path::new("/no/such/folder")).is_some(), "the room where the folder would be");
    }
}
