//! Uploaded files.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::channels::{Channel, ChannelKind};
use super::ids::Ts;
use super::{Change, World};
use crate::options::Role;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) user: String,
    pub(crate) created: u64,
    /// The size that was announced before the upload.
    pub(crate) length: usize,
    /// The bytes that were uploaded; 0 before.
    pub(crate) size: usize,
    /// The secret in the upload address, until the upload is complete.
    pub(crate) upload: Option<String>,
    pub(crate) shares: Vec<(String, Ts)>,
}

/// Media type, Slack's short name and its long name, by the ending of a file name.
fn file_type(name: &str) -> (&'static str, &'static str, &'static str) {
    let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_lowercase());
    match ending.as_str() {
        "txt" | "log" => ("text/plain", "text", "Plain Text"),
        "md" => ("text/markdown", "markdown", "Markdown"),
        "csv" => ("text/csv", "csv", "CSV"),
        "json" => ("application/json", "json", "JSON"),
        "png" => ("image/png", "png", "PNG"),
        "jpg" | "jpeg" => ("image/jpeg", "jpg", "JPEG"),
        "gif" => ("image/gif", "gif", "GIF"),
        "pdf" => ("application/pdf", "pdf", "PDF"),
        "docx" => ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "Word Document"),
        "zip" => ("application/zip", "zip", "Zip"),
        _ => ("application/octet-stream", "binary", "Binary"),
    }
}

impl File {
    pub(crate) fn media_type(&self) -> &'static str {
        file_type(&self.name).0
    }
}

impl World {
    pub(crate) fn add_file(&mut self, user: &str, name: &str, length: usize) -> &File {
        let id = self.ids.next("F");
        let upload = self.ids.next("upload");
        let file = File {
            id: id.clone(),
            name: name.to_owned(),
            title: name.to_owned(),
            user: user.to_owned(),
            created: self.now().as_secs(),
            length,
            size: 0,
            upload: Some(upload),
            shares: Vec::new(),
        };
        self.files.entry(id).or_insert(file)
    }

    /// Stores the uploaded bytes.
    pub(crate) fn fill_file(&mut self, id: &str, bytes: bytes::Bytes) {
        let Some(file) = self.files.get_mut(id) else { return };
        file.size = bytes.len();
        self.contents.put(id, bytes);
        self.changes.push(Change::File(id.to_owned()));
    }

    pub(crate) fn remove_file(&mut self, id: &str) {
        self.files.remove(id);
        self.contents.remove(id);
        self.changes.push(Change::File(id.to_owned()));
    }

    /// Whether a user may see a file. Its owner may, and everybody who can see a conversation in which it was shared.
    pub(crate) fn can_see_file(&self, file: &File, user: &str) -> bool {
        let is_visible = |channel: &Channel| channel.is_visible_to(user);
        file.user == user || file.shares.iter().any(|(channel, _)| self.channels.get(channel).is_some_and(is_visible))
    }

    /// A file as `files.info` shows it.
    pub(crate) fn file(&self, file: &File) -> Value {
        let (media_type, short, long) = file_type(&file.name);
        let address = |middle: &str| format!("{}/files-pri/{}-{}/{middle}{}", self.base, self.team.id, file.id, file.name);
        let in_kind = |wanted: &[ChannelKind]| -> Vec<&String> {
            let shares = file.shares.iter().map(|(channel, _)| channel);
            shares.filter(|channel| self.channels.get(*channel).is_some_and(|found| wanted.contains(&found.kind))).collect()
        };
        let channels = in_kind(&[ChannelKind::Public]);
        json!({
            "id": file.id, "created": file.created, "timestamp": file.created, "name": file.name, "title": file.title,
            "mimetype": media_type, "filetype": short, "pretty_type": long, "user": file.user, "user_team": self.team.id,
            "editable": false, "size": file.size, "mode": "hosted", "is_external": false, "external_type": "",
            "is_public": !channels.is_empty(), "public_url_shared": false, "display_as_bot": false, "username": "",
            "url_private": address(""), "url_private_download": address("download/"),
            "permalink": format!("{}files/{}/{}/{}", self.team_url(), file.user, file.id, file.name),
            "permalink_public": format!("https://slack-files.com/{}-{}", self.team.id, file.id),
            "channels": channels, "groups": in_kind(&[ChannelKind::Private, ChannelKind::Group]),
            "ims": in_kind(&[ChannelKind::Direct]), "comments_count": 0, "is_starred": false, "has_rich_preview": false,
            "shares": self.shares(file), "file_access": "visible",
        })
    }

    fn shares(&self, file: &File) -> Value {
        let (mut public, mut private) = (Map::new(), Map::new());
        for (channel, ts) in &file.shares {
            let Some(found) = self.channels.get(channel) else { continue };
            let place = if found.kind == ChannelKind::Public { &mut public } else { &mut private };
            let share = json!({
                "ts": ts.to_string(), "channel_name": found.name, "team_id": self.team.id, "share_user_id": file.user,
                "reply_users": [], "reply_users_count": 0, "reply_count": 0,
            });
            place.insert(channel.clone(), json!([share]));
        }
        let mut shares = Map::new();
        for (name, place) in [("public", public), ("private", private)] {
            if !place.is_empty() {
                shares.insert(name.to_owned(), Value::Object(place));
            }
        }
        Value::Object(shares)
    }

    /// A file as a message shows it. A file of somebody from another workspace comes without details, which `files.info` has.
    pub(crate) fn file_in_message(&self, id: &str, channel: &Channel) -> Value {
        let Some(file) = self.files.get(id) else { return json!({ "id": id, "mode": "tombstone" }) };
        let is_external = self.users.get(&file.user).is_some_and(|user| user.role == Role::Stranger);
        if channel.shared && is_external {
            return json!({ "id": id, "created": 0, "timestamp": 0, "mode": "file_access", "file_access": "check_file_info" });
        }
        self.file(file)
    }
}
