use std::sync::Arc;

use async_trait::async_trait;

use crate::features::relationships::commands::{self, RelationshipCommands};
use crate::features::{Feature, FeatureDeps};
use kernel::commands::{Registry, Services};

pub struct RelationshipsFeature;

#[async_trait]
impl Feature for RelationshipsFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { store, roster, clock, .. } = deps;
        services.provide(Arc::new(RelationshipCommands { store: store.clone(), roster: roster.clone(), clock: clock.clone() }));
    }

    async fn recover(&self, services: &Services) -> anyhow::Result<()> {
        let RelationshipCommands { store, roster, clock } = &*services.late::<RelationshipCommands>().get()?;
        Ok(store.forget_departed(roster, clock.now()).await?)
    }
}
