//! Addresses of attachments and webhooks. Download addresses are signed and expire, as Discord's do.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Attachment;
use crate::snowflake::{Snowflake, now_ms};

/// Signs download addresses. Each run has a new secret, so addresses of earlier runs are invalid.
pub(crate) struct Links {
    base_url: String,
    secret: String,
    window: Duration,
}

/// The query of a signed address.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Signature {
    /// End of validity, hexadecimal Unix seconds.
    ex: String,
    /// Time of issue, in the same form.
    is: String,
    hm: String,
}

impl Links {
    pub(crate) fn new(base_url: String, window: Duration) -> Self {
        Self { base_url, secret: uuid::Uuid::now_v7().to_string(), window }
    }

    pub(crate) fn sign(&self, channel: Snowflake, attachment: &Attachment) -> String {
        let now = now_ms() / 1000;
        let (ex, is) = (format!("{:x}", now + self.window.as_secs()), format!("{now:x}"));
        let hm = self.digest(channel, attachment.id, &ex, &is);
        let name = encode(&attachment.filename);
        format!("{}/attachments/{channel}/{}/{name}?ex={ex}&is={is}&hm={hm}", self.base_url, attachment.id)
    }

    /// The address that posts as a webhook.
    pub(crate) fn webhook(&self, id: Snowflake, token: &str) -> String {
        format!("{}/api/webhooks/{id}/{token}", self.base_url)
    }

    /// Where the pictures of emojis are served.
    pub(crate) fn emojis(&self) -> String {
        format!("{}/emojis/", self.base_url)
    }

    pub(crate) fn is_valid(&self, channel: Snowflake, attachment: Snowflake, signature: &Signature) -> bool {
        let Ok(expires) = u64::from_str_radix(&signature.ex, 16) else { return false };
        let genuine = self.digest(channel, attachment, &signature.ex, &signature.is) == signature.hm;
        genuine && now_ms() / 1000 < expires
    }

    fn digest(&self, channel: Snowflake, attachment: Snowflake, ex: &str, is: &str) -> String {
        let digest = Sha256::digest(format!("{}|{channel}|{attachment}|{ex}|{is}", self.secret));
        digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }
}

/// Percent-encodes a file name for a path.
fn encode(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let encoded = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(encoded).collect()
}
