//! Pictures of personas.

use bytes::Bytes;

use crate::chat::attachments::picture_type;

/// The largest picture in bytes: the limit of Discord's emojis, which show the personas without an account.
pub const MAX_BYTES: usize = 256 * 1024;

/// A picture in a format that chat platforms show.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// `image/png` and the like.
    pub media_type: &'static str,
    pub bytes: Bytes,
}

impl Picture {
    /// None if the bytes do not begin like PNG, JPEG, GIF or WebP.
    pub fn recognise(bytes: Bytes) -> Option<Self> {
        let media_type = picture_type(&bytes)?;
        Some(Self { media_type, bytes })
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} bytes", self.media_type, self.bytes.len())
    }
}
