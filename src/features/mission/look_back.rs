//! The record of a mission for those who look back at it.

use std::fmt::Write as _;

use crate::features::backlog::model::{Artefact, WorkItem, WorkStatus};
use crate::features::mission::follow::Follower;
use crate::features::mission::model::Mission;
use crate::features::overwatch::model::LookBack;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::money::Money;
use kernel::text::flatten;

/// The most characters of the request, of a note, and the most notes of a step.
const REQUEST: usize = 1500;
const NOTE: usize = 300;
const NOTES: usize = 6;
/// The most characters of the whole record.
const DIGEST: usize = 12_000;

impl Follower {
    /// None where there is nothing to look back at: fewer than two steps were begun.
    pub(super) async fn record(
        &self,
        mission: &Mission,
        whole: &WorkItem,
        items: &[WorkItem],
        files: &[Artefact],
        cost: Money,
    ) -> Result<Option<LookBack>, StoreError> {
        let begun: Vec<&WorkItem> =
            items.iter().filter(|item| item.status == WorkStatus::Done || item.run > 0 || item.cost != Money::ZERO).collect();
        let mut personas: Vec<PersonaSlug> = begun.iter().filter_map(|item| item.persona.clone()).collect();
        personas.sort();
        personas.dedup();
        if begun.len() < 2 || personas.is_empty() || whole.status == WorkStatus::Cancelled {
            return Ok(None);
        }
        let expected = mission.plan.as_ref().and_then(|plan| plan.expected);
        let mut digest =
            format!("Mission: {} ({})\nAsked for: {}\n", mission.title, whole.status.as_str(), flatten(&mission.request, REQUEST));
        let _ = writeln!(digest, "Cost: {cost}{}", expected.map_or_else(String::new, |money| format!(", expected {money}")));
        for criterion in &whole.criteria {
            let _ = writeln!(digest, "Judged by: {}", flatten(criterion, NOTE));
        }
        for (number, item) in (1..).zip(items) {
            let owner = item.persona.as_ref().map_or("nobody", |slug| self.roster.name_of(slug));
            let _ = writeln!(
                digest,
                "Step {number}: {} ({owner}, {}, attempts {}, {})",
                flatten(&item.what, NOTE),
                item.status.as_str().replace('_', " "),
                item.run + 1,
                item.cost
            );
            let notes = self.store.list_events(&item.id).await?.into_iter().filter_map(|event| event.note);
            for note in notes.filter(|note| !note.trim().is_empty()).take(NOTES) {
                let _ = writeln!(digest, "  - {}", flatten(&note, NOTE));
            }
            if let Some(outcome) = &item.outcome {
                let _ = writeln!(digest, "  Result: {}", flatten(outcome, NOTE));
            }
        }
        for change in mission.plan.iter().flat_map(|plan| &plan.changes) {
            let _ = writeln!(digest, "Plan changed by {}: {}", change.by, flatten(&change.why, NOTE));
        }
        let _ = writeln!(digest, "Planned again: {}", mission.replans);
        for file in files {
            let _ = writeln!(digest, "File: {}", file.facts.name);
        }
        let digest = digest.chars().take(DIGEST).collect();
        Ok(Some(LookBack {
            subject: mission.id.clone(),
            title: mission.title.clone(),
            digest: self.agents.runner.redact(digest, mission.id.as_str()),
            personas,
            channel: mission.channel.clone(),
            private_to: mission.private_to.clone(),
            opening: mission.opening.clone(),
        }))
    }
}
