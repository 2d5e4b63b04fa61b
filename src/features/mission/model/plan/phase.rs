//! The phases of a product (WORK-21). A phase begins when the one before is finished, with its results.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Step;
use kernel::ids::WorkItemId;

/// In their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Discovery,
    Requirements,
    Design,
    Build,
    Test,
    Launch,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Requirements => "requirements",
            Self::Design => "design",
            Self::Build => "build",
            Self::Test => "test",
            Self::Launch => "launch",
        }
    }
}

/// Lets the first steps of each phase need the last ones of the phase before, if `may_change` allows it. Nothing happens in a plan without phases.
///
/// # Errors
/// All steps that are in no phase, or need something of a later one.
pub(super) fn link_phases(steps: &mut [Step], may_change: impl Fn(&WorkItemId) -> bool) -> Result<(), Vec<String>> {
    let phases: BTreeSet<Phase> = steps.iter().filter_map(|step| step.phase).collect();
    if phases.is_empty() {
        return Ok(());
    }
    let faults = find_faults(steps);
    if !faults.is_empty() {
        return Err(faults);
    }
    for (before, phase) in phases.iter().zip(phases.iter().skip(1)) {
        let ends = find_ends(steps, *before);
        let in_phase: Vec<WorkItemId> = steps.iter().filter(|step| step.phase == Some(*phase)).map(|step| step.item.clone()).collect();
        let is_first = |step: &Step| step.phase == Some(*phase) && !step.needs.iter().any(|need| in_phase.contains(need));
        for step in steps.iter_mut().filter(|step| is_first(step) && may_change(&step.item)) {
            let more: Vec<_> = ends.iter().filter(|end| !step.needs.contains(end)).cloned().collect();
            step.needs.extend(more);
        }
    }
    Ok(())
}

fn find_faults(steps: &[Step]) -> Vec<String> {
    let mut faults = Vec::new();
    for step in steps {
        let Some(phase) = step.phase else {
            faults.push(format!("\"{}\" is in no phase, but other steps are. Give each step its phase, or none", step.title));
            continue;
        };
        for later in steps.iter().filter(|other| step.needs.contains(&other.item) && other.phase > Some(phase)) {
            let of = later.phase.map_or("", Phase::as_str);
            faults.push(format!("\"{}\" is in the phase {}, but needs \"{}\" of the phase {of}", step.title, phase.as_str(), later.title));
        }
    }
    faults
}

/// The steps of a phase that no other step of it needs.
fn find_ends(steps: &[Step], phase: Phase) -> Vec<WorkItemId> {
    let in_phase = || steps.iter().filter(|step| step.phase == Some(phase));
    in_phase().filter(|step| !in_phase().any(|other| other.needs.contains(&step.item))).map(|step| step.item.clone()).collect()
}
