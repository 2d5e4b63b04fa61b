//! The pictures of personas: the avatar of an account, and an emoji for a persona that posts through webhooks.

mod account;
mod draw;
mod emojis;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(crate) use account::{AccountAvatar, Change};
pub(crate) use emojis::Emojis;
use kernel::persona::Persona;
use kernel::persona::picture::Picture;

/// The picture that the persona's file names, or a generated one.
fn picture_of(persona: &Persona) -> Picture {
    persona.avatar.clone().unwrap_or_else(|| draw::draw(persona))
}

/// The form in which Discord takes pictures.
fn data_uri(picture: &Picture) -> String {
    format!("data:{};base64,{}", picture.media_type, STANDARD.encode(&picture.bytes))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
