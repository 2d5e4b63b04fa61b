use std::path::PathBuf;

use kernel::config::settings;

settings! {
    /// `[backup]`: where the scheduled job keeps its copies, and how many.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BackupSettings {
        /// None: `backups` in the data directory.
        folder: Option<PathBuf> = None, "Where backups are kept. Default: backups in the data directory.";
        keep: u32 = 7, in 1..=1000, "How many backups the scheduled job keeps.";
    }
}
