use std::sync::Arc;

use async_trait::async_trait;

use crate::config::RetentionSettings;
use crate::features::backlog::ItemTools;
use crate::features::chat::listener::Listener;
use crate::features::mission::changing::Changer;
use crate::features::mission::colleagues::Colleagues;
use crate::features::mission::follow::Follower;
use crate::features::mission::hearing::Hearer;
use crate::features::mission::listener::MissionListener;
use crate::features::mission::service::{Deps, Missions};
use crate::features::mission::settings::MissionSettings;
use crate::features::mission::{commands, store};
use crate::features::{Feature, FeatureDeps, FeatureSection};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::jobs::{JobHandler, RetentionRule};
use kernel::people::Erasure;
use kernel::tools::workspace::Workspaces;

pub struct MissionFeature;

impl FeatureSection for MissionSettings {}

#[async_trait]
impl Feature for MissionFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        Some(Arc::new(MissionSettings::read(&mut root.section("missions"))))
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let settings = deps.config.features.get::<MissionSettings>();
        services.provide(Arc::new(Missions::new(Deps {
            store: deps.store.clone(),
            roster: deps.roster.clone(),
            settings: settings.clone(),
            agents: deps.running.as_ref().map(|running| running.agents.clone()),
            clock: deps.clock.clone(),
            budgets: deps.config.budgets.clone(),
            chat: deps.config.chat.clone(),
        })));
        if let Some(running) = &deps.running {
            let follower = Arc::new(Follower {
                store: deps.store.clone(),
                roster: deps.roster.clone(),
                agents: running.agents.clone(),
                settings,
                budgets: deps.config.budgets.clone(),
                repository: match deps.config.repositories.as_slice() {
                    [only] => only.name.clone(),
                    _ => String::new(),
                },
                personas: deps.config.personas.clone(),
                people: deps.people.clone(),
                closes: deps.config.backlog.working_hours.closes,
            });
            services.provide(Arc::new(ItemTools(Arc::new(Colleagues { follower: follower.clone() }))));
            services.provide(follower);
        }
    }

    async fn recover(&self, services: &Services) -> anyhow::Result<()> {
        let follower = services.late::<Follower>().get()?;
        Ok(follower.store.wake_missions(follower.agents.runner.clock.now()).await?)
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(MissionListener::new(services.late()))]
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        let follower = services.late::<Follower>().get()?;
        let missions = services.late::<Missions>().get()?;
        Ok(vec![follower.clone(), Arc::new(Changer { follower }), Arc::new(Hearer { missions })])
    }

    fn list_retention(&self, settings: &RetentionSettings, _workspaces: &Workspaces) -> Vec<RetentionRule> {
        vec![store::retention(settings.work())]
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_missions_of(erasure).await
    }
}
