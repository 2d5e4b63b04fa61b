//! Database triggers that block an item's next step until the process is killed.

use teamroom::features::backlog::model::WorkItem;

use crate::support::database::{allow, forbid};
use crate::support::team::TestTeam;

/// The blocked step of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The journal entry at this position.
    Entry(usize),
    Product,
    /// The end of the run.
    End,
    /// Leaving a status in which nobody works on the item.
    Leaving(&'static str),
}

/// Blocks the item. While it is in progress, its job stays with its process until that dies.
pub(super) async fn raise(team: &TestTeam, item: &WorkItem, before: Before) {
    let id = item.id.as_str();
    let held = format!("OLD.id = '{id}' AND OLD.status = 'in_progress' AND NEW.status <> 'in_progress'");
    let given_back = format!(
        "OLD.id = (SELECT job FROM work_items WHERE id = '{id}') AND OLD.state = 'running' AND NEW.state <> 'running'
         AND OLD.kind = 'item.run' AND NEW.suspicions <= OLD.suspicions"
    );
    let (change, when) = match before {
        Before::Entry(position) => ("INSERT ON work_journal", format!("NEW.item = '{id}' AND NEW.position >= {position}")),
        Before::Product => ("UPDATE OF product ON work_items", format!("OLD.id = '{id}' AND NEW.product IS NOT NULL")),
        Before::End => ("UPDATE OF status ON work_items", held.clone()),
        Before::Leaving(status) => {
            ("UPDATE OF status ON work_items", format!("OLD.id = '{id}' AND OLD.status = '{status}' AND NEW.status <> '{status}'"))
        }
    };
    forbid(team, &format!("wall_{id}"), change, &when).await;
    forbid(team, &format!("hold_{id}"), "UPDATE OF status ON work_items", &held).await;
    // An item that cannot begin releases its job.
    let given_back = if matches!(before, Before::Leaving(_)) { "1 = 0" } else { &given_back };
    forbid(team, &format!("keep_{id}"), "UPDATE OF state ON jobs", given_back).await;
}

pub(super) async fn fall(team: &TestTeam, item: &WorkItem) {
    for kind in ["wall", "hold", "keep"] {
        allow(team, &format!("{kind}_{}", item.id)).await;
    }
}
