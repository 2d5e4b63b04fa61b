//! A chat platform in memory that is unlike Discord: short messages, other markup, tables of its own, no threads, no nonces.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage, Place};
use kernel::chat::outbound::{Button, OutboundMessage, Posted};
use kernel::chat::text::{self, Markup, Mention};
use kernel::chat::{ChatPlatform, IdentityState, IdentityStatus, PlatformEvent, SendError};
use kernel::commands::{Caller, CommandReply, CommandRequest, Invoked};
use kernel::config::Sources;
use kernel::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, UserId};
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use teamroom::app::{App, Connection, Setting};
use teamroom::config::Config;
use teamroom::store::Store;

use crate::support::migrated;
use crate::support::model::ScriptedModel;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, built_in_roster, use_model};

/// The most characters of a message.
pub(crate) const LIMIT: usize = 500;

const CHANNELS: [&str; 3] = ["general", "daily-standup", "ops"];

/// How the names of direct conversations begin.
const DIRECT: &str = "direct-";

/// The only person.
const PERSON: &str = "corner:ann";

/// The markup of the corner: `{ann}`, `{{general}}`, `~ small print`, `'''bold'''`.
struct Wiki;

impl Markup for Wiki {
    fn mention(&self, user: &UserId) -> String {
        format!("{{{}}}", bare(user.as_str()))
    }

    fn channel(&self, channel: &ChannelId) -> String {
        format!("{{{{{}}}}}", bare(channel.as_str()))
    }

    fn subtext(&self, line: &str) -> String {
        format!("~ {line}")
    }

    fn markdown<'t>(&self, markdown: &'t str) -> std::borrow::Cow<'t, str> {
        markdown.replace("**", "'''").into()
    }
}

fn written(neutral: &str) -> String {
    text::render(neutral, &Wiki)
}

/// Replaces mentions in the corner's markup by the team's own form.
fn read(text: &str) -> String {
    let mut neutral = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (id, after) = after.split_once('}').expect("a mention ends");
        neutral += before;
        neutral += &Mention(&UserId::new(format!("corner:{id}"))).to_string();
        rest = after;
    }
    neutral + rest
}

fn bare(id: &str) -> &str {
    id.strip_prefix("corner:").unwrap_or_else(|| panic!("{id} is of another platform"))
}

/// A message as the corner shows it.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) id: String,
    row: OutboxId,
    pub(crate) channel: String,
    pub(crate) author: PersonaSlug,
    pub(crate) text: String,
    /// Title and text of the card.
    pub(crate) card: Option<String>,
    pub(crate) files: Vec<String>,
    pub(crate) buttons: Vec<Button>,
    at: DateTime<Utc>,
}

#[derive(Default)]
struct State {
    notes: Vec<Note>,
    said: Vec<InboundMessage>,
    count: usize,
}

/// The platform.
pub(crate) struct Corner {
    state: Mutex<State>,
    personas: Vec<PersonaSlug>,
    connection: OnceLock<Connection>,
}

impl Corner {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the corner")
    }

    fn next_id(state: &mut State) -> String {
        state.count += 1;
        format!("corner:m{:04}", state.count)
    }

    fn note(message: &OutboundMessage, id: String) -> Result<Note, SendError> {
        let channel = bare(message.channel.as_str()).to_owned();
        if !CHANNELS.contains(&channel.as_str()) && !channel.starts_with(DIRECT) {
            return Err(SendError::Refused(format!("there is no channel {channel}")));
        }
        let text = written(&message.text);
        if text.chars().count() > LIMIT {
            return Err(SendError::Refused(format!("{} characters are too many", text.chars().count())));
        }
        if text.trim().is_empty() && message.card.is_none() && message.files.is_empty() {
            return Err(SendError::Refused("it is empty".to_owned()));
        }
        Ok(Note {
            id,
            row: message.id.clone(),
            channel,
            author: message.persona.clone(),
            text,
            card: message.card.as_ref().map(|card| written(&format!("{}\n{}", card.title, card.text))),
            files: message.files.iter().map(|file| file.name.clone()).collect(),
            buttons: message.buttons.clone(),
            at: SystemClock.now(),
        })
    }

    fn channel(name: &str) -> Channel {
        Channel { id: ChannelId::new(format!("corner:{name}")), name: name.to_owned(), place: Place::Server, private: false, shared: false }
    }

    fn connection(&self) -> &Connection {
        self.connection.get().expect("the team is connected")
    }
}

fn posted(note: &Note) -> Posted {
    Posted { channel: ChannelId::new(format!("corner:{}", note.channel)), message: note.id.as_str().into(), at: note.at }
}

#[async_trait]
impl ChatPlatform for Corner {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        let mut state = self.state();
        let id = Self::next_id(&mut state);
        let note = Self::note(message, id)?;
        let posted = posted(&note);
        state.notes.push(note);
        Ok(posted)
    }

    async fn edit(&self, message: &OutboundMessage, of: &MessageId) -> Result<Posted, SendError> {
        let note = Self::note(message, of.to_string())?;
        let mut state = self.state();
        let old = state.notes.iter_mut().find(|note| note.id == of.as_str()).ok_or_else(|| SendError::Gone("it is not here".to_owned()))?;
        *old = note;
        Ok(posted(old))
    }

    async fn open_thread(&self, _: &ChannelId, _: &MessageId, _: &str) -> Result<ChannelId, SendError> {
        Err(SendError::Refused("there are no threads here".to_owned()))
    }

    async fn open_direct(&self, persona: &PersonaSlug, to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        Ok((ChannelId::new(format!("corner:{DIRECT}{persona}-{}", bare(to.as_str()))), "corner:m0000".into()))
    }

    async fn find_posted(&self, message: &OutboundMessage, _: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Ok(self.state().notes.iter().find(|note| note.row == message.id).map(posted))
    }

    async fn list_messages_after(&self, channel: &ChannelId, after: &MessageId, limit: usize) -> Result<Vec<InboundMessage>, SendError> {
        let state = self.state();
        let later = state.said.iter().filter(|message| message.channel.id == *channel && message.id > *after);
        Ok(later.take(limit).cloned().collect())
    }

    async fn find_channel(&self, name: &str) -> Option<ChannelId> {
        CHANNELS
            .iter()
            .map(|known| Self::channel(known))
            .find(|channel| channel.name == name || channel.id.as_str() == name)
            .map(|found| found.id)
    }

    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        CHANNELS.iter().map(|name| (Self::channel(name), "corner:m0000".into())).collect()
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TextFormat { limit: LIMIT, has_tables: true, render: written }
    }

    fn identities(&self) -> Vec<IdentityStatus> {
        let status = |persona: &PersonaSlug| IdentityStatus {
            persona: persona.clone(),
            platform: "corner",
            state: IdentityState::Ready,
            account: Some(UserId::new(format!("corner:{persona}"))),
            latency: None,
            trouble: None,
        };
        self.personas.iter().map(status).collect()
    }
}

/// A team on the corner, and a person.
pub(crate) struct CornerTeam {
    app: Option<App>,
    corner: Arc<Corner>,
    pub(crate) model: ScriptedModel,
    pub(crate) config: Config,
    _dir: tempfile::TempDir,
}

impl CornerTeam {
    /// Without the scripted model the team is offline.
    pub(crate) async fn start(backing: Backing, has_model: bool) -> Self {
        Self::start_with(backing, has_model, |_| ()).await
    }

    pub(crate) async fn start_with(backing: Backing, has_model: bool, change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let model = ScriptedModel::start().await;
        let sources = Sources { dir: dir.path().to_owned(), ..Sources::default() };
        let mut config = teamroom::config::load(sources).expect("the defaults are valid");
        config.chat.coalesce = Duration::ZERO;
        config.chat.still_thinking_after = Duration::from_hours(1);
        config.chat.operators = vec!["*".into()];
        config.server.listen = None;
        config.schedules.jobs.clear();
        change(&mut config);
        config.database_url = migrated::on(backing, &dir.path().join(".teamroom/teamroom.db"), "a platform in memory").await.into();
        if has_model {
            use_model(&mut config, ProviderKind::OpenAi, &model);
        }
        let roster = built_in_roster();
        let personas: Vec<PersonaSlug> = roster.personas().iter().map(|persona| persona.slug.clone()).collect();
        // Stores the accounts, as an earlier run would have done, so that they are known when the first message comes.
        let store = Store::open(&config.database_url, SystemClock.now()).await.expect("the store opens");
        for persona in &personas {
            let account = UserId::new(format!("corner:{persona}"));
            store.record_identity(persona, &account, SystemClock.now()).await.expect("the account is stored");
        }
        store.close().await;
        let corner = Arc::new(Corner { state: Mutex::default(), personas, connection: OnceLock::new() });
        let platform = corner.clone();
        let setting = Setting { config: config.clone(), roster, clock: Arc::new(SystemClock) };
        let connect = Box::new(move |connection: Connection| {
            Box::pin(async move {
                for persona in &platform.personas {
                    let account = UserId::new(format!("corner:{persona}"));
                    connection.events.send(PlatformEvent::Ready { persona: persona.clone(), account }).await?;
                }
                assert!(platform.connection.set(connection).is_ok(), "connected once");
                Ok(platform as Arc<dyn ChatPlatform>)
            }) as _
        });
        let app = Box::pin(App::start_on(setting, connect)).await.expect("the team starts");
        app.ready(PATIENCE).await.expect("every identity is online");
        Self { app: Some(app), corner, model, config, _dir: dir }
    }

    /// Ann says something in the markup of the corner.
    pub(crate) async fn say(&self, channel: &str, said: &str) {
        let text = read(said);
        let id = Corner::next_id(&mut self.corner.state());
        let message = InboundMessage {
            id: id.into(),
            channel: Corner::channel(channel),
            author: Author { id: PERSON.into(), name: "Ann".to_owned(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() },
            mentions: text::list_mentions(&text),
            text,
            reply_to: None,
            attachments: Vec::new(),
            sent_at: SystemClock.now(),
            seen_by: "kelly".into(),
            complete: true,
        };
        self.corner.state().said.push(message.clone());
        self.corner.connection().events.send(PlatformEvent::Message(Box::new(message))).await.expect("the team listens");
    }

    /// Ann runs a command.
    pub(crate) async fn run(&self, channel: &str, path: &str, given: &[(&str, &str)]) -> CommandReply {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.invoke(channel, Invoked::Command { path: path.to_owned(), given }).await
    }

    /// Ann presses a button.
    pub(crate) async fn press(&self, note: &Note, label: &str) -> CommandReply {
        let button = note.buttons.iter().find(|button| button.label == label).unwrap_or_else(|| panic!("no {label}: {note:#?}"));
        let reply = self.invoke(&note.channel, Invoked::Button(button.id.clone())).await;
        if reply.retire_buttons {
            self.corner.state().notes.iter_mut().filter(|known| known.id == note.id).for_each(|known| known.buttons.clear());
        }
        reply
    }

    async fn invoke(&self, channel: &str, invoked: Invoked) -> CommandReply {
        let caller = Caller::Person { id: PERSON.into(), name: "Ann".to_owned(), roles: Vec::new() };
        let request = CommandRequest { invoked, caller, channel: Some(Corner::channel(channel)) };
        self.corner.connection().commands.run(request).await
    }

    /// What the team has posted in a channel.
    pub(crate) fn notes(&self, channel: &str) -> Vec<Note> {
        self.corner.state().notes.iter().filter(|note| note.channel == channel).cloned().collect()
    }

    /// Waits for a message of the team.
    pub(crate) async fn wait_for(&self, channel: &str, is_it: impl Fn(&Note) -> bool) -> Note {
        let started = Instant::now();
        loop {
            let notes = self.notes(channel);
            if let Some(found) = notes.iter().find(|note| is_it(note)) {
                return found.clone();
            }
            assert!(started.elapsed() < PATIENCE, "it was never posted: {notes:#?}");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// Waits until nothing is open, and returns what the team has posted.
    pub(crate) async fn settled(&self, channel: &str) -> Vec<Note> {
        let started = Instant::now();
        while !self.app.as_ref().expect("the team runs").is_idle().await.expect("the store answers") {
            assert!(started.elapsed() < PATIENCE, "the team does not come to rest");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
        self.notes(channel)
    }

    pub(crate) async fn stop(mut self) {
        self.app.take().expect("the team runs").stop().await;
    }
}
