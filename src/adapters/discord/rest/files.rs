//! Uploads of files with a message, and downloads of attachments.

use futures_util::StreamExt;
use reqwest::StatusCode;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use crate::adapters::discord::address::plain;
use crate::adapters::discord::ids::to_discord;
use crate::adapters::discord::rest::{Call, Credential, Rest};
use kernel::chat::DownloadError;
use kernel::chat::message::Attachment;
use kernel::chat::outbound::OutboundFile;

/// The multipart form of a message with files.
pub(super) fn form(payload: &serde_json::Value, files: &[OutboundFile]) -> Form {
    files
        .iter()
        .enumerate()
        .fold(Form::new().text("payload_json", payload.to_string()), |form, (index, file)| form.part(format!("files[{index}]"), part(file)))
}

/// Pictures carry their content type. Discord derives the others from the file name.
fn part(file: &OutboundFile) -> Part {
    let part = Part::bytes(file.content.as_bytes().to_vec()).file_name(file.name.clone());
    let is_png = file.content.as_bytes().starts_with(b"\x89PNG");
    if is_png { part.mime_str("image/png").expect("it is a media type") } else { part }
}

impl Rest {
    /// Downloads at most `limit` bytes. Counts while streaming, because the announced size is not reliable.
    ///
    /// Links to attachments expire. An expired link is refreshed once by fetching its message again.
    pub(crate) async fn download(&self, reader: &Credential, file: &Attachment, limit: u64) -> Result<bytes::Bytes, DownloadError> {
        if file.size > limit {
            return Err(DownloadError::TooLarge(limit));
        }
        if let Some(content) = self.stream(&file.url, limit).await? {
            return Ok(content);
        }
        let expired = || DownloadError::Failed("its link has expired".to_owned());
        let fresh = self.find_fresh_link(reader, file).await.ok_or_else(expired)?;
        self.stream(&fresh, limit).await?.ok_or_else(expired)
    }

    /// None if the link has expired.
    async fn stream(&self, url: &str, limit: u64) -> Result<Option<bytes::Bytes>, DownloadError> {
        let url = reqwest::Url::parse(url).map_err(|_| DownloadError::ForeignHost)?;
        if !self.address.keeps(&url) {
            return Err(DownloadError::ForeignHost);
        }
        let failed = |error: reqwest::Error| DownloadError::Failed(plain(&error));
        let response = self.http.get(url).send().await.map_err(failed)?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::GONE => return Ok(None),
            status => return Err(DownloadError::Failed(format!("HTTP {}", status.as_u16()))),
        }
        let mut content = bytes::BytesMut::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(failed)?;
            if (content.len() + chunk.len()) as u64 > limit {
                return Err(DownloadError::TooLarge(limit));
            }
            content.extend_from_slice(&chunk);
        }
        Ok(Some(content.freeze()))
    }

    /// Fetches the message of an attachment again, for a link with a valid signature. The attachment's id is about as old as its message.
    async fn find_fresh_link(&self, reader: &Credential, file: &Attachment) -> Option<String> {
        #[derive(Deserialize)]
        struct Carrier {
            attachments: Vec<Carried>,
        }
        #[derive(Deserialize)]
        struct Carried {
            id: String,
            url: String,
        }
        let channel = channel_of(&file.url)?;
        let id = to_discord(&file.id).ok()?.to_string();
        let call = Call::get(format!("/channels/{channel}/messages?around={id}&limit=20"));
        let messages: Vec<Carrier> = self.fetch(reader, call).await.ok()?;
        let mut files = messages.into_iter().flat_map(|message| message.attachments);
        files.find(|carried| carried.id == id).map(|carried| carried.url)
    }
}

/// The channel in a link of the form `/attachments/<channel>/<file>/<name>`.
fn channel_of(url: &str) -> Option<u64> {
    let url = reqwest::Url::parse(url).ok()?;
    let mut path = url.path_segments()?.skip_while(|part| *part != "attachments").skip(1);
    path.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_of_a_file_stands_in_its_link() {
        assert_eq!(channel_of("https://cdn.discordapp.com/attachments/10/20/a.txt?ex=1&is=2&hm=3"), Some(10));
        assert_eq!(channel_of("https://cdn.discordapp.com/avatars/10/20.png"), None);
        assert_eq!(channel_of("no address"), None);
    }
}
