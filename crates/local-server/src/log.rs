//! The state file of a server: one JSON record per line, appended at each change and rewritten at each start.
//!
//! The whole state is in memory, so there is no index. Writes are not buffered in the process, so a killed process
//! loses nothing. A power failure may lose the last lines.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

const EVENTS: &str = "events.jsonl";
const FRESH: &str = "events.new";
const LOCK: &str = "lock";
/// A file of this size is not worth a rewrite.
const SMALL: usize = 8 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("another sandbox is using {}; stop it or choose another folder", dir.display())]
    InUse { dir: PathBuf },
    #[error("could not {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} line {line} is damaged: {source}; start with --reset to delete all data", path.display())]
    Damaged { path: PathBuf, line: usize, source: serde_json::Error },
}

impl StateError {
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

pub struct Log {
    dir: PathBuf,
    events: File,
    /// Held until the sandbox ends, also when it is killed.
    lock: File,
    /// Bytes that were appended since the last rewrite, and the size after it.
    appended: usize,
    rewritten: usize,
}

impl Drop for Log {
    /// Unlocks explicitly: a child process that is just being started still has the file open, until it executes its program.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl Log {
    /// Locks the folder and reads its records. `reset` deletes them.
    pub fn open<R: DeserializeOwned>(dir: &Path, reset: bool) -> Result<(Self, Vec<R>), StateError> {
        std::fs::create_dir_all(dir).map_err(|source| StateError::io("make", dir, source))?;
        let lock = lock(dir)?;
        let path = dir.join(EVENTS);
        let records = if reset { Vec::new() } else { read(&path)? };
        let events = open_private(&path, reset)?;
        Ok((Self { dir: dir.to_owned(), events, lock, appended: 0, rewritten: 0 }, records))
    }

    pub fn append(&mut self, record: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.appended += line.len();
        self.events.write_all(&line)
    }

    /// Whether a rewrite is worth it: most of the file was appended since the last one.
    pub fn is_mostly_outdated(&self) -> bool {
        self.appended > SMALL.max(2 * self.rewritten)
    }

    /// Replaces the file by one with exactly these records.
    pub fn rewrite<R: Serialize>(&mut self, records: impl Iterator<Item = R>) -> Result<(), StateError> {
        let fresh = self.dir.join(FRESH);
        let failed = |source| StateError::io("write", &fresh, source);
        let mut size = 0;
        let mut out = BufWriter::new(open_private(&fresh, true)?);
        for record in records {
            let mut line = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
            line.push(b'\n');
            size += line.len();
            out.write_all(&line).map_err(failed)?;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        let path = self.dir.join(EVENTS);
        std::fs::rename(&fresh, &path).map_err(|source| StateError::io("replace", &path, source))?;
        self.events = file;
        (self.appended, self.rewritten) = (0, size);
        Ok(())
    }
}

fn lock(dir: &Path) -> Result<File, StateError> {
    let path = dir.join(LOCK);
    let file = open_private(&path, false)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StateError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StateError::io("lock", &path, source)),
    }
}

/// Opens a file for appending. Only its owner may read it, because it has tokens.
fn open_private(path: &Path, empty: bool) -> Result<File, StateError> {
    let mut options = OpenOptions::new();
    options.create(true);
    if empty {
        options.write(true).truncate(true);
    } else {
        options.append(true);
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| StateError::io("open", path, source))
}

/// All complete records. A last line without a line feed was cut by a crash and is dropped.
fn read<R: DeserializeOwned>(path: &Path) -> Result<Vec<R>, StateError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StateError::io("open", path, source)),
    };
    let mut reader = BufReader::new(file);
    let mut records = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|source| StateError::io("read", path, source))?;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let record = serde_json::from_slice(&line).map_err(|source| StateError::Damaged { path: path.to_owned(), line: number, source })?;
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_again_and_a_line_that_was_cut_is_dropped() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut log, none): (_, Vec<u32>) = Log::open(dir.path(), false).expect("a new folder");
        assert_eq!(none, [0; 0]);
        for record in [1, 2] {
            log.append(&record).expect("written");
        }
        assert!(matches!(Log::open::<u32>(dir.path(), false).err(), Some(StateError::InUse { .. })));
        log.events.write_all(b"3").expect("written");
        drop(log);
        let (mut log, read): (_, Vec<u32>) = Log::open(dir.path(), false).expect("the same folder");
        assert_eq!(read, [1, 2]);
        log.rewrite([2].into_iter()).expect("rewritten");
        drop(log);
        assert_eq!(Log::open::<u32>(dir.path(), false).expect("the same folder").1, [2]);
        assert_eq!(Log::open::<u32>(dir.path(), true).expect("the same folder").1, [0; 0]);
    }

    #[test]
    fn a_file_that_has_grown_is_worth_a_rewrite() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut log, _): (_, Vec<String>) = Log::open(dir.path(), false).expect("a new folder");
        let megabyte = "x".repeat(1024 * 1024);
        for _ in 0..8 {
            assert!(!log.is_mostly_outdated());
            log.append(&megabyte).expect("written");
        }
        assert!(log.is_mostly_outdated());
        log.rewrite(std::iter::once(&megabyte)).expect("rewritten");
        assert!(!log.is_mostly_outdated());
    }
}
