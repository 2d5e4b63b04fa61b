//! One turn: a position and comments.

use tokio_util::sync::CancellationToken;

use crate::features::board::model::discussion::{Given, GivenComment};
use crate::features::board::model::members::find_speaker;
use crate::features::board::model::{Board, CommentKind, Discussion, found};
use crate::features::board::{Boards, prompts, read_material, render};
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::{Contribution, Meeting, Participant, Seat};
use kernel::agent::offline::EXPLANATION;
use kernel::agent::prompt::PromptKind;
use kernel::agent::{AnswerVerdict, Limits, Offer, Question, Run, RunError, SpeechAct, Tools, addresses_in};
use kernel::chat::message::Speaker;
use kernel::chat::store::FileText;
use kernel::chat::text::is_subtext;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::llm::structured::Structured;
use kernel::memory::Scope;
use kernel::money::{Purpose, TokenUsage};
use kernel::persona::{Persona, Tier};

const TOKENS: u32 = 1200;
/// Tool calls of a turn.
const LIMITS: Limits = Limits { calls: 4, replies: 6 };

impl Boards {
    pub(super) async fn take_turn(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        let slug = &match &seat.who {
            Participant::Persona(slug) => slug.clone(),
            Participant::Guest { id, .. } => PersonaSlug::new(id.as_str()),
            Participant::Person { .. } => return Err(RunError::Nothing),
        };
        let persona = find_speaker(&seat.who, &self.roster).ok_or_else(|| RunError::NoPersona(slug.clone()))?;
        if self.store.is_paused(slug).await? {
            return Err(RunError::Paused);
        }
        if self.agents.is_offline() {
            return self.look_up((session.meeting, seat), persona).await;
        }
        match self.speak_with_model(session, seat, persona, cancel).await {
            // In a later round, what it finds was said in the first one.
            Err(error) if error.is_outage() && seat.round == 0 => {
                tracing::warn!(meeting = %session.meeting.id, persona = %slug, %error, "a turn is composed, because no model answered");
                self.look_up((session.meeting, seat), persona).await
            }
            said => said,
        }
    }

    async fn speak_with_model(
        &self,
        session: &Session<'_>,
        seat: &Seat,
        persona: &Persona,
        cancel: &CancellationToken,
    ) -> Result<Contribution, RunError> {
        let slug = &persona.slug;
        let meeting = session.meeting;
        let board: Board = meeting.read_payload()?;
        let material = read_material(session)?;
        // A speaker sees the earlier rounds and, after the first round, who spoke before in this one.
        let before = session.seats.iter().filter(|other| other.round < seat.round || (board.round > 0 && other.position < seat.position));
        let before: Vec<Seat> = before.cloned().collect();
        let discussion = self.read_discussion(meeting, &before).await?;
        let relationships = self.store.list_relationships(self.clock.now()).await?;
        let (feeds, listed) = (self.agents.readings.read(slug).await.reports, self.agents.list_reading_tools(persona));
        let prompt = || {
            let turn = prompts::Turn {
                board: &board,
                material: &material,
                discussion: &discussion,
                relationships: &relationships,
                who: &seat.who,
                feeds: &feeds,
                calls: if listed.is_empty() { 0 } else { LIMITS.calls },
                role: &persona.role,
                channel: &meeting.channel.name,
                now: self.roster.today(self.clock.now()).spell(),
                roster: &self.roster,
            };
            prompts::turn(self.agents.system_prompt(persona, PromptKind::Judgement), &turn)
        };
        let tier = if board.promoted.contains(slug) { above(persona.tier) } else { persona.tier };
        let tools = || looking_things_up(&board, &discussion, &listed, Scope::of(&meeting.channel));
        let run = || Run { tier, tools: tools(), ..Run::new(persona, (Purpose::Board, meeting.id.as_str()), prompt(), TOKENS, cancel) };
        let (given, model) = match self.agents.run_structured::<Given>(run()).await {
            Ok(Structured { value, model }) => (value.tidy().ok_or(RunError::Nothing)?, Some(model)),
            // A reply that does not have the requested form is kept whole (BOARD-4).
            Err(RunError::Unusable { reason, .. }) => {
                tracing::warn!(meeting = %meeting.id, persona = %slug, reason, "a turn is kept whole");
                let reply = self.agents.run(run()).await?;
                (Given::whole(&reply.text), reply.model)
            }
            Err(error) => return Err(error),
        };
        let mut given = given.joining(&discussion.sides());
        // Drops references to what does not exist.
        let known: Vec<String> = discussion.ids().collect();
        for said in &mut given.comments {
            said.answers.retain(|id| known.contains(id));
        }
        let before = discussion.find_position(&seat.who).map(|position| &position.given);
        Ok(self.contribute((meeting, seat), given, before, model))
    }

    /// The turn without a model: matches for the question in the persona's feeds, files and memories.
    async fn look_up(&self, (meeting, seat): (&Meeting, &Seat), persona: &Persona) -> Result<Contribution, RunError> {
        // An expert has no feeds and files.
        if matches!(seat.who, Participant::Guest { .. }) {
            return Err(RunError::Nothing);
        }
        let board: Board = meeting.read_payload()?;
        let documents = self.store.find_board(&meeting.id).await?.map_or_else(Vec::new, |record| record.documents);
        let file = |(name, text): (String, String)| FileText {
            id: format!("{}-{name}", meeting.id),
            message: meeting.id.as_str().into(),
            channel: meeting.channel.id.clone(),
            size: text.len() as u64,
            name,
            text: Some(text),
            note: None,
            by: board.asked_by.clone().unwrap_or_else(|| "somebody".to_owned()),
            at: meeting.called_at,
        };
        let files: Vec<FileText> = documents.into_iter().map(file).collect();
        let asker = Speaker::Persona(meeting.facilitator.clone());
        let question = Question {
            act: SpeechAct::Question,
            files: &files,
            scope: Scope::of(&meeting.channel),
            ..Question::new(&persona.slug, (Purpose::Board, meeting.id.as_str()), &asker, &board.topic)
        };
        let reply = self.agents.look_up(persona, &question).await?;
        if reply.verdict == Some(AnswerVerdict::DoesNotKnow) {
            return Err(RunError::Nothing);
        }
        let lines: Vec<&str> = reply.text.lines().filter(|line| !is_subtext(line) && *line != EXPLANATION).collect();
        let text = found::sort(&board.topic, &lines.join("\n"));
        let comments = vec![GivenComment { kind: CommentKind::Detail, text, answers: Vec::new() }];
        Ok(self.contribute((meeting, seat), Given { comments, ..Given::default() }, None, None))
    }

    fn contribute(&self, (meeting, seat): (&Meeting, &Seat), given: Given, before: Option<&Given>, model: Option<String>) -> Contribution {
        let redact = |text: String| self.agents.runner.redact(text, meeting.id.as_str());
        let comment = |said: GivenComment| GivenComment { text: redact(said.text), ..said };
        let given = Given {
            side: redact(given.side),
            position: redact(given.position),
            would_change: redact(given.would_change),
            changed_because: redact(given.changed_because),
            comments: given.comments.into_iter().map(comment).collect(),
            ..given
        };
        Contribution {
            text: render::contribution(seat, &given, before, model.is_some()),
            signals: Vec::new(),
            model,
            // The ledger has the usage of these calls.
            usage: TokenUsage::default(),
            partial: false,
            problems: Vec::new(),
            details: serde_json::to_value(&given).map_err(|error| StoreError::Corrupt(error.to_string())).ok(),
        }
    }
}

/// The tools of a turn. They only read: the policy refuses the rest, because a turn has text from outside and nobody can be asked. Addresses that
/// people have written may be fetched.
fn looking_things_up(board: &Board, discussion: &Discussion, listed: &[String], scope: Scope) -> Option<Tools<'static>> {
    let remarks = discussion.comments.iter().filter(|comment| comment.kind == CommentKind::Remark).map(|comment| comment.text.as_str());
    let about: Vec<&str> = std::iter::once(board.topic.as_str()).chain(remarks).collect();
    (!listed.is_empty()).then(|| Tools {
        listed: listed.to_vec(),
        offer: Offer::Fitting { about: about.join("\n"), first: vec!["read_feed"], also: Vec::new() },
        own: Vec::new(),
        workspace: None,
        source: None,
        scope,
        asked_by: None,
        addresses: about.into_iter().flat_map(addresses_in).collect(),
        approvals: None,
        in_chat: None,
        limits: LIMITS,
    })
}

/// The next higher tier (BOARD-8).
fn above(tier: Tier) -> Tier {
    match tier {
        Tier::T1 => Tier::T2,
        Tier::T2 | Tier::T3 => Tier::T3,
    }
}
