use async_trait::async_trait;

use crate::config::RetentionSettings;
use crate::features::Feature;
use crate::features::chat::{commands, store};
use crate::store::Store;
use kernel::commands::{Registry, Services};
use kernel::db::Result;
use kernel::jobs::RetentionRule;
use kernel::people::Erasure;
use kernel::tools::workspace::Workspaces;

/// The application makes the [`Conversation`](crate::features::chat::Conversation) itself, because other features plug into it.
pub struct ChatFeature;

#[async_trait]
impl Feature for ChatFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn list_retention(&self, settings: &RetentionSettings, _: &Workspaces) -> Vec<RetentionRule> {
        store::retention(settings.messages())
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<()> {
        store.forget_messages_of(erasure).await
    }
}
