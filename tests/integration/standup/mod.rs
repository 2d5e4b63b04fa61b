//! The daily standup from its call to its report, with a team in the sandbox.
//!
//! `stage` sets up the team with a `newsstand` of feeds and a `cast` for the model. The other files test one part of a standup each.
//! `crashes`, `job_crashes`, `processes` and their `aftermath` test crashes and clock changes.

mod absence;
mod aftermath;
mod cast;
mod checkin_crashes;
mod checkins;
mod conclusion;
mod crashes;
mod day;
mod faults;
mod feeds;
mod health;
mod job_crashes;
mod look_back;
mod mornings;
mod newsstand;
mod old_version;
mod people;
mod predictions;
mod processes;
mod questions;
mod report;
mod repository;
mod revision;
mod scheduled;
mod signals;
mod speaker;
mod stage;
mod steering;
mod store;
mod talk;
mod upgrade;

use kernel::ids::{UserId, complete};
pub(crate) use stage::midday;
use teamroom::config::{Config, PLATFORM};
use teamroom::features::standup::settings::StandupSettings;

/// Changes the settings of standups. Ids may be written as the sandbox knows them.
pub(crate) fn change(config: &mut Config, change: impl FnOnce(&mut StandupSettings)) {
    let mut settings = config.features.get();
    change(&mut settings);
    for (_, id) in &mut settings.humans {
        *id = UserId::new(complete(PLATFORM, id.as_str()));
    }
    config.features.set(settings);
}
