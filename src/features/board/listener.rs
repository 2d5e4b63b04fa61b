//! Takes the remarks of people in the thread of a board meeting. All later speakers read them (BOARD-7).

use async_trait::async_trait;

use crate::features::board::model::is_of_meeting;
use crate::features::board::render;
use crate::features::board::service::BoardService;
use crate::features::board::store::{AddRemark, Overhear};
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::router::find_speech_act;
use crate::features::meeting::model::{MeetingState, Participant};
use kernel::agent::{PlaceNote, SpeechAct};
use kernel::chat::message::{AuthorKind, Channel, ChannelKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::{Effect, StoreError};
use kernel::memory::retrieval::cut;
use kernel::text::without_invisible;

/// The most characters of a remark.
const REMARK: usize = 1500;

pub(super) struct BoardListener {
    pub(super) boards: Late<BoardService>,
}

#[async_trait]
impl Listener for BoardListener {
    fn recognises(&self, _message: &InboundMessage) -> bool {
        false
    }

    /// A message that names nobody is a remark to all. A persona that is addressed answers as in any channel (see `accompany`).
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Ok(boards) = self.boards.get() else { return Ok(None) };
        let to_all = match decision.reason {
            Reason::Thread | Reason::FollowUp | Reason::Team | Reason::Question | Reason::Directive | Reason::Silence | Reason::Weighed => {
                true
            }
            Reason::Reply => replies_to_meeting(&boards, message).await?,
            _ => false,
        };
        if message.author.kind != AuthorKind::Person || !to_all || decision.ask.is_some() {
            return Ok(None);
        }
        let text = cut(without_invisible(&message.text).trim(), REMARK);
        let meeting = boards.find_of_thread(&message.channel).await?;
        let Some(meeting) = meeting.filter(|meeting| !meeting.state.is_over() && !text.is_empty()) else { return Ok(None) };
        let by = Participant::Person { id: message.author.id.clone(), name: message.author.name.clone() };
        let is_ending = meeting.wrap || meeting.state == MeetingState::Closing;
        let mut told = if is_ending {
            "This came too late: the document is being written.".to_owned()
        } else {
            boards.describe_remark(&meeting.id).await?.to_owned()
        };
        if !message.attachments.is_empty() {
            told.push_str(" Files are only read if they come with the question.");
        }
        // A question may be for the meeting or about it, so the state of the meeting is told too.
        if find_speech_act(&text, &boards.roster) == SpeechAct::Question
            && let Ok(known) = boards.know(meeting.clone()).await
        {
            told = format!("{}\n{told}", render::status(&known.meeting, &known.board, &known.shown(), None, &boards.roster));
        }
        let reply = OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(&meeting.facilitator, &message.channel.id, OutboundKind::Notice, told)
        };
        if is_ending {
            return Ok(Some(Taken { why: "it is a remark to a board meeting that ends".to_owned(), reply: Some(reply), effect: None }));
        }
        let effect = AddRemark { meeting: meeting.id, channel: meeting.channel.id, by, text, message: Some(message.id.clone()) };
        Ok(Some(Taken { why: "it is a remark to a board meeting".to_owned(), reply: Some(reply), effect: Some(Box::new(effect)) }))
    }

    /// What is said to one persona or person in the thread is a remark to all too, so that nobody goes on with what was corrected there.
    fn accompany(&self, message: &InboundMessage, decision: &Decision) -> Option<Box<dyn Effect>> {
        let text = cut(without_invisible(&message.text).trim(), REMARK);
        let is_thread = matches!(message.channel.place, Place::Thread { .. });
        let is_heard = message.author.kind == AuthorKind::Person && decision.is_remembered() && !text.is_empty();
        (is_thread && is_heard).then(|| -> Box<dyn Effect> {
            let by = Participant::Person { id: message.author.id.clone(), name: message.author.name.clone() };
            Box::new(Overhear { thread: message.channel.clone(), by, text, message: message.id.clone() })
        })
    }

    /// The facts for a question such as "How far are you?" in the thread.
    async fn describe_place(&self, channel: &Channel, _kind: ChannelKind) -> Result<Vec<PlaceNote>, StoreError> {
        let Ok(boards) = self.boards.get() else { return Ok(Vec::new()) };
        let Some(meeting) = boards.find_of_thread(channel).await? else { return Ok(Vec::new()) };
        let Ok(known) = boards.know(meeting).await else { return Ok(Vec::new()) };
        let text = render::status(&known.meeting, &known.board, &known.shown(), known.record.document.as_ref(), &boards.roster);
        Ok(vec![PlaceNote { text, asked_by: "board meeting progress status round sides going far left over", is_of_place: true }])
    }
}

/// Whether a message replies to a message about the meeting itself: its call, its question, its progress. A reply to a turn is for the speaker of
/// that turn.
async fn replies_to_meeting(boards: &BoardService, message: &InboundMessage) -> Result<bool, StoreError> {
    let Some(reply) = &message.reply_to else { return Ok(false) };
    let posted = boards.store.find_by_platform_id(&reply.message).await?;
    Ok(posted.is_some_and(|posted| is_of_meeting(&posted.id)))
}
