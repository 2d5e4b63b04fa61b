//! The end of a board meeting: a document in which every section rests on comments, and what the team remembers of the meeting.

use tokio_util::sync::CancellationToken;

use crate::features::board::model::compression::{Compressed, compress_if_long};
use crate::features::board::model::document::{self, Text, Written, votes_of};
use crate::features::board::model::{Board, Discussion, Document, Ending, Material};
use crate::features::board::playing::KIND;
use crate::features::board::rounds::find_ending;
use crate::features::board::store::{decide_ending, record_comments, store_document};
use crate::features::board::{Boards, prompts, read_material, render};
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::{Meeting, Participant};
use crate::features::meeting::store::cause;
use crate::features::memory::offer_lesson;
use crate::features::relationships::{Cause, Move, move_relationships};
use anyhow::Context as _;
use kernel::agent::prompt::PromptKind;
use kernel::agent::{Run, RunError};
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::llm::structured::Structured;
use kernel::memory::store::save_memory;
use kernel::memory::{Memory, MemoryKind, MemorySource, Scope};
use kernel::money::Purpose;
use kernel::persona::Tier;

const TOKENS: u32 = 4000;
/// The summary of a meeting without a model that found nothing.
const NOTHING_FOUND: &str =
    "Feeds, files and what the team remembers say nothing on it. A debate needs a language model: connect one, and call it again.";
/// How much an outcome counts beside other lessons.
const SIGNIFICANCE: f64 = 0.6;

impl Boards {
    pub(super) async fn close_board(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()> {
        let meeting = session.meeting;
        let (board, material): (Board, Material) = (meeting.read_payload()?, read_material(session)?);
        let record = self.store.find_board(&meeting.id).await?.context("the row of the board meeting is missing")?;
        let discussion = self.read_discussion(meeting, session.seats).await?;
        record_comments(session.run.job(), &meeting.id, &discussion.comments, self.clock.now()).await?;
        // The reason is decided before the document is paid for, so that a second attempt gives the same reason.
        let ending = if let Some(ending) = record.ending.clone() {
            ending
        } else {
            let ending = find_ending(meeting, &record, self.cost_of(meeting).await?, self.clock.now());
            decide_ending(session.run.job(), &meeting.id, &ending).await?
        };
        let compressed = compress_if_long(&discussion);
        let (mut text, model) = self.write(meeting, (&board, &material), (&discussion, &compressed), cancel).await?;
        if ending == Ending::NoModel && discussion.comments.is_empty() {
            NOTHING_FOUND.clone_into(&mut text.summary);
        }
        if cancel.is_cancelled() {
            anyhow::bail!("it was interrupted");
        }
        let (cost, usage) = self.store.spent_on(meeting.id.as_str()).await?;
        let question = if material.question.is_empty() { board.topic.clone() } else { material.question.clone() };
        // A model may leave out the minority's view. This code adds it.
        let minority = if text.minority.is_empty() { self.minority_of(&discussion) } else { text.minority };
        let written = Document {
            title: if text.title.is_empty() { kernel::text::one_line(&board.topic, 100) } else { text.title },
            artefact: board.artefact,
            asked: board.topic.clone(),
            question,
            members: board.members.clone(),
            advocate: board.advocate.clone(),
            positions: discussion.positions.clone(),
            summary: text.summary,
            sections: text.sections,
            votes: votes_of(&discussion),
            minority: if discussion.sides().len() > 1 { minority } else { String::new() },
            open_questions: text.open_questions,
            actions: text.actions,
            ending,
            rounds: if discussion.positions.is_empty() { 0 } else { board.round + 1 },
            loss: compressed.loss,
            cost,
            cost_on_t3: self.agents.runner.models.price(Tier::T3, usage),
            model,
            unfounded: text.unfounded,
            comments: discussion.comments.clone(),
        };
        self.store_closing(session, &board, &material, &written).await
    }

    /// Has a model write the document. Puts it together from the comments without a model, or if nothing in the model's text rests on comments.
    async fn write(
        &self,
        meeting: &Meeting,
        (board, material): (&Board, &Material),
        (discussion, compressed): (&Discussion, &Compressed<'_>),
        cancel: &CancellationToken,
    ) -> Result<(Text, Option<String>), RunError> {
        let composed = || document::compose(&board.topic, discussion, |who| self.name(who));
        if self.agents.is_offline() || discussion.comments.is_empty() {
            return Ok((composed(), None));
        }
        let coordinator = self.roster.coordinator();
        let prompt = prompts::document(
            self.agents.system_prompt(coordinator, PromptKind::Judgement),
            board,
            material,
            discussion,
            compressed,
            &self.roster,
        );
        let run = Run { tier: Tier::T2, ..Run::new(coordinator, (Purpose::Board, meeting.id.as_str()), prompt, TOKENS, cancel) };
        Ok(match self.agents.run_structured::<Written>(run).await {
            Ok(Structured { value, model }) => match document::check(value, discussion) {
                Some(text) => (self.redact(text, meeting), Some(model)),
                None => (composed(), None),
            },
            Err(error @ (RunError::Cancelled | RunError::Lost | RunError::Store(_))) => return Err(error),
            Err(error) => {
                tracing::warn!(meeting = %meeting.id, %error, "the document of a board meeting is put together from its comments");
                (composed(), None)
            }
        })
    }

    fn redact(&self, text: Text, meeting: &Meeting) -> Text {
        let redact = |text: String| self.agents.runner.redact(text, meeting.id.as_str());
        let mut text = Text { title: redact(text.title), summary: redact(text.summary), minority: redact(text.minority), ..text };
        for section in &mut text.sections {
            section.heading = redact(std::mem::take(&mut section.heading));
            section.text = redact(std::mem::take(&mut section.text));
        }
        text.open_questions = text.open_questions.into_iter().map(redact).collect();
        for action in &mut text.actions {
            for said in [&mut action.what, &mut action.how, &mut action.why, &mut action.owner] {
                *said = redact(std::mem::take(said));
            }
        }
        text
    }

    fn minority_of(&self, discussion: &Discussion) -> String {
        document::minority_of(discussion, |who| self.name(who))
    }

    fn name(&self, who: &Participant) -> String {
        render::name_of(who, &self.roster).to_owned()
    }

    /// Writes in one transaction: the document, the memory, the posts, and the end of the meeting.
    async fn store_closing(&self, session: &Session<'_>, board: &Board, material: &Material, written: &Document) -> anyhow::Result<()> {
        let (meeting, now) = (session.meeting, self.clock.now());
        let memory = self.remember(meeting, board, material, written).await?;
        let mut outbox = render::ended(meeting, (board, written), self.plays.button(KIND, meeting.id.as_str()), &self.roster);
        if let (Some(memory), Some(last)) = (&memory, outbox.last_mut()) {
            offer_lesson(last, Some(memory));
        }
        let Some(mut transaction) = session.run.begin_close(meeting, now).await? else { return Ok(()) };
        store_document(&mut transaction, &meeting.id, written).await?;
        if let Some(memory) = &memory {
            save_memory(&mut transaction, memory).await?;
        }
        let about = Scope::of(&meeting.channel).place().is_none().then(|| board.topic.clone());
        move_relationships(&mut transaction, list_moves(board, written, about.as_deref()), now).await?;
        insert_outbound(&mut transaction, &outbox, cause(meeting), now).await?;
        session.run.finish(transaction).await?;
        tracing::info!(meeting = %meeting.id, rounds = written.rounds, "the document of a board meeting is stored");
        Ok(())
    }

    /// The outcome, for later work and meetings (BOARD-10). If the meeting read documents from people, a person must confirm it first. None if nobody
    /// took a side.
    async fn remember(
        &self,
        meeting: &Meeting,
        board: &Board,
        material: &Material,
        written: &Document,
    ) -> Result<Option<Memory>, StoreError> {
        if written.votes.is_empty() {
            return Ok(None);
        }
        let mut memory = Memory {
            significance: SIGNIFICANCE,
            held: !material.passages.is_empty(),
            // Guests remember nothing.
            tags: board.members.iter().filter(|member| member.guest.is_none()).map(|member| member.persona.to_string()).collect(),
            place: Scope::of(&meeting.channel).place().cloned(),
            ..Memory::new(
                MemoryKind::Lesson,
                render::outcome(meeting, written, &self.roster),
                MemorySource::Meeting(meeting.id.clone()),
                self.clock.now(),
            )
        };
        if let Some(known) = self.store.find_duplicate(&memory).await? {
            (memory.id, memory.held) = (known.id, known.held);
        }
        Ok(Some(memory))
    }
}

/// Pairs of personas that ended on the same side or on different sides. Without the devil's advocate, who was asked to hold a side.
fn list_moves(board: &Board, written: &Document, about: Option<&str>) -> Vec<Move> {
    let held_by = |who: &Participant| match who {
        Participant::Persona(slug) => Some(slug.clone()).filter(|slug| board.advocate.as_ref() != Some(slug)),
        Participant::Person { .. } | Participant::Guest { .. } => None,
    };
    let held: Vec<(&str, PersonaSlug)> =
        written.votes.iter().flat_map(|vote| vote.by.iter().filter_map(held_by).map(|slug| (vote.side.as_str(), slug))).collect();
    let mut moves = Vec::new();
    for (index, (side, by)) in held.iter().enumerate() {
        for (other, with) in &held[index + 1..] {
            let cause = if side == other { Cause::Agreed } else { Cause::Disagreed };
            moves.push(Move { cause, by: by.clone(), with: with.clone(), about: about.map(str::to_owned) });
        }
    }
    moves
}
