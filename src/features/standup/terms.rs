use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::meeting::model::{CalledBy, Meeting};
use crate::features::standup::STANDUP;
use kernel::chat::message::Channel;
use kernel::ids::PersonaSlug;
use kernel::money::Money;

/// The settings under which the team holds its standups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandupTerms {
    pub facilitator: PersonaSlug,
    pub zone: Tz,
    /// The longest it may last.
    pub session: Duration,
    /// The most that it may cost.
    pub budget: Option<Money>,
    /// How long before a scheduled standup people are asked. Zero: nobody is.
    pub checkin_lead: Duration,
}

impl StandupTerms {
    /// A standup that somebody calls at `now`. Its day is that of the team's time zone.
    pub fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting {
        let day = now.with_timezone(&self.zone).date_naive();
        let meeting = Meeting::called(STANDUP, (channel, day), self.facilitator.clone(), called_by, (now, self.session));
        Meeting { budget: self.budget, ..meeting }
    }
}
