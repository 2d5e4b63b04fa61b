//! The actions of people on board meetings, by a command, a button or a sentence.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sha2::{Digest as _, Sha256};

use crate::config::Config;
use crate::features::backlog::action::{KnownOwners, MOST_ACTIONS, check_actions};
use crate::features::backlog::model::{MeetingOrigin, Origin, WorkItem};
use crate::features::board::model::{Board, BoardRecord, Discussion, Document, meeting_of, message_id};
use crate::features::board::render::{self, Shown};
use crate::features::board::{BOARD, BoardSettings};
use crate::features::meeting::model::{CalledBy, Meeting, MeetingState, Participant};
use crate::store::Store;
use anyhow::Context as _;
use kernel::chat::message::{Channel, Place};
use kernel::commands::{Caller, CommandCall, Refused, refuse};
use kernel::db::StoreError;
use kernel::ids::{MeetingId, PersonaSlug, WorkItemId};
use kernel::memory::Scope;
use kernel::money::Money;
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::text::{capital, flatten, fold_name};
use kernel::time::SharedClock;

/// Board meetings that are looked through for a name.
const KNOWN: u32 = 200;

pub(super) struct BoardService {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) people: People,
    pub(super) terms: Terms,
    pub(super) clock: SharedClock,
}

/// The settings under which board meetings are held.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) facilitator: PersonaSlug,
    pub(super) settings: BoardSettings,
    pub(super) zone: Tz,
    /// The most that a board meeting may cost, unless its caller says otherwise.
    pub(super) budget: Option<Money>,
    /// Models without a known price.
    pub(super) unpriced: Vec<String>,
}

impl Terms {
    pub(super) fn of(config: &Config, roster: &Roster) -> Self {
        Self {
            facilitator: roster.coordinator().slug.clone(),
            settings: config.features.get::<BoardSettings>(),
            zone: config.schedules.zone,
            budget: config.budgets.meeting,
            unpriced: config.models.list_unpriced(),
        }
    }

    /// A meeting that somebody calls at `now`. Its day is that of the team's time zone.
    pub(super) fn call(
        &self,
        channel: Channel,
        called_by: CalledBy,
        board: &Board,
        budget: Option<Money>,
        now: DateTime<Utc>,
    ) -> serde_json::Result<Meeting> {
        let day = now.with_timezone(&self.zone).date_naive();
        let meeting = Meeting::called(BOARD, (channel, day), self.facilitator.clone(), called_by, (now, self.settings.session));
        Ok(Meeting { budget: budget.or(self.budget), payload: Some(serde_json::to_value(board)?), ..meeting })
    }
}

/// A board meeting with everything that is known about it.
pub(super) struct Known {
    pub(super) meeting: Meeting,
    pub(super) board: Board,
    pub(super) record: BoardRecord,
    pub(super) discussion: Discussion,
    pub(super) cost: Money,
}

impl Known {
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown { discussion: &self.discussion, rounds: self.board.rounds + self.record.extra_rounds, cost: self.cost }
    }
}

impl BoardService {
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(super) async fn know(&self, meeting: Meeting) -> anyhow::Result<Known> {
        let board: Board = meeting.read_payload()?;
        let record = self.store.find_board(&meeting.id).await?.context("the row of the board meeting is missing")?;
        let seats = self.store.list_seats(&meeting.id).await?;
        let remarks = self.store.list_remarks(&meeting.id).await?;
        let discussion = Discussion::of(&board.topic, &seats, &remarks);
        let (cost, _) = self.store.spent_on(meeting.id.as_str()).await?;
        Ok(Known { meeting, board, record, discussion, cost })
    }

    /// The latest board meetings that may be shown in the place of the call, newest first.
    pub(super) async fn list(&self, call: &CommandCall) -> Result<Vec<(Meeting, Board)>, StoreError> {
        let meetings = self.store.list_meetings(&BOARD, KNOWN).await?;
        let scope = call.channel.as_ref().map(Scope::of);
        let may_be_told = |meeting: &Meeting| scope.as_ref().is_none_or(|scope| scope.hears(Scope::of(&meeting.channel).place()));
        // A row that cannot be read does not hide the others.
        Ok(meetings
            .into_iter()
            .filter(may_be_told)
            .filter_map(|meeting| {
                let board = meeting.read_payload().ok()?;
                Some((meeting, board))
            })
            .collect())
    }

    /// The meeting of a thread: the thread hangs on the meeting's message, or the meeting was called in it.
    pub(super) async fn find_of_thread(&self, channel: &Channel) -> Result<Option<Meeting>, StoreError> {
        let Place::Thread { starter, .. } = &channel.place else { return Ok(None) };
        let posted = match starter {
            Some(starter) => self.store.find_by_platform_id(starter).await?,
            None => None,
        };
        match posted.and_then(|posted| meeting_of(&posted.id)) {
            Some(meeting) => Ok(self.store.find_meeting(&meeting).await?.filter(|meeting| meeting.read_payload::<Board>().is_ok())),
            None => self.store.find_open_meeting(&channel.id, &BOARD).await,
        }
    }

    /// Finds a meeting by the end of its id or by words of its topic. Without either, the meeting of this thread, the one in progress here, or the
    /// last one.
    pub(super) async fn find(&self, call: &CommandCall) -> anyhow::Result<Meeting> {
        let known = self.list(call).await?;
        let Some(asked) = call.arguments.find_text("id") else {
            if let Some(channel) = &call.channel
                && let Some(meeting) = self.find_of_thread(channel).await?
            {
                return Ok(meeting);
            }
            let is_here = |meeting: &Meeting| call.channel.as_ref().is_none_or(|here| is_in(meeting, here));
            let mut on = known.iter().filter(|(meeting, _)| !meeting.state.is_over() && is_here(meeting));
            let open = on.next();
            if call.channel.is_none() && on.next().is_some() {
                refuse("several board meetings are on. Name one with --id: `teamroom board list` shows them")?;
            }
            let last = || known.iter().find(|(meeting, _)| is_here(meeting));
            return match open.or_else(last) {
                Some((meeting, _)) => Ok(meeting.clone()),
                None => Ok(refuse("there was no board meeting here yet. `/board create` calls one")?),
            };
        };
        let wanted = fold_name(asked.trim().trim_start_matches('#'));
        let by_id = known.iter().filter(|(meeting, _)| {
            let short = render::short_id(&meeting.id);
            wanted.len() >= 3 && (short.starts_with(&wanted) || meeting.id.as_str().ends_with(&wanted))
        });
        let by_words = known.iter().filter(|(_, board)| fold_name(&board.topic).contains(&wanted));
        let mut found: Vec<_> = by_id.chain(by_words).filter(|_| !wanted.is_empty()).collect();
        // Meetings in progress come before those that are over.
        if found.iter().any(|(meeting, _)| !meeting.state.is_over()) {
            found.retain(|(meeting, _)| !meeting.state.is_over());
        }
        match &found[..] {
            [] => Ok(refuse(format!("there is no board meeting \"{}\". `/board list` shows them", flatten(asked, 60)))?),
            [(meeting, _)] => Ok(meeting.clone()),
            [..] => {
                let ids: Vec<String> = found.iter().map(|(meeting, _)| format!("`#{}`", render::short_id(&meeting.id))).collect();
                Ok(refuse(format!("several board meetings fit: {}. Name one by its id", ids.join(", ")))?)
            }
        }
    }

    /// Like [`Self::find`], but only a meeting that is not over.
    pub(super) async fn find_open(&self, call: &CommandCall) -> anyhow::Result<Meeting> {
        let meeting = self.find(call).await?;
        if meeting.state.is_over() {
            refuse("that board meeting is over")?;
        }
        Ok(meeting)
    }

    /// Updates the progress line to show whether the meeting is paused. A paused one has a button to resume it.
    pub(super) async fn show_progress(&self, meeting: &MeetingId) -> anyhow::Result<()> {
        let Some(meeting) = self.store.find_meeting(meeting).await? else { return Ok(()) };
        if !self.has_progress(&meeting.id).await? {
            return Ok(());
        }
        let known = self.know(meeting).await?;
        let line = render::progress(&known.meeting, &known.board, Some(&known.shown()), &self.roster);
        let line = render::revise(&known.meeting, line, ("progress", &format!("progress-at-{}", self.now().timestamp_millis())));
        self.store.enqueue_once(&line, self.now()).await?;
        Ok(())
    }

    /// Tells the author of a remark what happens to it.
    pub(super) async fn describe_remark(&self, meeting: &MeetingId) -> Result<&'static str, StoreError> {
        Ok(if self.store.is_before_first_turn(meeting).await? {
            "I take that into the question before anybody answers it."
        } else {
            "All who speak next read that."
        })
    }

    /// Posts a message in the thread.
    pub(super) async fn tell(&self, meeting: &Meeting, text: String) -> Result<(), StoreError> {
        self.store.enqueue_once(&render::say(meeting, text), self.now()).await?;
        Ok(())
    }

    async fn has_progress(&self, meeting: &MeetingId) -> Result<bool, StoreError> {
        Ok(self.store.find_posted(&message_id(meeting, "progress")).await?.is_some())
    }

    /// Ends the meeting without a document.
    pub(super) async fn cancel(&self, meeting: &Meeting, by: &str) -> anyhow::Result<()> {
        let by = capital(&flatten(by, 40));
        let mut outbox = vec![render::say(meeting, format!("{by} cancelled this board meeting. It leaves no document."))];
        if self.has_progress(&meeting.id).await? {
            outbox.push(render::revise(meeting, render::say(meeting, format!("Cancelled by {by}.")), ("progress", "progress-over")));
        }
        let reason = format!("{by} cancelled it");
        if !self.store.end_meeting(&meeting.id, MeetingState::Cancelled, &reason, &outbox, self.now()).await? {
            refuse("that board meeting is over")?;
        }
        Ok(())
    }

    /// Adds the actions of a meeting to the backlog, once. Returns the new items, and why the other actions were not added.
    pub(super) async fn add_actions(&self, meeting: &MeetingId) -> anyhow::Result<(Vec<WorkItem>, Vec<String>)> {
        let meeting = self.store.find_meeting(meeting).await?.ok_or_else(|| Refused::new("that board meeting is gone"))?;
        let record = self.store.find_board(&meeting.id).await?;
        let Some(Document { actions, .. }) = record.and_then(|record| record.document) else {
            return Ok(refuse("that board meeting has left no document")?);
        };
        if self.store.find_item(&item_id(&meeting.id, 0)).await?.is_some() {
            refuse("what follows from it is in the backlog already")?;
        }
        let people = self.people.directory().await?;
        let known = KnownOwners { roster: &self.roster, people: &people };
        let titles: Vec<String> = actions.iter().map(|action| known.title_of(action)).collect();
        let scope = Scope::of(&meeting.channel);
        let alike = self.store.list_alike(&titles, &scope).await?;
        let checked = check_actions(&actions, &known, &alike, MOST_ACTIONS);
        let called_by = match &meeting.called_by {
            CalledBy::Person { id, name, .. } => Some((id.clone(), name.clone())),
            CalledBy::Schedule { .. } | CalledBy::CommandLine => None,
        };
        let origin = Origin::Meeting(MeetingOrigin { id: meeting.id.clone(), called_by });
        let now = self.now();
        let items: Vec<WorkItem> = (0..)
            .zip(checked.accepted)
            .map(|(number, action)| WorkItem {
                id: item_id(&meeting.id, number),
                how: action.how,
                why: action.why,
                urgency: action.urgency,
                execution: action.execution,
                channel: Some(meeting.channel.id.clone()),
                private_to: scope.place().cloned(),
                ..WorkItem::new(action.what, action.owner, origin.clone(), now)
            })
            .collect();
        self.store.insert_items(&items, now).await?;
        let refused = checked.refused.into_iter().map(|refused| format!("\"{}\" {}", refused.what, refused.reason)).collect();
        Ok((items, refused))
    }
}

/// Whether a meeting is held in a channel, or in a thread of it.
fn is_in(meeting: &Meeting, here: &Channel) -> bool {
    let parent = match &here.place {
        Place::Thread { parent, .. } => Some(parent),
        _ => None,
    };
    meeting.channel.id == here.id || parent.is_some_and(|parent| meeting.channel.id == *parent)
}

/// The id of an item. Always the same for an action, so that a second click adds nothing.
fn item_id(meeting: &MeetingId, number: usize) -> WorkItemId {
    let digest = Sha256::digest(format!("board\n{meeting}\n{number}"));
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    WorkItemId::new(uuid::Uuid::from_bytes(half).simple().to_string())
}

/// A person or the command line as a participant, for remarks.
pub(super) fn participant_of(caller: &Caller) -> Participant {
    match caller {
        Caller::Person { id, name, .. } => Participant::Person { id: id.clone(), name: name.clone() },
        Caller::CommandLine | Caller::KanbanPage => Participant::Guest { id: "operator".to_owned(), name: "the operator".to_owned() },
    }
}
