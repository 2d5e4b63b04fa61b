//! The recording of a board meeting as text: its question, the positions in each round, and the result.

use async_trait::async_trait;

use crate::features::board::model::Document;
use crate::features::board::render;
use crate::features::board::service::BoardService;
use crate::features::meeting::model::{Meeting, Participant, Seat};
use crate::features::voice::{Chapter, Playable, Script};
use kernel::chat::medium::shorten;
use kernel::commands::{CommandCall, Late, refuse};
use kernel::ids::MeetingId;
use kernel::persona::roster::Roster;

pub(super) struct BoardAudio {
    pub(super) boards: Late<BoardService>,
}

/// One word, unlike the kind of the meeting.
pub(super) const KIND: &str = "board";

#[async_trait]
impl Playable for BoardAudio {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn find_asked(&self, call: &CommandCall) -> anyhow::Result<String> {
        let boards = self.boards.get()?;
        let meeting = boards.find(call).await?;
        if boards.store.find_board(&meeting.id).await?.and_then(|record| record.document).is_none() {
            refuse(format!("that board meeting has left no document: it is {}", meeting.state.as_str()))?;
        }
        Ok(meeting.id.to_string())
    }

    async fn find_script(&self, id: &str) -> anyhow::Result<Option<Script>> {
        let boards = self.boards.get()?;
        let Some(meeting) = boards.store.find_meeting(&MeetingId::new(id)).await? else { return Ok(None) };
        let record = boards.store.find_board(&meeting.id).await?;
        let Some(document) = record.and_then(|record| record.document) else { return Ok(None) };
        let seats = boards.store.list_seats(&meeting.id).await?;
        Ok(Some(script(&meeting, &seats, &document, &boards.roster)))
    }
}

fn script(meeting: &Meeting, seats: &[Seat], document: &Document, roster: &Roster) -> Script {
    let facilitator =
        |text: String| Chapter { who: Some(meeting.facilitator.clone()), name: roster.name_of(&meeting.facilitator).to_owned(), text };
    let mut chapters = vec![facilitator(format!("The question: {}", document.question))];
    chapters.extend(seats.iter().filter_map(|seat| chapter(seat, roster)));
    chapters.push(facilitator(result(document)));
    Script {
        id: meeting.id.to_string(),
        title: format!("Board meeting: {}", shorten(&document.title, 90)),
        file: format!("board-{}", render::short_id(&meeting.id)),
        chapters,
        message: render::say(meeting, ""),
    }
}

/// None for a speaker who said nothing.
fn chapter(seat: &Seat, roster: &Roster) -> Option<Chapter> {
    let who = if let Participant::Persona(slug) = &seat.who { Some(slug.clone()) } else { None };
    Some(Chapter { who, name: seat.who.name(roster).to_owned(), text: seat.contribution.as_ref()?.text.clone() })
}

fn result(document: &Document) -> String {
    let mut lines = vec![format!("The result: {}", document.title), document.summary.clone()];
    if !document.minority.is_empty() {
        lines.push(format!("Another view: {}", document.minority));
    }
    if !document.actions.is_empty() {
        lines.push("What follows:".to_owned());
        lines.extend(document.actions.iter().map(|action| format!("{}: {}", action.owner, action.what)));
    }
    lines.join("\n\n")
}
