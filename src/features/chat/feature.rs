use std::sync::{Arc, Weak};

use async_trait::async_trait;

use crate::config::RetentionSettings;
use crate::features::chat::commands::{ChatCommands, SaidCommands, SaidHandler, TeamCommand};
use crate::features::chat::listener::Listener;
use crate::features::chat::{commands, store};
use crate::features::{Feature, ToolDeps};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::db::Result;
use kernel::jobs::{JobHandler, RetentionRule};
use kernel::people::Erasure;
use kernel::tools::Tool;
use kernel::tools::workspace::Workspaces;

/// The application makes the [`Conversation`](crate::features::chat::Conversation) itself, because other features plug into it.
pub struct ChatFeature;

#[async_trait]
impl Feature for ChatFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(SaidCommands { registry: services.late() })]
    }

    /// Said commands run in the process that has the command registry.
    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        let Ok(registry) = services.late::<Weak<Registry>>().get() else { return Ok(Vec::new()) };
        Ok(vec![Arc::new(SaidHandler { chat: services.late::<ChatCommands>().get()?, registry })])
    }

    fn list_retention(&self, settings: &RetentionSettings, _: &Workspaces) -> Vec<RetentionRule> {
        store::retention(settings.messages())
    }

    fn tools(&self, ToolDeps { store, services, .. }: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(TeamCommand { store: store.clone(), registry: services.late() })]
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<()> {
        store.forget_messages_of(erasure).await
    }
}
