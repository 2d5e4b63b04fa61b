//! The beginning of a board meeting: who takes part, what is asked, how people correct the question, and what is known about it.

use tokio_util::sync::CancellationToken;

use crate::features::board::model::{Board, Comment, LINE, Material, Member, Passage, Restated, figures};
use crate::features::board::{Boards, prompts, read_material, render};
use crate::features::meeting::agenda::{Opening, Preparation, Revision, Session};
use crate::features::meeting::model::Meeting;
use kernel::agent::prompt::PromptKind;
use kernel::agent::{Run, RunError};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::feeds::FeedReport;
use kernel::memory::retrieval::{Library, Query, cut};
use kernel::memory::{Recall, Scope};
use kernel::money::Purpose;
use kernel::persona::Tier;
use kernel::text::one_line;

const TOKENS: u32 = 800;
/// The most passages that all speakers are given, and the most characters of one.
const PASSAGES: usize = 8;
const PASSAGE: usize = 900;
/// Maximum number of passages of documents that nobody handed in.
const FROM_FEEDS: usize = 6;
/// Below this length a document is given whole.
const SHORT: usize = 2500;
/// How many characters of each document are read to restate the question.
const BEGINNING: usize = 3000;
/// The most memories about the question.
const REMEMBERED: usize = 5;
/// The kind of feed with what the team itself does.
const ACTIVITY: &str = "activity";
/// How often a model restates the question with people's remarks. Later remarks are added as constraints.
const CORRECTIONS: u32 = 5;

impl Boards {
    pub(super) fn open_board(&self, meeting: &Meeting) -> Result<Opening, StoreError> {
        let board: Board = meeting.read_payload()?;
        let participants = board.members.iter().map(Member::participant).collect();
        Ok(Opening { participants, outbox: vec![self.render_opening(meeting, &board)] })
    }

    fn render_opening(&self, meeting: &Meeting, board: &Board) -> OutboundMessage {
        render::opening(meeting, board, (self.agents.is_offline(), self.agents.runner.models.unpriced()), &self.roster)
    }

    pub(super) async fn prepare_board(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation> {
        let board: Board = meeting.read_payload()?;
        let documents = self.store.find_board(&meeting.id).await?.map_or_else(Vec::new, |record| record.documents);
        let restated = self.restate(meeting, &board, &documents, None, cancel).await?.unwrap_or_default();
        let material = Material { prepared_at: self.clock.now(), ..Material::default() }.restated(restated);
        let material = self.gather(meeting, &board, &documents, material).await?;
        let offline = self.agents.is_offline();
        // Without a model there is one round.
        let board = Board { rounds: if offline { 1 } else { board.rounds }, ..board };
        let outbox = vec![
            render::restated(meeting, (&board, &material), &documents, offline, &self.roster),
            render::progress(meeting, &board, None, &self.roster),
        ];
        Ok(Preparation { material: serde_json::to_value(&material)?, outbox })
    }

    /// Adds what is known about the question: passages of documents, numbers of feeds, and memories.
    async fn gather(
        &self,
        meeting: &Meeting,
        board: &Board,
        documents: &[(String, String)],
        material: Material,
    ) -> Result<Material, StoreError> {
        let (topic, scope) = (board.topic.as_str(), Scope::of(&meeting.channel));
        let recalled = self.store.recall_for_prompt(&Recall::new(topic, &scope, REMEMBERED)).await?;
        let found = self.agents.find_findings(&meeting.facilitator, topic, &scope, true).await?;
        let found = found.into_iter().map(|finding| format!("{}: {}", finding.place, finding.text));
        let remembered = recalled.iter().map(|memory| memory.text.clone()).chain(found).map(|line| one_line(&line, LINE)).collect();
        let (in_feeds, figures) = self.find_in_feeds(board, &scope).await?;
        let passages = find_passages(topic, documents).into_iter().chain(in_feeds).collect();
        Ok(Material { passages, remembered, figures, ..material })
    }

    /// What the members' feeds have on the question: passages of their documents and of those posted in knowledge channels, and numbers.
    async fn find_in_feeds(&self, board: &Board, scope: &Scope) -> Result<(Vec<Passage>, Vec<String>), StoreError> {
        let mut found: Vec<Passage> = Vec::new();
        let mut reports: Vec<FeedReport> = Vec::new();
        for member in &board.members {
            let read = self.agents.readings.read(&member.persona).await;
            for quote in self.agents.find_passages(&read, &board.topic, scope).await? {
                if found.len() < FROM_FEEDS && !found.iter().any(|known| known.text == quote.text) {
                    found.push(Passage { place: quote.place, text: quote.text });
                }
            }
            // The team's activity has the meeting itself.
            let is_activity = |feed: &str| {
                self.agents.readings.feeds_of(&member.persona).iter().any(|known| known.name() == feed && known.kind() == ACTIVITY)
            };
            reports.extend(read.reports.into_iter().filter(|report| !is_activity(&report.feed)));
        }
        Ok((found, figures::choose(&board.topic, &reports, &self.roster)))
    }

    /// Restates the question with people's remarks since then, and edits its messages. A new question replaces the old one everywhere. None if there
    /// are no new remarks.
    pub(super) async fn correct_question(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<Option<Revision>> {
        let meeting = session.meeting;
        let material = read_material(session)?;
        let remarks = self.store.list_remarks(&meeting.id).await?;
        let Some(new) = remarks.get(material.remarks..).filter(|new| !new.is_empty()) else { return Ok(None) };
        let board: Board = meeting.read_payload()?;
        let documents = self.store.find_board(&meeting.id).await?.map_or_else(Vec::new, |record| record.documents);
        let restated = match material.corrections {
            CORRECTIONS.. => None,
            _ => self.restate(meeting, &board, &documents, Some((&material, &remarks)), cancel).await?,
        };
        let seen = Material { remarks: remarks.len(), ..material.clone() };
        let wording = |of: &Material| (of.question.clone(), of.constraints.clone(), of.answered_by.clone());
        let worded = restated.map(|restated| Material { corrections: seen.corrections + 1, ..seen.clone().restated(restated) });
        // If a model answers with the same words, it has ignored the remarks.
        let corrected = match worded {
            Some(worded) if wording(&worded) != wording(&seen) => worded,
            _ => seen.constrained_by(new, &self.roster),
        };
        let is_new = !corrected.question.is_empty() && corrected.question != material.question;
        let board = if is_new { Board { topic: corrected.question.clone(), ..board } } else { board };
        let corrected = if is_new { self.gather(meeting, &board, &documents, corrected).await? } else { corrected };
        let message = render::restated(meeting, (&board, &corrected), &documents, self.agents.is_offline(), &self.roster);
        let mut outbox = vec![render::revise(meeting, message, ("question", &format!("question-{}", remarks.len())))];
        if is_new {
            let opening = self.render_opening(meeting, &board);
            outbox.push(render::revise(meeting, opening, ("opening", &format!("opening-{}", remarks.len()))));
        }
        let payload = is_new.then(|| serde_json::to_value(&board)).transpose()?;
        Ok(Some(Revision { material: serde_json::to_value(&corrected)?, payload, outbox }))
    }

    /// Asks a model what exactly the question is, with people's corrections to the material. None without a model, or if no model gives an answer.
    async fn restate(
        &self,
        meeting: &Meeting,
        board: &Board,
        documents: &[(String, String)],
        corrected: Option<(&Material, &[Comment])>,
        cancel: &CancellationToken,
    ) -> Result<Option<Restated>, RunError> {
        if self.agents.is_offline() {
            return Ok(None);
        }
        let beginnings: Vec<(String, String)> = documents.iter().map(|(name, text)| (name.clone(), cut(text, BEGINNING))).collect();
        let coordinator = self.roster.coordinator();
        let prompt =
            prompts::restate(self.agents.system_prompt(coordinator, PromptKind::Judgement), board, &beginnings, corrected, &self.roster);
        let run = Run { tier: Tier::T1, ..Run::new(coordinator, (Purpose::Board, meeting.id.as_str()), prompt, TOKENS, cancel) };
        match self.agents.run_structured::<Restated>(run).await {
            Ok(given) => Ok(Some(given.value).filter(|restated| !restated.question.trim().is_empty())),
            Err(error @ (RunError::Cancelled | RunError::Lost | RunError::Store(_))) => Err(error),
            Err(error) => {
                tracing::warn!(meeting = %meeting.id, %error, "the question of a board meeting stands as it is");
                Ok(None)
            }
        }
    }
}

/// Passages of the documents that fit the question, each with its place. Short documents are given whole.
fn find_passages(topic: &str, documents: &[(String, String)]) -> Vec<Passage> {
    let (short, long): (Vec<_>, Vec<_>) = documents.iter().partition(|(_, text)| text.chars().count() <= SHORT);
    let mut passages: Vec<Passage> = short.into_iter().map(|(name, text)| Passage { place: name.clone(), text: text.clone() }).collect();
    let mut library = Library::default();
    for (name, text) in &long {
        library.add_document(name, text, 1.0);
    }
    let query = Query::parse(topic, &[]);
    let found = library.find(&query, PASSAGES);
    passages.extend(found.iter().map(|hit| hit.quote(&query, PASSAGE)).map(|quote| Passage { place: quote.place, text: quote.text }));
    for (name, text) in long {
        // Nothing in it matches the words of the question, so all read how it begins.
        if !found.iter().any(|hit| hit.source == name) {
            passages.push(Passage { place: format!("{name}, its beginning"), text: cut(text, PASSAGE) });
        }
    }
    passages.truncate(PASSAGES + documents.len().min(PASSAGES));
    passages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_given_what_long_documents_say_about_the_question_and_short_ones_whole() {
        let chapter = |number: usize| format!("## Chapter {number}\n\n{}\n\n", "The kitchen serves soup on Mondays. ".repeat(30));
        let mut long: String = (0..20).map(chapter).collect();
        long.push_str("## Queue\n\nThe queue moves to PostgreSQL once it has 5,000 jobs an hour.\n");
        let documents = [("notes.md".to_owned(), "We have two servers.".to_owned()), ("plan.md".to_owned(), long.clone())];
        let passages = find_passages("Should we move the queue to PostgreSQL?", &documents);
        assert_eq!(passages[0].text, "We have two servers.");
        assert!(
            passages.iter().any(|passage| passage.place.starts_with("plan.md, Queue") && passage.text.contains("5,000 jobs")),
            "{passages:?}"
        );

        let passages = find_passages("Why are elephants grey?", &documents[1..]);
        assert!(passages[0].place == "plan.md, its beginning" && passages[0].text.starts_with("## Chapter 0"), "{passages:?}");
    }
}
