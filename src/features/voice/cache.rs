use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::features::voice::VoiceSettings;
use crate::features::voice::audio::{ENDING, read_packets};

/// Spoken parts as files, named by what they are made from. Each machine of the team has its own.
pub(super) struct Cache {
    folder: PathBuf,
    kept: Duration,
    bytes: u64,
}

/// What a part is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) engine: &'a str,
    /// As the engine describes it.
    pub(super) voice: &'a str,
    pub(super) text: &'a str,
}

impl Cache {
    pub(super) fn new(folder: PathBuf, settings: &VoiceSettings) -> Self {
        let kept = Duration::from_hours(24) * settings.cache_days;
        Self { folder, kept, bytes: u64::from(settings.cache_megabytes) * 1024 * 1024 }
    }

    fn path_of(&self, part: &Part<'_>) -> PathBuf {
        let digest = Sha256::digest(format!("{}\n{}\n{}", part.engine, part.voice, part.text));
        let name = digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        self.folder.join(format!("{name}.{ENDING}"))
    }

    /// A part that was spoken before. A damaged file counts as missing.
    pub(super) fn find(&self, part: &Part<'_>, now: SystemTime) -> Option<Vec<u8>> {
        let path = self.path_of(part);
        let bytes = fs::read(&path).ok().filter(|bytes| read_packets(bytes).is_ok_and(|packets| !packets.is_empty()))?;
        // The oldest files are removed first, so this one becomes the newest.
        let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(now));
        Some(bytes)
    }

    /// Whole or not at all, whenever the process dies.
    pub(super) fn keep(&self, part: &Part<'_>, bytes: &[u8], now: SystemTime) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path_of(part);
        let unfinished = path.with_extension(format!("{}.part", std::process::id()));
        let mut file = File::create(&unfinished)?;
        file.write_all(bytes)?;
        file.set_modified(now)?;
        fs::rename(unfinished, path)
    }

    /// Removes what is too old, and the oldest of what takes too much room.
    pub(super) fn shrink(&self, now: SystemTime) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_file() {
                files.push((about.modified()?, about.len(), entry.path()));
            }
        }
        files.sort_by(|one, other| other.cmp(one));
        let mut room = self.bytes;
        for (modified, size, path) in files {
            let age = now.duration_since(modified).unwrap_or_default();
            match room.checked_sub(size) {
                Some(left) if age <= self.kept => room = left,
                // All older files are removed, too.
                _ => {
                    room = 0;
                    fs::remove_file(path)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kernel::llm::Sound;

    use super::*;
    use crate::features::voice::audio::encode;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn cache(dir: &tempfile::TempDir, days: u32, megabytes: u32) -> Cache {
        let settings = VoiceSettings { cache_days: days, cache_megabytes: megabytes, ..VoiceSettings::default() };
        Cache::new(dir.path().join("voice"), &settings)
    }

    fn part(text: &str) -> Part<'_> {
        Part { engine: "espeak-ng", voice: "en+f1", text }
    }

    fn spoken() -> Vec<u8> {
        encode(&Sound { rate: 24_000, samples: vec![100; 4800] }).expect("encoded")
    }

    #[test]
    fn a_part_is_found_by_text_voice_and_engine() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = cache(&dir, 30, 1);
        assert_eq!(cache.find(&part("Hello."), NOW), None);
        cache.keep(&part("Hello."), &spoken(), NOW).expect("kept");
        assert_eq!(cache.find(&part("Hello."), NOW), Some(spoken()));
        for other in [part("Hello!"), Part { voice: "en+f2", ..part("Hello.") }, Part { engine: "openai/tts-1", ..part("Hello.") }] {
            assert_eq!(cache.find(&other, NOW), None);
        }
    }

    #[test]
    fn a_damaged_file_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = cache(&dir, 30, 1);
        for damaged in [&b""[..], b"rubbish", &spoken()[..60]] {
            cache.keep(&part("Hello."), damaged, NOW).expect("kept");
            assert_eq!(cache.find(&part("Hello."), NOW), None);
        }
    }

    #[test]
    fn it_keeps_within_its_room_and_its_days() {
        let dir = tempfile::tempdir().expect("a directory");
        let small = cache(&dir, 30, 1);
        let big = vec![0; 400 * 1024];
        let now = NOW + Duration::from_hours(24) * 100;
        for (days, text) in [(31, "old"), (3, "third"), (2, "second"), (1, "first")] {
            small.keep(&part(text), &big, now - Duration::from_hours(24) * days).expect("kept");
        }
        let is_there = |text| small.path_of(&part(text)).exists();
        cache(&dir, 30, 100).shrink(now).expect("shrunk");
        assert_eq!(["old", "third", "second", "first"].map(is_there), [false, true, true, true]);
        small.shrink(now).expect("shrunk");
        assert_eq!(["third", "second", "first"].map(is_there), [false, true, true]);
        cache(&dir, 30, 0).shrink(now).expect("shrunk");
        assert_eq!(fs::read_dir(&small.folder).expect("a folder").count(), 0);
    }
}
