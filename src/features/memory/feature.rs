use std::sync::Arc;

use async_trait::async_trait;

use crate::features::chat::listener::Listener;
use crate::features::memory::knowledge::{KnowledgeListener, ReadKnowledge};
use crate::features::memory::listener::RememberListener;
use crate::features::memory::summaries::SummariseChannels;
use crate::features::memory::tool::MemoryForget;
use crate::features::memory::{Deps, FORGETTING, Memories, REMEMBERING, commands};
use crate::features::{Feature, FeatureDeps, ToolDeps};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::db::StoreError;
use kernel::jobs::JobHandler;
use kernel::memory::job::VectorsHandler;
use kernel::people::Erasure;
use kernel::tools::web::{PageReader, SystemLookup};
use kernel::tools::{Act, Tool};

pub struct MemoryFeature;

#[async_trait]
impl Feature for MemoryFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        services.provide(Arc::new(Memories::new(Deps {
            store: deps.store.clone(),
            roster: deps.roster.clone(),
            agents: deps.running.as_ref().map(|running| running.agents.clone()),
            channels: deps.config.chat.channels.clone(),
            pages: Arc::new(PageReader::new(&deps.config.tools, Arc::new(SystemLookup))),
            zone: deps.config.schedules.zone,
            clock: deps.clock.clone(),
        })));
    }

    /// Jobs that sleep between their rounds, once per database.
    async fn recover(&self, services: &Services) -> anyhow::Result<()> {
        let memories = services.late::<Memories>().get()?;
        SummariseChannels::enqueue(memories.store(), memories.now()).await?;
        if memories.store().sentence_model().is_some() {
            VectorsHandler::enqueue(memories.store(), memories.now()).await?;
        }
        Ok(())
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_memories_from(erasure).await
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(RememberListener { memories: services.late() }), Arc::new(KnowledgeListener { memories: services.late() })]
    }

    fn tools(&self, deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(MemoryForget(deps.store.clone()))]
    }

    fn acts(&self) -> &'static [Act] {
        &[REMEMBERING, FORGETTING]
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        let memories = services.late::<Memories>().get()?;
        let mut handlers: Vec<Arc<dyn JobHandler>> = vec![Arc::new(ReadKnowledge { memories: memories.clone() })];
        if let Some(agents) = memories.agents() {
            let (store, channels) = (memories.store().clone(), memories.channels().clone());
            handlers.push(Arc::new(SummariseChannels { store, agents, channels }));
        }
        if let Some(vectors) = VectorsHandler::new(memories.store()) {
            handlers.push(Arc::new(vectors));
        }
        Ok(handlers)
    }
}
