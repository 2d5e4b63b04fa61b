use std::time::Duration;

use crate::domain::ids::{PersonaSlug, UserId};
use crate::domain::prediction::EssentialQuestion;

#[derive(Debug, Clone, PartialEq)]
pub struct StandupSettings {
    pub order: Vec<PersonaSlug>,
    pub humans: Vec<(String, UserId)>,
    pub human_deadline: Duration,
    pub turn_timeout: Duration,
    pub pause: Duration,
    pub session: Duration,
    pub question: Option<EssentialQuestion>,
    pub delta_context: bool,
    pub keep_samples: Duration,
}

impl Default for StandupSettings {
    fn default() -> Self {
        let question = EssentialQuestion {
            text: "Will the repository have at least 10 more commits by next Friday?".into(),
            feed: "repository".into(),
            value: "commits".into(),
            comparison: crate::domain::prediction::Comparison::AtLeast,
            threshold: crate::domain::prediction::Threshold::Change(10.0),
            expires: crate::domain::prediction::Expiry::parse("next friday 08:00", chrono_tz::Tz::UTC).unwrap(),
        };
        Self {
            order: vec![],
            humans: vec![],
            human_deadline: Duration::from_mins(10),
            turn_timeout: Duration::from_secs(90),
            pause: Duration::from_secs(2),
            session: Duration::from_mins(30),
            question: Some(question),
            delta_context: true,
            keep_samples: Duration::from_hours(24 * 400),
        }
    }
}
