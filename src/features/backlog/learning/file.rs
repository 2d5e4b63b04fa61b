//! `learnings.md`: what was learnt, where people and other programs look for it.
//!
//! A job of the serving process writes it whenever an item has ended, with the lessons of other processes too. A process that takes over writes the
//! file on its own disk.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::NaiveDate;

use crate::features::backlog::model::short_id;
use kernel::agent::Agents;
use kernel::memory::{Memory, MemorySource};

/// Lessons in the file. The store has all.
const NEWEST: u32 = 1000;

/// The file with the newest lessons of the store.
pub struct Learnings {
    agents: Arc<Agents>,
    path: PathBuf,
    /// What `count_learnt` gave for the last file of this process. Locked from reading the store to
    /// writing the file, so that an older state never replaces a newer one.
    written: tokio::sync::Mutex<Option<(i64, i64, i64, i64)>>,
}

impl Learnings {
    /// The folder of `path` is created when it is missing.
    pub fn new(agents: Arc<Agents>, path: PathBuf) -> Self {
        Self { agents, path, written: tokio::sync::Mutex::default() }
    }

    /// Writes the file again if there are new lessons, also of other processes, or if it is gone. Failures are logged: the lessons are in the store,
    /// and the next call writes them again.
    pub async fn keep_up(&self) {
        let mut written = self.written.lock().await;
        let writing = async {
            let learnt = self.agents.store.count_learnt().await?;
            if *written == Some(learnt) && tokio::fs::try_exists(&self.path).await.unwrap_or(false) {
                return anyhow::Ok(());
            }
            let text = render_learnings(&self.agents.store.list_learnt(NEWEST).await?);
            // The outbox redacts secrets from everything else, but a file does not pass through it.
            let (text, _) = self.agents.runner.redactor.redact(&text);
            write_whole(&self.path, text.as_bytes()).await?;
            *written = Some(learnt);
            Ok(())
        };
        if let Err(error) = writing.await {
            tracing::warn!(path = %self.path.display(), %error, "the learnings could not be written; they stand in the store");
        }
    }
}

/// Lessons as a page, in the order given: a heading for each day, a line for each lesson.
pub fn render_learnings(lessons: &[Memory]) -> String {
    let mut page =
        "# Learnings\n\nWhat the team has learnt, newest first: where from, whose it is, and whether it is still told to anybody.\n"
            .to_owned();
    if lessons.is_empty() {
        page.push_str("\nNothing yet.\n");
    }
    let mut day: Option<NaiveDate> = None;
    for lesson in lessons {
        let of = lesson.created_at.date_naive();
        if day.replace(of) != Some(of) {
            write!(page, "\n## {of}\n\n").expect("a String takes everything");
        }
        let from = match &lesson.source {
            MemorySource::WorkItem(item) => format!("item `{}`", short_id(item)),
            MemorySource::Meeting(_) => "a standup".into(),
            MemorySource::Message(_) => "a message".into(),
            MemorySource::Command => "a person".into(),
        };
        let whose = lesson.persona.as_ref().map_or("team", |persona| persona.as_str());
        let status = if lesson.ended_at.is_some() { "ended" } else { "active" };
        // One line each, whatever the text: nothing in it can open a heading or end the list.
        let text = lesson.text.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(page, "- {from}, {whose}, {status}: {text}").expect("a String takes everything");
    }
    if lessons.len() >= NEWEST as usize {
        write!(page, "\nThese are the newest {NEWEST}. Older ones are in the store.\n").expect("a String takes everything");
    }
    page
}

/// Readers see the old file or the new one, never half of one, also when two processes write it at once.
async fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        tokio::fs::create_dir_all(dir).await?;
    }
    let mut beside = path.to_owned();
    beside.as_mut_os_string().push(format!(".{:08x}.new", fastrand::u32(..)));
    let written = match tokio::fs::write(&beside, bytes).await {
        Ok(()) => tokio::fs::rename(&beside, path).await,
        Err(error) => Err(error),
    };
    if written.is_err() {
        // Otherwise a partial file would stay for ever under its random name.
        tokio::fs::remove_file(&beside).await.ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use kernel::memory::MemoryKind;
    use kernel::testing::feeds::now;

    fn lesson(text: &str, source: MemorySource) -> Memory {
        Memory { persona: Some("vince".into()), ..Memory::new(MemoryKind::Lesson, text, source, now()) }
    }

    #[test]
    fn the_page_reads_as_it_should() {
        let yesterday = now() - TimeDelta::days(1);
        let lessons = [
            lesson("Shop B hides its price.", MemorySource::WorkItem("0192f0c1d2e37a4b8c5d6e7f8091a2b3".into())),
            Memory { persona: None, ended_at: Some(now()), ..lesson("Traffic\n# follows latency.", MemorySource::Meeting("m".into())) },
            Memory { created_at: yesterday, ..lesson("Ask twice.", MemorySource::WorkItem("short".into())) },
        ];
        insta::assert_snapshot!(render_learnings(&lessons), @r"
        # Learnings

        What the team has learnt, newest first: where from, whose it is, and whether it is still told to anybody.

        ## 2026-11-21

        - item `91a2b3`, vince, active: Shop B hides its price.
        - a standup, team, ended: Traffic # follows latency.

        ## 2026-11-20

        - item `short`, vince, active: Ask twice.
        ");
    }

    #[test]
    fn a_page_without_lessons_says_so() {
        assert!(render_learnings(&[]).ends_with("Nothing yet.\n"));
    }

    #[tokio::test]
    async fn the_file_is_written_whole_and_leaves_nothing_beside_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("new").join("learnings.md");
        for text in ["first, and longer", "second"] {
            write_whole(&path, text.as_bytes()).await.expect("it is written");
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        }
        std::fs::create_dir(directory.path().join("folder")).expect("a folder");
        assert!(write_whole(&directory.path().join("folder"), b"x").await.is_err(), "a folder stands in its place");
        let names = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
        assert_eq!((names(path.parent().expect("a parent")), names(directory.path())), (1, 2));
    }
}
