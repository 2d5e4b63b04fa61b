//! A standup in this process: the same engine, on a platform that prints.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::task::TaskTracker;

use crate::app;
use crate::app::TeamAgents;
use crate::app::shutdown;
use crate::app::shutdown::Shutdown;
use crate::cli::standup::transcript::{Transcript, describe, indent};
use crate::cli::standup::{INTERRUPTED, judge};
use crate::config::Config;
use crate::features::meeting::model::{CalledBy, Meeting, MeetingState};
use crate::features::meeting::store::{Called, MEETINGS};
use crate::features::meeting::{Deps, Meetings};
use crate::features::standup::settings::StandupSettings;
use crate::features::standup::{self, Standup};
use crate::store::Store;
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::outbox::Relay;
use kernel::chat::{ChatPlatform, SendError};
use kernel::ids::{ChannelId, MeetingId, MessageId};
use kernel::jobs::{Jobs, JobsDeps};
use kernel::persona::roster::Roster;
use kernel::time::{Clock, SharedClock, SystemClock};

/// The channel id of standups in this process. No platform id looks like it.
const HERE: &str = "terminal";

/// Grace period of running tasks.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a standup here, or resumes one that was killed. Ctrl-C cancels it, because no other process would resume it.
pub(super) async fn hold(config: &Config, roster: &Arc<Roster>, store: &Store) -> anyhow::Result<ExitCode> {
    let clock: SharedClock = Arc::new(SystemClock);
    let (shutdown, tasks) = (Shutdown::default(), TaskTracker::new());
    let meetings = build(config, roster, store, &clock, &shutdown, &tasks)?;
    let here = Channel { id: HERE.into(), name: HERE.into(), place: Place::Server, private: false };
    let called = app::terms(config, roster).call(here, CalledBy::CommandLine, clock.now());
    let id = match store.call_meeting(&called).await? {
        Called::Opened => called.id,
        Called::AlreadyOpen(earlier) => {
            eprintln!("the standup of {} was not over; it goes on", roster.show_time(earlier.called_at));
            earlier.id
        }
    };
    let jobs = JobsDeps {
        database: store.database(),
        clock: clock.clone(),
        tasks: tasks.clone(),
        stop: shutdown.stop.clone(),
        kill: shutdown.kill.clone(),
    };
    Jobs::start(jobs, config.jobs, vec![meetings.job_handler()], app::retention_rules(&config.retention, &app::workspaces(config)));
    let ended = tokio::select! {
        ended = wait_until_over(store, &id, &clock) => Some(ended),
        () = store.lost_leadership() => Some(Err(anyhow::anyhow!("the database let go of our lock; another process may be serving now"))),
        () = shutdown::signalled() => None,
    };
    if ended.is_none() {
        store.end_meeting(&id, MeetingState::Cancelled, "it was interrupted at the terminal", &[], clock.now()).await?;
        shutdown.kill.cancel();
    }
    shutdown.stop.cancel();
    tasks.close();
    // The last messages are still being printed.
    if tokio::time::timeout(GRACE, tasks.wait()).await.is_err() {
        shutdown.kill.cancel();
    }
    match ended {
        Some(ended) => judge(&ended?),
        None => Ok(ExitCode::from(INTERRUPTED)),
    }
}

async fn wait_until_over(store: &Store, id: &MeetingId, clock: &SharedClock) -> anyhow::Result<Meeting> {
    let mut changes = store.subscribe(MEETINGS, clock);
    loop {
        let meeting = store.find_meeting(id).await?.context("the standup is gone from the database")?;
        if meeting.state.is_over() {
            return Ok(meeting);
        }
        changes.next().await;
    }
}

fn build(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    clock: &SharedClock,
    shutdown: &Shutdown,
    tasks: &TaskTracker,
) -> anyhow::Result<Meetings> {
    let platform = Arc::new(Terminal { roster: roster.clone(), transcript: Transcript::new(), threads: Mutex::default() });
    let TeamAgents { agents, .. } = app::agents(config, roster, store, clock)?;
    let _relay =
        Relay::start(store.database(), platform.clone(), app::redactor(config), clock.clone(), tasks.clone(), shutdown.stop.clone());
    let standup = Arc::new(Standup::new(standup::Deps {
        roster: roster.clone(),
        // People cannot be asked here.
        standup: StandupSettings { humans: Vec::new(), ..config.standup.clone() },
        terms: app::terms(config, roster),
        people: app::people(config, store),
        reports: config.data.join("reports"),
        store: store.clone(),
        format: platform.text_format(),
        agents: Arc::new(agents),
        clock: clock.clone(),
        // The serving process finds the new items by itself.
    }));
    tasks.spawn({
        let standup = standup.clone();
        async move { standup.write_missing_file().await }
    });
    Ok(Meetings::new(Deps { agendas: vec![standup], roster: roster.clone(), store: store.clone(), platform, clock: clock.clone() }))
}

/// A platform with one channel that prints its messages.
struct Terminal {
    roster: Arc<Roster>,
    transcript: Transcript,
    /// Threads whose name was printed.
    threads: Mutex<HashSet<ChannelId>>,
}

impl Terminal {
    /// Messages for another platform stay in the outbox until the team runs again.
    fn check_place(message: &OutboundMessage) -> Result<(), SendError> {
        let channel = message.channel.as_str();
        if channel == HERE || is_thread(&message.channel) { Ok(()) } else { Err(SendError::Offline(message.persona.clone())) }
    }

    /// A row of the outbox is one message here, so the message can have the row's id.
    fn posted(message: &OutboundMessage) -> Posted {
        Posted { channel: message.channel.clone(), message: MessageId::new(message.id.as_str()), at: SystemClock.now() }
    }
}

fn is_thread(channel: &ChannelId) -> bool {
    channel.as_str().strip_prefix(HERE).is_some_and(|rest| rest.starts_with('/'))
}

#[async_trait]
impl ChatPlatform for Terminal {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        Self::check_place(message)?;
        if is_thread(&message.channel) {
            println!("{}", indent(&describe(message)));
        } else {
            println!("{}", self.transcript.render(self.roster.name_of(&message.persona), &describe(message)));
        }
        Ok(Self::posted(message))
    }

    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        Self::check_place(message)?;
        let name = format!("{} (in place of what was said before)", self.roster.name_of(&message.persona));
        println!("{}", self.transcript.render(&name, &describe(message)));
        Ok(Posted { message: posted.clone(), ..Self::posted(message) })
    }

    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError> {
        let thread = ChannelId::new(format!("{channel}/{message}"));
        let mut threads = self.threads.lock().expect("no code panics while it holds the threads");
        if is_thread(&thread) && threads.insert(thread.clone()) {
            println!("{}", indent(&format!("── {name}")));
        }
        Ok(thread)
    }

    /// Printed messages cannot be read back. After a crash they are printed again.
    async fn find_posted(&self, _: &OutboundMessage, _: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Ok(None)
    }

    async fn find_channel(&self, name: &str) -> Option<ChannelId> {
        (name == HERE).then(|| HERE.into())
    }

    fn name(&self) -> &'static str {
        HERE
    }

    fn text_format(&self) -> TextFormat {
        TextFormat::plain(2000)
    }
}
