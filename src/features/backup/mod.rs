//! Backups by the schedule: a job with the action `backup` writes a copy of the database, and removes the oldest ones.
//!
//! `teamroom backup` and `teamroom restore` use the same code of the kernel.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::features::schedule::action::{Action, ActionOutcome};
use crate::features::schedule::model::ActionKind;
use crate::features::{Feature, FeatureDeps, FeatureSection};
use kernel::commands::Services;
use kernel::config::Section;
use kernel::db::backup::{back_up, is_name_of_copy, name};
use kernel::time::SharedClock;

pub use settings::BackupSettings;

const BACKUP: ActionKind =
    ActionKind { name: "backup", noun: "a backup", needs_channel: false, may_be_below_a_minute: false, built_in: None };

/// The longest that a copy may take.
const LIMIT: Duration = Duration::from_hours(1);

pub struct BackupFeature;

impl FeatureSection for BackupSettings {}

impl Feature for BackupFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        Some(Arc::new(BackupSettings::read(&mut root.section("backup"))))
    }

    fn action_kinds(&self) -> &'static [ActionKind] {
        &[BACKUP]
    }

    fn actions(&self, deps: &FeatureDeps<'_>, _services: &Services) -> Vec<Arc<dyn Action>> {
        let settings = &deps.config.features.get::<BackupSettings>();
        vec![Arc::new(TakeBackup {
            database: deps.config.database_url.clone(),
            folder: settings.folder.clone().unwrap_or_else(|| deps.config.data.join("backups")),
            keep: usize::try_from(settings.keep).unwrap_or(usize::MAX),
            clock: deps.clock.clone(),
        })]
    }
}

struct TakeBackup {
    database: SecretString,
    folder: PathBuf,
    keep: usize,
    clock: SharedClock,
}

#[async_trait]
impl Action for TakeBackup {
    fn kind(&self) -> ActionKind {
        BACKUP
    }

    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        let file = self.folder.join(name(&self.database, self.clock.now()));
        tokio::time::timeout(LIMIT, back_up(&self.database, &file)).await??;
        tracing::info!(file = %file.display(), "a backup was written");
        remove_oldest(&self.folder, self.keep)?;
        Ok(ActionOutcome::Done(Vec::new()))
    }
}

/// Removes all but the newest copies. Other files are left alone.
fn remove_oldest(folder: &Path, keep: usize) -> std::io::Result<()> {
    let mut names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>()?;
    names.retain(|name| name.to_str().is_some_and(is_name_of_copy));
    names.sort_unstable();
    for old in names.iter().rev().skip(keep) {
        fs::remove_file(folder.join(old))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kernel::time::{Clock as _, ManualClock};

    use super::*;
    use crate::store::Store;

    #[test]
    fn the_newest_copies_are_kept_and_other_files_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            "teamroom-2026-11-23T03-00-00Z.db",
            "teamroom-2026-11-24T03-00-00Z.dump",
            "teamroom-2026-11-25T03-00-00Z.db",
            "mine.db",
            "teamroom.toml",
        ];
        for name in all {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_oldest(folder.path(), 2).unwrap();
        let left: Vec<_> = all.iter().filter(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, [&all[1], &all[2], &all[3], &all[4]]);
    }

    #[tokio::test]
    async fn the_job_writes_a_copy_a_day_and_keeps_the_newest() {
        let home = tempfile::tempdir().unwrap();
        let database: SecretString = format!("sqlite:{}", home.path().join("teamroom.db").display()).into();
        let clock = ManualClock::new("2026-11-24T03:00:00Z".parse().unwrap());
        let store = Store::open(&database, clock.now()).await.unwrap();
        let folder = home.path().join("backups");
        let action = TakeBackup { database, folder: folder.clone(), keep: 2, clock: Arc::new(clock.clone()) };
        for _ in 0..3 {
            assert_eq!(action.run().await.unwrap(), ActionOutcome::Done(Vec::new()));
            clock.advance(Duration::from_hours(24));
        }
        store.close().await;
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["teamroom-2026-11-25T03-00-00Z.db", "teamroom-2026-11-26T03-00-00Z.db"]);
    }
}
