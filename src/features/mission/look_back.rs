//! The record of a mission for those who look back at it.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Artefact, WorkItem, WorkStatus};
use crate::features::backlog::store::ItemEvent;
use crate::features::mission::follow::Follower;
use crate::features::mission::model::Mission;
use crate::features::overwatch::model::{LookBack, Subject};
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::cut;
use kernel::money::Money;
use kernel::text::one_line;

/// The most characters of the request, of a note, and the most notes of a step.
const REQUEST: usize = 1500;
const NOTE: usize = 300;
const NOTES: usize = 6;
/// The most characters of the whole record.
const DIGEST: usize = 12_000;

impl Follower {
    /// The record of a mission. None if fewer than two steps were begun, so that there is nothing to look back at.
    pub(super) async fn record(
        &self,
        mission: &Mission,
        whole: &WorkItem,
        items: &[WorkItem],
        files: &[Artefact],
        (cost, at): (Money, DateTime<Utc>),
    ) -> Result<Option<LookBack>, StoreError> {
        let mut steps = Vec::new();
        for item in items {
            steps.push((item, self.store.list_events(&item.id).await?));
        }
        let has_begun = |events: &[ItemEvent]| events.iter().any(|event| event.to == WorkStatus::InProgress);
        let begun: Vec<&WorkItem> = steps.iter().filter(|(_, events)| has_begun(events)).map(|(item, _)| *item).collect();
        let mut personas: Vec<PersonaSlug> = begun.iter().filter_map(|item| item.persona.clone()).collect();
        personas.sort();
        personas.dedup();
        if begun.len() < 2 || personas.is_empty() || whole.status == WorkStatus::Cancelled {
            return Ok(None);
        }
        let expected = mission.plan.as_ref().and_then(|plan| plan.expected);
        let mut digest =
            format!("Mission: {} ({})\nAsked for: {}\n", mission.title, whole.status.as_str(), one_line(&mission.request, REQUEST));
        let _ = writeln!(digest, "Cost: {cost}{}", expected.map_or_else(String::new, |money| format!(", expected {money}")));
        for criterion in &whole.criteria {
            let _ = writeln!(digest, "Judged by: {}", one_line(criterion, NOTE));
        }
        for change in mission.plan.iter().flat_map(|plan| &plan.changes) {
            let _ = writeln!(digest, "Plan changed by {}: {}", change.by, one_line(&change.why, NOTE));
        }
        let _ = writeln!(digest, "Planned again: {}", mission.replans);
        for file in files {
            let _ = writeln!(digest, "File: {}", file.facts.name);
        }
        // Each step gets the same share, so that the last ones are included.
        let room = DIGEST.saturating_sub(digest.chars().count()) / steps.len().max(1);
        for (number, (item, events)) in (1..).zip(&steps) {
            let owner = item.persona.as_ref().map_or("nobody", |slug| self.roster.name_of(slug));
            let attempts = if has_begun(events) { format!("attempts {}", item.run + 1) } else { "not begun".to_owned() };
            let status = item.status.as_str().replace('_', " ");
            let mut lines = format!("Step {number}: {} ({owner}, {status}, {attempts}, {})\n", one_line(&item.what, NOTE), item.cost);
            if let Some(outcome) = &item.outcome {
                let _ = writeln!(lines, "  Result: {}", one_line(outcome, NOTE));
            }
            // The last notes explain the outcome.
            let notes: Vec<&String> =
                events.iter().filter_map(|event| event.note.as_ref()).filter(|note| !note.trim().is_empty()).collect();
            for note in notes.iter().skip(notes.len().saturating_sub(NOTES)) {
                let _ = writeln!(lines, "  - {}", one_line(note, NOTE));
            }
            digest.push_str(&cut(&lines, room));
            digest.push('\n');
        }
        Ok(Some(LookBack {
            subject: Subject::Mission(mission.id.clone()),
            kind: "mission".to_owned(),
            title: mission.title.clone(),
            digest: self.agents.runner.redact(digest, mission.id.as_str()),
            personas,
            channel: mission.channel.clone(),
            private_to: mission.private_to.clone(),
            opening: mission.opening.clone(),
            ended_at: at,
        }))
    }
}
