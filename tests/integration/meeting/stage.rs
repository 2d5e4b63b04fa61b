//! The engine with a test agenda: as many rounds as its payload says, with a persona, a guest and maybe a person.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::agent::RunError;
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Posted};
use kernel::chat::outbox::Relay;
use kernel::chat::redact::Redactor;
use kernel::chat::{ChatPlatform, SendError};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, LedgerId, MeetingId, MessageId};
use kernel::jobs::{Jobs, JobsDeps, JobsSettings};
use kernel::llm::budget::Budgets;
use kernel::money::{CallOutcome, Money, Purpose, Reservation, Settlement, TokenUsage};
use kernel::persona::Tier;
use kernel::testing::roster as sample;
use kernel::time::{Clock as _, ManualClock};
use kernel::wakeup::Wakeup;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::Decided;
use teamroom::features::meeting::agenda::{Agenda, Opening, Preparation, Round, Session, Strategy};
use teamroom::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, MeetingState, Participant, Seat};
use teamroom::features::meeting::{Deps, Meetings};
use teamroom::store::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::support::migrated;
use crate::support::team::{Backing, eventually};

pub(super) const PANEL: MeetingKind = MeetingKind::new("panel");
pub(super) const CHANNEL: &str = "10";
const START: &str = "2026-11-20T09:00:00Z";

/// The payload of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Payload {
    /// The number of rounds.
    pub(super) rounds: u32,
    /// The number of started rounds.
    pub(super) begun: u32,
}

/// The events of a panel, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Turn { round: u32, who: String },
    Posted(String),
}

pub(super) type Log = Arc<Mutex<Vec<Said>>>;

struct Panel {
    store: Store,
    clock: ManualClock,
    log: Log,
    /// The cost of each turn.
    price: Money,
    person: bool,
    /// If set, turns wait until this wakes them.
    gate: Option<Wakeup>,
    /// Whether opening the meeting fails.
    broken: bool,
}

impl Panel {
    fn participants(&self) -> Vec<Participant> {
        let mut all =
            vec![Participant::Persona("vince".into()), Participant::Guest { id: "economist".into(), name: "An economist".into() }];
        all.extend(self.person.then(|| Participant::Person { id: "7".into(), name: "Ben".into() }));
        all
    }

    async fn spend(&self, meeting: &Meeting) {
        let id = LedgerId::generate();
        let reservation = Reservation {
            id: id.clone(),
            at: self.clock.now(),
            persona: None,
            purpose: Purpose::Board,
            subject: meeting.id.to_string(),
            allowance: None,
            provider: "test".into(),
            model: "test".into(),
            tier: Tier::T1,
            tokens: 1,
            cost: self.price,
        };
        self.store.reserve(&reservation, &Budgets::default()).await.expect("within the budget of the day");
        let settlement = Settlement { id, usage: TokenUsage::default(), cost: self.price, latency_ms: 1, outcome: CallOutcome::Answered };
        assert!(self.store.settle(&settlement).await.unwrap());
    }
}

#[async_trait]
impl Agenda for Panel {
    fn kind(&self) -> MeetingKind {
        PANEL
    }

    fn call(&self, _: Channel, _: CalledBy, _: DateTime<Utc>) -> Meeting {
        unreachable!("the tests call it themselves")
    }

    async fn render_latest(&self, _: &ChannelId, _: DateTime<Utc>) -> Result<String, StoreError> {
        Ok(String::new())
    }

    fn strategy(&self, _: &Meeting) -> Strategy {
        Strategy::InOrder
    }

    async fn open(&self, _: &Meeting) -> anyhow::Result<Opening> {
        anyhow::ensure!(!self.broken, "nobody knows the agenda");
        Ok(Opening { participants: self.participants(), outbox: Vec::new() })
    }

    async fn prepare(&self, _: &Meeting, _: &CancellationToken) -> anyhow::Result<Preparation> {
        Ok(Preparation { material: serde_json::Value::Null, outbox: Vec::new() })
    }

    async fn next_round(&self, session: &Session<'_>, _: &CancellationToken) -> anyhow::Result<Option<Round>> {
        let payload: Payload = session.meeting.read_payload()?;
        let payload = Payload { begun: payload.begun + 1, ..payload };
        let more = payload.begun < payload.rounds;
        Ok(more.then(|| Round { participants: self.participants(), payload: serde_json::to_value(payload).ok(), outbox: Vec::new() }))
    }

    fn turn_limit(&self, _: &Participant) -> Duration {
        Duration::from_mins(10)
    }

    fn pause(&self) -> Duration {
        Duration::ZERO
    }

    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        if let Some(gate) = &self.gate {
            let mut gate = gate.subscribe();
            self.log.lock().unwrap().push(Said::Turn { round: seat.round, who: "begins".into() });
            tokio::select! {
                () = gate.next() => {}
                () = cancel.cancelled() => return Err(RunError::Cancelled),
            }
        }
        self.spend(session.meeting).await;
        let text = format!("round {}", seat.round);
        let usage = TokenUsage::default();
        Ok(Contribution { text, signals: Vec::new(), model: None, usage, partial: false, problems: Vec::new(), details: None })
    }

    fn render(&self, meeting: &Meeting, seat: &Seat, _: &Contribution) -> Vec<OutboundMessage> {
        let who = seat.who.name(&sample::roster()).to_owned();
        self.log.lock().unwrap().push(Said::Turn { round: seat.round, who: who.clone() });
        vec![OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Report, format!("{who} spoke"))]
    }

    fn render_skipped(&self, _: &Meeting, _: &Seat, _: &str) -> Vec<OutboundMessage> {
        Vec::new()
    }

    async fn close(&self, session: &Session<'_>, _: &CancellationToken) -> anyhow::Result<()> {
        session.run.close(session.meeting, &[], self.clock.now()).await?;
        Ok(())
    }

    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage> {
        vec![OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, format!("No result: {reason}."))]
    }
}

/// A database for panels, used by one process after another.
pub(super) struct Stage {
    pub(super) store: Store,
    pub(super) clock: ManualClock,
    pub(super) log: Log,
    pub(super) price: Money,
    pub(super) person: bool,
    pub(super) gate: Option<Wakeup>,
    pub(super) broken: bool,
    pub(super) jobs: JobsSettings,
    pub(super) url: SecretString,
    pub(super) _dir: tempfile::TempDir,
}

/// A process that runs panels.
pub(super) struct Process {
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
}

impl Process {
    /// Kills it at once.
    pub(super) async fn end(self) {
        self.stop.cancel();
        self.kill.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Stage {
    pub(super) async fn on(backing: Backing) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url: SecretString = migrated::on(backing, &dir.path().join("teamroom.db"), "no platform").await.into();
        let start = START.parse().unwrap();
        let store = Store::open_shared(&url, start).await.unwrap();
        let (clock, log, jobs) = (ManualClock::new(start), Log::default(), JobsSettings::default());
        Self { store, clock, log, price: Money(0), person: false, gate: None, broken: false, jobs, url, _dir: dir }
    }

    /// Opens the database once more, as another process does.
    pub(super) fn open(&self) -> impl Future<Output = Store> + use<> {
        let (url, now) = (self.url.clone(), self.clock.now());
        async move { Store::open_shared(&url, now).await.unwrap() }
    }

    pub(super) fn process(&self) -> Process {
        self.process_on(&self.store)
    }

    pub(super) fn process_on(&self, store: &Store) -> Process {
        let (tasks, stop, kill) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let platform = Arc::new(Transcript { log: self.log.clone(), clock: self.clock.clone() });
        let clock = Arc::new(self.clock.clone());
        Relay::start(store.database(), platform.clone(), Redactor::new(&[]), clock.clone(), tasks.clone(), stop.clone());
        let panel = Panel {
            store: store.clone(),
            clock: self.clock.clone(),
            log: self.log.clone(),
            price: self.price,
            person: self.person,
            gate: self.gate.clone(),
            broken: self.broken,
        };
        let meetings = Meetings::new(Deps {
            agendas: vec![Arc::new(panel)],
            roster: Arc::new(sample::roster()),
            store: store.clone(),
            platform,
            clock: clock.clone(),
        });
        let deps = JobsDeps { database: store.database(), clock, tasks: tasks.clone(), stop: stop.clone(), kill: kill.clone() };
        Jobs::start(deps, self.jobs, vec![meetings.job_handler()], Vec::new());
        Process { tasks, stop, kill }
    }

    /// Calls a panel with this number of rounds.
    pub(super) async fn call(&self, rounds: u32, budget: Option<Money>) -> Meeting {
        let channel = Channel { id: CHANNEL.into(), name: "panel".into(), place: Place::Server, private: false, shared: false };
        let now = self.clock.now();
        let meeting =
            Meeting::called(PANEL, (channel, now.date_naive()), "kelly".into(), CalledBy::CommandLine, (now, Duration::from_mins(30)));
        let payload = serde_json::to_value(Payload { rounds, begun: 0 }).ok();
        let meeting = Meeting { budget, payload, ..meeting };
        self.store.call_meeting(&meeting).await.unwrap();
        meeting
    }

    /// A person posts in the panel's channel.
    pub(super) async fn hear(&self, id: &str, text: &str) {
        let message = InboundMessage {
            id: id.into(),
            channel: Channel { id: CHANNEL.into(), name: "panel".into(), place: Place::Server, private: false, shared: false },
            author: Author { id: "1".into(), name: "Ada".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() },
            text: text.into(),
            mentions: Vec::new(),
            reply_to: None,
            attachments: Vec::new(),
            sent_at: self.clock.now(),
            seen_by: "kelly".into(),
            complete: true,
        };
        self.store.claim(&message, self.clock.now()).await.unwrap();
    }

    /// Marks the message as answered.
    pub(super) async fn answer(&self, id: &str) {
        let (messages, decision) = ([id.into()], Decision::nobody(Reason::Silence));
        let decided =
            Decided { messages: &messages, decision: &decision, turns: &[], asks: &[], outbox: &[], effect: None, at: self.clock.now() };
        assert!(self.store.decide(&decided).await.unwrap());
    }

    pub(super) async fn find(&self, id: &MeetingId) -> Meeting {
        self.store.find_meeting(id).await.unwrap().expect("the meeting")
    }

    pub(super) async fn until_over(&self, id: &MeetingId) -> Meeting {
        eventually("the panel is over", async || self.find(id).await.state.is_over()).await;
        self.find(id).await
    }

    pub(super) async fn until_done(&self, id: &MeetingId) -> Meeting {
        let meeting = self.until_over(id).await;
        assert_eq!(meeting.state, MeetingState::Done, "{meeting:?}");
        meeting
    }

    /// The speakers, as `round name`.
    pub(super) fn turns(&self) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let turn = |said: &Said| if let Said::Turn { round, who } = said { Some(format!("{round} {who}")) } else { None };
        log.iter().filter_map(turn).collect()
    }

    pub(super) fn has_posted(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|said| matches!(said, Said::Posted(posted) if posted.contains(text)))
    }
}

/// A platform that records posts.
struct Transcript {
    log: Log,
    clock: ManualClock,
}

#[async_trait]
impl ChatPlatform for Transcript {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        self.log.lock().unwrap().push(Said::Posted(message.text.clone()));
        Ok(Posted { channel: message.channel.clone(), message: MessageId::new(message.id.as_str()), at: self.clock.now() })
    }

    async fn edit(&self, message: &OutboundMessage, _: &MessageId) -> Result<Posted, SendError> {
        self.send(message).await
    }

    async fn open_thread(&self, channel: &ChannelId, _: &MessageId, _: &str) -> Result<ChannelId, SendError> {
        Ok(channel.clone())
    }

    async fn find_posted(&self, _: &OutboundMessage, _: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Ok(None)
    }

    async fn find_channel(&self, _: &str) -> Option<ChannelId> {
        None
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TextFormat::plain(2000)
    }
}
