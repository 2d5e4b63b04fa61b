use std::sync::Arc;

use crate::features::chat::listener::Listener;
use crate::features::reminders::jobs::TellReminder;
use crate::features::reminders::listener::RemindListener;
use crate::features::reminders::{Deps, REMINDING, Reminders, commands};
use crate::features::{Feature, FeatureDeps};
use kernel::commands::{Refused, Registry, Services};
use kernel::jobs::JobHandler;
use kernel::tools::Act;

pub struct RemindersFeature;

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
            clock: deps.clock.clone(),
        })));
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(RemindListener { reminders: services.late() })]
    }

    fn acts(&self) -> &'static [Act] {
        &[REMINDING]
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(vec![Arc::new(TellReminder { reminders: services.late::<Reminders>().get()? })])
    }
}
