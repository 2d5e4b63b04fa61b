use std::time::Duration;

#[cfg(feature = "sound")]
pub(super) use crate::features::voice::opus::{encode, join, read_packets};
#[cfg(not(feature = "sound"))]
pub(super) use without_sound::{encode, join, read_packets};

pub(super) const ENDING: &str = "ogg";

/// The encoded parts of one speaker.
#[cfg_attr(not(feature = "sound"), expect(dead_code, reason = "nobody joins them"))]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) parts: Vec<Vec<u8>>,
}

/// A file, and where its chapters begin.
pub(super) struct Audio {
    pub(super) bytes: Vec<u8>,
    pub(super) length: Duration,
    pub(super) chapters: Vec<(Duration, String)>,
}

/// In a build without sound nothing can speak, so nothing gets as far as here.
#[cfg(not(feature = "sound"))]
mod without_sound {
    use kernel::llm::Sound;

    use super::{Audio, Track};

    #[derive(Debug, thiserror::Error)]
    #[error("this build makes no sound")]
    pub(crate) struct NoSound;

    pub(crate) fn encode(_: &Sound) -> Result<Vec<u8>, NoSound> {
        Err(NoSound)
    }

    pub(crate) fn join(_: &str, _: &[Track]) -> Result<Audio, NoSound> {
        Err(NoSound)
    }

    pub(crate) fn read_packets(_: &[u8]) -> Result<Vec<Vec<u8>>, NoSound> {
        Err(NoSound)
    }
}
