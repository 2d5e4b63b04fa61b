//! Reloads settings, personas, skills and experts while the team runs (OPS-7).
//!
//! When a file changes, or on `SIGHUP`, everything is read again. If all of it is valid, the team stops as on Ctrl-C and starts again in the same
//! process. All state is in the database, so nothing is lost, and no component has to handle a changed setting. If anything is invalid, the team
//! keeps its settings, and the operators are told why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::{App, Setting, shutdown, start_or_stand_by};
use crate::config::Config;

/// An editor writes a file in several steps. It is read after this long without events.
const QUIET: Duration = Duration::from_millis(300);
/// The files in the folders of personas, skills and experts that are compared.
const COMPARED: [&str; 6] = ["md", "png", "jpg", "jpeg", "gif", "webp"];

/// Reads all settings, personas, skills and experts. An error names the file and the problem.
pub(super) type Read<'a> = Box<dyn Fn() -> anyhow::Result<Setting> + Send + Sync + 'a>;

/// Completes settings right before the team starts with them.
pub(super) type Prepare<'a> = Box<dyn Fn(&mut Setting) + Send + Sync + 'a>;

/// Where the settings of a running team come from.
pub struct Reload<'a> {
    read: Read<'a>,
    prepare: Prepare<'a>,
    running: Setting,
    files: Files,
    contents: Contents,
    events: Option<Events>,
    hangup: Option<Signal>,
}

/// New settings, and the names of the files that have changed.
pub struct Reloaded {
    setting: Setting,
    changed: Vec<String>,
}

impl<'a> Reload<'a> {
    /// `running` was read from `settings` and its persona files.
    pub fn new(running: Setting, settings: Vec<PathBuf>, read: Read<'a>) -> Self {
        let files = Files::of(settings, &running.config);
        let contents = files.read();
        let events = Events::watch(&files).inspect_err(|error| {
            tracing::warn!(%error, "changes of settings, personas and skills go unnoticed; send SIGHUP after a change");
        });
        Self { read, prepare: Box::new(|_| ()), running, files, contents, events: events.ok(), hangup: None }
    }

    /// Also reloads on `SIGHUP`, which would end the process otherwise.
    #[must_use]
    pub fn on_hangup(mut self) -> Self {
        let hangup = signal(SignalKind::hangup());
        self.hangup = hangup.inspect_err(|error| tracing::warn!(%error, "SIGHUP cannot be listened to")).ok();
        self
    }

    #[must_use]
    pub fn prepared_by(mut self, prepare: Prepare<'a>) -> Self {
        self.prepare = prepare;
        self
    }

    /// Waits for a valid change. Passes the errors of an invalid one to `tell`.
    pub(super) async fn changed(&mut self, tell: impl Fn(String)) -> Reloaded {
        loop {
            let asked = tokio::select! {
                () = next_hangup(&mut self.hangup) => true,
                () = next_event(&mut self.events, &self.files) => false,
            };
            let contents = self.files.read();
            let changed = self.contents.list_changes(&contents);
            if changed.is_empty() {
                if asked {
                    tracing::info!("SIGHUP: settings, personas and skills have not changed");
                }
                continue;
            }
            self.contents = contents;
            match (self.read)() {
                Ok(setting) => return Reloaded { setting, changed },
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "the new settings are not used");
                    tell(format!("The changed settings cannot be used, so the team keeps the ones it has.\n{error:#}"));
                }
            }
        }
    }

    async fn start(&self, setting: &Setting) -> anyhow::Result<Option<App>> {
        let mut setting = setting.clone();
        (self.prepare)(&mut setting);
        start_or_stand_by(setting).await
    }

    fn take_over(&mut self, setting: Setting) {
        let files = Files::of(self.files.settings.clone(), &setting.config);
        if self.files != files {
            self.files = files;
            self.contents = self.files.read();
            self.events = Events::watch(&self.files).ok();
        }
        self.running = setting;
    }
}

impl App {
    /// Runs until the operator's signal, and restarts with new settings whenever they change.
    ///
    /// # Errors
    /// Another process took the database, or the team cannot start again with its previous settings.
    pub async fn run_reloading(self, mut reload: Reload<'_>, patience: Duration) -> anyhow::Result<()> {
        let mut app = self;
        loop {
            // Boxed, because they hold every component of the team.
            let Some(Reloaded { setting, changed }) = Box::pin(app.run(patience, Some(&mut reload))).await? else { return Ok(()) };
            let restart = Box::pin(async {
                let error = match Box::pin(reload.start(&setting)).await {
                    Ok(started) => return Ok((started, None)),
                    Err(error) => error,
                };
                tracing::error!(error = format!("{error:#}"), "the team cannot start with the new settings");
                Box::pin(reload.start(&reload.running)).await.map(|started| (started, Some(error)))
            });
            let (started, error) = tokio::select! {
                restarted = restart => restarted?,
                () = shutdown::signalled() => return Ok(()),
            };
            let Some(started) = started else { return Ok(()) };
            app = started;
            let files = changed.join(", ");
            if let Some(error) = error {
                let why = format!("The team cannot start with the new settings ({files}), so it keeps the ones it had.\n{error:#}");
                app.conversation.refuse_change(why);
            } else {
                tracing::info!(files, "settings, personas and skills were reloaded");
                reload.take_over(setting);
                let lines = std::iter::once(format!("Reloaded {files}.")).chain(app.faults.iter().cloned());
                app.tell_operators(lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
}

async fn next_hangup(hangup: &mut Option<Signal>) {
    match hangup {
        Some(hangup) => {
            hangup.recv().await;
        }
        None => std::future::pending().await,
    }
}

async fn next_event(events: &mut Option<Events>, files: &Files) {
    match events {
        Some(events) => events.next(files).await,
        None => std::future::pending().await,
    }
}

/// The files that settings, personas, skills and experts come from. They need not exist.
#[derive(PartialEq, Eq)]
struct Files {
    settings: Vec<PathBuf>,
    prices: PathBuf,
    /// The folders of personas and experts, with their pictures, and of skills.
    folders: [PathBuf; 3],
}

impl Files {
    fn of(settings: Vec<PathBuf>, config: &Config) -> Self {
        let folders = [config.personas.clone(), config.skills.clone(), config.experts.clone()];
        Self { settings, prices: config.models.prices_file.clone(), folders }
    }

    fn read(&self) -> Contents {
        let inside = self.folders.iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let is_compared = |path: &PathBuf| path.extension().is_some_and(|extension| COMPARED.iter().any(|known| extension == *known));
        let files = inside.filter(is_compared).chain(self.list().cloned());
        Contents(files.filter_map(|path| std::fs::read(&path).ok().map(|content| (path, content))).collect())
    }

    fn has(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) || self.list().any(|known| known == path)
    }

    /// All files except those in the folders.
    fn list(&self) -> impl Iterator<Item = &PathBuf> {
        self.settings.iter().chain([&self.prices])
    }

    /// The folders to watch. The parent of a folder reports when that folder is created.
    fn list_folders(&self) -> BTreeSet<PathBuf> {
        let above = self.list().chain(&self.folders).filter_map(|path| path.parent().map(Path::to_owned));
        above.chain(self.folders.iter().cloned()).filter(|folder| folder.is_dir()).collect()
    }
}

/// The files that exist, with their content. Small enough to compare as a whole.
#[derive(PartialEq, Eq)]
struct Contents(BTreeMap<PathBuf, Vec<u8>>);

impl Contents {
    fn list_changes(&self, new: &Self) -> Vec<String> {
        let paths: BTreeSet<&PathBuf> = self.0.keys().chain(new.0.keys()).collect();
        let changed = paths.into_iter().filter(|path| self.0.get(*path) != new.0.get(*path));
        changed.map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()).collect()
    }
}

/// File system events.
struct Events {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    paths: mpsc::UnboundedReceiver<Vec<PathBuf>>,
}

impl Events {
    fn watch(files: &Files) -> notify::Result<Self> {
        let (send, paths) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if let Ok(event) = event
                && !matches!(event.kind, EventKind::Access(_))
            {
                // A closed receiver needs no events.
                let _ = send.send(event.paths);
            }
        })?;
        let mut events = Self { watcher, watched: BTreeSet::new(), paths };
        events.add_folders(files)?;
        Ok(events)
    }

    /// Watches folders that have appeared. A folder that is removed and created again counts as new.
    fn add_folders(&mut self, files: &Files) -> notify::Result<()> {
        let folders = files.list_folders();
        self.watched.retain(|folder| folders.contains(folder));
        for folder in folders.difference(&self.watched) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        self.watched = folders;
        Ok(())
    }

    /// Waits until one of the files may have changed and no more events arrive.
    async fn next(&mut self, files: &Files) {
        let mut quiet_at: Option<Instant> = None;
        loop {
            let event = match quiet_at {
                Some(at) => timeout_at(at, self.paths.recv()).await,
                None => Ok(self.paths.recv().await),
            };
            match event {
                Ok(Some(paths)) if paths.iter().any(|path| files.has(path)) => quiet_at = Some(Instant::now() + QUIET),
                Ok(Some(_)) => {}
                // The watcher lives as long as its receiver, so this does not happen.
                Ok(None) => std::future::pending().await,
                Err(_) => break,
            }
        }
        if let Err(error) = self.add_folders(files) {
            tracing::warn!(%error, "changes of personas and skills may go unnoticed; send SIGHUP after a change");
        }
    }
}
