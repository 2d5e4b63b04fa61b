//! The retention rules of the kernel and of all features.

use crate::config::RetentionSettings;
use crate::features::FEATURES;
use kernel::jobs::RetentionRule;
use kernel::tools::workspace::Workspaces;
use kernel::{chat::outbox, events, feeds, llm, memory};

/// All rules. A growing table without a rule must give a reason in the statement tests.
pub fn retention_rules(settings: &RetentionSettings, workspaces: &Workspaces) -> Vec<RetentionRule> {
    let mut rules = vec![
        outbox::store::retention(settings.messages()),
        kernel::chat::store::retention(settings.messages()),
        kernel::chat::store::picture_retention(),
        llm::store::retention(settings.model_calls()),
        feeds::retention(settings.samples()),
        events::retention(settings.events()),
        memory::store::span_retention(settings.messages()),
        memory::store::archiving(settings.memories()),
    ];
    rules.extend(FEATURES.iter().flat_map(|feature| feature.list_retention(settings, workspaces)));
    rules
}
