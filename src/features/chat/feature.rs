use crate::config::RetentionSettings;
use crate::features::Feature;
use crate::features::chat::{commands, store};
use kernel::commands::{Registry, Services};
use kernel::jobs::RetentionRule;

/// The application makes the [`Conversation`](crate::features::chat::Conversation) itself, because other features plug into it.
pub struct ChatFeature;

impl Feature for ChatFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn list_retention(&self, settings: &RetentionSettings) -> Vec<RetentionRule> {
        store::retention(settings.messages())
    }
}
