use std::sync::Arc;

use async_trait::async_trait;

use crate::config::RetentionSettings;
use crate::features::overwatch::commands::{self, OverwatchCommands};
use crate::features::overwatch::jobs::LooksBack;
use crate::features::overwatch::playing::OverwatchAudio;
use crate::features::overwatch::record::Records;
use crate::features::overwatch::tools::MeetingRead;
use crate::features::overwatch::{OverwatchSettings, store};
use crate::features::voice::{Playable, Plays};
use crate::features::{Feature, FeatureDeps, FeatureSection, ToolDeps};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::jobs::{JobHandler, RetentionRule};
use kernel::people::Erasure;
use kernel::tools::Tool;
use kernel::tools::workspace::Workspaces;

pub struct OverwatchFeature;

impl FeatureSection for OverwatchSettings {}

#[async_trait]
impl Feature for OverwatchFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        Some(Arc::new(OverwatchSettings::read(&mut root.section("overwatch"))))
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { config, roster, store, running, clock, .. } = deps;
        let records = Records { store: store.clone(), roster: roster.clone() };
        services.provide(Arc::new(OverwatchCommands {
            store: store.clone(),
            records: records.clone(),
            roster: roster.clone(),
            agents: running.as_ref().map(|running| running.agents.clone()),
            clock: clock.clone(),
        }));
        if let Some(running) = running {
            services.provide(Arc::new(LooksBack {
                store: store.clone(),
                records,
                roster: roster.clone(),
                agents: running.agents.clone(),
                plays: Plays::of(deps),
                enabled: config.features.get::<OverwatchSettings>().enabled,
            }));
        }
    }

    fn tools(&self, deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(MeetingRead { store: deps.store.clone(), roster: deps.roster.clone() })]
    }

    fn playable(&self, services: &Services) -> Option<Arc<dyn Playable>> {
        Some(Arc::new(OverwatchAudio { commands: services.late() }))
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(vec![services.late::<LooksBack>().get()?])
    }

    fn list_retention(&self, settings: &RetentionSettings, _workspaces: &Workspaces) -> Vec<RetentionRule> {
        vec![store::retention(settings.work())]
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_insights_of(erasure).await
    }
}
