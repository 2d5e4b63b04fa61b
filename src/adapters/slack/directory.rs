//! The known channels and people. Slack's events contain only ids, so the rest is looked up once and kept.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use kernel::chat::message::{Author, AuthorKind, Channel, GUEST, Place, SERVER_MANAGER, STRANGER};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::adapters::slack::api::{Api, Arguments, Credential, Failure};
use crate::adapters::slack::ids::{channel_id, message_id, user_id};
use crate::adapters::slack::inbound::stamp;
use kernel::text::fold_name;

/// How long a person's name and rights are used before they are looked up again.
const PERSON: Duration = Duration::from_mins(10);

/// How far back a direct conversation is read in which the team has heard nobody yet. Each message there is for the team.
const UNHEARD: TimeDelta = TimeDelta::days(7);

/// The most channels and people that are kept.
const KEPT: usize = 20_000;

/// The number of channels on a page of the list.
const PAGE: &str = "200";

/// The number of people on a page of the list of members, and how many pages are read.
const MEMBERS: &str = "500";
const MEMBER_PAGES: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownChannel {
    pub(super) name: String,
    pub(super) is_private: bool,
    pub(super) is_direct: bool,
    /// People of another company read the channel too.
    is_shared: bool,
    /// The personas whose apps are in the channel. Only these apps can read it.
    pub(super) members: Vec<PersonaSlug>,
    /// An id at or before the newest message.
    newest: Option<MessageId>,
}

#[derive(Default)]
pub(super) struct Directory {
    channels: Mutex<HashMap<String, KnownChannel>>,
    people: Mutex<HashMap<String, (Author, Instant)>>,
    /// The id of the workspace, once it is known.
    workspace: OnceLock<String>,
}

impl Directory {
    pub(super) fn note_workspace(&self, id: &str) {
        // All apps of a team are in one workspace.
        let _ = self.workspace.set(id.to_owned());
    }

    /// Reads the channels that an app is in.
    pub(super) async fn read_channels(&self, api: &Api, with: &Credential) -> Result<(), Failure> {
        let mut cursor = String::new();
        loop {
            let arguments = Arguments::default()
                .with("types", "public_channel,private_channel,mpim,im")
                .with("exclude_archived", "true")
                .with("limit", PAGE)
                .with_some("cursor", Some(cursor.as_str()).filter(|cursor| !cursor.is_empty()));
            let page = api.call(with, "users.conversations", arguments).await?;
            for channel in page.get("channels").and_then(Value::as_array).into_iter().flatten() {
                self.record(channel, &with.persona);
            }
            cursor = next_cursor(&page);
            if cursor.is_empty() {
                return Ok(());
            }
        }
    }

    /// The details of a channel. Asks Slack if the channel is new.
    pub(super) async fn look_up(&self, api: &Api, with: &Credential, channel: &str) -> Option<KnownChannel> {
        if let Some(known) = self.find(channel) {
            if known.members.contains(&with.persona) {
                return Some(known);
            }
            return self.channels().get_mut(channel).map(|known| {
                known.members.push(with.persona.clone());
                known.clone()
            });
        }
        self.ask_about(api, with, channel).await
    }

    /// Asks Slack about a channel that is new or has changed.
    pub(super) async fn ask_about(&self, api: &Api, with: &Credential, channel: &str) -> Option<KnownChannel> {
        match api.call(with, "conversations.info", Arguments::default().with("channel", channel)).await {
            Ok(answer) => self.record(answer.get("channel")?, &with.persona),
            Err(failure) => {
                tracing::warn!(channel, %failure, "a channel could not be looked up");
                None
            }
        }
    }

    pub(super) fn find(&self, channel: &str) -> Option<KnownChannel> {
        self.channels().get(channel).cloned()
    }

    /// A channel by its name or its id, with or without its platform.
    pub(super) fn find_named(&self, name: &str) -> Option<ChannelId> {
        let channels = self.channels();
        let described = channels.iter().map(|(id, known)| known.describe(id));
        described.into_iter().find(|channel| channel.is_called(name)).map(|channel| channel.id)
    }

    /// The known channels, each with an id at or before its newest message, or before the first that somebody may wait for an answer to.
    pub(super) fn list(&self, started: DateTime<Utc>) -> Vec<(Channel, MessageId)> {
        let from = |id: &str, known: &KnownChannel| match known.newest.as_ref().filter(|_| !known.is_direct) {
            Some(newest) => newest.clone(),
            None if known.is_direct => message_id(id, &stamp(started - UNHEARD)),
            None => message_id(id, &stamp(started)),
        };
        self.channels().iter().map(|(id, known)| (known.describe(id), from(id, known))).collect()
    }

    /// An app was invited or removed.
    pub(super) fn note_member(&self, channel: &str, persona: &PersonaSlug, is_in: bool) {
        if let Some(known) = self.channels().get_mut(channel) {
            known.members.retain(|member| member != persona);
            if is_in {
                known.members.push(persona.clone());
            }
        }
    }

    pub(super) fn rename(&self, channel: &str, name: &str) {
        if let Some(known) = self.channels().get_mut(channel) {
            name.clone_into(&mut known.name);
        }
    }

    pub(super) fn forget(&self, channel: &str) {
        self.channels().remove(channel);
    }

    fn record(&self, channel: &Value, persona: &PersonaSlug) -> Option<KnownChannel> {
        let is = |flag: &str| channel.get(flag).and_then(Value::as_bool).unwrap_or_default();
        let id = channel.get("id")?.as_str()?;
        let newest = channel.pointer("/latest/ts").and_then(Value::as_str).map(|stamp| message_id(id, stamp));
        let mut channels = self.channels();
        if channels.len() >= KEPT {
            channels.clear();
        }
        let known = channels.entry(id.to_owned()).or_insert_with(|| KnownChannel {
            name: String::new(),
            is_private: true,
            is_direct: is("is_im"),
            is_shared: false,
            members: Vec::new(),
            newest,
        });
        channel.get("name").and_then(Value::as_str).unwrap_or_default().clone_into(&mut known.name);
        known.is_private = is("is_private") || is("is_im") || is("is_mpim");
        known.is_shared = is("is_ext_shared");
        if !known.members.contains(persona) {
            known.members.push(persona.clone());
        }
        Some(known.clone())
    }

    /// A person. Asks Slack if the person is new or the details are old. `home`: the id of the person's workspace, where the event says it.
    pub(super) async fn find_person(&self, api: &Api, with: &Credential, user: &str, home: Option<&str>) -> Author {
        if let Some((author, read_at)) = self.people().get(user)
            && read_at.elapsed() < PERSON
        {
            return author.clone();
        }
        let asked = api.call(with, "users.info", Arguments::default().with("user", user)).await;
        let workspace = self.workspace.get().map(String::as_str);
        let read = asked.map(|answer| answer.get("user").map(|found| author_of(user, found, workspace)));
        match read {
            Ok(Some(author)) => {
                let mut people = self.people();
                if people.len() >= KEPT {
                    people.clear();
                }
                people.insert(user.to_owned(), (author.clone(), Instant::now()));
                author
            }
            failed => {
                if let Err(failure) = failed {
                    tracing::warn!(user, %failure, "a person could not be looked up");
                }
                // An old answer is better than none. Without any answer the person gets no rights, and stays a stranger if the event says so.
                let known = self.people().get(user).map(|(author, _)| author.clone());
                known.unwrap_or_else(|| author_of(user, &json!({ "team_id": home }), workspace))
            }
        }
    }

    /// The people of the workspace with a name that begins with `name`. Slack has no search for them, so its list is read.
    pub(super) async fn find_members(&self, api: &Api, with: &Credential, name: &str) -> Result<Vec<Author>, Failure> {
        let (mut found, mut cursor, wanted) = (Vec::new(), String::new(), fold_name(name));
        let workspace = self.workspace.get().map(String::as_str);
        for _ in 0..MEMBER_PAGES {
            let arguments =
                Arguments::default().with("limit", MEMBERS).with_some("cursor", Some(cursor.as_str()).filter(|cursor| !cursor.is_empty()));
            let page = api.call(with, "users.list", arguments).await?;
            let members = page.get("members").and_then(Value::as_array).into_iter().flatten().filter(|member| member["deleted"] != true);
            let people = members.filter_map(|member| Some(author_of(member["id"].as_str()?, member, workspace)));
            let is_called = |name: &String| fold_name(name).starts_with(&wanted);
            found.extend(people.filter(|person| is_called(&person.name) || person.aliases.iter().any(is_called)));
            cursor = next_cursor(&page);
            if cursor.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// The name of a person, if it is known.
    pub(super) fn name_of(&self, user: &str) -> Option<String> {
        self.people().get(user).map(|(author, _)| author.name.clone())
    }

    /// Forgets a person's profile, because it has changed.
    pub(super) fn forget_person(&self, user: &str) {
        self.people().remove(user);
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<String, KnownChannel>> {
        self.channels.lock().expect("no code panics while it holds the channels")
    }

    fn people(&self) -> MutexGuard<'_, HashMap<String, (Author, Instant)>> {
        self.people.lock().expect("no code panics while it holds the people")
    }
}

impl KnownChannel {
    /// An unknown channel counts as private. Only the id of a direct conversation begins with a D.
    pub(super) fn unknown(id: &str) -> Self {
        Self { name: String::new(), is_private: true, is_direct: id.starts_with('D'), is_shared: false, members: Vec::new(), newest: None }
    }

    pub(super) fn describe(&self, id: &str) -> Channel {
        let place = if self.is_direct { Place::Direct } else { Place::Server };
        let name = if self.is_direct { String::new() } else { self.name.clone() };
        Channel { id: channel_id(id, None), name, place, private: self.is_private, shared: self.is_shared }
    }

    /// The thread on a message of the channel. A thread in a direct conversation counts as direct too, but has its own queue.
    pub(super) fn describe_thread(&self, id: &str, stamp: &str, owner: Option<UserId>) -> Channel {
        let parent = self.describe(id);
        let place = if self.is_direct {
            Place::Direct
        } else {
            Place::Thread { parent: parent.id, parent_name: parent.name.clone(), owner, starter: Some(message_id(id, stamp)) }
        };
        Channel { id: channel_id(id, Some(stamp)), name: parent.name, place, private: self.is_private, shared: self.is_shared }
    }
}

/// The cursor of a list's next page. Empty on the last page.
pub(super) fn next_cursor(page: &Map<String, Value>) -> String {
    let cursor = page.get("response_metadata").and_then(|metadata| metadata.get("next_cursor")).and_then(Value::as_str);
    cursor.unwrap_or_default().to_owned()
}

fn author_of(id: &str, user: &Value, workspace: Option<&str>) -> Author {
    let text = |pointer: &str| user.pointer(pointer).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let is = |flag: &str| user.get(flag).and_then(Value::as_bool).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in ["/profile/display_name", "/real_name", "/profile/real_name", "/name"].into_iter().filter_map(text) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let manages = ["is_admin", "is_owner", "is_primary_owner"].into_iter().any(is);
    let kind = if is("is_bot") { AuthorKind::ForeignBot } else { AuthorKind::Person };
    let is_guest = ["is_restricted", "is_ultra_restricted"].into_iter().any(is);
    let roles = [(SERVER_MANAGER, manages), (GUEST, is_guest), (STRANGER, is_stranger(user, workspace))];
    let roles = roles.into_iter().filter(|(_, has)| *has).map(|(role, _)| role.to_owned()).collect();
    let name = if names.is_empty() { id.to_owned() } else { names.remove(0) };
    Author { id: user_id(id), name, aliases: names, kind, roles }
}

/// Whether somebody belongs to another company. Several workspaces of one company count as the same.
fn is_stranger(user: &Value, workspace: Option<&str>) -> bool {
    let (Some(own), Some(theirs)) = (workspace, user["team_id"].as_str()) else { return user["is_stranger"] == true };
    let all = user.pointer("/enterprise_user/teams").and_then(Value::as_array);
    own != theirs && !all.is_some_and(|all| all.iter().any(|team| team == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_and_people_of_other_companies_are_told_apart() {
        let roles = |user: Value| author_of("U1", &user, Some("T1")).roles;
        assert_eq!(roles(json!({"team_id": "T1", "is_admin": true})), [SERVER_MANAGER]);
        assert_eq!(roles(json!({"team_id": "T1", "is_ultra_restricted": true})), [GUEST]);
        assert_eq!(roles(json!({"team_id": "T9"})), [STRANGER]);
        assert!(roles(json!({"team_id": "T2", "enterprise_user": {"teams": ["T1", "T2"]}})).is_empty());
        assert_eq!(author_of("U1", &json!({"is_stranger": true}), None).roles, [STRANGER]);
    }

    #[test]
    fn a_person_is_called_by_the_display_name_first() {
        let author =
            author_of("U1", &json!({"name": "ann", "real_name": "Ann Lee", "is_admin": true, "profile": {"display_name": "Annie"}}), None);
        assert_eq!((author.name.as_str(), author.aliases), ("Annie", vec!["Ann Lee".to_owned(), "ann".to_owned()]));
        assert_eq!((author.kind, author.roles), (AuthorKind::Person, vec![SERVER_MANAGER.to_owned()]));
        let bare = author_of("U2", &json!({"profile": {"display_name": " "}, "is_bot": true}), None);
        assert_eq!((bare.name.as_str(), bare.kind), ("U2", AuthorKind::ForeignBot));
    }

    #[test]
    fn channels_are_found_by_name_and_by_id() {
        let directory = Directory::default();
        directory.record(&json!({"id": "C1", "name": "general", "is_private": false, "latest": {"ts": "5.1"}}), &"kelly".into());
        directory.record(&json!({"id": "C1", "name": "general", "is_private": false}), &"vince".into());
        directory.record(&json!({"id": "D1", "is_im": true, "user": "U1"}), &"kelly".into());
        for name in ["general", "#general", "C1", "slack:C1"] {
            assert_eq!(directory.find_named(name), Some("slack:C1".into()), "{name}");
        }
        assert_eq!(directory.find_named("random"), None);
        let mut listed = directory.list("2024-11-27T09:33:20Z".parse().unwrap());
        listed.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        assert_eq!((listed[0].0.private, listed[0].1.as_str()), (false, "slack:C1-5.1"));
        assert_eq!((&listed[1].0.place, listed[1].1.as_str()), (&Place::Direct, "slack:D1-1732095200.000000"), "read back for a week");
        assert_eq!(directory.find("C1").unwrap().members, ["kelly".into(), "vince".into()]);
        assert_eq!(directory.find("D1").unwrap().describe("D1").place, Place::Direct);
    }

    #[test]
    fn a_thread_of_a_direct_conversation_is_direct() {
        let known =
            KnownChannel { name: String::new(), is_private: true, is_direct: true, is_shared: false, members: Vec::new(), newest: None };
        let thread = known.describe_thread("D1", "1.2", None);
        assert_eq!((thread.id.as_str(), thread.place), ("slack:D1-1.2", Place::Direct));
    }
}
