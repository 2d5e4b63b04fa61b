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
