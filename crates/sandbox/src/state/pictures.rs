//! Pictures: avatars, and the emojis of applications.

use std::collections::{BTreeMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Author, World};
use crate::snowflake::Snowflake;

/// An emoji of an application. It has no server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Emoji {
    pub(crate) id: Snowflake,
    pub(crate) application: Snowflake,
    pub(crate) name: String,
    /// The hash of its picture.
    pub(crate) picture: String,
}

/// A picture in one of the formats that Discord accepts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Picture {
    /// The name of the picture in addresses. The hash of an animated picture begins with `a_`.
    pub(crate) hash: String,
    pub(crate) content_type: String,
    #[serde(with = "in_base64")]
    pub(crate) bytes: Vec<u8>,
}

/// Why a picture was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPicture {
    /// Not a data URI in base64.
    Data,
    /// Not PNG, JPEG, GIF or WebP, or not what its URI says.
    Format,
}

impl Picture {
    /// Reads a data URI such as `data:image/png;base64,…`.
    pub(crate) fn parse(uri: &str) -> Result<Self, BadPicture> {
        let (kind, data) = uri.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).ok_or(BadPicture::Data)?;
        let bytes = STANDARD.decode(data).map_err(|_| BadPicture::Data)?;
        let content_type = recognise(&bytes).filter(|found| *found == kind).ok_or(BadPicture::Format)?;
        let digest = Sha256::digest(&bytes);
        let mark = if content_type == "image/gif" { "a_" } else { "" };
        let hash = digest.iter().take(16).fold(mark.to_owned(), |hex, byte| format!("{hex}{byte:02x}"));
        Ok(Self { hash, content_type: content_type.to_owned(), bytes })
    }

    pub(crate) fn is_animated(&self) -> bool {
        self.content_type == "image/gif"
    }
}

/// The format by its first bytes.
fn recognise(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Emojis, and all pictures by hash.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    by_hash: BTreeMap<String, Picture>,
    emojis: BTreeMap<Snowflake, Emoji>,
}

impl Pictures {
    pub(crate) fn put(&mut self, picture: Picture) {
        self.by_hash.insert(picture.hash.clone(), picture);
    }

    pub(crate) fn find(&self, hash: &str) -> Option<&Picture> {
        self.by_hash.get(hash)
    }

    pub(crate) fn put_emoji(&mut self, emoji: Emoji) {
        self.emojis.insert(emoji.id, emoji);
    }

    pub(crate) fn remove_emoji(&mut self, id: Snowflake) {
        self.emojis.remove(&id);
    }

    pub(crate) fn find_emoji(&self, id: Snowflake) -> Option<&Emoji> {
        self.emojis.get(&id)
    }

    pub(crate) fn emojis(&self) -> impl Iterator<Item = &Emoji> {
        self.emojis.values()
    }

    pub(crate) fn of_application(&self, application: Snowflake) -> impl Iterator<Item = &Emoji> {
        self.emojis().filter(move |emoji| emoji.application == application)
    }
}

impl World {
    /// The pictures that an account, an emoji or a message still uses.
    pub(super) fn list_used_pictures(&self) -> Vec<Picture> {
        let of_webhooks = self.messages.iter().filter_map(|message| match &message.author {
            Author::Webhook { avatar, .. } => avatar.as_deref(),
            Author::User(_) => None,
        });
        let of_accounts = self.accounts.iter().filter_map(|account| account.avatar.as_deref());
        let used: HashSet<&str> =
            of_webhooks.chain(of_accounts).chain(self.pictures.emojis().map(|emoji| emoji.picture.as_str())).collect();
        self.pictures.by_hash.values().filter(|picture| used.contains(picture.hash.as_str())).cloned().collect()
    }

    /// The picture hash for a webhook message's avatar address. Discord downloads the picture. The sandbox calls no other host and knows only its own
    /// emojis.
    pub(crate) fn hash_of_avatar(&self, url: &str) -> String {
        let hosts = [self.links.emojis(), "https://cdn.discordapp.com/emojis/".to_owned()];
        let id = hosts.iter().find_map(|host| url.strip_prefix(host)).and_then(|file| file.split('.').next()?.parse().ok());
        match id.and_then(|id| self.pictures.find_emoji(id)) {
            Some(emoji) => emoji.picture.clone(),
            None => Sha256::digest(url).iter().take(16).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")),
        }
    }
}

mod in_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(kind: &str, bytes: &[u8]) -> String {
        format!("data:{kind};base64,{}", STANDARD.encode(bytes))
    }

    #[test]
    fn a_picture_is_what_its_address_and_its_first_bytes_say() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        let picture = Picture::parse(&uri("image/png", png)).expect("a picture");
        assert_eq!((picture.hash.len(), picture.bytes.as_slice(), picture.is_animated()), (32, png.as_slice(), false));
        let gif = Picture::parse(&uri("image/gif", b"GIF89a....")).expect("a picture");
        assert!(gif.is_animated() && gif.hash.starts_with("a_"));
        assert!(
            Picture::parse(&uri("image/webp", b"RIFF\0\0\0\0WEBPVP8 ")).is_ok()
                && Picture::parse(&uri("image/jpeg", &[0xff, 0xd8, 0xff])).is_ok()
        );
        for (wrong, why) in [
            ("https://example.com/a.png".to_owned(), BadPicture::Data),
            ("data:image/png;base64,???".to_owned(), BadPicture::Data),
            (uri("image/jpeg", png), BadPicture::Format),
            (uri("image/svg+xml", b"<svg/>"), BadPicture::Format),
        ] {
            assert_eq!(Picture::parse(&wrong).expect_err("no picture"), why, "{wrong}");
        }
    }
}
