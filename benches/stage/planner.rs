//! The backlog's planner and service in this process, without a model.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::agent::{Agents, Readings, Runner};
use kernel::chat::redact::Redactor;
use kernel::commands::Services;
use kernel::jobs::{JobHandler, Paused};
use kernel::llm::budget::Budgets;
use kernel::llm::settings::ModelSettings;
use kernel::llm::{LedgerMeter, Models};
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::persona::{file, load};
use kernel::repository::Repositories;
use kernel::testing::jobs::ManualWorker;
use kernel::time::{SharedClock, SystemClock};
use kernel::tools::Toolbox;
use kernel::tools::workspace::Workspaces;
use teamroom::features::backlog::model::{ItemDraft, WorkItem, WorkingHours};
use teamroom::features::backlog::service::{self, AskedIn, Asker, Backlog};
use teamroom::features::backlog::settings::BacklogSettings;
use teamroom::features::backlog::store::PLAN;
use teamroom::features::backlog::{Deps, Work};
use teamroom::features::chat::settings::ChatSettings;
use teamroom::store::Store;

use crate::nobody::Nobody;
use crate::now;

pub(crate) struct Planner {
    backlog: Backlog,
    plan: Arc<dyn JobHandler>,
    worker: ManualWorker,
}

impl Planner {
    pub(crate) async fn start(store: &Store, dir: &Path) -> Self {
        let clock: SharedClock = Arc::new(SystemClock);
        let personas = load::BUILT_IN.iter().map(|(name, text)| file::parse(name.trim_end_matches(".md"), text.as_bytes()));
        let personas = personas.collect::<Result<_, _>>().expect("the built-in personas are good");
        let roster = Arc::new(Roster::new(personas).expect("a roster"));
        let people = People::new(store.database(), Vec::new());
        let workspaces = Workspaces::new(dir.join("workspaces"));
        let (meter, _) = LedgerMeter::new(store.database(), Budgets::default(), clock.clone());
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let models = Models::new(&ModelSettings::default(), &http, meter, clock.clone()).expect("no models");
        let tools = Toolbox::new(Vec::new(), clock.clone());
        let agents = Agents {
            runner: Runner { models, tools, redactor: Redactor::new(&[]), clock: clock.clone() },
            roster: roster.clone(),
            team: "Teamroom".into(),
            store: store.database(),
            readings: Readings::new(HashMap::new(), clock.clone()),
            speech: None,
            transcription: None,
            max_output_tokens: 500,
        };
        let backlog = Backlog::new(service::Deps {
            store: store.clone(),
            roster: roster.clone(),
            people: people.clone(),
            repositories: Repositories::default(),
            budgets: Budgets::default(),
            zone: chrono_tz::Tz::UTC,
            working_hours: WorkingHours::default(),
            most_rejections: 3,
            chat: ChatSettings::default(),
            is_offline: true,
            kanban: None,
            clock: clock.clone(),
        });
        let work = Work::new(Deps {
            roster,
            people,
            settings: BacklogSettings::default(),
            zone: chrono_tz::Tz::UTC,
            learnings: dir.join("learnings.md"),
            store: store.clone(),
            agents: Arc::new(agents),
            budgets: Budgets::default(),
            workspaces,
            repositories: Repositories::default(),
            platform: Arc::new(Nobody),
            item_tools: Services::new("no other features").late(),
            ops_channel: "ops".into(),
            clock,
        });
        let plan = work.job_handlers().into_iter().find(|handler| handler.kind() == PLAN).expect("the planner");
        let worker = ManualWorker::start(store.database(), now()).await.expect("the store answers");
        Self { backlog, plan, worker }
    }

    /// Adds items through the service.
    pub(crate) async fn add(&self, drafts: &[ItemDraft]) -> Vec<WorkItem> {
        self.backlog.add_all(drafts, &Asker::CommandLine, AskedIn::default()).await.expect("the items are good")
    }

    /// Runs the planner's job until it sleeps, as the worker does.
    pub(crate) async fn plan(&self) -> Duration {
        let job = self.worker.claim(PLAN, 1, &Paused::default(), now()).await.expect("the store answers").expect("the planner was woken");
        let began = Instant::now();
        let slept = self.plan.run(&job).await;
        let time = began.elapsed();
        assert!(matches!(slept, Err(kernel::jobs::JobError::Sleep(_))), "{slept:?}");
        assert!(self.worker.put_to_sleep(&job, now()).await.expect("the store answers"));
        time
    }
}
