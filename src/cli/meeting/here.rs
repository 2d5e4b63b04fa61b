//! A meeting in this process: the same engine, on a platform that prints.

use std::collections::HashSet;
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
use crate::cli::meeting::transcript::{Transcript, describe, indent};
use crate::cli::meeting::{Ended, Run};
use crate::cli::setting;
use crate::config::Config;
use crate::features::meeting::agenda::Agenda;
use crate::features::meeting::model::{CalledBy, Meeting, MeetingState};
use crate::features::meeting::store::{Called, MEETINGS};
use crate::features::meeting::{Deps, Meetings};
use crate::features::{FeatureDeps, Running};
use crate::store::Store;
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::outbox::Relay;
use kernel::chat::{ChatPlatform, SendError};
use kernel::commands::{CommandReply, Services};
use kernel::ids::{ChannelId, MeetingId, MessageId};
use kernel::jobs::{Jobs, JobsDeps};
use kernel::persona::roster::Roster;
use kernel::print_line;
use kernel::time::{Clock, SharedClock, SystemClock};

/// The channel id of meetings in this process. No platform id looks like it.
const HERE: &str = "terminal";

/// Grace period of running tasks.
const GRACE: Duration = Duration::from_secs(5);

/// What this process needs for its meeting.
struct Here<'a> {
    config: &'a Config,
    roster: Arc<Roster>,
    store: &'a Store,
    services: Services,
    clock: SharedClock,
    shutdown: Shutdown,
    tasks: TaskTracker,
}

/// Runs a meeting here, or resumes one that was killed. Ctrl-C cancels it, because no other process would resume it.
pub(super) async fn hold(run: &Run, config: &Config, store: &Store) -> anyhow::Result<Ended> {
    let here = Here {
        config,
        roster: Arc::new(setting::read_roster(config)?),
        store,
        services: Services::new("This works only where the team runs."),
        clock: Arc::new(SystemClock),
        shutdown: Shutdown::default(),
        tasks: TaskTracker::new(),
    };
    let ended = here.hold(run).await;
    // The services know the platform, which knows them.
    here.services.clear();
    ended
}

impl Here<'_> {
    async fn hold(&self, run: &Run) -> anyhow::Result<Ended> {
        let Self { config, roster, store, clock, shutdown, tasks, .. } = self;
        let (agenda, meetings) = self.build(run)?;
        run.feature.recover(&self.services).await?;
        let channel = Channel { id: HERE.into(), name: HERE.into(), place: Place::Server, private: false, shared: false };
        let called = agenda.call(channel, CalledBy::CommandLine, clock.now());
        let id = match store.call_meeting(&called).await? {
            Called::Opened => called.id,
            Called::AlreadyOpen(earlier) => {
                eprintln!("the {} of {} was not over; it goes on", run.kind, roster.show_time(earlier.called_at));
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
            ended = wait_until_over(store, &id, clock) => Some(ended),
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
        let Some(ended) = ended.transpose()? else { return Ok(None) };
        let result = match ended.state {
            // Where messages are printed, the result is one of them.
            MeetingState::Done if run.as_json => run.feature.show_result(&ended, &self.services).await?,
            _ => CommandReply::private(""),
        };
        Ok(Some((ended, result)))
    }

    fn build(&self, run: &Run) -> anyhow::Result<(Arc<dyn Agenda>, Meetings)> {
        let Self { config, roster, store, services, clock, shutdown, tasks } = self;
        let platform: Arc<dyn ChatPlatform> =
            Arc::new(Terminal { roster: roster.clone(), transcript: run.transcript(), threads: Mutex::default() });
        let TeamAgents { agents, workspaces, faults, .. } = app::agents(config, roster, store, clock, services)?;
        for fault in &faults {
            eprintln!("{fault}");
        }
        let _relay =
            Relay::start(store.database(), platform.clone(), app::redactor(config), clock.clone(), tasks.clone(), shutdown.stop.clone());
        let deps = FeatureDeps {
            config,
            roster: roster.clone(),
            people: app::people(config, store),
            store: (*store).clone(),
            running: Some(Running { agents: Arc::new(agents), workspaces, platform: platform.clone(), hears_people: false }),
            kanban: None,
            // Nobody can press a button here.
            speech: None,
            clock: clock.clone(),
        };
        app::provide(&deps, services);
        let agenda = run.feature.agenda(services).with_context(|| format!("nobody holds a {} here", run.kind))?;
        let meetings = Meetings::new(Deps {
            agendas: vec![agenda.clone()],
            roster: roster.clone(),
            store: (*store).clone(),
            platform,
            clock: clock.clone(),
        });
        Ok((agenda, meetings))
    }
}

async fn wait_until_over(store: &Store, id: &MeetingId, clock: &SharedClock) -> anyhow::Result<Meeting> {
    let mut changes = store.subscribe(MEETINGS, clock);
    loop {
        let meeting = store.find_meeting(id).await?.context("the meeting is gone from the database")?;
        if meeting.state.is_over() {
            return Ok(meeting);
        }
        changes.next().await;
    }
}

/// A platform with one channel that prints its messages.
struct Terminal {
    roster: Arc<Roster>,
    /// None: nothing is printed.
    transcript: Option<Transcript>,
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
        match self.transcript {
            Some(_) if is_thread(&message.channel) => print_line!("{}", indent(&describe(message))),
            Some(transcript) => print_line!("{}", transcript.render(self.roster.name_of(&message.persona), &describe(message))),
            None => {}
        }
        Ok(Self::posted(message))
    }

    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        Self::check_place(message)?;
        if let Some(transcript) = self.transcript {
            let name = format!("{} (in place of what was said before)", self.roster.name_of(&message.persona));
            print_line!("{}", transcript.render(&name, &describe(message)));
        }
        Ok(Posted { message: posted.clone(), ..Self::posted(message) })
    }

    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError> {
        let thread = ChannelId::new(format!("{channel}/{message}"));
        let mut threads = self.threads.lock().expect("no code panics while it holds the threads");
        if is_thread(&thread) && threads.insert(thread.clone()) && self.transcript.is_some() {
            print_line!("{}", indent(&format!("── {name}")));
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

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TextFormat::plain(2000)
    }
}
