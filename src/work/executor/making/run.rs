use super::conversation::{Conversation, Step};
use super::material::Material;
use super::{Background, Maker, Making, finish, setback};
use crate::domain::persona::Tier;
use crate::domain::usage::Purpose;
use crate::domain::work::{JournalCall, JournalEntry, Trace};
use crate::llm::{Call, ModelReply, ModelRequest};
use crate::persona::context::new_marker;
use crate::store::StoreError;
use crate::tools::RESEARCH;
use crate::work::executor::{Assignment, Outcome};

/// The most calls of a run (TOOL-1 sets 8 for a turn; work is three turns long).
pub(super) const MOST_CALLS: usize = 24;
/// The most replies. A model that goes on calling when no call is left goes round in circles.
const MOST_REPLIES: usize = MOST_CALLS + 8;
/// The most calls of one reply; what is beyond was not asked for by anybody in their right mind.
const CALLS_AT_ONCE: usize = MOST_CALLS;
/// The least that a reply may be long, in tokens: a document comes in one piece.
const OUTPUT_TOKENS: u32 = 6000;

/// Tools that every run has, whatever its persona lists: what is not written does not exist.
pub(super) const ALWAYS: [&str; 3] = ["workspace_list", "workspace_read", "workspace_write"];

/// The entry of what is saved without a call: the model's words themselves.
const SAVED: &str = "saved";

/// Why a run does not go on.
pub(super) enum Stop {
    With(Outcome),
    Broken(anyhow::Error),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.into())
    }
}

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) maker: &'a Maker,
    pub(super) assignment: &'a Assignment<'a>,
    pub(super) background: &'a Background<'a>,
    pub(super) making: Making,
    pub(super) conversation: Conversation,
    /// The tools that its persona may use here.
    pub(super) listed: Vec<String>,
}

/// Goes on with a run until it has an outcome.
pub(super) async fn perform(
    maker: &Maker,
    assignment: &Assignment<'_>,
    background: &Background<'_>,
    making: Making,
) -> anyhow::Result<Outcome> {
    let own = assignment.persona.tools.iter().map(String::as_str).filter(|tool| !ALWAYS.contains(tool));
    let mut run = Run {
        maker,
        assignment,
        background,
        making,
        conversation: Conversation::about(assignment.item),
        listed: own.chain(ALWAYS).map(str::to_owned).collect(),
    };
    match run.go_on().await {
        Stop::With(outcome) => Ok(outcome),
        Stop::Broken(error) => Err(error.context(format!("working on item {}", assignment.item.id))),
    }
}

impl Run<'_> {
    async fn go_on(&mut self) -> Stop {
        if let Err(error) = self.remember().await {
            return error.into();
        }
        loop {
            if self.assignment.cancel.is_cancelled() {
                return self.interrupted();
            }
            let done = match self.conversation.step() {
                Step::Begin => self.begin().await,
                Step::Ask => self.ask().await,
                Step::Call(call) => self.carry_out(&call).await,
                Step::Unknown(call) => self.leave(&call).await,
                Step::Conclude(text) => self.conclude(&text).await,
            };
            if let Err(stop) = done {
                return stop;
            }
        }
    }

    async fn remember(&mut self) -> Result<(), StoreError> {
        let item = self.assignment.item;
        for (entry, at) in self.maker.performer.store.list_journal(&item.id, item.run).await? {
            self.conversation.take_in(&entry, at);
        }
        Ok(())
    }

    /// Writes an entry into the journal, which nobody but the holder of the lease can.
    pub(super) async fn record(&mut self, entry: JournalEntry) -> Result<(), Stop> {
        let now = self.maker.performer.clock.now();
        let (lease, run) = (self.assignment.lease, self.assignment.item.run);
        if !self.maker.performer.store.append_journal(lease, run, std::slice::from_ref(&entry), now).await? {
            return Err(self.interrupted());
        }
        self.conversation.take_in(&entry, now);
        Ok(())
    }

    pub(super) fn interrupted(&self) -> Stop {
        Stop::With(setback::interrupted(self.maker.performer.clock.now()))
    }

    async fn begin(&mut self) -> Result<(), Stop> {
        let Assignment { item, persona, cancel, .. } = *self.assignment;
        let performer = &self.maker.performer;
        let feeds = tokio::select! {
            read = performer.readings.read(&persona.slug) => read.reports,
            () = cancel.cancelled() => return Err(self.interrupted()),
        };
        let material = Material {
            team: &performer.team,
            roster: &performer.roster,
            persona,
            item,
            making: self.making,
            background: self.background,
            feeds: &feeds,
            limits: format!("{MOST_CALLS} calls, {}", RESEARCH.describe()),
            marker: &new_marker(),
            now: performer.clock.now(),
        };
        self.record(material.prompt()).await
    }

    async fn ask(&mut self) -> Result<(), Stop> {
        if self.conversation.replies >= MOST_REPLIES {
            let why = format!("the language model called tools {} times and came to no end", self.conversation.calls);
            return Err(Stop::With(Outcome::Failed { why }));
        }
        let performer = &self.maker.performer;
        let asked_at = performer.clock.now();
        let reply = performer.models.complete(&self.call(), &self.request(), self.assignment.cancel).await.map_err(|error| {
            let still = self.conversation.still_for(asked_at);
            Stop::With(setback::outcome(&error, still, performer.clock.now()))
        })?;
        let entry = self.replied(reply);
        self.record(entry).await
    }

    fn call(&self) -> Call {
        let persona = self.assignment.persona;
        let least = if self.making == Making::Research { Tier::T2 } else { Tier::T1 };
        Call {
            persona: Some(persona.slug.clone()),
            purpose: Purpose::Step,
            subject: self.assignment.item.id.to_string(),
            tier: persona.tier.max(least),
        }
    }

    fn request(&self) -> ModelRequest {
        let mut tools = self.maker.toolbox.specs(&self.listed);
        tools.push(finish::spec());
        ModelRequest {
            system: self.conversation.system.clone(),
            messages: self.conversation.messages.clone(),
            tools,
            schema: None,
            max_output_tokens: self.maker.performer.max_output_tokens.max(OUTPUT_TOKENS),
        }
    }

    /// A reply as it is kept: without secrets, and its calls under ids of ours. Some servers give every call the same id, and some take
    /// back none but those of nine letters and digits.
    fn replied(&self, reply: ModelReply) -> JournalEntry {
        let model = reply.full_name();
        let before = self.conversation.calls;
        let calls = (before + 1..).zip(reply.calls.into_iter().take(CALLS_AT_ONCE)).map(|(number, call)| JournalCall {
            id: format!("call{number:05}"),
            name: call.name,
            arguments: self.without_secrets_in(call.arguments),
        });
        let calls = calls.collect();
        JournalEntry::Replied { text: self.without_secrets(&reply.text), calls, model }
    }

    /// Ends with what the model says in plain words: the document itself, or what it has to say of its files.
    async fn conclude(&mut self, text: &str) -> Result<(), Stop> {
        if self.conversation.written.is_empty() {
            if self.making == Making::Files {
                let why = "the language model talked of the work and wrote no file".to_owned();
                return Err(Stop::With(Outcome::Failed { why }));
            }
            self.save(text).await?;
        }
        let product = finish::product_of(text, self.conversation.written.clone(), &self.conversation);
        Err(Stop::With(Outcome::Made(product)))
    }

    /// Saves a document that was given as a reply. Saving it twice makes one file.
    async fn save(&mut self, text: &str) -> Result<(), Stop> {
        let item = self.assignment.item;
        let name = finish::file_name(&item.what);
        let saved = match self.maker.workspaces.open(&item.id).await {
            Ok(workspace) => workspace.write(&name, text.as_bytes()).await,
            Err(error) => Err(error),
        };
        let saved = saved.map_err(|error| Stop::With(Outcome::Failed { why: format!("the document could not be saved: {error}") }))?;
        let text = format!("The reply was saved as {}.", saved.path);
        let trace = Some(Trace::Wrote { path: saved.path, sha256: saved.sha256, bytes: saved.bytes });
        self.record(JournalEntry::Returned { call: SAVED.into(), text, outside: false, refused: false, trace }).await
    }
}
