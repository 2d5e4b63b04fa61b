use crate::config::RetentionSettings;
use crate::features::Feature;
use crate::features::schedule::{SCHEDULING, commands, store};
use kernel::commands::{Registry, Services};
use kernel::jobs::RetentionRule;
use kernel::tools::Act;
use kernel::tools::workspace::Workspaces;

/// The application makes the [`Schedule`](crate::features::schedule::Schedule) itself, because other features plug into it.
pub struct ScheduleFeature;

impl Feature for ScheduleFeature {
    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn acts(&self) -> &'static [Act] {
        &[SCHEDULING]
    }

    fn list_retention(&self, settings: &RetentionSettings, _: &Workspaces) -> Vec<RetentionRule> {
        vec![store::retention(settings.firings())]
    }
}
