//! The features of the team on one database, in each process that runs jobs.

use std::iter;
use std::sync::Arc;

use tokio_util::task::TaskTracker;

use crate::app::deps::{people_and_members, provide, scheduled_actions};
use crate::app::retention::retention_rules;
use crate::app::shutdown::Shutdown;
use crate::config::Config;
use crate::features::chat::commands::ChatCommands;
use crate::features::chat::{self, Conversation};
use crate::features::meeting::{self, Meetings};
use crate::features::schedule::{self, Schedule};
use crate::features::{FEATURES, FeatureDeps, Running};
use crate::store::Store;
use kernel::agent::Agents;
use kernel::chat::ChatPlatform;
use kernel::commands::Services;
use kernel::jobs::{JobHandler, Jobs, JobsDeps};
use kernel::people::Members;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::workspace::Workspaces;

pub(super) struct TeamDeps {
    pub(super) config: Config,
    pub(super) roster: Arc<Roster>,
    pub(super) store: Store,
    pub(super) agents: Agents,
    pub(super) workspaces: Workspaces,
    /// What is wrong in the team's files, for `/status`.
    pub(super) faults: Vec<String>,
    pub(super) services: Services,
    pub(super) platform: Arc<dyn ChatPlatform>,
    /// Whether this process has the identities and hears the channels.
    pub(super) serves: bool,
    /// The address of the kanban page, if people can open it.
    pub(super) kanban: Option<String>,
    pub(super) clock: SharedClock,
    pub(super) tasks: TaskTracker,
    pub(super) shutdown: Shutdown,
}

pub(super) struct Team {
    pub(super) conversation: Conversation,
    meetings: Meetings,
    schedule: Schedule,
    workspaces: Workspaces,
    services: Services,
    config: Config,
    store: Store,
    clock: SharedClock,
    tasks: TaskTracker,
    shutdown: Shutdown,
}

impl Team {
    /// Nothing runs before [`Self::start`].
    pub(super) async fn new(deps: TeamDeps) -> anyhow::Result<Self> {
        let TeamDeps { config, roster, store, agents, workspaces, faults, services, platform, kanban, serves, clock, tasks, shutdown } =
            deps;
        let agents = Arc::new(agents);
        if serves {
            let (asking, stop) = (agents.clone(), shutdown.stop.clone());
            tasks.spawn(async move { stop.run_until_cancelled(asking.runner.models.learn_windows()).await });
        }
        services.provide(Arc::new(Members(platform.clone())));
        let people = people_and_members(&config, &store, &services);
        let features = FeatureDeps {
            config: &config,
            roster: roster.clone(),
            people: people.clone(),
            store: store.clone(),
            running: Some(Running {
                agents: agents.clone(),
                workspaces: workspaces.clone(),
                platform: platform.clone(),
                hears_people: true,
            }),
            kanban,
            speech: agents.speech.clone(),
            clock: clock.clone(),
        };
        provide(&features, &services);
        let schedule = Schedule::new(schedule::Deps {
            settings: config.schedules.clone(),
            coordinator: roster.coordinator().slug.clone(),
            actions: scheduled_actions(&features, &services),
            store: store.clone(),
            platform: serves.then(|| platform.clone()),
            clock: clock.clone(),
        });
        let meetings = Meetings::new(meeting::Deps {
            agendas: FEATURES.iter().filter_map(|feature| feature.agenda(&services)).collect(),
            roster: roster.clone(),
            store: store.clone(),
            platform: platform.clone(),
            clock: clock.clone(),
        });
        let conversation = Conversation::new(
            chat::Deps {
                roster: roster.clone(),
                chat: config.chat.clone(),
                guard: config.guard.clone(),
                ops_channel: config.ops_channel().to_owned(),
                store: store.clone(),
                platform: platform.clone(),
                serves,
                listeners: iter::once(meetings.listener())
                    .chain(FEATURES.iter().flat_map(|feature| feature.listeners(&services)))
                    .collect(),
                agents: agents.clone(),
                clock: clock.clone(),
                tasks: tasks.clone(),
                stop: shutdown.stop.clone(),
                kill: shutdown.kill.clone(),
            },
            store.read_accounts().await?,
        )
        .await?;
        let live = Some(conversation.clone());
        services.provide(Arc::new(ChatCommands {
            store: store.clone(),
            roster,
            agents: Some(agents),
            clock: clock.clone(),
            budgets: config.effective_budgets(),
            people,
            platform: Some(platform),
            faults,
            live,
        }));
        services.provide(Arc::new(schedule.clone()));
        Ok(Self { conversation, meetings, schedule, workspaces, services, config, store, clock, tasks, shutdown })
    }

    /// Resumes the work of an earlier process. Called once, by the serving process, before it starts.
    pub(super) async fn recover(&self) -> anyhow::Result<()> {
        self.conversation.recover().await?;
        for feature in FEATURES {
            feature.recover(&self.services).await?;
        }
        Ok(())
    }

    /// Runs jobs, and fires the schedule.
    pub(super) fn start(&self) -> anyhow::Result<()> {
        self.tasks.spawn(self.conversation.clone().follow_others());
        let deps = JobsDeps {
            database: self.store.database(),
            clock: self.clock.clone(),
            tasks: self.tasks.clone(),
            stop: self.shutdown.stop.clone(),
            kill: self.shutdown.kill.clone(),
        };
        Jobs::start(deps, self.config.jobs, self.job_handlers()?, retention_rules(&self.config.retention, &self.workspaces));
        self.schedule.start(&self.tasks, self.shutdown.stop.clone());
        Ok(())
    }

    fn job_handlers(&self) -> anyhow::Result<Vec<Arc<dyn JobHandler>>> {
        let mut handlers = self.conversation.job_handlers();
        handlers.extend([self.schedule.job_handler(), self.meetings.job_handler()]);
        for feature in FEATURES {
            handlers.extend(feature.job_handlers(&self.services)?);
        }
        Ok(handlers)
    }
}
