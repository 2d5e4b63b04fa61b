//! Takes messages that hand the team a directive (WORK-10, WORK-11), and knows what a mission's thread is about.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changing::{Wish, check_wish};
use super::hearing::{Heard, SURE, Unheard};
use super::model::directive::Directive;
use super::model::{Mission, MissionStatus};
use super::prompts;
use super::render;
use super::service::{MissionError, Missions, Wanted};
use crate::features::backlog::store::Remark;
use crate::features::chat::classify::classify_in_time;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::Decision;
use crate::features::chat::rules::router::find_speech_act;
use kernel::agent::offline::wants_deed;
use kernel::agent::{PlaceNote, SpeechAct};
use kernel::chat::attachments::is_long_paste;
use kernel::chat::message::{AuthorKind, Channel, ChannelKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::{Effect, StoreError};
use kernel::ids::{MessageId, PersonaSlug};
use kernel::text::{flatten, without_invisible};

/// A message without a document is a directive only if it is at least as long.
const LONG: usize = 600;

/// The most characters of a remark in a mission's history.
const REMARK: usize = 500;

pub(super) struct MissionListener {
    missions: Late<Missions>,
    /// What may be wishes, from `take` until the decision on their messages.
    unheard: Mutex<HashMap<MessageId, Wish>>,
}

impl MissionListener {
    pub(super) fn new(missions: Late<Missions>) -> Self {
        Self { missions, unheard: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, Wish>> {
        self.unheard.lock().expect("no code panics while it holds the wishes")
    }
}

/// What a message wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Intent {
    Casual,
    Question,
    SimpleTask,
    Project,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Classified {
    kind: Intent,
    /// From 0 to 1.
    confidence: f64,
    /// In a few words.
    #[serde(default)]
    why: String,
    /// What it is about, in at most eight words.
    #[serde(default)]
    title: String,
}

#[async_trait]
impl Listener for MissionListener {
    fn recognises(&self, _message: &InboundMessage) -> bool {
        false
    }

    /// Takes a message that a persona would answer, if a person hands over or writes a document, or wants a mission changed in its thread. A question
    /// about a document is answered like any other.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let (Ok(missions), Some(persona)) = (self.missions.get(), decision.responders.first()) else { return Ok(None) };
        if message.author.kind != AuthorKind::Person || message.channel.place == Place::Direct || decision.ask.is_some() {
            return Ok(None);
        }
        if let Some(mission) = find_here(&missions, &message.channel).await? {
            match take_wish(&missions, &mission, message, persona).await? {
                Understood::Wish(taken) => return Ok(Some(taken)),
                Understood::NotYet(wish) => {
                    self.lock().insert(message.id.clone(), wish);
                    return Ok(None);
                }
                Understood::Talk => {}
            }
        }
        let may_have = !message.attachments.is_empty() || message.reply_to.is_some() || message.text.chars().count() >= LONG;
        if !may_have {
            return Ok(None);
        }
        let documents = list_documents(&missions, message).await?;
        let text = without_invisible(&message.text);
        let directive = Directive::read(&documents, &text);
        let is_candidate = directive.has_structure() && (!documents.is_empty() || text.chars().count() >= LONG);
        // A file without a word asks for nothing yet.
        if !is_candidate || (text.trim().is_empty() && !has_paste(message)) {
            return Ok(None);
        }
        let Some(classified) = classify(&missions, message, &text, &directive).await else { return Ok(None) };
        if classified.kind != Intent::Project || classified.confidence < SURE {
            tracing::info!(id = %message.id, kind = ?classified.kind, confidence = classified.confidence, "a message with a document is no mission");
            return Ok(None);
        }
        let why = format!("it asks for a mission ({:.0} % sure): {}", classified.confidence * 100.0, flatten(&classified.why, 120));
        let wanted = Wanted {
            request: &text,
            directive,
            documents: documents.into_iter().map(|(name, _)| name).collect(),
            title: Some(classified.title),
            by: Some((message.author.id.clone(), message.author.name.clone())),
            channel: &message.channel,
            message: Some(message.id.clone()),
        };
        Ok(Some(match missions.draft(wanted, persona) {
            Ok(drafted) => Taken { why, reply: Some(drafted.reply), effect: Some(Box::new(drafted.effect)) },
            Err(MissionError::Refused(told)) => {
                let reply = OutboundMessage {
                    reply_to: Some(message.id.clone()),
                    ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
                };
                Taken { why, reply: Some(reply), effect: None }
            }
            Err(MissionError::Store(error)) => return Err(error),
        }))
    }

    fn accompany(&self, message: &InboundMessage, _decision: &Decision) -> Option<Box<dyn Effect>> {
        let wish = self.lock().remove(&message.id)?;
        Some(Box::new(Unheard(wish)))
    }

    /// Notes for an answer to "How is it going?" in a mission's thread.
    async fn describe_place(&self, channel: &Channel, _kind: ChannelKind) -> Result<Vec<PlaceNote>, StoreError> {
        let Ok(missions) = self.missions.get() else { return Ok(Vec::new()) };
        let Some(mission) = find_here(&missions, channel).await? else { return Ok(Vec::new()) };
        let text = missions.describe(&mission).await?;
        Ok(vec![PlaceNote { text, asked_by: "mission progress status going far done left", is_of_place: true }])
    }
}

impl Missions {
    /// The state of a mission, in words.
    pub(super) async fn describe(&self, mission: &Mission) -> Result<String, StoreError> {
        let items = self.items_of(mission).await?;
        let (_, cost) = self.cost_of(mission).await?;
        let messages = self.store().count_messages(&mission.id).await?;
        Ok(render::status(mission, &items, (cost, messages), self.roster()))
    }
}

/// What a message in a mission's thread is.
#[expect(clippy::large_enum_variant, reason = "there is one per message")]
enum Understood {
    Wish(Taken),
    /// A model takes longer than a person waits.
    NotYet(Wish),
    Talk,
}

fn can_be_changed(mission: &Mission) -> bool {
    !mission.status.is_over() || mission.status == MissionStatus::Done
}

/// Takes a person's wish to change the mission in whose thread it is said. A model tells wishes from talk, in any language; without a model there are
/// only commands.
async fn take_wish(
    missions: &Missions,
    mission: &Mission,
    message: &InboundMessage,
    persona: &PersonaSlug,
) -> Result<Understood, StoreError> {
    let text = without_invisible(&message.text);
    let agents = missions.agents().filter(|_| missions.settings().classify && can_be_changed(mission) && !text.trim().is_empty());
    let Some(agents) = agents else { return Ok(Understood::Talk) };
    let asker = missions.asker_of(message);
    let allowed = check_wish(mission, &asker);
    let wish = Wish {
        mission: mission.id.clone(),
        by: asker.name().to_owned(),
        text: text.clone(),
        message: Some(message.id.clone()),
        colleague: None,
        is_told: false,
    };
    let prompt = prompts::wish(&text, &missions.describe(mission).await?);
    let heard = match classify_in_time::<Heard>(agents, missions.clock(), &message.id, prompt).await {
        Ok(Some(heard)) => heard,
        Ok(None) => return Ok(if allowed.is_ok() { Understood::NotYet(wish) } else { Understood::Talk }),
        Err(error) => {
            tracing::warn!(id = %message.id, %error, "whether a message wants a mission changed is not known");
            return Ok(Understood::Talk);
        }
    };
    if !heard.wants_change() {
        return Ok(Understood::Talk);
    }
    let (told, effect): (String, Box<dyn Effect>) = match allowed {
        Ok(()) => {
            let is_done = mission.status == MissionStatus::Done;
            let told = if is_done { "I take it up again." } else { "I look at what that changes in the plan." };
            (told.to_owned(), Box::new(wish))
        }
        Err(MissionError::Refused(why)) => {
            let note = format!("{} wishes: {}", asker.name(), flatten(&text, REMARK));
            (format!("{why} I keep it as a remark."), Box::new(Remark { item: mission.id.clone(), note }))
        }
        Err(MissionError::Store(error)) => return Err(error),
    };
    let reply = OutboundMessage {
        reply_to: Some(message.id.clone()),
        ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
    };
    let why = format!("it wants the mission changed ({:.0} % sure): {}", heard.confidence * 100.0, flatten(&heard.why, 120));
    Ok(Understood::Wish(Taken { why, reply: Some(reply), effect: Some(effect) }))
}

/// Names and texts of what belongs to the message: its own files, or those of the message that it answers.
async fn list_documents(missions: &Missions, message: &InboundMessage) -> Result<Vec<(String, String)>, StoreError> {
    let store = missions.store();
    let mut ids: Vec<String> = message.attachments.iter().map(|attachment| attachment.id.clone()).collect();
    if ids.is_empty()
        && let Some(reply) = &message.reply_to
    {
        ids = store.list_message_files(&reply.message, None).await?.into_iter().map(|file| file.id).collect();
    }
    let mut documents = Vec::new();
    for id in ids {
        if let Some(file) = store.find_file(&id).await?
            && let Some(text) = file.text
        {
            documents.push((file.name, text));
        }
    }
    Ok(documents)
}

/// Whether the person's text was attached, because it was too long for a message.
fn has_paste(message: &InboundMessage) -> bool {
    message.attachments.iter().any(is_long_paste)
}

/// Classifies a message with a model. Without a model or its answer, a rule decides: a request that needs more than a look into the document, with a
/// document that lists things.
async fn classify(missions: &Missions, message: &InboundMessage, text: &str, directive: &Directive) -> Option<Classified> {
    if let Some(agents) = missions.agents().filter(|_| missions.settings().classify) {
        let prompt = prompts::classify(text, &directive.render_in_short());
        match classify_in_time(agents, missions.clock(), &message.id, prompt).await {
            Ok(Some(classified)) => return Some(classified),
            Ok(None) => tracing::warn!(id = %message.id, "a model takes too long, so what a message wants is told by rule"),
            Err(error) => tracing::warn!(id = %message.id, %error, "what a message wants is told by rule"),
        }
    }
    let act = find_speech_act(text, missions.roster());
    let is_project = act == SpeechAct::Request && directive.lists_things() && wants_deed(text, act, missions.roster());
    let why = "a request with a document that lists things".to_owned();
    is_project.then(|| Classified { kind: Intent::Project, confidence: SURE, why, title: String::new() })
}

/// The mission whose thread this is.
async fn find_here(missions: &Missions, channel: &Channel) -> Result<Option<Mission>, StoreError> {
    let Place::Thread { starter, .. } = &channel.place else { return Ok(None) };
    let posted = match starter {
        Some(starter) => missions.store().find_by_platform_id(starter).await?,
        None => None,
    };
    missions.store().find_mission_here(posted.map(|posted| posted.id).as_ref(), &channel.id).await
}
