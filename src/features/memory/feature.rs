use std::sync::Arc;

use crate::features::chat::listener::Listener;
use crate::features::memory::listener::RememberListener;
use crate::features::memory::{Deps, Memories, commands};
use crate::features::{Feature, FeatureDeps};
use kernel::commands::{Registry, Services};

pub struct MemoryFeature;

impl Feature for MemoryFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        services.provide(Arc::new(Memories::new(Deps {
            store: deps.store.clone(),
            roster: deps.roster.clone(),
            zone: deps.config.schedules.zone,
            clock: deps.clock.clone(),
        })));
    }

    fn listener(&self, services: &Services) -> Option<Arc<dyn Listener>> {
        Some(Arc::new(RememberListener { memories: services.late() }))
    }
}
