use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::chat::attachments;
use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{Document, FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

/// Larger files are not searched. The same limit as for attachments (CHAT-26).
const MAX_FILE: u64 = 1024 * 1024;
/// The limit for all searched files together. Searching this much takes about 0.2 s.
const MAX_TOTAL: u64 = 4 * 1024 * 1024;
const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 6;

/// The most files that are listed by name, and the largest one that can be opened.
const MAX_LISTED: usize = 5000;
const MAX_OPENED: u64 = 16 * 1024 * 1024;

/// How many files that are not searched are named.
const NAMED: usize = 5;

/// A folder of text files: recent changes and the texts.
///
/// Symbolic links are not followed, so nothing outside the folder is read. Names that begin with a dot are skipped, for example `.env`.
struct Files {
    /// As declared, for display.
    shown: String,
    root: PathBuf,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    let root = settings.folder("path", &sources.work)?.unwrap_or_else(|| sources.work.join("knowledge"));
    let shown = root.strip_prefix(&sources.work).unwrap_or(&root).display().to_string();
    Ok(Box::new(Files { shown, root }))
}

#[async_trait]
impl Source for Files {
    fn is_local(&self) -> bool {
        true
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let folder = self.look(Folder::load).await?;
        let range = asked.since..=asked.until;
        let mut items: Vec<_> =
            folder.documents.iter().filter(|file| file.changed_at.is_some_and(|at| range.contains(&at))).map(item_of).collect();
        items.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.reference.cmp(&b.reference)));
        let total = items.len();
        items.truncate(asked.limit);
        let values = folder.exists.then(|| Value::count("files", folder.documents.len() as u64)).into_iter().collect();
        let note = folder.note(&self.shown);
        Ok(Reading { source: format!("folder {}", self.shown), as_of: asked.now, values, items, total, note, story: Vec::new() })
    }

    async fn documents(&self, _now: DateTime<Utc>) -> Result<Vec<Document>, FeedError> {
        Ok(self.look(Folder::load).await?.documents)
    }

    async fn list_documents(&self) -> Result<Vec<String>, FeedError> {
        let found = self.look(list).await?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    async fn open_document(&self, name: &str) -> Result<String, FeedError> {
        let found = self.look(list).await?;
        let (_, path) = found.into_iter().find(|(known, _)| known == name).ok_or_else(|| FeedError::Failed(missing(name, &self.shown)))?;
        if attachments::Document::of(name).is_some() {
            return attachments::read_local(&path).await.map(|(_, text)| text).map_err(FeedError::Failed);
        }
        let read = tokio::task::spawn_blocking(move || read_text(&path, MAX_OPENED)).await.ok().flatten();
        read.map(|(text, _)| text).ok_or_else(|| FeedError::Failed(format!("{name} is not a text file, or it is too large")))
    }
}

fn missing(name: &str, folder: &str) -> String {
    format!("there is no file {name} in the folder {folder}")
}

impl Files {
    async fn look<T: Send + 'static>(&self, look: fn(&Path) -> io::Result<T>) -> Result<T, FeedError> {
        let root = self.root.clone();
        let found = tokio::task::spawn_blocking(move || look(&root)).await;
        found
            .map_err(|error| FeedError::Failed(error.to_string()))?
            .map_err(|error| FeedError::Failed(format!("the folder {} cannot be read: {error}", self.shown)))
    }
}

fn item_of(file: &Document) -> FeedItem {
    let lines = file.text.lines().count();
    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    let number = lines as f64;
    FeedItem {
        at: file.changed_at,
        what: "changed file".into(),
        by: None,
        text: format!("{} ({lines} lines)", file.name),
        reference: file.name.clone(),
        values: vec![Value::new("lines", number, "lines")],
    }
}

/// The content of a folder, and what was left out of the search.
#[derive(Debug, Default)]
struct Folder {
    exists: bool,
    documents: Vec<Document>,
    left_out: Vec<String>,
    bytes: u64,
}

impl Folder {
    fn load(root: &Path) -> io::Result<Self> {
        let mut folder = Self { exists: root.try_exists()?, ..Self::default() };
        for (name, path) in list(root)? {
            folder.take(name, &path);
        }
        Ok(folder)
    }

    fn note(&self, shown: &str) -> Option<String> {
        if !self.exists {
            Some(format!("there is no folder {shown} yet"))
        } else if !self.left_out.is_empty() {
            let named = self.left_out.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = self.left_out.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let are = if self.left_out.len() == 1 { "file is" } else { "files are" };
            Some(format!("{} {are} not searched (too large, too many, or no text): {named}{more}", self.left_out.len()))
        } else if self.documents.is_empty() {
            Some(format!("the folder {shown} is empty"))
        } else {
            None
        }
    }

    fn take(&mut self, name: String, path: &Path) {
        let document = (self.documents.len() < MAX_FILES).then(|| read_text(path, MAX_FILE)).flatten();
        match document {
            Some((text, changed_at)) if self.bytes + text.len() as u64 <= MAX_TOTAL => {
                self.bytes += text.len() as u64;
                self.documents.push(Document { name, text, changed_at });
            }
            _ => self.left_out.push(name),
        }
    }
}

/// The files below a folder in order of their names, with their paths. None without a folder.
fn list(root: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    if root.try_exists()? {
        walk(root, "", 0, &mut found)?;
    }
    Ok(found)
}

fn walk(directory: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The type of the entry itself: a symbolic link is neither file nor folder.
        let kind = entry.file_type()?;
        if name.starts_with('.') || kind.is_symlink() {
            continue;
        }
        let shown = format!("{prefix}{name}");
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), &format!("{shown}/"), depth + 1, found)?;
        } else if kind.is_file() && found.len() < MAX_LISTED {
            found.push((shown, entry.path()));
        }
    }
    Ok(())
}

/// The text of a file. None if it is larger than `most` bytes, unreadable or not text.
fn read_text(path: &Path, most: u64) -> Option<(String, Option<DateTime<Utc>>)> {
    let file = fs::File::open(path).ok()?;
    let changed_at = file.metadata().ok()?.modified().ok().map(DateTime::from);
    let mut bytes = Vec::new();
    // Reading one byte more than allowed detects a file that grew after it was listed.
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > most || bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok().map(|text| (text, changed_at))
}
