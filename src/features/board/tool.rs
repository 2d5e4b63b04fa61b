//! "Let's discuss whether …, and give me a recommendation": a persona calls a board meeting when somebody asks for one like this.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::features::board::model::members::{self, FEWEST};
use crate::features::board::model::{Artefact, Board, Order};
use crate::features::board::render;
use crate::features::board::service::Terms;
use crate::features::meeting::model::{CalledBy, Meeting};
use crate::features::meeting::store::Called;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{AuthorKind, InboundMessage, Place};
use kernel::db::StoreError;
use kernel::ids::MeetingId;
use kernel::memory::MemorySource;
use kernel::persona::roster::Roster;
use kernel::tools::approval::Risk;
use kernel::tools::{AskedBy, Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

const TOPIC: usize = 1500;

pub(super) struct BoardCreate {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) terms: Terms,
}

#[derive(Deserialize)]
struct Wanted {
    topic: String,
    #[serde(default)]
    artefact: Artefact,
    #[serde(default)]
    team: Vec<String>,
}

#[async_trait]
impl Tool for BoardCreate {
    fn name(&self) -> &'static str {
        "board_create"
    }

    fn description(&self) -> String {
        "Calls a board meeting: several personas think one question through in rounds and leave a document. Only when a person asks for a discussion of \
         the team, not for a question that one of you can answer. The files of the person's message are read by all."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "board meeting discuss discussion debate together opinions decide everybody team besprechen diskutieren diskutiert beraten gemeinsam discutez debate"
    }

    fn needs_message(&self) -> bool {
        true
    }

    fn parameters(&self) -> Value {
        let members = self.roster.personas().iter().filter(|persona| !persona.coordinator).chain(self.roster.experts());
        let members: Vec<_> = members.map(|member| member.name.as_str()).collect();
        json!({
            "type": "object",
            "properties": {
                "topic": {"type": "string", "description": "The question, in exactly the person's words."},
                "artefact": {"type": "string", "enum": ["recommendations", "decision", "document", "roadmap"]},
                "team": {"type": "array", "items": {"type": "string", "enum": members}, "description": "Only if the person names who takes part."},
            },
            "required": ["topic"],
            "additionalProperties": false,
        })
    }

    /// A call for a question in the person's own words counts as the person's own act.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        match serde_json::from_value::<Wanted>(arguments.clone()) {
            Ok(wanted) if context.asked_by.is_some_and(|asked| stands_in(asked, &wanted.topic)) => Risk::Read,
            _ => Risk::Write,
        }
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Calling a board meeting".into())
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Stored { id, .. } = trace else { return None };
        Some(format!("Called the board meeting `#{}`", render::short_id(&MeetingId::new(id.as_str()))))
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        let topic = Medium::Chat.line_within(arguments["topic"].as_str().unwrap_or_default(), 300);
        format!("May I call a board meeting on this?\n**{topic}**")
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let wanted: Wanted = parse_arguments(arguments)?;
        let topic: String = wanted.topic.trim().chars().take(TOPIC).collect();
        if !topic.contains(char::is_alphanumeric) {
            return Err(ToolError::Refused("not called: the question is missing".into()));
        }
        let message = self.find_message(context.get_source()?).await?;
        if message.channel.place == Place::Direct {
            return Err(ToolError::Refused("not called: a board meeting needs a channel where all can post. Say so".into()));
        }
        let members = if wanted.team.is_empty() {
            let relationships = self.store.list_relationships(context.now).await.map_err(|error| unavailable(&error))?;
            members::choose(&topic, &self.roster, &relationships, self.terms.settings.members as usize)
        } else {
            members::name(&wanted.team, &self.roster).map_err(|why| ToolError::Refused(format!("not called: {why}")))?
        };
        if members.len() < FEWEST {
            return Err(ToolError::Refused(format!("not called: it takes at least {FEWEST} personas")));
        }
        let board = Board {
            topic,
            artefact: wanted.artefact,
            order: Order::default(),
            rounds: self.terms.settings.rounds,
            threshold: self.terms.settings.threshold,
            members,
            advocate: None,
            round: 0,
            promoted: Vec::new(),
            asked_by: Some(message.author.name.clone()),
        };
        let documents = self.list_documents(&message).await.map_err(|error| unavailable(&error))?;
        let by = CalledBy::Person { id: message.author.id.clone(), name: message.author.name.clone(), message: Some(message.id.clone()) };
        let meeting = self
            .terms
            .call(message.channel.clone(), by, &board, None, context.now)
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        // Always the same id for a message, so that only one meeting is called for it.
        let meeting = Meeting { id: meeting_id(&message), ..meeting };
        match self.store.call_board(&meeting, &documents).await.map_err(|error| unavailable(&error))? {
            Called::AlreadyOpen(running) if running.id != meeting.id => {
                Err(ToolError::Refused(format!("not called: the {} is still running here. Say so", running.describe())))
            }
            Called::Opened | Called::AlreadyOpen(_) => {
                let trace = Trace::Stored { kind: "board_meeting".into(), id: meeting.id.to_string() };
                let text = "Called. It is announced in the channel by itself: say no more than that it begins.".to_owned();
                Ok(ToolOutput { text, outside: false, trace: Some(trace) })
            }
        }
    }
}

impl BoardCreate {
    async fn find_message(&self, source: &MemorySource) -> Result<InboundMessage, ToolError> {
        let found = match source {
            MemorySource::Message(id) => self.store.find_message(id).await.map_err(|error| unavailable(&error))?,
            MemorySource::WorkItem(_) | MemorySource::Meeting(_) | MemorySource::Command => None,
        };
        let message = found.map(|row| row.message).filter(|message| message.author.kind == AuthorKind::Person);
        message.ok_or_else(|| ToolError::Refused("not called: only a person in a conversation can have one called".into()))
    }

    /// The files of the message, or of the message that it replies to.
    async fn list_documents(&self, message: &InboundMessage) -> Result<Vec<(String, String)>, StoreError> {
        let mut ids: Vec<String> = message.attachments.iter().map(|attachment| attachment.id.clone()).collect();
        if let (true, Some(reply)) = (ids.is_empty(), &message.reply_to) {
            ids = self.store.list_message_files(&reply.message, None).await?.into_iter().map(|file| file.id).collect();
        }
        let mut documents = Vec::new();
        for id in ids {
            let file = self.store.find_file(&id).await?;
            documents.extend(file.and_then(|file| Some((file.name, file.text?))));
        }
        Ok(documents)
    }
}

/// Whether the topic occurs in the person's own words. Unlike for other tools, the person may ask a question.
fn stands_in(asked: &AskedBy, topic: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (said, topic) = (words(&asked.text), words(topic));
    !topic.is_empty() && said.windows(topic.len()).any(|part| part == topic)
}

fn meeting_id(message: &InboundMessage) -> MeetingId {
    let digest = Sha256::digest(format!("board\n{}", message.id));
    MeetingId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not call a board meeting");
    ToolError::Failed("board meetings are not available right now".into())
}
