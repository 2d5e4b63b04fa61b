use std::sync::Arc;

use async_trait::async_trait;

use crate::config::Config;
use crate::features::chat::listener::Listener;
use crate::features::reminders::jobs::TellReminder;
use crate::features::reminders::listener::RemindListener;
use crate::features::reminders::tool::ReminderSet;
use crate::features::reminders::{Deps, REMINDING, Reminders, commands};
use crate::features::{Feature, FeatureDeps, ToolDeps};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::db::StoreError;
use kernel::jobs::JobHandler;
use kernel::people::Erasure;
use kernel::tools::{Act, Tool};

pub struct RemindersFeature;

#[async_trait]
impl Feature for RemindersFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        services.provide(Arc::new(Reminders::new(Deps {
            store: deps.store.clone(),
            roster: deps.roster.clone(),
            people: deps.people.clone(),
            zone: deps.config.schedules.zone,
            has_model: deps.running.as_ref().is_some_and(|running| !running.agents.is_offline()),
            channels: list_channels(deps.config),
            clock: deps.clock.clone(),
        })));
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(RemindListener { reminders: services.late() })]
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_reminders_of(erasure).await
    }

    fn tools(&self, deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        let ToolDeps { store, roster, people, config, clock, .. } = deps;
        let (store, roster, people, clock) = (store.clone(), roster.clone(), people.clone(), clock.clone());
        let (zone, channels) = (config.schedules.zone, list_channels(config));
        let reminders = Reminders::new(Deps { store, roster, people, zone, has_model: true, channels, clock });
        vec![Arc::new(ReminderSet { reminders })]
    }

    fn acts(&self) -> &'static [Act] {
        &[REMINDING]
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(vec![Arc::new(TellReminder { reminders: services.late::<Reminders>().get()? })])
    }
}

/// The channels in which the team posts by itself, that for operators last.
fn list_channels(config: &Config) -> Vec<String> {
    let ops = config.ops_channel();
    let mut channels = config.list_channels();
    channels.retain(|channel| channel != ops);
    channels.push(ops.to_owned());
    channels
}
