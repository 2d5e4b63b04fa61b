//! The retention rules of all features.

use std::time::Duration;

use crate::config::RetentionSettings;
use crate::features::{backlog, chat, schedule, standup};
use kernel::jobs::RetentionRule;
use kernel::{chat::outbox, events, feeds, llm};

/// All rules. A growing table without a rule must give a reason in the statement tests.
pub fn retention_rules(settings: &RetentionSettings) -> Vec<RetentionRule> {
    let days = |days: u32| Duration::from_hours(24 * u64::from(days));
    let (messages, calls) = (days(settings.messages_days), days(settings.model_calls_days));
    let mut rules = chat::store::retention(messages);
    rules.push(outbox::store::retention(messages));
    rules.push(kernel::chat::store::retention(messages));
    rules.push(kernel::chat::store::picture_retention());
    rules.push(llm::store::retention(calls));
    rules.push(feeds::retention(days(settings.samples_days)));
    rules.push(standup::store::retention(messages));
    rules.push(schedule::store::retention(days(settings.firings_days)));
    rules.push(events::retention(days(settings.events_days)));
    rules.extend(backlog::store::retention(days(settings.work_days), calls));
    rules
}
