//! One folder per feature. A feature imports the kernel and the public functions of features above it.

pub mod backlog;
pub mod chat;
pub mod meeting;
pub mod memory;
pub mod reminders;
pub mod schedule;
pub mod standup;

use std::sync::Arc;

use chat::listener::Listener;
use kernel::commands::{Authorize, Refused, Registry, Services};
use kernel::jobs::JobHandler;
use kernel::tools::Act;
use schedule::model::Actions;

/// What the jobs of the schedule can do.
pub fn actions() -> Actions {
    Actions::of(standup::ACTIONS)
}

/// The commands of all features, in the order in which people read of them, for a team on `platform`.
pub fn registry(platform: &'static str, services: &Services, authorize: Authorize) -> Registry {
    let mut registry = Registry::new(platform, authorize);
    chat::commands::register(&mut registry, services);
    standup::commands::register(&mut registry, services);
    schedule::commands::register(&mut registry, services);
    reminders::register(&mut registry, services);
    memory::register(&mut registry, services);
    backlog::commands::register(&mut registry, services);
    chat::commands::register_help(&mut registry, services);
    registry
}

/// Who hears what people say before a persona answers, besides the meetings; asked in this order.
pub fn listeners(services: &Services) -> Vec<Arc<dyn Listener>> {
    vec![
        backlog::listener(services),
        backlog::request_listener(services),
        reminders::listener(services),
        memory::listener(services),
        standup::listener(services),
    ]
}

/// What an answer of a persona must not claim to have done without doing it.
pub fn acts() -> Vec<Act> {
    vec![backlog::tools::ADDING, memory::REMEMBERING, memory::FORGETTING, reminders::REMINDING, schedule::SCHEDULING]
}

/// What runs the jobs of all features. The services are provided by then.
///
/// # Errors
/// One is not.
pub fn job_handlers(services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
    Ok(vec![reminders::job_handler(services)?])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use kernel::commands::CommandSpec;

    fn check(command: &CommandSpec) {
        let is_name = |name: &str| name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let is_line = |text: &str| !text.is_empty() && text.chars().count() <= 100;
        assert!(is_name(command.name) && is_line(command.description), "{}", command.name);
        assert!(command.description.ends_with('.'), "{}", command.description);
        let names: BTreeSet<_> = command.arguments.iter().map(|argument| argument.name).collect();
        assert_eq!(names.len(), command.arguments.len(), "{} has two arguments of one name", command.name);
        assert!(command.arguments.len() <= 25 && command.subcommands.len() <= 25, "{}", command.name);
        for argument in &command.arguments {
            assert!(is_name(argument.name) && is_line(argument.description), "{} {}", command.name, argument.name);
        }
        assert!(command.arguments.is_sorted_by_key(|argument| !argument.required), "{}: what is required comes first", command.name);
        command.subcommands.iter().for_each(check);
    }

    #[test]
    fn every_command_is_within_the_limits_of_discord() {
        let registry = registry("discord", &Services::new("not here"), Arc::new(|_, _, _| Ok(())));
        assert!(registry.commands().len() >= 12);
        registry.commands().iter().for_each(check);
    }
}
