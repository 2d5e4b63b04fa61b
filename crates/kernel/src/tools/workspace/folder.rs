//! Reads and writes files below one open folder. Blocking.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions};
use sha2::{Digest as _, Sha256};

use crate::tools::ToolError;
use crate::tools::workspace::path::{FilePath, OURS, is_input};
use crate::tools::workspace::{FileEntry, FileFacts, FileHead, MOST_BYTES, MOST_FILE_BYTES, MOST_FILES, Written};

/// The most entries listed. A command may have created any number of files.
const MOST_ENTRIES: usize = 5000;

/// The open folder of a workspace.
#[derive(Debug)]
pub(super) struct Folder {
    dir: Dir,
}

impl Folder {
    pub(super) fn new(dir: Dir) -> Self {
        Self { dir }
    }

    pub(super) fn write(&self, path: &FilePath, contents: &[u8]) -> Result<Written, ToolError> {
        let bytes = contents.len() as u64;
        self.check_room(path, bytes)?;
        self.replace(path, contents)
    }

    /// Writes a file, however many files there are.
    pub(super) fn write_any(&self, path: &FilePath, contents: &[u8]) -> Result<Written, ToolError> {
        check_size(path, contents.len() as u64)?;
        self.replace(path, contents)
    }

    pub(super) fn delete(&self, path: &FilePath) -> Result<(), ToolError> {
        let delete = || {
            self.open_file(path)?;
            match path.folder() {
                Some(folder) => self.dir.open_dir(folder)?.remove_file(path.file()),
                None => self.dir.remove_file(path.file()),
            }
        };
        delete().map_err(|error| failed(path, "deleted", &error))
    }

    /// Writes without checking the limits.
    pub(super) fn replace(&self, path: &FilePath, contents: &[u8]) -> Result<Written, ToolError> {
        let bytes = contents.len() as u64;
        let whole = self.open_folder(path).and_then(|folder| write_whole(&folder, path.file(), contents));
        whole.map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                ToolError::Failed(format!("{} was not written, and what was there before is as it was: the disk is full", path.as_text()))
            }
            _ => failed(path, "written", &error),
        })?;
        Ok(Written { path: path.as_text(), sha256: hex(&Sha256::digest(contents)), bytes })
    }

    /// Checks the limits with this file added.
    fn check_room(&self, path: &FilePath, bytes: u64) -> Result<(), ToolError> {
        let refuse = |why: String| Err(ToolError::Refused(format!("{} is not written: {why}", path.as_text())));
        check_size(path, bytes)?;
        let text = path.as_text();
        let others: Vec<_> = self.list()?.into_iter().filter(|entry| entry.path != text && !is_input(&entry.path)).collect();
        if others.len() >= MOST_FILES {
            return refuse(format!("the workspace holds {} files, and may hold {MOST_FILES}", others.len()));
        }
        let held: u64 = others.iter().map(|entry| entry.bytes).sum();
        if held + bytes > MOST_BYTES {
            return refuse(format!("the workspace would hold {} bytes, and may hold {MOST_BYTES}", held + bytes));
        }
        Ok(())
    }

    /// Opens the parent folder of a new file, creating it if needed. Keeping it open prevents a swap with a symbolic link.
    fn open_folder(&self, path: &FilePath) -> io::Result<Dir> {
        match path.folder() {
            Some(folder) => {
                self.dir.create_dir_all(&folder)?;
                self.dir.open_dir(&folder)
            }
            None => self.dir.try_clone(),
        }
    }

    pub(super) fn read(&self, path: &FilePath, most: u64) -> Result<FileHead, ToolError> {
        let read = || {
            let file = self.open_file(path)?;
            let bytes = file.metadata()?.len();
            let mut head = Vec::new();
            file.take(most).read_to_end(&mut head)?;
            Ok(FileHead { head, bytes })
        };
        read().map_err(|error| failed(path, "read", &error))
    }

    pub(super) fn digest(&self, path: &FilePath) -> Result<FileFacts, ToolError> {
        let digest = || {
            let mut file = self.open_file(path)?;
            let (mut digest, mut bytes, mut block) = (Sha256::new(), 0, vec![0; 64 * 1024]);
            loop {
                match file.read(&mut block)? {
                    0 => return Ok(FileFacts { sha256: hex(&digest.finalize()), bytes }),
                    count => {
                        digest.update(&block[..count]);
                        bytes += count as u64;
                    }
                }
            }
        };
        digest().map_err(|error| failed(path, "read", &error))
    }

    /// Refuses symbolic links. Opening a named pipe would block.
    fn open_file(&self, path: &FilePath) -> io::Result<File> {
        let folder = match path.folder() {
            Some(folder) => self.dir.open_dir(folder)?,
            None => self.dir.try_clone()?,
        };
        if !folder.symlink_metadata(path.file())?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        folder.open(path.file())
    }

    /// Copies a listed file to another folder, to which nobody else writes.
    pub(super) fn copy_file(&self, path: &str, to: &Path) -> io::Result<()> {
        let target = to.join(path);
        std::fs::create_dir_all(target.parent().unwrap_or(to))?;
        io::copy(&mut self.dir.open(path)?, &mut std::fs::File::create_new(target)?)?;
        Ok(())
    }

    pub(super) fn list(&self) -> Result<Vec<FileEntry>, ToolError> {
        let mut files = Vec::new();
        let mut seen = 0;
        let mut folders = vec![(PathBuf::new(), self.dir.try_clone().map_err(|error| unlisted(&error))?)];
        while let Some((at, folder)) = folders.pop() {
            for entry in folder.entries().map_err(|error| unlisted(&error))? {
                let entry = entry.map_err(|error| unlisted(&error))?;
                seen += 1;
                if seen > MOST_ENTRIES {
                    return Err(ToolError::Failed(format!("the workspace holds more than {MOST_ENTRIES} entries")));
                }
                // We write only UTF-8 names, and no model can name another one.
                let Ok(name) = entry.file_name().into_string() else { continue };
                if name.starts_with(OURS) {
                    continue;
                }
                // The type of the entry itself, so that symbolic links are neither followed nor listed. Deleted entries are skipped.
                let (Ok(kind), path) = (entry.file_type(), at.join(&name)) else { continue };
                if kind.is_dir() {
                    folders.extend(entry.open_dir().ok().map(|folder| (path, folder)));
                } else if kind.is_file()
                    && let Ok(metadata) = entry.metadata()
                {
                    files.push(FileEntry { path: in_text(&path), bytes: metadata.len() });
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

fn check_size(path: &FilePath, bytes: u64) -> Result<(), ToolError> {
    if bytes > MOST_FILE_BYTES {
        let why = format!("{} is not written: it has {bytes} bytes, and a file may have {MOST_FILE_BYTES}", path.as_text());
        return Err(ToolError::Refused(why));
    }
    Ok(())
}

/// Writes a temporary file and renames it, so that the old file stays until the new one is on disk.
fn write_whole(folder: &Dir, name: &str, contents: &[u8]) -> io::Result<()> {
    let beside = format!("{OURS}-{:016x}", fastrand::u64(..));
    // A script stays executable.
    let before = folder.symlink_metadata(name).ok().filter(Metadata::is_file).map(|before| before.permissions());
    let written = write_new(folder, &beside, contents, before).and_then(|()| folder.rename(&beside, folder, name));
    if written.is_err() {
        // If this fails, the file stays hidden from listings.
        let _ = folder.remove_file(&beside);
    }
    written
}

fn write_new(folder: &Dir, name: &str, contents: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(contents)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    // Some systems report a full disk only here.
    file.sync_all()
}

fn in_text(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn unlisted(error: &io::Error) -> ToolError {
    ToolError::Failed(format!("the workspace could not be listed: {}", describe(error)))
}

fn failed(path: &FilePath, what: &str, error: &io::Error) -> ToolError {
    let why = format!("{} could not be {what}: {}", path.as_text(), describe(error));
    // `cap-std`'s error for a path that leads outside.
    if error.kind() == io::ErrorKind::PermissionDenied { ToolError::Refused(why) } else { ToolError::Failed(why) }
}

/// Describes an error for a model.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "a folder has this name".into(),
        io::ErrorKind::NotADirectory => "a file stands where a folder would have to be".into(),
        _ => error.to_string(),
    }
}
