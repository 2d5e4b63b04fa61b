use std::sync::Arc;

use async_trait::async_trait;

use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::Decision;
use crate::features::memory::knowledge::{KnowledgeListener, ReadKnowledge};
use crate::features::memory::listener::RememberListener;
use crate::features::memory::summaries::SummariseChannels;
use crate::features::memory::{Deps, Memories, commands};
use crate::features::{Feature, FeatureDeps};
use kernel::chat::message::InboundMessage;
use kernel::commands::{Refused, Registry, Services};
use kernel::db::{Effect, StoreError};
use kernel::jobs::JobHandler;
use kernel::memory::job::VectorsHandler;
use kernel::tools::web::{PageReader, SystemLookup};

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

    fn listener(&self, services: &Services) -> Option<Arc<dyn Listener>> {
        let (remember, knowledge) = (RememberListener { memories: services.late() }, KnowledgeListener { memories: services.late() });
        Some(Arc::new(MemoryListener { remember, knowledge }))
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

/// Hears what people want remembered or forgotten, and what they post in knowledge channels.
struct MemoryListener {
    remember: RememberListener,
    knowledge: KnowledgeListener,
}

#[async_trait]
impl Listener for MemoryListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        self.remember.recognises(message)
    }

    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        match self.remember.take(message, decision).await? {
            Some(taken) => Ok(Some(taken)),
            None => self.knowledge.take(message, decision).await,
        }
    }

    fn accompany(&self, message: &InboundMessage, decision: &Decision) -> Option<Box<dyn Effect>> {
        self.knowledge.accompany(message, decision)
    }
}
