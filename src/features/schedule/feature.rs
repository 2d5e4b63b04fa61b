use crate::config::RetentionSettings;
use crate::features::Feature;
use crate::features::schedule::{commands, store};
use kernel::commands::{Registry, Services};
use kernel::jobs::RetentionRule;

/// The application makes the [`Schedule`](crate::features::schedule::Schedule) itself, because other features plug into it.
pub struct ScheduleFeature;

impl Feature for ScheduleFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn list_retention(&self, settings: &RetentionSettings) -> Vec<RetentionRule> {
        vec![store::retention(settings.firings())]
    }
}
