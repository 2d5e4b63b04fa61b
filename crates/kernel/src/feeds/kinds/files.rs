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

/// Maximum number of files that are listed by name, and maximum size of one that can be opened.
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
        Ok(found.files.into_iter().map(|(name, _)| name).collect())
    }

    async fn open_document(&self, name: &str) -> Result<String, FeedError> {
        let found = self.look(list).await?;
        let found = found.files.into_iter().find(|(known, _)| known == name);
        let (_, path) = found.ok_or_else(|| FeedError::Failed(missing(name, &self.shown)))?;
        if attachments::Document::of(name).is_some() {
            // The model has no use for the path on this machine.
            return attachments::read_local_as(&path, name).await.map(|(_, text)| text).map_err(FeedError::Failed);
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
    /// The last file of a list that is cut.
    last_listed: Option<String>,
    too_deep: Vec<String>,
    bytes: u64,
}

impl Folder {
    fn load(root: &Path) -> io::Result<Self> {
        let Listing { files, is_cut, too_deep } = list(root)?;
        let last_listed = files.last().filter(|_| is_cut).map(|(name, _)| name.clone());
        let mut folder = Self { exists: root.try_exists()?, last_listed, too_deep, ..Self::default() };
        for (name, path) in files {
            folder.take(name, &path);
        }
        Ok(folder)
    }

    fn note(&self, shown: &str) -> Option<String> {
        if !self.exists {
            return Some(format!("there is no folder {shown} yet"));
        }
        let mut notes = Vec::new();
        if !self.left_out.is_empty() {
            let are = if self.left_out.len() == 1 { "file is" } else { "files are" };
            let named = name_some(&self.left_out);
            notes.push(format!("{} {are} not searched (too large, too many, or no text): {named}", self.left_out.len()));
        }
        if let Some(last) = &self.last_listed {
            notes.push(format!("there are more than {MAX_LISTED} files: those after {last} are not listed"));
        }
        if !self.too_deep.is_empty() {
            notes.push(format!("folders below level {MAX_DEPTH} are not listed: {}", name_some(&self.too_deep)));
        }
        if notes.is_empty() && self.documents.is_empty() {
            notes.push(format!("the folder {shown} is empty"));
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn take(&mut self, name: String, path: &Path) {
        let most = MAX_FILE.min(MAX_TOTAL - self.bytes);
        // By its size first, so that a file that is left out is not read.
        let fits = self.documents.len() < MAX_FILES && fs::metadata(path).is_ok_and(|file| file.len() <= most);
        match fits.then(|| read_text(path, most)).flatten() {
            Some((text, changed_at)) => {
                self.bytes += text.len() as u64;
                self.documents.push(Document { name, text, changed_at });
            }
            None => self.left_out.push(name),
        }
    }
}

/// The first names of a list, and how many more there are.
fn name_some(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The files below a folder in order of their names, with their paths.
#[derive(Debug, Default)]
struct Listing {
    files: Vec<(String, PathBuf)>,
    /// Whether there are more files than are listed.
    is_cut: bool,
    /// Folders that are too deep to be listed.
    too_deep: Vec<String>,
}

/// Nothing without a folder.
fn list(root: &Path) -> io::Result<Listing> {
    let mut found = Listing::default();
    if root.try_exists()? {
        walk(root, "", 0, &mut found)?;
    }
    Ok(found)
}

fn walk(directory: &Path, prefix: &str, depth: usize, found: &mut Listing) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if found.is_cut {
            break;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        // The type of the entry itself: a symbolic link is neither file nor folder.
        let kind = entry.file_type()?;
        if name.starts_with('.') || kind.is_symlink() {
            continue;
        }
        let shown = format!("{prefix}{name}");
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), &format!("{shown}/"), depth + 1, found)?;
        } else if kind.is_dir() {
            found.too_deep.push(shown);
        } else if kind.is_file() && found.files.len() < MAX_LISTED {
            found.files.push((shown, entry.path()));
        } else if kind.is_file() {
            found.is_cut = true;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_beyond_all_searched_files_is_named_and_a_smaller_one_still_fits() {
        let dir = tempfile::tempdir().unwrap();
        // Four files of nearly the limit of one, so that little is left.
        for name in ["a", "b", "c", "d"] {
            fs::write(dir.path().join(name), "x".repeat(1024 * 1024 - 10)).unwrap();
        }
        fs::write(dir.path().join("e"), "x".repeat(41)).unwrap();
        fs::write(dir.path().join("f"), "x".repeat(40)).unwrap();
        fs::write(dir.path().join("g"), "x").unwrap();
        let folder = Folder::load(dir.path()).unwrap();
        let names: Vec<_> = folder.documents.iter().map(|document| document.name.as_str()).collect();
        assert_eq!((names, folder.bytes), (vec!["a", "b", "c", "d", "f"], MAX_TOTAL));
        let note = folder.note("notes").unwrap();
        assert_eq!(note, "2 files are not searched (too large, too many, or no text): e, g");
    }

    #[test]
    fn what_is_not_listed_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("1/2/3/4/5/6/7");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("deep.md"), "x").unwrap();
        fs::write(dir.path().join("a.md"), "x").unwrap();
        let folder = Folder::load(dir.path()).unwrap();
        assert_eq!(folder.note("notes").unwrap(), "folders below level 6 are not listed: 1/2/3/4/5/6/7");
        let cut = Folder { last_listed: Some("m.md".into()), too_deep: Vec::new(), ..folder };
        assert_eq!(cut.note("notes").unwrap(), "there are more than 5000 files: those after m.md are not listed");
    }

    #[tokio::test]
    async fn a_document_that_cannot_be_read_is_told_by_its_name_in_the_feed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("deep")).unwrap();
        fs::write(dir.path().join("deep/broken.pdf"), "%PDF-1.4 and no more").unwrap();
        let files = Files { shown: "notes".into(), root: dir.path().to_owned() };
        let error = files.open_document("deep/broken.pdf").await.unwrap_err().to_string();
        assert!(error.starts_with("cannot read deep/broken.pdf: "), "{error}");
    }
}
