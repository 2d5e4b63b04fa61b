use std::sync::Arc;

use crate::features::chat::listener::Listener;
use crate::features::reminders::jobs::TellReminder;
use crate::features::reminders::listener::RemindListener;
use crate::features::reminders::{Deps, Reminders, commands};
use crate::features::{Feature, FeatureDeps};
use kernel::commands::{Refused, Registry, Services};
use kernel::jobs::JobHandler;

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

    fn listener(&self, services: &Services) -> Option<Arc<dyn Listener>> {
        Some(Arc::new(RemindListener { reminders: services.late() }))
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(vec![Arc::new(TellReminder { reminders: services.late::<Reminders>().get()? })])
    }
}
